//! HTTP/2: right responses of a server that is not ours, and every wrong one in its class.

use std::convert::Infallible;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bakeoff_model::load::{ErrorClass, LoadSpec, Pace, Protocol};
use bakeoff_model::request::check::Expect;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::http::request::Parts;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};

use crate::frames::{
    CONTINUATION, DATA, END, END_HEADERS, GOAWAY, HEADERS, OK, PADDED, PING, PUSH_PROMISE,
    RST_STREAM, SETTINGS, Server, WINDOW_UPDATE, field, frame, hello,
};
use crate::server::Act;
use crate::{MILLISECOND, SECOND, answer_limit_ns, load_spec, run};

const REQUESTS: u64 = 8;

/// A body that may have trailers.
pub(crate) type AnyBody = BoxBody<Bytes, Infallible>;

fn http2_spec(address: &str, connections: u32, streams: u32, requests: u64) -> LoadSpec {
    let mut spec = load_spec(address, connections, requests);
    spec.target.protocol = Protocol::Http2;
    spec.in_flight = streams;
    spec
}

/// Counts of a hyper server.
#[derive(Debug, Default)]
struct Seen {
    requests: AtomicU64,
    body_bytes: AtomicU64,
}

/// A server of hyper's; responds with the path's number of bytes.
fn hyper_server(window: u32) -> (String, Arc<Seen>) {
    let seen = Arc::new(Seen::default());
    let counted = seen.clone();
    let address = serve_http2(window, move |request, body| {
        let length = request.uri.path()[1..].parse().unwrap_or(5);
        counted.requests.fetch_add(1, Ordering::SeqCst);
        let body_bytes = body.len() as u64;
        counted.body_bytes.fetch_add(body_bytes, Ordering::SeqCst);
        Response::new(Full::new(Bytes::from(vec![b'x'; length])))
    });
    (address, seen)
}

/// A server of hyper's that responds requests, whose bodies are given apart, in this way.
pub(crate) fn serve_http2(
    window: u32,
    response: impl Fn(&Parts, &[u8]) -> Response<Full<Bytes>> + Send + Sync + 'static,
) -> String {
    serve_http2_with(window, move |parts, body| {
        response(parts, body).map(|body| body.boxed())
    })
}

/// Serves HTTP/2 responses with trailers.
pub(crate) fn serve_http2_with(
    window: u32,
    response: impl Fn(&Parts, &[u8]) -> Response<AnyBody> + Send + Sync + 'static,
) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    listener.set_nonblocking(true).unwrap();
    let response = Arc::new(response);
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async move {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            while let Ok((stream, _)) = listener.accept().await {
                let response = response.clone();
                let service = service_fn(move |request: Request<Incoming>| {
                    let response = response.clone();
                    async move {
                        let (parts, body) = request.into_parts();
                        let body = body.collect().await?.to_bytes();
                        Ok::<_, hyper::Error>(response(&parts, &body))
                    }
                });
                tokio::spawn(
                    hyper::server::conn::http2::Builder::new(TokioExecutor::new())
                        .initial_stream_window_size(window)
                        .initial_connection_window_size(window.max(65_535))
                        .max_concurrent_streams(64)
                        .serve_connection(TokioIo::new(stream), service),
                );
            }
        });
    });
    address
}

on_each_reactor!(a_foreign_server_is_loaded_and_counts_the_same);

fn a_foreign_server_is_loaded_and_counts_the_same() {
    let (address, seen) = hyper_server(65_535);
    for (connections, streams) in [(1, 1), (1, 10), (3, 4)] {
        let before = seen.requests.load(Ordering::SeqCst);
        let mut spec = http2_spec(&address, connections, streams, 600);
        spec.timeout_answer_ns = 5 * SECOND;
        spec.check_body_every = 3;
        spec.requests[0].expect = Some(Expect {
            body: Some("xxxxx".to_owned()),
            headers: [("content-length".to_owned(), "5".to_owned())].into(),
            ..Expect::default()
        });
        let total = run(&spec);
        assert!(total.errors.is_empty(), "{:?}", total.errors);
        assert_eq!(total.requests, 600);
        assert_eq!(total.established, [connections]);
        assert_eq!(total.reconnects, 0);
        assert_eq!(seen.requests.load(Ordering::SeqCst) - before, 600);
    }
}

