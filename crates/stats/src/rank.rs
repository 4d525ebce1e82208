//! Order with ties: a rank is only given where the runs distinguish the contenders.

use crate::compare::{Better, Criteria, Verdict, compare};
use crate::sample::Sample;

/// A place in the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ranked {
    /// Index in the list that was given.
    pub index: usize,
    /// The rank from 1; equal ranks are ties and the next rank counts them (1, 1, 3).
    pub rank: usize,
    /// Whether another one has the same rank.
    pub tied: bool,
}

/// Orders `samples` from the best mean to the worst. One that is not surely and relevantly worse
/// than the best of a group of ties belongs to that group. With single runs everything is tied:
/// nothing is sure then.
#[must_use]
pub fn rank(samples: &[Sample], criteria: &Criteria) -> Vec<Ranked> {
    let mut order: Vec<usize> = (0..samples.len()).collect();
    order.sort_by(|a, b| {
        let (a, b) = (samples[*a].mean(), samples[*b].mean());
        match criteria.better {
            Better::Higher => b.total_cmp(&a),
            Better::Lower => a.total_cmp(&b),
        }
    });
    let mut ranked: Vec<Ranked> = Vec::with_capacity(order.len());
    let mut best = 0;
    for (place, &index) in order.iter().enumerate() {
        let verdict = compare(&samples[index], &samples[order[best]], criteria).verdict;
        if verdict == Verdict::Slower {
            best = place;
        }
        ranked.push(Ranked {
            index,
            rank: best + 1,
            tied: false,
        });
    }
    for place in 0..ranked.len() {
        let same = ranked
            .iter()
            .filter(|other| other.rank == ranked[place].rank)
            .count();
        ranked[place].tied = same > 1;
    }
    ranked
}
