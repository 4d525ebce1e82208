//! Order with ties: a rank is only given where the runs distinguish the contenders.

use crate::compare::{Better, Criteria, Pairs, Verdict};
use crate::sample::Sample;

/// How a contender stands to the others of its rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tie {
    /// Nobody else has the rank.
    Alone,
    /// Equivalent to the first of the rank (the first itself: all others are).
    Equivalent,
    /// Not told apart from the first of the rank (the first itself: from one of the others).
    Unknown,
}

/// A place in the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ranked {
    /// Index in the list that was given.
    pub index: usize,
    /// The rank from 1; equal ranks are ties and the next rank counts them (1, 1, 3). `None` for a
    /// sample with a value that is not positive, which has no ratio to any other: they come last.
    pub rank: Option<usize>,
    /// Whether and how it shares its rank.
    pub tie: Tie,
}

/// Orders `samples` from the best mean to the worst. One that is not slower than the best of a
/// group of ties belongs to that group, by the verdicts of `pairs`, which must be of the same
/// samples. With single runs everything is tied: nothing is sure then.
#[must_use]
pub fn rank(samples: &[&Sample], pairs: &Pairs, criteria: &Criteria) -> Vec<Ranked> {
    let has_ratio = |index: usize| samples[index].values().iter().all(|value| *value > 0.0);
    let mut order: Vec<usize> = (0..samples.len()).collect();
    order.sort_by(|a, b| {
        let (first, second) = (samples[*a].mean(), samples[*b].mean());
        let by_mean = match criteria.better {
            Better::Higher => second.total_cmp(&first),
            Better::Lower => first.total_cmp(&second),
        };
        has_ratio(*b).cmp(&has_ratio(*a)).then(by_mean)
    });
    let verdict = |index: usize, best: usize| pairs.get(index, best).map(|found| found.verdict);
    let mut ranked: Vec<Ranked> = Vec::with_capacity(order.len());
    let mut best = 0;
    for (place, &index) in order.iter().enumerate() {
        if verdict(index, order[best]) == Some(Verdict::Slower) {
            best = place;
        }
        let tie = match verdict(index, order[best]) {
            None => Tie::Alone,
            Some(Verdict::Equivalent) => Tie::Equivalent,
            Some(_) => Tie::Unknown,
        };
        ranked.push(Ranked {
            index,
            rank: has_ratio(index).then_some(best + 1),
            tie: if has_ratio(index) { tie } else { Tie::Alone },
        });
    }
    for place in 0..ranked.len() {
        if ranked[place].rank == Some(place + 1) {
            ranked[place].tie = of_first(place + 1, &ranked[place + 1..]);
        }
    }
    ranked
}

/// How the first of a rank stands to those after it.
fn of_first(rank: usize, after: &[Ranked]) -> Tie {
    let others = after.iter().filter(|other| other.rank == Some(rank));
    let ties: Vec<Tie> = others.map(|other| other.tie).collect();
    match ties.as_slice() {
        [] => Tie::Alone,
        ties if ties.contains(&Tie::Unknown) => Tie::Unknown,
        _ => Tie::Equivalent,
    }
}
