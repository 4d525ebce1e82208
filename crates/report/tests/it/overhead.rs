//! Contenders as a share of their baselines, and the benchmarks as rows.

use bakeoff_analysis::Quantity;
use bakeoff_model::validity::{FairnessVerdict, Validity};
use bakeoff_report::{benchmarks_csv, html, markdown, overhead_csv, terminal_table};
use serde_json::Value;

use crate::synthetic::overhead::{analyse, contenders, ratio, results, share};
use crate::synthetic::{Contender, Fault, contender};

#[test]
fn who_has_no_percentage_is_said_with_the_reason() {
    let mut all = contenders();
    all.push(Contender {
        baseline: Some("fast/bare-multi"),
        ..contender("fast/unset", 5000.0, 100.0)
    });
    all.push(Contender {
        parameters: &[("ROUTES", "64")],
        baseline: Some("fast/bare-multi"),
        ..contender("fast/other", 5000.0, 100.0)
    });
    all.push(Contender {
        fault: Fault::WrongResponse,
        ..contender("wrong/bare", 5000.0, 100.0)
    });
    all.push(Contender {
        baseline: Some("wrong/bare"),
        ..contender("wrong/layer", 5000.0, 100.0)
    });
    let results = results(&["get", "post"], &all);
    let analysis = analyse(&results);
    let without = analysis.overheads[0].without.iter();
    let lines: Vec<String> = without
        .map(|one| format!("{}: {}", one.labels.join(", "), one.reason))
        .filter(|line| !line.contains("post"))
        .collect();
    assert_eq!(
        lines,
        [
            "fast/other[ROUTES=64]: the baseline fast/bare-multi was not measured with such \
             parameters in get",
            "fast/unset: fast/bare-multi[ROUTES=8] and fast/bare-multi[ROUTES=128] may be the \
             baseline in get, each with other parameters",
            "own/layer: without a baseline",
            "slow/layer: the baseline slow/bare was not measured in get",
            "wrong/layer: the baseline wrong/bare has no number in get: check get/Plzeň in Czech \
             failed: $.name: expected \"Plzeň\", found \"<Pilsen & co>\"",
        ]
    );
    let text = terminal_table(&analysis, 80);
    assert!(text.contains("  own/layer: without a baseline\n"), "{text}");
    assert!(markdown(&analysis).contains("- own/layer: without a baseline\n"));
    assert!(html(&analysis).contains("<li>own/layer: without a baseline</li>"));
}

#[test]
fn a_step_without_a_valid_number_has_no_percentage() {
    let mut results = results(&["get"], &contenders());
    let of_bare = |contender: &str| contender == "fast/bare";
    for run in &mut results.runs {
        if !of_bare(&run.begin.run.contender) {
            continue;
        }
        for slice in run
            .intervals
            .iter_mut()
            .filter(|slice| slice.connections == 1)
        {
            slice.validity = Validity::recorded(FairnessVerdict::Invalid, "stalled");
        }
        for slice in run
            .intervals
            .iter_mut()
            .filter(|slice| slice.connections == 128)
        {
            slice.validity = Validity::recorded(FairnessVerdict::HostBound, "shared");
        }
    }
    let analysis = analyse(&results);
    assert_eq!(
        share(&analysis, "fast/layer", "1").ratios,
        [None, None, None]
    );
    let bound = ratio(share(&analysis, "fast/layer", "128"), Quantity::Throughput);
    assert_eq!(bound.validity.verdict(), FairnessVerdict::HostBound);
    let text = terminal_table(&analysis, 80);
    assert!(
        text.contains("! one of the two is not a fair number"),
        "{text}"
    );
}

#[test]
fn nothing_is_said_of_baselines_where_nobody_has_one() {
    let all = [contender("one", 100.0, 1.0), contender("two", 200.0, 1.0)];
    let results = results(&["get"], &all);
    let analysis = analyse(&results);
    assert!(analysis.overheads.is_empty());
    assert_eq!(overhead_csv(&analysis), None);
    let page = html(&analysis);
    assert!(!page.contains("id=\"overhead\"") && !page.contains("#overhead"));
    assert!(!markdown(&analysis).contains("aseline"));
}

#[test]
fn every_document_has_the_headline() {
    let results = results(&["get", "post"], &contenders());
    let analysis = analyse(&results);
    let layer = ratio(share(&analysis, "fast/layer", "128"), Quantity::Throughput);
    let percent = format!("{:.1}", layer.ratio.point * 100.0);
    let text = terminal_table(&analysis, 80);
    let closing = text.split("Percent of the baseline").nth(1).unwrap();
    assert!(closing.contains("get at 128 connections\n"), "{closing}");
    let line = closing
        .lines()
        .find(|line| line.contains("fast/layer"))
        .unwrap();
    assert!(line.contains(&percent), "{percent}: {line}");
    // The best first.
    let place = |name: &str| closing.find(name).unwrap();
    assert!(place("fast/multi") < place("fast/layer"), "{closing}");
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    let text = markdown(&analysis);
    assert!(text.contains("### Percent of the baseline: CPU per request\n"));
    assert!(text.contains("| contender | of | at | get | post |\n"));
    let row = format!("| fast/layer | fast/bare | 128 | {percent} % (");
    assert!(text.contains(&row), "{row}\n{text}");
    assert!(
        !text.contains("| fast/layer | fast/bare | 3 |"),
        "the CSV has it"
    );
}

