//! YAML and JSON values that stand for a text, however they are written.

use serde_json::Value;

/// Returns a text, number or boolean as text, `None` for anything else.
#[must_use]
pub fn as_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}
