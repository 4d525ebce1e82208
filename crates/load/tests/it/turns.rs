//! Several targets in turns.

use std::collections::BTreeMap;
use std::time::Duration;

use bakeoff_load::{Go, Stop};
use bakeoff_model::load::{
    CpuCounter, LoadEvent, LoadInterval, LoadSpec, Pace, Protocol, StepSpec, Target, TurnCount,
    Turns,
};

use crate::server::{Act, FullPort, RefusedPort, Server, say};
use crate::{MILLISECOND, SECOND, load_spec};

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

/// The same on servers at these addresses.
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
            for slice in slices {
                assert_eq!(slice.service_time.count(), slice.requests);
                assert!(slice.length_ns() < slice.end_ns - slice.start_ns);
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
