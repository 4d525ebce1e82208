//! The metrics of one contender, as a row of a table.

use std::collections::BTreeSet;

use bakeoff_model::record::totals::Totals;
use bakeoff_model::validity::Validity;
use bakeoff_stats::{Comparison, Tie};

use super::benchmark::{BenchmarkData, CaseData, RunData, StepData};
use super::checks::{CheckCount, CheckTable};
use super::latency::OpenTimes;
use super::metric::{Metric, Percentile};
use super::stated_step::{self, AtStated, StatedStep};
use super::validity;

/// The metrics of one contender.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Contender and parameters.
    pub label: String,
    /// Caveat about the contender.
    pub note: Option<String>,
    /// Comparison with the other rows of the table.
    pub standing: Standing,
    /// Throughput at the best step. Its validity determines the table.
    pub peak: Peak,
    /// Metrics at the stated step.
    pub stated: AtStated,
    /// Response times in open load at one rate for all; `None` without turns.
    pub open: Option<OpenTimes>,
    /// Metrics over all steps of all runs.
    pub whole: WholeRuns,
    /// Functional checks.
    pub checks: CheckCount,
    /// Lifecycle checks.
    pub lifecycle: CheckCount,
}

/// The position of a row in its table.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Standing {
    /// One more than the number of faster contenders; `None` if not ranked.
    pub rank: Option<usize>,
    /// Whether and how the contender shares its rank.
    pub tie: Tie,
    /// Throughput compared with the best of the table; `None` for the best itself.
    pub throughput: Option<Comparison>,
    /// CPU per request compared with the best of the table.
    pub cpu: Option<Comparison>,
}

/// The throughput of a contender at its best step.
#[derive(Debug, Clone, PartialEq)]
pub struct Peak {
    /// Successful requests per second: with fewer than four runs at the best step of all runs, else
    /// for each run at the best step of the others.
    pub throughput: Metric,
    /// Label of the step that is best in all runs: its connections or its rate.
    pub step: String,
}

/// The metrics of a contender over all steps of its runs.
#[derive(Debug, Clone, PartialEq)]
pub struct WholeRuns {
    /// Completed runs.
    pub completed: usize,
    /// Runs that were started.
    pub started: usize,
    /// Time from the program's start to the first valid response, s.
    pub startup_s: Option<Metric>,
    /// CPU per request over the whole life, including start-up and warm-up, us.
    pub cpu_us: Option<Metric>,
    /// CPU per request over all measured steps, us: for claims, in no table.
    pub cpu_us_measured: Option<Metric>,
    /// Failed requests over all measured steps of all runs, and in their open load.
    pub errors: u64,
    /// Failed requests as a share of all requests.
    pub error_share: f64,
}

impl Row {
    /// Whether the peak is a fair number: the worst verdict on its step.
    #[must_use]
    pub fn validity(&self) -> &Validity {
        &self.peak.throughput.validity
    }

    /// Whether the percentiles are fair numbers: the worst verdict on the load that they come from.
    #[must_use]
    pub fn times_validity(&self) -> &Validity {
        let open = self.open.as_ref();
        open.map_or(&self.stated.validity, |open| &open.validity)
    }

    /// Returns the unit of repetition: `run`, or `set`.
    #[must_use]
    pub fn unit(&self) -> &'static str {
        match self.peak.throughput.sample.is_of_sets() {
            true => "set",
            false => "run",
        }
    }
}

/// Returns the metrics of the case with that index; `None` without a completed run with a measured
/// step.
pub fn row(
    benchmark: &BenchmarkData<'_>,
    checks: &CheckTable,
    stated: Option<&StatedStep>,
    index: usize,
) -> Option<Row> {
    let case = benchmark.cases.get(index)?;
    let runs: Vec<&RunData<'_>> = case.completed().collect();
    let measured = runs.iter().flat_map(|run| run.measured_and_open());
    let totals: Totals = measured.map(|step| &step.totals).sum();
    let (functional, lifecycle) = checks.counts(index);
    let at = stated_step::at_stated(&runs, stated);
    let open = OpenTimes::of(&runs);
    let in_open = |wanted| open.as_ref()?.percentile(wanted).map(Metric::mean);
    let all = case.runs.iter();
    let starts = all.filter_map(|run| Some(run.with_process(run.startup_s()?)));
    Some(Row {
        label: case.label.clone(),
        note: note(case),
        standing: Standing::default(),
        peak: peak(benchmark, &runs)?,
        stated: AtStated {
            p50_ms: at.p50_ms.or(in_open(Percentile::P50)),
            p99_ms: at.p99_ms.or(in_open(Percentile::P99)),
            ..at
        },
        open,
        whole: WholeRuns {
            completed: runs.len(),
            started: case.runs.len(),
            startup_s: Metric::outside_load(starts.collect()),
            cpu_us: Metric::of_runs(&runs, |_| true, RunData::cpu_us_per_request_whole),
            cpu_us_measured: Metric::of_runs(
                &runs,
                |step| !step.warm_up,
                RunData::cpu_us_per_request,
            ),
            errors: totals.failed(),
            error_share: totals.error_share().unwrap_or_default(),
        },
        checks: functional,
        lifecycle,
    })
}

