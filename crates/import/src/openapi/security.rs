//! The credentials that a description asks for. Pure.

use serde_json::Value;

use crate::headers;

/// Returns the credentials that an operation needs, in words; headers that it has already are not
/// named. Of alternatives, the first.
pub(super) fn needed(
    document: &Value,
    operation: &Value,
    given: &[(String, String)],
) -> Vec<String> {
    let own = operation
        .get("security")
        .or_else(|| document.get("security"));
    let Some(alternatives) = own.and_then(Value::as_array) else {
        return Vec::new();
    };
    // An empty alternative: nothing is needed.
    let is_free = |one: &Value| one.as_object().is_none_or(|schemes| schemes.is_empty());
    if alternatives.iter().any(is_free) {
        return Vec::new();
    }
    let first = alternatives.first().and_then(Value::as_object);
    let names = first.into_iter().flat_map(|schemes| schemes.keys());
    let schemes = names.filter_map(|name| {
        let schemes = document
            .pointer("/components/securitySchemes")
            .or_else(|| document.get("securityDefinitions"))?;
        credential(schemes.get(name)?, given)
    });
    schemes.collect()
}

fn credential(scheme: &Value, given: &[(String, String)]) -> Option<String> {
    let text = |key: &str| scheme.get(key).and_then(Value::as_str).unwrap_or_default();
    let header = |name: &str, rest: &str| {
        (!headers::has(given, name)).then(|| format!("the header `{name}{rest}`"))
    };
    match (text("type"), text("in")) {
        ("apiKey", "header") => header(text("name"), ""),
        ("apiKey", place) => Some(format!("the {place} parameter `{}`", text("name"))),
        ("http", _) if text("scheme").eq_ignore_ascii_case("basic") => {
            header("Authorization", ": Basic ...")
        }
        ("basic", _) => header("Authorization", ": Basic ..."),
        ("http" | "oauth2" | "openIdConnect", _) => header("Authorization", ": Bearer ..."),
        ("mutualTLS", _) => Some("a certificate of the client".to_owned()),
        _ => None,
    }
}