on_each_reactor!(large_bodies_go_both_ways);

fn large_bodies_go_both_ways() {
    for window in [1000, 65_535, 1 << 20] {
        let (address, seen) = hyper_server(window);
        let mut spec = http2_spec(&address, 2, 3, 12);
        spec.timeout_answer_ns = 20 * SECOND;
        spec.requests[0].method = "POST".to_owned();
        // Larger than a frame, than both windows, and no multiple of anything.
        let length = if window < 10_000 {
            100_001
        } else {
            5 * 1024 * 1024 + 7
        };
        spec.requests[0].body = "b".repeat(length).into();
        spec.requests[0].path = "/3000001".to_owned();
        spec.requests[0].expect = Some(Expect {
            body_bytes: Some(3_000_001),
            ..Expect::default()
        });
        let total = run(&spec);
        assert!(total.errors.is_empty(), "{window}: {:?}", total.errors);
        assert_eq!(total.requests, 12);
        let received = seen.body_bytes.load(Ordering::SeqCst);
        assert_eq!(received, 12 * length as u64);
    }
}

on_each_reactor!(open_load_runs_on_streams);

fn open_load_runs_on_streams() {
    let (address, seen) = hyper_server(65_535);
    let mut spec = http2_spec(&address, 2, 16, 0);
    spec.threads = 2;
    spec.timeout_answer_ns = 5 * SECOND;
    spec.steps[0].duration_ns = SECOND;
    spec.steps[0].pace = Pace::Constant { rate_per_s: 500.0 };
    let total = run(&spec);
    assert!(total.errors.is_empty(), "{:?}", total.errors);
    assert_eq!(total.offered, 500);
    assert_eq!(total.requests + total.censored, 500);
    assert!(seen.requests.load(Ordering::SeqCst) <= 500);
}

/// Requests on two connections of two streams to a server with this script all end as `class`,
/// `None` for a success.
fn check(
    name: &str,
    script: impl Fn(u32) -> Vec<Act> + Send + Sync + 'static,
    class: Option<ErrorClass>,
) {
    check_request(name, script, class, |_| ());
}

fn check_request(
    name: &str,
    script: impl Fn(u32) -> Vec<Act> + Send + Sync + 'static,
    class: Option<ErrorClass>,
    change: fn(&mut LoadSpec),
) {
    let handshake = frame(SETTINGS, 0, 0, &[]);
    let server = Server::start(handshake, move |stream, _| script(stream));
    let mut spec = http2_spec(&server.address, 2, 2, REQUESTS);
    spec.timeout_answer_ns = answer_limit_ns(class);
    change(&mut spec);
    let total = run(&spec);
    let errors = &total.errors;
    match class {
        None => {
            assert!(errors.is_empty(), "{name}: {errors:?}");
            assert_eq!(total.requests, REQUESTS, "{name}");
            assert_eq!(total.service.count(), REQUESTS, "{name}");
            assert_eq!(server.requests(), REQUESTS, "{name}");
        }
        Some(class) => {
            assert_eq!(total.count(class), REQUESTS, "{name}: {errors:?}");
            assert_eq!(errors.len(), 1, "{name}: {errors:?}");
            assert_eq!(total.requests, 0, "{name}");
            assert!(errors[&class].example.is_some(), "{name}");
        }
    }
}

/// Sends frames at once.
fn send(frames: &[Vec<u8>]) -> Vec<Act> {
    vec![Act::Send(frames.concat())]
}

type Script = fn(u32) -> Vec<Act>;

on_each_reactor!(odd_but_right_responses_are_right);

fn odd_but_right_responses_are_right() {
    for (name, script) in right_answers() {
        check(name, script, None);
    }
}

