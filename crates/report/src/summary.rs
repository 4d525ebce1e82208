//! The answer: who is ranked where, by how much, how sure, and who is not ranked and why.

use bakeoff_model::record::{Outcome, Results, RunRecords, Validity};
use bakeoff_stats::{Better, Comparison, Criteria, Estimate, Sample, compare, rank};

use crate::ReportInput;
use crate::checks::{self, CheckCount};
use crate::measure::{
    self, BenchmarkFigures, CaseFigures, RunFigures, StepFigures, benchmarks, severity,
};
use crate::number::mib;
use crate::startup::{self, StartupSummary};

/// Confidence of every interval in the documents.
pub(crate) const CONFIDENCE: f64 = 0.95;

/// The ranked tables of all benchmarks.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// The report's title.
    pub title: String,
    /// What a reader must know before any number: mixed suites, too few runs, missing limits.
    pub warnings: Vec<String>,
    /// One for each benchmark and set of conditions.
    pub benchmarks: Vec<BenchmarkSummary>,
    /// The same for benchmarks of kind `startup`.
    pub startups: Vec<StartupSummary>,
}

/// The answer of one benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchmarkSummary {
    /// The benchmark.
    pub name: String,
    /// Backend, limits, runtime and profile in words.
    pub conditions: String,
    /// One table for each validity: fair numbers first, then those bound by something else.
    pub tables: Vec<RankTable>,
    /// Contenders without a rank.
    pub unranked: Vec<Unranked>,
    /// Runs that did not complete.
    pub failures: Vec<FailedRun>,
}

impl BenchmarkSummary {
    /// All figures, ranked ones first.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &Row> {
        let ranked = self.tables.iter().flat_map(|table| &table.rows);
        ranked.chain(
            self.unranked
                .iter()
                .filter_map(|unranked| unranked.row.as_ref()),
        )
    }
}

/// Contenders whose peaks have the same validity, best first.
#[derive(Debug, Clone, PartialEq)]
pub struct RankTable {
    /// Name of the validity: `fair`, `host-bound`, `backend-bound` or `generator-bound`.
    pub validity: &'static str,
    /// What the table is, in words.
    pub title: String,
    /// The rows, best first.
    pub rows: Vec<Row>,
}

/// The figures of one contender.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Rank from 1; equal for ties; 0 when not ranked.
    pub rank: usize,
    /// Whether another row has the same rank.
    pub tied: bool,
    /// Contender and parameters.
    pub label: String,
    /// Caveat of the contender.
    pub note: Option<String>,
    /// Successful requests per second at the best step, mean over runs.
    pub throughput: Estimate,
    /// Label of that step: its connections or its rate.
    pub step: String,
    /// 50th percentile at that step, ms, all runs merged.
    pub p50_ms: Option<f64>,
    /// 99th percentile at that step, ms, all runs merged.
    pub p99_ms: Option<f64>,
    /// CPU per request over the measured steps, us.
    pub cpu_us: Option<Estimate>,
    /// CPU per request over the whole life, start-up and warm-up included, us.
    pub cpu_us_whole: Option<Estimate>,
    /// Highest memory of all runs, MiB.
    pub memory_mib: Option<f64>,
    /// From the program's beginning to the first valid answer, s.
    pub startup_s: Option<Estimate>,
    /// Failed requests over all measured steps of all runs.
    pub errors: u64,
    /// The same as a share of all requests.
    pub error_share: f64,
    /// Functional checks.
    pub checks: CheckCount,
    /// Lifecycle checks.
    pub lifecycle: CheckCount,
    /// Completed runs.
    pub runs: usize,
    /// Runs that were begun.
    pub runs_begun: usize,
    /// Whether the peak is a fair number: the worst verdict of its intervals.
    pub validity: Validity,
    /// Throughput against the best of the table; `None` for the best itself.
    pub against_best: Option<Comparison>,
    /// CPU per request against the best of the table.
    pub cpu_against_best: Option<Comparison>,
    pub(crate) samples: Samples,
}

/// Values per run, for further comparisons.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Samples {
    pub(crate) throughput: Sample,
    pub(crate) cpu_us: Option<Sample>,
}

