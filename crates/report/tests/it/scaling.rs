//! A parameter with numbers as an axis.

use bakeoff_analysis::{Analysis, AnalysisInput};
use bakeoff_model::record::Results;
use bakeoff_report::{html, markdown};
use serde_json::Value;

use crate::synthetic::overhead::results;
use crate::synthetic::{Contender, contender};

/// Two servers with routes: the one does not mind, the other serves half as much with each step.
fn contenders() -> Vec<Contender> {
    const ROUTES: [&[(&str, &str)]; 4] = [
        &[("MODE", "a"), ("ROUTES", "8")],
        &[("MODE", "a"), ("ROUTES", "32")],
        &[("MODE", "a"), ("ROUTES", "64")],
        &[("MODE", "a"), ("ROUTES", "128")],
    ];
    const TWO: [&[(&str, &str)]; 2] = [&[("ROUTES", "8")], &[("ROUTES", "128")]];
    let mut all = Vec::new();
    for (place, parameters) in (0..).zip(ROUTES) {
        let halved = 8000.0 / f64::from(1 << place);
        for one in [
            contender("even", 5000.0, 90.0),
            contender("falling", halved, 90.0),
        ] {
            all.push(Contender { parameters, ..one });
        }
    }
    // None of these has three values.
    all.push(contender("bare", 9000.0, 90.0));
    for parameters in TWO {
        all.push(Contender {
            parameters,
            ..contender("single", 9000.0, 90.0)
        });
    }
    all
}

fn analyse(results: &Results) -> Analysis<'_> {
    Analysis::of(&AnalysisInput::new(results, "Synthetic routes"))
}

#[test]
fn a_table_has_the_values_across() {
    let results = results(&["get"], &contenders());
    let text = markdown(&analyse(&results));
    let table = text.split("### requests/s by ROUTES").nth(1).unwrap();
    assert!(
        table.contains("| contender | at | 8 | 32 | 64 | 128 |\n"),
        "{table}"
    );
    let row = table
        .lines()
        .find(|line| line.starts_with("| falling\\[MODE=a\\] | 128 |"));
    let cells: Vec<f64> = { row.unwrap().split('|').skip(3) }
        .filter_map(|cell| cell.split_whitespace().next()?.parse().ok())
        .collect();
    for pair in cells.windows(2) {
        assert!((pair[0] / pair[1] - 2.0).abs() < 0.1, "{cells:?}");
    }
    assert_eq!(cells.len(), 4);
    assert!(
        !table.contains("| bare") && !table.contains("| single"),
        "{table}"
    );
    assert!(!text.contains("by MODE"), "its value is not a number");
}

#[test]
fn a_figure_has_a_line_for_each_repetition() {
    let results = results(&["get"], &contenders());
    let page = html(&analyse(&results));
    let begin = page.find("id=\"data\">").unwrap() + "id=\"data\">".len();
    let end = begin + page[begin..].find("</script>").unwrap();
    let data: Value = serde_json::from_str(&page[begin..end]).unwrap();
    let panel = &data["benchmarks"][1];
    assert_eq!(panel["name"], "get by ROUTES");
    assert_eq!(
        panel["cases"],
        serde_json::json!(["even[MODE=a]", "falling[MODE=a]"])
    );
    let charts = panel["charts"].as_array().unwrap();
    let ids: Vec<&str> = charts
        .iter()
        .map(|one| one["id"].as_str().unwrap())
        .collect();
    assert_eq!(
        ids,
        ["scaling-1", "scaling-2", "scaling-cpu", "scaling-memory"]
    );
    let at_128 = &charts[1];
    assert_eq!(at_128["x"]["name"], "ROUTES");
    assert!(at_128["x"]["names"].is_null() && at_128["x"]["log"].is_null());
    let series = at_128["series"].as_array().unwrap();
    assert_eq!(series.len(), 8, "two contenders, four repetitions");
    let xs: Vec<f64> = { series[7]["points"].as_array().unwrap().iter() }
        .map(|point| point[0].as_f64().unwrap())
        .collect();
    assert_eq!(xs, [8.0, 32.0, 64.0, 128.0]);
}
