//! Compares the engine's measurements with what was injected, in simulated time.

use std::cell::RefCell;
use std::rc::Rc;

use bakeoff_model::load::Pace;
use bakeoff_model::load::histogram::Histogram;
use bakeoff_model::request::scenario::{AfterFailure, Connect, Pause, Scenario};

use super::simulation::{
    MILLISECOND, OPEN_NS, SECOND, books, load_spec, simulate, simulate_connecting,
};
use bakeoff_base::random::Random;

/// Percentiles that must be true.
const SHARES: [f64; 6] = [0.5, 0.75, 0.9, 0.95, 0.99, 0.999];

/// Asserts that times lie within `share` and `slack_ns` of each other.
fn close(found_ns: f64, truth_ns: f64, share: f64, slack_ns: f64) -> bool {
    (found_ns - truth_ns).abs() <= share * truth_ns + slack_ns
}

fn at(histogram: &Histogram, share: f64) -> f64 {
    histogram.quantile_ns(share).unwrap() as f64
}

/// A service that responds in 5 us and freezes for the first tenth of every period.
const PERIOD_NS: u64 = 10 * SECOND;
const FREEZE_NS: u64 = SECOND;
const ANSWER_NS: u64 = 5_000;
const RATE: f64 = 1_000.0;
const PERIODS: u64 = 20;

fn freezing(at_ns: u64) -> u64 {
    let phase_ns = (at_ns - OPEN_NS) % PERIOD_NS;
    at_ns + ANSWER_NS + FREEZE_NS.saturating_sub(phase_ns)
}

/// Returns the time within which the share `share` of requests at an even rate gets responses: one
/// that is due `u` after a freeze started waits for the rest of the freeze, and then for those that
/// were due before it and get responses now, one at a time on each connection.
fn truth_of_freezing(share: f64, connections: u32) -> f64 {
    let late = (1.0 - share) * PERIOD_NS as f64;
    let drained = RATE / 1e9 * ANSWER_NS as f64 / f64::from(connections);
    (FREEZE_NS as f64 - late * (1.0 - drained)).max(ANSWER_NS as f64)
}

#[test]
fn open_load_sees_every_freeze_that_a_naive_tool_omits() {
    for (connections, pace) in [
        (1, Pace::Constant { rate_per_s: RATE }),
        (1, Pace::Poisson { rate_per_s: RATE }),
        (64, Pace::Constant { rate_per_s: RATE }),
    ] {
        let spec = load_spec(connections, PERIODS * PERIOD_NS, pace);
        let tally = simulate(&spec, freezing);
        assert_eq!(tally.requests + tally.censored.count(), tally.offered);
        // Not 0.9, where the times jump from the queue's to the ordinary ones.
        for share in [0.5, 0.75, 0.95, 0.99, 0.999] {
            let found = at(&tally.response_time, share);
            let truth = truth_of_freezing(share, connections);
            // 2 us: a thread that waits for a time looks once each simulated microsecond.
            assert!(
                close(found, truth, 0.02, 2_000.0),
                "{pace:?} on {connections}: p{} is {found}, not {truth}",
                share * 100.0
            );
        }
        if connections == 1 {
            // One request a freeze is on its way: 1 of 10,000, and the rest looks perfect.
            assert!(at(&tally.service_time, 0.999) < 2.0 * ANSWER_NS as f64);
            let slow = tally.service_time.count_between(FREEZE_NS / 2, PERIOD_NS);
            assert_eq!(slow, PERIODS);
        }
    }
}

#[test]
fn closed_load_invents_no_samples() {
    let served = books();
    let own = served.clone();
    let spec = load_spec(4, 3 * PERIOD_NS, Pace::Closed);
    let tally = simulate(&spec, move |at_ns| {
        let done_ns = freezing(at_ns).max(at_ns + MILLISECOND);
        if done_ns < OPEN_NS + 3 * PERIOD_NS {
            own.borrow_mut().record(done_ns - at_ns);
        }
        done_ns
    });
    let served = served.borrow();
    assert_eq!(tally.requests, served.count());
    assert_eq!(tally.service_time, *served, "sample by sample");
    let slow = tally.service_time.count_between(FREEZE_NS / 2, PERIOD_NS);
    assert_eq!(slow, 3 * 4, "one for each connection and freeze");
    assert_eq!(tally.response_time.count(), 0);
}

/// A way to draw delays, ns.
type Draw = fn(&mut Random) -> u64;

#[test]
fn injected_delays_come_back_as_they_were() {
    let constant: Draw = |_| 7 * MILLISECOND;
    let bimodal: Draw = |random| match random.bits() % 50 {
        0 => 80 * MILLISECOND,
        _ => 2 * MILLISECOND,
    };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "delays are positive and short"
    )]
    let exponential: Draw = |random| (random.exponential() * 5e6) as u64;
    let paces = [
        (16, Pace::Closed),
        (400, Pace::Constant { rate_per_s: 500.0 }),
        (400, Pace::Poisson { rate_per_s: 500.0 }),
    ];
    for (name, draw) in [
        ("constant", constant),
        ("bimodal", bimodal),
        ("exponential", exponential),
    ] {
        for (connections, pace) in paces {
            let injected = books();
            let own = injected.clone();
            let mut random = Random::new(7);
            let spec = load_spec(connections, 60 * SECOND, pace);
            let tally = simulate(&spec, move |at_ns| {
                let delay_ns = draw(&mut random);
                own.borrow_mut().record(delay_ns);
                at_ns + delay_ns
            });
            let open = pace != Pace::Closed;
            let measured = [&tally.service_time, &tally.response_time];
            for histogram in &measured[..1 + usize::from(open)] {
                for share in SHARES {
                    let (found, truth) = (at(histogram, share), at(&injected.borrow(), share));
                    assert!(
                        close(found, truth, 0.01, 100_000.0),
                        "{name} at {pace:?}: p{} is {found}, not {truth}",
                        share * 100.0
                    );
                }
            }
            assert!(tally.requests > 10_000, "{name} at {pace:?}");
        }
    }
}

