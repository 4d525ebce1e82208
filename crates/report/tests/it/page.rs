//! The HTML page: whole, safe and without network; its charts are right.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use bakeoff_analysis::{Analysis, AnalysisInput};
use bakeoff_model::measure::flame_graph::{FlameDifference, FlameGraph, FlameOutcome};
use bakeoff_model::plan::Parameters;
use bakeoff_model::record::failure::{Failure, Stage};
use bakeoff_model::record::{Outcome, Results};
use bakeoff_model::request::check::CheckOutcome;
use bakeoff_report::html;
use serde_json::Value;

use crate::synthetic;

const TITLE: &str = "Synthetic, profile seed, backend replay";

fn page(results: &Results, title: &str) -> String {
    html(&Analysis::of(&AnalysisInput {
        results,
        title,
        rounds: &[],
    }))
}

fn data(page: &str) -> Value {
    let begin = page.find("id=\"data\">").unwrap() + "id=\"data\">".len();
    let end = begin + page[begin..].find("</script>").unwrap();
    serde_json::from_str(&page[begin..end]).unwrap()
}

fn chart<'d>(data: &'d Value, benchmark: usize, id: &str) -> &'d Value {
    let charts = data["benchmarks"][benchmark]["charts"].as_array().unwrap();
    charts.iter().find(|chart| chart["id"] == id).unwrap()
}

/// The drawing of a chart.
fn drawing<'p>(page: &'p str, panel: usize, id: &str) -> &'p str {
    let begin = page.find(&format!("id=\"b{panel}-{id}\"")).unwrap();
    let end = begin + page[begin..].find("</svg>").unwrap();
    &page[begin..end]
}

