//! Texts with a unit, as people write them in suite files: durations and sizes.

use std::time::Duration;

use bakeoff_base::problem::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How to write a duration, for hints.
pub(crate) const DURATION_HINT: &str =
    "write a number and a unit out of ns, us, ms, s, m, h: \"250ms\", \"1.5s\"";

/// How to write a size, for hints.
pub(crate) const SIZE_HINT: &str =
    "write a whole number and a unit out of B, KiB, MiB, GiB: \"512MiB\"";

/// A duration as text: `250ms`, `1.5s`, `2m`, `1h`. Never zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct DurationText(pub Duration);

/// A size as text: `512MiB`. Never zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SizeText(pub u64);

impl TryFrom<String> for DurationText {
    type Error = Problem;

    fn try_from(text: String) -> Result<Self, Problem> {
        duration(&text).map(Self)
    }
}

impl TryFrom<String> for SizeText {
    type Error = Problem;

    fn try_from(text: String) -> Result<Self, Problem> {
        size_bytes(&text).map(Self)
    }
}

impl From<DurationText> for String {
    fn from(DurationText(time): DurationText) -> Self {
        let ns = time.as_nanos();
        match (ns % 1_000_000_000, ns % 1_000_000) {
            (0, _) => format!("{}s", ns / 1_000_000_000),
            (_, 0) => format!("{}ms", ns / 1_000_000),
            _ => format!("{ns}ns"),
        }
    }
}

impl From<SizeText> for String {
    fn from(SizeText(bytes): SizeText) -> Self {
        match bytes % (1 << 20) {
            0 => format!("{}MiB", bytes >> 20),
            _ => format!("{bytes}B"),
        }
    }
}

impl JsonSchema for DurationText {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Duration".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "pattern":
                "^((0*[1-9][0-9]*([.][0-9]+)?|0+[.]0*[1-9][0-9]*)(ns|us|ms|s|m|h))+$",
            "description": "A number and a unit out of ns, us, ms, s, m, h; or several, `1m30s`.",
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

/// Reads a duration such as `250ms`, `1.5s`, `2m` or `1m30s`; a whole number of nanoseconds, never
/// zero.
///
/// # Errors
/// A lower-case fragment that names the mistake.
pub fn duration(text: &str) -> Result<Duration, Problem> {
    const UNITS_NS: [(&str, u64); 6] = [
        ("ns", 1),
        ("us", 1_000),
        ("ms", 1_000_000),
        ("s", 1_000_000_000),
        ("m", 60_000_000_000),
        ("h", 3_600_000_000_000),
    ];
    let number = |c: char| c.is_ascii_digit() || c == '.';
    let read = |part: &str| with_unit(part, "duration", number, &UNITS_NS);
    let parts = split_after_units(text);
    if parts.len() < 2 {
        return read(text).map(Duration::from_nanos);
    }
    let mut sum_ns: u64 = 0;
    let mut smallest = usize::MAX;
    for part in parts {
        let unit = part.trim_start_matches(number);
        let place = UNITS_NS.iter().position(|(name, _)| *name == unit);
        let (Some(place), Ok(part_ns)) = (place.filter(|place| *place < smallest), read(part))
        else {
            return Err(format!(
                "{text:?} is not a duration: 1h, 1m30s and 90s are some, from the largest unit down"
            )
            .into());
        };
        smallest = place;
        sum_ns = sum_ns.saturating_add(part_ns);
    }
    Ok(Duration::from_nanos(sum_ns))
}

/// Splits `1m30s` into `1m` and `30s`.
fn split_after_units(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(unit) = rest.find(|c: char| c.is_ascii_alphabetic()) {
        let after = rest[unit..].find(|c: char| !c.is_ascii_alphabetic());
        let Some(length) = after else { break };
        let (part, next) = rest.split_at(unit + length);
        parts.push(part);
        rest = next;
    }
    parts.push(rest);
    parts
}

/// Reads a size in bytes such as `512MiB`; never zero.
///
/// # Errors
/// A lower-case fragment that names the mistake.
pub fn size_bytes(text: &str) -> Result<u64, Problem> {
    const UNITS_BYTES: [(&str, u64); 4] = [
        ("B", 1),
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
    ];
    with_unit(text, "size", |c| c.is_ascii_digit(), &UNITS_BYTES)
}

/// A number of the characters that `is_number` allows, times the factor of its unit.
fn with_unit(
    text: &str,
    what: &str,
    is_number: impl Fn(char) -> bool,
    units: &[(&str, u64)],
) -> Result<u64, Problem> {
    let end = text.find(|c| !is_number(c)).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    if [whole, fraction]
        .iter()
        .any(|digits| digits.is_empty() || digits.contains('.'))
    {
        return Err(format!("{text:?} is not a {what}").into());
    }
    let Some((_, factor)) = units.iter().find(|(name, _)| *name == unit) else {
        return Err(match unit {
            "" if !number.is_empty() && what == "duration" => {
                format!("{text:?} is a duration without a unit: write {text}s").into()
            }
            "" => format!("{text:?} is a {what} without a unit").into(),
            _ => format!("{text:?} is a {what} with the unknown unit {unit:?}").into(),
        });
    };
    match scaled(whole, fraction.trim_end_matches('0'), *factor) {
        Some((0, 0)) => Err(format!("the {what} {text:?} is zero").into()),
        Some((value, 0)) => Ok(value),
        Some(_) => {
            let (smallest, _) = units[0];
            Err(format!("the {what} {text:?} is finer than 1{smallest}").into())
        }
        None => Err(format!("the {what} {text:?} is too large").into()),
    }
}

/// `whole.fraction` times `factor`, and the rest beyond its whole part; `None` when there are
/// more digits than can be counted with.
fn scaled(whole: &str, fraction: &str, factor: u64) -> Option<(u64, u128)> {
    let digits: u128 = format!("{whole}{fraction}").parse().ok()?;
    let divisor = 10_u128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let product = digits.checked_mul(u128::from(factor))?;
    Some((u64::try_from(product / divisor).ok()?, product % divisor))
}

#[cfg(test)]
mod tests {
    use super::{duration, size_bytes};

