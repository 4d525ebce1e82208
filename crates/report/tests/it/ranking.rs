//! Who is ranked, who is not, and why.

use bakeoff_model::conditions::Enforcement;
use bakeoff_model::record::{EndRecord, Outcome, Results};
use bakeoff_model::validity::{self, Validity};
use bakeoff_report::{Analysis, ReportInput, html, markdown, terminal_table};
use bakeoff_stats::{Tie, Verdict};

use crate::synthetic::{self, Contender, contender, run};

fn analyse(results: &Results) -> Analysis<'_> {
    Analysis::of(&ReportInput {
        results,
        title: "Synthetic",
        rounds: &[],
    })
}

fn labels<'a>(
    analysis: &'a Analysis<'_>,
    benchmark: usize,
    table: usize,
) -> Vec<(usize, bool, &'a str)> {
    let rows = &analysis.loads[benchmark].summary.tables[table].rows;
    rows.iter()
        .map(|row| {
            let tied = row.tie != Tie::Alone;
            (row.rank.unwrap_or(0), tied, row.label.as_str())
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
    assert_eq!(rows[0].step, "256");
    assert_eq!((rows[5].runs, rows[5].runs_begun), (3, 4));
    assert_eq!((rows[3].lifecycle.good, rows[3].lifecycle.total), (3, 4));
    assert_eq!((rows[3].checks.good, rows[3].checks.total), (2, 2));
    assert!(rows[3].errors > 0 && rows[0].errors == 0);
    assert_eq!(rows[3].against_best.unwrap().verdict, Verdict::Slower);
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
    assert_eq!(closest.tables[1].verdict, validity::Verdict::HostBound);
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

fn of(contenders: &[Contender], runs: u32) -> Results {
    let mut results = Results::default();
    for repetition in 1..=runs {
        for one in contenders {
            let order = results.runs.len();
            results.runs.push(run("bench", one, repetition, order));
        }
    }
    results
}

#[test]
fn an_invalid_step_is_no_peak() {
    let mut results = of(&[contender("synthetic", 1000.0, 1000.0)], 2);
    let invalid = Validity::recorded(
        validity::Verdict::Invalid,
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
    assert_eq!(row.step, "128");
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
    interval.validity = Validity::recorded(validity::Verdict::GeneratorBound, "99 %");
    let analysis = analyse(&results);
    assert_eq!(
        analysis.loads[0].summary.tables[0].verdict,
        validity::Verdict::GeneratorBound
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
    assert_eq!((row.runs, row.runs_begun), (2, 2));
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
fn every_metric_has_the_verdict_of_its_own_steps() {
    let mut results = of(&[contender("synthetic", 1000.0, 100.0)], 2);
    let mut slices = results.runs[0].intervals.iter_mut();
    let slice = slices.find(|slice| slice.connections == 2).unwrap();
    slice.validity = Validity::recorded(validity::Verdict::Invalid, "wrong bodies");
    let analysis = analyse(&results);
    let table = &analysis.loads[0].summary.tables[0];
    let row = &table.rows[0];
    assert_eq!(
        table.verdict,
        validity::Verdict::Fair,
        "the peak is elsewhere"
    );
    assert_eq!(row.throughput.steps, ["256"]);
    let cpu = row.cpu_us.as_ref().unwrap();
    let measured = ["2", "4", "8", "16", "32", "64", "128", "256", "512"];
    assert_eq!(cpu.steps, measured);
    assert_eq!(
        cpu.validity.evidence(),
        "25 % of the time is invalid: wrong bodies"
    );
    let whole = row.cpu_us_whole.as_ref().unwrap();
    assert_eq!(whole.steps[0], "w1: 1");
    assert_eq!(whole.validity.name(), "invalid");
    let startup = row.startup_s.as_ref().unwrap();
    assert_eq!(
        (startup.steps.len(), &startup.validity),
        (0, &Validity::fair())
    );
    for (document, mark) in [
        (
            html(&analysis),
            "title=\"over 2 to 512 invalid: 25 % of the time is invalid: wrong bodies\">!</abbr>",
        ),
        (markdown(&analysis), "| 100 \\! |"),
        (terminal_table(&analysis, 100), " 100! "),
    ] {
        assert!(document.contains(mark), "{mark}");
    }
}
