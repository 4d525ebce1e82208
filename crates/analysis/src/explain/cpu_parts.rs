//! Parts of the CPU time of contenders with a compiler or a collector: compiling, garbage
//! collection, and the application.

use bakeoff_model::measure::cpu_parts::CpuParts;
use bakeoff_model::record::IntervalRecord;

use crate::data::benchmark::{BenchmarkData, RunData, StepData};

/// Shares of the CPU time of a case over all completed runs, 0 to 1.
#[derive(Debug, Clone, PartialEq)]
pub struct CpuPartsRow {
    /// Contender and parameters.
    pub label: String,
    /// Compiling in warm-up; `None` without a warm-up.
    pub jit_warm_up: Option<f64>,
    /// Compiling in measured steps.
    pub jit: f64,
    /// Compiling in the measured slice with the highest share.
    pub jit_most: f64,
    /// Garbage collection in measured steps.
    pub gc: f64,
    /// The rest in measured steps.
    pub application: f64,
}

/// Returns a row for each case with any compiling or garbage collection.
pub fn rows(benchmark: &BenchmarkData<'_>) -> Vec<CpuPartsRow> {
    let rows = benchmark.cases.iter().filter_map(|case| {
        let runs: Vec<&RunData<'_>> = case.completed().collect();
        let slices = |warm_up: bool| {
            let steps = runs.iter().flat_map(|run| &run.steps);
            let steps = steps.filter(move |step| step.warm_up == warm_up);
            let slices = steps.flat_map(|step| step.slices.iter().copied());
            slices.filter_map(of_slice).collect::<Vec<CpuParts>>()
        };
        let measured = slices(false);
        let (warm_up, sum) = (sum(&slices(true)), sum(&measured)?);
        let of_all = [Some(sum), warm_up].into_iter().flatten();
        let any = of_all.map(|parts| parts.jit_ns + parts.gc_ns).sum::<u64>() > 0;
        any.then(|| CpuPartsRow {
            label: case.label.clone(),
            jit_warm_up: warm_up.map(|parts| parts.jit_share()),
            jit: sum.jit_share(),
            jit_most: measured.iter().map(CpuParts::jit_share).fold(0.0, f64::max),
            gc: sum.gc_share(),
            application: sum.application_share(),
        })
    });
    rows.collect()
}

/// Returns the parts of a slice's CPU time; `None` if threads were not read.
pub fn of_slice(slice: &IntervalRecord) -> Option<CpuParts> {
    let before = slice.contender_before.as_ref()?;
    CpuParts::between(before, slice.contender_after.as_ref()?)
}

/// Returns the parts of a step's CPU time, over all slices.
pub fn of_step(step: &StepData<'_>) -> Option<CpuParts> {
    let slices: Option<Vec<CpuParts>> = step.slices.iter().map(|slice| of_slice(slice)).collect();
    sum(&slices?)
}

fn sum(parts: &[CpuParts]) -> Option<CpuParts> {
    parts.iter().copied().reduce(|mut sum, one| {
        sum += one;
        sum
    })
}
