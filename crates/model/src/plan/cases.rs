//! The cases of a plan, and their order: benchmark x contender x parameters.

use std::collections::{BTreeMap, BTreeSet};

use bakeoff_base::random::Random;

use super::{CPU_LIMIT, PlanOptions};
use crate::suite::{Benchmark, BenchmarkKind, Contender, Limits, Profile, Suite};

/// Sets the choice of the control apart from other draws of the same seed.
const CONTROL: u64 = 0x6374_726c;

/// A benchmark for a contender with chosen parameters, before it is repeated.
#[derive(Clone)]
pub(super) struct Case<'s> {
    /// Unique in the plan and safe as a file name.
    pub(super) id: String,
    pub(super) benchmark: &'s Benchmark,
    pub(super) contender: &'s Contender,
    pub(super) parameters: BTreeMap<String, String>,
    pub(super) limits: Limits,
    /// It is another one's twin.
    pub(super) control: bool,
    /// It takes turns with the others of its benchmark.
    pub(super) in_turns: bool,
}

impl Case<'_> {
    /// The same case as its own control.
    fn twin(&self) -> Self {
        Self {
            id: format!("{}~aa", self.id),
            control: true,
            ..self.clone()
        }
    }
}

/// All cases of the chosen contenders and benchmarks, in the order of the suite.
pub(super) fn cases<'s>(
    suite: &'s Suite,
    profile: &Profile,
    options: &PlanOptions,
    contenders: &[String],
    benchmarks: &[String],
) -> Vec<Case<'s>> {
    let mut ids = BTreeSet::new();
    let mut cases = Vec::new();
    let benchmarks = suite
        .benchmarks
        .iter()
        .filter(|b| benchmarks.contains(&b.name));
    for benchmark in benchmarks {
        for contender in &suite.contenders {
            let whole = contenders.contains(&contender.name);
            for parameters in wanted_combinations(contender, &profile.cpus, whole, options) {
                let wanted = case_id(&benchmark.name, &contender.name, &parameters);
                let mut id = wanted.clone();
                let mut equal_ids = 1;
                while !ids.insert(id.clone()) {
                    equal_ids += 1;
                    id = format!("{wanted}~{equal_ids}");
                }
                let cpus = parameters.get(CPU_LIMIT);
                let cpus = cpus.and_then(|cpus| cpus.parse().ok());
                cases.push(Case {
                    id,
                    benchmark,
                    contender,
                    parameters,
                    limits: Limits {
                        cpus: cpus.or(profile.limits.cpus),
                        ..profile.limits
                    },
                    control: false,
                    in_turns: false,
                });
            }
        }
    }
    cases
}

/// Adds the control: a case that the seed picks is in each of its benchmarks once more, wherever
/// there is load and another one to compare it with.
pub(super) fn add_control(cases: &mut Vec<Case<'_>>, seed: u64) {
    let same = |one: &Case<'_>, other: &Case<'_>| one.benchmark.name == other.benchmark.name;
    let compared = |case: &&Case<'_>| {
        let others = cases.iter().filter(|other| same(other, case));
        case.benchmark.kind == BenchmarkKind::Load && others.count() > 1
    };
    let eligible: Vec<&Case<'_>> = cases.iter().filter(compared).collect();
    let Some(first) = eligible.first() else {
        return;
    };
    let of_first: Vec<&&Case<'_>> = eligible.iter().filter(|case| same(case, first)).collect();
    let chosen = of_first[Random::new(seed ^ CONTROL).below(of_first.len())];
    let is_chosen = |case: &&&Case<'_>| {
        case.contender.name == chosen.contender.name && case.parameters == chosen.parameters
    };
    let twins = eligible.iter().filter(is_chosen);
    let twins: Vec<Case<'_>> = twins.map(|case| case.twin()).collect();
    cases.extend(twins);
}

/// Sorts shuffled cases by benchmark, the one drawn first first: cases that take turns are alive
/// concurrently.
pub(super) fn beside_each_other(cases: &mut [Case<'_>]) {
    let mut drawn: Vec<String> = Vec::new();
    for case in cases.iter() {
        if !drawn.contains(&case.benchmark.name) {
            drawn.push(case.benchmark.name.clone());
        }
    }
    cases.sort_by_key(|case| drawn.iter().position(|name| *name == case.benchmark.name));
}

/// The combinations of a contender that take part: all that the options allow when the whole
/// contender was chosen, and those that were chosen one by one.
fn wanted_combinations(
    contender: &Contender,
    cpus: &[f64],
    whole: bool,
    options: &PlanOptions,
) -> Vec<BTreeMap<String, String>> {
    let allowed = |parameters: &BTreeMap<String, String>| {
        parameters.iter().all(|(name, value)| {
            let values = options.parameters.get(name);
            values.is_none_or(|values| values.contains(value))
        })
    };
    let chosen = |parameters: &BTreeMap<String, String>| {
        options
            .cases
            .iter()
            .any(|one| one.contender == contender.name && one.parameters == *parameters)
    };
    let mut matrix = contender.matrix.clone();
    if !cpus.is_empty() {
        let cpus = cpus.iter().map(f64::to_string);
        matrix.insert(CPU_LIMIT.to_owned(), cpus.collect());
    }
    let mut wanted = combinations(&matrix);
    wanted.retain(|parameters| (whole && allowed(parameters)) || chosen(parameters));
    wanted
}

/// Every combination of the values of a matrix; one empty combination for an empty matrix.
fn combinations(matrix: &BTreeMap<String, Vec<String>>) -> Vec<BTreeMap<String, String>> {
    let mut all = vec![BTreeMap::new()];
    for (name, values) in matrix {
        let extend = |chosen: BTreeMap<String, String>| {
            values.iter().map(move |value| {
                let mut chosen = chosen.clone();
                chosen.insert(name.clone(), value.clone());
                chosen
            })
        };
        all = all.into_iter().flat_map(extend).collect();
    }
    all
}

/// A name for a case that is safe as a file name, and mostly unique.
fn case_id(benchmark: &str, contender: &str, parameters: &BTreeMap<String, String>) -> String {
    // File names end at 255 bytes; repetition, attempt and file type must still fit.
    const LENGTH_MAX: usize = 180;
    let parts = parameters
        .iter()
        .map(|(name, value)| format!(".{name}={value}"));
    let text = format!("{benchmark}.{contender}{}", parts.collect::<String>());
    let is_safe = |c: char| c.is_ascii_alphanumeric() || "-_=.".contains(c);
    let safe = text.chars().map(|c| if is_safe(c) { c } else { '_' });
    safe.take(LENGTH_MAX).collect()
}

/// Fisher and Yates' shuffle, with the remainder as the draw: a recorded seed gives the same order
/// in every version.
pub(super) fn shuffle<T>(list: &mut [T], random: &mut Random) {
    for last in (1..list.len()).rev() {
        let bound = last as u64 + 1;
        // The bias of the remainder is below 2^-50 for any list that fits in memory.
        let chosen = usize::try_from(random.bits() % bound).unwrap_or(last);
        list.swap(last, chosen);
    }
}