    #[test]
    fn durations_may_have_a_fraction() {
        let check = |text: &str, expect: Result<u64, &str>| {
            let found = duration(text).map(|duration| u64::try_from(duration.as_nanos()).unwrap());
            assert_eq!(found, expect.map_err(Into::into), "{text}");
        };
        check("250ms", Ok(250_000_000));
        check("1.5s", Ok(1_500_000_000));
        check("0.5ms", Ok(500_000));
        check("0.1us", Ok(100));
        check("1.50000000000h", Ok(5_400_000_000_000));
        check("", Err("\"\" is not a duration"));
        check("fast", Err("\"fast\" is not a duration"));
        check(".5s", Err("\".5s\" is not a duration"));
        check("1.s", Err("\"1.s\" is not a duration"));
        check("1.2.3s", Err("\"1.2.3s\" is not a duration"));
        check("-1s", Err("\"-1s\" is not a duration"));
        check("1m30s", Ok(90_000_000_000));
        check("1h1m1s500ms", Ok(3_661_500_000_000));
        let order = "1h, 1m30s and 90s are some, from the largest unit down";
        for text in ["30s1m", "1s1s", "1m30", "1m,30s", "1mm30s"] {
            check(text, Err(&format!("{text:?} is not a duration: {order}")));
        }
        check(
            "1.5",
            Err("\"1.5\" is a duration without a unit: write 1.5s"),
        );
        check(
            "1,5s",
            Err("\"1,5s\" is a duration with the unknown unit \",5s\""),
        );
        check("0.0s", Err("the duration \"0.0s\" is zero"));
        check("0.5ns", Err("the duration \"0.5ns\" is finer than 1ns"));
        check("6000000h", Err("the duration \"6000000h\" is too large"));
    }

    #[test]
    fn sizes_are_whole() {
        assert_eq!(size_bytes("2KiB"), Ok(2048));
        let message = "\"1.5KiB\" is a size with the unknown unit \".5KiB\"";
        assert_eq!(size_bytes("1.5KiB"), Err(message.into()));
    }
}
