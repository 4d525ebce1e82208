//! The CPU per request by layer and by function, as divided by stack samples, and the layers and
//! functions in which two contenders differ.

use std::collections::{BTreeSet, HashMap};

use bakeoff_model::measure::flame_graph::{FlameGraph, FlameOutcome};
use bakeoff_model::measure::layers::NamedSamples;
use bakeoff_model::plan::case_label;
use bakeoff_model::record::Results;
use bakeoff_stats::distribution::normal_cdf;
use bakeoff_stats::{Pace, false_discovery, holm};

use super::reasons::Reasons;
use super::sampled_pair::SAMPLED_SETS_MAX;
pub use super::sampled_pair::{SampledChanges, SampledDifference, SampledPair};
use crate::data::metric::Metric;
use crate::data::number::as_f64;
use crate::data::row::Row;

/// Two standard errors: 95 %.
const ERRORS: f64 = 1.96;

/// Share of the reported differences that is false on average, at most.
const FALSE_SHARE: f64 = 0.05;

/// Minimum number of samples in both contenders to conclude anything about a layer or a function.
const SAMPLES_MIN: u64 = 20;

/// Share of samples in common functions below which contenders are assumed to use different
/// languages, if these are not stated.
const COMMON_MIN: f64 = 0.2;

/// The layers of all sampled contenders of a benchmark.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Layers {
    /// Names, the one with the most CPU in all first.
    pub names: Vec<String>,
    /// Rows, one for each contender with samples.
    pub rows: Vec<LayersRow>,
    /// Comparisons of each contender with the one that has the least CPU per request.
    pub pairs: Vec<SampledPair>,
}

/// The layers of one contender.
#[derive(Debug, Clone, PartialEq)]
pub struct LayersRow {
    /// Contender and parameters.
    pub label: String,
    /// Number of samples.
    pub samples: u64,
    /// CPU per request in each layer of [`Layers::names`], us, with half the 95 % interval due to
    /// the number of samples; `None` if it has no samples.
    pub cpu_us: Vec<Option<(f64, f64)>>,
}

/// A contender that was sampled.
pub(crate) struct Sampled<'r> {
    label: String,
    language: &'r str,
    sampler: &'r str,
    /// CPU per request, us.
    cpu: &'r Metric,
    samples: u64,
    /// The kernel and the rest, as divided by counters; the whole if they do not divide it.
    parts: Vec<SampledPart<'r>>,
    layers: &'r [NamedSamples],
    functions: &'r [NamedSamples],
    inclusive: &'r [NamedSamples],
    changes: &'r [NamedSamples],
}

/// A part of the CPU per request, divided by its own samples.
struct SampledPart<'r> {
    cpu: &'r Metric,
    /// Returns the samples of a layer or a function that are in this part.
    of: fn(&NamedSamples) -> u64,
    /// Samples of all layers in this part.
    samples: u64,
}

impl<'r> SampledPart<'r> {
    fn new(
        cpu: Option<&'r Metric>,
        layers: &[NamedSamples],
        of: fn(&NamedSamples) -> u64,
    ) -> Option<Self> {
        let samples: u64 = layers.iter().map(of).sum();
        (samples > 0).then_some(Self {
            cpu: cpu?,
            of,
            samples,
        })
    }

    /// Returns the CPU per request of a layer or a function in this part, us, with its standard
    /// error due to the number of samples.
    fn cpu(&self, one: &NamedSamples) -> (f64, f64) {
        let share = as_f64((self.of)(one)) / as_f64(self.samples);
        let error = (share * (1.0 - share) / as_f64(self.samples)).sqrt();
        (self.cpu.mean() * share, self.cpu.mean() * error)
    }
}

