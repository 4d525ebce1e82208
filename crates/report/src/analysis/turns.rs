//! Carousels: which cycles count, and where the spread of ratios comes from.

use std::collections::{BTreeMap, BTreeSet};

use bakeoff_model::record::{Begin, IntervalRecord};
use bakeoff_model::validity::{Finding, Verdict};
use bakeoff_stats::{Components, Estimate, Sample};
use bakeoff_validity::judged_record;

use super::benchmark::{BenchmarkData, CaseData, RunData, StepData};
use super::metric::CONFIDENCE;
use super::validity;
use crate::number::{as_f64, seconds};

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
    /// Of each carousel that both completed, in order.
    pub ratios: Vec<CarouselRatio>,
    /// From cycle to cycle, and from carousel to carousel beyond that, which is what fresh
    /// processes do.
    pub components: Components,
}

/// The ratio of two contenders in a carousel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CarouselRatio {
    /// The repetition.
    pub repetition: u32,
    /// The geometric mean over its cycles, with the interval by which these determine it: of these
    /// processes only, since others may differ.
    pub ratio: Estimate,
}

impl Spread {
    /// The ratios of a contender to another one; `None` where they are not this pair.
    pub(crate) fn of(&self, one: &str, other: &str) -> Option<Vec<CarouselRatio>> {
        match (self.first.as_str(), self.second.as_str()) {
            (first, second) if (first, second) == (one, other) => Some(self.ratios.clone()),
            (first, second) if (second, first) == (one, other) => {
                Some(self.ratios.iter().map(CarouselRatio::inverse).collect())
            }
            _ => None,
        }
    }
}

impl CarouselRatio {
    /// Of the logarithms of the ratio in each cycle; `None` of nothing.
    fn of(repetition: u32, logs: &[f64]) -> Option<Self> {
        let mut ratio = Sample::new(logs.to_vec())?.estimate(CONFIDENCE);
        ratio.point = ratio.point.exp();
        if let Some(interval) = &mut ratio.interval {
            (interval.low, interval.high) = (interval.low.exp(), interval.high.exp());
        }
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
pub(crate) struct TurnSlice {
    /// When its middle was, s since the carousel's first one began.
    pub(crate) at_s: f64,
    pub(crate) length_s: f64,
    pub(crate) requests: f64,
    /// Whether its cycle counts.
    pub(crate) counts: bool,
}

/// What was measured in one carousel.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PlayedCarousel {
    pub(crate) repetition: u32,
    /// Since its first slice began, s.
    pub(crate) length_s: f64,
    /// The index of a case with its slices in order.
    pub(crate) slices: Vec<(usize, Vec<TurnSlice>)>,
}

/// Every measured slice of every carousel, in order.
pub(crate) fn played(benchmark: &BenchmarkData<'_>) -> Vec<PlayedCarousel> {
    let cases = benchmark.cases.iter().enumerate();
    let steps = cases.flat_map(|(case, data)| {
        let runs = data.runs.iter();
        runs.filter_map(move |run| {
            Some((
                run.repetition(),
                case,
                run.steps.iter().find(|step| is_measured(step))?,
            ))
        })
    });
    let mut by_repetition: BTreeMap<u32, Vec<(usize, &StepData<'_>)>> = BTreeMap::new();
    for (repetition, case, step) in steps {
        by_repetition
            .entry(repetition)
            .or_default()
            .push((case, step));
    }
    let carousels = by_repetition.into_iter();
    carousels
        .map(|(repetition, steps)| played_carousel(repetition, &steps))
        .collect()
}

fn played_carousel(repetition: u32, steps: &[(usize, &StepData<'_>)]) -> PlayedCarousel {
    let all = || steps.iter().flat_map(|(_, step)| &step.slices);
    let begin_ns = all().map(|slice| slice.load.start_ns).min();
    let end_ns = all().map(|slice| slice.load.end_ns).max();
    let begin_ns = begin_ns.unwrap_or_default();
    let since = |at_ns: u64| seconds(at_ns.saturating_sub(begin_ns));
    let of_step = |step: &StepData<'_>| {
        let slices = step.slices.iter().map(|slice| {
            let (from, to) = (since(slice.load.start_ns), since(slice.load.end_ns));
            TurnSlice {
                at_s: f64::midpoint(from, to),
                length_s: to - from,
                requests: as_f64(slice.load.requests),
                counts: step.kept.iter().any(|kept| std::ptr::eq(*kept, *slice)),
            }
        });
        slices.collect()
    };
    PlayedCarousel {
        repetition,
        length_s: end_ns.map_or(0.0, since),
        slices: steps
            .iter()
            .map(|(case, step)| (*case, of_step(step)))
            .collect(),
    }
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

/// What was wrong with a slice of a run that does not count; `None` where all of its own do.
pub(super) fn why_void(run: &RunData<'_>) -> Option<String> {
    let begin = &run.records.begin;
    let slices = run.steps.iter().filter(|step| is_measured(step));
    let mut slices = slices.flat_map(|step| &step.slices);
    let void = slices.find(|slice| is_void(begin, slice))?;
    let judged = judged_record(begin, void).validity;
    judged.reasons().first().map(ToString::to_string)
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

/// The cycles of the carousels of a benchmark, and the ratios in them; `None` without a carousel.
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
    let differences = |repetition: &u32| -> Option<(u32, Vec<f64>)> {
        let (one, other) = (one.get(repetition)?, other.get(repetition)?);
        let both = one.iter();
        let both = both.filter_map(|(cycle, log)| Some(log - other.get(cycle)?));
        let both: Vec<f64> = both.filter(|log| log.is_finite()).collect();
        (!both.is_empty()).then_some((*repetition, both))
    };
    let found: Vec<(u32, Vec<f64>)> = one.keys().filter_map(differences).collect();
    let ratio = |(repetition, logs): &(u32, Vec<f64>)| CarouselRatio::of(*repetition, logs);
    let ratios = found.iter().filter_map(ratio).collect();
    let groups: Vec<Vec<f64>> = found.into_iter().map(|(_, logs)| logs).collect();
    Some(Spread {
        first: first.label.clone(),
        second: second.label.clone(),
        ratios,
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
