//! Sets: contenders in turn on a host whose speed changes.

use std::fs;
use std::path::Path;

use bakeoff_analysis::Analysis;
use bakeoff_base::random::Random;
use bakeoff_model::record::{IntervalRecord, Results};
use bakeoff_model::suite::conditions::RuntimeKind;
use bakeoff_report::{html, markdown, terminal_table};
use bakeoff_stats::{Method, Tie, Verdict};
use serde_json::Value;

use crate::synthetic::turns::{
    SECOND, Slice, Way, analyse, compared, fixture, invalidate, of_fixture, on_the_host, results,
    run, slice, step, summary,
};

#[test]
fn one_set_has_no_interval_across_processes_and_no_verdict() {
    let results = on_the_host(1, Way::Turns);
    let analysis = analyse(&results);
    let summary = &analysis.loads[0].summary;
    let fast = compared(summary, "synthetic-fast", "synthetic-same-1");
    assert_eq!((fast.ratio.interval, fast.ratio.runs), (None, 1));
    assert!((fast.ratio.point - 1.07).abs() < 0.03, "{fast:?}");
    assert_eq!(fast.verdict, Verdict::Inconclusive);
    let rows = summary.tables[0].rows.iter();
    assert!(rows.clone().all(|row| row.standing.rank == Some(1)));
    assert!(rows.clone().all(|row| row.standing.tie == Tie::Unknown));
    let pairs = &summary.sets.as_ref().unwrap().pairs;
    assert_eq!((pairs.len(), pairs[0].components.between), (3, None));
    let said =
        "One set has one process of each contender, and another process may differ: there is";
    let (table, text) = (terminal_table(&analysis, 400), markdown(&analysis));
    for document in [&text, &table, &html(&analysis)] {
        assert!(document.contains(said), "{document}");
        assert!(!document.contains("Two sets give"));
    }
    assert!(text.contains("(one set, no interval): inconclusive"));
}

#[test]
fn two_sets_are_compared_by_pairs_with_a_wide_interval() {
    let results = on_the_host(2, Way::Turns);
    let found = summary(&results);
    let fast = compared(&found, "synthetic-fast", "synthetic-same-1");
    assert_eq!((fast.method, fast.ratio.runs), (Method::Paired, 2));
    assert!(markdown(&analyse(&results)).contains("intervals with one degree of freedom"));
}