/// A contender without a rank.
#[derive(Debug, Clone, PartialEq)]
pub struct Unranked {
    /// Contender and parameters.
    pub label: String,
    /// Why it has no rank, a lower-case fragment.
    pub reason: String,
    /// Its figures all the same, where there are any.
    pub row: Option<Row>,
}

/// Runs of one contender that did not complete, all for the same reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedRun {
    /// Contender and parameters.
    pub label: String,
    /// Their repetitions, from 1, ascending.
    pub repetitions: Vec<u32>,
    /// Where it failed; `interrupted` or `killed` when it has no failure.
    pub stage: String,
    /// What happened.
    pub message: String,
    /// Last lines of the first one's log, or what else shows it.
    pub evidence: String,
}

impl FailedRun {
    /// `run 2` or `runs 1, 3, 4`.
    pub(crate) fn runs_words(&self) -> String {
        let numbers: Vec<String> = self.repetitions.iter().map(u32::to_string).collect();
        let word = if numbers.len() == 1 { "run" } else { "runs" };
        format!("{word} {}", numbers.join(", "))
    }
}

/// Ranks everything in the results.
#[must_use]
pub fn summary(input: &ReportInput<'_>) -> Summary {
    let startups = measure::startups(input.results);
    summary_of(input, &benchmarks(input.results), &startups)
}

