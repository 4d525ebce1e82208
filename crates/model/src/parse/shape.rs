//! Whether a file has the shape that its JSON Schema says: keys, types, ranges, known values.
//!
//! This is not a general validator: it only knows what `schemars` makes of the types in
//! [`super::raw`]. In return its messages speak of keys and tables instead of schemas. What it
//! rejects is replaced by a stand-in, so that the rest of the file is still checked.

use std::ops::Range;

use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value};

use super::source::{Entry, KeyPath, Kind, Node, Reading, quote};
use crate::text::names;
use crate::text::pattern::Pattern;
use crate::text::units;

/// The schema of a type as JSON.
pub(crate) fn schema<T: JsonSchema>() -> Value {
    SchemaGenerator::default()
        .into_root_schema_for::<T>()
        .to_value()
}

/// Checks the tree of a file and returns it as JSON, with stand-ins for what is invalid.
pub(crate) fn check(schema: &Value, reading: &mut Reading<'_>) -> Value {
    let root = reading.root.clone();
    let mut shape = Shape {
        definitions: &schema["$defs"],
        reading,
    };
    shape
        .value(schema, &root, &KeyPath::root())
        .unwrap_or(Value::Null)
}

struct Shape<'s, 'r, 'a> {
    definitions: &'s Value,
    reading: &'r mut Reading<'a>,
}

impl<'s> Shape<'s, '_, '_> {
    /// The value as JSON; `None` when it is unusable, which has been complained about.
    fn value(&mut self, schema: &'s Value, node: &Node, place: &KeyPath) -> Option<Value> {
        let schema = self.resolve(schema);
        if let Kind::Foreign(name) = &node.kind {
            let message = format!("`{place}`: {name} is not possible here");
            return self.refuse(node, place, &message, None);
        }
        if let Some(known) = choices(schema) {
            return self.choice(&known, node, place);
        }
        let types = types(schema);
        match &node.kind {
            _ if types.is_empty() => self.anything(node, place),
            Kind::Table(entries) if types.contains(&"object") => {
                Some(self.table(schema, entries, node, place))
            }
            Kind::List(items) if types.contains(&"array") => {
                Some(self.list(schema, items, node, place))
            }
            Kind::Scalar(Value::Bool(flag)) if types.contains(&"boolean") => {
                Some(Value::from(*flag))
            }
            Kind::Scalar(Value::String(text)) if types.contains(&"string") => {
                self.text(schema, text, node, place)
            }
            Kind::Scalar(number @ Value::Number(digits))
                if types.contains(&"number") || types.contains(&"integer") && !digits.is_f64() =>
            {
                self.number(schema, number, node, place)
            }
            _ => self.wrong_type(&types, node, place),
        }
    }

    fn refuse(
        &mut self,
        node: &Node,
        place: &KeyPath,
        message: &str,
        hint: Option<String>,
    ) -> Option<Value> {
        self.reading.complain_at(node.span.clone(), message, hint);
        self.reading.mark_broken(place.clone());
        None
    }

    fn wrong_type(&mut self, types: &[&str], node: &Node, place: &KeyPath) -> Option<Value> {
        let expected = types.iter().map(|name| match *name {
            "object" => "a table",
            "array" => "a list",
            "boolean" => "true or false",
            "integer" => "a whole number",
            "number" => "a number",
            _ => "a string",
        });
        let expected = expected.collect::<Vec<&str>>().join(" or ");
        let found = node.describe();
        let hint = match (types[0], &node.kind) {
            ("string", Kind::Scalar(value)) => Some(format!("write it in quotes: \"{value}\"")),
            ("integer" | "number" | "boolean", Kind::Scalar(Value::String(text)))
                if text.parse::<f64>().is_ok() || text.parse::<bool>().is_ok() =>
            {
                Some(format!("write it without quotes: {text}"))
            }
            ("array", Kind::Scalar(value)) => Some(format!("write it in brackets: [{value}]")),
            _ => None,
        };
        let message = format!("`{place}`: expected {expected}, found {found}");
        self.refuse(node, place, &message, hint)
    }

