//! Order with ties: a rank is only given if the runs distinguish the contenders.

use crate::compare::{Better, Criteria, Pairs, Verdict};
use crate::sample::Sample;

/// The relation of a contender to the others of its rank.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Tie {
    /// No other has the rank.
    #[default]
    Alone,
    /// Equivalent to the others of the rank.
    Equivalent,
    /// Not significantly different from another one of the rank.
    Unknown,
}

/// A place in the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ranked {
    /// Index in the list that was given.
    pub index: usize,
    /// One more than the number of faster contenders. `None` for a sample with a value that is not
    /// positive, which has no ratio to any other: such samples come last.
    pub rank: Option<usize>,
    /// Whether and how the contender shares its rank.
    pub tie: Tie,
}

/// Orders `samples` from the best mean to the worst. A sample's rank is one more than the number of
/// faster ones by the verdicts of `pairs`, which must be for the same samples. So every rank is
/// based on the family's tests (Klein, Wright and Wieczorek, "A Joint Confidence Region for an
/// Overall Ranking of Populations", Journal of the Royal Statistical Society C 2020), and a noisy
/// contender may have a better rank than one with a better mean. With single runs all are first.
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
    let slower = |index: usize| {
        let others = 0..samples.len();
        let verdicts = others.filter_map(|other| Some(pairs.get(index, other)?.verdict));
        verdicts
            .filter(|verdict| *verdict == Verdict::Slower)
            .count()
    };
    let ranks: Vec<Option<usize>> = (0..samples.len())
        .map(|index| has_ratio(index).then(|| slower(index) + 1))
        .collect();
    let ranked = order.iter().map(|&index| Ranked {
        index,
        rank: ranks[index],
        tie: tie(index, &ranks, pairs),
    });
    ranked.collect()
}

/// Returns the relation of a contender to the others of its rank.
fn tie(index: usize, ranks: &[Option<usize>], pairs: &Pairs) -> Tie {
    let others = ranks.iter().enumerate();
    let same = others.filter(|(_, rank)| rank.is_some() && **rank == ranks[index]);
    let verdicts = same.filter_map(|(other, _)| Some(pairs.get(index, other)?.verdict));
    let verdicts: Vec<Verdict> = verdicts.collect();
    let unknown = [Verdict::Inconclusive, Verdict::Void];
    if verdicts.iter().any(|verdict| unknown.contains(verdict)) {
        Tie::Unknown
    } else if verdicts.contains(&Verdict::Equivalent) {
        Tie::Equivalent
    } else {
        Tie::Alone
    }
}
