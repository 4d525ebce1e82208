//! Quantities of resources, as the API writes them.

/// Returns an amount of CPU, cores: `2` or `1930m`.
pub(crate) fn cores(text: &str) -> Option<f64> {
    match text.strip_suffix('m') {
        Some(thousandths) => Some(thousandths.parse::<f64>().ok()? / 1e3),
        None => text.parse().ok(),
    }
}

/// Returns an amount of memory, bytes: `512Mi`, `1G`, `128974848`.
pub(crate) fn bytes(text: &str) -> Option<u64> {
    const UNITS: [(&str, u64); 8] = [
        ("Ki", 1 << 10),
        ("Mi", 1 << 20),
        ("Gi", 1 << 30),
        ("Ti", 1 << 40),
        ("k", 1_000),
        ("M", 1_000_000),
        ("G", 1_000_000_000),
        ("T", 1_000_000_000_000),
    ];
    let with_unit = UNITS
        .iter()
        .find_map(|(suffix, unit)| Some((text.strip_suffix(suffix)?, *unit)));
    let (number, unit) = with_unit.unwrap_or((text, 1));
    number.parse::<u64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::{bytes, cores};

    #[test]
    fn quantities_are_read() {
        for (text, expect) in [("2", Some(2.0)), ("1930m", Some(1.93)), ("much", None)] {
            assert_eq!(cores(text), expect, "{text}");
        }
        for (text, expect) in [
            ("512Mi", Some(512 << 20)),
            ("1G", Some(1_000_000_000)),
            ("128974848", Some(128_974_848)),
            ("much", None),
        ] {
            assert_eq!(bytes(text), expect, "{text}");
        }
    }
}
