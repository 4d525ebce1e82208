//! Sets: contenders in turn on a host whose speed changes.

use std::fs;
use std::path::Path;
use std::time::Duration;

use bakeoff_analysis::{Analysis, AnalysisInput, BenchmarkSummary, turns_of};
use bakeoff_base::random::Random;
use bakeoff_model::load::histogram::Histogram;
use bakeoff_model::load::{CpuTime, Pace, TurnCount};
use bakeoff_model::record::failure::{Failure, Stage};
use bakeoff_model::record::{IntervalRecord, Others, Outcome, Results, RunRecords};
use bakeoff_model::suite::Step;
use bakeoff_model::suite::conditions::RuntimeKind;
use bakeoff_model::validity::{self, Finding, Validity};
use bakeoff_report::{html, markdown, terminal_table};
use bakeoff_stats::{Comparison, Method, Tie, Verdict};
use serde_json::Value;

use crate::synthetic::{Contender, contender, load, run_of_steps};

const SECOND: u64 = 1_000_000_000;

/// A turn of one second: requests and CPU of the contender, whole us in ns.
pub(crate) type Slice = (u64, u64);

/// How contenders are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// One after the other.
    Whole,
    /// In turns, one in each slice.
    Turns,
}

/// Results with a run for each of `played`: the contender, the repetition and its slices.
pub(crate) fn results(played: &[(&'static str, u32, Vec<Slice>)], way: Way) -> Results {
    let runs = played.iter().enumerate();
    let runs =
        runs.map(|(order, (name, repetition, slices))| run(name, *repetition, order, slices, way));
    Results {
        runs: runs.collect(),
        ..Results::default()
    }
}

fn step(connections: u32, seconds: u64, warm_up: bool) -> Step {
    Step {
        connections,
        duration: Duration::from_secs(seconds),
        pace: Pace::Closed,
        warm_up,
        at_least: None,
    }
}

fn run(
    name: &'static str,
    repetition: u32,
    order: usize,
    slices: &[Slice],
    way: Way,
) -> RunRecords {
    let steps = vec![step(64, 20, true), step(64, 20, false)];
    let last = steps.len() - 1;
    let one = contender(name, 5000.0, 100.0);
    let mut records = run_of_steps("locations", &one, repetition, order, steps);
    records.begin.run.in_turns = way == Way::Turns;
    let (measured, warm_up): (Vec<_>, Vec<_>) = records
        .intervals
        .into_iter()
        .partition(|slice| slice.load.step == last);
    records.intervals = warm_up
        .into_iter()
        .filter(|slice| slice.load.step == 0)
        .collect();
    for (block, slice) in (0..).zip(slices) {
        let mut made = measured[0].clone();
        play(&one, &mut made, block, *slice);
        if way == Way::Turns {
            take_turn(&mut made, block, *slice);
        }
        records.intervals.push(made);
    }
    records
}

/// Makes a slice one of that second with the given requests and CPU time.
fn play(one: &Contender, made: &mut IntervalRecord, block: u32, (requests, cpu_ns): Slice) {
    let rate = f64::from(u32::try_from(requests).unwrap());
    let begin_ns = (40 + u64::from(block)) * SECOND;
    made.load = load(one, made.load.step, block, begin_ns, rate, 64);
    let at = |ns| CpuTime {
        user_ns: ns,
        system_ns: 0,
    };
    let start_ns = u64::from(block) * SECOND;
    made.contender_before.as_mut().unwrap().cpu = Some(at(start_ns));
    made.contender_after.as_mut().unwrap().cpu = Some(at(start_ns + cpu_ns));
}

/// The slice is one turn, of this block. What the contender did outside of it is not in the ratios.
fn take_turn(made: &mut IntervalRecord, block: u32, (requests, cpu_ns): Slice) {
    made.load.turns = vec![TurnCount {
        requests,
        own_cpu_us: cpu_ns / 1000,
        ..turn(block.into(), 0)
    }];
    made.others = Some(Others::default());
    let after = made.contender_after.as_mut().unwrap();
    after.cpu.as_mut().unwrap().system_ns += SECOND / 50;
}

/// A turn of a second with `requests` requests, 100 us of CPU each.
fn turn(block: u64, requests: u64) -> TurnCount {
    TurnCount {
        block,
        start_us: block * 3_000_000,
        length_us: 1_000_000,
        drain_us: 400,
        requests,
        failed: 0,
        own_cpu_us: requests * 100,
        others_cpu_us: 0,
    }
}

/// Adds a second of open load, in which one request in fifty takes ten times as long.
pub(crate) fn add_open_load(run: &mut RunRecords, time_ns: u64) {
    const REQUESTS: u64 = 12_000;
    let (mut times, mut lags) = (Histogram::new(), Histogram::new());
    for request in 0..REQUESTS {
        times.record(if request % 50 == 0 {
            10 * time_ns
        } else {
            time_ns
        });
        lags.record(1000);
    }
    let mut slice = run.intervals.last().unwrap().clone();
    slice.latency_rate_per_s = Some(12_000.0);
    let load = &mut slice.load;
    load.step = run.begin.run.steps.len();
    load.turns = Vec::new();
    load.requests = REQUESTS;
    load.offered = Some(REQUESTS);
    load.service_time = times.clone();
    load.response_time = Some(times);
    load.send_lag = Some(lags);
    run.intervals.push(slice);
}

pub(crate) fn analyse(results: &Results) -> Analysis<'_> {
    Analysis::of(&AnalysisInput {
        results,
        title: "Synthetic sets",
        rounds: &[],
    })
}

pub(crate) fn summary(results: &Results) -> BenchmarkSummary {
    analyse(results).loads[0].summary.clone()
}

/// One against another by throughput, in the first table.
pub(crate) fn compared(summary: &BenchmarkSummary, one: &str, other: &str) -> Comparison {
    let table = &summary.tables[0];
    let place = |label: &str| table.rows.iter().position(|row| row.label == label);
    let (one, other) = (place(one).unwrap(), place(other).unwrap());
    *table.throughput_matrix.pairs.get(one, other).unwrap()
}

pub(crate) fn invalidate(results: &mut Results, run: usize, block: u32) {
    let slices = &mut results.runs[run].intervals;
    let slice = slices
        .iter_mut()
        .find(|slice| !slice.warm_up && slice.load.slice == block)
        .unwrap();
    slice.validity = Validity::recorded(validity::FairnessVerdict::Invalid, "stalled");
}

/// A host whose speed goes up and down by two thirds within minutes.
fn host(second: u32) -> f64 {
    0.6 + 0.4 * (f64::from(second) / 37.0).sin()
}

/// A slice of a contender that serves `peak` on an undisturbed host: requests, and CPU
/// of 100 us each.
fn slice(peak: f64, second: u32, random: &mut Random) -> Slice {
    let noise = 1.0 + 0.08 * (random.unit() - 0.5);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "made-up numbers are small and positive"
    )]
    let requests = (peak * host(second) * noise) as u64;
    (requests, requests * 100_000)
}

