//! Two processes of one case, the control: shown, in no table, and what becomes of verdicts when
//! they differ significantly.

use bakeoff_report::{csv, html, markdown, terminal_answer, terminal_ranks, terminal_table};

use crate::synthetic::control::{analysis, results};

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