impl<'r> Sampled<'r> {
    /// Returns a sampled contender; `None` if its graph was not drawn or has no layers, or if it
    /// has no CPU per request.
    fn of(
        results: &'r Results,
        rows: &HashMap<&str, &'r Row>,
        graph: &'r FlameGraph,
    ) -> Option<Self> {
        let FlameOutcome::Drawn {
            sampler,
            layers,
            functions,
            inclusive,
            changes,
            ..
        } = &graph.outcome
        else {
            return None;
        };
        let label = case_label(&graph.contender, &graph.parameters);
        let row = *rows.get(label.as_str())?;
        let whole = SampledPart::new(row.stated.cpu_us.as_ref(), layers, |one| one.samples)?;
        let kernel = SampledPart::new(row.stated.kernel_us.as_ref(), layers, |one| one.kernel);
        let rest = SampledPart::new(row.stated.user_us.as_ref(), layers, NamedSamples::outside);
        let begins = results.runs.iter().map(|run| &run.begin);
        let begin = begins
            .clone()
            .find(|one| one.run.contender == graph.contender);
        Some(Self {
            label,
            language: begin.map_or("", |begin| &begin.language),
            sampler,
            cpu: whole.cpu,
            samples: whole.samples,
            parts: match (kernel, rest) {
                (Some(kernel), Some(rest)) => vec![kernel, rest],
                _ => vec![whole],
            },
            layers,
            functions,
            inclusive,
            changes,
        })
    }

    /// Returns the CPU per request of a layer or a function, us, with its standard error.
    fn cpu(&self, one: &NamedSamples) -> (f64, f64) {
        let parts = self.parts.iter().map(|part| part.cpu(one));
        parts.fold((0.0, 0.0), |(us, error), (more_us, more)| {
            (us + more_us, error.hypot(more))
        })
    }

    /// Returns the CPU per request with the error of another process. If the two are versions of
    /// one program, the whole varies as recorded; otherwise each layer varies in proportion to its
    /// part. Both are relative to the other contender.
    fn cpu_of_any_process(&self, one: &NamedSamples, other: &Self) -> (f64, f64) {
        if let Some((cpu_us, error_us)) = self.cpu_of_version(one, other) {
            let pace = Pace::of(&self.cpu.sample, &other.cpu.sample);
            let variation = pace.and_then(|pace| pace.variation()).unwrap_or(0.0);
            return (cpu_us, error_us.hypot(cpu_us * variation));
        }
        let (cpu_us, error_us) = self.cpu(one);
        let are_same = self.parts.len() == other.parts.len();
        let varies = self.parts.iter().enumerate().map(|(index, part)| {
            let other = other.parts.get(index).filter(|_| are_same);
            let pace = other.and_then(|other| Pace::of(&part.cpu.sample, &other.cpu.sample));
            let of_pair = pace.and_then(|pace| pace.variation());
            let variation = of_pair.or(part.cpu.sample.variation()).unwrap_or(0.0);
            part.cpu(one).0 * variation
        });
        (cpu_us, varies.fold(error_us, f64::hypot))
    }
}

impl Sampled<'_> {
    /// Returns the CPU per request in a layer or a function, us, with its standard error by the
    /// number of samples; `None` unless the other contender is another version of this one.
    ///
    /// Counters tell the kernel from the rest by ticks, which are few: too noisy for a difference
    /// between versions. What samples get wrong about the kernel is the same for both, so its
    /// samples get one weight, by which the kernel's share in both together is as counted.
    fn cpu_of_version(&self, one: &NamedSamples, other: &Self) -> Option<(f64, f64)> {
        let ([kernel, rest], [other_kernel, other_rest]) = (&self.parts[..], &other.parts[..])
        else {
            return None;
        };
        let us = |one: &SampledPart<'_>, other: &SampledPart<'_>| one.cpu.mean() + other.cpu.mean();
        let samples =
            |one: &SampledPart<'_>, other: &SampledPart<'_>| as_f64(one.samples + other.samples);
        let counted = us(kernel, other_kernel) / us(rest, other_rest);
        let weight = counted / (samples(kernel, other_kernel) / samples(rest, other_rest));
        if self.changes.is_empty() || !weight.is_normal() {
            return None;
        }
        let (inside, outside) = (as_f64(one.kernel), as_f64(one.outside()));
        let (all_inside, all_outside) = (as_f64(kernel.samples), as_f64(rest.samples));
        let all = weight * all_inside + all_outside;
        let share = (weight * inside + outside) / all;
        let variance = |inside: f64, outside: f64| weight.powi(2) * inside + outside;
        let variance = (1.0 - share).powi(2) * variance(inside, outside)
            + share.powi(2) * variance(all_inside - inside, all_outside - outside);
        let cpu_us = self.cpu.mean();
        Some((cpu_us * share, cpu_us * variance.sqrt() / all))
    }
}

