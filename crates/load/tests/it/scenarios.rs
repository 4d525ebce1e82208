//! Users of scenarios: what they send, what they learn, when they give up, and what counts it.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use bakeoff_model::load::{ErrorClass, LoadSpec, Pace, Protocol, RequestSpec};
use bakeoff_model::request::check::Expect;
use bakeoff_model::request::scenario::{
    AfterFailure, Connect, Extract, Feed, Pause, RowOrder, Scenario,
};
use bakeoff_model::text::pattern::Pattern;
use http_body_util::Full;
use hyper::Response;
use hyper::body::Bytes;

use crate::http2::serve_http2;
use crate::server::{Act, Server};
use crate::{MILLISECOND, SECOND, frames, get, load_spec, run, try_run};

/// A server that responds by path and shows what it was sent.
fn service(response: fn(&str) -> String) -> (Server, Receiver<String>) {
    let (seen, requests) = channel();
    let seen = std::sync::Mutex::new(seen);
    let server = Server::start_showing("127.0.0.1:0", move |stream, request| {
        let text = String::from_utf8_lossy(request).into_owned();
        let reply = response(&text);
        seen.lock().unwrap().send(text).unwrap();
        stream.write_all(reply.as_bytes()).is_ok()
    });
    (server, requests)
}

fn reply(status: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\n\r\n{body}")
}

fn scenario(address: &str, users: u32, times: u64, requests: Vec<RequestSpec>) -> LoadSpec {
    let mut spec = load_spec(address, users, 0);
    spec.threads = 2;
    spec.steps[0].pace = Pace::Users {
        arrive_ns: 0,
        times,
    };
    spec.scenario = Some(Scenario {
        feeds: vec![Feed::Unique {
            variable: "id".to_owned(),
        }],
        cookies: true,
        after_failure: AfterFailure::GiveUp,
        connect: Connect::BeforeStep,
    });
    spec.requests = requests;
    spec
}

fn post(path: &str, body: &str) -> RequestSpec {
    RequestSpec {
        method: "POST".to_owned(),
        body: body.into(),
        ..get(path)
    }
}

fn contains(text: &str) -> Option<Expect> {
    Some(Expect {
        contains: Some(text.to_owned()),
        ..Expect::default()
    })
}

/// A shop: `/` gives a session and its token, and an order must bring both back. The response to a
/// path, a cookie, a header and a body: status, cookie to set, body.
fn shop(guests: &AtomicU64, path: &str, brought: [&str; 4]) -> (u16, Option<String>, String) {
    if path == "/" {
        let guest = guests.fetch_add(1, Ordering::SeqCst);
        let body = format!("{{\"token\": \"t{guest}\"}}");
        return (200, Some(format!("session={guest}")), body);
    }
    let guest = path.trim_start_matches("/order/t");
    let body = format!("{{\"token\": \"t{guest}\"}}");
    let length = body.len().to_string();
    let expected = [
        &format!("session={guest}"),
        &format!("t{guest}"),
        &length,
        &body,
    ];
    if brought == expected.map(String::as_str) {
        (200, None, "ordered".to_owned())
    } else {
        (400, None, format!("{brought:?} is not {expected:?}"))
    }
}

/// Twelve users that go shopping twice each.
fn shopping(address: &str, connections: u32) -> LoadSpec {
    let enter = RequestSpec {
        extract: [("token".to_owned(), Extract::Json("$.token".to_owned()))].into(),
        pause: Some(Pause {
            min_ns: 0,
            max_ns: 5 * MILLISECOND,
        }),
        ..get("/")
    };
    let buy = RequestSpec {
        headers: vec![("X-Token".to_owned(), "${token}".to_owned())],
        expect: contains("ordered"),
        ..post("/order/${token}", "{\"token\": \"${token}\"}")
    };
    let mut spec = scenario(address, connections, 2, vec![enter, buy]);
    spec.in_flight = 12 / connections;
    spec
}

