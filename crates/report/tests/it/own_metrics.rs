//! The table of the metrics that contenders count themselves.

use bakeoff_analysis::{Analysis, AnalysisInput};
use bakeoff_model::record::{Results, RunRecords};
use bakeoff_model::suite::metrics::{MetricSeries, MetricValues, MetricsRecord};
use bakeoff_report::{html, markdown};

use crate::synthetic::{contender, run};

/// Requests that came to an end in the stated step of a run, which is at 64 connections.
fn ended(run: &RunRecords) -> (usize, f64) {
    let steps = &run.begin.run.steps;
    let step = steps
        .iter()
        .position(|step| step.connections == 64)
        .unwrap();
    let slices = run.intervals.iter().filter(|slice| slice.load.step == step);
    let ended = slices.map(|slice| {
        let failed: u64 = slice.load.errors.values().map(|error| error.count).sum();
        slice.load.requests + failed
    });
    (step, f64::from(u32::try_from(ended.sum::<u64>()).unwrap()))
}

fn counter(name: &str, growth: f64) -> MetricSeries {
    let (before, after) = (7.0, 7.0 + growth);
    MetricSeries {
        name: name.to_owned(),
        values: MetricValues::Counter { before, after },
    }
}

/// Two contenders in three runs: one counts, the other does not report its count in one of them.
fn results() -> Results {
    let mut runs = Vec::new();
    for repetition in 1..=3 {
        for name in ["synthetic-a", "synthetic-b"] {
            let mut run = run(
                "get",
                &contender(name, 1000.0, 500.0),
                repetition,
                runs.len(),
            );
            let (step, ended) = ended(&run);
            let mut record = MetricsRecord {
                step,
                ..MetricsRecord::default()
            };
            if name == "synthetic-b" && repetition == 2 {
                record.problem = Some("no *metrics*".to_owned());
            } else {
                record.series = vec![
                    counter("requests_total{path=\"/<a>\"}", ended),
                    counter("idle_total", 0.0),
                    MetricSeries {
                        name: "threads".to_owned(),
                        values: MetricValues::Gauge {
                            after: 10.0 + f64::from(repetition),
                        },
                    },
                ];
                if name == "synthetic-a" && repetition == 1 {
                    // It counted none in the other runs.
                    record.series.push(counter("errors_total", 0.3 * ended));
                    record.left_out = 4;
                }
            }
            run.metrics = vec![
                MetricsRecord {
                    step: step + 1,
                    series: vec![counter("requests_total{path=\"/<a>\"}", 1.0)],
                    ..MetricsRecord::default()
                },
                record,
            ];
            runs.push(run);
        }
    }
    Results {
        runs,
        ..Results::default()
    }
}

fn analysis(results: &Results) -> Analysis<'_> {
    Analysis::of(&AnalysisInput {
        results,
        title: "synthetic",
        rounds: &[],
    })
}

#[test]
fn counters_are_shown_per_request_and_gauges_as_they_are() {
    let results = results();
    let text = markdown(&analysis(&results));
    let (_, section) = text
        .split_once("### Metrics of the services themselves\n")
        .unwrap();
    let section = section.split("\n#").next().unwrap();
    let (remarks, method_and_table) = section
        .split_once("\nAs each service counts them: ")
        .unwrap();
    let (method, table) = method_and_table.split_once('\n').unwrap();
    assert!(
        method.contains("over the step at 64 connections, divided by"),
        "{method}"
    );
    let section = format!("{remarks}{table}");
    insta::assert_snapshot!(section, @r#"
    synthetic-a: 4 further series are not recorded; \`keep\` of \`\[metrics\]\` chooses.

    synthetic-b, in 1 of 3 runs: no \*metrics\*.

    1 counter grew in no contender at this step.

    | metric | contender | growth per request | 95 % | last value | 95 % |
    |---|---|--:|--:|--:|--:|
    | errors\_total | synthetic-a | 0.100 \! | -0.330–0.530 | – | – |
    | requests\_total{path="/&lt;a>"} | synthetic-a | 1.00 \! | 1.00–1.00 | – | – |
    | requests\_total{path="/&lt;a>"} | synthetic-b | 1.00 \! | 1.00–1.00 | – | – |
    | threads | synthetic-a | – | – | 12.0 \! | 9.75–14.8 |
    | threads | synthetic-b | – | – | 12.0 \! | 4.15–34.7 |
    "#);
    let page = html(&analysis(&results));
    for expect in [
        "Metrics of the services themselves",
        "requests_total{path=&quot;/&lt;a&gt;&quot;}",
        "synthetic-b, in 1 of 3 runs: no *metrics*.",
    ] {
        assert!(page.contains(expect), "{expect}");
    }
}

#[test]
fn nothing_is_said_where_nothing_was_read() {
    let mut results = results();
    results.runs.iter_mut().for_each(|run| run.metrics.clear());
    let analysis = analysis(&results);
    for text in [markdown(&analysis), html(&analysis)] {
        assert!(!text.contains("Metrics of the services themselves"));
    }
}
