//! Contenders that are ranked, those that are not, and why.

use bakeoff_model::record::Results;
use bakeoff_model::validity::{self, Validity};
use bakeoff_report::{html, markdown, terminal_table};

use crate::synthetic::ranking::{analyse, of};
use crate::synthetic::{self, contender};

/// Two runs in which one slice of four with that number of connections has that verdict.
fn with_verdict(connections: u32, verdict: validity::FairnessVerdict) -> Results {
    let mut results = of(&[contender("synthetic", 1100.0, 1000.0)], 2);
    let mut slices = results.runs[0].intervals.iter_mut();
    let slice = slices.find(|slice| slice.connections == connections);
    slice.unwrap().validity = Validity::recorded(verdict, "wrong bodies");
    results
}

#[test]
fn every_metric_has_the_verdict_of_its_own_steps() {
    let results = with_verdict(64, validity::FairnessVerdict::HostBound);
    let analysis = analyse(&results);
    let table = &analysis.loads[0].summary.tables[0];
    let row = &table.rows[0];
    assert_eq!(
        table.verdict,
        validity::FairnessVerdict::Fair,
        "the peak is elsewhere"
    );
    assert_eq!(row.peak.throughput.steps, ["256"]);
    for metric in [&row.stated.cpu_us, &row.stated.memory_mib] {
        let metric = metric.as_ref().unwrap();
        assert_eq!(metric.steps, ["64"]);
        assert_eq!(
            metric.validity.evidence(),
            "host-bound in 25 % of the time: wrong bodies"
        );
    }
    let startup = row.whole.startup_s.as_ref().unwrap();
    assert_eq!(
        (startup.steps.len(), &startup.validity),
        (0, &Validity::fair())
    );
    for (document, mark) in [
        (
            html(&analysis),
            "title=\"at 64 host-bound in 25 % of the time: wrong bodies\">!</abbr>",
        ),
        (
            html(&analysis),
            "CPU per request and memory: all at 64 connections,",
        ),
        (markdown(&analysis), "| 1000 \\! |"),
        (terminal_table(&analysis, 100), " 1000! "),
    ] {
        assert!(document.contains(mark), "{mark}");
    }
}

#[test]
fn a_number_is_the_same_in_all_documents() {
    let analysis = analyse(synthetic::results());
    let (page, terminal) = (html(&analysis), terminal_table(&analysis, 200));
    let name = "synthetic-http4k-3/apache-4";
    let ranks = page.split("class=\"ranks\"").nth(1).unwrap();
    let on_page = ranks.split("<tr>").find(|row| row.contains(name)).unwrap();
    let in_terminal = terminal.lines().find(|line| line.contains(name)).unwrap();
    let text = markdown(&analysis);
    let row = text
        .lines()
        .find(|line| line.contains(name) && line.starts_with("| 6 |"));
    let cells: Vec<&str> = row.unwrap().split(" | ").collect();
    // Requests/s, step, p99, CPU, memory, start-up.
    for cell in [2, 4, 5, 6, 7, 8].map(|column| cells[column]) {
        assert!(on_page.contains(&format!(">{cell}<")), "{cell} {on_page}");
        let mut words = in_terminal.split_whitespace();
        assert!(words.any(|word| word == cell), "{cell} {in_terminal}");
    }
}

#[test]
fn a_step_that_is_not_valid_gives_no_numbers() {
    let results = with_verdict(64, validity::FairnessVerdict::Invalid);
    let analysis = analyse(&results);
    let row = &analysis.loads[0].summary.tables[0].rows[0];
    assert!(row.stated.cpu_us.is_none() && row.stated.memory_mib.is_none());
    assert_eq!((row.stated.p50_ms, row.stated.p99_ms), (None, None));
    assert!(row.validity().is_fair() && row.peak.throughput.estimate.point > 0.0);
    assert!(html(&analysis).contains("latencies, CPU per request and memory: invalid in 25 %"));
    assert!(markdown(&analysis).contains("| – \\! | – \\! | – \\! |"));
    // What is wrong elsewhere does not matter.
    let results = with_verdict(2, validity::FairnessVerdict::Invalid);
    let analysis = analyse(&results);
    let row = &analysis.loads[0].summary.tables[0].rows[0];
    assert!(row.stated.cpu_us.is_some() && row.stated.validity.is_fair());
}
