//! Streams of server-sent events that do not end.

use std::num::NonZeroU32;
use std::time::Duration;

use bakeoff_model::load::{ErrorClass, LoadSpec, Protocol};

use crate::frames::{self, DATA, END, END_HEADERS, HEADERS, OK, SETTINGS, frame};
use crate::server::{Act, Server, say};
use crate::{Total, load_spec, run};

const REQUESTS: u64 = 6;
/// The time between the parts of a response.
const PAUSE: Act = Act::Pause(Duration::from_millis(30));
const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";

/// Plays requests that want this many events.
fn played(spec: &LoadSpec, wanted: u32) -> Total {
    let mut spec = spec.clone();
    spec.requests[0].events = NonZeroU32::new(wanted);
    run(&spec)
}

#[track_caller]
fn check_complete(total: &Total) {
    assert!(total.errors.is_empty(), "{:?}", total.errors);
    assert_eq!(total.requests, REQUESTS);
    // To the second event, which comes after the pause.
    assert!(total.service.min_ns().unwrap() >= 30_000_000);
    let first_bytes = total
        .intervals
        .iter()
        .filter_map(|one| one.first_byte.as_ref());
    let counts: u64 = first_bytes.map(|times| times.count()).sum();
    assert_eq!(counts, REQUESTS);
}

on_each_reactor!(a_stream_of_http1_is_read_to_its_events);

fn a_stream_of_http1_is_read_to_its_events() {
    let script = vec![
        say(HEAD),
        say(": here\n\ndata: 1\n\n"),
        PAUSE,
        say("data: 2\n\ndata: 3\n"),
        Act::Hold,
    ];
    let server = Server::script(script);
    let total = played(&load_spec(&server.address, 1, REQUESTS), 2);
    check_complete(&total);
    // Each response leaves a connection of no further use.
    assert!(total.reconnects >= REQUESTS - 1, "{}", total.reconnects);
}

on_each_reactor!(a_stream_of_http2_is_cancelled_after_its_events);

fn a_stream_of_http2_is_cancelled_after_its_events() {
    let handshake = frame(SETTINGS, 0, 0, &[]);
    let server = frames::Server::start(handshake, |stream, _| {
        let head = frame(HEADERS, END_HEADERS, stream, OK);
        let first = [head, frame(DATA, 0, stream, b"data: 1\n\n")].concat();
        vec![
            Act::Send(first),
            PAUSE,
            Act::Send(frame(DATA, 0, stream, b"data: 2\n\n")),
        ]
    });
    let mut spec = load_spec(&server.address, 1, REQUESTS);
    spec.target.protocol = Protocol::Http2;
    let total = played(&spec, 2);
    check_complete(&total);
    assert_eq!(total.reconnects, 0);
}

on_each_reactor!(a_stream_that_ends_early_fails);

fn a_stream_that_ends_early_fails() {
    let short = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\ndata: 1\n\n";
    let server = Server::script(vec![say(short)]);
    let total = played(&load_spec(&server.address, 1, REQUESTS), 2);
    assert_eq!(total.count(ErrorClass::WrongBody), REQUESTS);
    let example = total.errors[&ErrorClass::WrongBody].example.clone();
    let message = example.unwrap_or_default();
    assert!(message.contains("1 of 2 events"), "{message}");
    // What is not a stream fails by its status alone.
    let server = Server::script(vec![say("HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n")]);
    let total = played(&load_spec(&server.address, 1, REQUESTS), 2);
    assert_eq!(total.count(ErrorClass::UnexpectedStatus), REQUESTS);

    let handshake = frame(SETTINGS, 0, 0, &[]);
    let server = frames::Server::start(handshake, |stream, _| {
        let head = frame(HEADERS, END_HEADERS, stream, OK);
        let only = frame(DATA, END, stream, b"data: 1\n\n");
        vec![Act::Send([head, only].concat())]
    });
    let mut spec = load_spec(&server.address, 1, REQUESTS);
    spec.target.protocol = Protocol::Http2;
    let total = played(&spec, 2);
    assert_eq!(total.count(ErrorClass::WrongBody), REQUESTS);
}