fn right_answers() -> Vec<(&'static str, Script)> {
    vec![
        ("plain", |n| send(&[hello(n)])),
        ("one byte at a time", |n| vec![Act::Trickle(hello(n))]),
        ("nothing but a head", |n| {
            send(&[frame(HEADERS, END_HEADERS | END, n, OK)])
        }),
        ("an empty frame at the end", |n| {
            let data = [frame(DATA, 0, n, b"hello"), frame(DATA, END, n, b"")];
            send(&[frame(HEADERS, END_HEADERS, n, OK), data.concat()])
        }),
        ("an interim response", |n| {
            let interim = field(":status", "103");
            send(&[frame(HEADERS, END_HEADERS, n, &interim), hello(n)])
        }),
        ("trailers", |n| {
            let trailers = frame(HEADERS, END_HEADERS | END, n, &field("checksum", "1"));
            let data = frame(DATA, 0, n, b"hello");
            send(&[frame(HEADERS, END_HEADERS, n, OK), data, trailers])
        }),
        ("padding", |n| {
            let head = frame(HEADERS, END_HEADERS | PADDED, n, &[2, 0x88, 0, 0]);
            let body = frame(DATA, END | PADDED, n, b"\x03hello\0\0\0");
            send(&[head, body])
        }),
        ("headers in pieces", |n| {
            let (more, length) = (field("a", "b"), field("content-length", "5"));
            send(&[
                frame(HEADERS, 0, n, OK),
                frame(CONTINUATION, 0, n, &more),
                frame(CONTINUATION, END_HEADERS, n, &length),
                frame(DATA, END, n, b"hello"),
            ])
        }),
        ("frames that mean nothing", |n| {
            send(&[
                frame(2, 0, n, &[0; 5]),
                frame(99, 255, n, b"?"),
                frame(PING, 0, 0, &[7; 8]),
                frame(SETTINGS, 0, 0, &[0, 99, 0, 0, 0, 1]),
                frame(WINDOW_UPDATE, 0, n, &[0, 0, 1, 0]),
                hello(n),
            ])
        }),
        ("frames after the end", |n| {
            let late = [
                frame(WINDOW_UPDATE, 0, n, &[0, 0, 1, 0]),
                frame(RST_STREAM, 0, n, &[0; 4]),
            ];
            send(&[hello(n), late.concat()])
        }),
    ]
}

on_each_reactor!(what_is_no_http2_is_bad_framing);

fn what_is_no_http2_is_bad_framing() {
    for (name, script) in bad_frames().into_iter().chain(bad_answers()) {
        check(name, script, Some(ErrorClass::BadFraming));
    }
}

/// Errors that end the connection.
fn bad_frames() -> Vec<(&'static str, Script)> {
    vec![
        ("HTTP/1.1", |_| {
            vec![Act::Send(b"HTTP/1.1 200 OK\r\n\r\n".to_vec()), Act::Hold]
        }),
        ("a frame beyond its size", |_| {
            vec![Act::Send(vec![255, 255, 255, 0, 0, 0, 0, 0, 1]), Act::Hold]
        }),
        ("a pushed response", |n| {
            send(&[frame(PUSH_PROMISE, 4, n, &[0, 0, 0, 2, 0x88])])
        }),
        ("a stream that was not opened", |_| {
            send(&[hello(1_000_001)])
        }),
        ("a stream of the service", |_| send(&[hello(2)])),
        ("data of the connection", |_| {
            send(&[frame(DATA, 0, 0, b"hello")])
        }),
        ("an unknown index", |n| {
            send(&[frame(HEADERS, END_HEADERS, n, &[0xFF, 0x7F])])
        }),
        ("a broken header block", |n| {
            send(&[frame(HEADERS, END_HEADERS, n, &[0, 5, b'a'])])
        }),
        ("another frame in a block", |n| {
            send(&[frame(HEADERS, 0, n, OK), frame(DATA, END, n, b"hello")])
        }),
        ("a continuation of nothing", |n| {
            send(&[frame(CONTINUATION, END_HEADERS, n, OK)])
        }),
        ("a ping of four bytes", |_| {
            send(&[frame(PING, 0, 0, &[0; 4])])
        }),
        ("settings of seven bytes", |_| {
            send(&[frame(SETTINGS, 0, 0, &[0; 7])])
        }),
        ("an impossible window", |_| {
            send(&[frame(SETTINGS, 0, 0, &[0, 4, 255, 255, 255, 255])])
        }),
        ("a window beyond its size", |_| {
            send(&[frame(WINDOW_UPDATE, 0, 0, &[127, 255, 255, 255])])
        }),
        ("padding beyond the frame", |n| {
            let head = frame(HEADERS, END_HEADERS, n, OK);
            send(&[head, frame(DATA, PADDED | END, n, &[200, 0])])
        }),
        ("endless pings", |_| {
            vec![Act::Flood(frame(PING, 0, 0, &[0; 8]))]
        }),
        ("endless settings", |_| {
            vec![Act::Flood(frame(SETTINGS, 0, 0, &[]))]
        }),
        ("endless headers", |n| {
            let more = frame(CONTINUATION, 0, n, &field("a", "b"));
            vec![Act::Send(frame(HEADERS, 0, n, OK)), Act::Flood(more)]
        }),
        ("endless empty headers", |n| {
            let more = frame(CONTINUATION, 0, n, &[]);
            vec![Act::Send(frame(HEADERS, 0, n, OK)), Act::Flood(more)]
        }),
        ("endless empty data", |n| {
            let head = frame(HEADERS, END_HEADERS, n, OK);
            vec![Act::Send(head), Act::Flood(frame(DATA, 0, n, &[]))]
        }),
    ]
}

