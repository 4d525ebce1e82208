//! JSON paths of expectations: `$`, `.key`, `["any key"]`, `[index]` and `[*]`. No filters, no
//! recursion: an expectation that needs them is better written as several.

use std::fmt;
use std::str::FromStr;

use bakeoff_base::problem::Problem;
use serde_json::Value;

/// A parsed path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonPath {
    segments: Vec<Segment>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Segment {
    Key(String),
    Index(usize),
    Each,
}

impl JsonPath {
    /// How many `[*]` the path has.
    #[must_use]
    pub fn stars(&self) -> usize {
        let each = |segment: &&Segment| **segment == Segment::Each;
        self.segments.iter().filter(each).count()
    }

    /// The value at a path without `[*]`.
    ///
    /// # Errors
    /// Says which part of the path is not there. A `[*]` never is.
    pub fn find<'v>(&self, root: &'v Value) -> Result<&'v Value, Problem> {
        walk(root, &self.segments, "$".to_owned())
    }

    /// The values that a path with one `[*]` stands for, in order.
    ///
    /// # Errors
    /// Says which part of the path is not there or is not a list.
    pub fn find_each<'v>(&self, root: &'v Value) -> Result<Vec<&'v Value>, Problem> {
        let star = self.segments.iter().position(|s| *s == Segment::Each);
        let Some(star) = star else {
            return self.find(root).map(|value| vec![value]);
        };
        let (before, after) = (&self.segments[..star], &self.segments[star + 1..]);
        let list_path = format!("${}", show(before));
        let list = walk(root, before, "$".to_owned())?;
        let Value::Array(items) = list else {
            return Err(format!("{list_path}: expected a list, found {}", kind(list)).into());
        };
        items
            .iter()
            .enumerate()
            .map(|(index, item)| walk(item, after, format!("{list_path}[{index}]")))
            .collect()
    }

    /// Takes what the path stands for out of a value; `[*]` is every element of a list, as often as
    /// it is written. An element of a list becomes null, so that the others keep their places. What
    /// is not there stays away.
    pub fn remove(&self, root: &mut Value) {
        remove(root, &self.segments);
    }
}

fn remove(value: &mut Value, segments: &[Segment]) {
    let (first, rest) = match segments {
        [] => {
            *value = Value::Null;
            return;
        }
        [only] => return remove_here(value, only),
        [first, rest @ ..] => (first, rest),
    };
    match (first, value) {
        (Segment::Key(key), value) => {
            value
                .get_mut(key.as_str())
                .into_iter()
                .for_each(|inner| remove(inner, rest));
        }
        (Segment::Index(index), value) => {
            value
                .get_mut(*index)
                .into_iter()
                .for_each(|inner| remove(inner, rest));
        }
        (Segment::Each, Value::Array(items)) => {
            items.iter_mut().for_each(|inner| remove(inner, rest));
        }
        (Segment::Each, _) => {}
    }
}

fn remove_here(value: &mut Value, segment: &Segment) {
    match (segment, value) {
        (Segment::Key(key), Value::Object(entries)) => {
            entries.remove(key);
        }
        (Segment::Index(index), Value::Array(items)) if *index < items.len() => {
            items[*index] = Value::Null;
        }
        (Segment::Each, Value::Array(items)) => items.clear(),
        _ => {}
    }
}

fn walk<'v>(root: &'v Value, segments: &[Segment], mut at: String) -> Result<&'v Value, Problem> {
    let mut value = root;
    for segment in segments {
        let inner = match segment {
            Segment::Key(key) => value.get(key.as_str()),
            Segment::Index(index) => value.get(*index),
            Segment::Each => None,
        };
        let here = show(std::slice::from_ref(segment));
        let Some(inner) = inner else {
            return Err(format!("{at}{here}: missing, {at} is {}", kind(value)).into());
        };
        at.push_str(&here);
        value = inner;
    }
    Ok(value)
}

/// Returns the kind of a JSON value, in words.
pub(crate) fn kind(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) => "a boolean".to_owned(),
        Value::Number(_) => "a number".to_owned(),
        Value::String(_) => "a string".to_owned(),
        Value::Array(items) => format!("a list of {}", items.len()),
        Value::Object(entries) if entries.is_empty() => "an empty object".to_owned(),
        Value::Object(entries) => {
            const SHOWN_MAX: usize = 8;
            let keys: Vec<&str> = entries.keys().take(SHOWN_MAX).map(String::as_str).collect();
            let more = if entries.len() > SHOWN_MAX {
                ", ..."
            } else {
                ""
            };
            format!("an object of {}{more}", keys.join(", "))
        }
    }
}

