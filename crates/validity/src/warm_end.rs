//! The end of a warm-up by which a set was found warm: it is measured like the following step.

use std::collections::BTreeMap;

use bakeoff_model::load::TurnCount;
use bakeoff_model::record::{IntervalRecord, RunRecords};
use bakeoff_model::suite::warmth::Warmth;

use crate::record::judged_record;
use crate::rules::COMPILING_MAX;
use crate::warm_up::{COMPILING_PART, WarmUp, is_warm};

/// More than the number of blocks in any slice.
const BLOCKS_MAX: u64 = 1 << 32;

/// The identity of a set: benchmark, profile, backend, repetition, group.
type SetKey = (String, String, String, u32, Option<u32>);

/// Makes the last slices of the warm-up the first ones of the following step, in sets whose
/// contenders were all found warm relative to each other, and whose next step has the same load.
///
/// These are the last half of the slices, over which the contenders were compared with each other;
/// the last quarter if compilers took more than 5 % of a contender's CPU time in that half. Runs
/// whose own metrics were read are left unchanged: the readings only span the step.
pub fn count_warm_ends(runs: &mut [RunRecords]) {
    let mut sets: BTreeMap<SetKey, Vec<(&mut RunRecords, WarmEnd)>> = BTreeMap::new();
    for run in runs {
        let Some(end) = warm_end(run) else {
            continue;
        };
        let begin = &run.begin;
        let key = (
            begin.run.benchmark.clone(),
            begin.profile.clone(),
            begin.backend_label(),
            begin.run.repetition,
            begin.run.group,
        );
        sets.entry(key).or_default().push((run, end));
    }
    for set in sets.into_values() {
        let are_warm = set.iter().all(|(_, end)| is_warm(&end.warmth));
        let count = set.iter().map(|(_, end)| end.count).min();
        let Some(count) = count.filter(|_| are_warm) else {
            continue;
        };
        for (run, end) in set {
            move_last(run, end.step, end.warmth, count);
        }
    }
}

/// The warm-up of one run in turns.
struct WarmEnd {
    /// Index of the warm-up step.
    step: usize,
    /// How warm the contender was at the end.
    warmth: Warmth,
    /// The number of its last slices that count as measured.
    count: usize,
}

/// Returns the warm-up of a run; `None` if it has none, or did not reach the step after it.
fn warm_end(run: &RunRecords) -> Option<WarmEnd> {
    let steps = &run.begin.run.steps;
    let step = steps.iter().position(|step| step.at_least.is_some())?;
    let (warm_up, next) = (steps.get(step)?, steps.get(step + 1)?);
    let is_same = (warm_up.connections, warm_up.pace) == (next.connections, next.pace);
    let is_next = run.begin.run.step_order.is_empty() && !next.warm_up;
    let is_counted = is_same && is_next && run.metrics.is_empty();
    let slices = run.intervals.iter();
    let mut measured = slices.clone().filter(|slice| slice.load.step == step + 1);
    let warmth = measured.find_map(|slice| slice.warmth)?;
    let slices: Vec<&IntervalRecord> = slices.filter(|slice| slice.load.step == step).collect();
    (is_counted && warmth.in_turns).then(|| WarmEnd {
        step,
        warmth,
        count: count(&slices),
    })
}

/// Returns the number of last slices of a warm-up that count as measured.
fn count(slices: &[&IntervalRecord]) -> usize {
    let half = slices.len() / 2;
    let mut last = WarmUp::default();
    let at_end = &slices[slices.len() - half..];
    at_end.iter().for_each(|slice| last.add(slice));
    let compiling = last.jit_share(0..half);
    match compiling.is_none_or(|share| share <= COMPILING_MAX) {
        true => half,
        false => half.min(slices.len().div_ceil(COMPILING_PART)),
    }
}

/// Makes the last slices of a step the first ones of the next; slices and blocks are renumbered.
fn move_last(run: &mut RunRecords, step: usize, warmth: Warmth, count: usize) {
    let of_step = run.intervals.iter().filter(|slice| slice.load.step == step);
    let first = of_step.count() - count;
    let (mut seen, mut moved) = (0, 0);
    for slice in &mut run.intervals {
        let load = &mut slice.load;
        let is_of_step = load.step == step;
        seen += usize::from(is_of_step);
        if is_of_step && seen > first {
            load.step = step + 1;
            load.slice = moved;
            // A warm-up is repeated, and each time its blocks are counted from 0.
            count_on(&mut load.turns, moved);
            moved += 1;
            slice.warm_up = false;
            slice.warmth = Some(warmth);
            slice.validity = judged_record(&run.begin, slice).validity;
        } else if load.step == step + 1 {
            load.slice += moved;
            count_on(&mut load.turns, moved);
        }
    }
}

/// Renumbers blocks so that they follow those of this many slices.
fn count_on(turns: &mut [TurnCount], slices: u32) {
    for turn in turns {
        turn.block += u64::from(slices) * BLOCKS_MAX;
    }
}