/// Two that are the same, and one that is 7 % faster. Each process is its own by up to 0.75 %.
const CONTENDERS: [(&str, f64); 3] = [
    ("synthetic-fast", 5350.0),
    ("synthetic-same-1", 5000.0),
    ("synthetic-same-2", 5000.0),
];
const BLOCKS: u32 = 20;

/// The three on the host that changes, as often as asked: in turn, slice by slice, or one whole
/// run after the other. Both take the same time.
fn on_the_host(repetitions: u32, way: Way) -> Results {
    let mut random = Random::new(7);
    let mut played = Vec::new();
    for repetition in 0..repetitions {
        // Whose turn is first in each block.
        let drawn = |_| u32::try_from(random.below(3)).unwrap();
        let first: Vec<u32> = (0..BLOCKS).map(drawn).collect();
        for (place, (name, peak)) in (0..).zip(CONTENDERS) {
            let own = peak * (1.0 + 0.015 * (random.unit() - 0.5));
            let turn = |block: u32| (place + first[block as usize]) % 3;
            let second = |block: u32| match way {
                Way::Whole => (repetition * 3 + place) * BLOCKS + block,
                Way::Turns => (repetition * BLOCKS + block) * 3 + turn(block),
            };
            let slices = (0..BLOCKS).map(|block| slice(own, second(block), &mut random));
            played.push((name, repetition + 1, slices.collect()));
        }
    }
    results(&played, way)
}

