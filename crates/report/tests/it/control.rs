//! Two processes of one case, the control: shown, in no table, and what becomes of verdicts when
//! they differ significantly.

use bakeoff_analysis::{Analysis, AnalysisInput};
use bakeoff_model::record::{Results, RunRecords};
use bakeoff_report::{csv, html, markdown, terminal_answer, terminal_ranks, terminal_table};
use bakeoff_stats::Verdict;

use crate::synthetic::{contender, run};

/// A run of a contender, or of its second process, whose peak is not what it should be.
/// `place` is its place among the three of its repetition.
fn made(name: &'static str, peak: f64, [repetition, place]: [u32; 2], twin: bool) -> RunRecords {
    let one = contender(name, peak, 1e6 / peak);
    let order = (repetition * 3 + place) as usize;
    let mut records = run("city-get", &one, repetition, order);
    records.begin.run.twin = twin;
    if twin {
        records.begin.run.id.push_str("~twin");
    }
    records
}

/// Five repetitions of two contenders, and of the slower one once more, with another peak.
fn results(twin_peak: f64) -> Results {
    let runs = (1..=5).flat_map(|repetition| {
        [
            made("fast", 9000.0, [repetition, 0], false),
            made("slow", 5000.0, [repetition, 1], false),
            made("slow", twin_peak, [repetition, 2], true),
        ]
    });
    Results {
        runs: runs.collect(),
        ..Results::default()
    }
}

fn analysis(results: &Results) -> Analysis<'_> {
    Analysis::of(&AnalysisInput {
        results,
        title: "Control",
        rounds: &[],
    })
}

#[test]
fn a_control_that_came_out_the_same_is_shown_and_changes_nothing() {
    let results = results(5010.0);
    let analysis = analysis(&results);
    let summary = &analysis.loads[0].summary;
    let labels: Vec<&str> = summary.tables[0]
        .rows
        .iter()
        .map(|row| row.label.as_str())
        .collect();
    assert_eq!(labels, ["fast", "slow"], "it is not a row");
    assert_eq!(summary.tables[0].rows[1].standing.rank, Some(2));
    assert!(!summary.control.is_void());
    let sentence = summary.controls[0].sentence();
    assert!(
        sentence.starts_with("Control: slow had two processes in each repetition. One serves 1.0")
    );
    assert!(
        sentence.ends_with("not significantly different, as it should be."),
        "{sentence}"
    );
    assert!(
        analysis
            .warnings
            .iter()
            .all(|warning| !warning.contains("void"))
    );
    let documents = [markdown(&analysis), html(&analysis)];
    assert!(
        documents
            .iter()
            .all(|text| text.contains("slow had two processes"))
    );
    let flat = terminal_table(&analysis, 80)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert!(flat.contains("slow had two processes"), "{flat}");
    let answer = terminal_answer(&analysis, 80);
    assert!(answer.starts_with("fast serves 1.79 times"), "{answer}");
    let worth = "5 runs · control: slow serves 1.00 times as much as itself";
    assert!(answer.contains(worth), "{answer}");
    let ranks = terminal_ranks(&analysis, 80);
    assert!(
        ranks.contains("\n  1 fast") && ranks.contains(worth),
        "{ranks}"
    );
    for text in [answer, ranks] {
        assert!(
            text.lines().all(|line| line.chars().count() <= 80),
            "{text}"
        );
    }
    // No run is missing in the CSV.
    let table = csv(&analysis);
    let of_twin = table.lines().filter(|line| line.contains(",slow,,true,"));
    assert_eq!(of_twin.count(), 5 * 12);
}

#[test]
fn a_control_that_is_told_apart_voids_all_verdicts() {
    let results = results(6000.0);
    let analysis = analysis(&results);
    let summary = &analysis.loads[0].summary;
    assert!(summary.control.is_void() && !analysis.is_answered());
    let table = &summary.tables[0];
    assert!(table.rows.iter().all(|row| row.standing.rank == Some(1)));
    let found = table.throughput_matrix.pairs.get(0, 1).unwrap();
    assert_eq!(found.verdict, Verdict::Void);
    assert!(found.ratio.interval.is_some(), "numbers stay");
    let conclusion = table.conclusions[0].sentence();
    assert!(conclusion.ends_with(": void"), "{conclusion}");
    let warning = "void: the control of this session found a difference between equal contenders";
    assert!(
        analysis.warnings[0].starts_with(warning),
        "{:?}",
        analysis.warnings
    );
    let sentence = summary.controls[0].sentence();
    assert!(
        sentence.ends_with("false positive, identical contenders differ significantly."),
        "{sentence}"
    );
}

#[test]
fn a_session_without_control_has_none() {
    let mut results = results(6000.0);
    results.runs.retain(|run| !run.begin.run.twin);
    let analysis = analysis(&results);
    assert_eq!(analysis.loads[0].summary.controls, []);
    assert_eq!(
        analysis.loads[0].summary.tables[0].rows[1].standing.rank,
        Some(2)
    );
}