/// The same from figures that are already there.
pub(crate) fn summary_of(
    input: &ReportInput<'_>,
    benchmarks: &[BenchmarkFigures<'_>],
    startups: &[BenchmarkFigures<'_>],
) -> Summary {
    Summary {
        title: input.title.to_owned(),
        warnings: warnings(input.results, benchmarks),
        benchmarks: benchmarks.iter().map(of_benchmark).collect(),
        startups: startups.iter().map(startup::of_benchmark).collect(),
    }
}

fn warnings(results: &Results, benchmarks: &[BenchmarkFigures<'_>]) -> Vec<String> {
    let mut warnings = Vec::new();
    let distinct = |key: fn(&RunRecords) -> String| {
        let mut found: Vec<String> = results.runs.iter().map(key).collect();
        found.sort();
        found.dedup();
        found.len()
    };
    if distinct(|run| run.begin.suite_digest.clone()) > 1 {
        warnings.push("the runs come from different versions of the suite".to_owned());
    }
    if distinct(|run| format!("{:?}", (&run.begin.host.cpu_model, &run.begin.host.kernel))) > 1 {
        warnings.push("the runs come from different hosts".to_owned());
    }
    let unlimited = results.runs.iter().find_map(|run| {
        run.begin
            .enforcement
            .starts_with("unlimited")
            .then_some(&run.begin.enforcement)
    });
    if let Some(enforcement) = unlimited {
        warnings.push(format!("the limits were not enforced: {enforcement}"));
    }
    let cases = || benchmarks.iter().flat_map(|benchmark| &benchmark.cases);
    let fewest = cases()
        .map(|case| case.completed().count())
        .filter(|runs| *runs > 0)
        .min();
    match fewest {
        Some(1) => warnings.push(
            "some contenders have a single completed run: their numbers have no interval and \
             nothing can be concluded from their order"
                .to_owned(),
        ),
        Some(runs @ 2..=4) => warnings.push(format!(
            "some contenders have {runs} completed runs: intervals are Student's, and wide for \
             that reason"
        )),
        _ => {}
    }
    warnings
}

pub(crate) fn of_benchmark(benchmark: &BenchmarkFigures<'_>) -> BenchmarkSummary {
    let mut tables: Vec<RankTable> = Vec::new();
    let mut unranked = Vec::new();
    for case in &benchmark.cases {
        let row = row(benchmark, case);
        match (row, checks::reason_unranked(benchmark, case)) {
            (None, reason) => {
                let reason = reason.unwrap_or_else(|| no_figures(case));
                unranked.push(Unranked {
                    label: case.label.clone(),
                    reason,
                    row: None,
                });
            }
            (Some(row), Some(reason)) => {
                unranked.push(Unranked {
                    label: case.label.clone(),
                    reason,
                    row: Some(row),
                });
            }
            (Some(row), None) => match &row.validity {
                Validity::Invalid { evidence } => {
                    let reason = format!("no valid number: {evidence}");
                    unranked.push(Unranked {
                        label: case.label.clone(),
                        reason,
                        row: Some(row),
                    });
                }
                _ => insert(&mut tables, row),
            },
        }
    }
    tables.sort_by_key(|table| table.rows.first().map(|row| severity(&row.validity)));
    tables.iter_mut().for_each(order);
    BenchmarkSummary {
        name: benchmark.name.clone(),
        conditions: benchmark.conditions.clone(),
        tables,
        unranked,
        failures: failures(benchmark),
    }
}

fn insert(tables: &mut Vec<RankTable>, row: Row) {
    let validity = row.validity.name();
    match tables.iter_mut().find(|table| table.validity == validity) {
        Some(table) => table.rows.push(row),
        None => tables.push(RankTable {
            validity,
            title: table_title(&row.validity),
            rows: vec![row],
        }),
    }
}

fn table_title(validity: &Validity) -> String {
    let title = match validity {
        Validity::Fair => "Ranked: fair numbers",
        Validity::HostBound { .. } => {
            "Host-bound: the parts shared the host's cores, so the order holds for this host only"
        }
        Validity::BackendBound { .. } => {
            "Backend-bound: the backend was the bottleneck, each number is at least this"
        }
        Validity::GeneratorBound { .. } => {
            "Generator-bound: the loader was the bottleneck, each number is at least this"
        }
        Validity::Invalid { .. } => "Invalid",
    };
    title.to_owned()
}

/// Sorts, ranks and compares the rows of one table.
fn order(table: &mut RankTable) {
    let criteria = Criteria::new(Better::Higher);
    let samples: Vec<Sample> = table
        .rows
        .iter()
        .map(|row| row.samples.throughput.clone())
        .collect();
    let ranked = rank(&samples, &criteria);
    let mut rows = Vec::with_capacity(ranked.len());
    for place in &ranked {
        let mut row = table.rows[place.index].clone();
        (row.rank, row.tied) = (place.rank, place.tied);
        rows.push(row);
    }
    if let Some(best) = rows.first().map(|row| row.samples.clone()) {
        for row in rows.iter_mut().skip(1) {
            row.against_best = Some(compare(
                &row.samples.throughput,
                &best.throughput,
                &criteria,
            ));
            let cpu = row.samples.cpu_us.as_ref().zip(best.cpu_us.as_ref());
            row.cpu_against_best =
                cpu.map(|(own, best)| compare(own, best, &Criteria::new(Better::Lower)));
        }
    }
    table.rows = rows;
}

/// The figures of a case; `None` without a completed run with a measured step.
fn row(benchmark: &BenchmarkFigures<'_>, case: &CaseFigures<'_>) -> Option<Row> {
    let runs: Vec<&RunFigures<'_>> = case.completed().collect();
    let peak = peak(benchmark, &runs)?;
    let throughput = Sample::new(peak.iter().map(|step| step.throughput()).collect())?;
    let latency = measure::latency(peak.iter().flat_map(|step| step.histograms()));
    let cpu_us = Sample::new(
        runs.iter()
            .filter_map(|run| run.cpu_us_per_request())
            .collect(),
    );
    let cpu_us_whole = Sample::new(
        runs.iter()
            .filter_map(|run| run.cpu_us_per_request_whole())
            .collect(),
    );
    let startups = case.runs.iter().filter_map(RunFigures::startup_s).collect();
    let errors = || runs.iter().flat_map(|run| run.measured());
    let failed: u64 = errors().map(StepFigures::error_count).sum();
    let requests: u64 = errors().map(|step| step.requests).sum();
    let validities = peak.iter().map(|step| step.validity());
    let (functional, lifecycle) = checks::counts(benchmark, case);
    let estimate = |sample: Option<&Sample>| sample.map(|sample| sample.estimate(CONFIDENCE));
    Some(Row {
        rank: 0,
        tied: false,
        label: case.label.clone(),
        note: case
            .runs
            .iter()
            .find_map(|run| run.records.begin.note.clone()),
        throughput: throughput.estimate(CONFIDENCE),
        step: peak[0].label.clone(),
        p50_ms: latency.map(|latency| latency.p50_ms),
        p99_ms: latency.map(|latency| latency.p99_ms),
        cpu_us: estimate(cpu_us.as_ref()),
        cpu_us_whole: estimate(cpu_us_whole.as_ref()),
        memory_mib: runs
            .iter()
            .filter_map(|run| run.memory_peak_bytes())
            .max()
            .map(mib),
        startup_s: estimate(Sample::new(startups).as_ref()),
        errors: failed,
        error_share: share(failed, requests),
        checks: functional,
        lifecycle,
        runs: runs.len(),
        runs_begun: case.runs.len(),
        validity: validities
            .max_by_key(|validity| severity(validity))?
            .clone(),
        against_best: None,
        cpu_against_best: None,
        samples: Samples { throughput, cpu_us },
    })
}

fn share(failed: u64, requests: u64) -> f64 {
    let (failed, requests) = (
        crate::number::as_f64(failed),
        crate::number::as_f64(requests),
    );
    if failed > 0.0 {
        failed / (failed + requests)
    } else {
        0.0
    }
}

/// The step with the highest mean throughput over runs, as it was in each run. Picking it from the
/// means, and not in each run, keeps lucky runs from adding up. A step with an invalid interval is
/// no candidate unless there is no other.
fn peak<'s, 'a>(
    benchmark: &BenchmarkFigures<'_>,
    runs: &[&'s RunFigures<'a>],
) -> Option<Vec<&'s StepFigures<'a>>> {
    let candidates = benchmark.step_labels.iter().filter_map(|label| {
        let steps: Vec<&StepFigures<'_>> = runs
            .iter()
            .filter_map(|run| run.step(label))
            .filter(|step| !step.warm_up)
            .collect();
        if steps.len() < runs.len() || steps.is_empty() {
            return None;
        }
        let valid = !steps
            .iter()
            .any(|step| matches!(step.validity(), Validity::Invalid { .. }));
        let total: f64 = steps.iter().map(|step| step.throughput()).sum();
        Some((valid, total, steps))
    });
    let best = candidates.max_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    best.map(|(_, _, steps)| steps)
}

/// Why a case has no figures at all.
pub(crate) fn no_figures(case: &CaseFigures<'_>) -> String {
    let failure = case
        .runs
        .iter()
        .find_map(|run| failed_run(&case.label, run));
    match failure {
        Some(failure) => {
            format!(
                "no completed run; first failure at {}: {}",
                failure.stage, failure.message
            )
        }
        None => "no measured step".to_owned(),
    }
}

pub(crate) fn failures(benchmark: &BenchmarkFigures<'_>) -> Vec<FailedRun> {
    let mut failures: Vec<FailedRun> = Vec::new();
    for case in &benchmark.cases {
        for failure in case
            .runs
            .iter()
            .filter_map(|run| failed_run(&case.label, run))
        {
            let key = |one: &FailedRun| (one.label.clone(), one.stage.clone(), one.message.clone());
            match failures
                .iter_mut()
                .find(|other| key(other) == key(&failure))
            {
                Some(other) => other.repetitions.extend(failure.repetitions),
                None => failures.push(failure),
            }
        }
    }
    failures
}

fn failed_run(label: &str, run: &RunFigures<'_>) -> Option<FailedRun> {
    let (stage, message, evidence) = match run.records.end.as_ref().map(|end| &end.outcome) {
        Some(Outcome::Completed) => return None,
        Some(Outcome::Failed {
            stage,
            message,
            evidence,
        }) => (stage.as_str(), message, evidence),
        Some(Outcome::Interrupted) => (
            "interrupted",
            &"the user stopped it".to_owned(),
            &String::new(),
        ),
        None => (
            "killed",
            &"its file has no last record".to_owned(),
            &String::new(),
        ),
    };
    Some(FailedRun {
        label: label.to_owned(),
        repetitions: vec![run.repetition()],
        stage: stage.to_owned(),
        message: message.clone(),
        evidence: evidence.clone(),
    })
}
