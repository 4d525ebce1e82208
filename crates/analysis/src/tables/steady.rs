//! Warm-up: the throughput of each slice at the start of the load, when it became steady, and the
//! cost until then.

use bakeoff_model::record::IntervalRecord;
use bakeoff_stats::{SteadyState, steady_state};
use bakeoff_validity::is_warm;

use crate::data::benchmark::{BenchmarkData, RunData};
use crate::data::number::{as_f64, seconds};

/// Change of level below which there is none, for warm-up.
const RELEVANCE: f64 = 0.03;

/// The warm-up of all runs of a case.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseWarmUp {
    /// Contender and parameters.
    pub label: String,
    /// Warm-ups of the runs with enough slices.
    pub runs: Vec<WarmUp>,
}

/// When a run was warm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum WarmUp {
    /// The throughput still changed at the end of the slices, or a warm-up until steady ended
    /// before the contender was warm.
    NotSteady {
        /// How long the throughput was observed, s.
        watched_s: f64,
    },
    /// The run was warm before its end.
    Steady {
        /// Time under load until then, s.
        after_s: f64,
        /// Successful requests until then.
        requests: u64,
        /// CPU time since the contender started until then, s.
        cpu_s: Option<f64>,
    },
}

/// Returns the warm-up of every case that has a run with enough slices.
pub fn warm_ups(benchmark: &BenchmarkData<'_>) -> Vec<CaseWarmUp> {
    let cases = benchmark.cases.iter().map(|case| CaseWarmUp {
        label: case.label.clone(),
        runs: case.runs.iter().filter_map(warm_up).collect(),
    });
    cases.filter(|case| !case.runs.is_empty()).collect()
}

/// Returns the warm-up of a run; `None` if there are too few slices.
pub fn warm_up(run: &RunData<'_>) -> Option<WarmUp> {
    let slices = first_load(run);
    let series: Vec<f64> = slices.iter().map(|(_, throughput)| *throughput).collect();
    let watched_s = slices.last()?.0;
    let first = first_index(run);
    let warmth = run.records.intervals.iter().find_map(|slice| slice.warmth);
    let from_index = match (warmth, steady_state(&series, RELEVANCE)) {
        (Some(warmth), _) if !is_warm(&warmth) => return Some(WarmUp::NotSteady { watched_s }),
        // The warm-up ended when the contender was warm: if no earlier point is found, then at its
        // end.
        (Some(_), None | Some(SteadyState::NeverSteady)) => slices.len(),
        (None, None) => return None,
        (None, Some(SteadyState::NeverSteady)) => return Some(WarmUp::NotSteady { watched_s }),
        (_, Some(SteadyState::Steady { from_index })) => from_index,
    };
    let all = &run.records.intervals;
    let before = &all[..(first + from_index).min(all.len())];
    let spent = |slice: &IntervalRecord| slice.contender_before.as_ref()?.cpu;
    let cpu = all.get(before.len()).and_then(spent);
    let began_ns = all.first().map_or(0, |slice| slice.load.start_ns);
    let ended_ns = before.last().map_or(began_ns, |slice| slice.load.end_ns);
    Some(WarmUp::Steady {
        after_s: seconds(ended_ns.saturating_sub(began_ns)),
        requests: before.iter().map(|slice| slice.load.requests).sum(),
        cpu_s: cpu.map(|cpu| seconds(cpu.total_ns())),
    })
}

/// Returns the warm-up step that ends when the contender is warm.
fn until_warm(run: &RunData<'_>) -> Option<usize> {
    let steps = &run.records.begin.run.steps;
    steps.iter().position(|step| step.at_least.is_some())
}

/// Returns the index of the slice with which the first load starts.
fn first_index(run: &RunData<'_>) -> usize {
    let slices = &run.records.intervals;
    let begins = |step| slices.iter().position(|slice| slice.load.step == step);
    until_warm(run).and_then(begins).unwrap_or(0)
}

/// Returns the end of each slice in seconds since the load started, and its throughput: for the
/// warm-up that ends when the contender is warm, else for the leading steps with the same load; in
/// a set, for those before the first block.
pub fn first_load(run: &RunData<'_>) -> Vec<(f64, f64)> {
    let slices = &run.records.intervals[first_index(run).min(run.records.intervals.len())..];
    let (Some(first), Some(began)) = (slices.first(), run.records.intervals.first()) else {
        return Vec::new();
    };
    let paces = &run.records.begin.run.steps;
    let pace = |step: usize| paces.get(step).map(|step| step.pace);
    let until_warm = until_warm(run);
    let same = slices.iter().take_while(|slice| {
        slice.connections == first.connections
            && pace(slice.load.step) == pace(first.load.step)
            && until_warm.is_none_or(|step| step == slice.load.step)
    });
    let point = |slice: &IntervalRecord| {
        let load = &slice.load;
        let length = seconds(load.end_ns.saturating_sub(load.start_ns));
        let at = seconds(load.end_ns.saturating_sub(began.load.start_ns));
        (length > 0.0).then(|| (at, as_f64(load.requests) / length))
    };
    same.filter_map(point).collect()
}
