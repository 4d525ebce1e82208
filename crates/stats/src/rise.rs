//! Whether a noisy series still rises: the end of a warm-up while it is in progress.
//! [`crate::steady`] finds the end in hindsight.

use bakeoff_base::number::length_as_f64 as count;

/// Minimum number of points to judge.
pub const POINTS_MIN: usize = 8;
/// Minimum time to judge, s.
pub const TIME_MIN_S: f64 = 10.0;
/// Time over which a rise is stated, s.
const PER_S: f64 = 10.0;
/// Growth in ten seconds up to which a series is flat, by the best guess.
pub const FLAT: f64 = 0.01;
/// Growth in ten seconds that the noise must exclude for a series to be flat.
pub const EXCLUDED: f64 = 0.03;
/// Standard errors of Kendall's statistic for the limits of a rise. Three and not two, because the
/// question is asked every few seconds, and one wrong decision ends the warm-up.
const ERRORS: f64 = 3.0;

/// Noise that keeps more than this of itself from point to point is treated as a rise.
const KEPT_MAX: f64 = 0.8;

/// Maximum number of values before they are grouped: the number of slopes is the square of theirs.
const GROUPS_MAX: usize = 100;

/// A value that was measured over some time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Start of that time, s.
    pub from_s: f64,
    /// End of that time, s.
    pub to_s: f64,
    /// The value; a value that is not positive counts as next to nothing.
    pub value: f64,
}

/// The rise of a series: at its end in ten seconds ([`rise`]), or over its whole length
/// ([`rise_over`]). Shares: 0.01 = 1 %.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rise {
    /// Growth, the best guess.
    pub guess: f64,
    /// Growth that the noise does not exclude.
    pub most: f64,
    /// Growth below which the noise excludes it.
    pub least: f64,
    /// Number of points at the end that were evaluated.
    pub points: usize,
}

impl Rise {
    /// Whether the series is flat: the best guess is at most 1 % in ten seconds, and more than 3 %
    /// are excluded. A falling series is flat, because waiting would not make the contender any
    /// warmer.
    #[must_use]
    pub fn is_flat(&self) -> bool {
        self.guess <= FLAT && self.most <= EXCLUDED
    }

    /// Returns the growth at these slopes in this time; the limits are the slopes of these ranks.
    fn at(slopes: &Slopes, ranks: [usize; 2], over_s: f64, points: usize) -> Self {
        let growth = |slope: f64| (slope * over_s).exp_m1();
        let [least, most] = ranks.map(|rank| growth(slopes.sorted[rank]));
        Self {
            guess: growth(slopes.median()),
            most,
            least,
            points,
        }
    }

    /// Returns the growth in ten seconds. If there are too few points for the limits, these are the
    /// steepest slopes.
    fn of(points: &[Point]) -> Option<Self> {
        let slopes = Slopes::of(points)?;
        let last = slopes.sorted.len() - 1;
        let ranks = slopes.limits(ERRORS).unwrap_or([0, last]);
        Some(Self::at(&slopes, ranks, PER_S, points.len()))
    }
}

/// Slopes of the logarithms over all pairs of points, in order (Theil and Sen), because a single
/// slice with a garbage collection or busy neighbours must not tip the estimate. The limits use
/// Kendall's statistic, which assumes nothing about the noise's shape (Sen, "Estimates of the
/// Regression Coefficient Based on Kendall's Tau", Journal of the American Statistical Association
/// 1968).
struct Slopes {
    /// The slopes, at least one.
    sorted: Vec<f64>,
    /// Standard deviation of Kendall's statistic.
    deviation: f64,
}

impl Slopes {
    /// Returns the slopes; `None` without two points at different times.
    fn of(points: &[Point]) -> Option<Self> {
        let middle = |point: &Point| f64::midpoint(point.from_s, point.to_s);
        let log = |point: &Point| point.value.max(f64::MIN_POSITIVE).ln();
        let pairs = points
            .iter()
            .enumerate()
            .flat_map(|(index, first)| points[index + 1..].iter().map(move |next| (first, next)));
        let slope = |(first, next): (&Point, &Point)| {
            let apart_s = middle(next) - middle(first);
            (apart_s > 0.0).then(|| (log(next) - log(first)) / apart_s)
        };
        let mut sorted: Vec<f64> = pairs.filter_map(slope).collect();
        sorted.sort_by(f64::total_cmp);
        let mut slopes = Self {
            sorted,
            deviation: 0.0,
        };
        if slopes.sorted.is_empty() {
            return None;
        }
        let median = slopes.median();
        let number = count(points.len());
        let apart = number * (number - 1.0) * (2.0 * number + 5.0) / 18.0;
        let left = points
            .iter()
            .map(|point| log(point) - median * middle(point));
        slopes.deviation = (apart * inflation(&left.collect::<Vec<f64>>())).sqrt();
        Some(slopes)
    }

