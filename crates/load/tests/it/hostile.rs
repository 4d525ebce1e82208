//! Every wrong response has its error class, and every odd but right one counts as a success.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::time::Duration;

use bakeoff_model::load::ErrorClass;
use bakeoff_model::request::check::Expect;

use crate::server::{Act, RefusedPort, Server, say};
use crate::{answer_limit_ns, load_spec, run};

const REQUESTS: u64 = 4;

/// Four requests on two connections to a server with this script all end as `class`, `None` for
/// a success, and both sides have counted the same.
fn check(name: &str, acts: Vec<Act>, class: Option<ErrorClass>) {
    check_request(name, acts, class, |_| ());
}

fn check_request(
    name: &str,
    acts: Vec<Act>,
    class: Option<ErrorClass>,
    change: fn(&mut bakeoff_model::load::LoadSpec),
) {
    let server = Server::script(acts);
    let mut spec = load_spec(&server.address, 2, REQUESTS);
    spec.timeout_answer_ns = answer_limit_ns(class);
    change(&mut spec);
    let total = run(&spec);
    let errors = &total.errors;
    match class {
        None => {
            assert!(errors.is_empty(), "{name}: {errors:?}");
            assert_eq!(total.requests, REQUESTS, "{name}");
            assert_eq!(total.service.count(), REQUESTS, "{name}");
        }
        Some(class) => {
            assert_eq!(total.count(class), REQUESTS, "{name}: {errors:?}");
            assert_eq!(errors.len(), 1, "{name}: {errors:?}");
            assert_eq!(total.requests, 0, "{name}");
            assert_eq!(total.service.count(), 0, "{name}");
            assert!(errors[&class].example.is_some(), "{name}");
            assert!(errors[&class].time_ns_sum > 0, "{name}");
        }
    }
    let sent = total.on_the_wire();
    assert_eq!(server.requests_of(sent), sent, "{name}: {errors:?}");
}

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

on_each_reactor!(odd_but_right_responses_are_right);

fn odd_but_right_responses_are_right() {
    for (name, acts) in [cut_answers(), odd_heads(), odd_framings()].concat() {
        check(name, acts, None);
    }
}

/// The plain response in pieces.
fn cut_answers() -> Vec<(&'static str, Vec<Act>)> {
    vec![
        ("plain", vec![say(OK)]),
        ("one byte at a time", vec![Act::Trickle(OK.into())]),
        (
            "split in the status",
            vec![say(&OK[..7]), pause(5), say(&OK[7..])],
        ),
        (
            "split in a header",
            vec![say(&OK[..25]), pause(5), say(&OK[25..])],
        ),
        (
            "split before the empty line",
            vec![say(&OK[..36]), pause(5), say(&OK[36..])],
        ),
        (
            "split in the body",
            vec![say(&OK[..40]), pause(5), say(&OK[40..])],
        ),
    ]
}

/// Heads as few servers write them.
fn odd_heads() -> Vec<(&'static str, Vec<Act>)> {
    vec![
        (
            "lower case",
            vec![say("HTTP/1.1 200 ok\r\ncontent-length: 2\r\n\r\nhi")],
        ),
        (
            "no reason",
            vec![say("HTTP/1.1 200\r\ncontent-length: 2\r\n\r\nhi")],
        ),
        (
            "same length twice",
            vec![say(
                "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nhi",
            )],
        ),
        (
            "empty",
            vec![say("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")],
        ),
        ("no content", vec![say("HTTP/1.1 204 No Content\r\n\r\n")]),
        (
            "not modified",
            vec![say(
                "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n",
            )],
        ),
    ]
}

/// Interim responses, chunks, and ends by closing.
fn odd_framings() -> Vec<(&'static str, Vec<Act>)> {
    vec![
        (
            "100 continue",
            vec![say(&format!("HTTP/1.1 100 Continue\r\n\r\n{OK}"))],
        ),
        (
            "103 apart",
            vec![
                say("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHT"),
                pause(5),
                say(&OK[2..]),
            ],
        ),
        ("chunked", vec![say(CHUNKED)]),
        (
            "chunked one byte at a time",
            vec![Act::Trickle(CHUNKED.into())],
        ),
        (
            "until close",
            vec![say("HTTP/1.1 200 OK\r\n\r\nhello"), Act::Close],
        ),
        (
            "connection close",
            vec![
                say("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi"),
                Act::Close,
            ],
        ),
        (
            "HTTP/1.0",
            vec![
                say("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi"),
                Act::Close,
            ],
        ),
        (
            "HTTP/1.0 until close",
            vec![say("HTTP/1.0 200 OK\r\n\r\nhi"), Act::Close],
        ),
        (
            "HTTP/1.0 keep-alive",
            vec![say(
                "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nhi",
            )],
        ),
        (
            "large headers",
            vec![say(&format!(
                "HTTP/1.1 200 OK\r\nX: {}\r\nContent-Length: 2\r\n\r\nhi",
                "x".repeat(60_000),
            ))],
        ),
    ]
}

