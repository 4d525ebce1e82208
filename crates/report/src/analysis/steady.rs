//! Warm-up: the throughput of each slice at the beginning of the load, and from when on it was
//! steady.

use bakeoff_stats::{SteadyState, steady_state};

use super::benchmark::{BenchmarkData, RunData};
use crate::number::{as_f64, seconds};

/// A change of level below this is none when warm-up is looked for.
const RELEVANCE: f64 = 0.03;

/// The warm-up of all runs of a case.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CaseWarmUp {
    /// Contender and parameters.
    pub(crate) label: String,
    /// One for each run that has enough slices to say.
    pub(crate) runs: Vec<WarmUp>,
}

/// When a run was warm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum WarmUp {
    /// The throughput still changed at the end of the slices.
    NotSteady {
        /// How long it was watched, s.
        watched_s: f64,
    },
    Steady {
        /// Time under load until then, s.
        after_s: f64,
        /// CPU time since the contender began until then, s.
        cpu_s: Option<f64>,
    },
}

/// The warm-up of every case that has a run with enough slices.
pub(crate) fn warm_ups(benchmark: &BenchmarkData<'_>) -> Vec<CaseWarmUp> {
    let cases = benchmark.cases.iter().map(|case| CaseWarmUp {
        label: case.label.clone(),
        runs: case.runs.iter().filter_map(warm_up).collect(),
    });
    cases.filter(|case| !case.runs.is_empty()).collect()
}

/// `None` when there are too few slices to say.
fn warm_up(run: &RunData<'_>) -> Option<WarmUp> {
    let slices = first_load(run);
    let series: Vec<f64> = slices.iter().map(|(_, throughput)| *throughput).collect();
    let watched_s = slices.last()?.0;
    let from_index = match steady_state(&series, RELEVANCE)? {
        SteadyState::NeverSteady => return Some(WarmUp::NotSteady { watched_s }),
        SteadyState::Steady { from_index } => from_index,
    };
    let slice = run.records.intervals.get(from_index);
    let cpu = slice.and_then(|slice| slice.contender_before.as_ref()?.cpu);
    Some(WarmUp::Steady {
        after_s: from_index.checked_sub(1).map_or(0.0, |last| slices[last].0),
        cpu_s: cpu.map(|cpu| seconds(cpu.total_ns())),
    })
}

/// End of the slice in seconds since the load began, and its throughput, for the leading steps
/// with the same load; in a carousel, those before the first cycle.
pub(crate) fn first_load(run: &RunData<'_>) -> Vec<(f64, f64)> {
    let Some(first) = run.records.intervals.first() else {
        return Vec::new();
    };
    let paces = &run.records.begin.run.steps;
    let pace = |step: usize| paces.get(step).map(|step| step.pace);
    let same = run.records.intervals.iter().take_while(|slice| {
        slice.connections == first.connections
            && slice.turn.is_none()
            && pace(slice.load.step) == pace(first.load.step)
    });
    let point = |slice: &bakeoff_model::record::IntervalRecord| {
        let load = &slice.load;
        let length = seconds(load.end_ns.saturating_sub(load.start_ns));
        let at = seconds(load.end_ns.saturating_sub(first.load.start_ns));
        (length > 0.0).then(|| (at, as_f64(load.requests) / length))
    };
    same.filter_map(point).collect()
}