    fn median(&self) -> f64 {
        let last = self.sorted.len() - 1;
        f64::midpoint(self.sorted[last / 2], self.sorted[self.sorted.len() / 2])
    }

    /// Returns the ranks of the limits at this number of standard errors, rounded away from the
    /// median; `None` if they are beyond all slopes.
    fn limits(&self, errors: f64) -> Option<[usize; 2]> {
        let last = self.sorted.len() - 1;
        let above = (0..=last).find(|rank| {
            let beyond = count(*rank) - count(last) / 2.0;
            beyond >= errors * self.deviation / 2.0
        })?;
        Some([last - above, above])
    }
}

/// Returns the factor by which Kendall's statistic varies more than with independent noise, from
/// the residuals of the series without its slope: `(1 + r) / (1 - r)` with the rank correlation of
/// neighbours, as for noise that partly carries over from point to point (after Hamed and Rao, "A
/// Modified Mann-Kendall Trend Test for Autocorrelated Data", Journal of Hydrology 1998). A host
/// that is slow for some seconds makes such noise.
fn inflation(left: &[f64]) -> f64 {
    if left.iter().all(|value| Some(value) == left.first()) {
        return 1.0;
    }
    let mut order: Vec<usize> = (0..left.len()).collect();
    order.sort_by(|a, b| left[*a].total_cmp(&left[*b]));
    let middle = (count(left.len()) - 1.0) / 2.0;
    let mut ranks = vec![0.0; left.len()];
    for (rank, index) in order.into_iter().enumerate() {
        ranks[index] = count(rank) - middle;
    }
    let products: f64 = ranks.windows(2).map(|pair| pair[0] * pair[1]).sum();
    let squares: f64 = ranks.iter().map(|rank| rank * rank).sum();
    // With so few points the estimate is too low, by about the inverse of their number.
    let kept = products / squares + 1.0 / count(left.len());
    let kept = kept.clamp(0.0, KEPT_MAX);
    (1.0 + kept) / (1.0 - kept)
}

/// Returns how `series` rises at its end; `None` with less than eight points or ten seconds.
///
/// Evaluates the last ten seconds, and more if the noise requires it: until the limit is close
/// enough to the guess to separate [`FLAT`] from [`EXCLUDED`], or the series is used up. The slope
/// does not affect this.
#[must_use]
pub fn rise(series: &[Point]) -> Option<Rise> {
    let end_s = series.last()?.to_s;
    let long_enough = |points: &usize| end_s - series[series.len() - points].from_s >= TIME_MIN_S;
    let mut points = (POINTS_MIN..=series.len()).find(long_enough)?;
    loop {
        let found = Rise::of(&series[series.len() - points..])?;
        if found.most - found.guess <= EXCLUDED - FLAT || points == series.len() {
            return Some(found);
        }
        points = (points + points.div_ceil(4)).min(series.len());
    }
}

/// Returns how values of equally long consecutive times rise from the first to the last, with
/// limits at this number of standard errors; `None` with fewer than eight values, and if these are
/// too few for such limits.
///
/// If there are many values, the geometric means of neighbours are evaluated.
#[must_use]
pub fn rise_over(values: &[f64], errors: f64) -> Option<Rise> {
    if values.len() < POINTS_MIN {
        return None;
    }
    let width = values.len().div_ceil(GROUPS_MAX);
    let mean = |group: &[f64]| {
        let logs = group.iter().map(|value| value.max(f64::MIN_POSITIVE).ln());
        (logs.sum::<f64>() / count(group.len())).exp()
    };
    let points: Vec<Point> = (0..)
        .zip(values.chunks(width))
        .map(|(index, group)| Point {
            from_s: f64::from(index),
            to_s: f64::from(index) + count(group.len()) / count(width),
            value: mean(group),
        })
        .collect();
    let slopes = Slopes::of(&points)?;
    let limits = slopes.limits(errors)?;
    let length = count(values.len()) / count(width);
    Some(Rise::at(&slopes, limits, length, points.len()))
}

