//! One contender at each step, over its completed runs.

use bakeoff_model::validity::Validity;
use bakeoff_stats::Sample;

use crate::data::benchmark::{BenchmarkData, CaseData, StepData};
use crate::data::number::mib;
use crate::data::percentiles;
use crate::data::validity;

/// A value of several runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Middle {
    /// The lowest run.
    pub low: f64,
    /// The median.
    pub middle: f64,
    /// The highest run.
    pub high: f64,
}

impl Middle {
    /// Returns low, median and high; `None` for an empty list.
    pub fn of(values: Vec<f64>) -> Option<Self> {
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
pub struct StepRow {
    /// Index of the step in the benchmark.
    pub index: usize,
    /// The step as text.
    pub label: String,
    /// Successful requests per second.
    pub throughput: Middle,
    /// Median response time over all runs merged, ms.
    pub p50_ms: Option<f64>,
    /// 99th percentile of all runs merged, ms.
    pub p99_ms: Option<f64>,
    /// CPU per request, median over runs, us.
    pub cpu_us: Option<f64>,
    /// Highest memory so far, median over runs, MiB.
    pub memory_mib: Option<f64>,
    /// Failed requests of all runs.
    pub errors: u64,
    /// The worst verdict of all runs.
    pub validity: Validity,
}

/// Returns one row for each step that a completed run of the case has, in order.
pub fn steps(benchmark: &BenchmarkData<'_>, case: &CaseData<'_>) -> Vec<StepRow> {
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
    let latency = percentiles::latency(steps.iter().flat_map(|step| step.histograms()));
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