#[test]
fn what_was_lost_and_where_the_spread_is_from_is_said() {
    let results = of_fixture(&fixture());
    let analysis = analyse(&results);
    let page = html(&analysis);
    // Left in the target folder to be looked at.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    fs::write(folder.join("synthetic-sets.html"), &page).unwrap();
    let text = markdown(&analysis);
    for part in [
        "4 sets, each with fresh processes. Blocks that count: 12 of 12, 10 of 10, 13 of 14 \
         and 11 of 11; 1 of 47 lost for all contenders, because a slice was invalid",
        "| synthetic-one / synthetic-other | ",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(text.contains(", 4 sets): "), "{text}");
    assert!(page.contains("13 of 14") && page.contains("spread of processes"));
}

#[test]
fn contenders_reached_by_url_have_one_process_in_all_sets() {
    let mut results = of_fixture(&fixture());
    for run in &mut results.runs {
        run.begin.runtime = RuntimeKind::External;
    }
    let said = |results: &Results| {
        let analysis = analyse(results);
        [
            markdown(&analysis),
            html(&analysis),
            terminal_table(&analysis, 400),
        ]
    };
    for document in said(&results) {
        let same = "4 sets, all with the same processes, because contenders are reached by URL: ";
        assert!(document.contains(same), "{document}");
        for absent in ["fresh processes. ", "spread of processes"] {
            assert!(!document.contains(absent), "{absent}\n{document}");
        }
    }
    results.runs.retain(|run| run.begin.run.repetition == 1);
    for document in said(&results) {
        assert!(document.contains("One set shows no spread: "), "{document}");
        assert!(!document.contains("another process may differ"));
    }
}

#[test]
fn sittings_that_differ_are_said_and_are_the_observations() {
    const FIRST: [u64; 6] = [5300, 5295, 5305, 5550, 5545, 5555];
    let slices = |requests: u64| vec![(requests, requests * 100_000); 10];
    let of_set = |(repetition, requests)| {
        [
            ("synthetic-fast", repetition, slices(requests)),
            ("synthetic-same-1", repetition, slices(5000)),
        ]
    };
    let played: Vec<_> = (1..).zip(FIRST).flat_map(of_set).collect();
    let mut results = results(&played, Way::Turns);
    let compared = |results: &Results| {
        let found = summary(results);
        compared(&found, "synthetic-fast", "synthetic-same-1").method
    };
    assert_eq!(compared(&results), Method::Paired);
    assert!(!markdown(&analyse(&results)).contains("sitting"));
    for run in &mut results.runs {
        let began = match run.begin.run.repetition {
            1..=3 => "2026-11-25T06:36:41Z",
            _ => "2026-11-25T17:40:03Z",
        };
        run.begin.sitting = Some(began.to_owned());
    }
    assert_eq!(compared(&results), Method::Sittings);
    let sentence = "Sets were measured in 2 sittings: 1, 2 and 3 from 2026-11-25 06:36 UTC on and \
                    4, 5 and 6 from 2026-11-25 17:40 UTC on. Of the variance of ratios from set to \
                    set 100 % is between sittings; for 1 pair that is more than sets explain, and \
                    the interval is over sittings.";
    let analysis = analyse(&results);
    for document in [markdown(&analysis), html(&analysis)] {
        assert!(document.contains(sentence), "{document}");
    }
}

#[test]
fn why_blocks_do_not_count_is_said() {
    let text = markdown(&analyse(&of_fixture(&fixture())));
    let lost = "because a slice was invalid or could not be judged, or a turn had no successful";
    assert!(text.contains(lost), "{text}");
}

#[test]
fn one_that_still_gets_faster_than_the_others_is_degraded() {
    let steady: Vec<Slice> = vec![(10_000, SECOND); 30];
    let cold: Vec<Slice> = (0..30).map(|block| (5000 + 50 * block, SECOND)).collect();
    let said = |played: &[(&'static str, u32, Vec<Slice>)]| {
        let played = results(played, Way::Turns);
        terminal_table(&analyse(&played), 400)
    };
    let times =
        |played: &[(&'static str, u32, Vec<Slice>)]| said(played).matches("not warm").count();
    assert_eq!(
        times(&[("cold", 1, steady.clone()), ("native", 1, steady.clone())]),
        0
    );
    let beside = [("cold", 1, cold.clone()), ("native", 1, steady)];
    let text = said(&beside);
    assert_eq!(times(&beside), 1, "{text}");
    assert!(
        text.contains("the last it served 30 % more requests"),
        "{text}"
    );
    // Both alike: their ratio is what it will be.
    assert_eq!(times(&[("cold", 1, cold.clone()), ("native", 1, cold)]), 0);
}

/// A set over a ladder of two steps: the one is faster at 8 connections, the other at 64, where
/// both serve more.
fn ladder() -> Results {
    let mut runs = Vec::new();
    for repetition in 1..=3 {
        let of_step = |name, order, rates: [u64; 2]| {
            let slices = vec![(rates[1], rates[1] * 100_000); 4];
            let mut run = run(name, repetition, order, &slices, Way::Turns);
            run.begin.run.steps = vec![step(8, 20, true), step(8, 20, false), step(64, 20, false)];
            let measured: Vec<IntervalRecord> = run
                .intervals
                .iter()
                .filter(|slice| !slice.warm_up)
                .cloned()
                .collect();
            for slice in &mut run.intervals {
                slice.connections = 8;
                slice.load.connections.asked = 8;
                slice.load.requests = rates[0];
                for turn in &mut slice.load.turns {
                    (turn.requests, turn.own_cpu_us) = (rates[0], rates[0] * 100);
                }
            }
            run.intervals.extend(measured.into_iter().map(|mut slice| {
                slice.load.step = 2;
                slice
            }));
            run
        };
        runs.push(of_step("synthetic-one", runs.len(), [2000, 4000]));
        runs.push(of_step("synthetic-other", runs.len(), [1000, 5000]));
    }
    Results {
        runs,
        ..Results::default()
    }
}

#[test]
fn each_step_of_a_ladder_has_blocks_and_ratios_are_those_of_the_best() {
    let mut results = ladder();
    let ratio = |results: &Results| {
        let found = summary(results);
        let sets = found.sets.unwrap();
        let kept = sets.each.iter().map(|each| (each.blocks, each.kept));
        (
            sets.pairs[0].ratios[0].ratio.point,
            kept.collect::<Vec<_>>(),
        )
    };
    let (point, kept) = ratio(&results);
    assert!((point - 0.8).abs() < 1e-9, "{point}");
    assert_eq!(kept, [(4, 4); 3]);
    // A slice at 8 connections takes no block from the ratios at 64.
    invalidate(&mut results, 0, 0);
    assert_eq!(ratio(&results), (point, kept));
    let analysis = analyse(&results);
    let ids: Vec<Value> = charts(&analysis)
        .iter()
        .map(|one| one["id"].clone())
        .collect();
    assert!(ids.contains(&"throughput".into()), "{ids:?}");
    assert!(ids.contains(&"ratios".into()), "{ids:?}");
}

/// The charts of the first benchmark on the page.
fn charts(analysis: &Analysis<'_>) -> Vec<Value> {
    let page = html(analysis);
    let begin = page.find("id=\"data\">").unwrap() + "id=\"data\">".len();
    let end = begin + page[begin..].find("</script>").unwrap();
    let data: Value = serde_json::from_str(&page[begin..end]).unwrap();
    data["benchmarks"][0]["charts"].as_array().unwrap().clone()
}

fn chart(analysis: &Analysis<'_>, id: &str) -> Value {
    let mut all = charts(analysis).into_iter();
    all.find(|chart| chart["id"] == id).unwrap()
}

#[test]
fn a_set_has_charts_of_its_own_and_none_over_connections() {
    let results = on_the_host(3, Way::Turns);
    let analysis = analyse(&results);
    let charts = charts(&analysis);
    let ids: Vec<&str> = charts
        .iter()
        .map(|one| one["id"].as_str().unwrap())
        .collect();
    assert_eq!(
        ids,
        [
            "peaks",
            "ratios",
            "settling",
            "turns",
            "startup",
            "warm-up",
            "cpu-by-part"
        ]
    );
    let ratios = &charts[1];
    let rows = ratios["y"]["names"].as_array().unwrap();
    assert_eq!(rows.len(), 2 * (1 + 3));
    assert_eq!(rows[7], "synthetic-same-1");
    assert_eq!(rows[6], "set 1");
    let all = compared(
        &analysis.loads[0].summary,
        "synthetic-same-1",
        "synthetic-fast",
    )
    .ratio;
    let points = ratios["series"][0]["points"].as_array().unwrap();
    let point = points.last().unwrap();
    let interval = all.interval.unwrap();
    let expected = [all.point, f64::NAN, interval.low, interval.high];
    for place in [0, 2, 3] {
        let found = point[place].as_f64().unwrap();
        let percent = 100.0 * (expected[place] - 1.0);
        assert!((found - percent).abs() < 1e-3, "{found} for {percent}");
    }
    // Twenty slices in each of three sets, a gap between these.
    let slices = charts[3]["series"][0]["points"].as_array().unwrap();
    assert_eq!(slices.len(), 3 * 20 + 2);
    assert!(slices[20][1].is_null() && slices[41][1].is_null());
}

#[test]
fn a_block_that_does_not_count_is_hollow() {
    let mut results = on_the_host(1, Way::Turns);
    invalidate(&mut results, 0, 4);
    let turns = chart(&analyse(&results), "turns");
    for series in turns["series"].as_array().unwrap() {
        let points = series["points"].as_array().unwrap().iter();
        let places = points.enumerate().filter(|(_, one)| {
            let label = one[4].as_str().unwrap();
            label.ends_with(", does not count")
        });
        assert_eq!(places.map(|(place, _)| place).collect::<Vec<_>>(), [4]);
    }
}

#[test]
fn thousands_of_turns_are_merged_into_bands() {
    let mut random = Random::new(5);
    let mut turns = |peak: f64| {
        (0..1500)
            .map(|block| slice(peak, block, &mut random))
            .collect()
    };
    let played = [("a", 1, turns(5000.0)), ("b", 1, turns(6000.0))];
    let results = results(&played, Way::Turns);
    let chart = chart(&analyse(&results), "turns");
    let points = chart["series"][0]["points"].as_array().unwrap();
    assert!((60..=120).contains(&points.len()), "{}", points.len());
    for point in points {
        let at = |place: usize| point[place].as_f64().unwrap();
        assert!(at(2) < at(1) && at(1) < at(3), "{point}");
    }
}

#[test]
fn the_ratio_settles_set_by_set() {
    let results = on_the_host(4, Way::Turns);
    let settling = chart(&analyse(&results), "settling");
    let series = settling["series"].as_array().unwrap();
    assert!(!series.is_empty());
    let text = series[0].to_string();
    assert!(text.contains("2.0") && text.contains("4.0"), "{text}");
}
