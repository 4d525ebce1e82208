//! The small part of JSONPath that checks need: `$`, `.key`, `["key"]`, `[index]` and `[*]`.

use std::fmt;
use std::str::FromStr;

use serde_json::Value;

/// A parsed path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonPath {
    text: String,
    steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Key(String),
    Index(usize),
    All,
}

impl JsonPath {
    /// How many `[*]` are in it.
    #[must_use]
    pub fn wildcards(&self) -> usize {
        self.steps.iter().filter(|step| **step == Step::All).count()
    }

    /// Everything that the path leads to in `root`; without `[*]` that is one value or none.
    #[must_use]
    pub fn find<'a>(&self, root: &'a Value) -> Vec<&'a Value> {
        let mut found = vec![root];
        for step in &self.steps {
            found = found.into_iter().flat_map(|value| follow(value, step)).collect();
        }
        found
    }
}

fn follow<'a>(value: &'a Value, step: &Step) -> Vec<&'a Value> {
    match step {
        Step::Key(key) => value.get(key).into_iter().collect(),
        Step::Index(index) => value.get(*index).into_iter().collect(),
        Step::All => value.as_array().map(|list| list.iter().collect()).unwrap_or_default(),
    }
}

impl fmt::Display for JsonPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for JsonPath {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut rest = text.strip_prefix('$').ok_or("a JSON path begins with $")?;
        let mut steps = Vec::new();
        while !rest.is_empty() {
            let (step, after) = if let Some(after) = rest.strip_prefix('.') {
                key(after)?
            } else if let Some(after) = rest.strip_prefix('[') {
                bracket(after)?
            } else {
                return Err(format!("expected . or [ in a JSON path before {rest:?}"));
            };
            steps.push(step);
            rest = after;
        }
        Ok(Self { text: text.to_owned(), steps })
    }
}

fn key(rest: &str) -> Result<(Step, &str), String> {
    let end = rest.find(['.', '[']).unwrap_or(rest.len());
    if end == 0 {
        return Err("a key is missing after . in a JSON path".to_owned());
    }
    Ok((Step::Key(rest[..end].to_owned()), &rest[end..]))
}

fn bracket(rest: &str) -> Result<(Step, &str), String> {
    if let Some(quoted) = rest.strip_prefix('"') {
        let (key, after) = quoted
            .split_once("\"]")
            .ok_or("a key in brackets ends with \"] in a JSON path")?;
        return Ok((Step::Key(key.to_owned()), after));
    }
    let (inner, after) = rest.split_once(']').ok_or("a ] is missing in a JSON path")?;
    if inner == "*" {
        return Ok((Step::All, after));
    }
    let index = inner.parse().map_err(|_| format!("not an index in a JSON path: {inner:?}"))?;
    Ok((Step::Index(index), after))
}
