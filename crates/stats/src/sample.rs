//! Samples of one value per run, their statistics, and the shape of an estimate.

use std::collections::BTreeMap;

use bakeoff_base::number::length_as_f64 as count;

use crate::distribution::student_quantile;

/// One value per run of the same case. Never empty, every value finite.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    values: Vec<f64>,
    /// The block of each value; empty if blocks are not known.
    blocks: Vec<u32>,
    /// Whether the blocks are sets.
    sets: bool,
    /// The sitting of each value; empty if all values are from one.
    sittings: Vec<u32>,
    /// The budget, if the number of values was decided by looking at them.
    looks: Option<Budget>,
    /// The two values of which each value is the mean, for sets with two processes of the case.
    /// Empty, or as long as the values.
    twins: Vec<Option<[f64; 2]>>,
}

/// Whether more sets may follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Budget {
    /// More sets may follow: the looks so far are early ones.
    Left,
    /// No more sets may follow: this look is the last one.
    Spent,
}

/// A confidence interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

/// A point estimate and its uncertainty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The best single number.
    pub point: f64,
    /// The confidence interval; `None` if there are too few runs for one.
    pub interval: Option<Interval>,
    /// Runs behind the estimate; for a comparison, those of the smaller side.
    pub runs: usize,
}

impl Interval {
    /// Whether `value` is inside, ends included.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    fn is_finite(&self) -> bool {
        self.low.is_finite() && self.high.is_finite()
    }
}

impl Estimate {
    /// Returns half of the interval's width as a share of the point: 0.02 reads "± 2 %".
    #[must_use]
    pub fn relative_half_width(&self) -> Option<f64> {
        let interval = self.interval?;
        (self.point != 0.0).then(|| (interval.high - interval.low) / 2.0 / self.point.abs())
    }
}

/// Returns the mean of a slice of finite values that is not empty; finite too.
pub(crate) fn mean(values: &[f64]) -> f64 {
    let share = 1.0 / count(values.len());
    match values.iter().sum::<f64>() {
        sum if sum.is_finite() => sum / count(values.len()),
        _ => values.iter().map(|value| value * share).sum(),
    }
}

/// Returns the unbiased variance (divisor n - 1); `None` for fewer than two values, and if it is
/// larger than any number.
pub(crate) fn variance(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let variance = squares / count(values.len() - 1);
    variance.is_finite().then_some(variance)
}

/// Returns how far Student's interval of the mean extends to each side; `None` for fewer than two
/// values.
fn student_reach(values: &[f64], confidence: f64) -> Option<f64> {
    let (error, runs) = (variance(values)?.sqrt(), count(values.len()));
    Some(student_quantile(0.5 + confidence / 2.0, runs - 1.0) * error / runs.sqrt())
}

impl Sample {
    /// Returns a sample; `None` if `values` is empty or contains a value that is not finite.
    #[must_use]
    pub fn new(values: Vec<f64>) -> Option<Self> {
        Self::of(values, Vec::new())
    }

    /// Returns a sample with the block of each value: the repetition in which it was measured, in
    /// which every contender of the session had its turn. `None` as for [`Sample::new`].
    #[must_use]
    pub fn in_blocks(values: Vec<(u32, f64)>) -> Option<Self> {
        let (blocks, values) = values.into_iter().unzip();
        Self::of(values, blocks)
    }

    /// Returns a sample with a value for each set, in which all contenders met the same host within
    /// seconds: two such samples are compared set by set, for any number of sets. `None` as for
    /// [`Sample::new`].
    #[must_use]
    pub fn of_sets(values: Vec<(u32, f64)>) -> Option<Self> {
        Some(Self::in_blocks(values)?.in_sets())
    }

    /// Returns the same values with blocks that are sets, as in [`Sample::of_sets`].
    #[must_use]
    pub fn in_sets(self) -> Self {
        Self { sets: true, ..self }
    }

