//! How the Compose Specification merges a service with the one that it extends, and a file with the
//! next one: tables by key, lists one after the other, single values replaced, with exceptions.

use bakeoff_import::scalar::as_text;
use serde_json::{Map, Value, json};

/// Marks a value that a later file takes away, `!reset` there.
pub(super) const RESET: &str = "\0reset";
/// Marks a value that replaces an earlier one instead of being merged with it, `!override` there.
pub(super) const OVERRIDE: &str = "\0override";

/// The keys of a service that are tables, or lists of `NAME=VALUE`.
const TABLES: [&str; 6] = [
    "annotations",
    "args",
    "environment",
    "extra_hosts",
    "labels",
    "sysctls",
];
/// The keys that are tables, or lists of names.
const NAMED: [&str; 2] = ["depends_on", "networks"];
/// The keys that are one text, or a list of such.
const TEXTS: [&str; 6] = [
    "dns",
    "dns_opt",
    "dns_search",
    "env_file",
    "label_file",
    "tmpfs",
];
/// The keys of which a later value replaces an earlier one whole.
const REPLACED: [&str; 3] = ["command", "entrypoint", "test"];

/// A file with one that overrides it.
pub(super) fn documents(
    mut base: Map<String, Value>,
    own: Map<String, Value>,
) -> Map<String, Value> {
    for (key, value) in own {
        let merged = match (base.remove(&key), value) {
            (Some(Value::Object(base)), Value::Object(own)) => {
                Value::Object(entries(&key, base, own))
            }
            (Some(Value::Array(mut base)), Value::Array(own)) => {
                base.extend(own);
                Value::Array(base)
            }
            (_, value) => value,
        };
        base.insert(key, merged);
    }
    base
}

/// The services, secrets, ... in one file with those in another.
fn entries(
    kind: &str,
    mut base: Map<String, Value>,
    own: Map<String, Value>,
) -> Map<String, Value> {
    for (name, value) in own {
        let merged = match (base.remove(&name), value) {
            (Some(Value::Object(base)), Value::Object(own)) if kind == "services" => {
                Value::Object(services(base, own))
            }
            (Some(base), Value::Null) => base,
            (_, value) => value,
        };
        base.insert(name, merged);
    }
    base
}

/// A service with one that extends it.
pub(super) fn services(
    mut base: Map<String, Value>,
    own: Map<String, Value>,
) -> Map<String, Value> {
    for (key, value) in own {
        let value = match base.remove(&key) {
            Some(base) => merged(&key, base, value),
            None => value,
        };
        base.insert(key, value);
    }
    base
}

fn merged(key: &str, base: Value, own: Value) -> Value {
    if own.get(RESET).is_some() || own.get(OVERRIDE).is_some() {
        return own;
    }
    match (base, own) {
        (base, Value::Null) => base,
        (Value::Null, own) => own,
        (_, own) if REPLACED.contains(&key) => own,
        (base, own) if key == "build" => tables(of_context(base), of_context(own)),
        (base, own) if TABLES.contains(&key) => tables(of_pairs(base), of_pairs(own)),
        (base, own) if NAMED.contains(&key) => tables(of_names(base), of_names(own)),
        (base, own) if TEXTS.contains(&key) => lists(key, of_text(base), of_text(own)),
        (Value::Array(base), Value::Array(own)) => lists(key, base, own),
        (base @ Value::Object(_), own @ Value::Object(_)) => tables(base, own),
        (_, own) => own,
    }
}

fn tables(base: Value, own: Value) -> Value {
    match (base, own) {
        (Value::Object(base), Value::Object(own)) => Value::Object(services(base, own)),
        (_, own) => own,
    }
}

/// One list after the other. What has the same place in the container is there once, as the later
/// one says it.
fn lists(key: &str, base: Vec<Value>, own: Vec<Value>) -> Value {
    let mut all: Vec<Value> = Vec::new();
    for one in base.into_iter().chain(own) {
        let place = place(key, &one);
        match all
            .iter_mut()
            .find(|known| self::place(key, known) == place)
        {
            Some(known) => *known = one,
            None => all.push(one),
        }
    }
    Value::Array(all)
}

/// Where an entry of a list is in the container; the entry itself if it has no such place.
fn place(key: &str, entry: &Value) -> String {
    let text = as_text(entry);
    let of = |name: &str| entry.get(name).and_then(as_text);
    let found = match key {
        "volumes" => match &text {
            Some(text) => Some(target_of(text).to_owned()),
            None => of("target"),
        },
        "secrets" | "configs" => of("target").or_else(|| of("source")),
        _ => None,
    };
    found.or(text).unwrap_or_else(|| entry.to_string())
}

/// The path in the container of `[SOURCE:]TARGET[:MODE]`.
pub(super) fn target_of(volume: &str) -> &str {
    let mut parts = volume.split(':');
    let first = parts.next().unwrap_or_default();
    parts.next().unwrap_or(first)
}

