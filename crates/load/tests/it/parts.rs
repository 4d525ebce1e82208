//! A load in parts: together they do what one load generator does, and start at the given instant.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::mpsc::channel;

use bakeoff_load::{Go, LoadError, Stop, wall_ns};
use bakeoff_model::load::{LoadEvent, LoadSpec, Pace};
use bakeoff_model::request::scenario::{AfterFailure, Connect, Feed, RowOrder, Scenario};

use crate::server::{Server, perform, say};
use crate::{MILLISECOND, SECOND, Total, get, load_spec, run};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

/// All parts of a load at the same time.
fn run_parts(spec: &LoadSpec, of: u32) -> Vec<Total> {
    std::thread::scope(|scope| {
        let parts = spec.parts(of).into_iter();
        let running: Vec<_> = parts.map(|part| scope.spawn(move || run(&part))).collect();
        running
            .into_iter()
            .map(|part| part.join().unwrap())
            .collect()
    })
}

fn sum(parts: &[Total], count: fn(&Total) -> u64) -> u64 {
    parts.iter().map(count).sum()
}

#[test]
fn requests_that_the_service_counts_are_the_sum() {
    let server = Server::script(vec![say(OK)]);
    // Closed load with a number of requests, without one, and two kinds of open load; the last
    // part has no connection at all.
    let mut bounded = load_spec(&server.address, 5, 500);
    bounded.threads = 2;
    let mut closed = load_spec(&server.address, 2, 0);
    closed.steps[0].duration_ns = 100 * MILLISECOND;
    let mut constant = closed.clone();
    constant.steps[0].pace = Pace::Constant { rate_per_s: 1000.0 };
    let mut poisson = load_spec(&server.address, 2, 70);
    poisson.steps[0].pace = Pace::Poisson { rate_per_s: 1000.0 };
    for (spec, expected) in [
        (bounded, Some(500)),
        (closed, None),
        (constant, Some(100)),
        (poisson, Some(70)),
    ] {
        let before = server.requests();
        let parts = run_parts(&spec, 3);
        let sent = sum(&parts, Total::on_the_wire);
        let counted = server.requests_of(before + sent) - before;
        assert_eq!(sent, counted, "{:?}", spec.steps);
        let requests = sum(&parts, |part| part.requests + part.censored);
        assert_eq!(requests, expected.unwrap_or(counted), "{:?}", spec.steps);
        let connections: u32 = parts.iter().flat_map(|part| &part.established).sum();
        assert_eq!(connections, spec.steps[0].connections);
    }
}

#[test]
fn no_user_of_a_part_has_what_one_of_another_has() {
    const USERS: u32 = 5;
    const TIMES: u64 = 4;
    let (seen, paths) = channel();
    let seen = Mutex::new(seen);
    let server = Server::start_showing("127.0.0.1:0", move |stream, request| {
        let text = String::from_utf8_lossy(request).into_owned();
        let path = text.split(' ').nth(1).unwrap().to_owned();
        seen.lock().unwrap().send(path).unwrap();
        perform(stream, &[say(OK)])
    });
    let mut spec = load_spec(&server.address, USERS, 0);
    spec.threads = 2;
    spec.steps[0].pace = Pace::Users {
        arrive_ns: 0,
        times: TIMES,
    };
    spec.requests = vec![get("/${id}/${number}/${bounded}/${row}")];
    let sequence = |variable: &str, to| Feed::Sequence {
        variable: variable.to_owned(),
        from: 1,
        to,
    };
    spec.scenario = Some(Scenario {
        feeds: vec![
            Feed::Unique {
                variable: "id".to_owned(),
            },
            sequence("number", None),
            sequence("bounded", Some(40)),
            Feed::Csv {
                file: String::new(),
                variables: vec!["row".to_owned()],
                rows: (0..40).map(|row| vec![format!("r{row}")]).collect(),
                order: RowOrder::InTurn,
            },
        ],
        cookies: false,
        after_failure: AfterFailure::GiveUp,
        connect: Connect::BeforeStep,
    });
    let parts = run_parts(&spec, 3);
    let users = u64::from(USERS) * TIMES;
    assert_eq!(sum(&parts, |part| part.requests), users);
    let paths: Vec<String> = paths.try_iter().collect();
    for variable in 1..=4 {
        let values = paths
            .iter()
            .map(|path| path.split('/').nth(variable).unwrap());
        let different = values.collect::<BTreeSet<_>>().len() as u64;
        assert_eq!(different, users, "variable {variable} of {paths:?}");
    }
}

/// Returns what a load reports about the start of its window when it must open it at an instant.
fn begin_at(instant: impl Fn() -> u64) -> Result<Vec<LoadEvent>, LoadError> {
    let server = Server::script(vec![say(OK)]);
    let mut spec = load_spec(&server.address, 3, 0);
    spec.steps[0].duration_ns = 30 * MILLISECOND;
    spec.stepwise = true;
    spec.threads = 2;
    let mut events = Vec::new();
    let mut go = |_| Go::At(instant());
    bakeoff_load::run(&spec, &Stop::default(), &mut go, &mut |event| {
        events.push(event)
    })?;
    Ok(events)
}

#[test]
fn a_window_opens_at_its_instant() {
    let asked_ns = std::cell::Cell::new(0);
    let events = begin_at(|| {
        asked_ns.set(wall_ns() + 80 * MILLISECOND);
        asked_ns.get()
    });
    let events = events.unwrap();
    let LoadEvent::Began {
        step,
        at_ns,
        unix_ns,
        late_ns,
    } = events[1]
    else {
        panic!("no Began event: {events:?}");
    };
    assert_eq!(step, 0);
    assert!(
        unix_ns >= asked_ns.get(),
        "{unix_ns} before {}",
        asked_ns.get()
    );
    assert_eq!(late_ns, unix_ns - asked_ns.get());
    let LoadEvent::Interval(slice) = &events[2] else {
        panic!("then come the slices: {events:?}");
    };
    assert!(slice.start_ns <= at_ns && slice.requests > 0);
}

#[test]
fn a_window_whose_instant_has_passed_opens_at_once() {
    let events = begin_at(|| wall_ns() - SECOND).unwrap();
    let LoadEvent::Began { late_ns, .. } = events[1] else {
        panic!("no Began event: {events:?}");
    };
    assert!(late_ns >= SECOND, "{late_ns}");
    assert!(matches!(&events[2], LoadEvent::Interval(slice) if slice.requests > 0));
}

#[test]
fn an_instant_of_another_clock_is_refused() {
    let error = begin_at(|| wall_ns() + 3600 * SECOND).unwrap_err();
    let message = error.to_string();
    assert!(
        message.contains("s from now by this machine's wall clock"),
        "{message}"
    );
}