const CHUNKED: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
    5;ext=1\r\nhello\r\n1A\r\nabcdefghijklmnopqrstuvwxyz\r\n0\r\nTrailer: yes\r\n\r\n";

fn pause(milliseconds: u64) -> Act {
    Act::Pause(Duration::from_millis(milliseconds))
}

on_each_reactor!(what_is_no_http_is_bad_framing);

fn what_is_no_http_is_bad_framing() {
    for (name, text) in [bad_heads(), bad_bodies()].concat() {
        let acts = vec![say(&text), Act::Hold];
        check(name, acts, Some(ErrorClass::BadFraming));
    }
}

/// Bytes that cannot be the head of a response.
fn bad_heads() -> Vec<(&'static str, String)> {
    let head = "HTTP/1.1 200 OK\r\n";
    vec![
        ("garbage", "what do you want?\r\n\r\n".to_owned()),
        ("binary", "\u{0}\u{1}\u{2}\u{3}".to_owned()),
        ("garbage without an end", "SSH-2.0-OpenSSH".to_owned()),
        (
            "a header without a colon",
            format!("{head}nothing\r\nContent-Length: 0\r\n\r\n"),
        ),
        (
            "a space in a name",
            format!("{head}a b: c\r\nContent-Length: 0\r\n\r\n"),
        ),
        (
            "length is a word",
            format!("{head}Content-Length: many\r\n\r\n"),
        ),
        (
            "length is negative",
            format!("{head}Content-Length: -1\r\n\r\n"),
        ),
        (
            "length has a sign",
            format!("{head}Content-Length: +5\r\n\r\nhello"),
        ),
        (
            "length is beyond numbers",
            format!("{head}Content-Length: {}\r\n\r\n", "9".repeat(40)),
        ),
        (
            "two lengths",
            format!("{head}Content-Length: 1\r\nContent-Length: 2\r\n\r\nhi"),
        ),
        (
            "length and chunks",
            format!("{head}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        ),
        (
            "huge headers",
            format!(
                "{head}X: {}\r\nContent-Length: 0\r\n\r\n",
                "x".repeat(70_000)
            ),
        ),
        (
            "many headers",
            format!("{head}{}Content-Length: 0\r\n\r\n", "a: b\r\n".repeat(500)),
        ),
        (
            "another protocol",
            "HTTP/1.1 101 Switching Protocols\r\n\r\n".to_owned(),
        ),
        ("HTTP/2 as a message", "HTTP/2 200 OK\r\n\r\n".to_owned()),
        (
            "HTTP/2",
            "\0\0\u{6}\u{4}\0\0\0\0\0\0\u{3}\0\0\0\u{40}".to_owned(),
        ),
    ]
}

/// Bodies that differ from what their head promised.
fn bad_bodies() -> Vec<(&'static str, String)> {
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    vec![
        ("bad chunk size", format!("{chunked}xyz\r\nhello\r\n")),
        ("empty chunk size", format!("{chunked}\r\nhello\r\n")),
        (
            "huge chunk size",
            format!("{chunked}{}\r\n", "F".repeat(20)),
        ),
        (
            "chunk longer than its size",
            format!("{chunked}2\r\nhello\r\n0\r\n\r\n"),
        ),
        (
            "endless extension",
            format!("{chunked}5;{}", "x".repeat(20_000)),
        ),
        ("extra bytes", format!("{OK}more")),
        ("a second response", format!("{OK}{OK}")),
    ]
}

on_each_reactor!(what_never_ends_is_bad_framing);

fn what_never_ends_is_bad_framing() {
    let head = "HTTP/1.1 200 OK\r\n";
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let endless = "HTTP/1.1 100 Continue\r\n\r\n".into();
    check(
        "endless interim responses",
        vec![Act::Flood(endless)],
        Some(ErrorClass::BadFraming),
    );
    let headers = vec![say(head), Act::Flood("a: b\r\n".into())];
    check("endless headers", headers, Some(ErrorClass::BadFraming));
    let trailers = vec![say(chunked), say("0\r\n"), Act::Flood("a: b\r\n".into())];
    check("endless trailers", trailers, Some(ErrorClass::BadFraming));
}

on_each_reactor!(what_breaks_off_is_distinguished);

fn what_breaks_off_is_distinguished() {
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello";
    let chunk = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n";
    let (early, reset) = (Some(ErrorClass::EarlyClose), Some(ErrorClass::Reset));
    check("close without a response", vec![Act::Close], early);
    check(
        "close in the head",
        vec![say("HTTP/1.1 200 OK\r\nConte"), Act::Close],
        early,
    );
    check("close in the body", vec![say(head), Act::Close], early);
    check("close in the chunks", vec![say(chunk), Act::Close], early);
    check("reset without a response", vec![Act::Reset], reset);
    check(
        "reset in the body",
        vec![say(head), pause(20), Act::Reset],
        reset,
    );
    let until_close = "HTTP/1.1 200 OK\r\n\r\nhello";
    check(
        "reset instead of close",
        vec![say(until_close), pause(20), Act::Reset],
        reset,
    );
}

on_each_reactor!(a_response_before_the_end_of_an_upload_is_a_response);

/// The service responds after the first bytes of an upload and closes, which resets the connection.
fn a_response_before_the_end_of_an_upload_is_a_response() {
    let upload = |response: &'static str, requests| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut spec = load_spec(&listener.local_addr().unwrap().to_string(), 2, requests);
        std::thread::spawn(move || {
            while let Ok((mut stream, _)) = listener.accept() {
                std::thread::spawn(move || {
                    if stream.read_exact(&mut [0]).is_ok() {
                        let _ = stream.write_all(response.as_bytes());
                    }
                });
            }
        });
        spec.requests[0].method = "POST".to_owned();
        spec.requests[0].body = "x".repeat(5 << 20).into();
        run(&spec)
    };
    let closing = "HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno";
    let keeping = "HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno";
    for response in [closing, keeping] {
        let total = upload(response, 20);
        let errors = &total.errors;
        assert_eq!(total.count(ErrorClass::UnexpectedStatus), 20, "{errors:?}");
        assert_eq!(errors.len(), 1, "{errors:?}");
    }
    let total = upload("HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nno", 4);
    assert_eq!(total.count(ErrorClass::Reset), 4, "{:?}", total.errors);
}

on_each_reactor!(a_body_without_an_end_is_named);

fn a_body_without_an_end_is_named() {
    let server = Server::script(vec![say("HTTP/1.1 200 OK\r\n\r\nhello"), Act::Hold]);
    let mut spec = load_spec(&server.address, 1, 1);
    spec.timeout_answer_ns = answer_limit_ns(Some(ErrorClass::BodyTimeout));
    let example = &run(&spec).errors[&ErrorClass::BodyTimeout].example;
    let expect = "not complete within 300 ms: the response has neither a length nor an end";
    assert_eq!(example.as_deref(), Some(expect));
}

on_each_reactor!(what_takes_too_long_is_distinguished);

fn what_takes_too_long_is_distinguished() {
    let (header, body) = (
        Some(ErrorClass::HeaderTimeout),
        Some(ErrorClass::BodyTimeout),
    );
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n";
    check("no response", vec![Act::Hold], header);
    check(
        "half a head",
        vec![say("HTTP/1.1 200 OK\r\n"), Act::Hold],
        body,
    );
    check(
        "half a body",
        vec![say(head), say("hello"), Act::Hold],
        body,
    );
    let slow: Vec<Act> = std::iter::once(say(head))
        .chain((0..100).flat_map(|_| [say("x"), pause(20)]))
        .collect();
    check("slow loris", slow, body);
    let mut slow = vec![say("HTTP/1.1 200 OK\r\n")];
    slow.extend((0..100).flat_map(|_| [say("a: b\r\n"), pause(20)]));
    check("slow headers", slow, body);
}

on_each_reactor!(wrong_responses_are_distinguished);

fn wrong_responses_are_distinguished() {
    let missing = "HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno";
    check(
        "status",
        vec![say(missing)],
        Some(ErrorClass::UnexpectedStatus),
    );
    check_request("allowed status", vec![say(missing)], None, |spec| {
        let status = vec![200, 404];
        spec.requests[0].expect = Some(Expect {
            status,
            ..Expect::default()
        });
    });
    let wrong = Some(ErrorClass::WrongBody);
    check_request("length on every response", vec![say(OK)], wrong, |spec| {
        let body_bytes = Some(6);
        spec.requests[0].expect = Some(Expect {
            body_bytes,
            ..Expect::default()
        });
    });
    for (text, class) in [("hello", None), ("hullo", wrong)] {
        let checked: fn(&mut _) = if text == "hello" {
            |spec: &mut bakeoff_model::load::LoadSpec| expect_body(spec, "hello")
        } else {
            |spec: &mut bakeoff_model::load::LoadSpec| expect_body(spec, "hullo")
        };
        check_request(text, vec![say(OK)], class, checked);
        check_request(text, vec![Act::Trickle(OK.into())], class, checked);
    }
    check_request("chunked body", vec![say(CHUNKED)], None, |spec| {
        expect_body(spec, "helloabcdefghijklmnopqrstuvwxyz");
    });
}

fn expect_body(spec: &mut bakeoff_model::load::LoadSpec, body: &str) {
    spec.check_body_every = 1;
    let body = Some(body.to_owned());
    spec.requests[0].expect = Some(Expect {
        body,
        ..Expect::default()
    });
}

on_each_reactor!(one_response_that_is_not_as_long_as_the_first);

fn one_response_that_is_not_as_long_as_the_first() {
    let check = |same_length: bool, expect: Option<Expect>, wrong: u64| {
        let server = Server::start("127.0.0.1:0", |stream, turn| {
            let body = if turn == 70 {
                "{\"a\":1}"
            } else {
                "{\"a\": 1}"
            };
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
            stream.write_all((head + body).as_bytes()).is_ok()
        });
        let mut spec = load_spec(&server.address, 1, 100);
        spec.requests[0].same_length = same_length;
        spec.requests[0].expect = expect;
        let total = run(&spec);
        assert_eq!(
            total.count(ErrorClass::WrongBody),
            wrong,
            "{:?}",
            total.errors
        );
    };
    let values = BTreeMap::from([("$.a".to_owned(), 1.into())]);
    let right = Expect {
        values,
        ..Expect::default()
    };
    check(false, None, 0);
    check(true, None, 1);
    check(true, Some(right), 1);
    // A first body that is wrong is the measure of nothing.
    let values = BTreeMap::from([("$.a".to_owned(), 2.into())]);
    let wrong = Expect {
        values,
        ..Expect::default()
    };
    check(true, Some(wrong), 100);
}

on_each_reactor!(responses_to_head_have_no_body);

fn responses_to_head_have_no_body() {
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n";
    check_request("HEAD", vec![say(head)], None, |spec| {
        spec.requests[0].method = "HEAD".to_owned();
    });
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    check_request("HEAD chunked", vec![say(chunked)], None, |spec| {
        spec.requests[0].method = "HEAD".to_owned();
    });
}

on_each_reactor!(a_server_that_is_not_there_is_asked_at_a_bounded_rate);

fn a_server_that_is_not_there_is_asked_at_a_bounded_rate() {
    let refusing = RefusedPort::reserve();
    let mut spec = load_spec(&refusing.address, 4, 0);
    spec.steps[0].duration_ns = 500 * crate::MILLISECOND;
    let total = run(&spec);
    assert_eq!(total.established, [0]);
    assert_eq!(total.requests, 0);
    let refused = total.count(ErrorClass::ConnectRefused);
    assert_eq!(total.errors.len(), 1, "{:?}", total.errors);
    // Pauses of 1, 2, 4 ... 256 ms fit nine times into half a second.
    assert!((4..=40).contains(&refused), "{refused}");

    let total = run(&load_spec(&refusing.address, 2, 6));
    assert_eq!(total.count(ErrorClass::ConnectRefused), 6);
}

on_each_reactor!(a_bounded_body_is_not_stored);

fn a_bounded_body_is_not_stored() {
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 50000000\r\n\r\n";
    let server = Server::script(vec![say(head), Act::Send(vec![b'x'; 50_000_000])]);
    let mut spec = load_spec(&server.address, 1, 2);
    spec.timeout_answer_ns = 10 * crate::SECOND;
    let total = run(&spec);
    assert_eq!(total.requests, 2, "{:?}", total.errors);
    assert_eq!(total.received_bytes, 2 * (50_000_000 + head.len() as u64));
}