#[test]
fn ratios_within_blocks_see_what_whole_runs_do_not() {
    let (turns, whole) = (on_the_host(5, Way::Turns), on_the_host(5, Way::Whole));
    let found = summary(&turns);
    for same in ["synthetic-same-1", "synthetic-same-2"] {
        let fast = compared(&found, "synthetic-fast", same);
        assert_eq!((fast.method, fast.ratio.runs), (Method::Paired, 5));
        let interval = fast.ratio.interval.unwrap();
        assert!(interval.contains(1.07) && !interval.contains(1.0));
        assert!(fast.ratio.relative_half_width().unwrap() < 0.025);
        assert_eq!(fast.verdict, Verdict::Faster, "{fast:?}");
        // Three pairs are one family.
        assert!(fast.p_adjusted > fast.p_value);
        let runs = compared(&summary(&whole), "synthetic-fast", same);
        assert_eq!(runs.verdict, Verdict::Inconclusive, "{runs:?}");
        assert!(runs.ratio.relative_half_width().unwrap() > 0.1, "{runs:?}");
    }
    let a_a = compared(&found, "synthetic-same-1", "synthetic-same-2");
    assert!(a_a.ratio.interval.unwrap().contains(1.0), "{a_a:?}");
    let told = matches!(a_a.verdict, Verdict::Faster | Verdict::Slower);
    assert!(!told, "{a_a:?}");
    let rows = &found.tables[0].rows;
    assert_eq!(
        (rows[0].standing.rank, rows[0].standing.tie),
        (Some(1), Tie::Alone)
    );
    assert!(rows[1].standing.rank == Some(2) && rows[2].standing.rank == Some(2));
    assert!(summary(&whole).sets.is_none());
}

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

const FIXED: [&str; 2] = ["synthetic-one", "synthetic-other"];

fn fixture() -> Value {
    serde_json::from_str(include_str!("../fixtures/sets.json")).unwrap()
}

fn numbers(list: &Value) -> Vec<u64> {
    let list = list.as_array().unwrap().iter();
    list.map(|number| number.as_u64().unwrap()).collect()
}

/// The two contenders of the fixture, one slice invalid as it says.
fn of_fixture(fixture: &Value) -> Results {
    let mut played = Vec::new();
    for (place, name) in FIXED.into_iter().enumerate() {
        let requests = fixture["requests"][place].as_array().unwrap();
        let cpu_ns = fixture["cpu_ns"][place].as_array().unwrap();
        for (repetition, (requests, cpu_ns)) in (1..).zip(requests.iter().zip(cpu_ns)) {
            let slices = numbers(requests).into_iter().zip(numbers(cpu_ns));
            played.push((name, repetition, slices.collect()));
        }
    }
    let mut results = results(&played, Way::Turns);
    let lost = numbers(&fixture["lost"]);
    let set = usize::try_from(lost[0]).unwrap();
    let block = u32::try_from(lost[1]).unwrap();
    invalidate(&mut results, played.len() / 2 + set, block);
    results
}

#[track_caller]
fn close(found: f64, expected: &Value) {
    let expected = expected.as_f64().unwrap();
    let far = (found - expected).abs() / expected.abs();
    assert!(far < 1e-9, "found {found}, expected {expected}");
}

