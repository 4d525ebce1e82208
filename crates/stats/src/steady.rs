//! The time from which on a series of measurements is steady, if it ever is: the end of warm-up as
//! a result.

use bakeoff_base::number::length_as_f64 as count;

/// Minimum number of points to judge steadiness.
pub const POINTS_MIN: usize = 8;

/// Whether a series settles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SteadyState {
    /// From this index on the level no longer changes by a relevant amount.
    Steady {
        /// Index of the first steady point.
        from_index: usize,
    },
    /// The level still changes in the last quarter of the series.
    NeverSteady,
}

/// Returns the index from which on the series stays within `relevance` (0.03 = 3 %) of its last
/// level; `None` for fewer than [`POINTS_MIN`] points.
///
/// The series is cut at the points where its mean changes ([`change_points`]). Segments at the end
/// whose mean is within `relevance` of the last one's are one steady phase, which must cover the
/// last quarter of the series, as in Barrett, Bolz-Tereick, Killick, Mount and Tratt, "Virtual
/// Machine Warmup Blows Hot and Cold", OOPSLA 2017.
#[must_use]
pub fn steady_state(series: &[f64], relevance: f64) -> Option<SteadyState> {
    if series.len() < POINTS_MIN || series.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let cuts = change_points(series);
    let bounds: Vec<usize> = [0]
        .into_iter()
        .chain(cuts.iter().copied())
        .chain([series.len()])
        .collect();
    let level = |from: usize, to: usize| series[from..to].iter().sum::<f64>() / count(to - from);
    let last = level(bounds[bounds.len() - 2], series.len());
    let mut from_index = series.len();
    for pair in bounds.windows(2).rev() {
        if (level(pair[0], pair[1]) - last).abs() > relevance * last.abs() {
            break;
        }
        from_index = pair[0];
    }
    let enough = series.len() - series.len() / 4;
    Some(if from_index <= enough {
        SteadyState::Steady { from_index }
    } else {
        SteadyState::NeverSteady
    })
}

/// Returns the indices at which a new mean starts: the cuts that minimise the squared distances
/// from the segments' means plus `3 ln(n)` variances per cut, with segments of two points or more,
/// found exactly by optimal partitioning (Jackson et al., "An Algorithm for Optimal Partitioning of
/// Data on an Interval", IEEE Signal Processing Letters 2005). The pruning of PELT is omitted: it
/// saves nothing at hundreds of points and is not exact with a minimum length. The variance is
/// estimated from the differences of neighbours, by their median so that the changes themselves do
/// not count.
#[must_use]
pub fn change_points(series: &[f64]) -> Vec<usize> {
    const SEGMENT_MIN: usize = 2;
    let points = series.len();
    if points < 2 * SEGMENT_MIN {
        return Vec::new();
    }
    let costs = SegmentCosts::new(series);
    let penalty = 3.0 * count(points).ln() * noise_variance(series);
    let mut best = vec![f64::INFINITY; points + 1];
    best[0] = -penalty;
    let mut previous = vec![0; points + 1];
    for end in SEGMENT_MIN..=points {
        for start in 0..=end - SEGMENT_MIN {
            let cost = best[start] + costs.of(start, end) + penalty;
            if cost < best[end] {
                best[end] = cost;
                previous[end] = start;
            }
        }
    }
    let mut cuts = Vec::new();
    let mut end = points;
    while previous[end] > 0 {
        end = previous[end];
        cuts.push(end);
    }
    cuts.reverse();
    cuts
}

/// Squared distances from the mean of any segment, in constant time.
struct SegmentCosts {
    sums: Vec<f64>,
    squares: Vec<f64>,
}

impl SegmentCosts {
    fn new(series: &[f64]) -> Self {
        // Distances from the first value keep the digits when the level is high.
        let origin = series[0];
        let mut sums = vec![0.0];
        let mut squares = vec![0.0];
        for (index, value) in series.iter().enumerate() {
            let distance = value - origin;
            sums.push(sums[index] + distance);
            squares.push(squares[index] + distance * distance);
        }
        Self { sums, squares }
    }

    fn of(&self, start: usize, end: usize) -> f64 {
        let sum = self.sums[end] - self.sums[start];
        let squares = self.squares[end] - self.squares[start];
        (squares - sum * sum / count(end - start)).max(0.0)
    }
}

/// Returns the variance of the noise around the level: the median absolute difference of
/// neighbours, scaled to a deviation (1.4826) and divided by √2 because a difference contains the
/// noise of two. At least a millionth of the level squared, so that a noiseless series is not cut
/// at its last digit.
fn noise_variance(series: &[f64]) -> f64 {
    let mut steps: Vec<f64> = series
        .windows(2)
        .map(|pair| (pair[1] - pair[0]).abs())
        .collect();
    steps.sort_by(f64::total_cmp);
    let middle = steps.len() / 2;
    let median = if steps.len().is_multiple_of(2) {
        f64::midpoint(steps[middle - 1], steps[middle])
    } else {
        steps[middle]
    };
    let level = series.iter().map(|value| value.abs()).sum::<f64>() / count(series.len());
    (median * 1.4826).powi(2).max((level * 1e-3).powi(2)) / 2.0
}
