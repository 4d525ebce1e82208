//! The metric of a claim for one case.

use bakeoff_base::problem::Problem;
use bakeoff_model::suite::published::{Claim, Metric as ClaimMetric};
use bakeoff_model::validity::{FairnessVerdict, Validity};
use bakeoff_stats::{Better, Criteria, Sample};

use super::cases::Cases;
use super::verdict::ClaimResult;
use crate::data::benchmark::{CaseData, RunData, StepData};
use crate::data::metric::{self, Metric, Wanted};
use crate::data::number::{as_f64, enumerated, seconds, significant};
use crate::data::process::Process;
use crate::explain::gc;
use crate::tables::summary::BenchmarkSummary;

/// A case's metric over its runs.
pub(super) struct Measured {
    pub(super) label: String,
    pub(super) metric: Metric,
    /// Whether another part was the bottleneck, so that the true value may be higher.
    pub(super) lower_bound: bool,
}

impl Measured {
    pub(super) fn sample(&self) -> &Sample {
        &self.metric.sample
    }

    /// Returns the sentence for cases in which a lower bound is not enough.
    pub(super) fn is_a_bound(&self) -> String {
        let verdict = self.metric.validity.verdict();
        format!("{} is {verdict}: its number is a lower bound", self.label)
    }
}

/// The metric of a case that a claim uses, and the number of connections.
#[derive(Clone, Copy)]
pub(super) struct ClaimedMetric {
    metric: ClaimMetric,
    pub(super) at: Option<u32>,
    pub(super) nth_step: u32,
    despite_failures: bool,
}

impl ClaimedMetric {
    pub(super) fn of(claim: &Claim) -> Self {
        Self {
            metric: claim.metric,
            at: claim.at,
            nth_step: claim.nth_step,
            despite_failures: claim.despite_failures,
        }
    }

    /// Returns the metric for the lower half of a ratio, which may be read at other connections.
    pub(super) fn of_second(claim: &Claim) -> Self {
        Self {
            at: claim.second_at.or(claim.at),
            ..Self::of(claim)
        }
    }
}

/// Returns the value of one case, or why it has none. A lower bound does not count.
pub(super) fn measured(
    summary: Option<&BenchmarkSummary>,
    case: &CaseData<'_>,
    claimed: ClaimedMetric,
) -> Result<Measured, Problem> {
    let found = measured_or_bound(summary, case, claimed)?;
    match found.lower_bound {
        true => Err(found.is_a_bound().into()),
        false => Ok(found),
    }
}

fn measured_or_bound(
    summary: Option<&BenchmarkSummary>,
    case: &CaseData<'_>,
    claimed: ClaimedMetric,
) -> Result<Measured, Problem> {
    let label = case.label.clone();
    let none = || format!("{label} has no such number");
    let metric = match claimed.metric {
        ClaimMetric::StartUp => {
            let runs = case.completed();
            let starts = runs.filter_map(|run| Some(run.with_process(run.startup_s()?)));
            Metric::outside_load(starts.collect()).ok_or_else(none)?
        }
        ClaimMetric::GcPauses => in_every_run(case, gc::paused_share).ok_or_else(none)?,
        ClaimMetric::WarmUpCpu => in_every_run(case, warm_up_cpu_s).ok_or_else(none)?,
        ClaimMetric::FailedShare => of_failures(case, claimed, Wanted::FailedShare)?,
        ClaimMetric::Apdex => of_failures(case, claimed, Wanted::Apdex)?,
        _ if claimed.despite_failures => {
            let found = at_step(case, claimed).ok_or_else(none)?;
            Metric {
                validity: found.validity.despite_failures(),
                ..found
            }
        }
        _ => under_load(summary.ok_or_else(none)?, case, claimed)?,
    };
    let of_throughput = [ClaimMetric::PeakThroughput, ClaimMetric::Throughput];
    let verdict = metric.validity.verdict();
    let lower_bound = verdict.is_bound() && of_throughput.contains(&claimed.metric);
    let failures_void_it = !matches!(
        claimed.metric,
        ClaimMetric::FailedShare | ClaimMetric::Apdex
    );
    if failures_void_it && !verdict.ranks() && !verdict.is_bound() {
        return Err(format!("{label} is {verdict}: its number proves nothing").into());
    }
    Ok(Measured {
        label,
        metric,
        lower_bound,
    })
}

