//! The figure that a claim is about, of one case.

use bakeoff_model::names;
use bakeoff_model::published::{Claim, Metric};
use bakeoff_model::record::Validity;
use bakeoff_stats::{Better, Criteria, Sample};

use super::Cases;
use crate::labels;
use crate::measure::{CaseFigures, RunFigures};
use crate::number::{as_f64, figures, seconds};
use crate::reading::{self, Wanted};
use crate::summary::{BenchmarkSummary, CONFIDENCE};

/// A case's figure over its runs.
pub(super) struct Figure {
    pub(super) label: String,
    pub(super) sample: Sample,
    pub(super) validity: Validity,
}

/// The figure of one case, or why it has none.
pub(super) fn figure(
    summary: Option<&BenchmarkSummary>,
    case: &CaseFigures<'_>,
    claim: &Claim,
) -> Result<Figure, String> {
    let label = case.label.clone();
    let none = || format!("{label} has no such figure");
    let (sample, validity) = match claim.metric {
        Metric::StartUp => {
            let starts = case.completed().filter_map(RunFigures::startup_s);
            (
                Sample::new(starts.collect()).ok_or_else(none)?,
                Validity::Fair,
            )
        }
        Metric::WarmUpCpu => {
            let extra: Option<Vec<f64>> = case.completed().map(warm_up_cpu_s).collect();
            let sample = extra.and_then(Sample::new).ok_or_else(none)?;
            (sample, Validity::Fair)
        }
        metric => {
            let summary = summary.ok_or_else(none)?;
            let unranked = summary.unranked.iter().find(|one| one.label == label);
            if let Some(unranked) = unranked {
                return Err(format!("{label} has no figure: {}", unranked.reason));
            }
            let row = summary
                .rows()
                .find(|row| row.label == label)
                .ok_or_else(none)?;
            let wanted = match (metric, claim.at) {
                (Metric::Throughput, Some(at)) => Wanted::ThroughputAt(at),
                (Metric::P99, at) => Wanted::P99(at),
                (Metric::CpuPerRequest, at) => Wanted::Cpu(at),
                _ => Wanted::Peak,
            };
            reading::read(case, row, wanted).ok_or_else(|| match claim.at {
                Some(at) => format!("{label} was not measured at {at} connections"),
                None => none(),
            })?
        }
    };
    let is_bound = validity != Validity::Fair;
    if is_bound && matches!(claim.metric, Metric::PeakThroughput | Metric::Throughput) {
        let name = validity.name();
        return Err(format!("{label} is {name}: its figure is a lower bound"));
    }
    Ok(Figure {
        label,
        sample,
        validity,
    })
}

/// CPU until the end of the warm-up steps beyond what as many requests cost later, s.
fn warm_up_cpu_s(run: &RunFigures<'_>) -> Option<f64> {
    let warm_up: Vec<_> = run.steps.iter().filter(|step| step.warm_up).collect();
    let last = warm_up.last()?.intervals.last()?.contender_after.as_ref()?;
    let requests: u64 = warm_up.iter().map(|step| step.requests).sum();
    let later = run.cpu_us_per_request()? * as_f64(requests) / 1e6;
    Some(seconds(last.cpu?.total_ns()) - later)
}

/// The best of the cases that a glob fits, or why there is none.
pub(super) fn chosen(cases: &Cases<'_, '_>, claim: &Claim, glob: &str) -> Result<Figure, String> {
    let mut best: Option<Figure> = None;
    let mut why = None;
    for (summary, case) in cases {
        if !names::matches(glob, &case.label) {
            continue;
        }
        match figure(*summary, case, claim) {
            Ok(found) => {
                let better = best.as_ref().is_none_or(|best| {
                    let (new, old) = (found.sample.mean(), best.sample.mean());
                    if claim.metric.higher_is_better() {
                        new > old
                    } else {
                        new < old
                    }
                });
                if better {
                    best = Some(found);
                }
            }
            Err(reason) => why = Some(reason),
        }
    }
    best.ok_or_else(|| why.unwrap_or_else(|| format!("{glob} was not run")))
}

/// Figures that are not fair, for the reader: by name while they are few.
pub(super) fn unfair(all: &[&Figure]) -> Option<String> {
    const NAMED_MAX: usize = 2;
    let unfair: Vec<&&Figure> = all
        .iter()
        .filter(|one| one.validity != Validity::Fair)
        .collect();
    if unfair.is_empty() {
        return None;
    }
    if unfair.len() > NAMED_MAX {
        let (some, all) = (unfair.len(), all.len());
        return Some(format!("{some} of {all} figures are not fair"));
    }
    let named = |one: &&&Figure| format!("{} is {}", one.label, one.validity.name());
    Some(labels::list(&unfair.iter().map(named).collect::<Vec<_>>()))
}

pub(super) fn described(one: &Figure) -> String {
    let estimate = one.sample.estimate(CONFIDENCE);
    format!("{} {}", one.label, figures(estimate.point))
}

pub(super) fn criteria(claim: &Claim) -> Criteria {
    Criteria::new(if claim.metric.higher_is_better() {
        Better::Higher
    } else {
        Better::Lower
    })
}
