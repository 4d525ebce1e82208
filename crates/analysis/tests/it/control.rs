//! Two processes of one case, the control: shown, in no table, and what becomes of verdicts when
//! they differ significantly.

use bakeoff_stats::Verdict;

use crate::synthetic::control::{analysis, results};

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