/// Returns a metric of whole runs, which all completed ones must have.
fn in_every_run(
    case: &CaseData<'_>,
    value: impl Fn(&RunData<'_>) -> Option<f64>,
) -> Option<Metric> {
    let runs = case.completed();
    let values = runs.map(|run| Some(run.with_process(value(run)?)));
    let values: Option<Vec<(Process, f64)>> = values.collect();
    values.and_then(Metric::outside_load)
}

/// Returns a metric that counts failures, which therefore void no step.
fn of_failures(
    case: &CaseData<'_>,
    claimed: ClaimedMetric,
    wanted: fn(u32) -> Wanted,
) -> Result<Metric, Problem> {
    let at = claimed.at.unwrap_or_default();
    let found = metric::read_nth(case, wanted(at), claimed.nth_step);
    found.ok_or_else(|| format!("{} was not measured at {at} users", case.label).into())
}

fn under_load(
    summary: &BenchmarkSummary,
    case: &CaseData<'_>,
    claimed: ClaimedMetric,
) -> Result<Metric, Problem> {
    let label = &case.label;
    let unranked = summary.unranked.iter().find(|one| one.label == *label);
    if let Some(unranked) = unranked {
        return Err(format!("{label} has no number: {}", unranked.reason).into());
    }
    let none = || format!("{label} has no such number");
    let row = summary.row(label).ok_or_else(none)?;
    let found = match (claimed.metric, claimed.at) {
        (ClaimMetric::CpuPerRequest, None) => row.whole.cpu_us_measured.clone(),
        (ClaimMetric::CpuPerRequestWhole, _) => row.whole.cpu_us.clone(),
        (ClaimMetric::PeakThroughput, _) => Some(row.peak.throughput.clone()),
        _ => at_step(case, claimed),
    };
    let wanted = claimed.metric;
    let in_turns = || {
        let mut steps = case.completed().flat_map(RunData::measured);
        steps.any(StepData::is_in_turns)
    };
    let found = found.ok_or_else(|| match claimed.at {
        Some(at) if wanted == ClaimMetric::P99 && in_turns() => format!(
            "{label} took turns, which have no separate p99 at {at} connections: whole runs do"
        ),
        Some(at) if at > 1 && wanted == ClaimMetric::ServiceTime && in_turns() => {
            format!("{label} took turns, which have a service time with one connection only")
        }
        Some(at) => format!("{label} was not measured at {at} connections"),
        None => none(),
    })?;
    Ok(found)
}

/// Returns the metric of the step that the claim names. `None` if it was not measured, or if the
/// metric is none of a step.
fn at_step(case: &CaseData<'_>, claimed: ClaimedMetric) -> Option<Metric> {
    let read = |wanted| metric::read_nth(case, wanted, claimed.nth_step);
    match (claimed.metric, claimed.at) {
        (ClaimMetric::Throughput, Some(at)) => read(Wanted::ThroughputAt(at)),
        (ClaimMetric::P99, at) => read(Wanted::P99(at)),
        (ClaimMetric::CpuPerRequest, Some(at)) => read(Wanted::CpuAt(at)),
        (ClaimMetric::Memory, at) => read(Wanted::Memory(at)),
        (ClaimMetric::ServiceTime, Some(at)) => {
            read(Wanted::ServiceTime(at)).map(without_generator)
        }
        _ => None,
    }
}

/// Returns a time that excludes the load generator as fair, even if the load generator was the
/// bottleneck.
fn without_generator(time: Metric) -> Metric {
    match time.validity.verdict() {
        FairnessVerdict::GeneratorBound => Metric {
            validity: Validity::fair(),
            ..time
        },
        _ => time,
    }
}

/// Returns the CPU time until the end of the warm-up beyond what as many requests cost later, s.
fn warm_up_cpu_s(run: &RunData<'_>) -> Option<f64> {
    let warm_up: Vec<_> = run.steps.iter().filter(|step| step.warm_up).collect();
    let last = warm_up.last()?.slices.last()?.contender_after.as_ref()?;
    let requests: u64 = warm_up.iter().map(|step| step.totals.requests).sum();
    let (each, _) = run.cpu_us_and_scale()?;
    let later = each * as_f64(requests) / 1e6;
    Some(seconds(last.cpu?.total_ns()) - later)
}

/// Returns the value of the case with this label, or why there is none. A session in which it was
/// run without a number is more informative than one in which it was not run.
pub(super) fn named(
    cases: &Cases<'_, '_>,
    claimed: ClaimedMetric,
    label: &str,
) -> Result<Measured, ClaimResult> {
    let found = named_or_bound(cases, claimed, label)?;
    match found.lower_bound {
        true => Err(ClaimResult {
            cases: 1,
            ..ClaimResult::not_testable(found.is_a_bound())
        }),
        false => Ok(found),
    }
}

/// Returns the value of the case with this label, or a lower bound of it.
pub(super) fn named_or_bound(
    cases: &Cases<'_, '_>,
    claimed: ClaimedMetric,
    label: &str,
) -> Result<Measured, ClaimResult> {
    let (mut bound, mut why) = (None, None);
    for (summary, case) in cases.iter().filter(|(_, case)| case.label == label) {
        match measured_or_bound(*summary, case, claimed) {
            Ok(found) if found.lower_bound => bound = Some(found),
            Ok(found) => return Ok(found),
            Err(reason) => why = Some(reason),
        }
    }
    bound.ok_or_else(|| match why {
        Some(why) => ClaimResult {
            cases: 1,
            ..ClaimResult::not_testable(why.to_string())
        },
        None => ClaimResult::not_testable(format!("{label} was not run")),
    })
}

/// Returns the values that are not fair, for the reader: by name if they are few.
pub(super) fn unfair(all: &[&Measured]) -> Option<String> {
    const NAMED_MAX: usize = 2;
    let unfair: Vec<&&Measured> = all
        .iter()
        .filter(|one| !one.metric.validity.is_fair())
        .collect();
    if unfair.is_empty() {
        return None;
    }
    if unfair.len() > NAMED_MAX {
        let (some, all) = (unfair.len(), all.len());
        return Some(format!("{some} of {all} numbers are not fair"));
    }
    let named = |one: &&&Measured| format!("{} is {}", one.label, one.metric.validity.name());
    Some(enumerated(&unfair.iter().map(named).collect::<Vec<_>>()))
}

pub(super) fn described(one: &Measured) -> String {
    let point = one.metric.estimate.point;
    format!("{} {}", one.label, significant(point))
}

pub(super) fn criteria(claim: &Claim) -> Criteria {
    Criteria::new(if claim.metric.higher_is_better() {
        Better::Higher
    } else {
        Better::Lower
    })
}
