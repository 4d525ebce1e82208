//! From records to the numbers of steps, runs, cases and benchmarks. Nothing is averaged over runs
//! here: that is for the metrics.

use std::collections::{BTreeMap, BTreeSet};

use bakeoff_base::natural;
use bakeoff_model::histogram::Histogram;
use bakeoff_model::load::ErrorClass;
use bakeoff_model::plan::RunKind;
use bakeoff_model::record::{Begin, IntervalRecord, Moment, Outcome, Results, RunRecords};
use bakeoff_model::resource::{GcLog, Memory, ResourceSample};
use bakeoff_model::validity::Validity;
use bakeoff_model::warmth::Warmth;

use super::labels::{conditions, step_labels, trial_labels};
use super::slice;
use super::validity;
use crate::number::{as_f64, milliseconds, seconds};

/// Times of one step in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Latency {
    pub(crate) mean_ms: f64,
    pub(crate) p50_ms: f64,
    pub(crate) p75_ms: f64,
    pub(crate) p90_ms: f64,
    pub(crate) p95_ms: f64,
    pub(crate) p99_ms: f64,
    pub(crate) p999_ms: f64,
    pub(crate) max_ms: f64,
}

/// All slices of one step of one run.
#[derive(Debug)]
pub(crate) struct StepData<'a> {
    pub(crate) index: usize,
    pub(crate) label: String,
    pub(crate) connections: u32,
    pub(crate) warm_up: bool,
    pub(crate) seconds: f64,
    pub(crate) requests: u64,
    pub(crate) errors: BTreeMap<ErrorClass, u64>,
    /// From the real send to the end of the response.
    pub(crate) service: Option<Latency>,
    /// From the intended send; open load only.
    pub(crate) response: Option<Latency>,
    /// Whether its numbers are fair.
    pub(crate) validity: Validity,
    /// How many of its slices are unfair alone.
    pub(crate) unfair: usize,
    pub(crate) slices: Vec<&'a IntervalRecord>,
    /// Of a step in a carousel, the slices of the cycles that count; empty for whole runs, and
    /// where no cycle counts.
    pub(crate) kept: Vec<&'a IntervalRecord>,
}

/// One run: the last attempt at it.
#[derive(Debug)]
pub(crate) struct RunData<'a> {
    pub(crate) records: &'a RunRecords,
    pub(crate) steps: Vec<StepData<'a>>,
    /// It belongs to a carousel of which no cycle counts.
    pub(crate) void: bool,
}

/// Benchmark x contender x parameters.
#[derive(Debug)]
pub(crate) struct CaseData<'a> {
    pub(crate) label: String,
    pub(crate) runs: Vec<RunData<'a>>,
}

/// All cases that may be compared with each other.
#[derive(Debug)]
pub(crate) struct BenchmarkData<'a> {
    pub(crate) name: String,
    /// Backend, runtime, profile and limits in words, for titles.
    pub(crate) conditions: String,
    pub(crate) backend: String,
    /// Labels of all steps in order: the categories of the horizontal axis.
    pub(crate) step_labels: Vec<String>,
    pub(crate) cases: Vec<CaseData<'a>>,
    /// The case that was measured a second time as the session's control.
    pub(crate) control: Option<CaseData<'a>>,
}

/// All benchmarks with load, in order of first appearance; cases in natural order.
pub(crate) fn benchmarks(results: &Results) -> Vec<BenchmarkData<'_>> {
    of_kind(results, RunKind::Load)
}

/// The same for benchmarks of cold starts: their runs have no steps.
pub(crate) fn startups(results: &Results) -> Vec<BenchmarkData<'_>> {
    of_kind(results, RunKind::Startup)
}

/// The same for searches for a capacity: their trials follow the planned steps.
pub(crate) fn capacities(results: &Results) -> Vec<BenchmarkData<'_>> {
    of_kind(results, RunKind::Capacity)
}

