//! Steps, slices, counts, and open load.

use std::time::Duration;

use bakeoff_load::{Go, Stop};
use bakeoff_model::load::{ErrorClass, LoadEvent, Pace, RequestSpec, StepSpec};

use crate::server::{Act, Server, perform, say};
use crate::{MILLISECOND, SECOND, get, load_spec, run, try_run};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

fn step(connections: u32, milliseconds: u64) -> StepSpec {
    StepSpec {
        connections,
        duration_ns: milliseconds * MILLISECOND,
        pace: Pace::Closed,
        warm_up: false,
        requests_max: 0,
        close_after: false,
        ..StepSpec::default()
    }
}

on_each_reactor!(a_ladder_counts_what_the_server_counts);

fn a_ladder_counts_what_the_server_counts() {
    let server = Server::script(vec![say(OK)]);
    let mut spec = load_spec(&server.address, 1, 0);
    spec.threads = 9;
    spec.slice_ns = 100 * MILLISECOND;
    spec.steps = vec![step(1, 250), step(8, 250), step(3, 200)];
    let total = run(&spec);
    assert!(total.errors.is_empty(), "{:?}", total.errors);
    assert!(total.requests > 100);
    let sent = total.on_the_wire();
    assert_eq!(server.requests_of(sent), sent);
    assert_eq!(total.established, [1, 8, 3]);
    // Connections stay open from step to step.
    assert_eq!(server.connections(), 8);
    assert_eq!(total.reconnects, 0);
    let slices: Vec<(usize, u32)> = total.intervals.iter().map(|i| (i.step, i.slice)).collect();
    assert_eq!(
        slices,
        [
            (0, 0),
            (0, 1),
            (0, 2),
            (1, 0),
            (1, 1),
            (1, 2),
            (2, 0),
            (2, 1)
        ]
    );
    for pair in total.intervals.windows(2) {
        assert!(pair[0].end_ns <= pair[1].start_ns);
        if pair[0].step == pair[1].step {
            assert_eq!(pair[0].end_ns, pair[1].start_ns);
        }
    }
    for interval in &total.intervals {
        assert_eq!(interval.service_time.count(), interval.requests);
        assert_eq!(interval.connections.established, interval.connections.asked);
        assert!(interval.response_time.is_none() && interval.offered.is_none());
        assert_eq!(interval.generator_threads, [1, 8, 3][interval.step]);
        let last = [2, 2, 1][interval.step] == interval.slice;
        assert_eq!(interval.requests_per_connection.is_some(), last);
    }
}

on_each_reactor!(a_bound_is_reached_with_fewer_connections_than_threads_and_with_more);

fn a_bound_is_reached_with_fewer_connections_than_threads_and_with_more() {
    let server = Server::script(vec![say(OK)]);
    let mut spec = load_spec(&server.address, 1, 0);
    spec.threads = 3;
    spec.steps = [1, 2, 5].map(|count| step(count, 60_000)).to_vec();
    for step in &mut spec.steps {
        step.requests_max = 100;
    }
    let total = run(&spec);
    assert_eq!(total.requests, 300);
    assert_eq!(server.requests(), 300);
}

on_each_reactor!(faults_between_right_responses_are_counted_exactly);

fn faults_between_right_responses_are_counted_exactly() {
    let server = Server::start("127.0.0.1:0", |stream, index| {
        perform(
            stream,
            &match index % 7 {
                1 => vec![Act::Close],
                2 => vec![say("HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n")],
                4 => vec![Act::Reset],
                5 => vec![say("nonsense\r\n\r\n"), Act::Hold],
                _ => vec![say(OK)],
            },
        )
    });
    let mut spec = load_spec(&server.address, 6, 700);
    // An idempotent request would be sent again.
    spec.requests[0].method = "POST".to_owned();
    spec.threads = 2;
    let total = run(&spec);
    assert_eq!(server.requests(), 700);
    assert_eq!(total.on_the_wire(), 700);
    assert_eq!(total.requests, 300);
    assert_eq!(total.count(ErrorClass::UnexpectedStatus), 100);
    assert_eq!(total.count(ErrorClass::BadFraming), 100);
    assert_eq!(total.count(ErrorClass::EarlyClose), 100);
    assert_eq!(total.count(ErrorClass::Reset), 100);
}

