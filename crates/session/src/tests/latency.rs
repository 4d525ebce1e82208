//! The open load of a set after its turns: which contenders are loaded, at which rate, and how this
//! is recorded.

use std::sync::Arc;
use std::time::Duration;

use bakeoff_model::plan::LatencyLoad;
use bakeoff_model::record::{IntervalRecord, Outcome, RunRecords};

use super::fakes::{GOOD, Log, Script, play};
use super::turns::{recorded, turns};
use crate::contracts::PendingRun;

/// Slices of each contender: at the rate of fakes the maximum, after the warm-up.
const SLICES: usize = 1 + 6;

/// The run of `contender` in a set with open load after it.
fn compared(contender: &str) -> PendingRun {
    let mut pending = turns(contender, 1);
    pending.run.latency = Some(LatencyLoad {
        connections: 8,
        duration: Duration::from_secs(2),
        slice: Duration::from_secs(1),
    });
    pending
}

fn open(run: &RunRecords) -> Vec<&IntervalRecord> {
    let slices = run.intervals.iter();
    slices
        .filter(|slice| slice.latency_rate_per_s.is_some())
        .collect()
}

#[tokio::test(start_paused = true)]
async fn all_are_loaded_at_one_rate_in_a_step_after_the_planned_ones() {
    let results = recorded(GOOD, &[compared("a"), compared("b")]).await;
    for (side, run) in (0..).zip(&results.runs) {
        assert_eq!(run.intervals.len(), 5 + SLICES, "{}", run.begin.run.id);
        let open = open(run);
        let places: Vec<(usize, u32, bool, u64)> = open
            .iter()
            .map(|slice| {
                let length_ms = slice.load.length_ns() / 1_000_000;
                (slice.load.step, slice.load.slice, slice.warm_up, length_ms)
            })
            .collect();
        let cycles = (1..=6).map(|cycle| (2, cycle, false, 1000));
        let expect: Vec<_> = std::iter::once((2, 0, true, 200)).chain(cycles).collect();
        assert_eq!(places, expect);
        for slice in &open {
            assert_eq!((slice.connections, slice.load.side), (8, side));
            // Two requests in each turn of half a second, of two contenders.
            let rate_per_s = slice.latency_rate_per_s.unwrap();
            assert!((rate_per_s - 0.5 * 2.0).abs() < 1e-9, "{rate_per_s}");
            assert_eq!(slice.load.offered, Some(1));
            let others = slice.others.unwrap();
            assert_eq!((others.requests, others.cpu_ns), (0, 1000), "it idles");
        }
        // Each of the six slices of the other, but for those after its own last one.
        let unloaded = open.iter().filter_map(|slice| slice.unloaded);
        let unloaded_ns: u64 = unloaded.map(|unloaded| unloaded.cpu_ns).sum();
        assert!((5000..=6_000).contains(&unloaded_ns), "{unloaded_ns}");
        assert_eq!(run.end.as_ref().unwrap().outcome, Outcome::Completed);
    }
}

#[tokio::test(start_paused = true)]
async fn it_has_a_load_generator_of_its_own_and_the_same_instances() {
    let mut log = Log::default();
    play(GOOD, &[compared("a"), compared("b")], &mut log)
        .await
        .unwrap();
    let journal = Arc::clone(&log.journal);
    let words = journal.lock().unwrap();
    let count = |wanted: &str| words.iter().filter(|word| *word == wanted).count();
    assert_eq!(count("load 2"), 2, "{words:?}");
    assert_eq!(count("stage start"), 2);
    // The steps, and for the warm-up and the rest of the open load one more each.
    assert_eq!(count("step 8"), 2 * (2 + 2));
}

#[tokio::test(start_paused = true)]
async fn one_that_was_lost_takes_no_part() {
    let script = Script {
        killed_after_samples: 7,
        victim: "b",
        ..GOOD
    };
    let runs = [compared("a"), compared("b"), compared("c")];
    let results = recorded(script, &runs).await;
    let slices: Vec<usize> = results.runs.iter().map(|run| open(run).len()).collect();
    assert_eq!(slices, [SLICES, 0, SLICES]);
    let sides = results.runs.iter().flat_map(open);
    let sides: Vec<u32> = sides.map(|slice| slice.load.side).collect();
    assert_eq!(sides, [[0; SLICES], [1; SLICES]].concat());
}

#[tokio::test(start_paused = true)]
async fn one_that_dies_in_it_has_failed_and_the_others_have_not() {
    // Two samples before the load, one for its log, seven in the turns, another one for the log of
    // the second load.
    let script = Script {
        killed_after_samples: 12,
        victim: "b",
        ..GOOD
    };
    let results = recorded(script, &[compared("a"), compared("b")]).await;
    let completed: Vec<bool> = results
        .runs
        .iter()
        .map(|run| run.end.as_ref().unwrap().outcome == Outcome::Completed)
        .collect();
    assert_eq!(completed, [true, false]);
    assert_eq!(open(&results.runs[0]).len(), SLICES);
}

#[tokio::test(start_paused = true)]
async fn without_a_plan_for_it_there_is_none() {
    let results = recorded(GOOD, &[turns("a", 1), turns("b", 1)]).await;
    assert!(results.runs.iter().all(|run| open(run).is_empty()));
}
