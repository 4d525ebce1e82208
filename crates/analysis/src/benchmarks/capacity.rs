//! Searches for capacities: the highest rate at which each contender meets each objective, over
//! fresh processes, and whether these confirmed what earlier ones had found.

use std::collections::BTreeMap;

use bakeoff_model::record::Results;
use bakeoff_model::suite::capacity::{
    Capacity, CapacityRecord, Purpose, TrialOutcome, TrialRecord,
};
use bakeoff_model::suite::slo::Slo;
use bakeoff_stats::{
    Better, Comparison, Criteria, Estimate, Interval, Pairs, Sample, Tie, Verdict, over_processes,
};

use crate::data::benchmark::{self, BenchmarkData, CaseData, RunData, StepData};
use crate::data::checks::CheckTable;
use crate::data::number::{count, counted, ratio_text, significant};
use crate::data::row;
use crate::tables::comparison::{self, Conclusion, detail};
use crate::tables::failures::{self, FailedRun, Unranked};

/// A capacity benchmark.
#[derive(Debug)]
pub struct CapacityAnalysis<'r> {
    /// The rate that each contender sustains, or why there is none.
    pub summary: CapacitySummary,
    /// The runs.
    pub data: BenchmarkData<'r>,
}

/// Returns one entry for each capacity benchmark and set of conditions.
pub(crate) fn capacities(results: &Results) -> Vec<CapacityAnalysis<'_>> {
    let data = benchmark::capacities(results).into_iter();
    let analyse = |data| CapacityAnalysis {
        summary: of_benchmark(&data),
        data,
    };
    data.map(analyse).collect()
}

/// The capacities of one benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct CapacitySummary {
    /// The benchmark.
    pub name: String,
    /// Backend, limits, runtime and profile in words.
    pub conditions: String,
    /// The search method, a sentence.
    pub how: String,
    /// Tables, one for each objective, and one over all of them if there are several.
    pub tables: Vec<CapacityTable>,
    /// Runs that did not complete.
    pub failures: Vec<FailedRun>,
}

/// The capacities by one objective, highest first.
#[derive(Debug, Clone, PartialEq)]
pub struct CapacityTable {
    /// The objective, or a note that it is the geometric mean of all.
    pub objective: String,
    /// The rows, highest first.
    pub rows: Vec<CapacityRow>,
    /// Comparisons of the highest with each of the others, as sentences.
    pub conclusions: Vec<Conclusion>,
    /// Contenders without a capacity.
    pub unranked: Vec<Unranked>,
    /// A rate that each process met, for some contenders, by label: the capacity is at least that,
    /// requests per second.
    pub at_least_per_s: BTreeMap<String, f64>,
    /// Runs without a capacity, of contenders that have one in others, a sentence each.
    pub remarks: Vec<String>,
}

/// The capacity of one contender.
#[derive(Debug, Clone, PartialEq)]
pub struct CapacityRow {
    /// One more than the number of contenders that sustain more.
    pub rank: Option<usize>,
    /// Whether and how the contender shares its rank.
    pub tie: Tie,
    /// Contender and parameters.
    pub label: String,
    /// Caveat about the contender.
    pub note: Option<String>,
    /// Requests per second, geometric mean over runs. With one run the interval is the search's
    /// own.
    pub rate: Estimate,
    /// The highest rate that was met below the lowest that was missed, geometric mean over runs.
    pub last_before_failure: Option<f64>,
    /// CPU per request in the met trial nearest to the capacity, mean over runs, us.
    pub cpu_us: Option<f64>,
    /// Share of the time for which the CPU limit throttled the contender in that trial, mean over
    /// runs, 0 to 1.
    pub throttled: Option<f64>,
    /// Time from start to the first response, median over runs, s.
    pub start_s: Option<f64>,
    /// Runs that sustained what earlier runs had found.
    pub confirmed: Confirmed,
    /// Runs with a capacity.
    pub runs: usize,
    /// Runs that were started.
    pub runs_begun: usize,
    /// Comparison with the highest; `None` for the highest itself.
    pub against_best: Option<Comparison>,
    /// The capacity of each run.
    pub sample: Sample,
}

/// How often a fresh process sustained what earlier ones had found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Confirmed {
    /// Confirmations that were met.
    pub met: usize,
    /// Confirmations that were tried, without disturbed ones.
    pub held: usize,
}

/// The result of one run for one objective, or for all.
struct OfRun {
    block: (u32, f64),
    /// Interval of the search, if it is for one objective.
    own: Option<Interval>,
    last_before_failure: Option<f64>,
    cpu_us: Option<f64>,
    throttled: Option<f64>,
    start_s: Option<f64>,
}

fn of_benchmark(benchmark: &BenchmarkData<'_>) -> CapacitySummary {
    let capacity = planned(benchmark);
    let slos = capacity.map_or(&[][..], |capacity| capacity.slos.as_slice());
    let checks = CheckTable::new(benchmark);
    let mut tables: Vec<CapacityTable> = slos
        .iter()
        .map(|slo| {
            let one = std::slice::from_ref(slo);
            table(benchmark, &checks, slo.to_string(), one)
        })
        .collect();
    if slos.len() > 1 {
        let objective = format!("geometric mean of {}", counted(slos.len(), "objective"));
        tables.push(table(benchmark, &checks, objective, slos));
    }
    CapacitySummary {
        name: benchmark.name.clone(),
        conditions: benchmark.conditions.clone(),
        how: capacity.map(how).unwrap_or_default(),
        tables,
        failures: failures::failures(benchmark),
    }
}