/// Returns the throughput of completed runs at the best step, as in tables.
pub(crate) fn peak(benchmark: &BenchmarkData<'_>, runs: &[&RunData<'_>]) -> Option<Peak> {
    let best = best_steps(benchmark, runs)?;
    let values = runs.iter().zip(&best.steps);
    let values = values.map(|(run, step)| run.with_process(step.throughput()));
    let throughput = Metric::new(values.collect(), best.steps.iter().copied())?;
    Some(Peak {
        throughput,
        step: best.label.to_owned(),
    })
}

/// Returns the note of a contender's file.
pub fn note(case: &CaseData<'_>) -> Option<String> {
    let mut runs = case.runs.iter();
    runs.find_map(|run| run.records.begin.note.clone())
}

/// Minimum number of runs for the others to choose the step at which a run is read. With fewer, the
/// remaining ones would choose by chance.
const RUNS_TO_CHOOSE_APART: usize = 4;

/// The best step: its label, and the step at which each run is read.
struct BestSteps<'s, 'a> {
    label: &'s str,
    steps: Vec<&'s StepData<'a>>,
}

/// Returns the step with the highest mean throughput over runs. From four runs on each run is read
/// at the step that is best in the *other* runs, so that no run chooses the step by its own luck:
/// the highest of several noisy means is above the truth, most so for the noisiest contender. This
/// is leave-one-out cross-validation (Stone, Journal of the Royal Statistical Society B 1974). A
/// step that is invalid or cannot be judged is not a candidate unless there is no other.
fn best_steps<'s, 'a>(
    benchmark: &BenchmarkData<'_>,
    runs: &[&'s RunData<'a>],
) -> Option<BestSteps<'s, 'a>> {
    let labels = benchmark.step_labels.iter();
    let candidates = labels.filter_map(|label| {
        let steps: Vec<&StepData<'_>> = runs
            .iter()
            .filter_map(|run| run.step(label))
            .filter(|step| !step.warm_up)
            .collect();
        (steps.len() == runs.len() && !steps.is_empty()).then_some(steps)
    });
    let without_rank = |step: &&StepData<'_>| validity::unranked(&step.validity).is_some();
    let valid = |steps: &Vec<&StepData<'_>>| !steps.iter().any(without_rank);
    let mut candidates: Vec<Vec<&'s StepData<'a>>> = candidates.collect();
    if candidates.iter().any(valid) {
        candidates.retain(valid);
    }
    // A contender that is in several groups has several runs in a repetition.
    let repetition = |run: usize| runs[run].repetition();
    let best = |left_out: Option<u32>| {
        let total = |steps: &Vec<&StepData<'_>>| {
            let others = steps.iter().enumerate();
            let others = others.filter(|(run, _)| Some(repetition(*run)) != left_out);
            others.map(|(_, step)| step.throughput()).sum::<f64>()
        };
        candidates
            .iter()
            .max_by(|a, b| total(a).total_cmp(&total(b)))
    };
    let of_all = best(None)?;
    let repetitions: BTreeSet<u32> = (0..runs.len()).map(repetition).collect();
    let apart = repetitions.len() >= RUNS_TO_CHOOSE_APART;
    let steps = (0..runs.len()).map(|run| {
        let chosen = if apart {
            best(Some(repetition(run)))
        } else {
            None
        };
        chosen.unwrap_or(of_all)[run]
    });
    Some(BestSteps {
        label: &of_all.first()?.label,
        steps: steps.collect(),
    })
}