/// Errors that end only the request.
fn bad_answers() -> Vec<(&'static str, Script)> {
    vec![
        ("data before the head", |n| {
            send(&[frame(DATA, END, n, b"hello")])
        }),
        ("no status", |n| {
            send(&[frame(HEADERS, END_HEADERS | END, n, &field("a", "b"))])
        }),
        ("two statuses", |n| {
            send(&[frame(HEADERS, END_HEADERS | END, n, &[0x88, 0x88])])
        }),
        ("a status of words", |n| {
            send(&[frame(
                HEADERS,
                END_HEADERS | END,
                n,
                &field(":status", "2OO"),
            )])
        }),
        ("another protocol", |n| {
            send(&[frame(HEADERS, END_HEADERS, n, &field(":status", "101"))])
        }),
        ("an interim response at the end", |n| {
            send(&[frame(
                HEADERS,
                END_HEADERS | END,
                n,
                &field(":status", "103"),
            )])
        }),
        ("upper case", |n| answer_with(n, &field("Server", "x"))),
        ("an unknown pseudo-header", |n| {
            answer_with(n, &field(":server", "x"))
        }),
        ("a header of HTTP/1.1", |n| {
            answer_with(n, &field("connection", "close"))
        }),
        ("a line break", |n| answer_with(n, &field("a", "b\r\nc: d"))),
        ("a length of words", |n| {
            answer_with(n, &field("content-length", "five"))
        }),
        ("a body too long", |n| {
            answer_with(n, &field("content-length", "4"))
        }),
        ("a body too short", |n| {
            answer_with(n, &field("content-length", "6"))
        }),
        ("a second head", |n| {
            let head = frame(HEADERS, END_HEADERS, n, OK);
            send(&[head.clone(), head])
        }),
        ("huge headers", |n| {
            // One field enters the table, then every byte names it again.
            let entry = [&[0x40], &field("a", &"b".repeat(3000))[1..]].concat();
            let many = [OK, &entry, &[0xBE; 100]].concat();
            send(&[frame(HEADERS, END_HEADERS | END, n, &many)])
        }),
        ("endless interim responses", |n| {
            vec![Act::Flood(frame(
                HEADERS,
                END_HEADERS,
                n,
                &field(":status", "103"),
            ))]
        }),
    ]
}

/// A response with one more header.
fn answer_with(stream: u32, field: &[u8]) -> Vec<Act> {
    let head = frame(HEADERS, END_HEADERS, stream, &[OK, field].concat());
    send(&[head, frame(DATA, END, stream, b"hello")])
}

on_each_reactor!(what_breaks_off_is_distinguished);

