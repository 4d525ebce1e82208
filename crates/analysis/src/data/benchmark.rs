//! The numbers of steps, runs, cases and benchmarks, from records. Averages over runs are computed
//! elsewhere, for each metric.

use std::collections::{BTreeMap, BTreeSet};

use bakeoff_base::natural;
use bakeoff_model::load::histogram::Histogram;
use bakeoff_model::measure::resource::{GcLog, ResourceSample};
use bakeoff_model::plan::RunKind;
use bakeoff_model::record::totals::{self, Growth, Times, Totals};
use bakeoff_model::record::{Begin, IntervalRecord, Moment, Outcome, Results, RunRecords};
use bakeoff_model::suite::warmth::Warmth;
use bakeoff_model::validity::Validity;
use bakeoff_stats::Budget;
use bakeoff_validity::RiseInTurns;

use super::labels::{conditions, open_load_label, step_labels, trial_labels};
use super::number::{as_f64, seconds};
use super::percentiles::Latency;
use super::played_turn::{PlayedTurn, turns_of};
use super::process::Process;
use super::scale::{CpuScales, Scale};
use super::session_data::SessionData;
use super::sittings;
use super::validity;

/// Requests that must take longer than a percentile for it to count. Its standard error is then a
/// seventh of the share beyond it, as for a count of 50.
const BEYOND_MIN: f64 = 50.0;

/// All slices of one step of one run.
#[derive(Debug)]
pub struct StepData<'a> {
    /// Position of the step in its run.
    pub index: usize,
    /// The step as text.
    pub label: String,
    /// Maximum number of connections.
    pub connections: u32,
    /// Whether this is a warm-up step.
    pub warm_up: bool,
    /// Sums over the slices.
    pub totals: Totals,
    /// Times from the actual send to the end of the response.
    pub service: Option<Latency>,
    /// Times from the intended send; open load only.
    pub response: Option<Latency>,
    /// Times from the actual send to the first byte of the body; `None` if every response arrived
    /// whole.
    pub first_byte: Option<Latency>,
    /// The verdict on the step's numbers.
    pub validity: Validity,
    /// Number of slices that are unfair by themselves.
    pub unfair: usize,
    /// Time slices of the step.
    pub slices: Vec<&'a IntervalRecord>,
    /// Number of cores that the contender uses in undisturbed turns, if it and all others are
    /// CPU-bound: throughput is then computed per CPU time.
    pub full_cores: Option<f64>,
    /// The factors that make the step comparable with the other groups of its set.
    pub scale: Scale,
    /// Whether more sets might follow, if their number was decided by looking at them.
    pub looks: Option<Budget>,
    /// The repetition, and the index of the sitting in which it was measured.
    pub sitting: (u32, u32),
    /// Turns of the blocks that count, for a step in a set; empty for whole runs, and if no block
    /// counts.
    pub kept: Vec<PlayedTurn>,
    /// Requests per second of the open load in which the response times of a set are compared;
    /// `None` for every other step.
    pub open_rate_per_s: Option<f64>,
}

/// One run: the last attempt at it.
#[derive(Debug)]
pub struct RunData<'a> {
    /// The records of the run.
    pub records: &'a RunRecords,
    /// Steps of the run, including warm-up.
    pub steps: Vec<StepData<'a>>,
    /// The open load after the steps of a set, which is not one of them: it only provides response
    /// times.
    pub open: Option<StepData<'a>>,
    /// Whether the run belongs to a set without a block that counts.
    pub void: bool,
    /// Whether the run belongs to a group in which the common contender has no number.
    pub is_apart: bool,
    /// The factors for the CPU over several steps that make it comparable with the other groups.
    pub scales: CpuScales,
}

/// A case: benchmark x contender x parameters.
#[derive(Debug)]
pub struct CaseData<'a> {
    /// Contender and parameters.
    pub label: String,
    /// Runs of the case by process.
    pub runs: Vec<RunData<'a>>,
}

/// All cases that may be compared with each other.
#[derive(Debug)]
pub struct BenchmarkData<'a> {
    /// The benchmark.
    pub name: String,
    /// Backend, runtime, profile and limits in words, for titles.
    pub conditions: String,
    /// The backend.
    pub backend: String,
    /// Labels of all steps in order: the categories of the horizontal axis.
    pub step_labels: Vec<String>,
    /// Cases of the benchmark.
    pub cases: Vec<CaseData<'a>>,
}