/// Returns the search of the runs: the same in all, because it is the suite's.
fn planned<'b>(benchmark: &'b BenchmarkData<'_>) -> Option<&'b Capacity> {
    let mut runs = benchmark.cases.iter().flat_map(|case| &case.runs);
    runs.find_map(|run| run.records.begin.run.capacity.as_ref())
}

fn how(capacity: &Capacity) -> String {
    format!(
        "Open load over {} connections, {} distances, trials of {} s, at most {} in a run; \
         confirmed by {} s at what the runs before had found, divided by {}.",
        capacity.connections,
        capacity.arrivals,
        significant(capacity.trial.as_secs_f64()),
        capacity.trials_at_most,
        significant(capacity.confirmation().as_secs_f64()),
        significant(1.0 + capacity.within),
    )
}

/// Returns the table for one objective, or for the geometric mean of several.
fn table(
    benchmark: &BenchmarkData<'_>,
    checks: &CheckTable,
    objective: String,
    slos: &[Slo],
) -> CapacityTable {
    let (mut rows, mut unranked, mut remarks) = (Vec::new(), Vec::new(), Vec::new());
    let mut bounds = BTreeMap::new();
    for (index, case) in benchmark.cases.iter().enumerate() {
        let row = row(case, slos);
        let reason = checks.reason_unranked(index);
        match (reason, row) {
            (None, Some(row)) => {
                remarks.extend(without(case, slos).map(|why| format!("{}: {why}", case.label)));
                rows.push(row);
            }
            (reason, _) => {
                let none = || failures::no_numbers(case);
                let bound = at_least(case, slos).filter(|_| reason.is_none());
                bounds.extend(bound.map(|rate| (case.label.clone(), rate)));
                let reason = reason.or_else(|| without(case, slos).into_iter().next());
                unranked.push(Unranked {
                    label: case.label.clone(),
                    reason: reason.unwrap_or_else(none),
                    row: None,
                });
            }
        }
    }
    let rows = ordered(rows);
    CapacityTable {
        objective,
        conclusions: conclusions(&rows),
        rows,
        unranked,
        at_least_per_s: bounds,
        remarks,
    }
}

/// Returns why completed runs have no capacity, and in how many of them: the first reason.
fn without(case: &CaseData<'_>, slos: &[Slo]) -> Option<String> {
    let reason = |run: &RunData<'_>| {
        let found = slos.iter().filter_map(|slo| found(run, slo));
        let mut reasons = found.filter_map(CapacityRecord::without);
        reasons.next()
    };
    let reasons: Vec<String> = case.completed().filter_map(reason).collect();
    let first = reasons.first()?;
    let all = case.completed().count();
    Some(match reasons.len() {
        some if some == all => first.clone(),
        some => format!("{first} (in {some} of {all} runs)"),
    })
}

/// Returns the rate that each completed run met for all objectives; `None` if one of them met none.
fn at_least(case: &CaseData<'_>, slos: &[Slo]) -> Option<f64> {
    let of_run = |run: &RunData<'_>| {
        let met = slos.iter().map(|slo| found(run, slo)?.at_least_per_s());
        let met: Option<Vec<f64>> = met.collect();
        met?.into_iter().reduce(f64::min)
    };
    let met: Option<Vec<f64>> = case.completed().map(of_run).collect();
    met?.into_iter().reduce(f64::min)
}

fn found<'r>(run: &RunData<'r>, slo: &Slo) -> Option<&'r CapacityRecord> {
    let mut all = run.records.capacities.iter();
    all.find(|found| found.slo == *slo)
}

fn row(case: &CaseData<'_>, slos: &[Slo]) -> Option<CapacityRow> {
    let runs: Vec<OfRun> = case
        .completed()
        .filter_map(|run| of_run(run, slos))
        .collect();
    let blocks: Vec<(u32, f64)> = runs.iter().map(|run| run.block).collect();
    let own = runs.iter().map(|run| Estimate {
        point: run.block.1,
        interval: run.own,
        runs: 1,
    });
    let rate = over_processes(&own.collect::<Vec<Estimate>>())?;
    let lasts: Option<Vec<f64>> = runs.iter().map(|run| run.last_before_failure).collect();
    let cpu: Option<Vec<f64>> = runs.iter().map(|run| run.cpu_us).collect();
    let throttled: Option<Vec<f64>> = runs.iter().map(|run| run.throttled).collect();
    let starts: Option<Vec<f64>> = runs.iter().map(|run| run.start_s).collect();
    let confirmations = case.completed().flat_map(|run| &run.records.trials);
    Some(CapacityRow {
        rank: None,
        tie: Tie::Alone,
        label: case.label.clone(),
        note: row::note(case),
        rate,
        last_before_failure: lasts.and_then(|lasts| geometric_mean(&lasts)),
        cpu_us: cpu.and_then(Sample::new).map(|cpu| cpu.mean()),
        throttled: throttled.and_then(Sample::new).map(|share| share.mean()),
        start_s: starts.and_then(Sample::new).map(|starts| starts.median()),
        confirmed: confirmed(confirmations, slos),
        runs: runs.len(),
        runs_begun: case.runs.len(),
        against_best: None,
        sample: Sample::in_blocks(blocks)?,
    })
}