    /// Returns a sample of blocks, some or all with two processes of the case: the value of each
    /// process. Such a block has the geometric mean of both as its value, because noise is a share
    /// of the level; the arithmetic mean if they are not positive. `None` as for [`Sample::new`].
    #[must_use]
    pub fn of_processes(values: Vec<(u32, f64, Option<f64>)>) -> Option<Self> {
        let twins = values.iter().map(|(_, one, other)| Some([*one, (*other)?]));
        let twins = twins.collect();
        let values = values.into_iter().map(|(set, one, other)| {
            let mean = match other {
                None => one,
                Some(other) if one > 0.0 && other > 0.0 => one.ln().midpoint(other.ln()).exp(),
                Some(other) => one.midpoint(other),
            };
            (set, mean)
        });
        Some(Self {
            twins,
            ..Self::in_blocks(values.collect())?
        })
    }

    /// Returns the blocks with two processes of the case as two samples, one per process: their
    /// difference is chance. `None` if there is no such block.
    #[must_use]
    pub fn processes(&self) -> Option<[Self; 2]> {
        let mut indices: Vec<usize> = (0..self.values.len()).collect();
        indices.retain(|index| self.twins(*index).is_some());
        let of = |process: usize| {
            let values = indices.iter().filter_map(|index| {
                let block = self.blocks.get(*index)?;
                Some((*block, self.twins(*index)?[process]))
            });
            let sample = Self::in_blocks(values.collect())?;
            let sittings = indices.iter().filter_map(|index| self.sittings.get(*index));
            Some(Self {
                sets: self.sets,
                sittings: sittings.copied().collect(),
                looks: self.looks,
                ..sample
            })
        };
        Some([of(0)?, of(1)?])
    }

    /// Returns the values of the blocks up to this one, as they were before the last look.
    #[must_use]
    pub fn up_to(&self, block: u32) -> Option<Self> {
        let indices = (0..self.blocks.len()).filter(|index| self.blocks[*index] <= block);
        let indices: Vec<usize> = indices.collect();
        let sittings = indices.iter().filter_map(|index| self.sittings.get(*index));
        (!indices.is_empty()).then_some(Self {
            values: indices.iter().map(|index| self.values[*index]).collect(),
            blocks: indices.iter().map(|index| self.blocks[*index]).collect(),
            sets: self.sets,
            sittings: sittings.copied().collect(),
            looks: self.looks.map(|_| Budget::Left),
            twins: self.twins_at(indices.iter().copied()),
        })
    }

    /// Returns the values of the sets that have a factor, multiplied by it; `None` if no set has
    /// one.
    pub(crate) fn scaled_by(&self, factors: &BTreeMap<u32, f64>) -> Option<Self> {
        let kept: Vec<(usize, f64)> = (self.blocks.iter().enumerate())
            .filter_map(|(index, block)| Some((index, *factors.get(block)?)))
            .collect();
        let values = kept
            .iter()
            .map(|(index, factor)| self.values[*index] * factor);
        let sittings = kept
            .iter()
            .filter_map(|(index, _)| self.sittings.get(*index));
        let blocks = kept.iter().map(|(index, _)| self.blocks[*index]);
        let scaled = Self::of(values.collect(), blocks.collect())?;
        let mut twins = self.twins_at(kept.iter().map(|(index, _)| *index));
        for (twins, (_, factor)) in twins.iter_mut().zip(&kept) {
            if let Some(twins) = twins {
                *twins = twins.map(|value| value * factor);
            }
        }
        Some(Self {
            sets: self.sets,
            sittings: sittings.copied().collect(),
            looks: self.looks,
            twins,
            ..scaled
        })
    }

    /// Returns this over `other` in each block that both have, for ratios of ratios; `None` without
    /// one, and if a quotient is not a number. The spread of two processes is not that of the
    /// quotient, and is left out.
    #[must_use]
    pub fn over(&self, other: &Self) -> Option<Self> {
        let inverse = other.by_block().map(|(block, value)| (block, 1.0 / value));
        Some(Self {
            twins: Vec::new(),
            ..self.scaled_by(&inverse.collect())?
        })
    }

