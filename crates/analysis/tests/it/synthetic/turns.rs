//! Made-up results: sets of turns on a host whose speed changes.

use std::time::Duration;

use bakeoff_analysis::{Analysis, AnalysisInput, BenchmarkSummary};
use bakeoff_base::random::Random;
use bakeoff_model::load::histogram::Histogram;
use bakeoff_model::load::{CpuTime, Pace, TurnCount};
use bakeoff_model::record::{IntervalRecord, Others, Results, RunRecords};
use bakeoff_model::suite::Step;
use bakeoff_model::validity::{self, Validity};
use bakeoff_stats::Comparison;
use serde_json::Value;

use crate::synthetic::{Contender, contender, load, run_of_steps};

pub(crate) const SECOND: u64 = 1_000_000_000;

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

pub(crate) fn step(connections: u32, seconds: u64, warm_up: bool) -> Step {
    Step {
        connections,
        duration: Duration::from_secs(seconds),
        pace: Pace::Closed,
        warm_up,
        at_least: None,
    }
}

pub(crate) fn run(
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
pub(crate) fn play(
    one: &Contender,
    made: &mut IntervalRecord,
    block: u32,
    (requests, cpu_ns): Slice,
) {
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
pub(crate) fn take_turn(made: &mut IntervalRecord, block: u32, (requests, cpu_ns): Slice) {
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
pub(crate) fn turn(block: u64, requests: u64) -> TurnCount {
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
pub(crate) fn host(second: u32) -> f64 {
    0.6 + 0.4 * (f64::from(second) / 37.0).sin()
}

/// A slice of a contender that serves `peak` on an undisturbed host: requests, and CPU
/// of 100 us each.
pub(crate) fn slice(peak: f64, second: u32, random: &mut Random) -> Slice {
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
pub(crate) const CONTENDERS: [(&str, f64); 3] = [
    ("synthetic-fast", 5350.0),
    ("synthetic-same-1", 5000.0),
    ("synthetic-same-2", 5000.0),
];

pub(crate) const BLOCKS: u32 = 20;

/// The three on the host that changes, as often as asked: in turn, slice by slice, or one whole
/// run after the other. Both take the same time.
pub(crate) fn on_the_host(repetitions: u32, way: Way) -> Results {
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

pub(crate) const FIXED: [&str; 2] = ["synthetic-one", "synthetic-other"];

pub(crate) fn fixture() -> Value {
    serde_json::from_str(include_str!("../../fixtures/sets.json")).unwrap()
}

pub(crate) fn numbers(list: &Value) -> Vec<u64> {
    let list = list.as_array().unwrap().iter();
    list.map(|number| number.as_u64().unwrap()).collect()
}

/// The two contenders of the fixture, one slice invalid as it says.
pub(crate) fn of_fixture(fixture: &Value) -> Results {
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
