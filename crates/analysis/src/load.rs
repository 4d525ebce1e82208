//! One benchmark with load, from its runs to its ranks.

use bakeoff_model::record::Results;

use super::benchmark::{self, BenchmarkData};
use super::checks::CheckTable;
use super::control::{self, Control};
use super::cpu_parts::{self, CpuPartsRow};
use super::database::{self, DatabaseRow};
use super::errors::{self, Failed};
use super::first_byte::{self, FirstByteRow};
use super::gc::{self, GcRow};
use super::group_scales;
use super::layers::{self, Layers};
use super::open_cycles;
use super::overview::{self, Overview};
use super::own_metrics::{self, OwnMetrics};
use super::probe::{self, ShareRow};
use super::requests::{self, RequestRow};
use super::rising;
use super::scaling::{self, Scaling};
use super::steady::{self, CaseWarmUp};
use super::summary::{self, BenchmarkSummary};
use super::turns;

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
    fn new(results: &Results, data: BenchmarkData<'r>, controls: Vec<Control>, void: bool) -> Self {
        let checks = CheckTable::new(&data);
        let mut summary = summary::of_benchmark(&data, &checks, controls, void);
        let sampled = layers::of_reasons(results, &summary);
        let reasons = summary.tables.iter_mut();
        let reasons = reasons.flat_map(|table| &mut table.reasons);
        for (reasons, sampled) in reasons.zip(sampled) {
            reasons.sampled = sampled;
        }
        Self {
            scalings: scaling::scalings(&data, &summary),
            overviews: overview::overviews(&data, &summary),
            layers: layers::of(results, &summary),
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
    let void = controls.iter().flatten().any(Control::is_void);
    let each = data.into_iter().zip(controls);
    each.map(|(data, controls)| LoadAnalysis::new(results, data, controls, void))
        .collect()
}
