//! What one contender did at each step, over its completed runs.

use bakeoff_model::validity::Validity;
use bakeoff_stats::Sample;

use super::benchmark::{self, BenchmarkData, CaseData, StepData};
use super::validity;
use crate::number::mib;

/// A value of several runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Middle {
    /// The lowest run.
    pub(crate) low: f64,
    /// The median.
    pub(crate) middle: f64,
    /// The highest run.
    pub(crate) high: f64,
}

impl Middle {
    /// `None` of nothing.
    pub(crate) fn of(values: Vec<f64>) -> Option<Self> {
        let sample = Sample::new(values)?;
        Some(Self {
            low: sample.quantile(0.0),
            middle: sample.median(),
            high: sample.quantile(1.0),
        })
    }
}

/// One step.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StepRow {
    /// Its place among the steps of the benchmark.
    pub(crate) index: usize,
    pub(crate) label: String,
    pub(crate) throughput: Middle,
    /// All runs merged, ms.
    pub(crate) p50_ms: Option<f64>,
    /// All runs merged, ms.
    pub(crate) p99_ms: Option<f64>,
    /// Median over runs, us.
    pub(crate) cpu_us: Option<f64>,
    /// Highest so far, median over runs, MiB.
    pub(crate) memory_mib: Option<f64>,
    /// Failed requests of all runs.
    pub(crate) errors: u64,
    /// The worst verdict of all runs.
    pub(crate) validity: Validity,
}

/// One for each step that a completed run of the case has, in order.
pub(crate) fn steps(benchmark: &BenchmarkData<'_>, case: &CaseData<'_>) -> Vec<StepRow> {
    let labels = benchmark.step_labels.iter().enumerate();
    let rows = labels.filter_map(|(index, label)| {
        let steps = case.completed().filter_map(|run| run.step(label));
        row(index, label, &steps.collect::<Vec<_>>())
    });
    rows.collect()
}

fn row(index: usize, label: &str, steps: &[&StepData<'_>]) -> Option<StepRow> {
    let each = |value: fn(&StepData<'_>) -> Option<f64>| {
        let values = steps.iter().filter_map(|step| value(step));
        Middle::of(values.collect())
    };
    let latency = benchmark::latency(steps.iter().flat_map(|step| step.histograms()));
    let memory = each(|step| Some(mib(step.memory()?.peak_bytes)));
    Some(StepRow {
        index,
        label: label.to_owned(),
        throughput: each(|step| Some(step.throughput()))?,
        p50_ms: latency.map(|latency| latency.p50_ms),
        p99_ms: latency.map(|latency| latency.p99_ms),
        cpu_us: each(|step| step.cpu_us_per_request()).map(|cpu| cpu.middle),
        memory_mib: memory.map(|memory| memory.middle),
        errors: steps.iter().map(|step| step.totals.failed()).sum(),
        validity: validity::worst(steps.iter().map(|step| &step.validity)),
    })
}