#[track_caller]
fn check_comparison(found: &Comparison, expected: &Value) {
    assert_eq!(found.method, Method::Paired);
    close(found.ratio.point, &expected["ratio"]);
    let interval = found.ratio.interval.unwrap();
    close(interval.low, &expected["interval"][0]);
    close(interval.high, &expected["interval"][1]);
    close(found.p_value.unwrap(), &expected["p_value"]);
}

#[test]
fn figures_are_those_of_scipy_and_a_block_is_lost_for_all() {
    let fixture = fixture();
    let results = of_fixture(&fixture);
    let found = summary(&results);
    let [one, other] = FIXED;
    let throughput = &fixture["throughput"];
    check_comparison(&compared(&found, one, other), throughput);
    let cpu = found.tables[0].cpu_matrix.pairs.get(0, 1).unwrap();
    check_comparison(cpu, &fixture["cpu"]);
    let sets = found.sets.as_ref().unwrap();
    let kept = sets.each.iter().map(|each| (each.blocks, each.kept));
    assert_eq!(
        kept.collect::<Vec<_>>(),
        [(12, 12), (10, 10), (14, 13), (11, 11)]
    );
    let [pair] = sets.pairs.as_slice() else {
        panic!("{sets:?}");
    };
    assert_eq!((pair.first.as_str(), pair.second.as_str()), (one, other));
    for (ratio, expected) in pair
        .ratios
        .iter()
        .zip(throughput["ratios"].as_array().unwrap())
    {
        close(ratio.ratio.point, expected);
    }
    close(pair.components.within, &throughput["within"]);
    close(pair.components.between.unwrap(), &throughput["between"]);
    // With the slice they would be others.
    let all = Results {
        runs: results.runs.iter().cloned().map(made_valid).collect(),
        ..Results::default()
    };
    let all = compared(&summary(&all), one, other).ratio.point;
    let expected = throughput["ratio"].as_f64().unwrap();
    assert!((all - expected).abs() > 1e-6, "{all}");
}

