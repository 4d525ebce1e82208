//! Recorded exchanges between contenders and a real backend: their file format and the key under
//! which a request is found again. Reading and writing text only; serving is `replay`'s business.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Durations kept for one exchange.
pub const DURATIONS_MAX: usize = 16;

/// One exchange: a line of a recording.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exchange {
    /// The request.
    #[serde(flatten)]
    pub key: Key,
    /// Status of the answer.
    pub status: u16,
    /// Content type of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// Body of the answer.
    pub answer: String,
    /// How long the real backend took, us; at most [`DURATIONS_MAX`].
    pub durations_us: Vec<u64>,
}

/// What makes two requests the same: method, path, the query's parameters in any order, and the
/// body as JSON, whatever its spaces and the order of its keys.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Key {
    /// The method, upper case.
    pub method: String,
    /// Path and sorted query.
    pub path: String,
    /// The canonical body; empty when there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub body: String,
}

impl Key {
    /// The key of a request.
    #[must_use]
    pub fn new(method: &str, path_and_query: &str, body: &[u8]) -> Self {
        Self {
            method: method.to_uppercase(),
            path: sorted_query(path_and_query),
            body: canonical_body(body),
        }
    }
}

impl std::fmt::Display for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.method, self.path)?;
        if !self.body.is_empty() {
            write!(f, " {}", self.body)?;
        }
        Ok(())
    }
}

fn sorted_query(path_and_query: &str) -> String {
    let Some((path, query)) = path_and_query.split_once('?') else {
        return path_and_query.to_owned();
    };
    let mut parameters: Vec<&str> = query.split('&').filter(|one| !one.is_empty()).collect();
    if parameters.is_empty() {
        return path.to_owned();
    }
    parameters.sort_unstable();
    format!("{path}?{}", parameters.join("&"))
}

fn canonical_body(body: &[u8]) -> String {
    match serde_json::from_slice::<Value>(body) {
        Ok(value) => sorted(value).to_string(),
        Err(_) => String::from_utf8_lossy(body).into_owned(),
    }
}

/// The same JSON with the keys of every object in order.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(object) => {
            let ordered: BTreeMap<String, Value> = object
                .into_iter()
                .map(|(key, value)| (key, sorted(value)))
                .collect();
            Value::Object(ordered.into_iter().collect())
        }
        Value::Array(list) => Value::Array(list.into_iter().map(sorted).collect()),
        other => other,
    }
}

/// Reads all recordings (`*.jsonl`) of a folder; a request that several files hold counts once.
///
/// # Errors
/// A sentence naming the folder or the file and line that cannot be read.
pub fn read_folder(folder: &Path) -> Result<BTreeMap<Key, Exchange>, String> {
    let entries = fs::read_dir(folder)
        .map_err(|error| format!("{}: cannot read recordings: {error}", folder.display()))?;
    let mut exchanges = BTreeMap::new();
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths
        .iter()
        .filter(|path| path.extension().is_some_and(|e| e == "jsonl"))
    {
        let text =
            fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        for (index, line) in text.lines().enumerate() {
            let exchange: Exchange = serde_json::from_str(line)
                .map_err(|error| format!("{}:{}: {error}", path.display(), index + 1))?;
            exchanges.entry(exchange.key.clone()).or_insert(exchange);
        }
    }
    if exchanges.is_empty() {
        return Err(format!(
            "{}: no recordings there (*.jsonl)",
            folder.display()
        ));
    }
    Ok(exchanges)
}

/// The text of a recording: one line an exchange, ordered by request, so that files compare well.
#[must_use]
pub fn write(exchanges: &BTreeMap<Key, Exchange>) -> String {
    let line = |exchange: &Exchange| {
        serde_json::to_string(exchange).expect("strings and numbers are always JSON") + "\n"
    };
    exchanges.values().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::Key;

    fn check(left: (&str, &str, &str), right: (&str, &str, &str), same: bool) {
        let key =
            |(method, path, body): (&str, &str, &str)| Key::new(method, path, body.as_bytes());
        assert_eq!(key(left) == key(right), same, "{left:?} and {right:?}");
    }

    #[test]
    fn requests_are_the_same_whatever_their_order_and_spaces() {
        check(("get", "/a?x=1&y=2", ""), ("GET", "/a?y=2&x=1", ""), true);
        check(("GET", "/a?", ""), ("GET", "/a", ""), true);
        check(
            ("POST", "/s", r#"{"b": [1, {"d": 2, "c": 1}], "a": 0}"#),
            ("POST", "/s", r#"{"a":0,"b":[1,{"c":1,"d":2}]}"#),
            true,
        );
        check(("GET", "/a?x=1", ""), ("GET", "/a?x=2", ""), false);
        check(("GET", "/a", ""), ("HEAD", "/a", ""), false);
        check(("POST", "/s", "[1,2]"), ("POST", "/s", "[2,1]"), false);
        check(("POST", "/s", "no json"), ("POST", "/s", "no  json"), false);
    }
}
