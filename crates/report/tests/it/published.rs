//! Published results: shown next to our numbers, never among them; claims get the right verdict.

use bakeoff_analysis::{Analysis, AnalysisInput, RoundResults};
use bakeoff_model::suite::published::{Claim, Metric, OwnChart, Published, PublishedChart};
use bakeoff_report::{articles, csv, html, markdown, terminal_table};

use crate::synthetic::published::{claim, middle, ratio, results, source, three};

#[test]
fn the_page_of_a_source_has_its_lines_and_ours_on_the_same_axes() {
    let test = ratio("synthetic-fast", "synthetic-slow", 2.5);
    let mut main = results(&three()[..1], 2);
    main.published = Some(Published {
        sources: vec![source()],
        results: vec![middle()],
        claims: vec![claim(Metric::PeakThroughput, None, test)],
        ..Published::default()
    });
    let round = |folder: &str, results| RoundResults {
        folder: folder.to_owned(),
        results,
    };
    let rounds = [
        round("main", main),
        round("claims/all", results(&three(), 4)),
    ];
    let [page] = &articles(&rounds)[..] else {
        panic!("one source has one page");
    };
    assert_eq!(page.name, "article");
    let files: Vec<&str> = page.figures.iter().map(|one| &*one.file).collect();
    assert_eq!(files, ["city-get-throughput.svg", "city-get-p99.svg"]);
    let figure = &page.figures[0].svg;
    for text in ["Middle 1.0, published", "synthetic-middle", "4096"] {
        assert!(figure.contains(text), "{text}: {figure}");
    }
    assert!(!figure.contains("synthetic-fast"), "{figure}");
    let text = &page.markdown;
    assert!(text.contains("Ours: `claims/all`."), "{text}");
    assert!(text.contains("| claims/all |"), "{text}");
    let peak = "| Middle 1.0 | highest requests/s | 4096 | ";
    assert!(text.contains(peak), "{text}");
    assert!(text.contains("`synthetic-middle`, claims/all |"), "{text}");
    assert_eq!(articles(&rounds[1..]), [], "nothing was published");
}

