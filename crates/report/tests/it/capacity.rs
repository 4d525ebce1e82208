//! Searches for capacities in documents.

use bakeoff_analysis::{Analysis, AnalysisInput};
use bakeoff_model::record::Results;
use bakeoff_report::{capacity_csv, csv, html, markdown, terminal_table, trials_csv};

use crate::synthetic::capacity::results;

#[test]
fn one_run_has_the_interval_of_its_own_search() {
    let mut results = results();
    results.runs.retain(|run| run.begin.run.repetition == 2);
    let analysis = Analysis::of(&AnalysisInput::new(&results, "Capacities"));
    let row = &analysis.capacities[0].summary.tables[0].rows[0];
    let interval = row.rate.interval.unwrap();
    assert_eq!(
        (interval.low.round(), interval.high.round()),
        (3920.0, 4080.0)
    );
    let text = terminal_table(&analysis, 80);
    assert!(
        text.contains("with one run the interval is that of its search"),
        "{text}"
    );
}

#[test]
fn every_document_has_capacities() {
    let results = results();
    let analysis = Analysis::of(&AnalysisInput::new(&results, "Capacities"));
    let sentence = "synthetic-fast sustains 4.00 times the rate of synthetic-slow";
    let text = terminal_table(&analysis, 80);
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    let markdown = markdown(&analysis);
    let page = html(&analysis);
    for (document, texts) in [
        (
            &text,
            [
                "Capacity: p99 <= 10ms",
                "1/2",
                "synthetic-never: missed even",
            ],
        ),
        (&markdown, ["### Capacity: p99 &lt;= 10ms", "1/2", sentence]),
        (
            &page,
            [
                "Capacity: p99 &lt;= 10ms",
                "1/2",
                "sustains 4.00 times the rate of",
            ],
        ),
    ] {
        for expect in texts {
            assert!(document.contains(expect), "{expect} in {document}");
        }
    }
    let found = capacity_csv(&analysis).unwrap();
    assert_eq!(found.lines().count(), 1 + 18, "{found}");
    let trials = trials_csv(&analysis).unwrap();
    // Three runs of three contenders by two objectives, confirmations in two of the runs.
    assert_eq!(trials.lines().count(), 1 + 18 + 12, "{trials}");
    let steps = csv(&analysis);
    assert!(steps.contains("search 1: 3920/s"), "{steps}");
    let none = Results::default();
    let none = Analysis::of(&AnalysisInput::new(&none, "Nothing"));
    assert_eq!((capacity_csv(&none), trials_csv(&none)), (None, None));
}
