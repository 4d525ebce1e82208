//! The position in a line of commits at which a value shifted from one level to another: the
//! posterior over positions, from sessions that each measure some of the commits concurrently.
//!
//! The model: all commits before the shift share one level, the shift and all after it another. A
//! commit's value in a session differs from its level by an error with Student's t distribution
//! with [`FREEDOM`] degrees of freedom, whose scale covers the spread of its sets and the effect
//! that a build has by itself ([`OF_BUILDS`]). Levels are unknown and free in each session; every
//! position is equally likely before the first.

use std::collections::{BTreeMap, BTreeSet};

use bakeoff_base::number::length_as_f64 as count;

use crate::sample::{Sample, mean};

/// Degrees of freedom of the errors: few, so that one odd build is not decisive.
const FREEDOM: f64 = 4.0;

/// Effect of a build by itself on a service, on the log scale: the same code at another place in
/// the program is faster or slower (Mytkowicz et al., "Producing Wrong Data Without Doing Anything
/// Obviously Wrong!", ASPLOS 2009).
const OF_BUILDS: f64 = 0.003;

/// Points of the integral over a level for each scale of the errors.
const POINTS_PER_SCALE: f64 = 4.0;
/// Number of scales beyond all values at which a level has no weight left.
const SCALES_BEYOND: f64 = 12.0;
/// Maximum number of points, however far apart the values are.
const POINTS_MAX: f64 = 20_000.0;

/// The posterior over the position of one shift.
#[derive(Debug, Clone, PartialEq)]
pub struct LevelShift {
    /// Log weight of "the shift is at position `index + 1`", up to a constant.
    logs: Vec<f64>,
}

impl LevelShift {
    /// Returns the state before any session for positions 0 (before the shift) to `last` (after
    /// it): the shift is at one of 1 to `last`.
    #[must_use]
    pub fn new(last: usize) -> Self {
        Self {
            logs: vec![0.0; last],
        }
    }

    /// Adds the results of a session: the sample over its sets for each measured position, which
    /// must include 0 and the last. Returns whether they were enough to conclude anything: three
    /// positions in two common sets.
    pub fn observe(&mut self, measured: &BTreeMap<usize, &Sample>) -> bool {
        let Some(session) = Session::of(measured) else {
            return false;
        };
        let positions = &session.positions;
        // Positions between two measured ones are not distinguished: one for each gap.
        let groups = 1..positions.len();
        let by_group: Vec<f64> = groups
            .map(|first_after| session.log_weight(first_after))
            .collect();
        for (index, log) in self.logs.iter_mut().enumerate() {
            let shift = index + 1;
            let first_after = positions.partition_point(|position| *position < shift);
            if let Some(weight) = by_group.get(first_after.wrapping_sub(1)) {
                *log += weight;
            }
        }
        true
    }

    /// Returns the probability of each position, from 1 on.
    #[must_use]
    pub fn probabilities(&self) -> Vec<f64> {
        let highest = self.logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = self.logs.iter().map(|log| (log - highest).exp()).collect();
        let sum: f64 = weights.iter().sum();
        weights.iter().map(|weight| weight / sum).collect()
    }

    /// Returns the fewest positions that contain the shift with this probability, in their order.
    #[must_use]
    pub fn credible(&self, probability: f64) -> Vec<usize> {
        let probabilities = self.probabilities();
        let mut order: Vec<usize> = (0..probabilities.len()).collect();
        order.sort_by(|a, b| probabilities[*b].total_cmp(&probabilities[*a]));
        let mut held = 0.0;
        let mut positions = BTreeSet::new();
        for index in order {
            if held >= probability {
                break;
            }
            held += probabilities[index];
            positions.insert(index + 1);
        }
        positions.into_iter().collect()
    }

