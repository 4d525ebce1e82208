//! Several targets in turns.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bakeoff_base::random::Random;
use bakeoff_load::{Go, Stop};
use bakeoff_model::load::histogram::Histogram;
use bakeoff_model::load::{
    Connections, CpuCounter, CpuTime, LoadEvent, LoadInterval, LoadSpec, Pace, Protocol,
    RequestSpec, StepSpec, Target, TurnCount, Turns,
};
use bakeoff_model::request::scenario::{AfterFailure, Connect, Extract, Feed, Scenario};
use flate2::Compression;
use flate2::write::GzEncoder;
use http_body_util::Full;
use hyper::Response;
use hyper::body::Bytes;

use crate::http2::serve_http2;
use crate::server::{Act, FullPort, RefusedPort, Server, say};
use crate::{MILLISECOND, SECOND, get, load_spec, secure};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

const SHORT: Turns = Turns {
    shortest_ns: 5 * MILLISECOND,
    longest_ns: 50 * MILLISECOND,
};

/// A step in turns on these servers.
fn in_turns(servers: &[&Server], connections: u32, milliseconds: u64) -> LoadSpec {
    let addresses: Vec<&str> = servers.iter().map(|one| one.address.as_str()).collect();
    in_turns_at(&addresses, connections, milliseconds)
}

/// Loads servers at these addresses in turns.
fn in_turns_at(addresses: &[&str], connections: u32, milliseconds: u64) -> LoadSpec {
    let mut spec = load_spec(addresses[0], connections, 0);
    let further = addresses[1..].iter().map(|address| Target {
        address: (*address).to_owned(),
        ..spec.target.clone()
    });
    spec.further_targets = further.collect();
    spec.slice_ns = 100 * MILLISECOND;
    spec.steps = vec![StepSpec {
        connections,
        duration_ns: milliseconds * MILLISECOND,
        turns: Some(SHORT),
        ..StepSpec::default()
    }];
    spec
}

/// The slices of each side.
fn play(spec: &LoadSpec) -> Vec<Vec<LoadInterval>> {
    let mut sides = vec![Vec::new(); spec.side_count()];
    let mut emit = |event| match event {
        LoadEvent::Interval(interval) => sides[interval.side as usize].push(*interval),
        LoadEvent::Ready {
            connections,
            further,
            ..
        } => {
            assert_eq!(further.len() + 1, spec.side_count());
            for one in further.iter().chain([&connections]) {
                assert_eq!(one.established, one.asked);
            }
        }
        _ => {}
    };
    bakeoff_load::run(spec, &Stop::default(), &mut |_| Go::On, &mut emit).unwrap();
    sides
}

/// Plays a load, and checks that nothing fails and that each side counts the same requests as its
/// server has seen.
fn play_counted(spec: &LoadSpec, seen: [&dyn Fn() -> u64; 2]) -> Vec<Vec<LoadInterval>> {
    let sides = play(spec);
    for (slices, seen) in sides.iter().zip(seen) {
        let requests: u64 = slices.iter().map(|one| one.requests).sum();
        assert!(requests > 0);
        assert_eq!(seen(), requests);
        let in_turns = turns(slices);
        assert_eq!(
            in_turns.iter().map(|turn| turn.requests).sum::<u64>(),
            requests
        );
        let mut errors = slices.iter().map(|one| &one.errors);
        assert!(errors.all(BTreeMap::is_empty), "{slices:?}");
    }
    sides
}

fn turns(slices: &[LoadInterval]) -> Vec<TurnCount> {
    slices.iter().flat_map(|one| one.turns.clone()).collect()
}

on_each_reactor!(each_side_has_a_turn_in_every_block_and_keeps_its_connections);

