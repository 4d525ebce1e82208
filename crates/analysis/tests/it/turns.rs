//! Sets: contenders in turn on a host whose speed changes.

use bakeoff_analysis::turns_of;
use bakeoff_base::random::Random;
use bakeoff_model::load::TurnCount;
use bakeoff_model::record::failure::{Failure, Stage};
use bakeoff_model::record::{Outcome, Results, RunRecords};
use bakeoff_model::validity::{self, Finding, Validity};
use bakeoff_stats::{Comparison, Method, Tie, Verdict};
use serde_json::Value;

use crate::synthetic::turns::{
    BLOCKS, FIXED, Slice, Way, compared, fixture, invalidate, of_fixture, on_the_host, results,
    run, slice, summary, turn,
};

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

/// A set of two CPU-bound contenders: each turn had another share of the core, and one contender
/// takes twice the CPU time for each request.
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