    /// Returns up to `most` positions, of those that can be measured, whose measurement splits the
    /// posterior into equally likely parts; fewer if fewer would say as much.
    #[must_use]
    pub fn next(&self, most: usize, can_be_measured: impl Fn(usize) -> bool) -> Vec<usize> {
        let probabilities = self.probabilities();
        // The probability at or before a position: a measurement of it splits there.
        let mut up_to = 0.0;
        let mut splits: Vec<(usize, f64)> = Vec::new();
        for (index, probability) in probabilities.iter().enumerate() {
            up_to += probability;
            let position = index + 1;
            let splits_something = up_to > NEGLIGIBLE && 1.0 - up_to > NEGLIGIBLE;
            if position < probabilities.len() && splits_something && can_be_measured(position) {
                splits.push((position, up_to));
            }
        }
        let mut chosen = BTreeSet::new();
        let parts = count(most + 1);
        for part in 1..=most {
            let wanted = count(part) / parts;
            let distance = |split: &f64| (split - wanted).abs();
            let nearest = splits
                .iter()
                .filter(|(position, _)| !chosen.contains(position));
            let nearest = nearest.min_by(|(_, a), (_, b)| distance(a).total_cmp(&distance(b)));
            chosen.extend(nearest.map(|(position, _)| *position));
        }
        chosen.into_iter().collect()
    }
}

/// A part of the posterior that is not worth a measurement.
const NEGLIGIBLE: f64 = 0.005;

/// The measurements of one session.
struct Session {
    positions: Vec<usize>,
    /// The mean of each position over the sets, on the log scale, without the common effect of each
    /// set.
    means: Vec<f64>,
    /// Scale of a mean's error.
    scale: f64,
}

impl Session {
    /// Returns the measurements; `None` for fewer than three positions or two sets in common, and
    /// if a value is not positive.
    fn of(measured: &BTreeMap<usize, &Sample>) -> Option<Self> {
        let mut by_set: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for sample in measured.values() {
            for (set, value) in sample.by_block() {
                if value <= 0.0 {
                    return None;
                }
                by_set.entry(set).or_default().push(value.ln());
            }
        }
        by_set.retain(|_, logs| logs.len() == measured.len());
        let (contenders, sets) = (measured.len(), by_set.len());
        if contenders < 3 || sets < 2 {
            return None;
        }
        let centred: Vec<Vec<f64>> = by_set
            .values()
            .map(|logs| {
                let of_set = mean(logs);
                logs.iter().map(|log| log - of_set).collect()
            })
            .collect();
        let means: Vec<f64> = (0..contenders)
            .map(|one| mean(&centred.iter().map(|logs| logs[one]).collect::<Vec<_>>()))
            .collect();
        let residuals = centred.iter().flat_map(|logs| logs.iter().zip(&means));
        let squares: f64 = residuals.map(|(log, mean)| (log - mean).powi(2)).sum();
        let variance = squares / count((contenders - 1) * (sets - 1));
        Some(Self {
            positions: measured.keys().copied().collect(),
            means,
            scale: (variance / count(sets) + OF_BUILDS.powi(2)).sqrt(),
        })
    }

    /// Returns the log probability of all means if those from the `first_after`-th on are behind
    /// the shift: each part has its own level, which is unknown.
    fn log_weight(&self, first_after: usize) -> f64 {
        let (before, after) = self.means.split_at(first_after);
        self.log_of_level(before) + self.log_of_level(after)
    }

    /// Returns the log of the integral over the level that these means share.
    fn log_of_level(&self, means: &[f64]) -> f64 {
        let beyond = SCALES_BEYOND * self.scale;
        let low = self.means.iter().copied().fold(f64::INFINITY, f64::min) - beyond;
        let high = self.means.iter().copied().fold(f64::NEG_INFINITY, f64::max) + beyond;
        let points = ((high - low) / self.scale * POINTS_PER_SCALE).min(POINTS_MAX);
        let distance = (high - low) / points;
        let mut level = low;
        let mut sum = 0.0;
        while level <= high {
            let errors = means.iter().map(|mean| self.density(mean - level));
            sum += errors.product::<f64>() * distance;
            level += distance;
        }
        sum.max(f64::MIN_POSITIVE).ln()
    }