fn of_kind(results: &Results, kind: RunKind) -> Vec<BenchmarkData<'_>> {
    let mut made: Vec<BenchmarkData<'_>> = Vec::new();
    for records in last_attempts(results).filter(|run| run.begin.run.kind == kind) {
        let begin = &records.begin;
        let conditions = conditions(records);
        let name = &begin.run.benchmark;
        let found = made
            .iter()
            .position(|b| b.name == *name && b.conditions == conditions);
        let benchmark = if let Some(index) = found {
            &mut made[index]
        } else {
            made.push(BenchmarkData {
                name: name.clone(),
                conditions,
                backend: begin.backend_label(),
                step_labels: Vec::new(),
                cases: Vec::new(),
                control: None,
            });
            made.last_mut().expect("it was pushed above")
        };
        let mut labels = step_labels(&begin.run.steps, begin.run.transport.in_flight);
        labels.extend(trial_labels(&records.trials));
        if labels.len() > benchmark.step_labels.len() {
            benchmark.step_labels.clone_from(&labels);
        }
        let run = RunData {
            records,
            steps: steps(records, &labels),
            void: false,
        };
        let label = begin.run.case_label();
        match benchmark.cases.iter_mut().find(|case| case.label == label) {
            Some(case) => case.runs.push(run),
            None => benchmark.cases.push(CaseData {
                label,
                runs: vec![run],
            }),
        }
    }
    for benchmark in &mut made {
        benchmark
            .cases
            .sort_by(|a, b| natural::compare(&a.label, &b.label));
        for case in &mut benchmark.cases {
            case.runs
                .sort_by_key(|run| run.records.begin.run.repetition);
        }
    }
    made
}

/// The last attempt at each run. Earlier ones were interrupted and are listed in the report's
/// order of runs, but their numbers are not used.
pub(crate) fn last_attempts(results: &Results) -> impl Iterator<Item = &RunRecords> {
    let mut last: BTreeMap<&str, u32> = BTreeMap::new();
    for run in &results.runs {
        let attempt = last.entry(run.begin.run.id.as_str()).or_default();
        *attempt = run.begin.attempt.max(*attempt);
    }
    let wanted =
        move |run: &&RunRecords| last.get(run.begin.run.id.as_str()) == Some(&run.begin.attempt);
    results.runs.iter().filter(wanted)
}

fn steps<'a>(records: &'a RunRecords, labels: &[String]) -> Vec<StepData<'a>> {
    let indices: BTreeSet<usize> = records
        .intervals
        .iter()
        .map(|slice| slice.load.step)
        .collect();
    let of_step = |index: usize| {
        let slices: Vec<&IntervalRecord> = records
            .intervals
            .iter()
            .filter(|slice| slice.load.step == index)
            .collect();
        let label = labels
            .get(index)
            .cloned()
            .unwrap_or_else(|| format!("step {}", index + 1));
        step(&records.begin, index, label, slices)
    };
    indices.into_iter().filter_map(of_step).collect()
}

fn step<'a>(
    begin: &Begin,
    index: usize,
    label: String,
    slices: Vec<&'a IntervalRecord>,
) -> Option<StepData<'a>> {
    let first = slices.first()?;
    let mut errors: BTreeMap<ErrorClass, u64> = BTreeMap::new();
    for (class, error) in slices.iter().flat_map(|slice| &slice.load.errors) {
        *errors.entry(*class).or_default() += error.count;
    }
    let length =
        |slice: &&IntervalRecord| seconds(slice.load.end_ns.saturating_sub(slice.load.start_ns));
    let (validity, unfair) = validity::of_step(begin, &slices);
    Some(StepData {
        index,
        label,
        connections: first.connections,
        warm_up: first.warm_up,
        seconds: slices.iter().map(length).sum(),
        requests: slices.iter().map(|slice| slice.load.requests).sum(),
        errors,
        service: latency(slices.iter().map(|slice| &slice.load.service_time)),
        response: latency(slices.iter().filter_map(|i| i.load.response_time.as_ref())),
        validity,
        unfair,
        slices,
        kept: Vec::new(),
    })
}

/// Merges histograms and reads the usual points off; `None` when nothing was recorded.
pub(crate) fn latency<'a>(parts: impl Iterator<Item = &'a Histogram>) -> Option<Latency> {
    let whole = Histogram::sum(parts)?;
    let at = |share: f64| Some(milliseconds(whole.quantile_ns(share)?));
    Some(Latency {
        mean_ms: whole.mean_ns()? / 1e6,
        p50_ms: at(0.5)?,
        p75_ms: at(0.75)?,
        p90_ms: at(0.9)?,
        p95_ms: at(0.95)?,
        p99_ms: at(0.99)?,
        p999_ms: at(0.999)?,
        max_ms: milliseconds(whole.max_ns()?),
    })
}