#[test]
fn the_page_needs_no_network() {
    let page = page(synthetic::results(), TITLE);
    // Left in the target folder to be looked at.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    fs::write(folder.join("synthetic-report.html"), &page).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>"));
    for fetching in [
        "http://", "https://", "src=", "@import", "url(", "fetch(", "<link",
    ] {
        assert!(!page.contains(fetching), "{fetching}");
    }
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn the_same_results_give_the_same_bytes() {
    assert!(page(synthetic::results(), TITLE) == page(synthetic::results(), TITLE));
}

#[test]
fn an_empty_session_is_a_page_too() {
    let page = page(&Results::default(), "Nothing");
    assert!(page.contains("There are no runs."));
}

#[test]
fn every_chart_is_there_and_names_the_backend() {
    let page = page(synthetic::results(), TITLE);
    let data = data(&page);
    let charts = data["benchmarks"][0]["charts"].as_array().unwrap();
    let ids: Vec<&str> = charts
        .iter()
        .map(|chart| chart["id"].as_str().unwrap())
        .collect();
    assert_eq!(
        ids,
        [
            "peaks",
            "throughput",
            "throughput-latency",
            "p50",
            "p90",
            "p99",
            "distribution",
            "errors",
            "startup",
            "warm-up",
            "memory",
            "memory-per-throughput",
            "cpu",
            "cpu-per-request",
            "cpu-by-part",
            "cumulative",
        ]
    );
    for chart in charts {
        let title = chart["title"].as_str().unwrap();
        assert!(title.ends_with("backend replay"), "{title}");
        assert!(page.contains(&format!("id=\"b0-{}\"", chart["id"].as_str().unwrap())));
        let drawing = drawing(&page, 0, chart["id"].as_str().unwrap());
        assert!(drawing.contains("<path"), "{title} is empty");
        assert!(!drawing.contains("NaN") && !drawing.contains("inf"));
    }
    assert_eq!(chart(&data, 0, "p99")["y"]["log"], true);
}

#[test]
fn a_step_that_failed_is_a_gap_and_warm_up_steps_stay_apart() {
    let page = page(synthetic::results(), TITLE);
    let data = data(&page);
    let throughput = chart(&data, 0, "throughput");
    let labels = throughput["x"]["names"].as_array().unwrap();
    assert_eq!(labels[..4], ["w1: 1", "w2: 1", "w3: 1", "2"]);
    let series = throughput["series"].as_array().unwrap();
    let killed = series
        .iter()
        .find(|series| series["name"] == "synthetic-http4k-3/apache-4" && series["run"] == 2)
        .unwrap();
    let points = killed["points"].as_array().unwrap();
    assert!(points[9].is_number() && points[10].is_null() && points[11].is_null());
    // Runs of one contender are one line, the median.
    let names = |of: &str| -> Vec<&str> {
        let all = throughput[of].as_array().unwrap().iter();
        all.map(|one| one["name"].as_str().unwrap()).collect()
    };
    let (runs, lines) = (names("series"), names("lines"));
    assert_eq!(runs[0], runs[3]);
    assert_ne!(runs[3], runs[4]);
    assert_eq!(lines[..2], [runs[0], runs[4]]);
    let drawing = drawing(&page, 0, "throughput");
    let drawn = |begin: &str| drawing.matches(begin).count();
    assert_eq!(drawn("<g class=\"middle\">"), lines.len());
    assert_eq!(drawn("<g class=\"run\">"), runs.len());
    let names: Vec<&Value> = data["benchmarks"][0]["cases"]
        .as_array()
        .unwrap()
        .iter()
        .collect();
    assert_eq!(names[5], "synthetic-rocket-0.4[WORKERS=8]");
    assert_eq!(names[6], "synthetic-rocket-0.4[WORKERS=16]");
}

#[test]
fn a_number_that_is_not_fair_is_hollow() {
    let page = page(synthetic::results(), TITLE);
    let data = data(&page);
    let throughput = chart(&data, 1, "throughput");
    let points = throughput["series"][0]["points"].as_array().unwrap();
    assert!(points[6].is_number());
    assert_eq!(points[7][4], "host-bound");
    let name = throughput["series"][0]["name"].as_str().unwrap();
    let drawing = drawing(&page, 1, "throughput");
    let begin = format!("<g class=\"c0\" data-name=\"{name}\">");
    let line = drawing.split(&begin).last().unwrap();
    let line = line.split("</g>").next().unwrap();
    let has = |class: &str| line.contains(&format!("<path class=\"{class}\""));
    assert!(has("mark") && has("mark hollow"), "{line}");
}

#[test]
fn no_text_of_others_becomes_markup() {
    let evil = "</script><img onerror=alert(1)>\"'&";
    let mut results = Results {
        runs: synthetic::results().runs[..3].to_vec(),
        notes: Some(evil.to_owned()),
        analysis: Some(evil.to_owned()),
        ..Results::default()
    };
    for run in &mut results.runs {
        run.begin.run.contender = evil.to_owned();
        run.begin.run.benchmark = evil.to_owned();
        run.begin.describe = evil.to_owned();
        run.begin.version = Some(evil.to_owned());
        run.begin.note = Some(evil.to_owned());
        run.begin.host.cpu_model = evil.to_owned();
        for check in &mut run.checks {
            check.outcome = CheckOutcome::Bad {
                assertion: evil.to_owned(),
            };
            (check.name, check.group) = (evil.to_owned(), evil.to_owned());
            check.value = Some(evil.to_owned());
        }
        run.end.as_mut().unwrap().notes.push(evil.to_owned());
    }
    let failure = Failure::new(Stage::Load, evil)
        .with_evidence(evil)
        .with_hints([evil.to_owned()]);
    results.runs[2].end.as_mut().unwrap().outcome = Outcome::Failed(failure);
    results.flame_graphs = vec![FlameGraph {
        benchmark: evil.to_owned(),
        contender: evil.to_owned(),
        parameters: Parameters::default(),
        connections: 1,
        outcome: FlameOutcome::Failed {
            why: evil.to_owned(),
        },
    }];
    let page = page(&results, evil);
    assert!(page.contains("no flame graph of "));
    assert!(!page.contains("<img"));
    assert_eq!(page.matches("</script>").count(), 2);
    assert!(page.contains("&lt;/script&gt;&lt;img onerror=alert(1)&gt;&quot;'&amp;"));
    assert_eq!(data(&page)["benchmarks"][0]["name"], evil);
}

#[test]
fn flame_graphs_are_linked_where_the_contender_is() {
    let mut results = Results {
        runs: synthetic::results().runs[..1].to_vec(),
        ..Results::default()
    };
    let graph = FlameGraph {
        benchmark: "city-get".to_owned(),
        contender: results.runs[0].begin.run.contender.clone(),
        parameters: BTreeMap::from([("WORKERS".to_owned(), "8".to_owned())]).into(),
        connections: 64,
        outcome: FlameOutcome::Drawn {
            file: "flame/a.svg".to_owned(),
            sampler: "perf".to_owned(),
            samples: 812,
            layers: Vec::new(),
            functions: Vec::new(),
            inclusive: Vec::new(),
            changes: Vec::new(),
            difference: Some(FlameDifference {
                from: "a third".to_owned(),
                file: "flame/b.svg".to_owned(),
            }),
        },
    };
    let elsewhere = FlameGraph {
        contender: "another".to_owned(),
        ..graph.clone()
    };
    results.flame_graphs = vec![graph, elsewhere];
    let page = page(&results, TITLE);
    let contender = &results.runs[0].begin.run.contender;
    let link = format!(
        "<a href=\"../flame/a.svg\">flame graph of {contender}[WORKERS=8], city-get</a> at 64 \
         connections, 812 samples by perf"
    );
    assert_eq!(page.matches(&link).count(), 1, "{page}");
    assert_eq!(page.matches("a.svg").count(), 1);
    let difference = "<a href=\"../flame/b.svg\">its difference from a third</a>";
    assert_eq!(page.matches(difference).count(), 1);
}

#[test]
fn the_page_shows_what_the_numbers_rest_on() {
    let page = page(synthetic::results(), TITLE);
    for text in [
        "cgroup-v1",
        "loopback",
        "contender 0; load generator 1; backend 1",
        "synthetic-axum 0.0",
        "killed for memory (512 MiB) at 256 connections",
        "contender, load generator and backend used 1.93 of 2 cores",
        "$.name: expected &quot;Plzeň&quot;, found &quot;&lt;Pilsen &amp; co&gt;&quot;",
        "Slow on purpose.",
        "These numbers are <strong>made up</strong>",
        "Why these workloads exist",
        "52.3 MiB",
        "<b>✓ 24 x worker, 1 x main</b>",
        "What 10<sup>9</sup> requests cost",
        "Until warm",
        "synthetic-rocket-0.4 by parameter",
    ] {
        assert!(page.contains(text), "{text}");
    }
}