fn of_context(build: Value) -> Value {
    match build {
        Value::String(_) => json!({ "context": build }),
        table => table,
    }
}

/// A list of `NAME=VALUE` as a table. Hosts may be `NAME:ADDRESS`, too.
fn of_pairs(value: Value) -> Value {
    let Value::Array(list) = value else {
        return value;
    };
    let pairs = list.iter().filter_map(as_text);
    let pairs = pairs.map(|text| match text.split_once(['=', ':']) {
        Some(_) if !text.contains('=') => {
            let (name, value) = text.split_once(':').unwrap_or((&text, ""));
            (name.to_owned(), Value::String(value.to_owned()))
        }
        Some(_) => {
            let (name, value) = text.split_once('=').unwrap_or((&text, ""));
            (name.to_owned(), Value::String(value.to_owned()))
        }
        None => (text, Value::Null),
    });
    Value::Object(pairs.collect())
}

/// A list of names as a table.
fn of_names(value: Value) -> Value {
    match value {
        Value::Array(list) => {
            let names = list.iter().filter_map(as_text);
            Value::Object(names.map(|name| (name, Value::Null)).collect())
        }
        table => table,
    }
}

fn of_text(value: Value) -> Vec<Value> {
    match value {
        Value::Array(list) => list,
        one => vec![one],
    }
}

/// The value without the marks of what it takes away or replaces; `None` if it is taken away.
pub(super) fn unmarked(value: Value) -> Option<Value> {
    match value {
        Value::Object(table) if table.contains_key(RESET) => None,
        Value::Object(mut table) => match table.remove(OVERRIDE) {
            Some(value) => unmarked(value),
            None => {
                let entries = table.into_iter();
                let entries = entries.filter_map(|(key, one)| Some((key, unmarked(one)?)));
                Some(Value::Object(entries.collect()))
            }
        },
        Value::Array(list) => Some(Value::Array(
            list.into_iter().filter_map(unmarked).collect(),
        )),
        one => Some(one),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{OVERRIDE, RESET, documents, services, unmarked};

    fn table(value: Value) -> serde_json::Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn a_service_is_merged_with_the_one_that_it_extends() {
        let check = |base: Value, own: Value, expect: Value| {
            let merged = services(table(base), table(own));
            assert_eq!(unmarked(Value::Object(merged)), Some(expect));
        };
        check(
            json!({"image": "a", "command": ["x", "y"], "user": "1"}),
            json!({"image": "b", "command": ["z"]}),
            json!({"user": "1", "image": "b", "command": ["z"]}),
        );
        check(
            json!({"environment": ["A=1", "B=2"]}),
            json!({"environment": {"B": 3, "C": null}}),
            json!({"environment": {"A": "1", "B": 3, "C": null}}),
        );
        check(
            json!({"volumes": ["./a:/a", "b:/b"], "ports": ["80:80"], "dns": "1.1.1.1"}),
            json!({"volumes": ["./c:/a:ro"], "ports": ["80:80", "81:81"], "dns": ["8.8.8.8"]}),
            json!({
                "volumes": ["./c:/a:ro", "b:/b"],
                "ports": ["80:80", "81:81"],
                "dns": ["1.1.1.1", "8.8.8.8"]
            }),
        );
        check(
            json!({"build": ".", "depends_on": ["a"], "healthcheck": {"test": ["CMD", "a"]}}),
            json!({
                "build": {"target": "t"},
                "depends_on": {"b": {"condition": "service_healthy"}},
                "healthcheck": {"test": ["NONE"], "retries": 3}
            }),
            json!({
                "build": {"context": ".", "target": "t"},
                "depends_on": {"a": null, "b": {"condition": "service_healthy"}},
                "healthcheck": {"test": ["NONE"], "retries": 3}
            }),
        );
        check(
            json!({"extra_hosts": ["a:1.1.1.1", "b=::1"]}),
            json!({"extra_hosts": ["a=2.2.2.2"]}),
            json!({"extra_hosts": {"b": "::1", "a": "2.2.2.2"}}),
        );
        check(
            json!({"ports": ["80:80"], "expose": ["1"], "dns": ["x"]}),
            json!({"ports": {RESET: null}, "expose": {OVERRIDE: ["2"]}}),
            json!({"dns": ["x"], "expose": ["2"]}),
        );
    }

    #[test]
    fn a_file_overrides_another_by_its_services() {
        let base = json!({"services": {"a": {"image": "x"}, "b": {"image": "y"}}, "name": "n"});
        let own = json!({"services": {"a": {"user": "1"}}, "name": "m"});
        let expect = json!({
            "services": {"b": {"image": "y"}, "a": {"image": "x", "user": "1"}},
            "name": "m"
        });
        assert_eq!(Value::Object(documents(table(base), table(own))), expect);
    }
}