fn each_side_has_a_turn_in_every_block_and_keeps_its_connections() {
    for threads in [1, 3] {
        let servers = [(); 3].map(|()| Server::script(vec![say(OK)]));
        let mut spec = in_turns(&servers.each_ref(), 7, 400);
        spec.threads = threads;
        spec.target.cpu_counter = Some(CpuCounter::Processes(vec![std::process::id()]));
        let sides = play(&spec);
        let mut blocks = BTreeMap::<u64, usize>::new();
        let mut all: Vec<(u64, u64)> = Vec::new();
        for (server, slices) in servers.iter().zip(&sides) {
            assert!(slices.len() > 1);
            let requests: u64 = slices.iter().map(|one| one.requests).sum();
            // What is in flight at the end of a turn is awaited and counted.
            assert_eq!(server.requests(), requests);
            assert_eq!(server.connections(), 7);
            assert!(slices.iter().all(|one| one.errors.is_empty()));
            let turns = turns(slices);
            assert_eq!(
                turns.iter().map(|turn| turn.requests).sum::<u64>(),
                requests
            );
            // The others have turns, too.
            let loaded_ns: u64 = slices.iter().map(LoadInterval::length_ns).sum();
            let passed_ns = slices.iter().map(|one| one.end_ns - one.start_ns);
            assert!(loaded_ns < passed_ns.sum());
            for slice in slices {
                assert_eq!(slice.service_time.count(), slice.requests);
                assert!(slice.length_ns() <= slice.end_ns - slice.start_ns);
                for turn in &slice.turns {
                    let start_us = slice.start_ns / 1000 + turn.start_us;
                    all.push((start_us, start_us + turn.length_us));
                    *blocks.entry(turn.block).or_default() += 1;
                }
            }
        }
        assert!(blocks.len() > 2);
        assert!(blocks.values().all(|turns| *turns == 3), "{blocks:?}");
        all.sort_unstable();
        // One microsecond for what is cut off.
        let apart = |pair: &[(u64, u64)]| pair[0].1 <= pair[1].0 + 1;
        assert!(all.windows(2).all(apart), "{all:?}");
        // Only the first side's counter can be read, and it is that of the whole test.
        assert!(turns(&sides[0]).iter().any(|turn| turn.own_cpu_us > 0));
        assert!(turns(&sides[1]).iter().all(|turn| turn.own_cpu_us == 0));
        assert!(turns(&sides[1]).iter().any(|turn| turn.others_cpu_us > 0));
    }
}

on_each_reactor!(turns_are_long_against_a_slow_side);

fn turns_are_long_against_a_slow_side() {
    let slow = vec![Act::Pause(Duration::from_millis(3)), say(OK)];
    let servers = [Server::script(vec![say(OK)]), Server::script(slow)];
    let sides = play(&in_turns(&servers.each_ref(), 2, 600));
    let longest = turns(&sides[0]).iter().map(|turn| turn.length_us).max();
    let longest = longest.unwrap();
    assert!(longest > 10_000, "twice as long as the shortest: {longest}");
    assert!(longest < 200_000, "{longest}");
}

on_each_reactor!(connections_that_a_side_closes_are_opened_again);

fn connections_that_a_side_closes_are_opened_again() {
    let closing = vec![say(OK), say(OK), Act::Close];
    let servers = [Server::script(vec![say(OK)]), Server::script(closing)];
    let sides = play(&in_turns(&servers.each_ref(), 2, 300));
    let requests = |side: usize| -> u64 { sides[side].iter().map(|one| one.requests).sum() };
    assert!(requests(0) > 0 && requests(1) > 0);
    assert!(servers[1].connections() > 4);
    assert_eq!(servers[0].connections(), 2);
}

on_each_reactor!(a_side_that_is_gone_fails_and_the_others_go_on);