fn check_shopping(spec: &LoadSpec) {
    let total = run(spec);
    assert!(total.errors.is_empty(), "{:?}", total.errors);
    assert_eq!(total.requests, 48);
    let users: Vec<_> = total.intervals.iter().filter_map(|i| i.users).collect();
    assert_eq!(users.iter().map(|user| user.finished).sum::<u64>(), 24);
    assert_eq!(users.iter().map(|user| user.gave_up).sum::<u64>(), 0);
}

on_each_reactor!(users_share_connections_of_http2);

fn users_share_connections_of_http2() {
    let guests = AtomicU64::new(0);
    let address = serve_http2(65_535, move |request, body| {
        let header = |name: &str| {
            let value = request.headers.get(name);
            value.map_or("", |value| value.to_str().unwrap())
        };
        let brought = [
            header("cookie"),
            header("x-token"),
            header("content-length"),
            std::str::from_utf8(body).unwrap(),
        ];
        let (status, cookie, body) = shop(&guests, request.uri.path(), brought);
        let mut response = Response::builder().status(status);
        if let Some(cookie) = cookie {
            response = response.header("set-cookie", cookie);
        }
        response.body(Full::new(Bytes::from(body))).unwrap()
    });
    for connections in [1, 3] {
        let mut spec = shopping(&address, connections);
        spec.target.protocol = Protocol::Http2;
        check_shopping(&spec);
    }
}

/// Eight users on one connection whose service allows two streams, each with two requests.
fn crowded_users(address: &str, times: u64, pause_ns: u64) -> LoadSpec {
    let pause = Pause {
        min_ns: pause_ns,
        max_ns: pause_ns,
    };
    let request = RequestSpec {
        pause: Some(pause),
        ..get("/")
    };
    let mut spec = scenario(address, 1, times, vec![request.clone(), request]);
    spec.threads = 1;
    spec.target.protocol = Protocol::Http2;
    spec.in_flight = 8;
    spec.timeout_answer_ns = 5 * SECOND;
    spec
}

on_each_reactor!(users_take_turns_when_the_service_allows_fewer_streams);

fn users_take_turns_when_the_service_allows_fewer_streams() {
    let two = frames::frame(frames::SETTINGS, 0, 0, &[0, 3, 0, 0, 0, 2]);
    let server = frames::Server::start(two, |stream, _| {
        vec![
            Act::Pause(Duration::from_millis(1)),
            Act::Send(frames::hello(stream)),
        ]
    });
    // All come to their end, also those that wait while the others pause.
    let total = run(&crowded_users(&server.address, 3, 5 * MILLISECOND));
    assert!(total.errors.is_empty(), "{:?}", total.errors);
    assert_eq!(total.requests, 8 * 3 * 2);
    // No user asks twice before all have asked once.
    let mut spec = crowded_users(&server.address, 0, 0);
    spec.steps[0].pace = Pace::Closed;
    spec.steps[0].requests_max = 8;
    let total = run(&spec);
    let counts = total.intervals[0].by_request.iter();
    let counts: Vec<u64> = counts.map(|count| count.requests).collect();
    assert_eq!((total.requests, counts), (8, vec![8, 0]));
    assert!(server.most_at_once() <= 2, "{}", server.most_at_once());
}

on_each_reactor!(users_who_wait_for_a_stream_have_their_turn_after_a_failure);

fn users_who_wait_for_a_stream_have_their_turn_after_a_failure() {
    let one = frames::frame(frames::SETTINGS, 0, 0, &[0, 3, 0, 0, 0, 1]);
    let server = frames::Server::start(one, |stream, _| {
        let reset = frames::frame(frames::RST_STREAM, 0, stream, &[0, 0, 0, 7]);
        vec![Act::Send(reset)]
    });
    let total = run(&crowded_users(&server.address, 1, 0));
    assert_eq!(total.count(ErrorClass::Reset), 8, "{:?}", total.errors);
    assert_eq!((server.requests(), server.connections()), (8, 1));
}

on_each_reactor!(users_share_pipelined_connections);