    /// Returns the density of Student's t, up to a common factor.
    fn density(&self, error: f64) -> f64 {
        let scaled = error / self.scale;
        (1.0 + scaled * scaled / FREEDOM).powf(-(FREEDOM + 1.0) / 2.0) / self.scale
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use bakeoff_base::random::Random;

    use super::LevelShift;
    use crate::sample::Sample;

    /// Measures positions of a line whose shift is at `shift`, `sets` times.
    fn session(
        random: &mut Random,
        positions: &[usize],
        (shift, size): (usize, f64),
        sets: u32,
    ) -> BTreeMap<usize, Sample> {
        let host: Vec<f64> = (0..sets).map(|_| 0.02 * random.normal()).collect();
        let mut all = BTreeMap::new();
        for position in positions {
            let level = if *position >= shift { size } else { 0.0 };
            let build = 0.002 * random.normal();
            let values = (1..).zip(&host).map(|(set, host)| {
                let log: f64 = level + build + host + 0.006 * random.normal();
                (set, 100.0 * log.exp())
            });
            all.insert(*position, Sample::of_sets(values.collect()).unwrap());
        }
        all
    }

    /// Searches for a shift as a bisection does. Returns the credible positions and the sessions.
    fn search(random: &mut Random, last: usize, of: (usize, f64)) -> (Vec<usize>, usize) {
        let mut found = LevelShift::new(last);
        for sessions in 1..=12 {
            let mut positions = found.next(4, |_| true);
            positions.extend([0, last]);
            let measured = session(random, &positions, of, 3);
            let samples: BTreeMap<usize, &Sample> = measured
                .iter()
                .map(|(position, sample)| (*position, sample))
                .collect();
            assert!(found.observe(&samples));
            let credible = found.credible(0.95);
            if credible.len() == 1 {
                return (credible, sessions);
            }
        }
        (found.credible(0.95), 12)
    }

    #[test]
    fn a_shift_is_found_where_it_is() {
        let mut random = Random::new(7);
        let (mut right, mut most) = (0, 0);
        const TRIALS: usize = 200;
        for trial in 0..TRIALS {
            let shift = 1 + trial % 32;
            let (credible, sessions) = search(&mut random, 32, (shift, 0.05));
            right += usize::from(credible.contains(&shift));
            most = most.max(sessions);
        }
        assert!(right >= TRIALS * 95 / 100, "{right}");
        assert!(most <= 6, "{most}");
    }

    #[test]
    fn a_small_shift_takes_longer_and_is_as_often_right() {
        let mut random = Random::new(11);
        let mut right = 0;
        const TRIALS: usize = 200;
        for trial in 0..TRIALS {
            let shift = 1 + trial % 20;
            let (credible, _) = search(&mut random, 20, (shift, 0.02));
            right += usize::from(credible.contains(&shift));
        }
        assert!(right >= TRIALS * 92 / 100, "{right}");
    }

    #[test]
    fn what_cannot_be_measured_stays_in_question() {
        let mut random = Random::new(3);
        let mut found = LevelShift::new(10);
        let positions = found.next(4, |position| position != 5);
        assert!(!positions.contains(&5));
        for _ in 0..6 {
            let measured = session(&mut random, &[0, 3, 4, 6, 7, 10], (5, 0.1), 3);
            let samples: BTreeMap<usize, &Sample> = measured
                .iter()
                .map(|(position, sample)| (*position, sample))
                .collect();
            assert!(found.observe(&samples));
        }
        assert_eq!(found.credible(0.95), [5, 6]);
        assert_eq!(found.next(4, |position| position != 5), [] as [usize; 0]);
        assert_eq!(found.next(4, |_| true), [5]);
    }

    #[test]
    fn nothing_is_told_by_too_little() {
        let mut found = LevelShift::new(4);
        let sample = Sample::of_sets(vec![(1, 10.0), (2, 11.0)]).unwrap();
        assert!(!found.observe(&BTreeMap::from([(0, &sample), (4, &sample)])));
        let one = Sample::of_sets(vec![(1, 10.0)]).unwrap();
        assert!(!found.observe(&BTreeMap::from([(0, &one), (2, &one), (4, &one)])));
        assert_eq!(found, LevelShift::new(4));
        assert_eq!(found.next(1, |_| true), [2]);
        assert_eq!(found.next(4, |_| true), [1, 2, 3]);
    }
}