/// Returns all benchmarks with load, in order of first appearance; cases in natural order.
pub fn benchmarks(results: &Results) -> Vec<BenchmarkData<'_>> {
    of_kind(results, RunKind::Load)
}

/// Returns the cold-start benchmarks: their runs have no steps.
pub fn startups(results: &Results) -> Vec<BenchmarkData<'_>> {
    of_kind(results, RunKind::Startup)
}

/// Returns the capacity searches: their trials follow the planned steps.
pub fn capacities(results: &Results) -> Vec<BenchmarkData<'_>> {
    of_kind(results, RunKind::Capacity)
}

fn of_kind(results: &Results, kind: RunKind) -> Vec<BenchmarkData<'_>> {
    let mut made: Vec<BenchmarkData<'_>> = Vec::new();
    let all_sittings = sittings::of_results(results);
    for records in last_attempts(results).filter(|run| run.begin.run.kind == kind) {
        let begin = &records.begin;
        let conditions = conditions(records);
        let name = &begin.run.benchmark;
        let same = |b: &BenchmarkData<'_>| b.name == *name && b.conditions == conditions;
        let found = made.iter().position(same);
        let benchmark = if let Some(index) = found {
            &mut made[index]
        } else {
            made.push(BenchmarkData {
                name: name.clone(),
                conditions,
                backend: begin.backend_label(),
                step_labels: Vec::new(),
                cases: Vec::new(),
            });
            made.last_mut().expect("it was pushed above")
        };
        let mut labels = step_labels(&begin.run.steps, begin.run.transport.in_flight);
        labels.extend(trial_labels(&records.trials));
        if labels.len() > benchmark.step_labels.len() {
            benchmark.step_labels.clone_from(&labels);
        }
        let session = SessionData::of(results, &all_sittings, begin);
        let run = RunData {
            records,
            steps: steps(records, &labels, session),
            open: open_load(records, session),
            void: false,
            is_apart: false,
            scales: CpuScales::default(),
        };
        let label = begin.run.case_label();
        match benchmark.cases.iter_mut().find(|case| case.label == label) {
            Some(case) => case.runs.push(run),
            None => {
                let runs = vec![run];
                benchmark.cases.push(CaseData { label, runs });
            }
        }
    }
    for benchmark in &mut made {
        let cases = &mut benchmark.cases;
        cases.sort_by(|a, b| natural::compare(&a.label, &b.label));
        for case in cases {
            case.runs.sort_by_key(RunData::process);
        }
    }
    made
}

/// Returns the last attempt at each run. Earlier ones were interrupted and are listed in the
/// report's order of runs, but their numbers are not used.
pub fn last_attempts(results: &Results) -> impl Iterator<Item = &RunRecords> {
    let mut last: BTreeMap<&str, u32> = BTreeMap::new();
    for run in &results.runs {
        let attempt = last.entry(run.begin.run.id.as_str()).or_default();
        *attempt = run.begin.attempt.max(*attempt);
    }
    let wanted =
        move |run: &&RunRecords| last.get(run.begin.run.id.as_str()) == Some(&run.begin.attempt);
    results.runs.iter().filter(wanted)
}

fn steps<'a>(
    records: &'a RunRecords,
    labels: &[String],
    session: SessionData,
) -> Vec<StepData<'a>> {
    let slices = records.intervals.iter();
    let of_steps = slices.filter(|slice| slice.latency_rate_per_s.is_none());
    let indices: BTreeSet<usize> = of_steps.map(|slice| slice.load.step).collect();
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
        step(&records.begin, index, label, slices, session)
    };
    indices.into_iter().filter_map(of_step).collect()
}

/// Returns the measured slices of the open load.
fn open_load<'a>(records: &'a RunRecords, session: SessionData) -> Option<StepData<'a>> {
    let slices = records.intervals.iter();
    let slices = slices.filter(|slice| slice.latency_rate_per_s.is_some() && !slice.warm_up);
    let slices: Vec<&IntervalRecord> = slices.collect();
    let label = open_load_label(slices.first()?.latency_rate_per_s?);
    step(
        &records.begin,
        records.begin.run.steps.len(),
        label,
        slices,
        session,
    )
}

