//! Contenders that are ranked, those that are not, and why.

use std::time::Duration;

use bakeoff_analysis::{Analysis, StatedStep};
use bakeoff_model::load::{ErrorClass, ErrorCount, Pace};
use bakeoff_model::record::{EndRecord, Outcome, Results};
use bakeoff_model::suite::Step;
use bakeoff_model::suite::conditions::Enforcement;
use bakeoff_model::validity::{self, Validity};
use bakeoff_stats::{Tie, Verdict};

use crate::synthetic::ranking::{analyse, of};
use crate::synthetic::{self, contender};

fn labels<'a>(
    analysis: &'a Analysis<'_>,
    benchmark: usize,
    table: usize,
) -> Vec<(usize, bool, &'a str)> {
    let rows = &analysis.loads[benchmark].summary.tables[table].rows;
    rows.iter()
        .map(|row| {
            let tied = row.standing.tie != Tie::Alone;
            (row.standing.rank.unwrap_or(0), tied, row.label.as_str())
        })
        .collect()
}

#[test]
fn fair_numbers_are_ranked_with_ties() {
    let analysis = analyse(synthetic::results());
    assert_eq!(
        labels(&analysis, 0, 0),
        [
            (1, true, "synthetic-actix-4"),
            (1, true, "synthetic-axum"),
            (3, false, "synthetic-rocket-0.4[WORKERS=16]"),
            (4, false, "synthetic-ktor-1"),
            (5, false, "synthetic-http4k-3/undertow"),
            (6, false, "synthetic-http4k-3/apache-4"),
        ]
    );
    let rows = &analysis.loads[0].summary.tables[0].rows;
    assert_eq!(rows[0].peak.step, "256");
    assert_eq!((rows[5].whole.completed, rows[5].whole.started), (3, 4));
    assert_eq!((rows[3].lifecycle.good, rows[3].lifecycle.total), (3, 4));
    assert_eq!((rows[3].checks.good, rows[3].checks.total), (2, 2));
    assert!(rows[3].whole.errors > 0 && rows[0].whole.errors == 0);
    assert_eq!(
        rows[3].standing.throughput.unwrap().verdict,
        Verdict::Slower
    );
}

#[test]
fn a_failed_functional_check_takes_the_rank_but_not_the_numbers() {
    let analysis = analyse(synthetic::results());
    let unranked = &analysis.loads[0].summary.unranked;
    let reasons: Vec<(&str, &str, bool)> = unranked
        .iter()
        .map(|one| (one.label.as_str(), one.reason.as_str(), one.row.is_some()))
        .collect();
    assert_eq!(
        reasons,
        [
            (
                "synthetic-rocket-0.4[WORKERS=8]",
                "check get/Plzeň in Czech failed: $.name: expected \"Plzeň\", found \"<Pilsen & \
                 co>\"",
                true
            ),
            (
                "synthetic-tide",
                "no completed run; first failure at ready: not ready after 15 s",
                false
            ),
        ]
    );
    let failures = &analysis.loads[0].summary.failures;
    assert_eq!(
        (
            failures[0].stage.as_str(),
            failures[0].repetitions.as_slice()
        ),
        ("load", [2].as_slice())
    );
    assert_eq!(failures[1].repetitions, [1, 2, 3, 4]);
}

#[test]
fn bound_numbers_have_a_table_of_their_own() {
    let analysis = analyse(synthetic::results());
    let closest = &analysis.loads[1].summary;
    assert_eq!(labels(&analysis, 1, 0), [(1, false, "synthetic-slow")]);
    assert_eq!(
        closest.tables[1].verdict,
        validity::FairnessVerdict::HostBound
    );
    assert!(closest.tables[1].title.contains("this host only"));
    // One run each: nothing is known of their order.
    assert_eq!(
        labels(&analysis, 1, 1),
        [
            (1, true, "synthetic-actix-4"),
            (1, true, "synthetic-ktor-1")
        ]
    );
    assert!(analysis.warnings[0].contains("single completed run"));
}