fn users_share_pipelined_connections() {
    let guests = AtomicU64::new(0);
    let server = Server::start_showing("127.0.0.1:0", move |stream, request| {
        let (head, body) = std::str::from_utf8(request)
            .unwrap()
            .split_once("\r\n\r\n")
            .unwrap();
        let header = |name: &str| {
            let line = head.lines().find_map(|line| line.strip_prefix(name));
            line.map_or("", |value| value.trim_start_matches(": "))
        };
        let brought = [
            header("Cookie"),
            header("X-Token"),
            header("Content-Length"),
            body,
        ];
        let path = head.split(' ').nth(1).unwrap();
        let (status, cookie, body) = shop(&guests, path, brought);
        let cookie = cookie.map_or(String::new(), |cookie| format!("Set-Cookie: {cookie}\r\n"));
        let text = reply(&format!("{status} Here"), &cookie, &body);
        stream.write_all(text.as_bytes()).is_ok()
    });
    check_shopping(&shopping(&server.address, 4));
}

on_each_reactor!(users_register_with_unique_ids);

fn users_register_with_unique_ids() {
    let (server, requests) = service(|request| match request.starts_with("GET / ") {
        true => reply("200 OK", "Set-Cookie: session=7; Path=/\r\n", "home"),
        false => reply("200 OK", "", "{\"status\": \"success\"}"),
    });
    let pause = Some(Pause {
        min_ns: 0,
        max_ns: 5 * MILLISECOND,
    });
    let home = RequestSpec {
        name: Some("home page".to_owned()),
        pause,
        ..get("/")
    };
    let register = RequestSpec {
        name: Some("register".to_owned()),
        headers: vec![("Content-Type".to_owned(), "application/json".to_owned())],
        expect: contains("success"),
        pause,
        ..post(
            "/api/users/register",
            "{\"login\": \"u${id}\", \"email\": \"${id}@example.org\"}",
        )
    };
    let spec = scenario(&server.address, 20, 2, vec![home, register]);
    let total = run(&spec);
    assert!(total.errors.is_empty(), "{:?}", total.errors);
    assert_eq!((total.requests, server.requests()), (80, 80));
    let users: Vec<_> = total.intervals.iter().filter_map(|i| i.users).collect();
    assert_eq!(users.iter().map(|user| user.finished).sum::<u64>(), 40);
    let mut by_request: BTreeMap<String, u64> = BTreeMap::new();
    for part in total.intervals.iter().flat_map(|i| &i.by_request) {
        assert_eq!((part.failures, part.times.count()), (0, part.requests));
        *by_request.entry(part.name.clone()).or_default() += part.requests;
    }
    assert_eq!(by_request["home page"], 40);
    assert_eq!(by_request["register"], 40);
    let mut ids = Vec::new();
    for request in requests.try_iter().filter(|text| text.starts_with("POST")) {
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        assert!(head.contains("\r\nCookie: session=7\r\n"), "{head}");
        let length = format!("Content-Length: {}", body.len());
        assert!(head.contains(&length), "{head}");
        let json: serde_json::Value = serde_json::from_str(body).unwrap();
        ids.push(json["login"].as_str().unwrap().to_owned());
    }
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 40, "each user of each time has a unique id");
}

on_each_reactor!(variables_are_fed_extracted_and_sent);