fn what_breaks_off_is_distinguished() {
    let (early, reset) = (Some(ErrorClass::EarlyClose), Some(ErrorClass::Reset));
    let head = |n| Act::Send(frame(HEADERS, END_HEADERS, n, OK));
    // A server that closes with a request unread resets the connection: one at a time.
    let single: fn(&mut LoadSpec) = |spec| spec.in_flight = 1;
    check_request(
        "close without a response",
        |_| vec![Act::Close],
        early,
        single,
    );
    check_request(
        "close in the body",
        move |n| vec![head(n), Act::Close],
        early,
        single,
    );
    check_request(
        "reset without a response",
        |_| vec![Act::Reset],
        reset,
        single,
    );
    for code in [0, 2, 7, 8] {
        let stop = move |n| send(&[frame(RST_STREAM, 0, n, &[0, 0, 0, code])]);
        check("stream reset", stop, reset);
    }
    let goaway = |code| move |_| send(&[frame(GOAWAY, 0, 0, &[0, 0, 0, 0, 0, 0, 0, code])]);
    check("GOAWAY", goaway(0), early);
    check("GOAWAY with an error", goaway(11), reset);
}

on_each_reactor!(what_takes_too_long_is_distinguished);

fn what_takes_too_long_is_distinguished() {
    let (header, body) = (
        Some(ErrorClass::HeaderTimeout),
        Some(ErrorClass::BodyTimeout),
    );
    check("no response", |_| vec![Act::Hold], header);
    let head = |n| send(&[frame(HEADERS, END_HEADERS, n, OK)]);
    check("half a response", head, body);
}

on_each_reactor!(one_slow_stream_does_not_take_the_others_along);

fn one_slow_stream_does_not_take_the_others_along() {
    // Every fourth request gets no response; its connection goes on.
    let server = Server::start(frame(SETTINGS, 0, 0, &[]), |stream, index| {
        if index % 4 == 3 {
            Vec::new()
        } else {
            send(&[hello(stream)])
        }
    });
    let mut spec = http2_spec(&server.address, 1, 4, 40);
    spec.timeout_answer_ns = answer_limit_ns(Some(ErrorClass::HeaderTimeout));
    let total = run(&spec);
    assert_eq!(total.requests, 30, "{:?}", total.errors);
    assert_eq!(
        total.count(ErrorClass::HeaderTimeout),
        10,
        "{:?}",
        total.errors
    );
    assert_eq!((total.reconnects, server.connections()), (0, 1));
}

on_each_reactor!(wrong_responses_are_distinguished);

fn wrong_responses_are_distinguished() {
    let missing = |n| send(&[frame(HEADERS, END_HEADERS | END, n, &[0x8D])]);
    check("status", missing, Some(ErrorClass::UnexpectedStatus));
    let plain = |n| send(&[hello(n)]);
    check_request("length", plain, Some(ErrorClass::WrongBody), |spec| {
        spec.requests[0].expect = Some(Expect {
            body_bytes: Some(6),
            ..Expect::default()
        });
    });
    check_request("body", plain, Some(ErrorClass::WrongBody), |spec| {
        spec.check_body_every = 1;
        spec.requests[0].expect = Some(Expect {
            body: Some("hullo".to_owned()),
            ..Expect::default()
        });
    });
    let head = |n| {
        send(&[frame(
            HEADERS,
            END_HEADERS | END,
            n,
            &[OK, &field("content-length", "9")].concat(),
        )])
    };
    check_request("HEAD", head, None, |spec| {
        spec.requests[0].method = "HEAD".to_owned();
    });
}

on_each_reactor!(a_close_frame_lets_the_requests_before_it_end);

fn a_close_frame_lets_the_requests_before_it_end() {
    // Each connection says GOAWAY after its fifth request and then responds to it.
    let server = Server::start(frame(SETTINGS, 0, 0, &[]), |stream, _| {
        let goaway = frame(GOAWAY, 0, 0, &[stream.to_be_bytes(), [0; 4]].concat());
        if stream == 9 {
            send(&[goaway, hello(stream)])
        } else {
            send(&[hello(stream)])
        }
    });
    let total = run(&http2_spec(&server.address, 1, 1, 50));
    assert!(total.errors.is_empty(), "{:?}", total.errors);
    assert_eq!((total.requests, server.requests()), (50, 50));
    assert!(
        (10..=11).contains(&server.connections()),
        "{}",
        server.connections()
    );
}

on_each_reactor!(the_service_may_allow_fewer_streams);

