//! Numbers as text for people: three significant figures, never more digits than are known.

use bakeoff_stats::Estimate;

pub(crate) const MIB: f64 = 1024.0 * 1024.0;

#[expect(
    clippy::cast_precision_loss,
    reason = "counts and times of a run stay below 2^53"
)]
pub(crate) fn as_f64(count: u64) -> f64 {
    count as f64
}

pub(crate) fn count(length: usize) -> f64 {
    as_f64(length as u64)
}

pub(crate) fn seconds(time_ns: u64) -> f64 {
    as_f64(time_ns) / 1e9
}

pub(crate) fn milliseconds(time_ns: u64) -> f64 {
    as_f64(time_ns) / 1e6
}

pub(crate) fn mib(bytes: u64) -> f64 {
    as_f64(bytes) / MIB
}

/// Three significant figures, whole numbers in full: `10950`, `174`, `43.7`, `2.01`, `0.00190`.
pub(crate) fn figures(value: f64) -> String {
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

/// The figure, or an en dash where there is none.
pub(crate) fn figures_or_dash(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), figures)
}

/// Half of the interval as a share of the point, `±2.1%`; empty without an interval.
pub(crate) fn spread(estimate: &Estimate) -> String {
    let Some(share) = estimate.relative_half_width() else {
        return String::new();
    };
    let percent = share * 100.0;
    if percent >= 9.95 {
        format!("±{percent:.0}%")
    } else {
        format!("±{percent:.1}%")
    }
}

/// `low–high` of the interval; empty without one.
pub(crate) fn range(estimate: &Estimate) -> String {
    estimate.interval.map_or_else(String::new, |interval| {
        format!("{}–{}", figures(interval.low), figures(interval.high))
    })
}

#[cfg(test)]
mod tests {
    use super::figures;

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
            assert_eq!(figures(value), text);
        }
    }
}
