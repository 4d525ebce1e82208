//! Overviews of all contenders at one step of a benchmark, over all runs.

use super::summary::BenchmarkSummary;
use crate::data::benchmark::{BenchmarkData, CaseData};
use crate::data::metric::Quantity;
use crate::data::percentiles::{self, Latency};
use crate::data::stated_step::{self, StatedStep};

/// An overview of a benchmark at one of its steps.
#[derive(Debug)]
pub struct Overview {
    /// The step.
    pub step: StatedStep,
    /// Metrics by the label of the case; those without a rank or a valid number there are missing.
    pub cells: Vec<(String, Cell)>,
}

/// The metrics of a contender at a step.
#[derive(Debug, Clone, Copy)]
pub struct Cell {
    /// Successful requests per second, mean over runs.
    pub throughput: f64,
    /// Response times of all runs merged; `None` if nothing succeeded.
    pub latency: Option<Latency>,
}

/// Returns overviews of all measured steps of a benchmark.
pub(crate) fn overviews(
    benchmark: &BenchmarkData<'_>,
    summary: &BenchmarkSummary,
) -> Vec<Overview> {
    let is_unranked =
        |case: &&CaseData<'_>| summary.unranked.iter().any(|one| one.label == case.label);
    let steps = stated_step::measured(benchmark).into_iter();
    let overview = |step: StatedStep| {
        let cases = benchmark.cases.iter().filter(|case| !is_unranked(case));
        let cells = cases.filter_map(|case| Some((case.label.clone(), cell(case, &step.label)?)));
        let cells = cells.collect();
        Overview { step, cells }
    };
    steps.map(overview).collect()
}

fn cell(case: &CaseData<'_>, label: &str) -> Option<Cell> {
    let throughput = Quantity::Throughput.at(case, label)?.mean();
    let steps = case.completed().filter_map(|run| run.step(label));
    let latency = percentiles::latency(steps.flat_map(|step| step.histograms()));
    Some(Cell {
        throughput,
        latency,
    })
}
