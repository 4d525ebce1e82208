//! Whole numbers as floating point, and numbers as text for messages.

/// Returns a count or a time as a double. Exact up to 2^53 (104 days in nanoseconds), which is more
/// than any run counts or measures.
#[must_use]
#[inline]
#[expect(
    clippy::cast_precision_loss,
    reason = "counts and times of a run stay below 2^53"
)]
pub const fn as_f64(count: u64) -> f64 {
    count as f64
}

/// Returns a length as a double, see [`as_f64`].
#[must_use]
#[inline]
pub const fn length_as_f64(length: usize) -> f64 {
    as_f64(length as u64)
}

/// Formats a number with three significant digits, whole numbers in full: `10950`, `174`, `43.7`,
/// `2.01`, `0.00190`.
#[must_use]
pub fn significant(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() {
        return "n/a".to_owned();
    }
    if size >= 99.95 {
        return format!("{value:.0}");
    }
    if size >= 9.995 {
        return format!("{value:.1}");
    }
    if size >= 0.9995 || size == 0.0 {
        return if size == 0.0 {
            "0".to_owned()
        } else {
            format!("{value:.2}")
        };
    }
    let mut decimals = 3;
    let mut scaled = size;
    while scaled < 0.099_95 && decimals < 12 {
        scaled *= 10.0;
        decimals += 1;
    }
    format!("{value:.decimals$}")
}

/// Formats the number, or an en dash if there is none.
#[must_use]
pub fn significant_or_dash(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), significant)
}

#[cfg(test)]
mod tests {
    use super::significant;

    #[test]
    fn three_figures_and_whole_numbers() {
        for (value, text) in [
            (10_950.4, "10950"),
            (99.96, "100"),
            (43.71, "43.7"),
            (9.996, "10.0"),
            (2.014, "2.01"),
            (0.9996, "1.00"),
            (0.155, "0.155"),
            (0.0019, "0.00190"),
            (0.0, "0"),
            (-3.21, "-3.21"),
            (f64::NAN, "n/a"),
        ] {
            assert_eq!(significant(value), text);
        }
    }
}
