//! Why a request costs one contender more CPU than another: how its CPU time is spent, and what
//! else it does for a request, from the records of the stated step. It needs no profiler, so it is
//! known for every contender and runtime.

mod sentence;

use std::collections::BTreeSet;
use std::iter;

use bakeoff_model::measure::resource::ResourceSample;
use bakeoff_model::plan::baseline::head_name;
use bakeoff_stats::{Difference, Pace, Sample, difference_family};

use super::cpu_parts;
use super::sampled_pair::SampledPair;
use crate::data::benchmark::{BenchmarkData, CaseData, StepData};
use crate::data::metric;
use crate::data::number::as_f64;
use crate::data::row::Row;
use crate::data::stated_step::StatedStep;

/// Why a request costs one contender more CPU than another.
#[derive(Debug, Clone, PartialEq)]
pub struct Reasons {
    /// The contender that uses more CPU for a request.
    pub dearer: String,
    /// The other one.
    pub cheaper: String,
    /// Whether one of them is the base of the other.
    pub is_against_base: bool,
    /// The step: `at 64 connections`.
    pub at: String,
    /// The unit of repetition: `set` or `run`.
    pub unit: &'static str,
    /// CPU per request, µs; for sets, at an even pace of the host.
    pub total: Reason,
    /// The parts of the total, µs, the largest difference first.
    pub parts: Vec<Reason>,
    /// Other quantities per request, the largest relative difference first.
    pub counts: Vec<Reason>,
    /// The difference as divided by stack samples; `None` unless both were sampled.
    pub sampled: Option<SampledPair>,
}

/// The amounts of a quantity that two contenders use per request.
#[derive(Debug, Clone, PartialEq)]
pub struct Reason {
    kind: CostKind,
    /// Name of the quantity in a table, with its unit.
    pub name: &'static str,
    /// Name of the quantity in a sentence.
    words: &'static str,
    /// The smallest difference that is worth a sentence.
    floor: f64,
    /// The amount of the more expensive contender, mean over sets or runs.
    pub dearer: f64,
    /// The amount of the cheaper one.
    pub cheaper: f64,
    /// The difference: the more expensive minus the cheaper one.
    pub difference: Difference,
}

impl Reason {
    /// Swaps the amounts of the two contenders, and negates their difference.
    fn inverse(self) -> Self {
        Self {
            dearer: self.cheaper,
            cheaper: self.dearer,
            difference: inverse(self.difference),
            ..self
        }
    }
}

/// The role of an amount in the explanation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CostKind {
    Total,
    Part,
    Count,
}

