//! Sittings: parts of a session, each measured at a different time. Another sitting meets the host
//! at another hour, or another host.

use std::collections::{BTreeMap, BTreeSet};

use bakeoff_model::record::{Begin, Results};
use bakeoff_stats::{Components, are_apart};

/// The sets of a sitting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SittingSets {
    /// Start time, RFC 3339 in UTC; empty in records without it.
    pub began: String,
    /// Repetitions of the sets, in order.
    pub sets: Vec<u32>,
}

/// The difference between sittings in the ratio of two contenders.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BetweenSittings {
    /// Share of the variance of sets that is between sittings.
    pub share: f64,
    /// Whether they differ by more than their sets explain: the interval is then over the means of
    /// sittings.
    pub differ: bool,
}

impl BetweenSittings {
    /// Computes the difference from the logarithm of the ratio in each set, with its sitting;
    /// `None` for one sitting, and if each has one set.
    pub fn of(logs: &[(u32, f64)]) -> Option<Self> {
        let mut sittings: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for (sitting, log) in logs {
            sittings.entry(*sitting).or_default().push(*log);
        }
        let sittings: Vec<Vec<f64>> = sittings.into_values().collect();
        let components = Components::of(&sittings)?;
        let (between, within) = (components.between?.powi(2), components.within.powi(2));
        Some(Self {
            share: between / (between + within).max(f64::MIN_POSITIVE),
            differ: are_apart(&sittings)?,
        })
    }
}

/// Returns the start time of each sitting, the first one first.
pub fn of_results(results: &Results) -> Vec<&str> {
    let began = results.runs.iter().map(|run| began(&run.begin));
    let began: BTreeSet<&str> = began.collect();
    began.into_iter().collect()
}

/// Returns the index of a run's sitting.
pub fn index(all: &[&str], begin: &Begin) -> u32 {
    let place = all.iter().position(|one| *one == began(begin));
    place
        .and_then(|place| u32::try_from(place).ok())
        .unwrap_or_default()
}

/// Returns the sets of each sitting by repetition; empty if there is one sitting.
pub fn sets(began: &BTreeMap<u32, &str>) -> Vec<SittingSets> {
    let mut sittings: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for (repetition, began) in began {
        sittings.entry(began).or_default().push(*repetition);
    }
    let sets = sittings.into_iter().map(|(began, sets)| SittingSets {
        began: began.to_owned(),
        sets,
    });
    let sets: Vec<SittingSets> = sets.collect();
    match sets.len() {
        1 => Vec::new(),
        _ => sets,
    }
}

/// Returns the start time of a run's sitting; empty in records without it.
pub fn began(begin: &Begin) -> &str {
    begin.sitting.as_deref().unwrap_or_default()
}

/// Returns how many pairs have sittings that differ, with the lowest and the highest share of
/// variance; `None` without a pair.
pub fn summary(pairs: impl Iterator<Item = BetweenSittings>) -> Option<(usize, f64, f64)> {
    let pairs: Vec<BetweenSittings> = pairs.collect();
    let shares = || pairs.iter().map(|pair| pair.share);
    let differ = pairs.iter().filter(|pair| pair.differ).count();
    let (least, most) = (shares().reduce(f64::min)?, shares().reduce(f64::max)?);
    Some((differ, least, most))
}