fn a_side_that_is_gone_fails_and_the_others_go_on() {
    let gone = RefusedPort::reserve();
    let server = Server::script(vec![say(OK)]);
    let mut spec = in_turns(&[&server], 2, 200);
    spec.further_targets = vec![Target {
        address: gone.address.clone(),
        ..spec.target.clone()
    }];
    let mut sides = vec![Vec::new(); 2];
    let mut emit = |event| {
        if let LoadEvent::Interval(interval) = event {
            sides[interval.side as usize].push(*interval);
        }
    };
    bakeoff_load::run(&spec, &Stop::default(), &mut |_| Go::On, &mut emit).unwrap();
    assert!(turns(&sides[0]).iter().all(|turn| turn.requests > 0));
    let lost = turns(&sides[1]);
    assert!(lost.iter().all(|turn| turn.requests == 0));
    assert!(lost.iter().any(|turn| turn.failed > 0));
}

on_each_reactor!(a_side_whose_connects_hang_makes_no_turn_longer);

fn a_side_whose_connects_hang_makes_no_turn_longer() {
    let full = FullPort::fill();
    let server = Server::script(vec![say(OK)]);
    let mut spec = in_turns_at(&[&server.address, &full.address], 2, 1500);
    spec.timeout_connect_ns = 100 * MILLISECOND;
    spec.steps[0].turns = Some(Turns {
        shortest_ns: 10 * MILLISECOND,
        longest_ns: SECOND,
    });
    let mut sides = vec![Vec::new(); 2];
    let mut emit = |event| {
        if let LoadEvent::Interval(interval) = event {
            sides[interval.side as usize].push(*interval);
        }
    };
    bakeoff_load::run(&spec, &Stop::default(), &mut |_| Go::On, &mut emit).unwrap();
    assert!(turns(&sides[1]).iter().all(|turn| turn.requests == 0));
    let own = turns(&sides[0]);
    assert!(own.iter().all(|turn| turn.requests > 0));
    let longest = own.iter().map(|turn| turn.length_us - turn.drain_us).max();
    assert!(longest.unwrap() < 300_000, "{own:?}");
}

on_each_reactor!(streams_of_http2_take_turns);

fn streams_of_http2_take_turns() {
    let seen = [(); 2].map(|()| Arc::new(AtomicU64::new(0)));
    let servers = seen.each_ref().map(|seen| {
        let seen = seen.clone();
        serve_http2(65_535, move |_, _| {
            seen.fetch_add(1, Ordering::SeqCst);
            Response::new(Full::new(Bytes::from("hello")))
        })
    });
    let mut spec = in_turns_at(&[&servers[0], &servers[1]], 2, 200);
    spec.target.protocol = Protocol::Http2;
    spec.further_targets[0].protocol = Protocol::Http2;
    spec.in_flight = 4;
    let [one, two] = &seen;
    let seen: [&dyn Fn() -> u64; 2] = [&|| one.load(Ordering::SeqCst), &|| {
        two.load(Ordering::SeqCst)
    }];
    for slice in play_counted(&spec, seen).iter().flatten() {
        assert_eq!(slice.connections.in_flight_max, 2 * 4);
    }
}

on_each_reactor!(pipelined_requests_take_turns);

fn pipelined_requests_take_turns() {
    let servers = [(); 2].map(|()| Server::script(vec![say(OK)]));
    let mut spec = in_turns(&servers.each_ref(), 2, 200);
    spec.in_flight = 8;
    let sides = play_counted(
        &spec,
        [&|| servers[0].requests(), &|| servers[1].requests()],
    );
    for slice in sides.iter().flatten() {
        assert_eq!(slice.connections.in_flight_max, 2 * 8);
    }
    assert_eq!(servers.each_ref().map(Server::connections), [2, 2]);
}

on_each_reactor!(users_without_pauses_take_turns);

