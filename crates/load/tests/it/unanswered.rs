//! Requests whose effect is not known: sent, and without a complete response.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bakeoff_model::load::{ErrorClass, Pace, RequestSpec};
use bakeoff_model::request::scenario::{AfterFailure, Connect, Scenario};

use crate::server::{Act, Server, perform};
use crate::{MILLISECOND, Total, answer_limit_ns, get, load_spec, run};

/// All of them, by name.
fn unanswered(total: &Total) -> BTreeMap<String, u64> {
    let mut sum = BTreeMap::new();
    for (name, count) in total.intervals.iter().flat_map(|one| &one.unanswered) {
        *sum.entry(name.clone()).or_default() += count;
    }
    sum
}

/// Successes of the request of this name.
fn successes(total: &Total, name: &str) -> u64 {
    let parts = total.intervals.iter().flat_map(|one| &one.by_request);
    let of_name = parts.filter(|part| part.name == name);
    of_name.map(|part| part.requests).sum()
}

on_each_reactor!(what_may_have_been_stored_is_counted_apart);

/// A service that stores what it was sent and then responds, refuses before it stores, or stores
/// and falls silent or closes.
fn what_may_have_been_stored_is_counted_apart() {
    let (stored, saves) = (Arc::new(AtomicU64::new(0)), AtomicU64::new(0));
    let store = stored.clone();
    let server = Server::start_showing("127.0.0.1:0", move |stream, request| {
        let reply = |status: &str| format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n");
        if request.starts_with(b"GET / ") {
            return stream.write_all(reply("200 OK").as_bytes()).is_ok();
        }
        let number = saves.fetch_add(1, Ordering::SeqCst);
        if number % 4 == 1 {
            let refusal = reply("503 Service Unavailable");
            return stream.write_all(refusal.as_bytes()).is_ok();
        }
        store.fetch_add(1, Ordering::SeqCst);
        match number % 4 {
            0 => stream.write_all(reply("200 OK").as_bytes()).is_ok(),
            2 => false,
            _ => perform(stream, &[Act::Hold]),
        }
    });
    let mut spec = load_spec(&server.address, 40, 0);
    spec.steps[0].pace = Pace::Users {
        arrive_ns: 0,
        times: 1,
    };
    spec.scenario = Some(Scenario {
        feeds: Vec::new(),
        cookies: false,
        after_failure: AfterFailure::GiveUp,
        connect: Connect::BeforeStep,
    });
    spec.timeout_answer_ns = answer_limit_ns(Some(ErrorClass::HeaderTimeout));
    let save = RequestSpec {
        name: Some("save".to_owned()),
        method: "POST".to_owned(),
        ..get("/save")
    };
    spec.requests = vec![get("/"), save];
    let total = run(&spec);
    assert_eq!(total.count(ErrorClass::UnexpectedStatus), 10);
    assert_eq!(successes(&total, "save"), 10);
    assert_eq!(
        unanswered(&total),
        BTreeMap::from([("save".to_owned(), 20)])
    );
    assert_eq!(stored.load(Ordering::SeqCst), 30);
}

on_each_reactor!(what_is_in_flight_at_the_end_is_unanswered);

fn what_is_in_flight_at_the_end_is_unanswered() {
    let server = Server::script(vec![Act::Hold]);
    let mut spec = load_spec(&server.address, 4, 0);
    spec.steps[0].duration_ns = 100 * MILLISECOND;
    let total = run(&spec);
    assert!(total.errors.is_empty(), "{:?}", total.errors);
    assert_eq!(
        unanswered(&total),
        BTreeMap::from([("GET /".to_owned(), 4)])
    );
}
