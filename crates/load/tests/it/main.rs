//! The engine against servers that misbehave on purpose, and against their own counts.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

/// One test for each reactor, so that a failure names its reactor. A host whose kernel forbids
/// io_uring has to say so by setting `BAKEOFF_TEST_WITHOUT_URING`.
macro_rules! on_each_reactor {
    ($test:ident) => {
        mod $test {
            use bakeoff_model::load::ReactorChoice;

            #[test]
            fn on_epoll() {
                crate::on(ReactorChoice::Epoll, super::$test);
            }

            #[test]
            fn on_epoll_rx_timestamps() {
                crate::on(ReactorChoice::EpollRxTimestamps, super::$test);
            }

            #[test]
            fn on_uring() {
                crate::on(ReactorChoice::Uring, super::$test);
            }

            #[test]
            fn on_uring_rx_timestamps() {
                crate::on(ReactorChoice::UringRxTimestamps, super::$test);
            }
        }
    };
}

mod arrivals;
mod ends;
mod events;
mod first_byte;
mod frames;
mod grpc;
mod hostile;
mod http2;
mod parts;
mod pipelined;
mod scenarios;
mod secure;
mod server;
mod steps;
mod truth;
mod turns;
mod unanswered;
mod websocket;

use std::cell::Cell;
use std::collections::BTreeMap;

use bakeoff_load::{Go, LoadError, Stop};
use bakeoff_model::load::histogram::Histogram;
use bakeoff_model::load::{
    ErrorClass, ErrorCount, LoadEvent, LoadInterval, LoadSpec, Pace, Protocol, ReactorChoice,
    RequestSpec, StepSpec, Target,
};

const MILLISECOND: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;

thread_local! {
    /// The reactor of the specs that a test makes.
    static REACTOR: Cell<ReactorChoice> = const { Cell::new(ReactorChoice::Auto) };
}

/// Runs a test on a reactor, unless the host is said to have no such one.
fn on(reactor: ReactorChoice, test: impl Fn()) {
    let is_uring = matches!(
        reactor,
        ReactorChoice::Uring | ReactorChoice::UringRxTimestamps
    );
    if is_uring && std::env::var_os("BAKEOFF_TEST_WITHOUT_URING").is_some() {
        #[expect(clippy::print_stderr, reason = "a skipped test must be seen")]
        {
            eprintln!("SKIPPED: BAKEOFF_TEST_WITHOUT_URING is set");
        }
        return;
    }
    REACTOR.set(reactor);
    test();
}

/// How long a response may take: as long as a busy host may need, unless the time is meant to be
/// up.
fn answer_limit_ns(class: Option<ErrorClass>) -> u64 {
    match class {
        Some(ErrorClass::HeaderTimeout | ErrorClass::BodyTimeout) => 300 * MILLISECOND,
        _ => 10 * SECOND,
    }
}

/// A spec with one step that ends after `requests`, or after ten seconds.
fn load_spec(address: &str, connections: u32, requests: u64) -> LoadSpec {
    LoadSpec {
        recorded: Vec::new(),
        target: Target {
            device: None,
            address: address.to_owned(),
            host: None,
            tls: false,
            insecure: false,
            trust: None,
            unix_socket: None,
            protocol: Protocol::Http1,
            cpu_counter: None,
        },
        requests: vec![get("/")],
        scenario: None,
        steps: vec![StepSpec {
            connections,
            duration_ns: 10 * SECOND,
            pace: Pace::Closed,
            warm_up: false,
            requests_max: requests,
            close_after: false,
            ..StepSpec::default()
        }],
        threads: 1,
        cores: Vec::new(),
        timeout_connect_ns: 2 * SECOND,
        timeout_answer_ns: answer_limit_ns(None),
        slice_ns: SECOND,
        seed: 1,
        check_body_every: 0,
        stepwise: false,
        reactor: REACTOR.get(),
        keep_alive_off: false,
        in_flight: 1,
        grpc: None,
        part: None,
        further_targets: Vec::new(),
    }
}

fn get(path: &str) -> RequestSpec {
    RequestSpec {
        method: "GET".to_owned(),
        path: path.to_owned(),
        weight: 1,
        ..RequestSpec::default()
    }
}

/// The sums of the intervals of a run.
#[derive(Debug, Default)]
struct Total {
    requests: u64,
    errors: BTreeMap<ErrorClass, ErrorCount>,
    service: Histogram,
    censored: u64,
    offered: u64,
    reconnects: u64,
    received_bytes: u64,
    intervals: Vec<LoadInterval>,
    events: Vec<&'static str>,
    established: Vec<u32>,
    streams: u32,
}

impl Total {
    /// Failures of one class.
    fn count(&self, class: ErrorClass) -> u64 {
        self.errors.get(&class).map_or(0, |count| count.count)
    }

    /// Requests that a server must have seen: responded, failed on the wire, or never responded.
    fn on_the_wire(&self) -> u64 {
        let unseen = [
            ErrorClass::ConnectRefused,
            ErrorClass::ConnectTimeout,
            ErrorClass::Local,
            ErrorClass::Dropped,
        ];
        let failed = self
            .errors
            .iter()
            .filter(|(class, _)| !unseen.contains(class));
        let failed: u64 = failed.map(|(_, count)| count.count).sum();
        let timeouts = self.count(ErrorClass::HeaderTimeout) + self.count(ErrorClass::BodyTimeout);
        self.requests + failed + self.censored - timeouts
    }
}

fn try_run(spec: &LoadSpec) -> Result<Total, LoadError> {
    let mut total = Total::default();
    bakeoff_load::run(
        spec,
        &Stop::default(),
        &mut |_| Go::On,
        &mut |event| match event {
            LoadEvent::Ready {
                connections,
                streams,
                ..
            } => {
                total.events.push("ready");
                total.streams = streams;
                total.established.push(connections.established);
            }
            LoadEvent::Interval(interval) => {
                total.events.push("interval");
                total.requests += interval.requests;
                total.service.merge(&interval.service_time);
                total.censored += interval.censored.count();
                total.offered += interval.offered.unwrap_or(0);
                total.reconnects += interval.connections.reconnects;
                total.received_bytes += interval.received_bytes;
                for (class, count) in &interval.errors {
                    let sum = total.errors.entry(*class).or_default();
                    sum.count += count.count;
                    sum.time_ns_sum += count.time_ns_sum;
                    sum.example = count.example.clone();
                    Histogram::merge_some(&mut sum.times, count.times.as_ref());
                }
                total.intervals.push(*interval);
            }
            LoadEvent::Began { .. } => total.events.push("began"),
            LoadEvent::StepDone { .. } => total.events.push("step-done"),
            LoadEvent::Done => total.events.push("done"),
            LoadEvent::Failed { message } => panic!("{message}"),
        },
    )?;
    Ok(total)
}

fn run(spec: &LoadSpec) -> Total {
    try_run(spec).unwrap()
}