on_each_reactor!(without_keep_alive_each_request_has_its_connection);

fn without_keep_alive_each_request_has_its_connection() {
    let server = Server::script(vec![say(OK)]);
    let mut spec = load_spec(&server.address, 4, 100);
    spec.keep_alive_off = true;
    let total = run(&spec);
    assert_eq!((total.requests, server.requests()), (100, 100));
    // At the end each of the four may have one more that it did not use.
    assert!(
        (100..=104).contains(&server.connections()),
        "{}",
        server.connections()
    );
}

on_each_reactor!(a_server_that_closes_silently_after_each_response_costs_no_request);

fn a_server_that_closes_silently_after_each_response_costs_no_request() {
    let server = Server::script(vec![say(OK), Act::Close]);
    let total = run(&load_spec(&server.address, 2, 50));
    let broken = total.count(ErrorClass::EarlyClose) + total.count(ErrorClass::Reset);
    assert_eq!(total.requests + broken, 50, "{:?}", total.errors);
}

on_each_reactor!(requests_come_in_turn_and_by_weight);

fn requests_come_in_turn_and_by_weight() {
    let (paths, seen) = std::sync::mpsc::channel();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        use std::io::{BufRead as _, BufReader, Write as _};
        let (mut stream, _) = listener.accept().unwrap();
        let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
        while let Some(Ok(line)) = lines.next() {
            if line.starts_with("GET") {
                paths.send(line).unwrap();
            } else if line.is_empty() {
                stream.write_all(OK.as_bytes()).unwrap();
            }
        }
    });
    let mut spec = load_spec(&address, 1, 6);
    spec.requests = vec![
        RequestSpec {
            weight: 2,
            ..get("/often?q=ě")
        },
        get("/seldom"),
    ];
    let total = run(&spec);
    assert_eq!(total.requests, 6);
    let seen: Vec<String> = seen.try_iter().collect();
    let often = "GET /often?q=%C4%9B HTTP/1.1";
    let seldom = "GET /seldom HTTP/1.1";
    assert_eq!(seen, [often, seldom, often, often, seldom, often]);
}

on_each_reactor!(open_load_offers_its_rate_and_counts_from_the_intended_time);

fn open_load_offers_its_rate_and_counts_from_the_intended_time() {
    let server = Server::script(vec![say(OK)]);
    for pace in [
        Pace::Constant { rate_per_s: 500.0 },
        Pace::Poisson { rate_per_s: 500.0 },
        Pace::Ramp {
            from_per_s: 200.0,
            to_per_s: 800.0,
        },
    ] {
        let before = server.requests();
        let mut spec = load_spec(&server.address, 8, 0);
        spec.threads = 2;
        spec.slice_ns = 250 * MILLISECOND;
        spec.steps = vec![StepSpec {
            pace,
            ..step(8, 1000)
        }];
        spec.timeout_answer_ns = 5 * SECOND;
        let total = run(&spec);
        let exact = !matches!(pace, Pace::Poisson { .. });
        assert!(
            !exact || total.offered == 500,
            "{pace:?}: {}",
            total.offered
        );
        assert_eq!(
            total.requests + total.censored,
            total.offered,
            "{:?}",
            total.errors
        );
        // What was due at the very end may not have been sent.
        assert!(server.requests() - before <= total.offered);
        for interval in &total.intervals {
            let response = interval.response_time.as_ref().unwrap();
            assert_eq!(response.count(), interval.requests);
            let (response, service) = (response.max_ns(), interval.service_time.max_ns());
            assert!(response >= service, "{response:?} < {service:?}");
        }
    }
}

on_each_reactor!(open_load_drops_nothing_silently);

