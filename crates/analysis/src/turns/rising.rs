//! Contenders of a set that still got faster in a measured step, relative to the others: the time
//! from which on a set was warm, in hindsight, and the only finding that needs records of several
//! runs.

use std::collections::{BTreeMap, BTreeSet};

use bakeoff_base::number::length_as_f64;
use bakeoff_model::load::LoadInterval;
use bakeoff_validity::{RiseInTurns, growth_beside};

use super::groups::{self, SetKey};
use crate::data::benchmark::{BenchmarkData, RunData, StepData};
use crate::data::validity;

/// Maximum number of eighths that are excluded at the start of a step: with fewer than half of them
/// left, noise would hide a continuing rise.
const EIGHTHS_MAX: usize = 4;

/// Requests per second of CPU time, by block.
type Efficiency = BTreeMap<u64, f64>;

/// Excludes the blocks in which a contender still got faster, from the first one on, and judges the
/// steps again by the remaining blocks. Requires the valid blocks of the sets.
pub(crate) fn judge(benchmark: &mut BenchmarkData<'_>) {
    let mut sets: BTreeMap<(SetKey, usize), Vec<Member>> = BTreeMap::new();
    for (run, step) in runs_with_steps(benchmark) {
        let place = (groups::place(run), step.index);
        sets.entry(place).or_default().push(Member::of(run, step));
    }
    // In the same order.
    let mut places: BTreeMap<(SetKey, usize), usize> = BTreeMap::new();
    let flat: BTreeMap<(SetKey, usize), Option<u64>> = sets
        .iter()
        .map(|(place, set)| (*place, flat_from(set)))
        .collect();
    for run in benchmark.cases.iter_mut().flat_map(|case| &mut case.runs) {
        let set = groups::place(run);
        for step in &mut run.steps {
            let place = (set, step.index);
            let own = places.entry(place).or_default();
            let rise = match flat[&place] {
                Some(first) => {
                    step.kept.retain(|turn| turn.block >= first);
                    None
                }
                None => rise(&sets[&place], *own, 0),
            };
            *own += 1;
            step.judge_counted(&run.records.begin, rise);
        }
    }
}

fn runs_with_steps<'s, 'a>(
    benchmark: &'s BenchmarkData<'a>,
) -> impl Iterator<Item = (&'s RunData<'a>, &'s StepData<'a>)> {
    let runs = benchmark.cases.iter().flat_map(|case| &case.runs);
    runs.flat_map(|run| run.steps.iter().map(move |step| (run, step)))
}

/// The step of a contender in its set.
struct Member<'a> {
    /// Requests per second of CPU time; empty if the contender failed or its number is invalid,
    /// because it must not exclude blocks of the others.
    efficiency: Efficiency,
    slices: Vec<&'a LoadInterval>,
}

impl<'a> Member<'a> {
    fn of(run: &RunData<'_>, step: &StepData<'a>) -> Self {
        let has_say = run.completed() && validity::unranked(&step.validity).is_none();
        Self {
            efficiency: if has_say {
                efficiency(step)
            } else {
                Efficiency::new()
            },
            slices: step.slices.iter().map(|slice| &slice.load).collect(),
        }
    }
}

/// Returns the first block after which no contender of a set gets faster: the first one of all, or
/// of an eighth. `None` if they do to the end.
fn flat_from(set: &[Member<'_>]) -> Option<u64> {
    let blocks: Vec<u64> = common(set).into_iter().collect();
    let Some(begin) = blocks.first().copied() else {
        return Some(0);
    };
    let rose: Vec<Option<RiseInTurns>> = (0..set.len()).map(|own| rise(set, own, begin)).collect();
    if rose.iter().all(Option::is_none) {
        return Some(begin);
    }
    let is_flat = |eighths: &usize| {
        let first = blocks[blocks.len() * eighths / 8];
        // Half of the remaining growth if it continued: with fewer blocks the noise hides more.
        let left = length_as_f64(8 - eighths) / 16.0;
        rose.iter().enumerate().all(|(own, rose)| {
            let most = rose.map(|rose| (left * rose.growth().ln_1p()).exp_m1());
            let is_less = most.is_none_or(|most| growth(set, own, first) <= most);
            is_less && rise(set, own, first).is_none()
        })
    };
    let found = (1..=EIGHTHS_MAX).find(is_flat)?;
    Some(blocks[blocks.len() * found / 8])
}

/// Returns the requests per second of CPU time in the turns that count; empty if it was not read
/// turn by turn.
fn efficiency(step: &StepData<'_>) -> Efficiency {
    let turns = step.kept.iter();
    turns
        .filter_map(|turn| Some((turn.block, turn.requests_per_s / turn.cores?)))
        .collect()
}

/// Returns the blocks that all contenders of a set have.
fn common(set: &[Member<'_>]) -> BTreeSet<u64> {
    let played = set.iter().map(|one| &one.efficiency);
    let played = played.filter(|one| !one.is_empty());
    let blocks = played.map(|one| one.keys().copied().collect::<BTreeSet<u64>>());
    blocks.reduce(|all, next| &all & &next).unwrap_or_default()
}

/// Returns how a contender of a set got faster from this block on.
fn rise(set: &[Member<'_>], own: usize, first: u64) -> Option<RiseInTurns> {
    let slices = &set.get(own)?.slices;
    let (own, others) = from(set, own, first)?;
    let others: Vec<&[f64]> = others.iter().map(Vec::as_slice).collect();
    RiseInTurns::of(&own, &others, slices)
}

/// Returns the growth, significant or not; zero if it is not known.
fn growth(set: &[Member<'_>], own: usize, first: u64) -> f64 {
    let grown = from(set, own, first).and_then(|(own, others)| {
        let others: Vec<&[f64]> = others.iter().map(Vec::as_slice).collect();
        growth_beside(&own, &others)
    });
    grown.unwrap_or_default()
}

/// Returns the values of a contender, and of each other one, from this block on; `None` for one
/// without values.
fn from(set: &[Member<'_>], own: usize, first: u64) -> Option<(Vec<f64>, Vec<Vec<f64>>)> {
    let common = common(set);
    let of_blocks = |one: &Member<'_>| -> Vec<f64> {
        let blocks = common.range(first..);
        let values = blocks.filter_map(|block| one.efficiency.get(block).copied());
        values.collect()
    };
    let others = set.iter().enumerate();
    let others = others.filter(|(index, one)| *index != own && !one.efficiency.is_empty());
    let others = others.map(|(_, one)| of_blocks(one)).collect();
    let own = set.get(own).filter(|one| !one.efficiency.is_empty())?;
    Some((of_blocks(own), others))
}