fn variables_are_fed_extracted_and_sent() {
    let (server, requests) = service(|request| match request {
        text if text.starts_with("GET /start") => {
            let body = "{\"token\": \"a/b c\", \"csrf\": 'x-17'}".replace('\'', "\"");
            reply("200 OK", "Location: /next\r\n", &body)
        }
        _ => reply("200 OK", "", "ok"),
    });
    let mut start = get("/start?name=${name}&n=${n}");
    start.extract = BTreeMap::from([
        ("token".to_owned(), Extract::Json("$.token".to_owned())),
        ("where".to_owned(), Extract::Header("LOCATION".to_owned())),
        (
            "csrf".to_owned(),
            Extract::Regex(Pattern::new("x-([0-9]+)").unwrap()),
        ),
    ]);
    let mut follow = post("/f/${token}", "${where} ${csrf} $${csrf} {n}");
    follow.headers = vec![("X-Token".to_owned(), "${token}".to_owned())];
    let mut spec = scenario(&server.address, 1, 3, vec![start, follow]);
    spec.threads = 1;
    spec.scenario.as_mut().unwrap().feeds = vec![
        Feed::Csv {
            file: "names.csv".to_owned(),
            variables: vec!["name".to_owned()],
            rows: vec![vec!["ě&=1".to_owned()], vec!["b".to_owned()]],
            order: RowOrder::InTurn,
        },
        Feed::Sequence {
            variable: "n".to_owned(),
            from: 5,
            to: Some(6),
        },
    ];
    let total = run(&spec);
    assert_eq!(total.requests, 6, "{:?}", total.errors);
    let seen: Vec<String> = requests.try_iter().collect();
    let line = |index: usize| seen[index].lines().next().unwrap();
    assert_eq!(line(0), "GET /start?name=%C4%9B%26%3D1&n=5 HTTP/1.1");
    assert_eq!(line(1), "POST /f/a%2Fb%20c HTTP/1.1");
    assert_eq!(line(2), "GET /start?name=b&n=6 HTTP/1.1");
    assert_eq!(line(4), "GET /start?name=%C4%9B%26%3D1&n=5 HTTP/1.1");
    assert!(seen[1].contains("\r\nX-Token: a/b c\r\n"), "{}", seen[1]);
    assert!(
        seen[1].ends_with("\r\n\r\n/next 17 ${csrf} {n}"),
        "{}",
        seen[1]
    );
}

#[test]
fn users_of_all_threads_and_steps_take_the_numbers_of_a_sequence_in_turn() {
    let (server, requests) = service(|_| reply("200 OK", "", ""));
    let mut spec = scenario(&server.address, 3, 4, vec![get("/${n}")]);
    spec.threads = 3;
    spec.scenario.as_mut().unwrap().feeds = vec![Feed::Sequence {
        variable: "n".to_owned(),
        from: 1,
        to: None,
    }];
    let mut alone = spec.steps[0].clone();
    alone.connections = 1;
    spec.steps.insert(0, alone);
    assert_eq!(run(&spec).requests, 16);
    let number = |text: String| {
        let path = text.split(' ').nth(1).unwrap();
        path[1..].parse().unwrap()
    };
    let mut numbers: Vec<u64> = requests.try_iter().map(number).collect();
    assert_eq!(numbers[..4], [1, 2, 3, 4]);
    numbers.sort_unstable();
    assert_eq!(numbers, Vec::from_iter(1..=16));
}

on_each_reactor!(users_whose_request_fails_give_up_or_go_on);

fn users_whose_request_fails_give_up_or_go_on() {
    for (after_failure, last, gave_up) in [(AfterFailure::GiveUp, 0, 5), (AfterFailure::GoOn, 5, 0)]
    {
        let (server, requests) = service(|request| match request.starts_with("GET /second") {
            true => reply("500 Oops", "", ""),
            false => reply("200 OK", "", ""),
        });
        let list = vec![get("/first"), get("/second"), get("/last")];
        let mut spec = scenario(&server.address, 5, 1, list);
        spec.scenario.as_mut().unwrap().after_failure = after_failure;
        let total = run(&spec);
        assert_eq!(total.count(ErrorClass::UnexpectedStatus), 5);
        assert_eq!(total.requests, 5 + last);
        let lasts = requests
            .try_iter()
            .filter(|text| text.starts_with("GET /last"));
        assert_eq!(lasts.count() as u64, last);
        let users = || total.intervals.iter().filter_map(|i| i.users);
        assert_eq!(users().map(|user| user.gave_up).sum::<u64>(), gave_up);
        assert_eq!(users().map(|user| user.finished).sum::<u64>(), 5 - gave_up);
        let failures = |name: &str| {
            let parts = total.intervals.iter().flat_map(|i| &i.by_request);
            let named = parts.filter(|part| part.name == name);
            named.map(|part| part.failures).sum::<u64>()
        };
        assert_eq!(failures("GET /second"), 5);
        assert_eq!(failures("GET /first"), 0);
    }
}