impl<'a> StepData<'a> {
    /// Successful requests per second; in a carousel the geometric mean over its slices.
    pub(crate) fn throughput(&self) -> f64 {
        let kept = self.kept.iter().map(|slice| slice::throughput(slice));
        if let Some(mean) = slice::geometric_mean(kept) {
            return mean;
        }
        if self.seconds > 0.0 {
            as_f64(self.requests) / self.seconds
        } else {
            0.0
        }
    }

    /// The times to quote: response time where there is a schedule, else service time.
    pub(crate) fn latency(&self) -> Option<Latency> {
        self.response.or(self.service)
    }

    /// The histograms behind [`StepData::latency`].
    pub(crate) fn histograms(&self) -> impl Iterator<Item = &'a Histogram> {
        let open = self.response.is_some();
        self.slices.iter().filter_map(move |slice| {
            let load = &slice.load;
            if open {
                load.response_time.as_ref()
            } else {
                Some(&load.service_time)
            }
        })
    }

    pub(crate) fn error_count(&self) -> u64 {
        self.errors.values().sum()
    }

    /// Failed requests as a share of all that ended.
    pub(crate) fn error_share(&self) -> f64 {
        let failed = as_f64(self.error_count());
        if failed == 0.0 {
            0.0
        } else {
            failed / as_f64(self.ended())
        }
    }

    pub(crate) fn censored(&self) -> u64 {
        self.slices
            .iter()
            .map(|slice| slice.load.censored.count())
            .sum()
    }

    /// The contender at the beginning and the end of the step.
    fn ends(&self) -> Option<(&'a ResourceSample, &'a ResourceSample)> {
        let before = self.slices.first()?.contender_before.as_ref()?;
        let after = self.slices.last()?.contender_after.as_ref()?;
        Some((before, after))
    }

    /// How much a counter of the contender grew over the step.
    pub(crate) fn grew(&self, counter: impl Fn(&ResourceSample) -> Option<u64>) -> Option<u64> {
        let over = |(before, after): (&ResourceSample, &ResourceSample)| {
            Some(counter(after)?.saturating_sub(counter(before)?))
        };
        if !self.is_in_turns() {
            return over(self.ends()?);
        }
        // What happened between the turns is not the step's.
        let turns = self.slices.iter().map(|slice| {
            let before = slice.contender_before.as_ref()?;
            over((before, slice.contender_after.as_ref()?))
        });
        turns.sum()
    }

    /// Whether its slices are turns in a carousel, with those of others between them.
    pub(crate) fn is_in_turns(&self) -> bool {
        self.slices.iter().any(|slice| slice.turn.is_some())
    }

    /// How warm the contender was before it; `None` where warm-up did not last until it was.
    pub(crate) fn warmth(&self) -> Option<Warmth> {
        self.slices.iter().find_map(|slice| slice.warmth)
    }

    pub(crate) fn cpu_s(&self) -> Option<f64> {
        self.grew(|sample| Some(sample.cpu?.total_ns()))
            .map(seconds)
    }

    /// CPU for each request that came to an end, microseconds. Those that failed are counted too:
    /// what they took is not charged to those that succeeded. `None` without any success.
    pub(crate) fn cpu_us_per_request(&self) -> Option<f64> {
        (self.requests > 0).then_some(())?;
        if !self.kept.is_empty() {
            let kept = self.kept.iter();
            let each: Option<Vec<f64>> = kept.map(|one| slice::cpu_us_per_request(one)).collect();
            return slice::geometric_mean(each?.into_iter());
        }
        Some(self.cpu_s()? * 1e6 / as_f64(self.ended()))
    }

    /// Requests that came to an end, well or not.
    fn ended(&self) -> u64 {
        self.requests + self.error_count()
    }

    pub(crate) fn throttled_s(&self) -> Option<f64> {
        self.grew(|sample| Some(sample.throttling?.throttled_ns))
            .map(seconds)
    }

    /// Memory of the contender at the end of the step.
    pub(crate) fn memory(&self) -> Option<Memory> {
        self.slices
            .iter()
            .rev()
            .find_map(|slice| slice.contender_after.as_ref()?.memory)
    }

    /// Cores' worth of CPU that the load generator used.
    pub(crate) fn generator_cores(&self) -> f64 {
        let used: u64 = self
            .slices
            .iter()
            .map(|i| i.load.generator_cpu.total_ns())
            .sum();
        if self.seconds > 0.0 {
            seconds(used) / self.seconds
        } else {
            0.0
        }
    }

    /// Cores' worth of CPU that the contender used.
    pub(crate) fn contender_cores(&self) -> Option<f64> {
        let cpu_s = self.cpu_s()?;
        (self.seconds > 0.0).then(|| cpu_s / self.seconds)
    }

    /// Cores' worth of CPU that the backend used.
    pub(crate) fn backend_cores(&self) -> Option<f64> {
        let used = |first: &IntervalRecord, last: &IntervalRecord| {
            let before = first.backend_before.as_ref()?.cpu?;
            let after = last.backend_after.as_ref()?.cpu?;
            Some(after.total_ns().saturating_sub(before.total_ns()))
        };
        let used: u64 = if self.is_in_turns() {
            let turns = self.slices.iter();
            turns.map(|slice| used(slice, slice)).sum::<Option<u64>>()?
        } else {
            used(self.slices.first()?, self.slices.last()?)?
        };
        (self.seconds > 0.0).then(|| seconds(used) / self.seconds)
    }
}

