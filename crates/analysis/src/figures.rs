//! The figures that conditions are about (`cpu>3%`), of one contender.

use bakeoff_model::baseline::Figure;

use super::benchmark::{CaseData, RunData};
use super::metric::{Metric, Percentile};
use super::percentiles::Latency;
use super::row::Row;

/// Returns a figure of a contender; `None` where it was not measured, and for the share of errors,
/// which is compared with nothing.
pub(super) fn metric(figure: Figure, case: &CaseData<'_>, row: &Row) -> Option<Metric> {
    match figure {
        Figure::Slower => Some(row.throughput.clone()),
        Figure::Cpu => row.cpu_us.clone(),
        Figure::Memory => row.memory_mib.clone(),
        Figure::P50 => times(case, row, Percentile::P50, |latency| latency.p50_ms),
        Figure::P99 => times(case, row, Percentile::P99, |latency| latency.p99_ms),
        Figure::Errors => None,
    }
}

/// A percentile of the times of each set, ms: in the open load after turns where there is one.
fn times(
    case: &CaseData<'_>,
    row: &Row,
    wanted: Percentile,
    value: fn(&Latency) -> f64,
) -> Option<Metric> {
    if let Some(open) = &row.open {
        return open.percentile(wanted).cloned();
    }
    let runs: Vec<&RunData<'_>> = case.completed().collect();
    Metric::of_runs(
        &runs,
        |step| !step.warm_up,
        |run| Some(value(&run.measured().last()?.latency()?)),
    )
}
