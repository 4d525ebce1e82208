//! One figure of a case as a sample over its runs, with the worst verdict on what it was read off:
//! what rules of rounds and claims of others are decided by.

use bakeoff_model::record::Validity;
use bakeoff_stats::Sample;

use crate::measure::{CaseFigures, StepFigures, severity};
use crate::summary::Row;

/// Which figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Requests per second at the case's best step.
    Peak,
    /// Requests per second at so many connections.
    ThroughputAt(u32),
    /// CPU per request, us, over all measured steps or at so many connections.
    Cpu(Option<u32>),
    /// 99th percentile, ms, at the highest step or at so many connections.
    P99(Option<u32>),
}

/// The figure in every completed run; `None` when a run lacks it.
pub(crate) fn read(
    case: &CaseFigures<'_>,
    row: &Row,
    wanted: Wanted,
) -> Option<(Sample, Validity)> {
    match wanted {
        Wanted::Peak => Some((row.samples.throughput.clone(), row.validity.clone())),
        Wanted::ThroughputAt(at) => at_step(case, Some(at), |step| Some(step.throughput())),
        Wanted::Cpu(None) => Some((row.samples.cpu_us.clone()?, row.validity.clone())),
        Wanted::Cpu(at) => at_step(case, at, |step| step.cpu_us_per_request()),
        Wanted::P99(at) => at_step(case, at, |step| Some(step.latency()?.p99_ms)),
    }
}

/// A value of the measured step with so many connections, or of the last one.
fn at_step(
    case: &CaseFigures<'_>,
    at: Option<u32>,
    value: fn(&StepFigures<'_>) -> Option<f64>,
) -> Option<(Sample, Validity)> {
    let mut values = Vec::new();
    let mut worst = Validity::Fair;
    for run in case.completed() {
        let mut measured = run.measured();
        let step = match at {
            Some(at) => measured.find(|step| step.connections == at),
            None => measured.last(),
        }?;
        values.push(value(step)?);
        if severity(step.validity()) > severity(&worst) {
            worst = step.validity().clone();
        }
    }
    Some((Sample::new(values)?, worst))
}
