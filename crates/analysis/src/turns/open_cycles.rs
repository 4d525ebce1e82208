//! The valid cycles of open load, in which the response times of contenders are compared.

use std::collections::{BTreeMap, BTreeSet};

use bakeoff_model::record::{Begin, IntervalRecord};
use bakeoff_model::validity::FairnessVerdict;
use bakeoff_validity::judged_record;

use super::groups::{self, SetKey};
use crate::data::benchmark::BenchmarkData;

/// The cycles of a set, and the disturbed ones among them.
#[derive(Default)]
struct Cycles {
    all: BTreeSet<u32>,
    disturbed: BTreeSet<u32>,
}

/// Excludes the cycles, for all contenders of a set, in which the load generator or the host was
/// the bottleneck for one of them. All count if more than half of them are disturbed.
pub(crate) fn keep(benchmark: &mut BenchmarkData<'_>) {
    let mut sets: BTreeMap<SetKey, Cycles> = BTreeMap::new();
    for run in benchmark.cases.iter().flat_map(|case| &case.runs) {
        let cycles = sets.entry(groups::place(run)).or_default();
        for slice in run.open.iter().flat_map(|open| &open.slices) {
            cycles.all.insert(slice.load.slice);
            if is_disturbed(&run.records.begin, slice) {
                cycles.disturbed.insert(slice.load.slice);
            }
        }
    }
    for run in benchmark.cases.iter_mut().flat_map(|case| &mut case.runs) {
        let Cycles { all, disturbed } = &sets[&groups::place(run)];
        if disturbed.is_empty() || 2 * disturbed.len() > all.len() {
            continue;
        }
        let begin = &run.records.begin;
        if let Some(open) = &mut run.open {
            open.slices
                .retain(|slice| !disturbed.contains(&slice.load.slice));
            open.sum_up(begin);
        }
    }
}

fn is_disturbed(begin: &Begin, slice: &IntervalRecord) -> bool {
    let verdict = judged_record(begin, slice).validity.verdict();
    matches!(
        verdict,
        FairnessVerdict::GeneratorBound | FairnessVerdict::HostBound
    )
}
