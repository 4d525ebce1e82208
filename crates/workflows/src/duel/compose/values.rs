//! Values of compose files in their several notations.

use std::time::Duration;

use bakeoff_base::problem::Problem;
use bakeoff_import::scalar::as_text;
use serde_json::Value;

/// Whether a value says that something is switched on. What variables stand for is a text.
pub(super) fn is_true(value: &Value) -> bool {
    let text = as_text(value).unwrap_or_default().to_lowercase();
    ["true", "yes", "on", "y", "1"].contains(&text.as_str())
}

/// Whether a value is there and asks for something.
pub(super) fn asks(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Array(list) => !list.is_empty(),
        Value::Object(table) => !table.is_empty(),
        scalar => !["", "false", "0"].contains(&as_text(scalar).unwrap_or_default().as_str()),
    }
}

/// A text, or a list of texts.
pub(super) fn texts(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::Array(list)) => list.iter().filter_map(as_text).collect(),
        Some(one) => Vec::from_iter(as_text(one)),
        None => Vec::new(),
    }
}

/// A table, or a list of `NAME=VALUE`, in its order. What has no value is `None`.
///
/// # Errors
/// It is neither.
pub(super) fn pairs(
    value: Option<&Value>,
    key: &str,
) -> Result<Vec<(String, Option<String>)>, Problem> {
    match value {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Object(table)) => {
            let pairs = table.iter();
            Ok(pairs
                .map(|(name, value)| (name.clone(), as_text(value)))
                .collect())
        }
        Some(Value::Array(list)) => {
            let pairs = list.iter().filter_map(as_text);
            let pairs = pairs.map(|text| match text.split_once('=') {
                Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
                None => (text, None),
            });
            Ok(pairs.collect())
        }
        Some(_) => Err(format!("`{key}` is neither a table nor a list").into()),
    }
}

/// The words of a command; `None` if it is not there.
///
/// # Errors
/// A quote has no end.
pub(super) fn words(value: Option<&Value>, key: &str) -> Result<Option<Vec<String>>, Problem> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Array(list)) => Ok(Some(list.iter().filter_map(as_text).collect())),
        Some(text) => match as_text(text).and_then(|text| split(&text)) {
            Some(words) => Ok(Some(words)),
            None => Err(format!("`{key}` has a quote or a backslash without an end").into()),
        },
    }
}

/// Splits a command as Compose does: unlike in a shell, a backslash within double quotes escapes
/// whatever follows it. `None` if a quote or a backslash has no end.
fn split(text: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (None | Some('"'), '\\') => word.get_or_insert_default().push(chars.next()?),
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

/// A duration: `1m30s`, `500ms`.
///
/// # Errors
/// It is none.
pub(super) fn duration(text: &str) -> Result<Duration, Problem> {
    let wrong = || Problem::new(format!("`{text}` is not a duration, such as `1m30s`"));
    let mut seconds = 0.0;
    let mut rest = text.trim();
    if rest == "0" {
        return Ok(Duration::ZERO);
    }
    if rest.is_empty() {
        return Err(wrong());
    }
    while !rest.is_empty() {
        let is_number = |c: char| c.is_ascii_digit() || c == '.';
        let end = rest.find(|c| !is_number(c)).ok_or_else(wrong)?;
        let number: f64 = rest[..end].parse().map_err(|_| wrong())?;
        rest = &rest[end..];
        let end = rest.find(is_number).unwrap_or(rest.len());
        let unit = match &rest[..end] {
            "us" | "µs" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            "d" => 86_400.0,
            _ => return Err(wrong()),
        };
        seconds += number * unit;
        rest = &rest[end..];
    }
    Duration::try_from_secs_f64(seconds).map_err(|_| wrong())
}

/// A size in bytes: a number, or `64m`, `1gb`, `1.5G`.
///
/// # Errors
/// It is none.
pub(super) fn bytes(text: &str) -> Result<u64, Problem> {
    let wrong = || Problem::new(format!("`{text}` is not a size, such as `64m`"));
    let lower = text.trim().to_lowercase();
    let end = lower.find(|c: char| !c.is_ascii_digit() && c != '.');
    let (number, unit) = lower.split_at(end.unwrap_or(lower.len()));
    let power = match unit.trim().trim_end_matches('b').trim_end_matches('i') {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        "t" => 40,
        _ => return Err(wrong()),
    };
    let (whole, tenths) = number.split_once('.').unwrap_or((number, "0"));
    let number = |digits: &str| digits.parse::<u64>().map_err(|_| wrong());
    let below = 10_u64.checked_pow(u32::try_from(tenths.len()).map_err(|_| wrong())?);
    let below = below.ok_or_else(wrong)?;
    let factor = 1_u64 << power;
    let part = number(tenths)?.checked_mul(factor).ok_or_else(wrong)? / below;
    let whole = number(whole)?.checked_mul(factor);
    whole
        .and_then(|whole| whole.checked_add(part))
        .ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::{asks, bytes, duration, is_true, words};

    #[test]
    fn values_have_several_notations() {
        let ms = |text: &str| duration(text).ok().map(|time| time.as_millis());
        assert_eq!(ms("1m30s"), Some(90_000));
        assert_eq!(ms("1.5s"), Some(1_500));
        assert_eq!(
            (ms("500ms"), ms("0"), ms("0s")),
            (Some(500), Some(0), Some(0))
        );
        assert_eq!(
            (ms("10"), ms(""), ms("s"), ms("1x")),
            (None, None, None, None)
        );
        assert_eq!(duration("1h").unwrap(), Duration::from_secs(3600));
        let size = |text: &str| bytes(text).ok();
        assert_eq!(
            (size("64m"), size("64MB"), size("1.5g")),
            (Some(64 << 20), Some(64 << 20), Some(3 << 29))
        );
        assert_eq!(
            (size("10"), size("1kib"), size("m"), size("1x")),
            (Some(10), Some(1024), None, None)
        );
        for value in [json!(true), json!("true"), json!("Yes")] {
            assert!(is_true(&value) && asks(&value), "{value}");
        }
        for value in [json!(false), json!(null), json!([]), json!({}), json!("")] {
            assert!(!is_true(&value) && !asks(&value), "{value}");
        }
        let split = |value: serde_json::Value| words(Some(&value), "command").ok().flatten();
        assert_eq!(
            split(json!("a 'b c'")),
            Some(vec!["a".to_owned(), "b c".to_owned()])
        );
        assert_eq!(
            split(json!(["a", 1])),
            Some(vec!["a".to_owned(), "1".to_owned()])
        );
        assert_eq!(
            split(json!("a\\ b \"c\\.d\" '\\e'\"\"")),
            Some(["a b", "c.d", "\\e"].map(str::to_owned).to_vec())
        );
        assert_eq!((split(json!(null)), split(json!("'a"))), (None, None));
    }
}
