//! Files of other tools.

use bakeoff_analysis::{Analysis, AnalysisInput};
use bakeoff_model::load::histogram::Histogram;
use bakeoff_report::{Exchanged, exchanged, summary_of_job};
use serde_json::Value;

use crate::synthetic;

fn files() -> Vec<Exchanged> {
    exchanged(&Analysis::of(&AnalysisInput::new(
        synthetic::results(),
        "Synthetic",
    )))
}

fn text(name: &str) -> String {
    let files = files();
    let found = files.iter().find(|one| one.file == name);
    found.unwrap_or_else(|| panic!("{name}")).text.clone()
}

#[test]
fn bencher_has_a_measure_for_each_metric() {
    let all: Value = serde_json::from_str(&text("bencher.json")).unwrap();
    let actix = &all["city-get synthetic-actix-4"];
    let rate = &actix["throughput"];
    let number = |key: &str| rate[key].as_f64().unwrap();
    assert!(number("lower_value") < number("value") && number("value") < number("upper_value"));
    for measure in ["cpu-us-per-request", "memory-mib", "p50-ms", "p99-ms"] {
        assert!(actix[measure]["value"].is_number(), "{measure}");
    }
}

#[test]
fn otava_has_a_row_of_the_session() {
    let text = text("otava.csv");
    let (head, row) = text.trim_end().split_once('\n').unwrap();
    assert!(
        head.starts_with("time,city-get.synthetic-actix-4.throughput,"),
        "{head}"
    );
    assert!(row.starts_with("2026-01-01T00:00:00Z,"), "{row}");
    assert_eq!(head.split(',').count(), row.split(',').count());
}

#[test]
fn a_badge_names_what_leads() {
    let badge: Value = serde_json::from_str(&text("badge.json")).unwrap();
    assert_eq!(badge["schemaVersion"], 1);
    assert_eq!(badge["label"], "city-get");
    let message = badge["message"].as_str().unwrap();
    assert!(
        message.ends_with(" requests/s, synthetic-axum not significantly less"),
        "{message}"
    );
}

#[test]
fn a_log_has_the_times_of_each_slice() {
    let text = text("city-get.synthetic-axum.r1.hlog");
    let lines = text.lines().filter(|line| line.starts_with("Tag="));
    let mut requests = 0;
    for line in lines {
        let columns: Vec<&str> = line.split(',').collect();
        assert_eq!(columns.len(), 5, "{line}");
        requests += Histogram::decode(columns[4]).unwrap().count();
    }
    assert!(requests > 1000, "{requests}");
}

#[test]
fn a_distribution_rises_to_the_largest_time() {
    let text = text("city-get.synthetic-axum.64.hgrm");
    let rows = text.lines().filter(|line| !line.starts_with('#')).skip(2);
    let values: Vec<(f64, f64)> = rows
        .map(|row| {
            let mut numbers = row.split_whitespace().map(|word| word.parse().unwrap());
            (numbers.next().unwrap(), numbers.next().unwrap())
        })
        .collect();
    assert!(values.len() > 20 && values.is_sorted(), "{text}");
    assert_eq!(values.last().unwrap().1, 1.0, "{text}");
    assert!(
        text.contains("#[Mean    = ") && text.contains("#[Max     = "),
        "{text}"
    );
}

#[test]
fn the_summary_of_a_job_is_the_answer() {
    let results = synthetic::results();
    let text = summary_of_job(
        &Analysis::of(&AnalysisInput::new(results, "Synthetic")),
        None,
    );
    assert!(text.starts_with("### Synthetic\n"), "{text}");
    assert!(
        text.contains("\n**city-get**: synthetic-actix-4 serves the most"),
        "{text}"
    );
}
