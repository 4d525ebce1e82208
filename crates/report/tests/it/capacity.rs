//! Searches for capacities in documents.

use std::time::Duration;

use bakeoff_analysis::{Analysis, AnalysisInput, Confirmed};
use bakeoff_model::plan::RunKind;
use bakeoff_model::record::{Results, RunRecords};
use bakeoff_model::suite::capacity::{
    Arrivals, Capacity, CapacityRange, CapacityRecord, Purpose, SearchEnd, TrialOutcome,
    TrialRecord, TrialVerdict,
};
use bakeoff_report::{capacity_csv, csv, html, markdown, terminal_table, trials_csv};

use crate::synthetic::{self, Contender};

const SLOS: [&str; 2] = ["p99 <= 10ms", "p99 <= 50ms"];

/// A run that found these rates; `None` for an objective that is not met at all.
fn searched(one: &Contender, repetition: u32, rates: [Option<f64>; 2]) -> RunRecords {
    let mut run = synthetic::run("capacity", one, repetition, repetition as usize);
    let capacity = Capacity {
        slos: SLOS.map(|slo| slo.parse().unwrap()).to_vec(),
        rates: None,
        arrivals: Arrivals::Constant,
        connections: 64,
        trial: Duration::from_secs(5),
        trials_at_most: 20,
        within: 0.03,
    };
    let planned = &mut run.begin.run;
    planned.kind = RunKind::Capacity;
    planned.steps = vec![capacity.closed_step()];
    // The steps after the first one are those of the trials.
    let range = |rate: f64| CapacityRange {
        rate_per_s: rate,
        low_per_s: rate * 0.98,
        high_per_s: rate * 1.02,
    };
    for (index, (slo, rate)) in capacity.slos.iter().zip(rates).enumerate() {
        run.capacities.push(CapacityRecord {
            slo: slo.clone(),
            ended: match rate {
                Some(_) => SearchEnd::Narrow,
                None => SearchEnd::BelowRange,
            },
            capacity: rate.map(range),
            last_before_failure_per_s: rate.map(|rate| rate * 0.9),
            trials: 9,
            disturbance: None,
        });
        let verdict = TrialVerdict {
            slo: slo.clone(),
            outcome: TrialOutcome::Met,
            found: "p99 4.20 ms".to_owned(),
            disturbance: None,
            capacity: rate.map(range),
        };
        let mut trial = TrialRecord {
            step: 2 * index + 1,
            purpose: Purpose::Search,
            rate_per_s: rate.unwrap_or(1.0) * 0.99,
            verdicts: vec![verdict],
        };
        run.trials.push(trial.clone());
        trial.step += 1;
        trial.purpose = Purpose::Confirmation;
        trial.verdicts[0].outcome = match repetition {
            2 => TrialOutcome::Missed,
            _ => TrialOutcome::Met,
        };
        run.trials.extend((repetition > 1).then_some(trial));
    }
    planned.capacity = Some(capacity);
    run
}

fn results() -> Results {
    let fast = synthetic::contender("synthetic-fast", 9000.0, 100.0);
    let slow = synthetic::contender("synthetic-slow", 3000.0, 300.0);
    let never = synthetic::contender("synthetic-never", 3000.0, 300.0);
    let mut runs = Vec::new();
    for (repetition, level) in [(1, 0.99), (2, 1.0), (3, 1.0 / 0.99)] {
        let rates = |low: f64, high: f64| [Some(low * level), Some(high * level)];
        runs.push(searched(&fast, repetition, rates(4000.0, 9000.0)));
        runs.push(searched(&slow, repetition, rates(1000.0, 4000.0)));
        runs.push(searched(&never, repetition, [None, Some(2000.0 * level)]));
    }
    Results {
        runs,
        ..Results::default()
    }
}

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