/// Returns the contenders of a benchmark that were sampled and have a CPU per request.
pub(crate) fn sampled<'r>(
    results: &'r Results,
    benchmark: &str,
    rows: impl Iterator<Item = &'r Row>,
) -> Vec<Sampled<'r>> {
    let rows = rows.map(|row| (row.label.as_str(), row)).collect();
    let graphs = results.flame_graphs.iter();
    let graphs = graphs.filter(|graph| graph.benchmark == benchmark);
    let sampled = graphs.filter_map(|graph| Sampled::of(results, &rows, graph));
    sampled.collect()
}

/// Returns how samples divide the differences of pairs that have reasons, in their order.
pub(crate) fn of_reasons<'a>(
    sampled: &[Sampled<'_>],
    reasons: impl Iterator<Item = &'a Reasons>,
) -> Vec<Option<SampledPair>> {
    let find = |label: &str| sampled.iter().find(|one| one.label == label);
    let pairs = reasons.map(|reasons| {
        let (dearer, cheaper) = (find(&reasons.dearer)?, find(&reasons.cheaper)?);
        Some(pair(dearer, cheaper))
    });
    pairs.collect()
}

/// Returns the layers of the contenders that were sampled and have a CPU per request.
pub(crate) fn of(sampled: &[Sampled<'_>]) -> Layers {
    let mut totals: Vec<(String, f64)> = Vec::new();
    for one in sampled {
        for layer in one.layers {
            let (cpu_us, _) = one.cpu(layer);
            match totals.iter_mut().find(|(other, _)| *other == layer.name) {
                Some((_, total)) => *total += cpu_us,
                None => totals.push((layer.name.clone(), cpu_us)),
            }
        }
    }
    totals.sort_by(|a, b| b.1.total_cmp(&a.1));
    let names: Vec<String> = totals.into_iter().map(|(name, _)| name).collect();
    let rows = sampled.iter().map(|one| {
        let of_name = |name: &String| {
            let layer = one.layers.iter().find(|layer| layer.name == *name)?;
            let (cpu_us, error_us) = one.cpu(layer);
            Some((cpu_us, ERRORS * error_us))
        };
        LayersRow {
            label: one.label.clone(),
            samples: one.samples,
            cpu_us: names.iter().map(of_name).collect(),
        }
    });
    Layers {
        rows: rows.collect(),
        pairs: pairs(sampled),
        names,
    }
}

/// Compares each with the one that has the least CPU per request.
fn pairs(sampled: &[Sampled<'_>]) -> Vec<SampledPair> {
    let cheapest = sampled
        .iter()
        .min_by(|a, b| a.cpu.mean().total_cmp(&b.cpu.mean()));
    let Some(cheapest) = cheapest else {
        return Vec::new();
    };
    let others = sampled.iter().filter(|one| one.label != cheapest.label);
    others.map(|one| pair(one, cheapest)).collect()
}

fn pair(dearer: &Sampled<'_>, cheaper: &Sampled<'_>) -> SampledPair {
    let is_same = dearer.sampler == cheaper.sampler
        && match (dearer.language, cheaper.language) {
            ("", "") => share_functions(dearer.functions, cheaper.functions),
            (own, other) => own == other,
        };
    let functions = || differences((dearer, dearer.functions), (cheaper, cheaper.functions));
    let inclusive = || differences((dearer, dearer.inclusive), (cheaper, cheaper.inclusive));
    let changes = || changes((dearer, dearer.changes), (cheaper, cheaper.changes));
    SampledPair {
        dearer: dearer.label.clone(),
        cheaper: cheaper.label.clone(),
        layers: differences((dearer, dearer.layers), (cheaper, cheaper.layers)),
        functions: is_same.then(functions),
        changes: is_same.then(changes).flatten(),
        grown: is_same.then(inclusive).and_then(grown),
    }
}

/// Returns the function that grew most. Every caller of that function has grown as much, including
/// the program's entry function, so growth is weighted by its share of the function's own time.
fn grown(inclusive: Vec<SampledDifference>) -> Option<SampledDifference> {
    let grown = inclusive
        .into_iter()
        .filter(|one| one.difference_us() > 0.0);
    let size = |one: &SampledDifference| one.difference_us().powi(2) / one.dearer_us;
    grown.max_by(|a, b| size(a).total_cmp(&size(b)))
}

/// Whether contenders whose languages are not stated, as in a duel, use the same one: the functions
/// outside the kernel that both have contain the stated share of the samples of each.
fn share_functions(one: &[NamedSamples], other: &[NamedSamples]) -> bool {
    let holds = |own: &[NamedSamples], of: &[NamedSamples]| {
        let outside = own
            .iter()
            .filter(|function| !function.name.ends_with("_[k]"));
        let is_common = |name: &str| of.iter().any(|function| function.name == name);
        let (mut common, mut all) = (0, 0);
        for function in outside {
            all += function.samples;
            common += u64::from(is_common(&function.name)) * function.samples;
        }
        as_f64(common) >= COMMON_MIN * as_f64(all)
    };
    holds(one, other) && holds(other, one)
}

/// The samples of a contender by layers, functions or changes.
type Part<'s> = (&'s Sampled<'s>, &'s [NamedSamples]);

/// Returns the significant differences, among all functions or layers with enough samples.
fn differences(dearer: Part<'_>, cheaper: Part<'_>) -> Vec<SampledDifference> {
    significant(compared(dearer, cheaper), false_discovery)
}

/// Returns how the changes between the sources differ; `None` without any.
fn changes(dearer: Part<'_>, cheaper: Part<'_>) -> Option<SampledChanges> {
    let all = dearer.1.len().max(cheaper.1.len());
    let compared = compared(dearer, cheaper);
    (all > 0).then(|| SampledChanges {
        compared: compared.len(),
        unseen: all.saturating_sub(compared.len()),
        significant: significant(compared, of_all_sets),
    })
}

/// Returns p-values that hold whichever set of samples was the last.
fn of_all_sets(p_values: &[f64]) -> Vec<f64> {
    let sets = as_f64(SAMPLED_SETS_MAX as u64);
    holm(p_values).into_iter().map(|one| one * sets).collect()
}

/// Returns the differences with their p-values of all that has enough samples.
fn compared(
    (dearer, of_dearer): Part<'_>,
    (cheaper, of_cheaper): Part<'_>,
) -> Vec<(SampledDifference, f64)> {
    let names: BTreeSet<&str> = of_dearer
        .iter()
        .chain(of_cheaper)
        .map(|one| one.name.as_str())
        .collect();
    let find = |all: &[NamedSamples], name: &str| {
        let found = all.iter().find(|one| one.name == name);
        found.cloned().unwrap_or_else(|| NamedSamples {
            name: name.to_owned(),
            samples: 0,
            kernel: 0,
        })
    };
    let mut all: Vec<(SampledDifference, f64)> = Vec::new();
    for name in names {
        let (many, few) = (find(of_dearer, name), find(of_cheaper, name));
        if many.samples + few.samples < SAMPLES_MIN {
            continue;
        }
        let (dearer_us, one) = dearer.cpu_of_any_process(&many, cheaper);
        let (cheaper_us, other) = cheaper.cpu_of_any_process(&few, dearer);
        let error_us = one.hypot(other);
        let p_value = 2.0 * normal_cdf(-(dearer_us - cheaper_us).abs() / error_us);
        let difference = SampledDifference {
            name: name.to_owned(),
            dearer_us,
            cheaper_us,
            half_us: ERRORS * error_us,
        };
        all.push((difference, p_value));
    }
    all
}

/// Returns the differences that are significant after a correction, the largest first.
fn significant(
    all: Vec<(SampledDifference, f64)>,
    correction: fn(&[f64]) -> Vec<f64>,
) -> Vec<SampledDifference> {
    let p_values: Vec<f64> = all.iter().map(|(_, p_value)| *p_value).collect();
    let both = all.into_iter().zip(correction(&p_values));
    let significant = both.filter(|(_, adjusted)| *adjusted <= FALSE_SHARE);
    let mut found: Vec<SampledDifference> = significant.map(|((one, _), _)| one).collect();
    let size = |one: &SampledDifference| one.difference_us().abs();
    found.sort_by(|a, b| size(b).total_cmp(&size(a)));
    found
}

#[cfg(test)]
mod tests {
    use bakeoff_model::measure::layers::NamedSamples;
    use bakeoff_model::validity::Validity;
    use bakeoff_stats::Sample;

    use super::{Metric, Sampled, SampledPart, changes, share_functions};

    fn functions(all: &[(&str, u64)]) -> Vec<NamedSamples> {
        let all = all.iter();
        all.map(|(name, samples)| NamedSamples {
            name: (*name).to_owned(),
            samples: *samples,
            kernel: 0,
        })
        .collect()
    }

    #[test]
    fn services_of_one_language_have_functions_in_common() {
        let old = functions(&[("json.encode", 30), ("main.price", 20), ("tcp_[k]", 90)]);
        let new = functions(&[("json.encode", 30), ("main.total", 40), ("tcp_[k]", 90)]);
        let other = functions(&[("v8::Json", 50), ("memmove", 1), ("tcp_[k]", 90)]);
        assert!(share_functions(&old, &new));
        assert!(!share_functions(&old, &other));
    }

    fn metric(values: [f64; 3]) -> Metric {
        let sample = Sample::of_sets((0..).zip(values).collect()).unwrap();
        Metric {
            estimate: sample.estimate(0.95),
            steps: Vec::new(),
            validity: Validity::fair(),
            sample,
        }
    }

    #[test]
    fn counters_that_divide_poorly_hide_no_change_between_versions() {
        let named = |samples, kernel| NamedSamples {
            name: "price.rs:41-48 (total)".to_owned(),
            samples,
            kernel,
        };
        // The whole of each set, and its kernel.
        let sets = [
            [(165.2, 24.0), (164.8, 15.0), (165.0, 21.0)],
            [(160.1, 16.0), (160.2, 25.0), (159.9, 20.0)],
        ];
        let counted = sets.map(|sets| {
            [
                metric(sets.map(|(cpu, _)| cpu)),
                metric(sets.map(|(_, kernel)| kernel)),
                metric(sets.map(|(cpu, kernel)| cpu - kernel)),
            ]
        });
        let found = |[more, less]: [u64; 2]| {
            let layers = [named(6500, 900), named(6500, 900)];
            let own = [named(more, 0), named(less, 0)];
            let side = |index: usize| {
                let [cpu, kernel, rest] = &counted[index];
                let layers = &layers[index..=index];
                let part = |cpu, of| SampledPart::new(Some(cpu), layers, of).unwrap();
                Sampled {
                    label: index.to_string(),
                    language: "",
                    sampler: "perf",
                    cpu,
                    samples: 6500,
                    parts: vec![
                        part(kernel, |one| one.kernel),
                        part(rest, NamedSamples::outside),
                    ],
                    layers,
                    functions: &[],
                    inclusive: &[],
                    changes: &own[index..=index],
                }
            };
            let (dearer, cheaper) = (side(0), side(1));
            let changes = changes((&dearer, dearer.changes), (&cheaper, cheaper.changes));
            changes.unwrap().significant
        };
        let one = &found([5600, 5600])[0];
        assert!((one.difference_us() - 4.3).abs() < 0.4, "{one:?}");
        assert_eq!(found([1000, 1000]), []);
    }
}
