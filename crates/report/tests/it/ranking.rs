//! Who is ranked, who is not, and why.

use bakeoff_model::record::{EndRecord, Outcome, Results, Validity};
use bakeoff_report::{ReportInput, Summary, summary};
use bakeoff_stats::Verdict;

use crate::synthetic::{self, Character, character, run};

fn summarise(results: &Results) -> Summary {
    summary(&ReportInput {
        results,
        title: "Synthetic",
        rounds: &[],
    })
}

fn labels(summary: &Summary, benchmark: usize, table: usize) -> Vec<(usize, bool, &str)> {
    let rows = &summary.benchmarks[benchmark].tables[table].rows;
    rows.iter()
        .map(|row| (row.rank, row.tied, row.label.as_str()))
        .collect()
}

#[test]
fn fair_numbers_are_ranked_with_ties() {
    let summary = summarise(synthetic::results());
    assert_eq!(
        labels(&summary, 0, 0),
        [
            (1, true, "synthetic-actix-4"),
            (1, true, "synthetic-axum"),
            (3, false, "synthetic-rocket-0.4[WORKERS=16]"),
            (4, false, "synthetic-ktor-1"),
            (5, false, "synthetic-http4k-3/undertow"),
            (6, false, "synthetic-http4k-3/apache-4"),
        ]
    );
    let rows = &summary.benchmarks[0].tables[0].rows;
    assert_eq!(rows[0].step, "256");
    assert_eq!((rows[5].runs, rows[5].runs_begun), (3, 4));
    assert_eq!((rows[3].lifecycle.good, rows[3].lifecycle.total), (3, 4));
    assert_eq!((rows[3].checks.good, rows[3].checks.total), (2, 2));
    assert!(rows[3].errors > 0 && rows[0].errors == 0);
    assert_eq!(rows[3].against_best.unwrap().verdict, Verdict::Slower);
}

#[test]
fn a_failed_functional_check_takes_the_rank_but_not_the_figures() {
    let summary = summarise(synthetic::results());
    let unranked = &summary.benchmarks[0].unranked;
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
    let failures = &summary.benchmarks[0].failures;
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
    let summary = summarise(synthetic::results());
    let closest = &summary.benchmarks[1];
    assert_eq!(labels(&summary, 1, 0), [(1, false, "synthetic-slow")]);
    assert_eq!(closest.tables[1].validity, "host-bound");
    assert!(closest.tables[1].title.contains("this host only"));
    // One run each: nothing is known of their order.
    assert_eq!(
        labels(&summary, 1, 1),
        [
            (1, true, "synthetic-actix-4"),
            (1, true, "synthetic-ktor-1")
        ]
    );
    assert!(summary.warnings[0].contains("single completed run"));
}

fn of(characters: &[Character], runs: u32) -> Results {
    let mut results = Results::default();
    for repetition in 1..=runs {
        for one in characters {
            let order = results.runs.len();
            results.runs.push(run("bench", one, repetition, order));
        }
    }
    results
}

#[test]
fn an_invalid_step_is_no_peak() {
    let mut results = of(&[character("synthetic", 1000.0, 100.0)], 2);
    let invalid = Validity::Invalid {
        evidence: "17 of 256 connections were really open".to_owned(),
    };
    for interval in &mut results.runs[1].intervals {
        if interval.connections == 256 {
            interval.validity = invalid.clone();
            break;
        }
    }
    let summary = summarise(&results);
    let row = &summary.benchmarks[0].tables[0].rows[0];
    assert_eq!((row.step.as_str(), &row.validity), ("128", &Validity::Fair));
    for interval in results.runs.iter_mut().flat_map(|run| &mut run.intervals) {
        interval.validity = invalid.clone();
    }
    let found = summarise(&results);
    assert!(found.benchmarks[0].tables.is_empty());
    assert!(found.benchmarks[0].unranked[0].reason.contains("17 of 256"));
}

#[test]
fn one_unfair_interval_is_enough() {
    let mut results = of(&[character("synthetic", 1000.0, 100.0)], 2);
    let interval = results.runs[0]
        .intervals
        .iter_mut()
        .find(|i| i.connections == 256)
        .unwrap();
    interval.validity = Validity::GeneratorBound {
        evidence: "99 %".to_owned(),
    };
    let summary = summarise(&results);
    assert_eq!(summary.benchmarks[0].tables[0].validity, "generator-bound");
}

#[test]
fn only_the_last_attempt_counts() {
    let mut results = of(&[character("synthetic", 1000.0, 100.0)], 2);
    let mut again = results.runs[0].clone();
    again.begin.attempt = 2;
    results.runs[0].end = Some(EndRecord {
        outcome: Outcome::Interrupted,
        ..results.runs[0].end.clone().unwrap()
    });
    results.runs.push(again);
    let summary = summarise(&results);
    let row = &summary.benchmarks[0].tables[0].rows[0];
    assert_eq!((row.runs, row.runs_begun), (2, 2));
    assert!(summary.benchmarks[0].failures.is_empty());
}

#[test]
fn a_killed_run_is_a_failure() {
    let mut results = of(&[character("synthetic", 1000.0, 100.0)], 1);
    results.runs[0].end = None;
    let summary = summarise(&results);
    assert_eq!(summary.benchmarks[0].failures[0].stage, "killed");
    assert!(
        summary.benchmarks[0].unranked[0]
            .reason
            .contains("no completed run")
    );
}

#[test]
fn mixed_suites_and_missing_limits_are_said_first() {
    let mut results = of(&[character("synthetic", 1000.0, 100.0)], 2);
    results.runs[0].begin.suite_digest = "1".repeat(64);
    for run in &mut results.runs {
        run.begin.enforcement = "unlimited: no permission".to_owned();
    }
    let summary = summarise(&results);
    assert_eq!(
        summary.warnings[0],
        "the runs come from different versions of the suite"
    );
    assert!(summary.warnings[1].contains("unlimited: no permission"));
    assert!(
        summary.benchmarks[0]
            .conditions
            .contains("LIMITS NOT ENFORCED: no permission")
    );
}
