//! The one step at which a table shows every contender's latencies, CPU per request and memory. At
//! each contender's own best step these would be at different loads, and over all steps a mixture
//! weighted by each one's own throughput: neither can be compared.

use bakeoff_model::load::Pace;
use bakeoff_model::load::step::{self, Step};
use bakeoff_model::validity::Validity;

use super::benchmark::{BenchmarkData, RunData, StepData};
use super::metric::Metric;
use super::number::{counted, mib};
use super::percentiles;
use super::process::Process;
use super::validity;

/// A step of a benchmark, the same for all its contenders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatedStep {
    /// Label of the step: connections, users or a rate.
    pub label: String,
    /// Connections of closed load; `None` with users or a rate.
    pub connections: Option<u32>,
}

impl StatedStep {
    /// Returns the step in words: `at 64 connections`, `at 2000/s`.
    #[must_use]
    pub fn describe(&self) -> String {
        match self.connections {
            Some(connections) => format!("at {}", counted(connections as usize, "connection")),
            None => format!("at {}", self.label),
        }
    }
}

/// The metrics of a contender at the stated step.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AtStated {
    /// Median response time, ms, all runs merged; from the open load in rows in turns.
    pub p50_ms: Option<f64>,
    /// 99th percentile, ms, all runs merged; from the open load in rows in turns.
    pub p99_ms: Option<f64>,
    /// CPU per request, us.
    pub cpu_us: Option<Metric>,
    /// CPU per request in the kernel, of all threads, us.
    pub kernel_us: Option<Metric>,
    /// CPU per request outside the kernel, us.
    pub user_us: Option<Metric>,
    /// Highest memory from the start to the end of the step, MiB.
    pub memory_mib: Option<Metric>,
    /// The worst verdict on the step; without other numbers if it is invalid or unknown.
    pub validity: Validity,
}

/// Returns the step that [`bakeoff_model::load::step::stated`] selects among the measured steps of
/// all completed runs.
pub fn stated(benchmark: &BenchmarkData<'_>) -> Option<StatedStep> {
    let runs = || benchmark.cases.iter().flat_map(|case| case.completed());
    let in_all = |step: &&StepData<'_>| {
        let measured = |run: &RunData<'_>| run.measured().any(|other| other.label == step.label);
        runs().all(measured)
    };
    let first = runs().next()?;
    let common = first.measured().filter(in_all);
    let planned = &first.records.begin.run.steps;
    let common = common.filter_map(|step| Some((step, *planned.get(step.index)?)));
    let (found, planned): (Vec<&StepData<'_>>, Vec<Step>) = common.unzip();
    Some(named(first, found[step::stated(&planned)?]))
}

fn named(run: &RunData<'_>, step: &StepData<'_>) -> StatedStep {
    let planned = run.records.begin.run.steps.get(step.index);
    let closed = planned.is_some_and(|planned| planned.pace == Pace::Closed);
    StatedStep {
        label: step.label.clone(),
        connections: closed.then_some(step.connections),
    }
}

/// Returns all measured steps of a benchmark, in order.
pub fn measured(benchmark: &BenchmarkData<'_>) -> Vec<StatedStep> {
    let runs = || benchmark.cases.iter().flat_map(|case| case.completed());
    let find = |label: &String| {
        runs().find_map(|run| {
            let step = run.measured().find(|step| step.label == *label)?;
            Some(named(run, step))
        })
    };
    benchmark.step_labels.iter().filter_map(find).collect()
}

/// Returns the steps that charts show, of all that were measured: the first, the stated one and the
/// last.
pub fn shown(steps: &[StatedStep], stated: Option<&StatedStep>) -> Vec<StatedStep> {
    let ends = [steps.first(), steps.last()];
    let is_shown = |step: &&StatedStep| stated == Some(*step) || ends.contains(&Some(*step));
    steps.iter().filter(is_shown).cloned().collect()
}

/// Returns the metrics; none if the step is invalid or cannot be judged, because such a step must
/// not be in a column with its label.
pub fn at_stated(runs: &[&RunData<'_>], stated: Option<&StatedStep>) -> AtStated {
    let Some(stated) = stated else {
        return AtStated::default();
    };
    let found = runs.iter();
    let found = found.filter_map(|run| Some((run.process(), run.step(&stated.label)?)));
    let steps: Vec<(Process, &StepData<'_>)> = found.collect();
    let verdict = validity::worst(steps.iter().map(|(_, step)| &step.validity));
    if validity::unranked(&verdict).is_some() {
        return AtStated {
            validity: verdict,
            ..AtStated::default()
        };
    }
    let metric = |value: fn(&StepData<'_>) -> Option<f64>| {
        let with_value = steps.iter();
        let with_value = with_value.filter_map(|(process, step)| Some((*process, value(step)?)));
        Metric::new(with_value.collect(), steps.iter().map(|(_, step)| *step))
    };
    let latency = percentiles::latency(steps.iter().flat_map(|(_, step)| step.histograms()));
    AtStated {
        p50_ms: latency.map(|latency| latency.p50_ms),
        p99_ms: latency.map(|latency| latency.p99_ms),
        cpu_us: metric(|step| step.cpu_us_per_request()),
        kernel_us: metric(|step| step.kernel_us_per_request()),
        user_us: metric(|step| Some(step.cpu_us_per_request()? - step.kernel_us_per_request()?)),
        memory_mib: metric(|step| Some(mib(step.memory()?.peak_bytes))),
        validity: verdict,
    }
}
