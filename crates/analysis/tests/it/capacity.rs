//! Searches for capacities in documents.

use bakeoff_analysis::{Analysis, AnalysisInput, Confirmed};

use crate::synthetic::capacity::results;

#[test]
fn capacities_are_geometric_means_over_runs() {
    let results = results();
    let analysis = Analysis::of(&AnalysisInput::new(&results, "Capacities"));
    assert!(
        analysis.loads.is_empty(),
        "a search is not a load with measured steps"
    );
    let summary = &analysis.capacities[0].summary;
    let objectives: Vec<&str> = summary
        .tables
        .iter()
        .map(|one| one.objective.as_str())
        .collect();
    let all = "geometric mean of 2 objectives";
    assert_eq!(objectives, ["p99 <= 10ms", "p99 <= 50ms", all]);
    let row = &summary.tables[0].rows[0];
    let whole = |value: f64| value.round();
    assert_eq!(
        (row.label.as_str(), whole(row.rate.point)),
        ("synthetic-fast", 4000.0)
    );
    assert_eq!(row.last_before_failure.map(whole), Some(3600.0));
    assert_eq!(
        (row.runs, row.confirmed),
        (3, Confirmed { met: 1, held: 2 })
    );
    assert!(row.cpu_us.is_some(), "read off the trial's own slices");
    let interval = row.rate.interval.unwrap();
    assert!(
        interval.low > 3800.0 && interval.high < 4200.0,
        "{interval:?}"
    );
    let of_all = &summary.tables[2].rows;
    assert_eq!(whole(of_all[0].rate.point), 6000.0);
    assert_eq!(of_all[0].confirmed, Confirmed { met: 2, held: 4 });
    let unranked = &summary.tables[0].unranked[0];
    assert_eq!(unranked.label, "synthetic-never");
    assert_eq!(unranked.reason, "missed even at the lowest rate");
    assert_eq!(summary.tables[1].rows.len(), 3);
}
