//! The cases of a plan, and their order: benchmark x contender x parameters.

use std::collections::{BTreeMap, BTreeSet};

use bakeoff_base::random::Random;

use super::{CpuQuota, Parameters, PlanOptions};
use crate::suite::{Benchmark, BenchmarkKind, Contender, Limits, Profile, Suite};

/// Sets the choice of a twin apart from other draws of the same seed.
const TWIN: u64 = 0x6374_726c;

/// A benchmark for a contender with chosen parameters, before it is repeated.
#[derive(Clone)]
pub(super) struct Case<'s> {
    /// Unique in the plan and safe as a file name.
    pub(super) id: String,
    pub(super) benchmark: &'s Benchmark,
    pub(super) contender: &'s Contender,
    pub(super) parameters: Parameters,
    pub(super) limits: Limits,
    /// The case is the second process of its contender.
    pub(super) twin: bool,
    /// The contender has two processes, which share the time of one.
    pub(super) shares_time: bool,
    /// The case takes turns with the others of its benchmark.
    pub(super) in_turns: bool,
}

impl Case<'_> {
    fn twin(&self) -> Self {
        Self {
            id: format!("{}~twin", self.id),
            twin: true,
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
                let cpus = parameters.cpus.map(|CpuQuota(cores)| cores);
                cases.push(Case {
                    id,
                    benchmark,
                    contender,
                    parameters,
                    limits: Limits {
                        cpus: cpus.or(profile.limits.cpus),
                        ..profile.limits
                    },
                    twin: false,
                    shares_time: false,
                    in_turns: false,
                });
            }
        }
    }
    cases
}

/// Adds second processes to cases with load that have another case to compare with. If two take
/// turns, each gets one, and the two processes share the time of one. With more cases, and in whole
/// runs, one case that the seed picks is in each of its benchmarks once more. The processes of a
/// case differ only by chance.
pub(super) fn add_twins(cases: &mut Vec<Case<'_>>, seed: u64) {
    let compared = |case: &Case<'_>| {
        let same = |other: &&Case<'_>| other.benchmark.name == case.benchmark.name;
        cases.iter().filter(same).count()
    };
    let compared: Vec<usize> = cases.iter().map(compared).collect();
    let mut twins = Vec::new();
    let mut eligible = Vec::new();
    for (case, compared) in cases.iter_mut().zip(compared) {
        if case.benchmark.kind != BenchmarkKind::Load || compared < 2 {
            continue;
        }
        case.shares_time = compared == 2 && case.in_turns;
        match case.shares_time {
            true => twins.push(case.twin()),
            false => eligible.push(&*case),
        }
    }
    if let Some(first) = eligible.first() {
        let of_first = |case: &&&Case<'_>| case.benchmark.name == first.benchmark.name;
        let of_first: Vec<&&Case<'_>> = eligible.iter().filter(of_first).collect();
        let chosen = of_first[Random::new(seed ^ TWIN).below(of_first.len())];
        let is_chosen = |case: &&&Case<'_>| {
            case.contender.name == chosen.contender.name && case.parameters == chosen.parameters
        };
        let chosen = eligible.iter().filter(is_chosen);
        twins.extend(chosen.map(|case| case.twin()));
    }
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
) -> Vec<Parameters> {
    let allowed = |parameters: &Parameters| {
        parameters.variables.iter().all(|(name, value)| {
            let values = options.parameters.get(name);
            values.is_none_or(|values| values.contains(value))
        })
    };
    let chosen = |parameters: &Parameters| {
        options
            .cases
            .iter()
            .any(|one| one.contender == contender.name && one.parameters == *parameters)
    };
    let cpus: Vec<Option<CpuQuota>> = match cpus {
        [] => vec![None],
        several => several.iter().copied().map(CpuQuota).map(Some).collect(),
    };
    let with_quotas = |variables: BTreeMap<String, String>| {
        let cpus = cpus.iter();
        let with_quota = move |cpus: &Option<CpuQuota>| Parameters {
            variables: variables.clone(),
            cpus: *cpus,
        };
        cpus.map(with_quota)
    };
    let combinations = combinations(&contender.matrix).into_iter();
    let mut wanted: Vec<Parameters> = combinations.flat_map(with_quotas).collect();
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
fn case_id(benchmark: &str, contender: &str, parameters: &Parameters) -> String {
    // File names end at 255 bytes; repetition, attempt and file type must still fit.
    const LENGTH_MAX: usize = 180;
    let parts = parameters.by_name();
    let parts = parts.iter().map(|(name, value)| format!(".{name}={value}"));
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
