//! The text of a compose file as one value, with its anchors and merges resolved. The library reads
//! YAML; its own merge leaves the merges inside of what is merged, and refuses tags.

use bakeoff_base::problem::Problem;
use serde::Deserialize as _;
use serde_json::{Map, Value, json};
use serde_norway::Value as Yaml;

use crate::duel::compose::merge::{OVERRIDE, RESET, documents};

/// The key of a table that takes over the keys of others.
const MERGE: &str = "<<";

/// A file as one value. Of several documents in it, later ones override earlier ones.
///
/// # Errors
/// The text is no YAML, or has something that a compose file cannot have.
pub(super) fn document(text: &str) -> Result<Value, Problem> {
    let mut all = Map::new();
    for part in serde_norway::Deserializer::from_str(text.trim_start_matches('\u{feff}')) {
        let yaml = Yaml::deserialize(part);
        let yaml = yaml.map_err(|error| format!("no YAML: {error}"))?;
        match resolved(yaml)? {
            Value::Object(table) => all = documents(all, table),
            Value::Null => {}
            _ => return Err("no compose file: it is not a table".into()),
        }
    }
    Ok(Value::Object(all))
}

fn resolved(yaml: Yaml) -> Result<Value, Problem> {
    match yaml {
        Yaml::Mapping(table) => Ok(Value::Object(merged(table)?)),
        Yaml::Sequence(list) => {
            let list = list.into_iter().map(resolved);
            Ok(Value::Array(list.collect::<Result<_, _>>()?))
        }
        Yaml::Tagged(tagged) => {
            let value = resolved(tagged.value)?;
            let marked = |mark: &str| json!({ mark: value.clone() });
            Ok(match tagged.tag.to_string().trim_start_matches('!') {
                "reset" => marked(RESET),
                "override" => marked(OVERRIDE),
                _ => value,
            })
        }
        scalar => {
            serde_json::to_value(scalar).map_err(|error| format!("no compose file: {error}").into())
        }
    }
}

/// A table with the keys that it merges: its own are the strongest, and among several tables those
/// in the first.
fn merged(table: serde_norway::Mapping) -> Result<Map<String, Value>, Problem> {
    let mut own = Map::new();
    let mut others = Vec::new();
    for (key, value) in table {
        let key = match resolved(key)? {
            Value::String(key) => key,
            Value::Null => String::new(),
            key => key.to_string(),
        };
        match (key.as_str(), resolved(value)?) {
            (MERGE, Value::Array(list)) => others.extend(list),
            (MERGE, one) => others.push(one),
            (_, value) => drop(own.insert(key, value)),
        }
    }
    for other in others {
        let Value::Object(other) = other else {
            return Err(format!("no compose file: `{MERGE}` merges what is not a table").into());
        };
        for (key, value) in other {
            own.entry(key).or_insert(value);
        }
    }
    Ok(own)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::document;

    #[test]
    fn merges_are_resolved_at_any_depth() {
        let check = |text: &str, expect: serde_json::Value| {
            assert_eq!(document(text).unwrap(), expect, "{text}");
        };
        check(
            "x-a: &a {r: 1}\nx-b: &b {<<: *a, i: 2}\ns: {<<: *b, i: 3}",
            json!({"x-a": {"r": 1}, "x-b": {"i": 2, "r": 1}, "s": {"i": 3, "r": 1}}),
        );
        check(
            "a: &a {x: 1}\nb: &b {x: 2, y: 2}\nc: {<<: [*a, *b], z: 3}",
            json!({"a": {"x": 1}, "b": {"x": 2, "y": 2}, "c": {"z": 3, "x": 1, "y": 2}}),
        );
        check(
            "a: &a {x: &x {p: 1}}\nb: [{<<: *a}, {<<: *x, q: 2}]",
            json!({"a": {"x": {"p": 1}}, "b": [{"x": {"p": 1}}, {"q": 2, "p": 1}]}),
        );
        check("---\nname: a\n---\nname: b\n", json!({"name": "b"}));
        check("\u{feff}a: 1\n", json!({"a": 1}));
        check(
            "a: {8080: x, true: y}",
            json!({"a": {"8080": "x", "true": "y"}}),
        );
        for text in ["a: [", "- a", "a: {<<: 1}"] {
            assert!(document(text).is_err(), "{text}");
        }
    }
}
