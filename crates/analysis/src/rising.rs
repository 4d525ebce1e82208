//! Which contenders of a set still got faster in a measured step, held against the others: the one
//! finding that takes the records of several runs.

use std::collections::{BTreeMap, BTreeSet};

use bakeoff_model::load::LoadInterval;
use bakeoff_validity::RiseInTurns;

use super::benchmark::{BenchmarkData, StepData};
use super::groups::{self, SetKey};
use super::validity;

/// Requests for each second of CPU time, by block.
type Efficiency = BTreeMap<u64, f64>;

/// Judges the steps of contenders that got faster once more, with that. The blocks of the sets that
/// count must be known.
pub(super) fn judge(benchmark: &mut BenchmarkData<'_>) {
    let mut sets: BTreeMap<(SetKey, usize), Vec<Efficiency>> = BTreeMap::new();
    for run in benchmark.cases.iter().flat_map(|case| &case.runs) {
        for step in &run.steps {
            // One that broke off, or whose number is invalid, must not take blocks from the others.
            let has_say = run.completed() && validity::unranked(&step.validity).is_none();
            let own = if has_say {
                efficiency(step)
            } else {
                Efficiency::new()
            };
            let place = (groups::place(run), step.index);
            sets.entry(place).or_default().push(own);
        }
    }
    // In the same order.
    let mut places: BTreeMap<(SetKey, usize), usize> = BTreeMap::new();
    for run in benchmark.cases.iter_mut().flat_map(|case| &mut case.runs) {
        let set = groups::place(run);
        for step in &mut run.steps {
            let place = (set, step.index);
            let own = places.entry(place).or_default();
            let rise = sets.get(&place).and_then(|set| rise(step, set, *own));
            *own += 1;
            if rise.is_some() {
                let begin = &run.records.begin;
                (step.validity, step.unfair) = validity::of_step(begin, &step.slices, rise);
            }
        }
    }
}

/// That of the turns that count; empty where CPU time was not read turn by turn.
fn efficiency(step: &StepData<'_>) -> Efficiency {
    let turns = step.kept.iter();
    turns
        .filter_map(|turn| Some((turn.block, turn.requests_per_s / turn.cores?)))
        .collect()
}

/// How a contender of a set got faster over a step.
fn rise(step: &StepData<'_>, set: &[Efficiency], own: usize) -> Option<RiseInTurns> {
    let played = set.iter().filter(|one| !one.is_empty());
    let common = played
        .map(|one| one.keys().copied().collect::<BTreeSet<u64>>())
        .reduce(|all, next| &all & &next)?;
    let of_blocks = |one: &Efficiency| -> Vec<f64> {
        let blocks = common.iter();
        blocks.filter_map(|block| one.get(block).copied()).collect()
    };
    let others = set.iter().enumerate();
    let others = others.filter(|(index, one)| *index != own && !one.is_empty());
    let others: Vec<Vec<f64>> = others.map(|(_, one)| of_blocks(one)).collect();
    let others: Vec<&[f64]> = others.iter().map(Vec::as_slice).collect();
    let slices: Vec<&LoadInterval> = step.slices.iter().map(|slice| &slice.load).collect();
    RiseInTurns::of(&of_blocks(set.get(own)?), &others, &slices)
}