#[cfg(test)]
mod tests {
    use super::{Point, Rise, rise, rise_over};

    fn series(values: &[f64]) -> Vec<Point> {
        let mut from_s = 0.0;
        let points = values.iter().map(|value| {
            from_s += 1.25;
            Point {
                from_s: from_s - 1.25,
                to_s: from_s,
                value: *value,
            }
        });
        points.collect()
    }

    fn guess(values: &[f64]) -> Option<f64> {
        rise(&series(values)).map(|found| (found.guess * 1e6).round() / 1e6)
    }

    #[test]
    fn slopes_are_the_medians_of_pairs() {
        // exp(0.002 s) rises by 2 % in ten seconds.
        let growing: Vec<f64> = (0..12).map(|i| (0.0025 * f64::from(i)).exp()).collect();
        assert_eq!(guess(&growing), Some(0.020_201));
        assert_eq!(guess(&[100.0; 8]), Some(0.0));
        // One slice without any success changes nothing.
        let mut stalled = vec![100.0; 12];
        stalled[9] = 0.0;
        assert_eq!(guess(&stalled), Some(0.0));
        // The median of the 28 slopes, computed apart in Python.
        let noisy = [100.0, 103.0, 99.0, 104.0, 101.0, 105.0, 102.0, 107.0];
        assert_eq!(guess(&noisy), Some(0.055_313));
        let found = rise(&series(&noisy)).unwrap();
        assert!(found.least < 0.0 && found.most > 0.2, "{found:?}");
        let found = rise(&series(&growing)).unwrap();
        assert!((found.least - found.guess).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn the_rise_of_a_whole_series_is_that_from_its_beginning_to_its_end() {
        let growing = |number: u32, growth: f64| -> Vec<f64> {
            let log = growth.ln_1p() / f64::from(number);
            (0..number).map(|i| (log * f64::from(i)).exp()).collect()
        };
        for number in [99, 100, 101, 1000, 1234] {
            let found = rise_over(&growing(number, 0.05), 3.0).unwrap();
            assert!((found.guess - 0.05).abs() < 1e-9, "{number}: {found:?}");
            assert!((found.least - 0.05).abs() < 1e-9, "{number}: {found:?}");
        }
        let flat = rise_over(&[7.0; 500], 2.5).unwrap();
        assert_eq!((flat.guess, flat.least, flat.most), (0.0, 0.0, 0.0));
        // Kendall's statistic of eight values is at most 3.5 standard errors.
        let few = [1.0, 1.1, 1.02, 1.12, 1.05, 1.15, 1.08, 1.17];
        assert_eq!(rise_over(&few[..7], 1.0), None);
        assert!(rise_over(&few, 3.0).is_some());
        assert_eq!(rise_over(&few, 4.0), None);
    }

    #[test]
    fn short_series_are_not_judged() {
        assert_eq!(rise(&series(&[1.0; 7])), None);
        let quick: Vec<Point> = series(&[1.0; 30])
            .into_iter()
            .map(|point| Point {
                from_s: point.from_s / 5.0,
                to_s: point.to_s / 5.0,
                ..point
            })
            .collect();
        assert_eq!(rise(&quick), None, "7.5 s");
        assert_eq!(rise(&[]), None);
    }

    #[test]
    fn noise_makes_it_look_back_further() {
        let noisy = |size: f64| -> Vec<f64> {
            // Deterministic and without a slope.
            let sign = |i: u32| f64::from((i * 7) % 11) / 5.0 - 1.0;
            (0..66).map(|i| 100.0 * (1.0 + size * sign(i))).collect()
        };
        let points = |size| rise(&series(&noisy(size))).map(|found: Rise| found.points);
        assert_eq!(points(0.001), Some(8));
        assert!(points(0.05) > Some(16), "{:?}", points(0.05));
        assert_eq!(points(0.9), Some(66), "all that there is");
    }

    #[test]
    fn what_rose_is_not_flat_until_it_is_long_ago() {
        let mut values: Vec<f64> = (0..16).map(|i| 50.0 + 3.0 * f64::from(i)).collect();
        assert!(!rise(&series(&values)).unwrap().is_flat());
        values.extend([98.0; 16]);
        assert!(rise(&series(&values)).unwrap().is_flat());
        let falling: Vec<f64> = (0..16).map(|i| 100.0 - f64::from(i)).collect();
        assert!(rise(&series(&falling)).unwrap().is_flat());
    }
}