fn step<'a>(
    begin: &Begin,
    index: usize,
    label: String,
    slices: Vec<&'a IntervalRecord>,
    session: SessionData,
) -> Option<StepData<'a>> {
    let first = slices.first()?;
    let mut step = StepData {
        index,
        label,
        connections: first.connections,
        warm_up: first.warm_up,
        totals: Totals::default(),
        service: None,
        response: None,
        first_byte: None,
        validity: Validity::default(),
        unfair: 0,
        open_rate_per_s: first.latency_rate_per_s,
        slices,
        kept: Vec::new(),
        full_cores: None,
        scale: Scale::default(),
        looks: session.looks,
        sitting: (begin.run.repetition, session.sitting),
    };
    step.sum_up(begin);
    Some(step)
}

impl<'a> StepData<'a> {
    /// Adds up the slices and judges them.
    pub(crate) fn sum_up(&mut self, begin: &Begin) {
        let loads = self.slices.iter().map(|slice| &slice.load);
        // Response times in turns are those of bursts.
        let is_burst = loads.clone().any(|load| !load.turns.is_empty());
        let times = (!is_burst).then(|| Times::of(loads.clone()));
        let times = times.unwrap_or_default();
        self.totals = loads.collect();
        self.service = Latency::of(&times.service);
        self.response = times.response.as_ref().and_then(Latency::of);
        self.first_byte = times.first_byte.as_ref().and_then(Latency::of);
        (self.validity, self.unfair) = validity::of_step(begin, &self.slices, None);
    }

    /// Judges a step in turns once more, without the slices that are in no number, so that an
    /// excluded disturbance does not mark the contender. Slices that are invalid by themselves
    /// stay, since that may be its fault. `rise` is how the contender got faster over the turns
    /// that count.
    pub(crate) fn judge_counted(&mut self, begin: &Begin, rise: Option<RiseInTurns>) {
        let blocks: BTreeSet<u64> = self.kept.iter().map(|turn| turn.block).collect();
        let is_kept = |slice: &IntervalRecord| {
            let mut turns = turns_of(slice).into_iter();
            turns.any(|turn| blocks.contains(&turn.block))
        };
        let mut counted = self.slices.clone();
        if !blocks.is_empty() {
            counted.retain(|slice| is_kept(slice) || validity::has_no_number(begin, slice));
        }
        if counted.len() < self.slices.len() || rise.is_some() {
            self.validity = validity::of_step(begin, &counted, rise).0;
        }
    }

    /// Returns the successful requests per second of a turn that counts.
    pub fn rate(&self, turn: &PlayedTurn) -> f64 {
        match (self.full_cores, turn.cores) {
            (Some(full), Some(cores)) => turn.requests_per_s * full / cores,
            _ => turn.requests_per_s,
        }
    }

    /// Returns the successful requests per second; in turns the geometric mean over them.
    pub fn throughput(&self) -> f64 {
        let kept = self.kept.iter().map(|turn| self.rate(turn));
        let mean = totals::geometric_mean(kept);
        mean.unwrap_or_else(|| self.totals.requests_per_s()) * self.scale.rate
    }

    /// Returns the times to quote: response time if there is a schedule, else service time. `None`
    /// for turns, whose times are those of bursts.
    pub fn latency(&self) -> Option<Latency> {
        self.response.or(self.service)
    }

    /// Returns the histograms behind [`StepData::latency`].
    pub fn histograms(&self) -> impl Iterator<Item = &'a Histogram> {
        let slices = self.slices.iter();
        let slices = slices.filter(|slice| slice.load.turns.is_empty());
        slices.map(|slice| slice.load.stated_times())
    }

    /// Whether enough requests took longer than this quantile. Only used for open load in a set:
    /// other documents show all quantiles.
    pub fn resolves(&self, share: f64) -> bool {
        let requests: u64 = self.histograms().map(|times| times.count()).sum();
        // The product of decimal fractions may be below a whole number because of rounding.
        let beyond = as_f64(requests) * (1.0 - share) + 1e-6;
        self.open_rate_per_s.is_none() || beyond >= BEYOND_MIN
    }

    /// Returns how many requests were in flight at the end.
    pub fn censored(&self) -> u64 {
        let slices = self.slices.iter();
        slices.map(|slice| slice.load.censored.count()).sum()
    }

    /// Returns the growth of a contender's counter over the step.
    pub fn grew(&self, counter: impl Fn(&ResourceSample) -> Option<u64>) -> Option<u64> {
        let mut growth = Growth::default();
        for slice in &self.slices {
            growth.add_contender(slice, &counter);
        }
        growth.value()
    }

    /// Whether the slices are turns in a set, with those of others in between.
    pub fn is_in_turns(&self) -> bool {
        self.slices.iter().any(|slice| !slice.load.turns.is_empty())
    }

    /// Returns how warm the contender was before the step; `None` if the warm-up did not last until
    /// it was warm.
    pub fn warmth(&self) -> Option<Warmth> {
        self.slices.iter().find_map(|slice| slice.warmth)
    }
}

