//! Sets: the blocks that count, and the components of the spread of ratios.

pub(crate) mod group_scales;
pub mod groups;
pub(crate) mod open_cycles;
pub(crate) mod rising;

use std::collections::{BTreeMap, BTreeSet};

use bakeoff_model::record::{Begin, IntervalRecord, Unloaded};
use bakeoff_model::suite::conditions::RuntimeKind;
use bakeoff_model::validity::{FairnessVerdict, Finding};
use bakeoff_stats::{Components, Estimate, Sample};
use bakeoff_validity::{FULL, UNDISTURBED, judged_record};

use crate::data::benchmark::{BenchmarkData, CaseData, RunData, StepData};
use crate::data::metric::CONFIDENCE;
use crate::data::number::{as_f64, count, seconds};
use crate::data::played_turn::turns_of;
use crate::data::sittings::{self, BetweenSittings, SittingSets};
use crate::data::validity;
use groups::{Common, SetKey};

/// The sets of a benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct Sets {
    /// Counts for each set with its repetition, in order, or for each of its groups.
    pub each: Vec<SetCount>,
    /// The contender that is in every group; `None` if sets are not split.
    pub common: Option<Common>,
    /// Spreads of every pair of contenders that both completed a set, by requests per second.
    pub pairs: Vec<Spread>,
    /// The sittings in which the sets were measured; empty if there was one.
    pub sittings: Vec<SittingSets>,
    /// Whether all contenders are CPU-bound, and throughput is computed per CPU time.
    pub by_cpu_time: bool,
    /// Whether the contenders run elsewhere, each at its URL: one process of each spans all sets.
    pub is_external: bool,
    /// Number of cores that a contender used while others had the open load, the least and the most
    /// of all; `None` if it was not recorded.
    pub unloaded_cores: Option<(f64, f64)>,
}

/// The number of blocks of a set that count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SetCount {
    /// The repetition.
    pub repetition: u32,
    /// The group, from 1; `None` for a whole set.
    pub group: Option<u32>,
    /// Blocks that were played.
    pub blocks: usize,
    /// Blocks that count.
    pub kept: usize,
}

/// The spread of two contenders' ratio, as standard deviations of its logarithm: 0.03 is 3 %.
#[derive(Debug, Clone, PartialEq)]
pub struct Spread {
    /// The first contender.
    pub first: String,
    /// The second contender.
    pub second: String,
    /// Ratios of each set that both completed, in order.
    pub ratios: Vec<SetRatio>,
    /// The components: from block to block, and from set to set beyond that, which is due to fresh
    /// processes.
    pub components: Components,
    /// The share of the spread of sets that is between sittings; `None` if there is one sitting,
    /// and if the number of sets was decided by looking at them.
    pub sittings: Option<BetweenSittings>,
}

/// The ratio of two contenders in a set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SetRatio {
    /// The repetition.
    pub repetition: u32,
    /// The geometric mean over its blocks, with the interval that these determine: only for these
    /// processes, since others may differ.
    pub ratio: Estimate,
}

impl Spread {
    /// Returns the ratios of a contender to another one; `None` if they are not this pair.
    pub fn of(&self, one: &str, other: &str) -> Option<Vec<SetRatio>> {
        match (self.first.as_str(), self.second.as_str()) {
            (first, second) if (first, second) == (one, other) => Some(self.ratios.clone()),
            (first, second) if (second, first) == (one, other) => {
                Some(self.ratios.iter().map(SetRatio::inverse).collect())
            }
            _ => None,
        }
    }
}

impl SetRatio {
    /// Computes the ratio from the logarithms in each block; `None` for an empty list.
    fn of(repetition: u32, logs: &[f64]) -> Option<Self> {
        let ratios = logs.iter().map(|log| log.exp()).collect();
        let ratio = Sample::new(ratios)?.geometric(CONFIDENCE)?;
        Some(Self { repetition, ratio })
    }