#[test]
fn each_chart_of_a_source_has_ours_or_a_reason() {
    let chart = |title: &str, ours: Result<&str, &str>| PublishedChart {
        source: "article".to_owned(),
        title: title.to_owned(),
        ours: ours.map_err(str::to_owned).map(|id| OwnChart {
            id: id.to_owned(),
            benchmark: "city-get".to_owned(),
            round: Some("second".to_owned()),
            contenders: vec!["*-fast".to_owned()],
        }),
    };
    let mut first = results(&three(), 2);
    first.published = Some(Published {
        sources: vec![source()],
        charts: vec![
            chart("Peaks", Ok("peaks")),
            chart("Memory", Ok("memory")),
            chart("A photograph", Err("it shows a room")),
            chart("Heap", Ok("heap-after-gc")),
        ],
        ..Published::default()
    });
    let mut second = results(&three(), 2);
    second.round = Some("second".to_owned());
    let rounds = [("first", first), ("second", second)];
    let rounds = rounds.map(|(folder, results)| RoundResults {
        folder: folder.to_owned(),
        results,
    });
    let page = articles(&rounds).remove(0);
    let files: Vec<&str> = page.figures.iter().map(|one| &*one.file).collect();
    let expected = ["city-get-peaks-peaks.svg", "city-get-memory-memory.svg"];
    assert_eq!(files, expected);
    for file in &page.figures {
        let svg = &file.svg;
        assert!(svg.contains("synthetic-fast"), "{svg}");
        assert!(!svg.contains("synthetic-slow"), "{svg}");
    }
    let text = &page.markdown;
    for expected in [
        "Ours: `second`.",
        "No chart of ours: it shows a room.",
        "No chart of ours: city-get was measured, but not with *-fast.",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
}

/// The path of a dashed line in a chart.
fn published_line(page: &str, id: &str, name: &str) -> String {
    let (_, drawn) = page.split_once(&format!("id=\"b0-{id}\"")).unwrap();
    let begin = format!("data-name=\"{name}\"><g><path class=\"line\" d=\"");
    let (_, line) = drawn.split_once(&begin).unwrap();
    let (path, rest) = line.split_once('"').unwrap();
    assert!(rest.starts_with(" stroke-dasharray=\"6 5\""), "{name}");
    path.to_owned()
}

#[test]
fn published_numbers_are_drawn_beside_ours_and_are_nowhere_else() {
    let mut results = results(&three(), 2);
    let plain = AnalysisInput {
        results: &results,
        title: "Synthetic",
        rounds: &[],
    };
    let documents = |input: &AnalysisInput<'_>| {
        let analysis = Analysis::of(input);
        (terminal_table(&analysis, 100), csv(&analysis))
    };
    let before = documents(&plain);
    results.published = Some(Published {
        sources: vec![source()],
        results: vec![middle()],
        claims: vec![claim(
            Metric::PeakThroughput,
            None,
            ratio("synthetic-fast", "synthetic-slow", 2.5),
        )],
        ..Published::default()
    });
    let input = AnalysisInput {
        results: &results,
        title: "Synthetic",
        rounds: &[],
    };
    assert_eq!(documents(&input), before);
    let analysis = Analysis::of(&input);
    let page = html(&analysis);
    let begin = page.find("id=\"data\">").unwrap() + "id=\"data\">".len();
    let end = begin + page[begin..].find("</script>").unwrap();
    let data: serde_json::Value = serde_json::from_str(&page[begin..end]).unwrap();
    let benchmark = &data["benchmarks"][0];
    assert_eq!(benchmark["published"][0]["name"], "Middle 1.0, published");
    assert_eq!(benchmark["published"][0]["case"], 1);
    assert_eq!(benchmark["cases"].as_array().unwrap().len(), 3);
    let charts = benchmark["charts"].as_array().unwrap();
    let series = |id: &str| {
        let chart = charts.iter().find(|chart| chart["id"] == id).unwrap();
        let mut all = chart["series"].as_array().unwrap().iter();
        all.find(|series| series["published"] == true)
    };
    let throughput = series("throughput").unwrap();
    let values: Vec<f64> = throughput["points"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(serde_json::Value::as_f64)
        .collect();
    assert_eq!(
        values,
        [111.0, 888.0],
        "steps that we have not are left out"
    );
    assert!(series("p99").is_some() && series("memory").is_some());
    assert!(series("startup").is_some() && series("peaks").is_none());
    let path = published_line(&page, "throughput", "Middle 1.0, published");
    assert_eq!(
        path.matches('M').count(),
        1,
        "{path}: a line over our steps"
    );
    assert_eq!(path.matches(',').count(), 2, "{path}");
    for text in ["An Author", "A title &lt;b&gt;", "reproduced", "2.77"] {
        assert!(page.contains(text), "{text}");
    }
    assert!(markdown(&analysis).contains("## Claims of others"));
}

/// A claim about a benchmark that was not run.
fn untestable() -> Claim {
    Claim {
        benchmark: "elsewhere".to_owned(),
        ..claim(
            Metric::PeakThroughput,
            None,
            ratio("synthetic-fast", "synthetic-slow", 2.5),
        )
    }
}

fn documents(claims: Vec<Claim>) -> (String, String) {
    let mut results = results(&three(), 2);
    results.published = Some(Published {
        sources: vec![source()],
        results: Vec::new(),
        claims,
        ..Published::default()
    });
    let analysis = Analysis::of(&AnalysisInput::new(&results, "Synthetic"));
    (html(&analysis), markdown(&analysis))
}

#[test]
fn claims_that_cannot_be_tested_are_one_line() {
    let (page, text) = documents(vec![untestable(), untestable()]);
    let none = "None of the 2 claims of others can be tested with these results.";
    assert!(
        page.contains(&format!("<summary>{none}</summary>")),
        "{page}"
    );
    let section = text.split("## Claims of others").nth(1).unwrap();
    assert_eq!(section.trim(), none);
    let testable = Claim {
        benchmark: "city-get".to_owned(),
        ..untestable()
    };
    let (page, text) = documents(vec![untestable(), testable, untestable()]);
    let rest = "2 claims of An Author, 2020 cannot be tested with these results";
    assert!(
        page.contains(&format!("<details><summary>{rest}</summary>")),
        "{page}"
    );
    assert!(page.contains("1 reproduced") && page.contains("2 not testable here"));
    assert!(
        text.ends_with(&format!("**reproduced** |\n\n- {rest}.\n")),
        "{text}"
    );
}
