//! Ends of steps and connections, and the time that failures take.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bakeoff_load::{Go, Stop};
use bakeoff_model::load::{ErrorClass, LoadEvent, LoadInterval, Pace, Protocol};
use bakeoff_model::request::scenario::{AfterFailure, Connect, Scenario};

use crate::frames::{self, GOAWAY, SETTINGS, frame};
use crate::server::{Act, RefusedPort, Server, perform, say};
use crate::{MILLISECOND, SECOND, Total, get, load_spec, run};

const ANSWER: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

/// How long the windows of a run were open, ns.
fn length_ns(intervals: &[LoadInterval]) -> u64 {
    let length = |interval: &LoadInterval| interval.end_ns - interval.start_ns;
    intervals.iter().map(length).sum()
}

fn failures(total: &Total) -> u64 {
    total.errors.values().map(|error| error.count).sum()
}

on_each_reactor!(threads_share_a_bounded_number_of_requests);

fn threads_share_a_bounded_number_of_requests() {
    let pause = Act::Pause(Duration::from_millis(20));
    let server = Server::script(vec![pause, say(ANSWER)]);
    // Two connections with one thread and one with the other: in halves, the one would have to
    // response 15 of them.
    let mut spec = load_spec(&server.address, 3, 30);
    spec.threads = 2;
    let total = run(&spec);
    assert_eq!(total.requests, 30);
    let most = total.intervals.iter().filter_map(|interval| {
        let range = interval.requests_per_connection?;
        Some(range.max)
    });
    let most = most.max().unwrap();
    assert!((10..14).contains(&most), "{most} on one connection");
}

on_each_reactor!(a_schedule_lasts_as_long_as_it_was_to);

fn a_schedule_lasts_as_long_as_it_was_to() {
    let server = Server::script(vec![say(ANSWER)]);
    let mut spec = load_spec(&server.address, 1, 0);
    spec.steps[0].pace = Pace::Constant { rate_per_s: 4.0 };
    spec.steps[0].duration_ns = 300 * MILLISECOND;
    let total = run(&spec);
    assert_eq!((total.offered, total.requests), (2, 2));
    assert_eq!(length_ns(&total.intervals), 300 * MILLISECOND);
    // Bounded: until the next one would have been due.
    spec.steps[0].duration_ns = 10 * SECOND;
    spec.steps[0].requests_max = 1;
    let total = run(&spec);
    assert_eq!((total.offered, total.requests), (1, 1));
    let length_ns = length_ns(&total.intervals);
    assert!((250 * MILLISECOND..spec.steps[0].duration_ns).contains(&length_ns));
}

on_each_reactor!(a_run_is_stopped_in_the_middle_of_a_step);

fn a_run_is_stopped_in_the_middle_of_a_step() {
    let server = Server::script(vec![say(ANSWER)]);
    let mut spec = load_spec(&server.address, 2, 0);
    spec.slice_ns = 50 * MILLISECOND;
    spec.steps.push(spec.steps[0].clone());
    let stop = Stop::default();
    let (mut intervals, mut done) = (Vec::new(), Vec::new());
    bakeoff_load::run(&spec, &stop, &mut |_| Go::On, &mut |event| match event {
        LoadEvent::Interval(interval) => {
            intervals.push(*interval);
            stop.stop();
        }
        LoadEvent::StepDone { step, .. } => done.push(step),
        _ => {}
    })
    .unwrap();
    assert_eq!(done, [0]);
    assert!(length_ns(&intervals) < spec.steps[0].duration_ns);
    let requests: u64 = intervals.iter().map(|interval| interval.requests).sum();
    assert!(requests > 0 && server.requests() - requests <= 2);
}

on_each_reactor!(attempts_to_connect_are_no_requests_of_open_load);

fn attempts_to_connect_are_no_requests_of_open_load() {
    let refusing = RefusedPort::reserve();
    let mut spec = load_spec(&refusing.address, 8, 0);
    spec.steps[0].pace = Pace::Constant { rate_per_s: 50.0 };
    spec.steps[0].duration_ns = 500 * MILLISECOND;
    let total = run(&spec);
    assert_eq!(total.offered, 25);
    assert!(total.count(ErrorClass::ConnectRefused) > 0);
    assert_eq!(failures(&total) + total.censored, 25);
}

on_each_reactor!(users_that_cannot_connect_are_counted_each);

fn users_that_cannot_connect_are_counted_each() {
    let refusing = RefusedPort::reserve();
    let mut spec = load_spec(&refusing.address, 1, 0);
    spec.requests = vec![get("/a"), get("/b")];
    spec.scenario = Some(Scenario {
        feeds: Vec::new(),
        cookies: false,
        after_failure: AfterFailure::GiveUp,
        connect: Connect::BeforeStep,
    });
    spec.target.protocol = Protocol::Http2;
    spec.in_flight = 8;
    spec.steps[0].pace = Pace::Users {
        arrive_ns: 0,
        times: 2,
    };
    let total = run(&spec);
    let gave_up = total.intervals.iter().filter_map(|interval| {
        let users = interval.users.as_ref()?;
        Some(users.gave_up)
    });
    assert_eq!(gave_up.sum::<u64>(), 16);
    assert_eq!(failures(&total), 16);
}