    fn choice(&mut self, known: &[&str], node: &Node, place: &KeyPath) -> Option<Value> {
        let Kind::Scalar(Value::String(text)) = &node.kind else {
            return self.wrong_type(&["string"], node, place);
        };
        if known.contains(&text.as_str()) {
            return Some(Value::from(text.as_str()));
        }
        let message = format!("`{place}`: unknown value {}", quote(text));
        let hint = names::suggestion(text, known);
        self.refuse(node, place, &message, Some(hint))
    }

    fn text(&mut self, schema: &Value, text: &str, node: &Node, place: &KeyPath) -> Option<Value> {
        let good = Some(Value::from(text));
        let shortest = schema["minLength"].as_u64().unwrap_or(0);
        let complaint = match schema["x-text"].as_str() {
            Some("duration") => units::duration(text).err().zip(Some(units::DURATION_HINT)),
            Some("size") => units::size_bytes(text).err().zip(Some(units::SIZE_HINT)),
            Some("name") if !is_name(text) => {
                Some((format!("{text:?} is not a name").into(), NAME_HINT))
            }
            Some("path") if !is_path(text) => Some((
                format!("{} is not a request path", quote(text)).into(),
                PATH_HINT,
            )),
            Some("regex") => Pattern::new(text).err().zip(Some(PATTERN_HINT)),
            Some("method") if !is_method(text) => {
                Some((format!("{text:?} is not a method").into(), METHOD_HINT))
            }
            _ if text.is_empty() && shortest > 0 => {
                Some(("must not be empty".into(), "write at least one character"))
            }
            _ => None,
        };
        let Some((what, hint)) = complaint else {
            return good;
        };
        let message = format!("`{place}`: {what}");
        self.refuse(node, place, &message, Some(hint.to_owned()))
    }

    fn number(
        &mut self,
        schema: &Value,
        number: &Value,
        node: &Node,
        place: &KeyPath,
    ) -> Option<Value> {
        let found = number.as_f64().unwrap_or(f64::NAN);
        let highest = match schema["format"].as_str() {
            Some("uint32") => Some(f64::from(u32::MAX)),
            _ => schema["maximum"].as_f64(),
        };
        let rule = if let Some(limit) = schema["exclusiveMinimum"].as_f64().filter(|l| found <= *l)
        {
            format!("must be more than {limit}")
        } else if let Some(limit) = schema["minimum"].as_f64().filter(|l| found < *l) {
            format!("must be at least {limit}")
        } else if let Some(limit) = highest.filter(|l| found > *l) {
            format!("must be at most {limit}")
        } else {
            return Some(number.clone());
        };
        let message = format!("`{place}`: {rule}, found {number}");
        self.refuse(node, place, &message, None)
    }

    fn list(&mut self, schema: &'s Value, items: &[Node], node: &Node, place: &KeyPath) -> Value {
        let shortest = schema["minItems"].as_u64().unwrap_or(0);
        if items.is_empty() && shortest > 0 {
            self.refuse(node, place, &format!("`{place}`: must not be empty"), None);
        }
        let item_schema = &schema["items"];
        let items = items.iter().enumerate().map(|(index, item)| {
            // A bad item keeps its index, so that complaints about later ones find their place.
            self.value(item_schema, item, &place.index(index))
                .unwrap_or_else(|| self.stand_in(item_schema))
        });
        items.collect()
    }

