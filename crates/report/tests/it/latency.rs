//! Records of contenders that took turns and were then loaded at one rate.

use bakeoff_analysis::{Analysis, AnalysisInput};
use bakeoff_report::{csv, html, markdown, terminal_table};
use bakeoff_stats::Verdict;

use crate::synthetic::latency::{check, held, results, times};

#[test]
fn percentiles_are_of_the_open_load_and_not_of_the_turns() {
    let sets = [
        [Some(held(1.0, 12_000)), Some(held(1.3, 12_000))],
        [Some(held(1.1, 12_000)), Some(held(1.45, 12_000))],
        [Some(held(0.9, 12_000)), Some(held(1.18, 12_000))],
    ];
    check(
        &sets,
        [[Some(1.0), Some(10.0)], [Some(1.31), Some(13.1)]],
        &[
            "two serves 99 % of the requests in 1.31 times the time of one (95 %: 1.29–1.33, \
           3 sets), at 4000 requests/s each: slower; half of the requests in 1.31 times the time \
           of one (95 %: 1.29–1.33, 3 sets)",
        ],
    );
    let results = results(&sets);
    let analysis = Analysis::of(&AnalysisInput::new(&results, "t"));
    let text = terminal_table(&analysis, 120);
    assert!(
        text.contains("p99 in open load at 4000 requests/s"),
        "{text}"
    );
    assert!(
        text.contains("two serves 99 % of the requests in"),
        "{text}"
    );
    assert!(
        text.contains("While others had the open load, contenders used 0.4 % of a core."),
        "{text}"
    );
    let page = html(&analysis);
    assert!(page.contains("in open load at 4000 requests/s"));
    // Each against each: 1.31 times the time is slower.
    assert!(page.contains("<caption>p99 in open load</caption>"));
    let of_pair = analysis.loads[0].summary.tables[0].p99_matrix.as_ref();
    let of_pair = of_pair.unwrap().pairs.get(1, 0).unwrap();
    assert_eq!(of_pair.verdict, Verdict::Slower, "{of_pair:?}");
    let page = markdown(&analysis);
    assert!(
        page.contains("- two serves 99 % of the requests in"),
        "{page}"
    );
    let rows = csv(&analysis);
    let open = rows.lines().filter(|line| line.contains("open load at"));
    assert_eq!(open.count(), 6);
    // The turns count for throughput, and their times are nowhere.
    let row = analysis.loads[0].summary.row("one").unwrap();
    assert!((row.peak.throughput.estimate.point - 6000.0).abs() < 1.0);
    let steps = analysis.loads[0].data.cases[0].runs[0].steps.iter();
    assert!(steps.clone().count() == 1 && steps.clone().all(|step| step.latency().is_none()));
}

#[test]
fn the_first_byte_is_shown_where_responses_came_in_parts() {
    let set = [Some(held(40.0, 3000)), Some(held(20.0, 3000))];
    let mut results = results(&[set, set]);
    let page = markdown(&Analysis::of(&AnalysisInput::new(&results, "t")));
    assert!(!page.contains("first byte"), "{page}");
    // Of the first contender alone, after the warm-up.
    for run in results.runs.iter_mut().step_by(2) {
        for interval in run.intervals.iter_mut().skip(2) {
            interval.load.first_byte = Some(times(interval.load.requests, 10.0));
        }
    }
    let analysis = Analysis::of(&AnalysisInput::new(&results, "t"));
    let rows = &analysis.loads[0].first_bytes;
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!(
        (rows[0].label.as_str(), rows[0].step.as_str()),
        ("one", "open load at 4000/s")
    );
    let near = |found: f64, expect: f64| (found / expect - 1.0).abs() < 0.02;
    assert!(
        near(rows[0].first[0], 10.0) && near(rows[0].first[1], 100.0),
        "{rows:?}"
    );
    assert!(
        near(rows[0].end[0], 40.0) && near(rows[0].end[1], 400.0),
        "{rows:?}"
    );
    assert!(html(&analysis).contains("Time to the first byte"));
    assert!(markdown(&analysis).contains("### Time to the first byte"));
}