impl<'a> RunData<'a> {
    /// Returns the number of the run, from 1.
    pub fn repetition(&self) -> u32 {
        self.records.begin.run.repetition
    }

    /// Returns the process of the case.
    pub fn process(&self) -> Process {
        Process {
            repetition: self.repetition(),
            is_twin: self.records.begin.run.twin,
        }
    }

    /// Returns a value of this run with its process.
    pub fn with_process(&self, value: f64) -> (Process, f64) {
        (self.process(), value)
    }

    /// Returns whether the run went to its end.
    pub fn completed(&self) -> bool {
        matches!(&self.records.end, Some(end) if end.outcome == Outcome::Completed)
    }

    /// Returns the measured step of this label.
    pub fn step(&self, label: &str) -> Option<&StepData<'a>> {
        self.steps.iter().find(|step| step.label == label)
    }

    /// Returns the steps that count.
    pub fn measured(&self) -> impl Iterator<Item = &StepData<'a>> {
        self.steps.iter().filter(|step| !step.warm_up)
    }

    /// Returns the measured steps and the open load after them.
    pub fn measured_and_open(&self) -> impl Iterator<Item = &StepData<'a>> {
        self.measured().chain(&self.open)
    }

    /// Returns the time from start to readiness, s.
    pub fn startup_s(&self) -> Option<f64> {
        self.records
            .startup
            .as_ref()
            .map(|startup| seconds(startup.startup_ns))
    }

    /// Returns the contender's reading at a moment outside the load.
    pub fn idle(&self, moment: Moment) -> Option<&'a ResourceSample> {
        let idle = self
            .records
            .idle
            .iter()
            .find(|idle| idle.moment == moment)?;
        idle.contender.as_ref()
    }

    /// Returns the contender's own garbage collection log.
    pub fn gc_log(&self) -> Option<&'a GcLog> {
        self.records.idle.iter().find_map(|idle| idle.gc.as_ref())
    }

    /// Returns the CPU per request of the measured steps, microseconds, including failed requests;
    /// in a set that of its one step.
    pub fn cpu_us_per_request(&self) -> Option<f64> {
        let (measured, scale) = self.cpu_us_and_scale()?;
        Some(measured * scale)
    }

    /// Returns the measured CPU per request, and the factor that makes it comparable with the other
    /// groups of its set.
    pub fn cpu_us_and_scale(&self) -> Option<(f64, f64)> {
        let mut in_turns = self.measured().filter(|step| !step.kept.is_empty());
        if let (Some(only), None) = (in_turns.next(), in_turns.next()) {
            let scale = only.scale.cpu?;
            return Some((only.cpu_us_per_request()? / scale, scale));
        }
        let cpu_ns: Option<u64> = self.measured().map(StepData::cpu_ns).sum();
        let totals: Totals = self.measured().map(|step| &step.totals).sum();
        Some((totals.cpu_us_per_request(cpu_ns?)?, self.scales.measured?))
    }

    /// Returns the CPU of the whole life up to the last slice (including start-up, checks and
    /// warm-up) per request under load, microseconds.
    pub fn cpu_us_per_request_whole(&self) -> Option<f64> {
        let last = self.records.intervals.last()?.contender_after.as_ref()?;
        let slices = self.records.intervals.iter();
        let totals: Totals = slices.map(|slice| &slice.load).collect();
        Some(totals.cpu_us_per_request(last.cpu_ns()?)? * self.scales.whole?)
    }
}

impl<'a> CaseData<'a> {
    /// Returns the runs that numbers are read from: completed ones, except in sets without a block
    /// that counts, and in groups that cannot be compared with the others.
    pub fn completed(&self) -> impl Iterator<Item = &RunData<'a>> {
        let completed = self.runs.iter().filter(|run| run.completed());
        completed.filter(|run| !run.void && !run.is_apart)
    }
}