    fn table(
        &mut self,
        schema: &'s Value,
        entries: &[Entry],
        node: &Node,
        place: &KeyPath,
    ) -> Value {
        let mut table = Map::new();
        let mut misspelt = Vec::new();
        for entry in entries {
            let inner = place.key(&entry.key);
            let Some(inner_schema) = inner_schema(schema, &entry.key) else {
                let meant = self.unknown_key(schema, &entry.key, entry.key_span.clone(), place);
                misspelt.extend(meant);
                continue;
            };
            if let Some(value) = self.value(inner_schema, &entry.value, &inner) {
                table.insert(entry.key.clone(), value);
            }
        }
        if entries.is_empty() && schema["minProperties"].as_u64().unwrap_or(0) > 0 {
            self.refuse(node, place, &format!("`{place}`: must not be empty"), None);
        }
        for key in strings(&schema["required"]) {
            if !entries.iter().any(|entry| entry.key == key) {
                self.missing_key(schema, key, node, place, misspelt.contains(&key));
            }
            if !table.contains_key(key) {
                let stand_in = self.stand_in(&schema["properties"][key]);
                table.insert(key.to_owned(), stand_in);
            }
        }
        Value::Object(table)
    }

    /// Complains, and returns the key that was probably meant.
    fn unknown_key(
        &mut self,
        schema: &'s Value,
        key: &str,
        span: Range<usize>,
        place: &KeyPath,
    ) -> Option<&'s str> {
        let known: Vec<&str> = match &schema["properties"] {
            Value::Object(properties) => properties.keys().map(String::as_str).collect(),
            _ => Vec::new(),
        };
        let meant = names::nearest(key, &known);
        let hint = match meant {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => names::suggestion(key, &known),
        };
        let message = format!("unknown key `{key}`{}", within(place));
        self.reading.complain_at(span, &message, Some(hint));
        meant
    }

    /// Complains, unless the key is there in a misspelling that was complained about.
    fn missing_key(
        &mut self,
        schema: &'s Value,
        key: &str,
        node: &Node,
        place: &KeyPath,
        is_misspelt: bool,
    ) {
        // With a syntax error the key may well be there, in the part that could not be read.
        if self.reading.syntax_holds && !is_misspelt {
            let property = &schema["properties"][key];
            let what = match types(self.resolve(property)).first() {
                Some(&"object") if self.resolve(property)["properties"].is_null() => {
                    format!("table `[{}.NAME]`", place.key(key).header())
                }
                Some(&"object") => format!("table `[{}]`", place.key(key).header()),
                Some(&"array") if !self.resolve(&property["items"])["properties"].is_null() => {
                    format!("table `[[{}]]`", place.key(key).header())
                }
                _ => format!("key `{key}`"),
            };
            let message = format!("missing {what}{}", within(place));
            let hint = property["description"].as_str().map(as_fragment);
            self.reading.complain_at(node.span.clone(), &message, hint);
        }
        self.reading.mark_broken(place.key(key));
    }

    /// A value without rules as JSON.
    fn anything(&mut self, node: &Node, place: &KeyPath) -> Option<Value> {
        match &node.kind {
            Kind::Scalar(value) => Some(value.clone()),
            Kind::Foreign(_) => self.value(&Value::Null, node, place),
            Kind::List(items) => items
                .iter()
                .enumerate()
                .map(|(index, item)| self.value(&Value::Null, item, &place.index(index)))
                .collect(),
            Kind::Table(entries) => entries
                .iter()
                .map(|entry| {
                    let value = self.value(&Value::Null, &entry.value, &place.key(&entry.key));
                    Some((entry.key.clone(), value?))
                })
                .collect::<Option<Map<_, _>>>()
                .map(Value::Object),
        }
    }

    /// Something that has the right type, for a required value that is unusable.
    fn stand_in(&self, schema: &'s Value) -> Value {
        let schema = self.resolve(schema);
        if let Some(known) = choices(schema) {
            return Value::from(known[0]);
        }
        match types(schema).first() {
            Some(&"object") => strings(&schema["required"])
                .map(|key| (key.to_owned(), self.stand_in(&schema["properties"][key])))
                .collect(),
            Some(&"array") => Value::Array(Vec::new()),
            Some(&"integer" | &"number") => Value::from(1),
            Some(&"boolean") => Value::from(false),
            Some(_) => Value::from(match schema["x-text"].as_str() {
                Some("duration") => "1s",
                Some("size") => "1B",
                _ => "",
            }),
            None => Value::Null,
        }
    }

    fn resolve(&self, schema: &'s Value) -> &'s Value {
        resolve(self.definitions, schema)
    }
}