impl<'a> RunData<'a> {
    pub(crate) fn repetition(&self) -> u32 {
        self.records.begin.run.repetition
    }

    /// A value of this run with the block that it belongs to: the repetition, in which every case
    /// of the session has its turn in shuffled order.
    pub(crate) fn with_block(&self, value: f64) -> (u32, f64) {
        (self.repetition(), value)
    }

    pub(crate) fn completed(&self) -> bool {
        matches!(&self.records.end, Some(end) if end.outcome == Outcome::Completed)
    }

    pub(crate) fn step(&self, label: &str) -> Option<&StepData<'a>> {
        self.steps.iter().find(|step| step.label == label)
    }

    pub(crate) fn measured(&self) -> impl Iterator<Item = &StepData<'a>> {
        self.steps.iter().filter(|step| !step.warm_up)
    }

    pub(crate) fn startup_s(&self) -> Option<f64> {
        self.records
            .startup
            .as_ref()
            .map(|startup| seconds(startup.startup_ns))
    }

    /// The contender's reading at a moment outside the load.
    pub(crate) fn idle(&self, moment: Moment) -> Option<&'a ResourceSample> {
        let idle = self
            .records
            .idle
            .iter()
            .find(|idle| idle.moment == moment)?;
        idle.contender.as_ref()
    }

    /// The contender's own log of garbage collections.
    pub(crate) fn gc_log(&self) -> Option<&'a GcLog> {
        self.records.idle.iter().find_map(|idle| idle.gc.as_ref())
    }

    /// CPU per request of the measured steps, microseconds, failed requests counted too; in a
    /// carousel that of its one step.
    pub(crate) fn cpu_us_per_request(&self) -> Option<f64> {
        if let Some(step) = self.measured().find(|step| !step.kept.is_empty()) {
            return step.cpu_us_per_request();
        }
        let cpu_s: Option<f64> = self.measured().map(StepData::cpu_s).sum();
        let requests: u64 = self.measured().map(StepData::ended).sum();
        cpu_s
            .filter(|_| requests > 0)
            .map(|cpu_s| cpu_s * 1e6 / as_f64(requests))
    }

    /// CPU of the whole life up to the last slice (start-up, checks and warm-up too) per
    /// request under load, microseconds.
    pub(crate) fn cpu_us_per_request_whole(&self) -> Option<f64> {
        let last = self.records.intervals.last()?.contender_after.as_ref()?;
        let requests: u64 = self.steps.iter().map(StepData::ended).sum();
        let cpu_s = seconds(last.cpu?.total_ns());
        (requests > 0).then(|| cpu_s * 1e6 / as_f64(requests))
    }
}

impl<'a> CaseData<'a> {
    /// The runs that numbers are read off: completed ones, but for carousels of which no cycle
    /// counts.
    pub(crate) fn completed(&self) -> impl Iterator<Item = &RunData<'a>> {
        let completed = self.runs.iter().filter(|run| run.completed());
        completed.filter(|run| !run.void)
    }
}
