//! The time to the first byte of responses that come in parts.

use std::time::Duration;

use bakeoff_model::load::histogram::Histogram;
use bakeoff_model::load::{LoadSpec, Protocol};

use crate::frames::{self, DATA, END, END_HEADERS, HEADERS, OK, SETTINGS, frame};
use crate::server::{Act, Server, say};
use crate::{MILLISECOND, load_spec, run};

const REQUESTS: u64 = 6;
/// The time between the parts of a response.
const PAUSE: Act = Act::Pause(Duration::from_millis(30));

/// The times to the first byte and to the end of the responses of a server with this script.
fn times(spec: &LoadSpec) -> (Option<Histogram>, Histogram) {
    let total = run(spec);
    assert!(total.errors.is_empty(), "{:?}", total.errors);
    assert_eq!(total.requests, REQUESTS);
    let mut first_byte = None;
    for interval in &total.intervals {
        Histogram::merge_some(&mut first_byte, interval.first_byte.as_ref());
    }
    (first_byte, total.service)
}

fn check_streamed(spec: &LoadSpec) {
    let (first_byte, end) = times(spec);
    let first_byte = first_byte.expect("the responses come in parts");
    assert_eq!((first_byte.count(), end.count()), (REQUESTS, REQUESTS));
    let (first, last) = (first_byte.min_ns().unwrap(), end.min_ns().unwrap());
    assert!(last >= 30 * MILLISECOND, "{last}");
    // A busy host delays one or the other response, not each by the pause.
    assert!(first < 30 * MILLISECOND, "{first}");
}

on_each_reactor!(the_first_byte_of_http1_is_timed);

fn the_first_byte_of_http1_is_timed() {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let first = format!("{head}3\r\none\r\n");
    let parts = vec![say(&first), PAUSE, say("3\r\ntwo\r\n0\r\n\r\n")];
    let server = Server::script(parts);
    check_streamed(&load_spec(&server.address, 1, REQUESTS));
    // A head without a body is not a first byte.
    let parts = vec![say(head), PAUSE, say("3\r\ntwo\r\n0\r\n\r\n")];
    let server = Server::script(parts);
    let (first_byte, _) = times(&load_spec(&server.address, 1, REQUESTS));
    assert!(first_byte.is_none(), "{first_byte:?}");
}

on_each_reactor!(the_first_byte_of_http2_is_timed);

fn the_first_byte_of_http2_is_timed() {
    let handshake = frame(SETTINGS, 0, 0, &[]);
    let server = frames::Server::start(handshake, |stream, _| {
        let head = frame(HEADERS, END_HEADERS, stream, OK);
        let first = [head, frame(DATA, 0, stream, b"one")].concat();
        vec![
            Act::Send(first),
            PAUSE,
            Act::Send(frame(DATA, END, stream, b"two")),
        ]
    });
    let mut spec = load_spec(&server.address, 1, REQUESTS);
    spec.target.protocol = Protocol::Http2;
    check_streamed(&spec);
}

on_each_reactor!(responses_that_come_whole_have_no_first_byte);

fn responses_that_come_whole_have_no_first_byte() {
    let whole = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none";
    let server = Server::script(vec![say(whole)]);
    let (first_byte, _) = times(&load_spec(&server.address, 1, REQUESTS));
    assert!(first_byte.is_none(), "{first_byte:?}");
}
