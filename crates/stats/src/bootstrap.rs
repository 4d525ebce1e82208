//! The bootstrap interval of a ratio of two means, resampling runs.

use bakeoff_base::number::length_as_f64 as count;
use bakeoff_base::random::Random;

use crate::distribution::{normal_cdf, normal_quantile};
use crate::sample::{Interval, Sample, mean};

/// How many resamples; the ends of a 95 % interval then move by well under 1 % of its width.
pub const RESAMPLES: usize = 10_000;

/// The bias-corrected and accelerated (BCa) interval of mean(`a`) / mean(`b`) over independent
/// samples (Efron, "Better Bootstrap Confidence Intervals", JASA 1987; the acceleration of several
/// samples as in Davison and Hinkley, "Bootstrap Methods and their Application", 1997, ch. 5).
///
/// `None` when a resample can have a mean of zero or less below the line, so that the ratio has
/// no meaning, or when either side has one run. Under-covers with few runs: see
/// [`crate::compare::BOOTSTRAP_RUNS_MIN`].
#[must_use]
pub fn ratio_interval(a: &Sample, b: &Sample, confidence: f64, seed: u64) -> Option<Interval> {
    let positive = |sample: &Sample| sample.values().iter().all(|value| *value > 0.0);
    if a.runs() < 2 || b.runs() < 2 || !positive(a) || !positive(b) {
        return None;
    }
    let point = a.mean() / b.mean();
    let mut ratios = resampled_ratios(a, b, seed);
    // In order already, both ends below are found fast.
    ratios.sort_by(f64::total_cmp);
    let below = ratios.iter().filter(|ratio| **ratio < point).count();
    let ties = ratios.iter().filter(|ratio| **ratio == point).count();
    // Ties are split so that a sample without any spread has no bias.
    let share = (count(below) + count(ties) / 2.0) / count(ratios.len());
    let bias = normal_quantile(share);
    if !bias.is_finite() {
        return None;
    }
    let acceleration = acceleration(a, b);
    let ratios = Sample::new(ratios)?;
    let end = |p: f64| {
        let z = bias + normal_quantile(p);
        ratios.quantile(normal_cdf(bias + z / (1.0 - acceleration * z)))
    };
    let tail = (1.0 - confidence) / 2.0;
    Some(Interval {
        low: end(tail),
        high: end(1.0 - tail),
    })
}

fn resampled_ratios(a: &Sample, b: &Sample, seed: u64) -> Vec<f64> {
    let mut random = Random::new(seed);
    let mut draw = |values: &[f64]| {
        let sum: f64 = (0..values.len())
            .map(|_| values[random.below(values.len())])
            .sum();
        sum / count(values.len())
    };
    (0..RESAMPLES)
        .map(|_| draw(a.values()) / draw(b.values()))
        .collect()
}

/// A sixth of the skewness of the ratio, from leaving out one run at a time.
fn acceleration(a: &Sample, b: &Sample) -> f64 {
    let sides = [
        leave_one_out(a.values())
            .map(|mean_a| mean_a / b.mean())
            .collect::<Vec<f64>>(),
        leave_one_out(b.values())
            .map(|mean_b| a.mean() / mean_b)
            .collect(),
    ];
    let mut cubes = 0.0;
    let mut squares = 0.0;
    for ratios in sides {
        let runs = count(ratios.len());
        let middle = mean(&ratios);
        let influence = ratios.iter().map(|ratio| (runs - 1.0) * (middle - ratio));
        for value in influence {
            cubes += value.powi(3) / runs.powi(3);
            squares += value.powi(2) / runs.powi(2);
        }
    }
    if squares > 0.0 {
        cubes / 6.0 / squares.powf(1.5)
    } else {
        0.0
    }
}

fn leave_one_out(values: &[f64]) -> impl Iterator<Item = f64> + '_ {
    let sum: f64 = values.iter().sum();
    values
        .iter()
        .map(move |value| (sum - value) / count(values.len() - 1))
}
