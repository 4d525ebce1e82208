//! A metric of a case: its value in every run, the steps that it was read from, and the verdict on
//! exactly these steps. Used by tables, rounds and claims.

use std::collections::BTreeMap;

use bakeoff_model::validity::Validity;
use bakeoff_stats::{Better, Estimate, Sample};

use super::benchmark::{CaseData, RunData, StepData};
use super::number::{as_f64, mib};
use super::percentiles::Latency;
use super::process::{Process, one_of_each};
use super::requests;
use super::validity;

/// Confidence of every interval in the documents.
pub const CONFIDENCE: f64 = 0.95;

/// A metric over the runs of one case.
#[derive(Debug, Clone, PartialEq)]
pub struct Metric {
    /// Mean over runs with its interval.
    pub estimate: Estimate,
    /// Labels of the steps behind the metric, in order; empty for metrics outside load.
    pub steps: Vec<String>,
    /// The worst verdict on these steps in all runs.
    pub validity: Validity,
    /// The observations behind the metric.
    pub sample: Sample,
}

/// The metric to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Requests per second at this number of connections.
    ThroughputAt(u32),
    /// CPU per request, us, at this number of connections.
    CpuAt(u32),
    /// 99th percentile, ms, at this number of connections or at the last step.
    P99(Option<u32>),
    /// Mean service time, ms, at this number of connections.
    ServiceTime(u32),
    /// Highest memory, MiB, up to the end of the step at this many connections, or to that of the
    /// last measured one.
    Memory(Option<u32>),
    /// Share of requests that failed, 0 to 1, at this number of connections or users.
    FailedShare(u32),
    /// Apdex, 0 to 1, at this number of users.
    Apdex(u32),
}

/// A percentile of response times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Percentile {
    /// The median.
    P50,
    /// The 99th percentile.
    P99,
}

impl Percentile {
    /// Returns the share of response times below the percentile.
    pub fn share(self) -> f64 {
        match self {
            Self::P50 => 0.5,
            Self::P99 => 0.99,
        }
    }

    fn of(self, times: &Latency) -> f64 {
        match self {
            Self::P50 => times.p50_ms,
            Self::P99 => times.p99_ms,
        }
    }

    /// Returns the requests that the percentile describes, in words.
    pub fn describe(self) -> &'static str {
        match self {
            Self::P50 => "half of the requests",
            Self::P99 => "99 % of the requests",
        }
    }
}

/// The quantity by which contenders are compared at any one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Requests per second.
    Throughput,
    /// CPU per request, us.
    Cpu,
    /// Highest memory from the start to the end of the step, MiB.
    Memory,
}

impl Quantity {
    /// All quantities, in the order of tables.
    pub const ALL: [Self; 3] = [Self::Throughput, Self::Cpu, Self::Memory];

    /// Returns the name of the quantity.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Throughput => "requests/s",
            Self::Cpu => "CPU per request",
            Self::Memory => "memory",
        }
    }

    /// Returns the name with its unit.
    pub fn title(self) -> &'static str {
        match self {
            Self::Throughput => "requests/s",
            Self::Cpu => "CPU per request, µs",
            Self::Memory => "memory, MiB",
        }
    }

    /// Returns the unit.
    #[must_use]
    pub fn unit(self) -> &'static str {
        match self {
            Self::Throughput => "requests/s",
            Self::Cpu => "µs",
            Self::Memory => "MiB",
        }
    }

    /// Returns the better direction.
    pub fn better(self) -> Better {
        match self {
            Self::Throughput => Better::Higher,
            Self::Cpu | Self::Memory => Better::Lower,
        }
    }

    /// Returns the value at a step of one run.
    pub fn of(self, step: &StepData<'_>) -> Option<f64> {
        match self {
            Self::Throughput => Some(step.throughput()),
            Self::Cpu => step.cpu_us_per_request(),
            Self::Memory => Some(mib(step.memory()?.peak_bytes)),
        }
    }

    /// Returns the value at the step with that label in all runs that have it; `None` if the step
    /// is invalid or cannot be judged.
    pub fn at(self, case: &CaseData<'_>, label: &str) -> Option<Metric> {
        at_label(case, label, |step| self.of(step))
    }
}

