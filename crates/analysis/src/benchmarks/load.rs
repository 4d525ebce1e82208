//! One benchmark with load, from its runs to its ranks.

use bakeoff_model::record::Results;

use super::scaling::{self, Scaling};
use crate::data::benchmark::{self, BenchmarkData};
use crate::data::checks::CheckTable;
use crate::data::requests::{self, RequestRow};
use crate::explain::cpu_parts::{self, CpuPartsRow};
use crate::explain::database::{self, DatabaseRow};
use crate::explain::gc::{self, GcRow};
use crate::explain::layers::{self, Layers};
use crate::explain::own_metrics::{self, OwnMetrics};
use crate::explain::probe::{self, ShareRow};
use crate::tables::control::{self, Control, ControlVerdict};
use crate::tables::errors::{self, Failed};
use crate::tables::first_byte::{self, FirstByteRow};
use crate::tables::overview::{self, Overview};
use crate::tables::steady::{self, CaseWarmUp};
use crate::tables::summary::{self, BenchmarkSummary};
use crate::turns;
use crate::turns::group_scales;
use crate::turns::open_cycles;
use crate::turns::rising;

/// One benchmark with load.
#[derive(Debug)]
pub struct LoadAnalysis<'r> {
    /// Contenders by rank, and those without a rank with the reason.
    pub summary: BenchmarkSummary,
    /// Steps of runs of cases.
    pub data: BenchmarkData<'r>,
    /// Checks of each contender.
    pub checks: CheckTable,
    /// Warm-up of each contender.
    pub warm_ups: Vec<CaseWarmUp>,
    /// Kinds of requests, one for each contender and step.
    pub requests: Vec<RequestRow>,
    /// Requests that failed.
    pub errors: Failed,
    /// CPU per request by groups of threads.
    pub cpu_parts: Vec<CpuPartsRow>,
    /// Shares of CPU time by groups of threads.
    pub shares: Vec<ShareRow>,
    /// Times to the first byte of responses that came in parts.
    pub first_bytes: Vec<FirstByteRow>,
    /// Pauses of garbage collectors.
    pub gc: Vec<GcRow>,
    /// Connections to the database.
    pub database: Vec<DatabaseRow>,
    /// Metrics that contenders export.
    pub own_metrics: OwnMetrics,
    /// Throughput over the values of a parameter.
    pub scalings: Vec<Scaling>,
    /// Overviews of all contenders at a step.
    pub overviews: Vec<Overview>,
    /// CPU per request by layers of the stack.
    pub layers: Layers,
}

impl<'r> LoadAnalysis<'r> {
    fn new(
        results: &Results,
        data: BenchmarkData<'r>,
        controls: Vec<Control>,
        control: ControlVerdict,
    ) -> Self {
        let checks = CheckTable::new(&data);
        let mut summary = summary::of_benchmark(&data, &checks, controls, control);
        let sampled = layers::sampled(results, &summary.name, summary.rows());
        let layers = layers::of(&sampled);
        let reasons = summary.tables.iter().flat_map(|table| &table.reasons);
        let pairs = layers::of_reasons(&sampled, reasons);
        let reasons = summary.tables.iter_mut();
        let reasons = reasons.flat_map(|table| &mut table.reasons);
        for (reasons, pair) in reasons.zip(pairs) {
            reasons.sampled = pair;
        }
        Self {
            scalings: scaling::scalings(&data, &summary),
            overviews: overview::overviews(&data, &summary),
            layers,
            own_metrics: own_metrics::of(&data, summary.stated.as_ref()),
            summary,
            checks,
            warm_ups: steady::warm_ups(&data),
            requests: requests::rows(&data),
            errors: errors::failed(&data),
            cpu_parts: cpu_parts::rows(&data),
            shares: probe::rows(&data),
            first_bytes: first_byte::rows(&data),
            gc: gc::rows(&data),
            database: database::rows(&data),
            data,
        }
    }
}

/// Returns one entry for each load benchmark and set of conditions.
pub fn loads(results: &Results) -> Vec<LoadAnalysis<'_>> {
    let mut data = benchmark::benchmarks(results);
    data.iter_mut().for_each(turns::keep);
    data.iter_mut().for_each(open_cycles::keep);
    data.iter_mut().for_each(rising::judge);
    data.iter_mut().for_each(group_scales::scale);
    let controls = control::controls(&data);
    let control = ControlVerdict::of(controls.iter().flatten());
    let each = data.into_iter().zip(controls);
    each.map(|(data, controls)| LoadAnalysis::new(results, data, controls, control))
        .collect()
}
