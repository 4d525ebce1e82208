//! The scale from numbers to places in a drawing, and the ticks of an axis.

use crate::chart::{Axis, Scale};
use bakeoff_analysis::data::number::{count, significant};

/// About this number of ticks on an axis.
const TICKS: f64 = 5.0;

/// An axis with its ends, and its place in the drawing.
#[derive(Debug, Clone)]
pub(super) struct Placed<'c> {
    axis: &'c Axis,
    low: f64,
    high: f64,
    /// Where the lower end is drawn.
    from: f64,
    /// Where the upper end is drawn.
    to: f64,
}

impl<'c> Placed<'c> {
    /// An axis that holds all `values`.
    pub(super) fn new(
        axis: &'c Axis,
        values: impl Iterator<Item = f64>,
        (from, to): (f64, f64),
    ) -> Self {
        let (low, high) = ends(&axis.scale, values);
        Self {
            axis,
            low,
            high,
            from,
            to,
        }
    }

    /// Where a number is drawn; `None` if it has no place on the axis.
    pub(super) fn place(&self, value: f64) -> Option<f64> {
        let share = match &self.axis.scale {
            Scale::Linear | Scale::Whole | Scale::Categories(_) => {
                (value - self.low) / (self.high - self.low)
            }
            Scale::Log | Scale::Quantile if value <= 0.0 => return None,
            Scale::Log | Scale::Quantile => {
                (value.log10() - self.low.log10()) / (self.high.log10() - self.low.log10())
            }
        };
        let place = self.from + share * (self.to - self.from);
        place.is_finite().then_some(place)
    }

    /// The lowest and the highest value, and the places at which they are drawn.
    pub(super) fn ends(&self) -> ([f64; 2], [f64; 2]) {
        ([self.low, self.high], [self.from, self.to])
    }

    /// Where ticks are, with their texts.
    pub(super) fn ticks(&self) -> Vec<(f64, String)> {
        let ticks: Vec<(f64, String)> = match &self.axis.scale {
            scale @ (Scale::Linear | Scale::Whole) => {
                let step = step(scale, self.high - self.low);
                let steps = (0..=20).map(|number| self.low + step * count(number));
                let inside = steps.filter(|value| *value <= self.high * 1.000_001);
                inside.map(|value| (value, short(value))).collect()
            }
            Scale::Log => self.powers().map(|value| (value, short(value))).collect(),
            Scale::Quantile => self
                .powers()
                .map(|value| (value, percentile(value)))
                .collect(),
            Scale::Categories(names) => {
                let names = names.iter().enumerate();
                names
                    .map(|(place, name)| (count(place), name.clone()))
                    .collect()
            }
        };
        let ticks = ticks.into_iter();
        ticks
            .filter_map(|(value, text)| Some((self.place(value)?, text)))
            .collect()
    }

    /// The powers of ten on the axis.
    fn powers(&self) -> impl Iterator<Item = f64> + use<'c> {
        let (low, high) = (self.low, self.high);
        let first = low.log10().round();
        let powers = (0..=20).map(move |number| 10_f64.powf(first + count(number)));
        powers.take_while(move |value| *value <= high * 1.000_001)
    }
}

/// Round numbers that hold all values.
fn ends(scale: &Scale, values: impl Iterator<Item = f64>) -> (f64, f64) {
    let finite = values.filter(|value| value.is_finite());
    match scale {
        Scale::Linear | Scale::Whole => {
            let (low, high) = finite.fold((0.0_f64, 0.0_f64), |(low, high), value| {
                (low.min(value), high.max(value))
            });
            if high <= low {
                return (low, low + 1.0);
            }
            let step = step(scale, high - low);
            ((low / step).floor() * step, (high / step).ceil() * step)
        }
        Scale::Log | Scale::Quantile => {
            let positive = finite.filter(|value| *value > 0.0);
            let (low, high) = positive.fold((f64::MAX, 0.0_f64), |(low, high), value| {
                (low.min(value), high.max(value))
            });
            if high <= 0.0 {
                return (1.0, 10.0);
            }
            let low = 10_f64.powf(low.log10().floor());
            (low, 10_f64.powf(high.log10().ceil()).max(low * 10.0))
        }
        // Half of the room of a name is before its place.
        Scale::Categories(names) => (-0.5, count(names.len().max(1)) - 0.5),
    }
}

/// Returns the distance of the ticks on an axis of this length.
fn step(scale: &Scale, length: f64) -> f64 {
    let step = nice(length / TICKS);
    match scale {
        Scale::Whole => step.max(1.0),
        _ => step,
    }
}

/// The next of 1, 2, 5, 10, ... that is not less.
fn nice(step: f64) -> f64 {
    let power = 10_f64.powf(step.log10().floor());
    let multiples = [1.0, 2.0, 5.0, 10.0];
    let found = multiples
        .into_iter()
        .find(|one| power * one >= step * 0.999_999);
    power * found.unwrap_or(10.0)
}

/// `50k`, `1.5M`, `0.2`.
pub(super) fn short(value: f64) -> String {
    let trimmed = |text: String| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    };
    match value.abs() {
        size if size >= 1e6 => format!("{}M", trimmed(significant(value / 1e6))),
        size if size >= 1e4 => format!("{}k", trimmed(significant(value / 1e3))),
        _ => trimmed(significant(value)),
    }
}

/// `99.9 %` of 1000.
fn percentile(inverse: f64) -> String {
    let percent = format!("{:.6}", (1.0 - 1.0 / inverse) * 100.0);
    format!("{} %", percent.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::{Placed, nice, percentile, short};
    use crate::chart::{Axis, Scale};

    #[track_caller]
    fn check(scale: Scale, values: &[f64], ticks: &[&str]) {
        let axis = Axis {
            name: String::new(),
            scale,
        };
        let placed = Placed::new(&axis, values.iter().copied(), (0.0, 100.0));
        let texts: Vec<String> = placed.ticks().into_iter().map(|tick| tick.1).collect();
        assert_eq!(texts, ticks);
        for value in values.iter().filter(|value| **value > 0.0) {
            let place = placed.place(*value);
            assert!(place.is_some_and(|place| (0.0..=100.0).contains(&place)));
        }
    }

    #[test]
    fn axes_have_round_ends_and_few_ticks() {
        check(
            Scale::Linear,
            &[41_221.0],
            &["0", "10k", "20k", "30k", "40k", "50k"],
        );
        check(
            Scale::Linear,
            &[0.0],
            &["0", "0.2", "0.4", "0.6", "0.8", "1"],
        );
        check(Scale::Log, &[0.3, 40.0], &["0.1", "1", "10", "100"]);
        check(
            Scale::Quantile,
            &[1.0, 800.0],
            &["0 %", "90 %", "99 %", "99.9 %"],
        );
        check(Scale::Categories(vec!["a".to_owned()]), &[], &["a"]);
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(
            (short(2_500_000.0), short(0.5)),
            ("2.5M".to_owned(), "0.5".to_owned())
        );
        assert_eq!(percentile(1000.0), "99.9 %");
        assert!((nice(8000.0) - 10_000.0).abs() < 1.0);
    }
}
