//! Carousels: which cycles count, and where the spread of ratios comes from.

use std::collections::{BTreeMap, BTreeSet};

use bakeoff_model::record::{Begin, IntervalRecord};
use bakeoff_model::validity::{Finding, Verdict};
use bakeoff_stats::Components;
use bakeoff_validity::judged_record;

use super::benchmark::{BenchmarkData, CaseData, RunData, StepData};
use super::validity;
use crate::number::as_f64;

/// The carousels of a benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct Carousels {
    /// Each with its repetition, in order.
    pub each: Vec<CycleCount>,
    /// Every pair of contenders that both completed one, by requests per second.
    pub pairs: Vec<Spread>,
}

/// How many cycles of a carousel count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CycleCount {
    /// The repetition.
    pub repetition: u32,
    /// Cycles that were played.
    pub cycles: usize,
    /// Cycles that count.
    pub kept: usize,
}

/// How the ratio of two contenders varies, as standard deviations of its logarithm: 0.03 is 3 %.
#[derive(Debug, Clone, PartialEq)]
pub struct Spread {
    /// The one.
    pub first: String,
    /// The other.
    pub second: String,
    /// The geometric mean of the ratio in each carousel, in order.
    pub ratios: Vec<f64>,
    /// From cycle to cycle, and from carousel to carousel beyond that, which is what fresh
    /// processes do.
    pub components: Components,
}

/// Notes in each carousel the slices of the cycles that count: those in which every contender with
/// a number has an undisturbed slice. So ratios of means are means of ratios. A carousel without
/// such a cycle has no say.
pub(super) fn keep(benchmark: &mut BenchmarkData<'_>) {
    let counted = counted_cycles(benchmark);
    let runs = benchmark.cases.iter_mut().flat_map(|case| &mut case.runs);
    for run in runs {
        let Some(cycles) = counted.get(&run.repetition()) else {
            continue;
        };
        if run.records.begin.run.carousel.is_none() {
            continue;
        }
        run.void = cycles.is_empty();
        for step in run.steps.iter_mut().filter(|step| is_measured(step)) {
            let kept = step.slices.iter().copied();
            step.kept = kept
                .filter(|slice| slice.turn.is_some_and(|turn| cycles.contains(&turn.cycle)))
                .collect();
        }
    }
}

fn is_measured(step: &StepData<'_>) -> bool {
    !step.warm_up && step.is_in_turns()
}

/// Repetition -> the cycles that count.
fn counted_cycles(benchmark: &BenchmarkData<'_>) -> BTreeMap<u32, BTreeSet<u32>> {
    let mut counted: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    for (run, step) in with_numbers(benchmark.cases.iter().chain(&benchmark.control)) {
        let good = undisturbed(&run.records.begin, step);
        match counted.get_mut(&run.repetition()) {
            Some(cycles) => cycles.retain(|cycle| good.contains(cycle)),
            None => {
                counted.insert(run.repetition(), good);
            }
        }
    }
    counted
}

/// Completed runs with their step in a carousel, those without a number left out: what is wrong
/// with one contender must not void the others' cycles.
fn with_numbers<'s, 'a: 's>(
    cases: impl Iterator<Item = &'s CaseData<'a>>,
) -> impl Iterator<Item = (&'s RunData<'a>, &'s StepData<'a>)> {
    let runs = cases.flat_map(CaseData::completed);
    let steps = runs.filter_map(|run| Some((run, run.steps.iter().find(|one| is_measured(one))?)));
    steps.filter(|(_, step)| validity::unranked(&step.validity).is_none())
}

fn undisturbed(begin: &Begin, step: &StepData<'_>) -> BTreeSet<u32> {
    let good = step.slices.iter().filter(|slice| !is_void(begin, slice));
    good.filter_map(|slice| Some(slice.turn?.cycle)).collect()
}

/// Whether a slice says nothing: it is invalid or cannot be judged, or somebody else had the
/// contender's cores. What is so all the time, as cores that are shared, is the same for all.
fn is_void(begin: &Begin, slice: &IntervalRecord) -> bool {
    let judged = judged_record(begin, slice).validity;
    let without = matches!(judged.verdict(), Verdict::Invalid | Verdict::Unknown);
    without
        || judged.reasons().iter().any(|reason| {
            let of_others = matches!(
                reason.finding,
                Finding::Steal { .. } | Finding::ForeignWork { .. }
            );
            of_others && reason.verdict >= Verdict::HostBound
        })
}

/// What the carousels of a benchmark show beside their ratios; `None` without a carousel.
pub(super) fn carousels(benchmark: &BenchmarkData<'_>) -> Option<Carousels> {
    let counted = counted_cycles(benchmark);
    let runs = || benchmark.cases.iter().flat_map(|case| &case.runs);
    let in_turns = runs().filter(|run| run.records.begin.run.carousel.is_some());
    let repetitions: BTreeSet<u32> = in_turns.map(RunData::repetition).collect();
    let count = |repetition: u32| CycleCount {
        repetition,
        cycles: runs()
            .filter(|run| run.repetition() == repetition)
            .flat_map(|run| run.steps.iter().filter(|step| is_measured(step)))
            .map(|step| step.slices.len())
            .max()
            .unwrap_or_default(),
        kept: counted.get(&repetition).map_or(0, BTreeSet::len),
    };
    let each: Vec<CycleCount> = repetitions.into_iter().map(count).collect();
    (!each.is_empty()).then(|| Carousels {
        each,
        pairs: pairs(&benchmark.cases),
    })
}

fn pairs(cases: &[CaseData<'_>]) -> Vec<Spread> {
    let mut pairs = Vec::new();
    for (place, first) in cases.iter().enumerate() {
        pairs.extend(
            cases[place + 1..]
                .iter()
                .filter_map(|second| spread(first, second)),
        );
    }
    pairs
}

fn spread(first: &CaseData<'_>, second: &CaseData<'_>) -> Option<Spread> {
    let (one, other) = (logs(first), logs(second));
    let differences = |repetition: &u32| -> Option<Vec<f64>> {
        let (one, other) = (one.get(repetition)?, other.get(repetition)?);
        let both = one.iter();
        let both = both.filter_map(|(cycle, log)| Some(log - other.get(cycle)?));
        let both: Vec<f64> = both.filter(|log| log.is_finite()).collect();
        (!both.is_empty()).then_some(both)
    };
    let groups: Vec<Vec<f64>> = one.keys().filter_map(differences).collect();
    let mean = |group: &Vec<f64>| group.iter().sum::<f64>() / as_f64(group.len() as u64);
    Some(Spread {
        first: first.label.clone(),
        second: second.label.clone(),
        ratios: groups.iter().map(|group| mean(group).exp()).collect(),
        components: Components::of(&groups)?,
    })
}

/// Repetition -> cycle that counts -> logarithm of the throughput.
fn logs(case: &CaseData<'_>) -> BTreeMap<u32, BTreeMap<u32, f64>> {
    let of_step = |step: &StepData<'_>| -> BTreeMap<u32, f64> {
        let kept = step.kept.iter();
        kept.filter_map(|slice| Some((slice.turn?.cycle, slice.load.requests_per_s().ln())))
            .collect()
    };
    with_numbers(std::iter::once(case))
        .map(|(run, step)| (run.repetition(), of_step(step)))
        .collect()
}