fn open_load_drops_nothing_silently() {
    // One connection, 20 ms a response: 50 of 500 requests a second can get responses.
    let server = Server::script(vec![Act::Pause(Duration::from_millis(20)), say(OK)]);
    let mut spec = load_spec(&server.address, 1, 0);
    spec.timeout_answer_ns = 200 * MILLISECOND;
    spec.steps = vec![StepSpec {
        pace: Pace::Constant { rate_per_s: 500.0 },
        ..step(1, 1000)
    }];
    let total = run(&spec);
    assert_eq!(total.offered, 500);
    assert!(total.count(ErrorClass::Dropped) > 100);
    let failed: u64 = total.errors.values().map(|count| count.count).sum();
    assert_eq!(
        total.requests + failed + total.censored,
        500,
        "{:?}",
        total.errors
    );
}

on_each_reactor!(a_stepwise_spec_waits_and_can_be_stopped);

fn a_stepwise_spec_waits_and_can_be_stopped() {
    let server = Server::script(vec![say(OK)]);
    let mut spec = load_spec(&server.address, 1, 0);
    spec.steps = vec![step(1, 50), step(2, 50), step(1, 50)];
    spec.stepwise = true;
    let mut asked = Vec::new();
    let mut done = Vec::new();
    let mut go = |step| {
        asked.push((step, server.connections()));
        match asked.len() {
            3 => Go::End,
            _ => Go::On,
        }
    };
    bakeoff_load::run(&spec, &Stop::default(), &mut go, &mut |event| {
        if let LoadEvent::StepDone { step, .. } = event {
            done.push(step);
        }
    })
    .unwrap();
    let (steps, connections): (Vec<usize>, Vec<u64>) = asked.into_iter().unzip();
    assert_eq!((steps, done), (vec![0, 1, 1], vec![0]));
    // The second step's connections are opened only after the first of its two questions.
    assert_eq!(connections[1], 1);
}

on_each_reactor!(a_step_that_is_done_can_be_made_again_on_its_connections);

fn a_step_that_is_done_can_be_made_again_on_its_connections() {
    let server = Server::script(vec![say(OK)]);
    let mut spec = load_spec(&server.address, 1, 0);
    spec.steps = vec![step(2, 30), step(2, 30)];
    spec.stepwise = true;
    // Open, again, open, again, open, on, open.
    let mut words = vec![Go::On, Go::On, Go::On, Go::Again, Go::On, Go::Again, Go::On];
    let (mut slices, mut done, mut requests) = (Vec::new(), Vec::new(), 0);
    let mut go = |_| words.pop().unwrap();
    bakeoff_load::run(&spec, &Stop::default(), &mut go, &mut |event| match event {
        LoadEvent::Interval(interval) => {
            requests += interval.requests;
            slices.push((interval.step, interval.slice));
        }
        LoadEvent::StepDone { step, .. } => done.push(step),
        _ => {}
    })
    .unwrap();
    assert_eq!(done, [0, 0, 0, 1]);
    assert_eq!(slices, [(0, 0), (0, 0), (0, 0), (1, 0)]);
    assert_eq!(server.connections(), 2, "they are kept");
    assert!(requests > 8, "{requests}");
    assert!(words.is_empty(), "{words:?}");
}

on_each_reactor!(idle_connections_that_were_closed_are_reconnected_before_the_window);

fn idle_connections_that_were_closed_are_reconnected_before_the_window() {
    let server = Server::start("127.0.0.1:0", |stream, _| perform(stream, &[say(OK)]));
    let mut spec = load_spec(&server.address, 3, 30);
    spec.stepwise = true;
    let mut requests = 0;
    let mut established = 0;
    let mut go = |_| {
        std::thread::sleep(Duration::from_millis(50));
        Go::On
    };
    bakeoff_load::run(&spec, &Stop::default(), &mut go, &mut |event| {
        if let LoadEvent::Interval(interval) = event {
            requests += interval.requests;
            established = interval.connections.established;
        }
    })
    .unwrap();
    assert_eq!((requests, established), (30, 3));
}

on_each_reactor!(ipv6_and_unix_sockets_work);

