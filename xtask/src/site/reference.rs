//! Pages of every key of every file, from the JSON Schemas.

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use serde_json::{Map, Value};

/// Writes a page for each schema; returns the lines of the summary.
pub(super) fn write(schemas: &Path, sources: &Path) -> anyhow::Result<String> {
    let folder = sources.join("reference");
    fs::create_dir_all(&folder)?;
    let mut files: Vec<_> = fs::read_dir(schemas)?
        .flatten()
        .map(|entry| entry.path())
        .collect();
    files.sort();
    let mut summary = String::new();
    for file in files {
        let name = file
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        let Some(name) = name.strip_suffix(".schema.json") else {
            continue;
        };
        let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
        let schema: Value = serde_json::from_str(&text).with_context(|| name.to_owned())?;
        fs::write(folder.join(format!("{name}.md")), page(name, &schema))?;
        summary.push_str(&format!("  - [Keys: {name}](reference/{name}.md)\n"));
    }
    Ok(summary)
}

fn page(name: &str, schema: &Value) -> String {
    let mut page = format!(
        "# Keys: {name}\n\nMade of `docs/schema/{name}.schema.json`, which `bakeoff schema {name}` \
         prints. Examples: [Files](../FORMAT.md).\n"
    );
    page.push_str(&part(schema));
    let parts = schema.get("$defs").and_then(Value::as_object);
    for (name, schema) in parts.into_iter().flatten() {
        page.push_str(&format!("\n## {name}\n"));
        page.push_str(&part(schema));
    }
    page
}

/// Returns a part of the page: an object, its keys, or the values that it may have.
fn part(schema: &Value) -> String {
    let mut text = String::new();
    if let Some(describe) = schema.get("description").and_then(Value::as_str) {
        text.push_str(&format!("\n{describe}\n"));
    }
    if let Some(keys) = schema.get("properties").and_then(Value::as_object) {
        text.push_str(&table(keys, schema));
    }
    let choices = ["oneOf", "anyOf"].iter();
    let choices = choices.filter_map(|key| schema.get(*key).and_then(Value::as_array));
    for choice in choices.flatten() {
        let describe = choice.get("description").and_then(Value::as_str);
        let describe = describe.map(|text| format!(": {}", one_line(text)));
        text.push_str(&format!(
            "\n- {}{}\n",
            kind(choice),
            describe.unwrap_or_default()
        ));
        if let Some(keys) = choice.get("properties").and_then(Value::as_object) {
            text.push_str(&table(keys, choice));
        }
    }
    text
}

fn table(keys: &Map<String, Value>, schema: &Value) -> String {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |key: &str| {
        required.is_some_and(|required| required.iter().any(|one| one.as_str() == Some(key)))
    };
    let mut text = String::from("\n| key | value | meaning |\n|---|---|---|\n");
    for (key, value) in keys {
        let must = if is_required(key) { " (required)" } else { "" };
        let meaning = value.get("description").and_then(Value::as_str);
        let default = value.get("default").filter(|default| !default.is_null());
        let default = default.map(|default| format!(" Default: `{default}`."));
        text.push_str(&format!(
            "| `{key}`{must} | {} | {}{} |\n",
            kind(value),
            one_line(meaning.unwrap_or_default()),
            default.unwrap_or_default().replace('|', "\\|"),
        ));
    }
    text
}

/// Returns the kind of a value, with links to the parts of the page.
fn kind(schema: &Value) -> String {
    if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
        let name = name.rsplit('/').next().unwrap_or_default();
        return format!("[{name}](#{})", name.to_lowercase());
    }
    if let Some(value) = schema.get("const") {
        return format!("`{value}`");
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        let values: Vec<String> = values.iter().map(|value| format!("`{value}`")).collect();
        return values.join(", ");
    }
    for key in ["anyOf", "oneOf", "allOf"] {
        if let Some(choices) = schema.get(key).and_then(Value::as_array) {
            let choices: Vec<String> = choices.iter().map(kind).collect();
            return choices.join(" or ");
        }
    }
    let of = |key: &str| schema.get(key).filter(|one| one.is_object()).map(kind);
    match schema.get("type") {
        Some(Value::String(name)) if name == "array" => {
            format!(
                "list of {}",
                of("items").unwrap_or_else(|| "anything".to_owned())
            )
        }
        Some(Value::String(name)) if name == "object" => match of("additionalProperties") {
            Some(value) => format!("names with {value}"),
            None => "table".to_owned(),
        },
        Some(Value::String(name)) => name.clone(),
        Some(Value::Array(names)) => {
            let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
            names.join(" or ")
        }
        _ => "anything".to_owned(),
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace()
        .collect::<Vec<&str>>()
        .join(" ")
        .replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::page;

    #[test]
    fn keys_have_their_values_and_meanings() {
        let schema = json!({
            "properties": {
                "port": { "type": "integer", "description": "Where\nit listens.", "default": 80 },
                "steps": { "type": "array", "items": { "$ref": "#/$defs/Step" } },
            },
            "required": ["port"],
            "$defs": { "Step": { "enum": ["a", "b"], "description": "A step." } },
        });
        let page = page("suite", &schema);
        for line in [
            "| `port` (required) | integer | Where it listens. Default: `80`. |",
            "| `steps` | list of [Step](#step) |  |",
            "## Step\n\nA step.",
        ] {
            assert!(page.contains(line), "{page}");
        }
    }
}