/// Follows references, and takes the real one of "this or null": TOML has no null.
fn resolve<'s>(definitions: &'s Value, schema: &'s Value) -> &'s Value {
    if let Some(reference) = schema["$ref"].as_str() {
        let name = reference.trim_start_matches("#/$defs/");
        return resolve(definitions, &definitions[name]);
    }
    match schema["anyOf"].as_array() {
        Some(both) => resolve(definitions, &both[0]),
        None => schema,
    }
}

/// Takes out of a file's value what need not be written: keys without a value, and keys whose value
/// is the one that holds unless another is given.
pub(crate) fn without_defaults(schema: &Value, value: Value) -> Value {
    lean(&schema["$defs"], schema, value)
}

fn lean(definitions: &Value, schema: &Value, value: Value) -> Value {
    let schema = resolve(definitions, schema);
    match value {
        Value::Object(table) => {
            let entries = table.into_iter().filter_map(|(key, value)| {
                let inner = inner_schema(schema, &key).unwrap_or(&Value::Null);
                let is_said = !value.is_null() && inner.get("default") != Some(&value);
                is_said.then(|| (key, lean(definitions, inner, value)))
            });
            Value::Object(entries.collect())
        }
        Value::Array(items) => {
            let items = items.into_iter();
            items
                .map(|item| lean(definitions, &schema["items"], item))
                .collect()
        }
        scalar => scalar,
    }
}

const NAME_HINT: &str = "use letters, digits, `-`, `_` and `.`, the first a letter or digit";
const PATH_HINT: &str = "begin with `/` and escape spaces and everything beyond ASCII with `%`";
const PATTERN_HINT: &str = "write it in single quotes, where \\ is nothing special: '[0-9]+'";
const METHOD_HINT: &str = "write it in upper case: \"GET\"";

/// Whether a text can be a name: in file names, addresses and globs it must need no quotes.
#[must_use]
pub fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}

/// How to write a name, for hints.
pub(crate) fn name_hint() -> Option<String> {
    Some(NAME_HINT.to_owned())
}

fn is_path(text: &str) -> bool {
    text.starts_with('/') && text.bytes().all(|byte| byte.is_ascii_graphic())
}

fn is_method(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_uppercase())
}

fn within(place: &KeyPath) -> String {
    if place.is_root() {
        String::new()
    } else {
        format!(" in `{place}`")
    }
}

/// The first sentence of a description as a lower-case fragment.
fn as_fragment(description: &str) -> String {
    let one_line = description.replace('\n', " ");
    let sentence = one_line.split_terminator(". ").next().unwrap_or_default();
    let sentence = sentence.trim_end_matches('.');
    let mut letters = sentence.chars();
    let first = letters.next().map(|first| first.to_lowercase().to_string());
    format!("{}{}", first.unwrap_or_default(), letters.as_str())
}

fn strings(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
}

/// The schema of a key's value; `None` for an unknown key.
fn inner_schema<'s>(schema: &'s Value, key: &str) -> Option<&'s Value> {
    if let Some(property) = schema["properties"].get(key) {
        return Some(property);
    }
    let others = &schema["additionalProperties"];
    let closed = *others == Value::Bool(false) || schema["unevaluatedProperties"] == false;
    (!closed).then_some(others)
}

/// The possible types, most telling first; empty when anything goes.
fn types(schema: &Value) -> Vec<&str> {
    match &schema["type"] {
        Value::String(one) => vec![one.as_str()],
        list => strings(list).filter(|name| *name != "null").collect(),
    }
}

/// The known values of an enumeration.
fn choices(schema: &Value) -> Option<Vec<&str>> {
    let documented = schema["oneOf"].as_array().into_iter().flatten();
    let known: Vec<&str> = documented
        .flat_map(|one| {
            one["const"]
                .as_str()
                .into_iter()
                .chain(strings(&one["enum"]))
        })
        .chain(strings(&schema["enum"]))
        .collect();
    (!known.is_empty()).then_some(known)
}