on_each_reactor!(a_service_that_sends_goaway_at_once_is_not_flooded);

fn a_service_that_sends_goaway_at_once_is_not_flooded() {
    let handshake = [frame(SETTINGS, 0, 0, &[]), frame(GOAWAY, 0, 0, &[0; 8])];
    let server = frames::Server::start(handshake.concat(), |_, _| vec![Act::Hold]);
    let mut spec = load_spec(&server.address, 1, 5);
    spec.target.protocol = Protocol::Http2;
    let total = run(&spec);
    assert_eq!(total.count(ErrorClass::EarlyClose), 5);
    assert_eq!((total.requests, failures(&total)), (0, 5));
    assert!(server.connections() < 20, "{}", server.connections());
}

on_each_reactor!(a_service_that_closes_idle_connections_is_not_flooded);

fn a_service_that_closes_idle_connections_is_not_flooded() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let accepted = Arc::new(AtomicU64::new(0));
    let count = accepted.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            drop(stream);
            count.fetch_add(1, Ordering::SeqCst);
        }
    });
    let mut spec = load_spec(&address, 1, 0);
    spec.steps[0].pace = Pace::Constant { rate_per_s: 4.0 };
    spec.steps[0].duration_ns = 500 * MILLISECOND;
    let total = run(&spec);
    assert_eq!((total.offered, total.requests), (2, 0));
    let accepted = accepted.load(Ordering::SeqCst);
    assert!(accepted < 100, "{accepted} connections");
}

on_each_reactor!(a_link_whose_last_request_times_out_after_a_close_frame_is_replaced);

fn a_link_whose_last_request_times_out_after_a_close_frame_is_replaced() {
    // Sends GOAWAY, never responds, and keeps the connection.
    let server = frames::Server::start(frame(SETTINGS, 0, 0, &[]), |stream, index| {
        let goaway = frame(GOAWAY, 0, 0, &[stream.to_be_bytes(), [0; 4]].concat());
        match index {
            0 => vec![Act::Send(goaway)],
            _ => vec![Act::Send(frames::hello(stream))],
        }
    });
    let mut spec = load_spec(&server.address, 1, 5);
    spec.target.protocol = Protocol::Http2;
    spec.timeout_answer_ns = 100 * MILLISECOND;
    let total = run(&spec);
    assert_eq!(total.count(ErrorClass::HeaderTimeout), 1);
    assert_eq!(total.requests, 4, "{:?}", total.errors);
}

on_each_reactor!(an_idempotent_request_between_two_responses_is_sent_again);

fn an_idempotent_request_between_two_responses_is_sent_again() {
    // Closes instead of every second response, as a service that closes an idle connection without
    // saying so and meets the next request on its way.
    let server = Server::start("127.0.0.1:0", |stream, index| {
        index % 2 == 0 && perform(stream, &[say(ANSWER)])
    });
    let total = run(&load_spec(&server.address, 1, 20));
    assert_eq!((total.requests, failures(&total)), (20, 0));
    let reconnects = total.intervals.iter().map(|one| one.connections.reconnects);
    assert!(reconnects.sum::<u64>() >= 9);
    let mut spec = load_spec(&server.address, 1, 20);
    spec.requests[0].method = "POST".to_owned();
    let total = run(&spec);
    let lost = total.count(ErrorClass::EarlyClose) + total.count(ErrorClass::Reset);
    assert!(
        lost > 0,
        "a POST may have been processed: {:?}",
        total.errors
    );
    assert_eq!(total.requests + lost, 20);
}

on_each_reactor!(a_request_that_no_connection_answers_fails);

fn a_request_that_no_connection_answers_fails() {
    // The first connection has one response; all others close.
    let server = Server::start("127.0.0.1:0", |stream, index| {
        index == 0 && perform(stream, &[say(ANSWER)])
    });
    let total = run(&load_spec(&server.address, 1, 5));
    assert_eq!((total.requests, failures(&total)), (1, 4));
}

on_each_reactor!(requests_that_a_close_frame_leaves_out_are_sent_again);

fn requests_that_a_close_frame_leaves_out_are_sent_again() {
    // As nginx does after `keepalive_requests`: the streams above the last one are not processed.
    let server = frames::Server::start(frame(SETTINGS, 0, 0, &[]), |stream, _| {
        let goaway = frame(GOAWAY, 0, 0, &[9_u32.to_be_bytes(), [0; 4]].concat());
        match stream {
            ..9 => vec![Act::Send(frames::hello(stream))],
            9 => vec![Act::Send([goaway, frames::hello(stream)].concat())],
            _ => Vec::new(),
        }
    });
    let mut spec = load_spec(&server.address, 2, 200);
    spec.target.protocol = Protocol::Http2;
    spec.in_flight = 4;
    let total = run(&spec);
    assert_eq!(
        (total.requests, failures(&total)),
        (200, 0),
        "{:?}",
        total.errors
    );
}