fn users_without_pauses_take_turns() {
    let numbers = AtomicU64::new(0);
    let shop = move |request: &str| {
        let (path, _) = request["GET ".len()..].split_once(' ').unwrap();
        let reply = |status: &str, headers: &str, body: &str| {
            let length = body.len();
            format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\n\r\n{body}")
        };
        let Some(token) = path.strip_prefix("/order/") else {
            let number = numbers.fetch_add(1, Ordering::SeqCst);
            let cookie = format!("Set-Cookie: session={number}\r\n");
            return reply("200 OK", &cookie, &format!("{{\"token\": \"{number}\"}}"));
        };
        match request.contains(&format!("Cookie: session={token}\r\n")) {
            true => reply("200 OK", "", "ordered"),
            false => reply("400 Bad Request", "", "of another user"),
        }
    };
    let shop = Arc::new(shop);
    let servers = [(); 2].map(|()| {
        let shop = shop.clone();
        Server::start_showing("127.0.0.1:0", move |stream, request| {
            let response = shop(std::str::from_utf8(request).unwrap());
            stream.write_all(response.as_bytes()).is_ok()
        })
    });
    let mut spec = in_turns(&servers.each_ref(), 3, 200);
    spec.scenario = Some(Scenario {
        feeds: vec![Feed::Unique {
            variable: "id".to_owned(),
        }],
        cookies: true,
        after_failure: AfterFailure::GiveUp,
        connect: Connect::BeforeStep,
    });
    let enter = RequestSpec {
        extract: [("token".to_owned(), Extract::Json("$.token".to_owned()))].into(),
        ..get("/enter")
    };
    spec.requests = vec![enter, get("/order/${token}")];
    let sides = play_counted(
        &spec,
        [&|| servers[0].requests(), &|| servers[1].requests()],
    );
    for slices in &sides {
        let users = slices.iter().filter_map(|one| one.users);
        let ends: Vec<(u64, u64)> = users.map(|one| (one.finished, one.gave_up)).collect();
        let finished: u64 = ends.iter().map(|(finished, _)| finished).sum();
        assert!(finished > 0, "{ends:?}");
        assert!(ends.iter().all(|(_, gave_up)| *gave_up == 0), "{ends:?}");
        let parts = |index: usize| -> u64 {
            let parts = slices.iter().map(|one| one.by_request[index].requests);
            parts.sum()
        };
        // A user that idles between two turns continues at the same place.
        assert_eq!(parts(1), finished);
        assert!(parts(0) - parts(1) <= 3);
    }
}

on_each_reactor!(connections_through_tls_take_turns);

fn connections_through_tls_take_turns() {
    let [(one, of_one), (two, of_two)] = [(); 2].map(|()| secure::serve(5));
    let mut spec = in_turns_at(&[&one, &two], 3, 200);
    for target in std::iter::once(&mut spec.target).chain(&mut spec.further_targets) {
        target.tls = true;
        target.insecure = true;
        target.host = Some("localhost".to_owned());
    }
    let seen: [&dyn Fn() -> u64; 2] = [&|| of_one.load(Ordering::SeqCst), &|| {
        of_two.load(Ordering::SeqCst)
    }];
    let sides = play_counted(&spec, seen);
    let reconnects = sides.iter().flatten().map(|one| one.connections.reconnects);
    assert_eq!(reconnects.sum::<u64>(), 0);
}

on_each_reactor!(a_side_that_keeps_no_connection_takes_turns);

fn a_side_that_keeps_no_connection_takes_turns() {
    let closing = OK.replace("OK\r\n", "OK\r\nConnection: close\r\n");
    let closing = vec![say(&closing), Act::Close];
    let servers = [Server::script(vec![say(OK)]), Server::script(closing)];
    let spec = in_turns(&servers.each_ref(), 2, 200);
    play_counted(
        &spec,
        [&|| servers[0].requests(), &|| servers[1].requests()],
    );
    assert_eq!(servers[0].connections(), 2);
    assert!(servers[1].connections() >= servers[1].requests());
}