fn the_service_may_allow_fewer_streams() {
    let two = frame(SETTINGS, 0, 0, &[0, 3, 0, 0, 0, 2]);
    let server = Server::start(two, |stream, _| {
        vec![
            Act::Pause(Duration::from_millis(2)),
            Act::Send(hello(stream)),
        ]
    });
    let total = run(&http2_spec(&server.address, 1, 10, 40));
    assert_eq!(total.requests, 40, "{:?}", total.errors);
    // On a busy host the first may get its response before the second comes.
    assert!(server.most_at_once() <= 2, "{}", server.most_at_once());
    assert_eq!(total.streams, 2);
}

on_each_reactor!(a_service_that_never_sends_settings_is_no_connection);

fn a_service_that_never_sends_settings_is_no_connection() {
    for (handshake, acts, class) in [
        (Vec::new(), vec![Act::Hold], ErrorClass::ConnectTimeout),
        (
            frame(SETTINGS, 0, 0, &[0, 3, 0, 0, 0, 0]),
            vec![Act::Hold],
            ErrorClass::ConnectTimeout,
        ),
        (
            b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(),
            vec![Act::Hold],
            ErrorClass::BadFraming,
        ),
        (
            frame(PING, 0, 0, &[0; 8]),
            vec![Act::Hold],
            ErrorClass::BadFraming,
        ),
        (
            frame(GOAWAY, 0, 0, &[0; 8]),
            vec![Act::Hold],
            ErrorClass::BadFraming,
        ),
    ] {
        let server = Server::start(handshake, move |_, _| acts.clone());
        let mut spec = http2_spec(&server.address, 1, 3, 2);
        spec.timeout_connect_ns = 100 * MILLISECOND;
        let total = run(&spec);
        assert_eq!(total.count(class), 2, "{:?}", total.errors);
        assert_eq!((total.established[0], total.requests), (0, 0));
    }
}

on_each_reactor!(what_comes_after_a_right_response_costs_no_other_request);

fn what_comes_after_a_right_response_costs_no_other_request() {
    let server = Server::start(frame(SETTINGS, 0, 0, &[]), |stream, _| {
        send(&[hello(stream), frame(DATA, 0, 0, b"x")])
    });
    let total = run(&http2_spec(&server.address, 1, 1, 20));
    assert!(total.errors.is_empty(), "{:?}", total.errors);
    assert_eq!((total.requests, server.requests()), (20, 20));
}

on_each_reactor!(a_service_that_sends_goaway_before_its_settings_is_connected_again);

fn a_service_that_sends_goaway_before_its_settings_is_connected_again() {
    let streams = |number| frame(SETTINGS, 0, 0, &[0, 3, 0, 0, 0, number]);
    let goaway = frame(GOAWAY, 0, 0, &[0; 8]);
    let handshake = [streams(0), goaway, streams(1)].concat();
    let server = Server::start(handshake, |_, _| vec![Act::Hold]);
    let total = run(&http2_spec(&server.address, 1, 1, 4));
    let early = total.count(ErrorClass::EarlyClose);
    assert_eq!((early, total.requests), (4, 0), "{:?}", total.errors);
    assert!(server.connections() > 4, "{}", server.connections());
}

on_each_reactor!(uploads_to_a_service_that_gives_back_every_frame_arrive);

fn uploads_to_a_service_that_gives_back_every_frame_arrive() {
    let server = Server::start(frame(SETTINGS, 0, 0, &[]), |stream, _| {
        send(&[hello(stream)])
    });
    let mut spec = http2_spec(&server.address, 1, 16, 16);
    spec.requests[0].method = "POST".to_owned();
    spec.requests[0].body = "b".repeat(5 << 20).into();
    spec.timeout_answer_ns = 10 * SECOND;
    let total = run(&spec);
    assert!(total.errors.is_empty(), "{:?}", total.errors);
    assert_eq!(total.requests, 16);
}

#[test]
fn specs_that_http2_cannot_carry_out_are_refused() {
    for (change, expected) in [
        (
            (|spec| spec.keep_alive_off = true) as fn(&mut LoadSpec),
            "keep-alive is always on",
        ),
        (|spec| spec.in_flight = 1_000_000, "requests in flight"),
    ] {
        let mut spec = http2_spec("127.0.0.1:1", 1, 1, 1);
        change(&mut spec);
        let message = crate::try_run(&spec).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
}
