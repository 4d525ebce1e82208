//! Verdicts on claims: for readers, and for one session.

use bakeoff_model::suite::published::{Bounds, Expected};
use bakeoff_stats::{Interval, Verdict};

/// The verdict on a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimVerdict {
    /// The whole interval lies where the claim says, or contains the claimed value.
    Reproduced,
    /// The effect is there, but the interval is too wide to say whether it has the claimed size.
    Direction,
    /// The effect is there, but significantly smaller.
    Smaller,
    /// The effect is there, but significantly larger.
    Larger,
    /// The whole interval lies elsewhere.
    NotReproduced,
    /// The interval lies on both sides of a bound.
    Undecided,
    /// This session cannot show it.
    NotTestable,
}

impl ClaimVerdict {
    /// All verdicts, in the order in which they are counted for readers.
    pub const ALL: [Self; 7] = [
        Self::Reproduced,
        Self::Direction,
        Self::Smaller,
        Self::Larger,
        Self::NotReproduced,
        Self::Undecided,
        Self::NotTestable,
    ];

    /// Returns the verdict as people write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::Direction => "direction reproduced, size undecided",
            Self::Smaller => "smaller than claimed, but there",
            Self::Larger => "larger than claimed",
            Self::NotReproduced => "not reproduced",
            Self::Undecided => "undecided",
            Self::NotTestable => "not testable here",
        }
    }
}

/// The result of one session for one claim.
pub(super) struct ClaimResult {
    pub(super) measured: String,
    pub(super) verdict: ClaimVerdict,
    pub(super) why: String,
    /// Number of cases that were compared.
    pub(super) cases: usize,
}

impl ClaimResult {
    pub(super) fn not_testable(why: impl Into<String>) -> Self {
        Self {
            measured: String::new(),
            verdict: ClaimVerdict::NotTestable,
            why: why.into(),
            cases: 0,
        }
    }

    /// Returns the result without its verdict, for this reason.
    pub(super) fn void(mut self, why: &str) -> Self {
        if self.verdict != ClaimVerdict::NotTestable {
            self.verdict = ClaimVerdict::Undecided;
            why.clone_into(&mut self.why);
        }
        self
    }

    /// Returns how much the result says: a verdict more than none, and many cases more than few.
    pub(super) fn weight(&self) -> (bool, usize) {
        (self.verdict != ClaimVerdict::NotTestable, self.cases)
    }
}

/// How far an interval may reach from a claimed size that it shows: 25 % up, and as far down as the
/// inverse ratio would be allowed to reach up.
const SIZE_REACH: f64 = 1.25;

/// Compares an interval with the expectation. `none` is the value without an effect: 1 for ratios,
/// that of [`bakeoff_model::suite::published::Metric::no_effect`] for values. `equal` is the
/// verdict on whether both sides of a ratio are the same.
pub(super) fn of_interval(
    interval: Interval,
    expected: Expected,
    none: Option<f64>,
    equal: Verdict,
) -> ClaimVerdict {
    match expected {
        Expected::Within(bounds) => within(interval, bounds, none),
        Expected::About(size) => about(interval, size, none),
        Expected::Equal => match equal {
            Verdict::Equivalent => ClaimVerdict::Reproduced,
            Verdict::Inconclusive | Verdict::Void => ClaimVerdict::Undecided,
            Verdict::Faster | Verdict::Slower => ClaimVerdict::NotReproduced,
        },
    }
}

fn within(interval: Interval, bounds: Bounds, none: Option<f64>) -> ClaimVerdict {
    let min = bounds.min.unwrap_or(f64::NEG_INFINITY);
    let max = bounds.max.unwrap_or(f64::INFINITY);
    let (below, above) = (interval.high < min, interval.low > max);
    if interval.low >= min && interval.high <= max {
        return ClaimVerdict::Reproduced;
    }
    if !below && !above {
        return ClaimVerdict::Undecided;
    }
    let Some(none) = none else {
        return ClaimVerdict::NotReproduced;
    };
    // Bounds on both sides of "no effect" do not claim one.
    match (min >= none, max <= none) {
        (true, _) => sized(interval, none, Size::Above, below),
        (_, true) => sized(interval, none, Size::Below, above),
        _ => ClaimVerdict::NotReproduced,
    }
}

/// Judges a claimed size: the runs support it if the interval contains it and not "no effect", and
/// is narrow enough to exclude other sizes. A wide one shows the direction at most.
fn about(interval: Interval, size: f64, none: Option<f64>) -> ClaimVerdict {
    let holds = |value: f64| interval.low <= value && value <= interval.high;
    let is_narrow = interval.low >= size / SIZE_REACH && interval.high <= size * SIZE_REACH;
    let Some(none) = none else {
        return match (holds(size), is_narrow) {
            (true, true) => ClaimVerdict::Reproduced,
            (true, false) => ClaimVerdict::Undecided,
            (false, _) => ClaimVerdict::NotReproduced,
        };
    };
    match (holds(size), holds(none)) {
        (true, false) if is_narrow => ClaimVerdict::Reproduced,
        (true, false) => ClaimVerdict::Direction,
        (true, true) => ClaimVerdict::Undecided,
        (false, _) if size > none => sized(interval, none, Size::Above, interval.high < size),
        (false, _) => sized(interval, none, Size::Below, interval.low > size),
    }
}