#[test]
fn the_headline_is_a_figure() {
    let results = results(&["get", "post"], &contenders());
    let analysis = analyse(&results);
    let page = html(&analysis);
    let begin = page.find("id=\"data\">").unwrap() + "id=\"data\">".len();
    let end = begin + page[begin..].find("</script>").unwrap();
    let data: Value = serde_json::from_str(&page[begin..end]).unwrap();
    let panels = data["benchmarks"].as_array().unwrap();
    let place = panels
        .iter()
        .position(|one| one["of"] == "benchmark")
        .unwrap();
    let panel = &panels[place];
    assert_eq!(panel["cases"], serde_json::json!(["get", "post"]));
    let charts = panel["charts"].as_array().unwrap();
    let ids: Vec<&str> = charts
        .iter()
        .map(|one| one["id"].as_str().unwrap())
        .collect();
    assert_eq!(
        ids,
        [
            "overhead-1",
            "overhead-2",
            "overhead-cpu",
            "overhead-memory"
        ]
    );
    assert!(page.contains(&format!("id=\"b{place}-overhead-2\"")));
    let (first, second) = (&charts[0], &charts[1]);
    assert_eq!(
        first["title"],
        "Percent of the baseline: requests/s at 1 connection, backend replay"
    );
    assert_eq!(second["shape"], "estimates");
    let rows = second["y"]["names"].as_array().unwrap();
    assert_eq!(*rows, ["fast/multi[ROUTES=8]", "fast/layer"]);
    let point = second["series"][0]["points"][0].as_array().unwrap();
    let values: Vec<f64> = point[..4].iter().flat_map(Value::as_f64).collect();
    let [percent, row, low, high] = values[..] else {
        panic!("{values:?}");
    };
    assert_eq!(rows[if row == 0.0 { 0 } else { 1 }], "fast/layer");
    assert!(low < percent && percent < high && (75.0..85.0).contains(&percent));
    let label = point[4].as_str().unwrap();
    assert!(label.starts_with("fast/layer of fast/bare, "), "{label}");
}

/// The rows of a CSV file by the names of their columns.
fn rows(text: &str) -> Vec<std::collections::BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    reader.deserialize().map(Result::unwrap).collect()
}

#[test]
fn the_overhead_file_has_every_step_with_the_means_behind_it() {
    let results = results(&["get"], &contenders());
    let analysis = analyse(&results);
    let rows = rows(&overhead_csv(&analysis).unwrap());
    // Two contenders, three steps, three quantities.
    assert_eq!(rows.len(), 18);
    let row = rows.iter().find(|row| {
        row["contender"] == "fast/layer"
            && row["step_label"] == "3"
            && row["quantity"] == "CPU per request"
    });
    let row = row.unwrap();
    let number = |name: &str| row[name].parse::<f64>().unwrap();
    assert!((number("percent") - 125.0).abs() < 1.0, "{row:?}");
    assert!((number("contender_mean") / number("baseline_mean") - 1.25).abs() < 0.01);
    assert_eq!(
        (row["runs"].as_str(), row["validity"].as_str()),
        ("4", "fair")
    );
}

#[test]
fn the_benchmarks_are_rows_with_the_contenders_side_by_side() {
    let mut all = contenders();
    all.push(Contender {
        fault: Fault::WrongResponse,
        ..contender("wrong/bare", 5000.0, 100.0)
    });
    let results = results(&["get", "post"], &all);
    let analysis = analyse(&results);
    let text = benchmarks_csv(&analysis).unwrap();
    let header = text.lines().next().unwrap();
    assert!(
        header.starts_with(
            "benchmark,step_label,conditions,fast/bare requests_per_s,fast/bare p99_ms,\
             fast/bare p95_ms,fast/bare p75_ms,fast/bare p50_ms,"
        ),
        "{header}"
    );
    assert!(!header.contains("wrong/bare"), "it is not ranked");
    let rows = rows(&text);
    let keys: Vec<(&str, &str)> = { rows.iter() }
        .map(|row| (row["benchmark"].as_str(), row["step_label"].as_str()))
        .collect();
    assert_eq!(
        keys,
        [
            ("get", "1"),
            ("get", "3"),
            ("get", "128"),
            ("post", "1"),
            ("post", "3"),
            ("post", "128")
        ]
    );
    let number = |name: &str| rows[2][name].parse::<f64>().unwrap();
    let share = share(&analysis, "fast/layer", "128");
    let throughput = ratio(share, Quantity::Throughput);
    assert!((number("fast/bare requests_per_s") - throughput.baseline).abs() < 0.01);
    let times = ["p50_ms", "p75_ms", "p95_ms", "p99_ms"];
    let times = times.map(|name| number(&format!("fast/bare {name}")));
    assert!(
        times.is_sorted() && times[0] > 0.0 && times[1] < times[3],
        "{times:?}"
    );
}