#[test]
fn users_arrive_and_think_as_specified() {
    let mut spec = load_spec(
        10,
        60 * SECOND,
        Pace::Users {
            arrive_ns: 10 * SECOND,
            times: 2,
        },
    );
    spec.scenario = Some(Scenario {
        feeds: Vec::new(),
        cookies: true,
        after_failure: AfterFailure::GiveUp,
        connect: Connect::BeforeStep,
    });
    let pause = Pause {
        min_ns: 300 * MILLISECOND,
        max_ns: 300 * MILLISECOND,
    };
    spec.requests[0].pause = Some(pause);
    let sent: Rc<RefCell<Vec<u64>>> = Rc::default();
    let own = sent.clone();
    let tally = simulate(&spec, move |at_ns| {
        own.borrow_mut().push(at_ns - OPEN_NS);
        at_ns + 5 * MILLISECOND
    });
    assert_eq!((tally.requests, tally.users_finished), (20, 20));
    assert_eq!((tally.users_gave_up, tally.censored.count()), (0, 0));
    for (number, at_ns) in sent.borrow().iter().enumerate() {
        // Each user twice: when it arrives, and after its response and its pause.
        let second = (number % 2) as u64 * 305 * MILLISECOND;
        let due_ns = (number / 2) as u64 * SECOND + second;
        assert!(at_ns.abs_diff(due_ns) <= 2_000, "{number}: {at_ns}");
    }
    assert!(tally.send_lag.max_ns().unwrap() <= 2_000);
    assert_eq!(
        (tally.send_lag.count(), tally.response_time.count()),
        (20, 20)
    );
}

#[test]
fn connecting_on_arrival_is_response_time_of_the_first_request() {
    let mut spec = load_spec(
        10,
        60 * SECOND,
        Pace::Users {
            arrive_ns: 10 * SECOND,
            times: 1,
        },
    );
    spec.scenario = Some(Scenario {
        feeds: Vec::new(),
        cookies: true,
        after_failure: AfterFailure::GiveUp,
        connect: Connect::OnArrival,
    });
    let second = spec.requests[0].clone();
    spec.requests.push(second);
    let sent: Rc<RefCell<Vec<u64>>> = Rc::default();
    let own = sent.clone();
    let tally = simulate_connecting(&spec, 50 * MILLISECOND, move |at_ns| {
        own.borrow_mut().push(at_ns - OPEN_NS);
        at_ns + 5 * MILLISECOND
    });
    assert_eq!((tally.requests, tally.users_finished), (20, 10));
    assert_eq!((tally.established, tally.reconnects), (0, 0));
    let all = 10.0 * 50.0 * MILLISECOND as f64;
    assert!(close(tally.connecting_ns as f64, all, 0.001, 0.0));
    for (number, at_ns) in sent.borrow().iter().enumerate() {
        let begun_ns = 50 * MILLISECOND + (number % 2) as u64 * 5 * MILLISECOND;
        let due_ns = (number / 2) as u64 * SECOND + begun_ns;
        assert!(at_ns.abs_diff(due_ns) <= 4_000, "{number}: {at_ns}");
    }
    for (part, expect_ms) in [(0, 55.0), (1, 5.0)] {
        let found_ns = tally.by_request[part].times.mean_ns().unwrap();
        let expect_ns = expect_ms * MILLISECOND as f64;
        assert!(close(found_ns, expect_ns, 0.002, 5_000.0), "{found_ns}");
    }
    let service_ns = tally.service_time.mean_ns().unwrap();
    assert!(close(service_ns, 5.0 * MILLISECOND as f64, 0.002, 5_000.0));
}

#[test]
fn response_time_is_send_lag_and_service_time() {
    let mut spec = load_spec(4, 3 * SECOND, Pace::Closed);
    spec.scenario = Some(Scenario {
        feeds: Vec::new(),
        cookies: false,
        after_failure: AfterFailure::GiveUp,
        connect: Connect::BeforeStep,
    });
    let second = spec.requests[0].clone();
    spec.requests.push(second);
    let tally = simulate(&spec, |at_ns| at_ns + 5 * MILLISECOND);
    let sent = tally.requests + tally.censored.count();
    assert_eq!(tally.send_lag.count(), sent);
    let mean = |times: &Histogram| times.mean_ns().unwrap();
    let lag = mean(&tally.response_time) - mean(&tally.service_time);
    assert!((mean(&tally.send_lag) - lag).abs() < 10_000.0, "{lag}");
}
