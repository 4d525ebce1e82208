//! The metrics of conditions (`cpu>3%`) for one contender.

use bakeoff_model::plan::baseline::ConditionMetric;

use crate::data::benchmark::{CaseData, RunData};
use crate::data::metric::{Metric, Percentile};
use crate::data::percentiles::Latency;
use crate::data::row::Row;

/// Returns a metric of a contender; `None` if it was not measured, and for the share of errors,
/// which is not compared.
pub(crate) fn metric(figure: ConditionMetric, case: &CaseData<'_>, row: &Row) -> Option<Metric> {
    match figure {
        ConditionMetric::Slower => Some(row.peak.throughput.clone()),
        ConditionMetric::Cpu => row.stated.cpu_us.clone(),
        ConditionMetric::Memory => row.stated.memory_mib.clone(),
        ConditionMetric::P50 => times(case, row, Percentile::P50, |latency| latency.p50_ms),
        ConditionMetric::P99 => times(case, row, Percentile::P99, |latency| latency.p99_ms),
        ConditionMetric::Errors => None,
    }
}

/// Returns a percentile of the times of each set, ms: in the open load after turns if there is one.
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