/// Returns a value at the step with that label in all runs that have it; `None` if the step is
/// invalid or cannot be judged.
pub fn at_label(
    case: &CaseData<'_>,
    label: &str,
    value: impl Fn(&StepData<'_>) -> Option<f64>,
) -> Option<Metric> {
    in_runs(case, label, |_, step| value(step))
}

/// Returns a value that runs have besides their steps, under the verdict on the step with that
/// label.
pub fn in_runs(
    case: &CaseData<'_>,
    label: &str,
    value: impl Fn(&RunData<'_>, &StepData<'_>) -> Option<f64>,
) -> Option<Metric> {
    let steps = case.completed().filter_map(|run| {
        let step = run.step(label)?;
        Some((run.with_process(value(run, step)?), step))
    });
    let (values, steps): (Vec<_>, Vec<_>) = steps.unzip();
    let metric = Metric::new(values, steps.into_iter())?;
    validity::unranked(&metric.validity)
        .is_none()
        .then_some(metric)
}

impl Metric {
    /// Returns a metric read from `steps`, with the process of each value; for a contender that is
    /// in several groups of a set, their mean. `None` without a value.
    pub fn new<'s, 'r: 's>(
        values: Vec<(Process, f64)>,
        steps: impl Iterator<Item = &'s StepData<'r>>,
    ) -> Option<Self> {
        let values = one_of_each(values);
        let steps: Vec<&StepData<'_>> = steps.collect();
        let of_set = |step: &&StepData<'_>| step.is_in_turns() || step.open_rate_per_s.is_some();
        let sittings: BTreeMap<u32, u32> = steps.iter().map(|step| step.sitting).collect();
        let sample = Sample::of_processes(values)?;
        let sample = match steps.iter().any(of_set) {
            true => sample.in_sets().in_sittings(&sittings),
            false => sample,
        };
        let sample = match steps.iter().find_map(|step| step.looks) {
            Some(budget) => sample.looked_at(budget),
            None => sample,
        };
        let mut labels: Vec<(usize, &str)> = steps
            .iter()
            .map(|step| (step.index, step.label.as_str()))
            .collect();
        labels.sort_unstable();
        labels.dedup();
        Some(Self {
            estimate: sample.estimate(CONFIDENCE),
            steps: labels
                .into_iter()
                .map(|(_, label)| label.to_owned())
                .collect(),
            validity: validity::worst(steps.iter().map(|step| &step.validity)),
            sample,
        })
    }

    /// Returns a metric that does not depend on load, such as the start-up time.
    pub fn outside_load(values: Vec<(Process, f64)>) -> Option<Self> {
        Self::new(values, std::iter::empty())
    }

    /// Returns a value of each run, read from some of its steps; runs without the value are
    /// skipped.
    pub fn of_runs<'r>(
        runs: &[&RunData<'r>],
        steps: impl Fn(&StepData<'r>) -> bool,
        value: impl Fn(&RunData<'r>) -> Option<f64>,
    ) -> Option<Self> {
        let with_value = runs
            .iter()
            .filter_map(|run| Some((*run, run.with_process(value(run)?))));
        let (runs, values): (Vec<&RunData<'r>>, Vec<(Process, f64)>) = with_value.unzip();
        let behind = runs.iter().flat_map(|run| &run.steps);
        Self::new(values, behind.filter(|step| steps(step)))
    }

    /// Returns the mean over runs.
    pub fn mean(&self) -> f64 {
        self.estimate.point
    }

    /// Returns the steps in words: `at 64`, `over 8 to 1024`; empty outside load.
    pub fn steps_text(&self) -> String {
        match self.steps.as_slice() {
            [] => String::new(),
            [one] => format!("at {one}"),
            [first, .., last] => format!("over {first} to {last}"),
        }
    }
}

/// Returns the metric in every completed run; `None` if a run lacks it.
pub fn read(case: &CaseData<'_>, wanted: Wanted) -> Option<Metric> {
    read_nth(case, wanted, 1)
}

/// Returns the metric at the n-th measured step with this number of connections, counted from 1.
pub fn read_nth(case: &CaseData<'_>, wanted: Wanted, nth: u32) -> Option<Metric> {
    let place = |at| Some((at, nth));
    match wanted {
        Wanted::ThroughputAt(at) => at_step(case, place(at), |step| Some(step.throughput())),
        Wanted::CpuAt(at) => at_step(case, place(at), StepData::cpu_us_per_request),
        Wanted::FailedShare(at) => at_step(case, place(at), |step| {
            let (requests, failed) = (step.totals.requests, step.totals.failed());
            let ended = requests + failed;
            (ended > 0).then(|| as_f64(failed) / as_f64(ended))
        }),
        Wanted::ServiceTime(at) => at_step(case, place(at), StepData::service_ms),
        Wanted::Memory(Some(at)) => at_step(case, place(at), |step| Quantity::Memory.of(step)),
        Wanted::Memory(None) => {
            let runs: Vec<&RunData<'_>> = case.completed().collect();
            let peaks = |run: &RunData<'_>| {
                let peaks = run.measured().filter_map(|step| Quantity::Memory.of(step));
                peaks.reduce(f64::max)
            };
            Metric::of_runs(&runs, |step| !step.warm_up, peaks)
        }
        Wanted::Apdex(at) => at_step(case, place(at), requests::apdex),
        Wanted::P99(at) => {
            let of_steps = at_step(case, at.and_then(place), |step| {
                Some(step.latency()?.p99_ms)
            });
            of_steps.or_else(|| {
                let runs: Vec<&RunData<'_>> = case.completed().collect();
                let mut steps = runs.iter().filter_map(|run| run.open.as_ref());
                let fits = steps.all(|step| at.is_none_or(|at| step.connections == at));
                in_open_load(&runs, Percentile::P99).filter(|_| fits)
            })
        }
    }
}

/// Returns a value at the n-th measured step with this number of connections, or at the last step.
fn at_step<'r>(
    case: &CaseData<'r>,
    place: Option<(u32, u32)>,
    value: fn(&StepData<'r>) -> Option<f64>,
) -> Option<Metric> {
    let mut values = Vec::new();
    let mut steps = Vec::new();
    for run in case.completed() {
        let measured = run.measured();
        let step = match place {
            Some((at, nth)) => {
                let mut like = measured.filter(|step| step.connections == at);
                like.nth(nth.checked_sub(1)? as usize)
            }
            None => measured.last(),
        }?;
        values.push(run.with_process(value(step)?));
        steps.push(step);
    }
    Metric::new(values, steps.into_iter())
}

/// Returns a percentile in the open load of each set with enough requests, ms. `None` if there is
/// none, and if the load of a set is invalid or cannot be judged, because the other sets would
/// flatter the contender.
pub fn in_open_load(runs: &[&RunData<'_>], wanted: Percentile) -> Option<Metric> {
    let loaded = runs
        .iter()
        .filter_map(|run| Some((*run, run.open.as_ref()?)));
    let counting = loaded.filter(|(_, step)| step.resolves(wanted.share()));
    let with_value = counting.filter_map(|(run, step)| {
        let value = wanted.of(&step.latency()?);
        Some((run.with_process(value), step))
    });
    let (values, steps): (Vec<(Process, f64)>, Vec<&StepData<'_>>) = with_value.unzip();
    let all = runs.iter().filter_map(|run| run.open.as_ref());
    let verdict = validity::worst(all.map(|step| &step.validity));
    let metric = Metric::new(values, steps.into_iter())?;
    validity::unranked(&verdict).is_none().then_some(metric)
}