#[test]
fn an_invalid_step_is_no_peak() {
    let mut results = of(&[contender("synthetic", 1000.0, 1000.0)], 2);
    let invalid = Validity::recorded(
        validity::FairnessVerdict::Invalid,
        "17 of 256 connections were really open",
    );
    for interval in &mut results.runs[1].intervals {
        if interval.connections == 256 {
            interval.validity = invalid.clone();
            break;
        }
    }
    let analysis = analyse(&results);
    let row = &analysis.loads[0].summary.tables[0].rows[0];
    assert_eq!(row.peak.step, "128");
    assert!(row.validity().is_fair(), "{}", row.validity());
    for interval in results.runs.iter_mut().flat_map(|run| &mut run.intervals) {
        interval.validity = invalid.clone();
    }
    let found = analyse(&results);
    assert!(found.loads[0].summary.tables.is_empty());
    assert!(
        found.loads[0].summary.unranked[0]
            .reason
            .contains("17 of 256")
    );
}

#[test]
fn a_tenth_of_the_time_is_enough() {
    let mut results = of(&[contender("synthetic", 1000.0, 100.0)], 2);
    let interval = results.runs[0]
        .intervals
        .iter_mut()
        .find(|i| i.connections == 256)
        .unwrap();
    interval.validity = Validity::recorded(validity::FairnessVerdict::GeneratorBound, "99 %");
    let analysis = analyse(&results);
    assert_eq!(
        analysis.loads[0].summary.tables[0].verdict,
        validity::FairnessVerdict::GeneratorBound
    );
}

#[test]
fn only_the_last_attempt_counts() {
    let mut results = of(&[contender("synthetic", 1000.0, 100.0)], 2);
    let mut again = results.runs[0].clone();
    again.begin.attempt = 2;
    results.runs[0].end = Some(EndRecord {
        outcome: Outcome::Interrupted,
        ..results.runs[0].end.clone().unwrap()
    });
    results.runs.push(again);
    let analysis = analyse(&results);
    let row = &analysis.loads[0].summary.tables[0].rows[0];
    assert_eq!((row.whole.completed, row.whole.started), (2, 2));
    assert!(analysis.loads[0].summary.failures.is_empty());
}

#[test]
fn a_killed_run_is_a_failure() {
    let mut results = of(&[contender("synthetic", 1000.0, 100.0)], 1);
    results.runs[0].end = None;
    let analysis = analyse(&results);
    assert_eq!(analysis.loads[0].summary.failures[0].stage, "killed");
    assert!(
        analysis.loads[0].summary.unranked[0]
            .reason
            .contains("no completed run")
    );
}

#[test]
fn mixed_suites_and_missing_limits_are_said_first() {
    let mut results = of(&[contender("synthetic", 1000.0, 100.0)], 2);
    results.runs[0].begin.suite_digest = "1".repeat(64);
    for run in &mut results.runs {
        run.begin.enforcement = Enforcement::Unlimited {
            reason: "no permission".to_owned(),
        };
    }
    let analysis = analyse(&results);
    assert_eq!(
        analysis.warnings[0],
        "the runs come from different versions of the suite"
    );
    assert!(analysis.warnings[1].contains("unlimited: no permission"));
    assert!(
        analysis.loads[0]
            .summary
            .conditions
            .contains("LIMITS NOT ENFORCED: no permission")
    );
}

#[test]
fn failures_are_not_charged_to_successes() {
    let mut results = of(&[contender("synthetic", 1000.0, 100.0)], 2);
    let cpu_us = |results: &Results| {
        let analysis = analyse(results);
        let row = &analysis.loads[0].summary.tables[0].rows[0];
        row.stated.cpu_us.as_ref().unwrap().estimate.point
    };
    let before = cpu_us(&results);
    for slice in results.runs.iter_mut().flat_map(|run| &mut run.intervals) {
        let failed = slice.load.requests / 200;
        slice.load.requests -= failed;
        let error = ErrorCount {
            count: failed,
            time_ns_sum: 0,
            example: None,
            ..ErrorCount::default()
        };
        slice.load.errors.insert(ErrorClass::Reset, error);
    }
    let after = cpu_us(&results);
    assert!((after / before - 1.0).abs() < 1e-9, "{before} {after}");
}