    fn inverse(&self) -> Self {
        let mut inverse = *self;
        inverse.ratio.point = 1.0 / self.ratio.point;
        if let Some(interval) = &mut inverse.ratio.interval {
            (interval.low, interval.high) = (1.0 / interval.high, 1.0 / interval.low);
        }
        inverse
    }
}

/// A measured slice of a contender in its turn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TurnSlice {
    /// Time of its middle, s since the set's first slice started.
    pub at_s: f64,
    /// Length, s.
    pub length_s: f64,
    /// Successful requests.
    pub requests: f64,
    /// Whether its block counts.
    pub counts: bool,
}

/// The measurements of one set.
#[derive(Debug, Clone, PartialEq)]
pub struct PlayedSet {
    /// The number of the set, from 1.
    pub repetition: u32,
    /// Time since its first slice started, s.
    pub length_s: f64,
    /// Slices in order, with the index of their case.
    pub slices: Vec<(usize, Vec<TurnSlice>)>,
}

/// Returns the sets of a benchmark as they were played, at the step of its ratios.
pub fn played(benchmark: &BenchmarkData<'_>) -> Vec<PlayedSet> {
    let Some(index) = shown_step(benchmark) else {
        return Vec::new();
    };
    let mut by_place: BTreeMap<SetKey, Vec<(usize, &StepData<'_>)>> = BTreeMap::new();
    for (case, data) in benchmark.cases.iter().enumerate() {
        for run in &data.runs {
            let steps = run.steps.iter();
            let steps = steps.filter(|step| step.index == index && is_measured(step));
            let set = by_place.entry(groups::place(run)).or_default();
            set.extend(steps.map(|step| (case, step)));
        }
    }
    let sets = by_place.into_iter().filter(|(_, steps)| !steps.is_empty());
    sets.map(|((repetition, _), steps)| played_set(repetition, &steps))
        .collect()
}

/// Returns the measured step at which the contenders served most requests per second in total:
/// ratios are shown there.
fn shown_step(benchmark: &BenchmarkData<'_>) -> Option<usize> {
    let mut by_step: BTreeMap<usize, f64> = BTreeMap::new();
    let runs = benchmark.cases.iter().flat_map(|case| &case.runs);
    for step in runs
        .flat_map(|run| &run.steps)
        .filter(|step| is_measured(step))
    {
        *by_step.entry(step.index).or_default() += step.totals.requests_per_s();
    }
    let most = by_step.into_iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(most.0)
}

fn played_set(repetition: u32, steps: &[(usize, &StepData<'_>)]) -> PlayedSet {
    let all = || steps.iter().flat_map(|(_, step)| &step.slices);
    let begin_ns = all().map(|slice| slice.load.start_ns).min();
    let end_ns = all().map(|slice| slice.load.end_ns).max();
    let begin_ns = begin_ns.unwrap_or_default();
    let since = |at_ns: u64| seconds(at_ns.saturating_sub(begin_ns));
    let of_step = |step: &StepData<'_>| {
        let kept: BTreeSet<u64> = step.kept.iter().map(|turn| turn.block).collect();
        let slices = step.slices.iter().map(|slice| {
            let (from, to) = (since(slice.load.start_ns), since(slice.load.end_ns));
            TurnSlice {
                at_s: f64::midpoint(from, to),
                length_s: seconds(slice.load.length_ns()),
                requests: as_f64(slice.load.requests),
                counts: turns_of(slice)
                    .iter()
                    .any(|turn| kept.contains(&turn.block)),
            }
        });
        slices.collect()
    };
    PlayedSet {
        repetition,
        length_s: end_ns.map_or(0.0, since),
        slices: steps
            .iter()
            .map(|(case, step)| (*case, of_step(step)))
            .collect(),
    }
}

/// Keeps, for every contender of a set, only the turns of the blocks that count for all: otherwise
/// some blocks of one would be compared with other blocks of another. A contender whose number is
/// invalid has no effect.
pub(super) fn keep(benchmark: &mut BenchmarkData<'_>) {
    let counted = counted_blocks(benchmark);
    let runs = benchmark.cases.iter_mut().flat_map(|case| &mut case.runs);
    for run in runs {
        let place = groups::place(run);
        let (mut has_say, mut is_void) = (false, true);
        for step in run.steps.iter_mut().filter(|step| is_measured(step)) {
            // Absent if no contender has a number: then the numbers themselves say why.
            let Some(blocks) = counted.get(&(place, step.index)) else {
                continue;
            };
            has_say = true;
            is_void &= blocks.is_empty();
            let turns = step.slices.iter().flat_map(|slice| turns_of(slice));
            step.kept = turns.filter(|turn| blocks.contains(&turn.block)).collect();
        }
        run.void = has_say && is_void;
    }
    take_by_cpu_time(benchmark);
}

/// Computes the throughput of a step in which every contender is CPU-bound: the requests that it
/// serves in a second of CPU time, times the CPU time that it uses in a second of an undisturbed
/// turn. This excludes the time for which other processes or the hypervisor had the core.
fn take_by_cpu_time(benchmark: &mut BenchmarkData<'_>) {
    let steps: BTreeSet<usize> = with_numbers(benchmark.cases.iter())
        .map(|(_, step)| step.index)
        .collect();
    for index in steps {
        let cases = || benchmark.cases.iter();
        let with_turns = cases().filter(|case| {
            with_numbers(std::iter::once(*case)).any(|(_, step)| step.index == index)
        });
        if !with_turns
            .map(|case| full_use(case, index))
            .all(|cores| cores.is_some())
        {
            continue;
        }
        for case in benchmark.cases.iter_mut() {
            let cores = full_use(case, index);
            let steps = case.runs.iter_mut().flat_map(|run| &mut run.steps);
            for step in steps.filter(|step| step.index == index) {
                step.full_cores = cores;
            }
        }
    }
}

/// Returns the number of cores that a contender uses in undisturbed turns of a step, if it is
/// CPU-bound.
fn full_use(case: &CaseData<'_>, index: usize) -> Option<f64> {
    let steps = || with_numbers(std::iter::once(case)).filter(|(_, step)| step.index == index);
    let turns = steps().flat_map(|(_, step)| step.kept.iter());
    let cores: Option<Vec<f64>> = turns.map(|turn| turn.cores).collect();
    let mut cores = cores.filter(|cores| !cores.is_empty())?;
    cores.sort_by(f64::total_cmp);
    let used = cores[cores.len() - 1 - cores.len() / UNDISTURBED];
    let (run, _) = steps().next()?;
    (used >= FULL * allowed_cores(&run.records.begin)).then_some(used)
}

/// Returns the number of cores that the contender may use.
fn allowed_cores(begin: &Begin) -> f64 {
    let cores = match begin.cores.contender.len() {
        0 => begin.host.cores.max(1),
        cores => cores,
    };
    let quota = begin.run.limits.cpus.unwrap_or(f64::INFINITY);
    quota.min(count(cores))
}

pub(super) fn is_measured(step: &StepData<'_>) -> bool {
    !step.warm_up && step.is_in_turns()
}

/// Returns the blocks in which every contender has a turn that counts, by set and step.
fn counted_blocks(benchmark: &BenchmarkData<'_>) -> BTreeMap<(SetKey, usize), BTreeSet<u64>> {
    let mut counted: BTreeMap<(SetKey, usize), BTreeSet<u64>> = BTreeMap::new();
    for (run, step) in with_numbers(benchmark.cases.iter()) {
        let good = good_blocks(&run.records.begin, step);
        let key = (groups::place(run), step.index);
        match counted.get_mut(&key) {
            Some(blocks) => blocks.retain(|block| good.contains(block)),
            None => {
                counted.insert(key, good);
            }
        }
    }
    counted
}

/// Returns the measured steps of runs that were completed and have a number: a run that failed, or
/// whose number is invalid, must not void the others' blocks.
pub(super) fn with_numbers<'s, 'a: 's>(
    cases: impl Iterator<Item = &'s CaseData<'a>>,
) -> impl Iterator<Item = (&'s RunData<'a>, &'s StepData<'a>)> {
    let runs = cases.flat_map(|case| case.runs.iter().filter(|run| run.completed()));
    let steps = runs.flat_map(|run| run.steps.iter().map(move |step| (run, step)));
    let measured = steps.filter(|(_, step)| is_measured(step));
    measured.filter(|(_, step)| validity::unranked(&step.validity).is_none())
}

/// Returns why no block of a run counts: the first reason against one of its slices.
pub(super) fn why_void(run: &RunData<'_>) -> Option<String> {
    let begin = &run.records.begin;
    let slices = run.steps.iter().filter(|step| is_measured(step));
    let mut slices = slices.flat_map(|step| &step.slices);
    slices.find_map(|slice| void_reason(begin, slice))
}

fn good_blocks(begin: &Begin, step: &StepData<'_>) -> BTreeSet<u64> {
    let good = step.slices.iter().filter(|slice| !is_void(begin, slice));
    let turns = good.flat_map(|slice| turns_of(slice));
    turns.map(|turn| turn.block).collect()
}

fn is_void(begin: &Begin, slice: &IntervalRecord) -> bool {
    void_reason(begin, slice).is_some()
}

/// The reason for which a slice is void.
fn void_reason(begin: &Begin, slice: &IntervalRecord) -> Option<String> {
    let judged = judged_record(begin, slice).validity;
    let without = matches!(
        judged.verdict(),
        FairnessVerdict::Invalid | FairnessVerdict::Unknown
    );
    let mut reasons = judged.reasons().iter();
    let voids = reasons.find(|reason| {
        let of_others = matches!(
            reason.finding,
            Finding::Steal { .. } | Finding::ForeignWork { .. }
        );
        without || (of_others && reason.verdict >= FairnessVerdict::HostBound)
    });
    voids.map(ToString::to_string)
}

/// Returns the sets of a benchmark, and the ratios in them; `None` without a set.
pub(super) fn sets(benchmark: &BenchmarkData<'_>) -> Option<Sets> {
    let index = shown_step(benchmark)?;
    let mut played: BTreeMap<SetKey, BTreeSet<u64>> = BTreeMap::new();
    let mut kept: BTreeMap<SetKey, usize> = BTreeMap::new();
    for (run, step) in with_numbers(benchmark.cases.iter()) {
        if step.index == index {
            let kept = kept.entry(groups::place(run)).or_default();
            *kept = (*kept).max(step.kept.len());
        }
    }
    for run in benchmark.cases.iter().flat_map(|case| &case.runs) {
        let steps = run.steps.iter().filter(|step| step.index == index);
        let slices = steps.flat_map(|step| &step.slices);
        let blocks = played.entry(groups::place(run)).or_default();
        blocks.extend(
            slices
                .flat_map(|slice| turns_of(slice))
                .map(|turn| turn.block),
        );
    }
    let runs = || benchmark.cases.iter().flat_map(|case| &case.runs);
    let played_sets: BTreeSet<u32> = played.keys().map(|place| place.0).collect();
    let each = played.into_iter().map(|(place, blocks)| SetCount {
        repetition: place.0,
        group: Some(place.1).filter(|group| *group > 0),
        blocks: blocks.len(),
        kept: kept.get(&place).copied().unwrap_or_default(),
    });
    let began = runs().filter(|run| played_sets.contains(&run.repetition()));
    let began = began.map(|run| (run.repetition(), sittings::began(&run.records.begin)));
    Some(Sets {
        sittings: sittings::sets(&began.collect()),
        each: each.collect(),
        common: groups::named(&benchmark.cases),
        by_cpu_time: {
            let mut steps = with_numbers(benchmark.cases.iter());
            steps.any(|(_, step)| step.index == index && step.full_cores.is_some())
        },
        pairs: pairs(&benchmark.cases, index),
        is_external: runs().any(|run| run.records.begin.runtime == RuntimeKind::External),
        unloaded_cores: unloaded_cores(&benchmark.cases),
    })
}

fn unloaded_cores(cases: &[CaseData<'_>]) -> Option<(f64, f64)> {
    let of_case = |case: &CaseData<'_>| {
        let slices = case.runs.iter().flat_map(|run| &run.records.intervals);
        let mut all = Unloaded::default();
        slices
            .filter_map(|slice| slice.unloaded)
            .for_each(|one| all += one);
        (all.wall_ns > 0).then(|| as_f64(all.cpu_ns) / as_f64(all.wall_ns))
    };
    let cores: Vec<f64> = cases.iter().filter_map(of_case).collect();
    let least = cores.iter().copied().min_by(f64::total_cmp)?;
    Some((least, cores.into_iter().max_by(f64::total_cmp)?))
}

fn pairs(cases: &[CaseData<'_>], index: usize) -> Vec<Spread> {
    let common = groups::common(cases).and_then(|(common, _)| common);
    let common = common.map(|place| logs(&cases[place], index));
    let mut pairs = Vec::new();
    for (place, first) in cases.iter().enumerate() {
        let others = cases[place + 1..].iter();
        let spread = |second: &CaseData<'_>| {
            let (one, other) = (logs(first, index), logs(second, index));
            let found = groups::differences(&one, &other, common.as_ref());
            spread(first, second, found)
        };
        pairs.extend(others.filter_map(spread));
    }
    pairs
}

/// Returns the spread of a pair with these logarithms of its ratio in each repetition.
fn spread(
    first: &CaseData<'_>,
    second: &CaseData<'_>,
    found: Vec<(u32, Vec<f64>)>,
) -> Option<Spread> {
    let ratio = |(repetition, logs): &(u32, Vec<f64>)| SetRatio::of(*repetition, logs);
    let ratios: Vec<SetRatio> = found.iter().filter_map(ratio).collect();
    let sittings: BTreeMap<u32, u32> = with_numbers(std::iter::once(first))
        .map(|(_, step)| step.sitting)
        .collect();
    let of_sitting = |one: &SetRatio| {
        let sitting = sittings.get(&one.repetition).copied();
        (sitting.unwrap_or_default(), one.ratio.point.ln())
    };
    let in_sittings: Vec<(u32, f64)> = ratios.iter().map(of_sitting).collect();
    let mut steps = with_numbers(std::iter::once(first));
    let looked_at = steps.any(|(_, step)| step.looks.is_some());
    let groups: Vec<Vec<f64>> = found.into_iter().map(|(_, logs)| logs).collect();
    Some(Spread {
        first: first.label.clone(),
        second: second.label.clone(),
        ratios,
        components: Components::of(&groups)?,
        sittings: BetweenSittings::of(&in_sittings).filter(|_| !looked_at),
    })
}

/// Returns the logarithm of the throughput by set and valid block; for two processes the mean, in
/// the blocks of both.
fn logs(case: &CaseData<'_>, index: usize) -> BTreeMap<SetKey, BTreeMap<u64, f64>> {
    let mut logs: BTreeMap<SetKey, BTreeMap<u64, f64>> = BTreeMap::new();
    let numbers = with_numbers(std::iter::once(case));
    for (run, step) in numbers.filter(|(run, step)| step.index == index && !run.is_apart) {
        let own = step.logs();
        match logs.get_mut(&groups::place(run)) {
            None => {
                logs.insert(groups::place(run), own);
            }
            Some(other) => {
                other.retain(|block, _| own.contains_key(block));
                for (block, log) in other {
                    *log = log.midpoint(own[block]);
                }
            }
        }
    }
    logs
}