#[test]
fn a_variable_that_is_not_in_the_response_fails_the_request() {
    let (server, _requests) = service(|_| reply("200 OK", "", "{}"));
    let mut first = get("/first");
    let token = Extract::Json("$.token".to_owned());
    first.extract = BTreeMap::from([("token".to_owned(), token)]);
    let spec = scenario(&server.address, 3, 1, vec![first, get("/${token}")]);
    let total = run(&spec);
    assert_eq!((total.requests, server.requests()), (0, 3));
    assert_eq!(total.count(ErrorClass::WrongBody), 3);
    let example = total.errors[&ErrorClass::WrongBody]
        .example
        .as_ref()
        .unwrap();
    assert!(example.contains("no value for `token`"), "{example}");
}

on_each_reactor!(held_users_begin_again_until_the_step_ends);

fn held_users_begin_again_until_the_step_ends() {
    let (server, _requests) = service(|_| reply("200 OK", "", ""));
    let request = RequestSpec {
        pause: Some(Pause {
            min_ns: 10 * MILLISECOND,
            max_ns: 10 * MILLISECOND,
        }),
        ..get("/")
    };
    let mut spec = scenario(&server.address, 4, 0, vec![request]);
    spec.steps[0].duration_ns = 300 * MILLISECOND;
    spec.steps[0].pace = Pace::Closed;
    let total = run(&spec);
    // 30 pauses of each user fit, however fast the server responds.
    assert!((4..=4 * 30).contains(&total.requests), "{}", total.requests);
    let seen = server.requests();
    assert!((total.requests..=total.requests + 4).contains(&seen));
}

on_each_reactor!(a_single_request_can_have_a_rate);

fn a_single_request_can_have_a_rate() {
    let (server, requests) = service(|_| reply("200 OK", "", ""));
    let mut spec = scenario(&server.address, 8, 0, vec![get("/${id}")]);
    spec.timeout_answer_ns = 10_000 * MILLISECOND;
    spec.steps[0].duration_ns = 400 * MILLISECOND;
    spec.steps[0].pace = Pace::Constant { rate_per_s: 500.0 };
    let total = run(&spec);
    assert_eq!(total.offered, 200);
    assert_eq!(total.requests + total.censored, 200, "{:?}", total.errors);
    let mut ids: Vec<String> = requests.try_iter().collect();
    let sent = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), sent, "each request has a unique id");
}

on_each_reactor!(users_survive_a_server_that_closes_between_requests);

fn users_survive_a_server_that_closes_between_requests() {
    let (server, _requests) = service(|_| reply("200 OK", "Connection: close\r\n", ""));
    let list = vec![get("/a"), get("/b"), get("/c")];
    let total = run(&scenario(&server.address, 6, 2, list));
    assert_eq!(total.requests, 36, "{:?}", total.errors);
    assert_eq!(server.requests(), 36);
}

#[test]
fn scenarios_that_make_no_sense_are_refused() {
    type Change = fn(&mut LoadSpec);
    let cases: [(Change, &str); 5] = [
        (
            |spec| spec.requests[0].path = "/${unset}".to_owned(),
            "the variable unset has no value",
        ),
        (
            |spec| spec.requests[0].body = "${".into(),
            "a `${` has no `}`",
        ),
        (
            |spec| {
                spec.requests.push(get("/"));
                spec.steps[0].pace = Pace::Constant { rate_per_s: 1.0 };
            },
            "a scenario has users, not a rate",
        ),
        (|spec| spec.scenario = None, "users are for scenarios"),
        (
            |spec| {
                spec.scenario.as_mut().unwrap().feeds = vec![Feed::Random {
                    variable: "id".to_owned(),
                    from: 2,
                    to: 1,
                }];
            },
            "its last number is before its first",
        ),
    ];
    for (change, expected) in cases {
        let mut spec = scenario("127.0.0.1:1", 1, 1, vec![get("/${id}")]);
        change(&mut spec);
        let message = try_run(&spec).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
}
