//! Values of YAML and JSON files that stand for a text, however they are written there.

use serde_json::Value;

/// Returns a text, number or truth value as text, and nothing of the rest.
#[must_use]
pub fn as_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}