/// The side of "no effect" on which the claimed size is.
#[derive(Clone, Copy)]
enum Size {
    Above,
    Below,
}

/// Judges an interval that misses the claimed size: towards "no effect", or beyond it.
fn sized(interval: Interval, none: f64, size: Size, towards_none: bool) -> ClaimVerdict {
    let there = match size {
        Size::Above => interval.low > none,
        Size::Below => interval.high < none,
    };
    match (towards_none, there) {
        (false, _) => ClaimVerdict::Larger,
        (true, true) => ClaimVerdict::Smaller,
        (true, false) => ClaimVerdict::NotReproduced,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(low: f64, high: f64, expected: Expected) -> ClaimVerdict {
        let interval = Interval { low, high };
        of_interval(interval, expected, Some(1.0), Verdict::Inconclusive)
    }

    #[test]
    fn a_wide_interval_shows_a_direction_and_no_size() {
        let about = |size, low, high| verdict(low, high, Expected::About(size));
        // Claims about p99 and CPU of the first measurements of `locations`.
        assert_eq!(about(2.05, 1.89, 12.7), ClaimVerdict::Direction);
        assert_eq!(about(1.29, 1.20, 2.25), ClaimVerdict::Direction);
        assert_eq!(about(0.29, 0.11, 0.78), ClaimVerdict::Direction);
        assert_eq!(about(2.05, 1.70, 2.50), ClaimVerdict::Reproduced);
        // The inverse ratio has the same verdict.
        let inverse = about(1.0 / 2.05, 1.0 / 2.50, 1.0 / 1.70);
        assert_eq!(inverse, ClaimVerdict::Reproduced);
    }

    #[test]
    fn a_value_that_counts_nothing_has_no_smaller_effect() {
        let value = |low, high, expected| {
            of_interval(
                Interval { low, high },
                expected,
                None,
                Verdict::Inconclusive,
            )
        };
        let excellent = Expected::Within(Bounds {
            min: Some(0.94),
            max: None,
        });
        assert_eq!(value(0.70, 0.78, excellent), ClaimVerdict::NotReproduced);
        assert_eq!(value(0.95, 0.99, excellent), ClaimVerdict::Reproduced);
        let about = |low, high| value(low, high, Expected::About(2.0));
        assert_eq!(about(1.9, 2.2), ClaimVerdict::Reproduced);
        assert_eq!(about(1.0, 4.0), ClaimVerdict::Undecided);
        assert_eq!(about(1.0, 1.5), ClaimVerdict::NotReproduced);
    }

    #[test]
    fn an_effect_of_another_size_is_still_an_effect() {
        let about = |low, high| verdict(low, high, Expected::About(1.17));
        assert_eq!(about(1.10, 1.20), ClaimVerdict::Reproduced);
        assert_eq!(about(1.03, 1.07), ClaimVerdict::Smaller);
        assert_eq!(about(1.25, 1.30), ClaimVerdict::Larger);
        assert_eq!(about(0.98, 1.05), ClaimVerdict::NotReproduced);
        assert_eq!(about(0.80, 0.90), ClaimVerdict::NotReproduced);
        assert_eq!(about(0.98, 1.30), ClaimVerdict::Undecided);
        let less = |low, high| verdict(low, high, Expected::About(0.8));
        assert_eq!(less(0.75, 0.85), ClaimVerdict::Reproduced);
        assert_eq!(less(0.90, 0.95), ClaimVerdict::Smaller);
        assert_eq!(less(0.50, 0.60), ClaimVerdict::Larger);
        assert_eq!(less(1.10, 1.20), ClaimVerdict::NotReproduced);
    }

    #[test]
    fn bounds_on_one_side_of_no_effect_have_a_direction() {
        let at_least_double = Expected::Within(Bounds {
            min: Some(2.0),
            max: None,
        });
        let double = |low, high| verdict(low, high, at_least_double);
        assert_eq!(double(2.1, 2.5), ClaimVerdict::Reproduced);
        assert_eq!(double(1.9, 2.5), ClaimVerdict::Undecided);
        assert_eq!(double(1.5, 1.9), ClaimVerdict::Smaller);
        assert_eq!(double(0.9, 1.2), ClaimVerdict::NotReproduced);
        let within_ten_percent = Expected::Within(Bounds {
            min: Some(0.9),
            max: Some(1.1),
        });
        let alike = |low, high| verdict(low, high, within_ten_percent);
        assert_eq!(alike(0.95, 1.05), ClaimVerdict::Reproduced);
        assert_eq!(alike(1.2, 1.3), ClaimVerdict::NotReproduced);
        assert_eq!(alike(0.5, 0.8), ClaimVerdict::NotReproduced);
    }

    #[test]
    fn equal_is_what_the_report_calls_equivalent() {
        let equal = |found| {
            let interval = Interval {
                low: 0.9,
                high: 1.1,
            };
            of_interval(interval, Expected::Equal, Some(1.0), found)
        };
        assert_eq!(equal(Verdict::Equivalent), ClaimVerdict::Reproduced);
        assert_eq!(equal(Verdict::Inconclusive), ClaimVerdict::Undecided);
        assert_eq!(equal(Verdict::Faster), ClaimVerdict::NotReproduced);
        assert_eq!(equal(Verdict::Slower), ClaimVerdict::NotReproduced);
    }
}