fn made_valid(mut run: RunRecords) -> RunRecords {
    for slice in &mut run.intervals {
        slice.validity = Validity::fair();
    }
    run
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

#[test]
fn one_that_fails_takes_only_itself_out() {
    let mut results = on_the_host(4, Way::Turns);
    // The second one of the same in the third set.
    let failure = Failure::new(Stage::Load, "killed for memory");
    results.runs[8].end.as_mut().unwrap().outcome = Outcome::Failed(failure);
    results.runs[8].intervals.truncate(6);
    let found = summary(&results);
    let of = |one, other| compared(&found, one, other).ratio.runs;
    assert_eq!(of("synthetic-fast", "synthetic-same-1"), 4);
    assert_eq!(of("synthetic-fast", "synthetic-same-2"), 3);
    let each = &found.sets.as_ref().unwrap().each;
    assert!(each.iter().all(|each| (each.blocks, each.kept) == (20, 20)));
}

#[test]
fn one_without_a_valid_number_does_not_void_the_others_blocks() {
    let mut results = on_the_host(3, Way::Turns);
    for block in 0..BLOCKS / 2 {
        invalidate(&mut results, 2, block);
    }
    let found = summary(&results);
    assert_eq!(found.unranked[0].label, "synthetic-same-2");
    let kept = found.sets.as_ref().unwrap().each.iter();
    assert!(kept.clone().all(|each| each.kept == 20));
}

/// Slices in which the load generator was not running are lost for both, and mark neither; those
/// whose responses were wrong mark the contender.
#[test]
fn a_disturbance_of_the_load_generator_is_no_mark_on_a_contender() {
    let missing = || Finding::ConcurrencyMissing {
        found: 39.1,
        asked: 64.0,
    };
    let wrong = || Finding::WrongBodies { count: 1 };
    let check = |slices: std::ops::Range<usize>, finding: &dyn Fn() -> Finding, is_ranked| {
        let mut runs = vec![
            in_slices("synthetic-one", 0, &[20; 48]),
            in_slices("synthetic-other", 1, &[10; 48]),
        ];
        let measured = runs[1].intervals.iter_mut().filter(|slice| !slice.warm_up);
        let (skipped, count) = (slices.start, slices.len());
        for slice in measured.skip(skipped).take(count) {
            slice.validity = Validity::of(vec![validity::Reason {
                verdict: validity::FairnessVerdict::Invalid,
                finding: finding(),
            }]);
        }
        let found = summary(&Results {
            runs,
            ..Results::default()
        });
        assert_eq!(found.unranked.is_empty(), is_ranked, "{:?}", found.unranked);
        let kept = found.sets.as_ref().unwrap().each[0].kept;
        assert_eq!(kept, if is_ranked { 48 - 4 * count } else { 48 });
    };
    check(2..8, &missing, true);
    check(2..9, &missing, false);
    check(2..3, &wrong, true);
    check(2..5, &wrong, false);
}

/// Ten contenders; in the second set two slices of each are invalid, another's in each block.
#[test]
fn a_set_of_which_no_block_counts_has_no_say() {
    const NAMES: [&str; 10] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
    let mut played = Vec::new();
    let mut random = Random::new(3);
    for repetition in 1..=3 {
        for name in NAMES {
            let slices = (0..BLOCKS).map(|block| slice(5000.0, block, &mut random));
            played.push((name, repetition, slices.collect()));
        }
    }
    let mut results = results(&played, Way::Turns);
    for block in 0..BLOCKS {
        let run = NAMES.len() + block as usize / 2;
        invalidate(&mut results, run, block);
    }
    let found = summary(&results);
    let kept = found.sets.as_ref().unwrap().each.iter();
    assert_eq!(kept.map(|each| each.kept).collect::<Vec<_>>(), [20, 0, 20]);
    assert_eq!(compared(&found, "a", "b").ratio.runs, 2);
    assert!(
        found.tables[0]
            .rows
            .iter()
            .all(|row| row.whole.completed == 2)
    );
    results.runs.retain(|run| run.begin.run.repetition == 2);
    let found = summary(&results);
    assert!(found.tables.is_empty());
    assert_eq!(
        found.unranked[0].reason,
        "no block of its sets counts, for example: invalid: stalled"
    );
}

/// Slices of a second with four turns each: of a contender with that number of requests in each
/// turn.
fn in_slices(name: &'static str, order: usize, requests: &[u64]) -> RunRecords {
    const TURNS: usize = 4;
    let slices: Vec<Slice> = requests
        .chunks(TURNS)
        .map(|turns| (turns.iter().sum(), 0))
        .collect();
    let mut run = run(name, 1, order, &slices, Way::Turns);
    let measured = run.intervals.iter_mut().filter(|slice| !slice.warm_up);
    for (place, (slice, requests)) in measured.zip(requests.chunks(TURNS)).enumerate() {
        let first = (place * TURNS) as u64;
        let quarter = |block, requests| TurnCount {
            length_us: 1_000_000 / TURNS as u64,
            ..turn(block, requests)
        };
        let turns = (0..).zip(requests);
        slice.load.turns = turns
            .map(|(block, requests)| quarter(first + block, *requests))
            .collect();
    }
    run
}

#[test]
fn all_turns_of_a_slice_are_lost_with_it_and_one_without_success_alone() {
    // Twelve slices of four blocks.
    let (mut one, mut other) = ([20; 48], [10; 48]);
    (one[0], one[9]) = (40, 0);
    other[8..12].fill(99);
    other[16..20].fill(99);
    let mut results = Results {
        runs: vec![
            in_slices("synthetic-one", 0, &one),
            in_slices("synthetic-other", 1, &other),
        ],
        ..Results::default()
    };
    // The fifth slice of the other stalls, and with it go its four blocks; of the third one only
    // that block is lost in which the one has no rate.
    invalidate(&mut results, 1, 4);
    let found = summary(&results);
    let sets = found.sets.as_ref().unwrap();
    assert_eq!((sets.each[0].blocks, sets.each[0].kept), (48, 48 - 4 - 1));
    let logs = 4.0_f64.ln() + 39.0 * 2.0_f64.ln() + 3.0 * (20.0_f64 / 99.0).ln();
    let ratio = (logs / 43.0).exp();
    let of_pair = sets.pairs[0].ratios[0].ratio.point;
    assert!((of_pair - ratio).abs() < 1e-9, "{of_pair} for {ratio}");
    let compared = compared(&found, "synthetic-one", "synthetic-other");
    assert!((compared.ratio.point - ratio).abs() < 1e-9, "{compared:?}");
    // Each request took as much CPU, whatever the contender did outside of its turns.
    let cpu = found.tables[0].cpu_matrix.pairs.get(0, 1).unwrap();
    assert!((cpu.ratio.point - 1.0).abs() < 1e-9, "{cpu:?}");
}

#[test]
fn a_turn_has_a_rate_and_where_it_was_read_a_cost() {
    let mut run = in_slices("synthetic-one", 0, &[40, 0, 20]);
    let slice = run.intervals.last_mut().unwrap();
    slice.load.turns[0].failed = 10;
    slice.load.turns[2].own_cpu_us = 0;
    slice.load.turns[2].length_us = 500_000;
    let found = turns_of(slice);
    let found: Vec<_> = found
        .iter()
        .map(|turn| (turn.block, turn.requests_per_s, turn.cpu_us))
        .collect();
    // Failures cost CPU, too; a turn without a success has no rate.
    assert_eq!(found, [(0, 160.0, Some(80.0)), (2, 40.0, None)]);
    slice.load.turns.clear();
    assert_eq!(turns_of(slice), [], "whole runs have none");
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
        ["peaks", "ratios", "settling", "turns", "startup", "warm-up"]
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

/// A set of two CPU-bound contenders, of which each turn had another share of the core, and one of
/// them takes twice the CPU time for each request.
fn disturbed(percent: u64) -> Results {
    let mut runs = Vec::new();
    for repetition in 1..=3 {
        for (name, cpu_us) in [("synthetic-one", 100), ("synthetic-other", 200)] {
            let mut run = in_slices(name, runs.len(), &[1; 40]);
            run.begin.run.repetition = repetition;
            run.begin.run.id = format!("{name}.r{repetition}");
            run.begin.run.limits.cpus = Some(1.0);
            let slices = run.intervals.iter_mut().filter(|slice| !slice.warm_up);
            let turns = slices.flat_map(|slice| &mut slice.load.turns);
            for (turn, share) in turns.zip([100, 100, 70, 100, 50].into_iter().cycle()) {
                // One of the two had less of the core in every second turn.
                let lost = u64::from(turn.block % 2 == cpu_us / 100 % 2) * 20;
                turn.requests = 25 * percent * (share - lost) / cpu_us;
                turn.own_cpu_us = turn.requests * cpu_us;
            }
            runs.push(run);
        }
    }
    Results {
        runs,
        ..Results::default()
    }
}

#[test]
fn contenders_that_are_cpu_bound_are_compared_by_cpu_time() {
    for (percent, is_bound) in [(100, true), (90, false)] {
        let found = summary(&disturbed(percent));
        let sets = found.sets.as_ref().unwrap();
        assert_eq!(sets.by_cpu_time, is_bound, "{percent}");
        let ratio = compared(&found, "synthetic-one", "synthetic-other")
            .ratio
            .point;
        assert_eq!((ratio - 2.0).abs() < 1e-6, is_bound, "{ratio}");
        let fastest = &found.tables[0].rows[0];
        assert_eq!(fastest.label, "synthetic-one");
        let is_of_a_full_core = (fastest.peak.throughput.estimate.point - 10_000.0).abs() < 1.0;
        assert_eq!(
            is_of_a_full_core, is_bound,
            "{:?}",
            fastest.peak.throughput.estimate
        );
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