    /// Returns by how much the mean exceeds that of `other`, with its standard error from the
    /// variances of both; `None` if one of them has a single value.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Option<(f64, f64)> {
        let of_mean = |sample: &Self| Some(variance(&sample.values)? / count(sample.values.len()));
        let error = (of_mean(self)? + of_mean(other)?).sqrt();
        Some((self.mean() - other.mean(), error))
    }

    /// Returns the sample marked as one whose number of sets was decided by looking: intervals and
    /// p-values are then valid after any set.
    #[must_use]
    pub fn looked_at(self, budget: Budget) -> Self {
        Self {
            looks: Some(budget),
            ..self
        }
    }

    /// Returns the values of this sample and then those of a later session, whose blocks are
    /// different.
    #[must_use]
    pub fn followed_by(&self, later: &Self) -> Self {
        let first = self.blocks.iter().max().map_or(0, |last| last + 1);
        let blocks = later.blocks.iter().map(|block| first + block);
        Self {
            values: [&self.values[..], &later.values].concat(),
            blocks: self.blocks.iter().copied().chain(blocks).collect(),
            sets: self.sets && later.sets,
            sittings: Vec::new(),
            looks: later.looks,
            twins: match self.twins.is_empty() || later.twins.is_empty() {
                true => Vec::new(),
                false => [&self.twins[..], &later.twins].concat(),
            },
        }
    }

    /// Returns the same values with the sitting in which each block was measured: each sitting met
    /// the host at another hour, or another host.
    #[must_use]
    pub fn in_sittings(self, of_blocks: &BTreeMap<u32, u32>) -> Self {
        let blocks = self.blocks.iter();
        let sittings = blocks.map(|block| of_blocks.get(block).copied().unwrap_or_default());
        Self {
            sittings: sittings.collect(),
            ..self
        }
    }

    /// Returns the two values of the set with that index, if it has two.
    pub(crate) fn twins(&self, index: usize) -> Option<[f64; 2]> {
        self.twins.get(index).copied().flatten()
    }

    fn twins_at(&self, indices: impl Iterator<Item = usize>) -> Vec<Option<[f64; 2]>> {
        indices
            .filter_map(|index| self.twins.get(index).copied())
            .collect()
    }

    /// Returns the sitting of the value with that index.
    pub(crate) fn sitting(&self, index: usize) -> u32 {
        self.sittings.get(index).copied().unwrap_or_default()
    }

    /// Returns the budget if both were looked at repetition by repetition.
    pub(crate) fn looks_with(&self, other: &Self) -> Option<Budget> {
        self.looks.filter(|_| other.looks == self.looks)
    }

    /// Whether each value is from a set.
    #[must_use]
    pub fn is_of_sets(&self) -> bool {
        self.sets
    }

    fn of(values: Vec<f64>, blocks: Vec<u32>) -> Option<Self> {
        let usable = !values.is_empty() && values.iter().all(|value| value.is_finite());
        usable.then_some(Self {
            values,
            blocks,
            sets: false,
            sittings: Vec::new(),
            looks: None,
            twins: Vec::new(),
        })
    }

    /// Returns the same values without blocks: for comparisons with another session, whose
    /// repetitions are unrelated to these.
    #[must_use]
    pub fn without_blocks(&self) -> Self {
        Self {
            values: self.values.clone(),
            blocks: Vec::new(),
            sets: false,
            sittings: Vec::new(),
            looks: None,
            twins: Vec::new(),
        }
    }

    /// Returns the indices of the values of both that are from the same block.
    pub(crate) fn common_blocks(&self, other: &Self) -> Vec<(usize, usize)> {
        let own = self.blocks.iter().enumerate();
        let place = |block: &u32| other.blocks.iter().position(|there| there == block);
        own.filter_map(|(index, block)| Some((index, place(block)?)))
            .collect()
    }

    /// Returns each value with its block; none if blocks are not known.
    pub(crate) fn by_block(&self) -> impl Iterator<Item = (u32, f64)> {
        let values = self.values.iter().copied();
        self.blocks.iter().copied().zip(values)
    }

    /// Returns the values in the order of the runs.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Returns the number of runs.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.values.len()
    }

    /// Returns the arithmetic mean.
    #[must_use]
    pub fn mean(&self) -> f64 {
        mean(&self.values)
    }

    /// Returns the median.
    #[must_use]
    pub fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    /// Returns the quantile `share` (clamped to 0..=1) by linear interpolation between order
    /// statistics: type 7 of Hyndman and Fan, "Sample Quantiles in Statistical Packages", 1996,
    /// which is the default of NumPy.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the position lies between 0 and the number of runs"
    )]
    pub fn quantile(&self, share: f64) -> f64 {
        let mut sorted = self.values.clone();
        sorted.sort_by(f64::total_cmp);
        let position = share.clamp(0.0, 1.0) * count(sorted.len() - 1);
        let below = position.floor() as usize;
        let above = (below + 1).min(sorted.len() - 1);
        let fraction = position - count(below);
        sorted[below] + fraction * (sorted[above] - sorted[below])
    }

    /// Returns the unbiased variance (divisor n - 1); `None` for a single run.
    #[must_use]
    pub fn variance(&self) -> Option<f64> {
        variance(&self.values)
    }

    /// Returns the standard deviation (divisor n - 1); `None` for a single run.
    #[must_use]
    pub fn deviation(&self) -> Option<f64> {
        self.variance().map(f64::sqrt)
    }

    /// Returns the coefficient of variation, deviation over mean; `None` for a single run or a zero
    /// mean.
    #[must_use]
    pub fn variation(&self) -> Option<f64> {
        let mean = self.mean();
        self.deviation()
            .filter(|_| mean != 0.0)
            .map(|deviation| deviation / mean.abs())
    }

    /// Returns the mean with Student's interval at `confidence` (0.95 = 95 %); no interval for one
    /// run.
    ///
    /// If all values are positive, the interval is computed from their logarithms, and its ends are
    /// the mean times and divided by one factor: noise is a share of the level, and no quantity is
    /// below zero.
    #[must_use]
    pub fn estimate(&self, confidence: f64) -> Estimate {
        let runs = self.values.len();
        let point = self.mean();
        let interval = match self.logs() {
            Some(logs) => student_reach(&logs, confidence).map(|reach| Interval {
                low: point * (-reach).exp(),
                high: point * reach.exp(),
            }),
            None => student_reach(&self.values, confidence).map(|reach| Interval {
                low: point - reach,
                high: point + reach,
            }),
        };
        Estimate {
            point,
            interval: interval.filter(Interval::is_finite),
            runs,
        }
    }

    /// Returns the geometric mean with Student's interval of the logarithms; `None` if a value is
    /// not positive.
    #[must_use]
    pub fn geometric(&self, confidence: f64) -> Option<Estimate> {
        let logs = self.logs()?;
        let middle = mean(&logs);
        let interval = student_reach(&logs, confidence).map(|reach| Interval {
            low: (middle - reach).exp(),
            high: (middle + reach).exp(),
        });
        Some(Estimate {
            point: middle.exp(),
            interval: interval.filter(Interval::is_finite),
            runs: logs.len(),
        })
    }

    /// Returns the logarithms; `None` if a value is not positive.
    pub(crate) fn logs(&self) -> Option<Vec<f64>> {
        let positive = self.values.iter().all(|value| *value > 0.0);
        positive.then(|| self.values.iter().map(|value| value.ln()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::Sample;

    #[test]
    fn the_sets_of_a_later_session_are_others() {
        let sample = |values: &[f64]| Sample::of_sets((1..).zip(values.iter().copied()).collect());
        let both = sample(&[1.0, 2.0])
            .unwrap()
            .followed_by(&sample(&[3.0]).unwrap());
        assert_eq!(
            both.by_block().collect::<Vec<_>>(),
            [(1, 1.0), (2, 2.0), (4, 3.0)]
        );
        assert!(both.is_of_sets());
    }
}