fn stated_step(steps: &[(u32, Pace, bool)]) -> Option<String> {
    let step = |(connections, pace, warm_up): &(u32, Pace, bool)| Step {
        connections: *connections,
        duration: Duration::from_secs(4),
        pace: *pace,
        warm_up: *warm_up,
        at_least: None,
    };
    let one = contender("synthetic", 1000.0, 100.0);
    let steps = steps.iter().map(step).collect();
    let results = Results {
        runs: vec![synthetic::run_of_steps("bench", &one, 1, 0, steps)],
        ..Results::default()
    };
    let analysis = analyse(&results);
    let stated = analysis.loads[0].summary.stated.as_ref();
    stated.map(StatedStep::describe)
}

#[test]
fn the_stated_step_is_near_64_connections_or_the_middle_rate() {
    let closed = |connections, warm_up| (connections, Pace::Closed, warm_up);
    let rate = |rate_per_s| (8, Pace::Constant { rate_per_s }, false);
    for (steps, words) in [
        (
            vec![closed(8, false), closed(64, false), closed(256, false)],
            Some("at 64 connections"),
        ),
        // By ratio, and warm-up steps are none.
        (
            vec![closed(64, true), closed(3, false), closed(128, false)],
            Some("at 128 connections"),
        ),
        // The smaller of two that are as near.
        (
            vec![closed(128, false), closed(32, false)],
            Some("at 32 connections"),
        ),
        (vec![closed(1, false)], Some("at 1 connection")),
        (
            vec![rate(50.0), rate(100.0), rate(150.0), rate(200.0)],
            Some("at 100/s"),
        ),
        (vec![closed(64, true)], None),
    ] {
        assert_eq!(stated_step(&steps).as_deref(), words, "{steps:?}");
    }
}

/// Four runs of two steps that are as good, but for 30 % more at one of them in one run.
#[test]
fn a_lucky_run_does_not_choose_its_own_step() {
    let peak = |runs: u32, lucky: u32| {
        let one = contender("synthetic", 1000.0, 100.0);
        let mut results = of(std::slice::from_ref(&one), runs);
        for run in &mut results.runs {
            let repetition = run.begin.run.repetition;
            for slice in &mut run.intervals {
                let rate = match slice.connections {
                    128 if repetition == lucky => 1300.0,
                    128 => 990.0,
                    256 => 1000.0,
                    _ => 500.0,
                };
                let load = &slice.load;
                let (step, place, start_ns) = (load.step, load.slice, load.start_ns);
                let connections = slice.connections;
                slice.load = synthetic::load(&one, step, place, start_ns, rate, connections);
            }
        }
        let analysis = analyse(&results);
        let row = &analysis.loads[0].summary.tables[0].rows[0];
        (
            row.peak.step.clone(),
            row.peak.throughput.steps.clone(),
            row.peak.throughput.estimate.point,
        )
    };
    let steps = |labels: &[&str]| labels.iter().map(|label| (*label).to_owned()).collect();
    // The mean over all runs is highest at 128 only by the run that is read there.
    let expected: (String, Vec<String>, f64) = ("128".to_owned(), steps(&["128"]), 3280.0 / 3.0);
    let found = peak(3, 2);
    assert_eq!((&found.0, &found.1), (&expected.0, &expected.1));
    assert!((found.2 - expected.2).abs() < 1e-3, "{found:?}");
    let found = peak(4, 2);
    assert_eq!((found.0.as_str(), found.1), ("128", steps(&["128", "256"])));
    // Run 2 is read at 256, where the others are best; the others at 128, where run 2 is.
    assert!(
        (found.2 - (1000.0 + 3.0 * 990.0) / 4.0).abs() < 1e-9,
        "{}",
        found.2
    );
}