/// Returns the result of a run; `None` if it lacks the capacity for one of the objectives.
fn of_run(run: &RunData<'_>, slos: &[Slo]) -> Option<OfRun> {
    let found: Option<Vec<&CapacityRecord>> = slos.iter().map(|slo| found(run, slo)).collect();
    let found = found?;
    let ranges: Option<Vec<_>> = found.iter().map(|found| found.capacity).collect();
    let ranges = ranges?;
    let rates: Vec<f64> = ranges.iter().map(|range| range.rate_per_s).collect();
    let rate = geometric_mean(&rates)?;
    let lasts = found.iter().map(|found| found.last_before_failure_per_s);
    let lasts: Option<Vec<f64>> = lasts.collect();
    let (own, step) = match (slos, ranges.as_slice()) {
        ([slo], [range]) => {
            let own = Interval {
                low: range.low_per_s,
                high: range.high_per_s,
            };
            (Some(own), step_at(run, slo, rate))
        }
        _ => (None, None),
    };
    Some(OfRun {
        block: (run.repetition(), rate),
        own,
        last_before_failure: lasts.and_then(|lasts| geometric_mean(&lasts)),
        cpu_us: step.and_then(StepData::cpu_us_per_request),
        throttled: step.and_then(|step| Some(step.throttled_s()? / step.totals.open_s())),
        start_s: run.startup_s(),
    })
}

/// Returns the trial nearest to a rate that met the objective.
fn step_at<'s, 'r>(run: &'s RunData<'r>, slo: &Slo, rate: f64) -> Option<&'s StepData<'r>> {
    let met = |trial: &&TrialRecord| {
        let mut verdicts = trial.verdicts.iter();
        let met = verdicts.any(|one| one.slo == *slo && one.outcome == TrialOutcome::Met);
        trial.purpose == Purpose::Search && met
    };
    let distance = |trial: &&TrialRecord| (trial.rate_per_s / rate).ln().abs();
    let trials = run.records.trials.iter().filter(met);
    let nearest = trials.min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
    run.steps.iter().find(|step| step.index == nearest.step)
}

fn confirmed<'p>(trials: impl Iterator<Item = &'p TrialRecord>, slos: &[Slo]) -> Confirmed {
    let held = trials.filter(|trial| trial.purpose == Purpose::Confirmation);
    let verdicts = held.flat_map(|trial| &trial.verdicts);
    let mut confirmed = Confirmed::default();
    for verdict in verdicts.filter(|verdict| slos.contains(&verdict.slo)) {
        confirmed.met += usize::from(verdict.outcome == TrialOutcome::Met);
        confirmed.held += usize::from(verdict.outcome != TrialOutcome::Disturbed);
    }
    confirmed
}

fn geometric_mean(values: &[f64]) -> Option<f64> {
    let logs: f64 = values.iter().map(|value| value.ln()).sum();
    (!values.is_empty()).then(|| (logs / count(values.len())).exp())
}

/// Sorts the highest mean first, with ranks and comparisons with the highest. All pairs of the
/// table are one family.
fn ordered(rows: Vec<CapacityRow>) -> Vec<CapacityRow> {
    let criteria = Criteria::new(Better::Higher);
    let samples: Vec<Option<&Sample>> = rows.iter().map(|row| Some(&row.sample)).collect();
    let pairs = Pairs::new(&samples, &criteria);
    let order = comparison::ranked(rows.iter().map(|row| &row.sample), &criteria);
    let best = order.first().map(|ranked| ranked.index);
    let in_order = order.iter().map(|ranked| CapacityRow {
        rank: ranked.rank,
        tie: ranked.tie,
        against_best: best.and_then(|best| pairs.get(ranked.index, best).copied()),
        ..rows[ranked.index].clone()
    });
    in_order.collect()
}

fn conclusions(rows: &[CapacityRow]) -> Vec<Conclusion> {
    let Some(best) = rows.first() else {
        return Vec::new();
    };
    let rest = rows.iter().skip(1);
    let conclusion = |row: &CapacityRow| {
        let found = row.against_best?;
        let inverse = found.ratio.point.is_finite().then(|| found.inverse())?;
        let middle = match inverse.verdict {
            Verdict::Equivalent => "sustains the same rate as".to_owned(),
            _ => format!(
                "sustains {} times the rate of",
                ratio_text(inverse.ratio.point)
            ),
        };
        Some(Conclusion {
            first: best.label.clone(),
            middle,
            second: row.label.clone(),
            detail: detail(&inverse, "run"),
            price: String::new(),
            verdict: inverse.verdict,
        })
    };
    rest.filter_map(conclusion).collect()
}