/// The slice that a side of eight has in a minute of turns: about a second of them.
fn synthetic(side: u32, slice: u32, random: &mut Random) -> LoadInterval {
    let sides = 8;
    let (turn_us, blocks) = (30_000, 33);
    let mut about = |value: u64| value + random.bits() % (value / 8);
    let mut service_time = Histogram::default();
    let mut turns = Vec::new();
    for block in 0..blocks {
        let requests = about(250);
        turns.push(TurnCount {
            block: u64::from(slice) * blocks + block,
            start_us: (block * sides + about(1000) % sides) * turn_us + about(turn_us),
            length_us: about(turn_us),
            drain_us: about(800),
            requests,
            failed: 0,
            own_cpu_us: about(turn_us),
            others_cpu_us: about(100),
        });
        for _ in 0..requests {
            service_time.record(about(200_000) * about(1000) / 1000);
        }
    }
    LoadInterval {
        step: 1,
        slice,
        start_ns: about(10 * SECOND),
        end_ns: about(20 * SECOND),
        requests: service_time.count(),
        service_time,
        connections: Connections {
            asked: 64,
            established: 64,
            in_flight_max: 64,
            reconnects: 0,
            on_arrival: false,
        },
        sent_bytes: about(SECOND),
        redirects: 0,
        received_bytes: about(SECOND),
        turnaround_ns: Some(about(SECOND)),
        connecting_ns: Some(0),
        generator_cpu: CpuTime {
            user_ns: about(SECOND),
            system_ns: about(SECOND),
        },
        generator_threads: 1,
        side,
        turns,
        ..LoadInterval::default()
    }
}

#[test]
fn the_events_of_a_minute_of_turns_are_small() {
    let mut random = Random::new(1);
    let mut compressed = GzEncoder::new(Vec::new(), Compression::default());
    let mut length_us = 0;
    for slice in 0..8 {
        for side in 0..8 {
            let interval = synthetic(side, slice, &mut random);
            length_us += interval
                .turns
                .iter()
                .map(|turn| turn.length_us)
                .sum::<u64>();
            let event = LoadEvent::Interval(Box::new(interval));
            serde_json::to_writer(&mut compressed, &event).unwrap();
            writeln!(compressed).unwrap();
        }
    }
    assert!(length_us > 60_000_000);
    let bytes = compressed.finish().unwrap().len();
    assert!(bytes < 200_000, "{bytes}");
}

#[test]
fn one_target_at_a_time_can_be_loaded_without_turns() {
    let servers = [(); 2].map(|()| Server::script(vec![say(OK)]));
    let mut spec = in_turns(&servers.each_ref(), 2, 100);
    let step = |side| StepSpec {
        side,
        turns: None,
        ..spec.steps[0].clone()
    };
    spec.steps = vec![step(1), step(0), step(1)];
    let sides = play(&spec);
    for (side, steps) in [(0, vec![1]), (1, vec![0, 2])] {
        let mut found: Vec<usize> = sides[side].iter().map(|one| one.step).collect();
        found.dedup();
        assert_eq!(found, steps);
        let requests: u64 = sides[side].iter().map(|one| one.requests).sum();
        assert!(servers[side].requests() >= requests);
        assert!(requests > 0);
    }
}

#[test]
fn steps_that_load_no_target_are_refused() {
    let servers = [(); 2].map(|()| Server::script(vec![say(OK)]));
    let check = |change: &dyn Fn(&mut LoadSpec), expect: &str| {
        let mut spec = in_turns(&servers.each_ref(), 2, 100);
        change(&mut spec);
        let stop = Stop::default();
        let refused = bakeoff_load::run(&spec, &stop, &mut |_| Go::On, &mut |_| {});
        let message = refused.unwrap_err().to_string();
        assert!(message.contains(expect), "{message}");
    };
    check(&|spec| spec.steps[0].side = 2, "no target 2");
    check(
        &|spec| spec.steps[0].pace = Pace::Constant { rate_per_s: 1.0 },
        "only closed load is played in turns",
    );
    check(
        &|spec| spec.further_targets[0].protocol = Protocol::Http2,
        "all targets of a load speak the same protocol",
    );
}