/// Whether a character may be part of a key after a dot; other keys need brackets and quotes.
fn is_plain(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '-'
}

fn show(segments: &[Segment]) -> String {
    let one = |segment: &Segment| match segment {
        Segment::Each => "[*]".to_owned(),
        Segment::Index(index) => format!("[{index}]"),
        Segment::Key(key) if !key.is_empty() && key.chars().all(is_plain) => format!(".{key}"),
        Segment::Key(key) => format!("[{}]", Value::from(key.as_str())),
    };
    segments.iter().map(one).collect()
}

impl fmt::Display for JsonPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "${}", show(&self.segments))
    }
}

impl FromStr for JsonPath {
    type Err = Problem;

    /// Reads a path; the error is a lower-case fragment that says what is wrong.
    fn from_str(text: &str) -> Result<Self, Problem> {
        let wrong = |what: Problem| what.context(format_args!("bad JSON path {text:?}"));
        let mut rest = text
            .strip_prefix('$')
            .ok_or_else(|| wrong("it must begin with `$`".into()))?;
        let mut segments = Vec::new();
        while !rest.is_empty() {
            let (segment, after) = segment(rest).map_err(wrong)?;
            segments.push(segment);
            rest = after;
        }
        Ok(Self { segments })
    }
}

/// Splits off the first segment.
fn segment(text: &str) -> Result<(Segment, &str), Problem> {
    if let Some(key) = text.strip_prefix('.') {
        let end = key.find(|c| !is_plain(c)).unwrap_or(key.len());
        if end == 0 {
            return Err(format!("`{text}` has no key after the dot").into());
        }
        return Ok((Segment::Key(key[..end].to_owned()), &key[end..]));
    }
    let Some(inside) = text.strip_prefix('[') else {
        return Err(format!("`{text}` begins neither with `.` nor with `[`").into());
    };
    if inside.starts_with('"') {
        return quoted(text, inside);
    }
    let (inside, after) = inside
        .split_once(']')
        .ok_or_else(|| format!("`{text}` lacks `]`"))?;
    if inside == "*" {
        return Ok((Segment::Each, after));
    }
    match inside.parse() {
        Ok(index) if inside.bytes().all(|b| b.is_ascii_digit()) => {
            Ok((Segment::Index(index), after))
        }
        _ => Err(format!("`[{inside}]` is neither an index, `[*]` nor a key in quotes").into()),
    }
}

/// Splits off a key in quotes, which is a JSON string; `inside` is `text` after its bracket.
fn quoted<'t>(text: &str, inside: &'t str) -> Result<(Segment, &'t str), Problem> {
    let mut stream = serde_json::Deserializer::from_str(inside).into_iter::<String>();
    let Some(Ok(key)) = stream.next() else {
        return Err(format!("`{text}` has a key without an end quote").into());
    };
    let after = &inside[stream.byte_offset()..];
    match after.strip_prefix(']') {
        Some(after) => Ok((Segment::Key(key), after)),
        None => Err(format!("`{text}` lacks `]`").into()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::JsonPath;

    #[test]
    fn what_a_path_stands_for_is_taken_out() {
        let whole = json!({"time": 1, "items": [{"id": 1, "at": 2}, {"id": 2, "at": 3}], "n": [1]});
        for (path, expect) in [
            ("$.time", json!({"items": whole["items"], "n": [1]})),
            (
                "$.items[*].at",
                json!({"time": 1, "items": [{"id": 1}, {"id": 2}], "n": [1]}),
            ),
            (
                "$.items[1]",
                json!({"time": 1, "items": [{"id": 1, "at": 2}, null], "n": [1]}),
            ),
            (
                "$.n[*]",
                json!({"time": 1, "items": whole["items"], "n": []}),
            ),
            ("$.none.there", whole.clone()),
            ("$.n[7]", whole.clone()),
            ("$", json!(null)),
        ] {
            let mut value = whole.clone();
            path.parse::<JsonPath>().unwrap().remove(&mut value);
            assert_eq!(value, expect, "{path}");
        }
    }
}
