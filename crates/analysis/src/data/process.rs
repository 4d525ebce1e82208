//! The processes of a case, to which values belong.

use std::collections::BTreeMap;

use super::number::count;

/// A process of a case, of which there are one or two in each repetition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Process {
    /// The repetition, in which every case of the session has its turn in shuffled order.
    pub repetition: u32,
    /// Whether it is the second one.
    pub is_twin: bool,
}

/// Returns one value for each repetition, and one of the second process if the contender had two;
/// for a contender that is in several groups, the mean over them.
pub(crate) fn one_of_each(values: Vec<(Process, f64)>) -> Vec<(u32, f64, Option<f64>)> {
    let mut found: BTreeMap<u32, [Vec<f64>; 2]> = BTreeMap::new();
    for (process, value) in values {
        let of_repetition = found.entry(process.repetition).or_default();
        of_repetition[usize::from(process.is_twin)].push(value);
    }
    let mean = |values: &Vec<f64>| match values.as_slice() {
        [] => None,
        [one] => Some(*one),
        _ => Some(values.iter().sum::<f64>() / count(values.len())),
    };
    let each = found.iter().filter_map(|(repetition, processes)| {
        let [one, other] = processes.each_ref().map(mean);
        // A second process can be the only one that has a value.
        Some((*repetition, one.or(other)?, one.and(other)))
    });
    each.collect()
}