/// A cost of a request.
struct RequestCost {
    kind: CostKind,
    name: &'static str,
    words: &'static str,
    floor: f64,
    value: fn(&StepData<'_>) -> Option<f64>,
}

const TOTAL: RequestCost = RequestCost {
    kind: CostKind::Total,
    ..part("CPU, µs", "CPU", |step| step.cpu_us_per_request())
};

/// The parts of the CPU, which add up to the total: kernel time is that of all threads, and the
/// threads of a collector, a compiler and a logger count as user time, which they nearly are.
const PARTS: [RequestCost; 5] = [
    part("own code, µs", "in its own code", |step| {
        Some(Split::of(step)?.own)
    }),
    part("kernel, µs", "in the kernel", |step| {
        Some(Split::of(step)?.kernel)
    }),
    part("garbage collection, µs", "collecting garbage", |step| {
        Some(Split::of(step)?.threads?.collector)
    }),
    part("compilation, µs", "compiling", |step| {
        Some(Split::of(step)?.threads?.compiler)
    }),
    part("logging threads, µs", "in logging threads", |step| {
        Some(Split::of(step)?.threads?.logger)
    }),
];

const COUNTS: [RequestCost; 9] = [
    count("log lines", 0.01, |step| {
        per_request(step, step.grew(|sample| sample.log_lines)?)
    }),
    count("backend requests", 0.01, |step| {
        per_request(step, backend_requests(step)?)
    }),
    count("bytes received", 1.0, |step| {
        let grew = step.grew(|sample| Some(sample.network?.received_bytes))?;
        per_request(step, grew)
    }),
    count("bytes sent", 1.0, |step| {
        let grew = step.grew(|sample| Some(sample.network?.sent_bytes))?;
        per_request(step, grew)
    }),
    count("TCP segments sent", 0.01, |step| {
        per_request(step, step.grew(|sample| Some(sample.tcp?.sent_segments))?)
    }),
    count("voluntary context switches", 0.05, |step| {
        let switches = |sample: &ResourceSample| Some(sample.context_switches?.voluntary);
        per_request(step, step.grew(switches)?)
    }),
    count("involuntary context switches", 0.05, |step| {
        let switches = |sample: &ResourceSample| Some(sample.context_switches?.involuntary);
        per_request(step, step.grew(switches)?)
    }),
    count("garbage collections", 0.0005, |step| {
        per_request(step, step.grew(|sample| Some(sample.jvm?.gc_count))?)
    }),
    count("µs throttled", 0.1, |step| {
        let throttled_ns = step.grew(|sample| Some(sample.throttling?.throttled_ns))?;
        Some(per_request(step, throttled_ns)? / 1000.0)
    }),
];

const fn part(
    name: &'static str,
    words: &'static str,
    value: fn(&StepData<'_>) -> Option<f64>,
) -> RequestCost {
    RequestCost {
        kind: CostKind::Part,
        name,
        words,
        floor: 0.0,
        value,
    }
}

const fn count(
    name: &'static str,
    floor: f64,
    value: fn(&StepData<'_>) -> Option<f64>,
) -> RequestCost {
    RequestCost {
        kind: CostKind::Count,
        name,
        words: name,
        floor,
        value,
    }
}

/// The parts of the CPU of a request, µs.
struct Split {
    own: f64,
    kernel: f64,
    /// CPU by threads; `None` if threads were not read: then they are in `own`.
    threads: Option<ByThreads>,
}

/// CPU of threads that do not serve requests themselves, µs for each request.
#[derive(Clone, Copy)]
struct ByThreads {
    collector: f64,
    compiler: f64,
    logger: f64,
}

impl Split {
    fn of(step: &StepData<'_>) -> Option<Self> {
        let total = step.cpu_us_per_request()?;
        let kernel = step.kernel_us_per_request()?;
        let all_ns = step.grew(ResourceSample::cpu_ns).filter(|all| *all > 0)?;
        let us = |part_ns: u64| total * as_f64(part_ns) / as_f64(all_ns);
        let threads = cpu_parts::of_step(step).map(|parts| ByThreads {
            collector: us(parts.gc_ns),
            compiler: us(parts.jit_ns),
            logger: us(parts.logging_ns),
        });
        let others = threads.map_or(0.0, |all| all.collector + all.compiler + all.logger);
        Some(Self {
            own: (total - kernel - others).max(0.0),
            kernel,
            threads,
        })
    }
}

/// Returns a growth per request that ended, successfully or not.
fn per_request(step: &StepData<'_>, grew: u64) -> Option<f64> {
    let ended = step.totals.requests + step.totals.failed();
    (ended > 0).then(|| as_f64(grew) / as_f64(ended))
}

/// Returns the requests that the backend responded to; `None` in turns, in which it serves all
/// contenders.
fn backend_requests(step: &StepData<'_>) -> Option<u64> {
    let requests = |sample: &Option<ResourceSample>| sample.as_ref()?.requests;
    if step.is_in_turns() {
        return None;
    }
    let (first, last) = (step.slices.first()?, step.slices.last()?);
    let before = requests(&first.backend_before)?;
    Some(requests(&last.backend_after)?.saturating_sub(before))
}

/// A quantity, with the samples of both contenders.
type Samples<'q> = (&'q RequestCost, Sample, Sample);

/// Two table rows, whether one is the base of the other, and the quantities of both.
type Pair<'q> = ([&'q Row; 2], bool, Vec<Samples<'q>>);

/// Compares the first row of a table with each of the others, then each contender with its base, at
/// the stated step; skips those for which that step is invalid or unknown.
pub(crate) fn of(
    benchmark: &BenchmarkData<'_>,
    rows: &[Row],
    stated: Option<&StatedStep>,
) -> Vec<Reasons> {
    let Some(stated) = stated else {
        return Vec::new();
    };
    let case = |row: &Row| benchmark.cases.iter().find(|case| case.label == row.label);
    let with_case = rows.iter().filter_map(|row| Some((row, case(row)?)));
    let all: Vec<(&Row, &CaseData<'_>)> = with_case.collect();
    let against_best = (1..all.len()).map(|other| (0, other));
    let against_base = (1..all.len()).flat_map(|head| (1..all.len()).map(move |base| (head, base)));
    let against_base = against_base.filter(|(head, base)| is_base(all[*base].1, all[*head].1));
    let pairs = against_best.chain(against_base).filter_map(|(one, two)| {
        let ((one, first), (two, second)) = (all[one], all[two]);
        let is_against_base = is_base(first, second) || is_base(second, first);
        let samples = samples(first, second, &stated.label)?;
        Some(([one, two], is_against_base, samples))
    });
    let pairs: Vec<Pair<'_>> = pairs.collect();
    let mut differences = differences(&pairs).into_iter();
    let reasons = pairs.iter().filter_map(|(rows, is_against_base, samples)| {
        let found: Vec<Difference> = differences.by_ref().take(samples.len()).collect();
        let reasons = of_pair(*rows, samples, &found, stated)?;
        Some(Reasons {
            is_against_base: *is_against_base,
            ..reasons
        })
    });
    reasons.collect()
}

/// Factor by which the chance of any false part or count is smaller if the totals do not differ
/// significantly.
const STRICTER: f64 = 5.0;

/// Returns the differences of all pairs one after the other. The totals are a family of tests. The
/// parts, and the counts, are one family each over the pairs whose totals differ significantly, so
/// that neither hides another. Over the other pairs they are families that are tested more
/// strictly: this finds a busier collector in a total that hides it, and identical contenders have
/// no reasons.
fn differences(pairs: &[Pair<'_>]) -> Vec<Difference> {
    let all = pairs.iter().enumerate();
    let all = all.flat_map(|(pair, (_, _, samples))| samples.iter().map(move |one| (pair, one)));
    let all: Vec<(usize, &Samples<'_>)> = all.collect();
    let alone =
        |(_, (_, first, second)): &(usize, &Samples<'_>)| difference_family(&[(first, second)]);
    let mut found: Vec<Difference> = all.iter().flat_map(alone).collect();
    test(&all, &mut found, 1.0, |_, kind| kind == CostKind::Total);
    let totals = all.iter().zip(&found);
    let differ = totals.filter(|((_, (taken, ..)), difference)| {
        taken.kind == CostKind::Total && difference.is_significant()
    });
    let differ: BTreeSet<usize> = differ.map(|((pair, _), _)| *pair).collect();
    for family in [CostKind::Part, CostKind::Count] {
        for (has_total, factor) in [(true, 1.0), (false, STRICTER)] {
            test(&all, &mut found, factor, |pair, kind| {
                kind == family && differ.contains(&pair) == has_total
            });
        }
    }
    found
}

/// Tests the differences of a family, selected by the index of their pair and by their kind, with
/// p-values multiplied by a factor.
fn test(
    all: &[(usize, &Samples<'_>)],
    found: &mut [Difference],
    factor: f64,
    is_in: impl Fn(usize, CostKind) -> bool,
) {
    let numbered = all.iter().zip(found);
    let chosen = numbered.filter(|((pair, (taken, ..)), _)| is_in(*pair, taken.kind));
    let (family, places): (Vec<_>, Vec<_>) = chosen
        .map(|((_, (_, first, second)), place)| ((first, second), place))
        .unzip();
    for (difference, place) in difference_family(&family).into_iter().zip(places) {
        let p_adjusted = difference.p_adjusted.map(|p| (p * factor).min(1.0));
        *place = Difference {
            p_adjusted,
            ..difference
        };
    }
}

/// Whether the first is the base of the second one.
fn is_base(one: &CaseData<'_>, other: &CaseData<'_>) -> bool {
    let run = |case: &CaseData<'_>| Some(case.runs.first()?.records.begin.run.clone());
    let (Some(one), Some(other)) = (run(one), run(other)) else {
        return false;
    };
    head_name(&one.contender) == Some(&other.contender) && one.parameters == other.parameters
}

/// Returns the samples of both contenders for every quantity of both, the total first. CPU time is
/// at an even pace, which cancels the speed of the host in a set.
fn samples(
    first: &CaseData<'_>,
    second: &CaseData<'_>,
    label: &str,
) -> Option<Vec<Samples<'static>>> {
    let of_both = |taken: &'static RequestCost| {
        let first = sample(first, label, taken)?;
        Some((taken, first, sample(second, label, taken)?))
    };
    let (_, one, other) = of_both(&TOTAL)?;
    let pace = Pace::of(&one, &other);
    let evened = |samples: Samples<'static>| {
        let (taken, one, other) = samples;
        match &pace {
            Some(pace) => Some((taken, pace.evened(&one)?, pace.evened(&other)?)),
            None => Some((taken, one, other)),
        }
    };
    let total = evened((&TOTAL, one, other))?;
    let parts = PARTS.iter().filter_map(of_both).filter_map(evened);
    let counts = COUNTS.iter().filter_map(of_both);
    Some(iter::once(total).chain(parts).chain(counts).collect())
}

fn sample(case: &CaseData<'_>, label: &str, taken: &RequestCost) -> Option<Sample> {
    metric::at_label(case, label, taken.value).map(|metric| metric.sample)
}

fn of_pair(
    rows: [&Row; 2],
    samples: &[Samples<'_>],
    differences: &[Difference],
    stated: &StatedStep,
) -> Option<Reasons> {
    let is_swapped = differences.first()?.estimate.point < 0.0;
    let both = samples.iter().zip(differences);
    let mut all = both.map(|((taken, first, second), difference)| {
        let (dearer, cheaper, difference) = match is_swapped {
            true => (second, first, inverse(*difference)),
            false => (first, second, *difference),
        };
        Reason {
            kind: taken.kind,
            name: taken.name,
            words: taken.words,
            floor: taken.floor,
            dearer: dearer.mean(),
            cheaper: cheaper.mean(),
            difference,
        }
    });
    let total = all.next()?;
    let (mut parts, mut counts): (Vec<Reason>, Vec<Reason>) =
        all.partition(|one| one.kind == CostKind::Part);
    // A compiler or a logger that neither has is not a part.
    parts.retain(|one| one.dearer > 0.0 || one.cheaper > 0.0);
    counts.retain(|one| one.dearer > 0.0 || one.cheaper > 0.0);
    let size = |one: &Reason| one.difference.estimate.point.abs();
    parts.sort_by(|a, b| size(b).total_cmp(&size(a)));
    counts.sort_by(|a, b| b.relative().total_cmp(&a.relative()));
    let [dearer, cheaper] = match is_swapped {
        true => [rows[1], rows[0]],
        false => rows,
    };
    Some(Reasons {
        dearer: dearer.label.clone(),
        cheaper: cheaper.label.clone(),
        is_against_base: false,
        at: stated.describe(),
        unit: dearer.unit(),
        total,
        parts,
        counts,
        sampled: None,
    })
}

fn inverse(mut difference: Difference) -> Difference {
    let estimate = &mut difference.estimate;
    estimate.point = -estimate.point;
    if let Some(ends) = &mut estimate.interval {
        (ends.low, ends.high) = (-ends.high, -ends.low);
    }
    difference
}