fn ipv6_and_unix_sockets_work() {
    let server = Server::start("[::1]:0", |stream, _| perform(stream, &[say(OK)]));
    assert_eq!(run(&load_spec(&server.address, 2, 10)).requests, 10);

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    std::thread::spawn(move || {
        use std::io::{Read as _, Write as _};
        let (mut stream, _) = listener.accept().unwrap();
        let mut input = [0; 4096];
        while stream.read(&mut input).is_ok_and(|bytes| bytes > 0) {
            stream.write_all(OK.as_bytes()).unwrap();
        }
    });
    let mut spec = load_spec("localhost:80", 1, 10);
    spec.target.unix_socket = Some(path.to_str().unwrap().to_owned());
    let total = run(&spec);
    assert_eq!(total.requests, 10, "{:?}", total.errors);
}

on_each_reactor!(a_full_queue_of_a_unix_socket_is_waited_for);

fn a_full_queue_of_a_unix_socket_is_waited_for() {
    use std::io::{Read as _, Write as _};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let serve = |accepts: usize| {
        let _ = std::fs::remove_file(&path);
        let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
        // Room for one that is not accepted yet.
        rustix::net::listen(&listener, 0).unwrap();
        let accepting = listener.try_clone().unwrap();
        std::thread::spawn(move || {
            for _ in 0..accepts {
                std::thread::sleep(Duration::from_millis(20));
                let (mut stream, _) = accepting.accept().unwrap();
                std::thread::spawn(move || {
                    let mut input = [0; 4096];
                    while stream.read(&mut input).is_ok_and(|bytes| bytes > 0) {
                        stream.write_all(OK.as_bytes()).unwrap();
                    }
                });
            }
        });
        listener
    };
    let mut spec = load_spec("localhost:80", 6, 60);
    spec.target.unix_socket = Some(path.to_str().unwrap().to_owned());
    let listener = serve(6);
    let total = run(&spec);
    assert!(total.errors.is_empty(), "{:?}", total.errors);
    assert_eq!((total.requests, total.established[0]), (60, 6));
    drop(listener);

    let listener = serve(0);
    spec.timeout_connect_ns = 100 * MILLISECOND;
    spec.steps[0].requests_max = 0;
    spec.steps[0].duration_ns = 300 * MILLISECOND;
    let total = run(&spec);
    assert!(total.count(ErrorClass::ConnectTimeout) > 0);
    assert_eq!(total.count(ErrorClass::ConnectRefused), 0);
    drop(listener);
}

#[test]
fn specs_that_make_no_sense_are_refused() {
    type Change = fn(&mut bakeoff_model::load::LoadSpec);
    let message = |change: Change| {
        let mut spec = load_spec("127.0.0.1:1", 1, 1);
        change(&mut spec);
        try_run(&spec).unwrap_err().to_string()
    };
    let cases: [(Change, &str); 6] = [
        (|spec| spec.requests.clear(), "no request to send"),
        (
            |spec| spec.requests[0].method = "G T".into(),
            "the method is not a token",
        ),
        (
            |spec| spec.requests[0].path = "x".into(),
            "the path does not begin with /",
        ),
        (
            |spec| spec.requests[0].headers = vec![("a".into(), "b\r\nc: d".into())],
            "header a has a line break",
        ),
        (
            |spec| spec.target.address = "nowhere".into(),
            "address \"nowhere\"",
        ),
        (
            |spec| spec.steps[0].connections = 0,
            "step 0: no connections",
        ),
    ];
    for (change, expected) in cases {
        let message = message(change);
        assert!(message.contains(expected), "{message}");
    }
}

on_each_reactor!(connections_can_be_closed_between_steps);

fn connections_can_be_closed_between_steps() {
    let server = Server::script(vec![say(OK)]);
    let mut spec = load_spec(&server.address, 1, 0);
    let closing = StepSpec {
        close_after: true,
        ..step(4, 100)
    };
    // The first two share their connections, then all are closed, twice.
    spec.steps = vec![step(4, 100), closing.clone(), closing];
    let total = run(&spec);
    assert!(total.errors.is_empty(), "{:?}", total.errors);
    assert_eq!(total.established, [4, 4, 4]);
    assert_eq!(server.connections(), 8);
    assert_eq!(total.reconnects, 0);
    let sent = total.on_the_wire();
    assert_eq!(server.requests_of(sent), sent);
}
