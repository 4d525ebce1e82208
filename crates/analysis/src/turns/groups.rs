//! Groups of a set: contenders that were not alive concurrently are compared through the one that
//! was in every group, block by block.

use std::collections::{BTreeMap, BTreeSet};

use crate::data::benchmark::{CaseData, RunData, StepData};
use crate::data::number::count;

/// The contender that is in every group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Common {
    /// Contender and parameters.
    pub label: String,
    /// The number of groups.
    pub groups: usize,
}

/// The key of a set or a group in it: repetition and group, which is 0 without groups.
pub type SetKey = (u32, u32);

/// Returns the set and group of a run.
pub fn place(run: &RunData<'_>) -> SetKey {
    (run.repetition(), run.records.begin.run.group.unwrap_or(0))
}

/// Returns the index of the case that is in several groups, and the number of groups. `None` if all
/// are in one; no index if no case connects them.
pub fn common(cases: &[CaseData<'_>]) -> Option<(Option<usize>, usize)> {
    let groups_of = |case: &CaseData<'_>| -> BTreeSet<u32> {
        case.runs.iter().map(|run| place(run).1).collect()
    };
    let all: BTreeSet<u32> = cases.iter().flat_map(groups_of).collect();
    let common = cases.iter().position(|case| groups_of(case).len() > 1);
    (all.len() > 1).then_some((common, all.len()))
}

/// Returns the common contender; `None` if all contenders are in one group.
pub fn named(cases: &[CaseData<'_>]) -> Option<Common> {
    let (common, groups) = common(cases)?;
    Some(Common {
        label: cases[common?].label.clone(),
        groups,
    })
}

/// Returns the log ratios of two contenders in different groups: each divided by the common one in
/// the blocks of its group. The n-th blocks of the two groups are paired, as distances from the
/// means, so that the mean is over all blocks of both.
pub fn across(one: &[f64], other: &[f64]) -> Vec<f64> {
    let length = one.len().min(other.len());
    let mean = |logs: &[f64]| logs.iter().sum::<f64>() / count(logs.len());
    let shift = |logs: &[f64]| mean(logs) - mean(&logs[..length]);
    let moved = shift(one) - shift(other);
    let pairs = one.iter().zip(other);
    pairs.map(|(one, other)| one - other + moved).collect()
}

/// Values of a contender by set and group.
pub type ByPlace<T> = BTreeMap<SetKey, T>;

/// Returns the logarithms of the ratio of two contenders in each repetition, block by block.
/// `common` has the contender through which groups are compared.
pub fn differences(
    one: &ByPlace<BTreeMap<u64, f64>>,
    other: &ByPlace<BTreeMap<u64, f64>>,
    common: Option<&ByPlace<BTreeMap<u64, f64>>>,
) -> Vec<(u32, Vec<f64>)> {
    let mut found: Vec<(u32, Vec<f64>)> = Vec::new();
    for place in one.keys().filter(|place| other.contains_key(place)) {
        found.push((place.0, in_blocks(&one[place], &other[place])));
    }
    for (own, there) in one
        .keys()
        .flat_map(|own| other.keys().map(move |there| (own, there)))
    {
        let is_across = own.0 == there.0 && !found.iter().any(|(known, _)| *known == own.0);
        let both = common.and_then(|common| Some((common.get(own)?, common.get(there)?)));
        if let Some((here, far)) = both.filter(|_| is_across) {
            let sides = (in_blocks(&one[own], here), in_blocks(&other[there], far));
            found.push((own.0, across(&sides.0, &sides.1)));
        }
    }
    found.retain(|(_, logs)| !logs.is_empty());
    found.sort_by_key(|(repetition, _)| *repetition);
    found
}

fn in_blocks(one: &BTreeMap<u64, f64>, other: &BTreeMap<u64, f64>) -> Vec<f64> {
    let both = one.iter();
    let both = both.filter_map(|(block, log)| Some(log - other.get(block)?));
    both.filter(|log| log.is_finite()).collect()
}

impl StepData<'_> {
    /// Returns the logarithm of the rate in each turn that counts, by block.
    pub fn logs(&self) -> BTreeMap<u64, f64> {
        let kept = self.kept.iter();
        kept.map(|turn| (turn.block, self.rate(turn).ln()))
            .collect()
    }
}
