//! Scales the numbers in groups by those of the contender that is in every group, so that ratios
//! are relative to it, which cancels the host's speed.

use std::collections::BTreeMap;

use bakeoff_model::record::totals::geometric_mean;

use super::groups::{self, SetKey};
use crate::data::benchmark::{BenchmarkData, CaseData};
use crate::data::scale::{CpuScales, Scale};
use crate::turns;

/// The numbers of the common contender, group by group.
#[derive(Default)]
struct References {
    rates: BTreeMap<(usize, SetKey), f64>,
    cpu: BTreeMap<(usize, SetKey), f64>,
    measured: BTreeMap<(usize, SetKey), f64>,
    whole: BTreeMap<(usize, SetKey), f64>,
}

/// Makes numbers of different groups comparable, once it is known which turns count. Numbers from a
/// group in which the common contender has none are not compared.
pub(crate) fn scale(benchmark: &mut BenchmarkData<'_>) {
    let Some((common, _)) = groups::common(&benchmark.cases) else {
        return;
    };
    let known = common.map(|index| References::of(&benchmark.cases[index]));
    let known = known.unwrap_or_default();
    for (index, case) in benchmark.cases.iter_mut().enumerate() {
        for run in &mut case.runs {
            let place = groups::place(run);
            let steps = run.steps.iter_mut().filter(|step| turns::is_measured(step));
            for step in steps {
                let found = known.scale(step.index, place);
                // The common contender's own number shows its own problems.
                run.is_apart |= found.is_none() && common != Some(index);
                step.scale = found.unwrap_or_default();
            }
            run.scales = CpuScales {
                measured: scale_in(&known.measured, (0, place)),
                whole: scale_in(&known.whole, (0, place)),
            };
        }
    }
}

impl References {
    fn of(common: &CaseData<'_>) -> Self {
        let mut known = Self::default();
        for (run, step) in turns::with_numbers(std::iter::once(common)) {
            // A second process is in one of the groups only.
            if run.void || run.process().is_twin || step.kept.is_empty() {
                continue;
            }
            let key = (step.index, groups::place(run));
            known.rates.insert(key, step.throughput());
            let cpu_us = step.cpu_us_per_request();
            known.cpu.extend(cpu_us.map(|cpu_us| (key, cpu_us)));
            let measured = run.cpu_us_per_request();
            known
                .measured
                .extend(measured.map(|cpu_us| ((0, key.1), cpu_us)));
            let whole = run.cpu_us_per_request_whole();
            known.whole.extend(whole.map(|cpu_us| ((0, key.1), cpu_us)));
        }
        known
    }

    /// Returns the factors for a step in a group; `None` if the common contender has no number
    /// there.
    fn scale(&self, step: usize, place: SetKey) -> Option<Scale> {
        Some(Scale {
            rate: scale_in(&self.rates, (step, place))?,
            cpu: scale_in(&self.cpu, (step, place)),
        })
    }
}

/// Returns the geometric mean over the groups of a repetition divided by the value in one of them.
fn scale_in(values: &BTreeMap<(usize, SetKey), f64>, at: (usize, SetKey)) -> Option<f64> {
    let own = values.get(&at)?;
    let same = |(step, place): &(usize, SetKey)| (*step, place.0) == (at.0, at.1.0);
    let groups = values.iter().filter(|(key, _)| same(key));
    Some(geometric_mean(groups.map(|(_, value)| *value))? / own)
}
