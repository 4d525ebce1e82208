//! Numbers as text for people, in addition to those that all crates format alike.

pub use bakeoff_base::number::{as_f64, significant, significant_or_dash};
use bakeoff_stats::Estimate;

/// Bytes of a MiB.
pub const MIB: f64 = 1024.0 * 1024.0;

/// Returns a length as a number.
pub fn count(length: usize) -> f64 {
    as_f64(length as u64)
}

/// Converts nanoseconds to seconds.
pub fn seconds(time_ns: u64) -> f64 {
    as_f64(time_ns) / 1e9
}

/// Converts nanoseconds to milliseconds.
pub fn milliseconds(time_ns: u64) -> f64 {
    as_f64(time_ns) / 1e6
}

/// Converts bytes to MiB.
pub fn mib(bytes: u64) -> f64 {
    as_f64(bytes) / MIB
}

/// Spread from which on it is written as a factor: `±126%` would reach below zero.
const FACTOR_FROM: f64 = 0.5;

/// Returns half of the interval as a share of the point, `±2.1%`, or the factor by which it extends
/// to both sides, `×/÷2.3`; empty without an interval.
pub fn spread(estimate: &Estimate) -> String {
    let (Some(share), Some(ends)) = (estimate.relative_half_width(), estimate.interval) else {
        return String::new();
    };
    let percent = share * 100.0;
    if share >= FACTOR_FROM && ends.low > 0.0 {
        format!("×/÷{}", significant((ends.high / ends.low).sqrt()))
    } else if percent >= 9.95 {
        format!("±{percent:.0}%")
    } else {
        format!("±{percent:.1}%")
    }
}

/// Returns `low–high` of the interval; empty without one.
pub fn range(estimate: &Estimate) -> String {
    estimate.interval.map_or_else(String::new, |interval| {
        format!(
            "{}–{}",
            significant(interval.low),
            significant(interval.high)
        )
    })
}

/// Formats a ratio, whose digits after the point matter near one: `1.03`.
pub fn ratio_text(ratio: f64) -> String {
    if (0.1..10.0).contains(&ratio) {
        format!("{ratio:.2}")
    } else {
        significant(ratio)
    }
}

/// Formats a ratio as a change in percent: `+9.5`, `−9.1`, `+0.0`.
pub fn change_text(ratio: f64) -> String {
    let percent = format!("{:+.1}", 100.0 * (ratio - 1.0));
    match percent.as_str() {
        "-0.0" => "+0.0".to_owned(),
        _ => percent.replace('-', "−"),
    }
}

/// Returns a count with its noun: `1 run`, `4 runs`.
pub fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// Lists the items: `a`, `a and b`, `a, b and c`.
pub fn enumerated(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use bakeoff_stats::{Estimate, Interval};

    use super::{change_text, spread};

    #[test]
    fn a_wide_spread_is_a_factor() {
        for (low, high, text) in [
            (98.0, 102.0, "±2.0%"),
            (87.0, 115.0, "±14%"),
            (40.0, 250.0, "×/÷2.50"),
            (-20.0, 220.0, "±120%"),
        ] {
            let estimate = Estimate {
                point: 100.0,
                interval: Some(Interval { low, high }),
                runs: 3,
            };
            assert_eq!(spread(&estimate), text);
        }
    }

    #[test]
    fn changes_have_a_sign() {
        for (ratio, text) in [
            (1.0954, "+9.5"),
            (0.909, "−9.1"),
            (0.99999, "+0.0"),
            (1.0, "+0.0"),
            (3.0, "+200.0"),
        ] {
            assert_eq!(change_text(ratio), text);
        }
    }
}
