//! Texts with a unit, as people write them in suite files: durations and sizes.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

/// How to write a duration, for hints.
pub(crate) const DURATION_HINT: &str =
    "write a whole number and a unit out of ns, us, ms, s, m, h: \"250ms\", \"10s\"";

/// How to write a size, for hints.
pub(crate) const SIZE_HINT: &str =
    "write a whole number and a unit out of B, KiB, MiB, GiB: \"512MiB\"";

/// A duration as text: `250ms`, `10s`, `2m`, `1h`. Never zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct DurationText(pub(crate) Duration);

/// A size as text: `512MiB`. Never zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct SizeText(pub(crate) u64);

impl TryFrom<String> for DurationText {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        duration(&text).map(Self)
    }
}

impl TryFrom<String> for SizeText {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        size_bytes(&text).map(Self)
    }
}

impl JsonSchema for DurationText {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Duration".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "pattern": "^0*[1-9][0-9]*(ns|us|ms|s|m|h)$",
            "description": "A whole number and a unit out of ns, us, ms, s, m, h.",
            "x-text": "duration"
        })
    }
}

impl JsonSchema for SizeText {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Size".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "pattern": "^0*[1-9][0-9]*(B|KiB|MiB|GiB)$",
            "description": "A whole number and a unit out of B, KiB, MiB, GiB.",
            "x-text": "size"
        })
    }
}

/// Reads a duration such as `250ms`, `10s` or `2m`; never zero.
///
/// # Errors
/// What is wrong, a lower-case fragment.
pub fn duration(text: &str) -> Result<Duration, String> {
    const UNITS_NS: [(&str, u64); 6] = [
        ("ns", 1),
        ("us", 1_000),
        ("ms", 1_000_000),
        ("s", 1_000_000_000),
        ("m", 60_000_000_000),
        ("h", 3_600_000_000_000),
    ];
    with_unit(text, "duration", &UNITS_NS).map(Duration::from_nanos)
}

/// Reads a size in bytes such as `512MiB`; never zero.
///
/// # Errors
/// What is wrong, a lower-case fragment.
pub fn size_bytes(text: &str) -> Result<u64, String> {
    const UNITS_BYTES: [(&str, u64); 4] = [
        ("B", 1),
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
    ];
    with_unit(text, "size", &UNITS_BYTES)
}

fn with_unit(text: &str, what: &str, units: &[(&str, u64)]) -> Result<u64, String> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    if number.is_empty() {
        return Err(format!("{text:?} is not a {what}"));
    }
    let Some((_, factor)) = units.iter().find(|(name, _)| *name == unit) else {
        return Err(match unit {
            "" => format!("{text:?} is a {what} without a unit"),
            _ => format!("{text:?} is a {what} with the unknown unit {unit:?}"),
        });
    };
    let number: Option<u64> = number.parse().ok();
    match number.and_then(|number| number.checked_mul(*factor)) {
        Some(0) => Err(format!("the {what} {text:?} is zero")),
        Some(value) => Ok(value),
        None => Err(format!("the {what} {text:?} is too large")),
    }
}
