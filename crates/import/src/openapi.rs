//! Converts an OpenAPI description (2 and 3) to requests, using its own examples. Pure.

use bakeoff_base::percent;
use bakeoff_base::problem::Problem;
use serde_json::{Map, Value};

use crate::requests::{Described, Operation};
use crate::scalar::as_text;

/// Maximum length of a chain of references.
const REFERENCES_MAX: usize = 8;

/// Reads a description, JSON or YAML. `base` replaces the description's own prefix of every path.
///
/// # Errors
/// The text is neither, or is not an OpenAPI description.
pub fn read(text: &str, base: Option<&str>) -> Result<Described, Problem> {
    let document: Value = serde_json::from_str(text)
        .or_else(|_| serde_norway::from_str(text))
        .map_err(|error| format!("neither JSON nor YAML: {error}"))?;
    let Some(paths) = document.get("paths").and_then(Value::as_object) else {
        return Err("no OpenAPI description: it has no `paths`".into());
    };
    let mut described = Described::default();
    let reader = Reader {
        document: &document,
        base: match base {
            Some(base) => base.trim_end_matches('/').to_owned(),
            None => base_path(&document),
        },
    };
    if base.is_none() && !reader.base.is_empty() {
        let base = &reader.base;
        described.notes.push(format!(
            "{base} of its server stands before every path; --base-path / drops it"
        ));
    }
    for (path, item) in paths {
        let item = reader.resolved(item);
        for method in ["get", "head", "post", "put", "patch", "delete"] {
            let Some(operation) = item.get(method) else {
                continue;
            };
            let name = format!("{} {path}", method.to_uppercase());
            if method != "get" {
                let why = match method {
                    "head" => "it has no body to check",
                    _ => "it may change data",
                };
                described.left_out.push(format!("{name}: {why}"));
                continue;
            }
            let mut guessed = Vec::new();
            match reader.operation(name.clone(), path, item, operation, &mut guessed) {
                Ok(operation) => {
                    described.operations.push(operation);
                    let note = |parameter: String| {
                        format!("{name}: `{parameter}`, an integer without an example: write one")
                    };
                    described.notes.extend(guessed.into_iter().map(note));
                }
                Err(why) => described.left_out.push(format!("{name}: {why}")),
            }
        }
    }
    Ok(described)
}

/// Returns the prefix of every path: the path of the first server in OpenAPI 3, `basePath` in 2.
fn base_path(document: &Value) -> String {
    let base = match document.pointer("/servers/0/url").and_then(Value::as_str) {
        Some(url) => match url.split_once("://") {
            Some((_, rest)) => rest.find('/').map_or("", |at| &rest[at..]),
            None => url,
        },
        None => document
            .get("basePath")
            .and_then(Value::as_str)
            .unwrap_or_default(),
    };
    base.trim_end_matches('/').to_owned()
}

struct Reader<'a> {
    document: &'a Value,
    base: String,
}

impl<'a> Reader<'a> {
    /// Resolves a reference into this document; returns any other value unchanged.
    fn resolved(&self, mut value: &'a Value) -> &'a Value {
        for _ in 0..REFERENCES_MAX {
            let reference = value.get("$ref").and_then(Value::as_str);
            let Some(pointer) = reference.and_then(|text| text.strip_prefix('#')) else {
                break;
            };
            match self.document.pointer(pointer) {
                Some(found) => value = found,
                None => break,
            }
        }
        value
    }

    fn operation(
        &self,
        name: String,
        path: &str,
        item: &'a Value,
        operation: &'a Value,
        guessed: &mut Vec<String>,
    ) -> Result<Operation, Problem> {
        let responses = operation.get("responses").and_then(Value::as_object);
        let successes = successes(responses);
        let response = successes.first().map(|(_, value)| self.resolved(value));
        let example = response.and_then(|response| self.response_example(response));
        let fields = fields(example.unwrap_or(&Value::Null));
        let mut path = path.to_owned();
        let mut query = Vec::new();
        let mut headers = Vec::new();
        for parameter in self.parameters(item, operation) {
            let text = |key: &str| parameter.get(key).and_then(Value::as_str);
            let (name, place) = (text("name").unwrap_or_default(), text("in"));
            let required = parameter.get("required") == Some(&Value::Bool(true));
            let value = match self.value(parameter, required.then_some(&fields)) {
                Some(value) => value,
                None if !required => continue,
                None => {
                    let lowest = self.lowest_integer(parameter);
                    let lowest = lowest.ok_or_else(|| format!("`{name}` has no example"))?;
                    guessed.push(format!("{name}={lowest}"));
                    lowest.to_string()
                }
            };
            match place {
                Some("path") => {
                    path = path.replace(&format!("{{{name}}}"), &percent::component(&value));
                }
                Some("query") => query.push(format!("{name}={}", percent::component(&value))),
                Some("header") => headers.push((name.to_owned(), value)),
                Some(place) if required => {
                    return Err(format!("`{name}` is a {place} parameter").into());
                }
                _ => {}
            }
        }
        let query = match query.as_slice() {
            [] => String::new(),
            list => format!("?{}", list.join("&")),
        };
        let is_json = response.is_some_and(|response| self.is_json(operation, response));
        Ok(Operation {
            name,
            method: "GET".to_owned(),
            path: format!("{}{path}{query}", self.base),
            headers,
            body: Vec::new(),
            weight: 1,
            statuses: successes.iter().map(|(status, _)| *status).collect(),
            is_json,
            keys: match example {
                Some(Value::Object(example)) if is_json => example.keys().cloned().collect(),
                _ => Vec::new(),
            },
        })
    }

    /// Returns the parameters of this operation, including those of the whole path.
    fn parameters(&self, item: &'a Value, operation: &'a Value) -> Vec<&'a Value> {
        [item, operation]
            .into_iter()
            .filter_map(|holder| holder.get("parameters")?.as_array())
            .flatten()
            .map(|parameter| self.resolved(parameter))
            .collect()
    }

    /// Returns the value of a parameter: an example, a default, or one of the listed values. For a
    /// required parameter also the field with its name in a described response, or the first value
    /// in a description such as "One of a, b, c".
    fn value(&self, parameter: &'a Value, fields: Option<&Map<String, Value>>) -> Option<String> {
        let schema = parameter.get("schema").map(|schema| self.resolved(schema));
        let named = [Some(parameter), schema].into_iter().flatten();
        let given = named.clone().find_map(|holder| {
            let first = |key: &str| holder.get(key)?.as_array()?.first();
            let example = holder.get("example").filter(|example| !example.is_null());
            let examples = holder.get("examples").and_then(Value::as_object);
            let of_examples =
                examples.and_then(|all| self.resolved(all.values().next()?).get("value"));
            example
                .or(of_examples)
                .or_else(|| first("examples"))
                .or_else(|| holder.get("default"))
                .or_else(|| first("enum"))
        });
        if let Some(value) = given.and_then(as_text) {
            return Some(value);
        }
        let name = parameter.get("name")?.as_str()?;
        let same_name = fields?.get(name).and_then(as_text);
        same_name.or_else(|| one_of(parameter.get("description")?.as_str()?))
    }

    /// Returns the minimum of an integer parameter, 1 if none is stated; `None` for other
    /// parameters.
    fn lowest_integer(&self, parameter: &'a Value) -> Option<i64> {
        // OpenAPI 2 has the type in the parameter itself.
        let schema = parameter
            .get("schema")
            .map_or(parameter, |one| self.resolved(one));
        let is_integer = schema.get("type").and_then(Value::as_str) == Some("integer");
        let least = schema.get("minimum").and_then(Value::as_i64);
        is_integer.then(|| least.unwrap_or(1))
    }

    /// Returns the example of a response, or of its schema.
    fn response_example(&self, response: &'a Value) -> Option<&'a Value> {
        let media = response.get("content").and_then(Value::as_object);
        let media = media.and_then(|media| {
            let json = media.iter().find(|(kind, _)| kind.contains("json"));
            Some(json.or_else(|| media.iter().next())?.1)
        });
        // OpenAPI 2 has the examples of a response by media type.
        let old = response.get("examples").and_then(Value::as_object);
        let holder = media.unwrap_or(response);
        let present = |value: &&Value| !value.is_null();
        let named = holder.get("examples").and_then(Value::as_object);
        let of_schema = holder
            .get("schema")
            .and_then(|schema| self.resolved(schema).get("example"));
        holder
            .get("example")
            .filter(present)
            .or_else(|| self.resolved(named?.values().next()?).get("value"))
            .or_else(|| old?.values().next())
            .or(of_schema)
            .filter(present)
    }

    fn is_json(&self, operation: &Value, response: &Value) -> bool {
        let media = response.get("content").and_then(Value::as_object);
        let kinds = media.map(|media| media.keys().cloned().collect::<Vec<_>>());
        let produces = [operation, self.document]
            .into_iter()
            .find_map(|holder| holder.get("produces")?.as_array());
        let old = produces.map(|list| list.iter().filter_map(as_text).collect());
        let kinds: Vec<String> = kinds.or(old).unwrap_or_default();
        !kinds.is_empty() && kinds.iter().all(|kind| kind.contains("json"))
    }
}

/// Returns the described success responses, by status.
fn successes(responses: Option<&Map<String, Value>>) -> Vec<(u16, &Value)> {
    let numbered = responses.into_iter().flatten();
    let numbered = numbered.filter_map(|(status, value)| Some((status.parse().ok()?, value)));
    let mut found: Vec<(u16, &Value)> = numbered
        .filter(|(status, _)| (200..300).contains(status))
        .collect();
    found.sort_by_key(|(status, _)| *status);
    found
}

/// Returns an example's fields, and those of the first object in each of its lists.
fn fields(example: &Value) -> Map<String, Value> {
    match example {
        Value::Object(object) => {
            let mut all = Map::new();
            for value in object.values() {
                all.extend(fields(value));
            }
            all.extend(object.clone());
            all
        }
        Value::Array(list) => list.first().map(fields).unwrap_or_default(),
        _ => Map::new(),
    }
}

/// Returns the first of "One of a, b, c".
fn one_of(description: &str) -> Option<String> {
    let lower = description.to_lowercase();
    let at = lower.find("one of ")? + "one of ".len();
    let word: String = lower[at..]
        .chars()
        .skip_while(|c| !c.is_alphanumeric())
        .take_while(|c| c.is_alphanumeric() || matches!(c, '-' | '_'))
        .collect();
    (!word.is_empty()).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::read;
    use crate::requests::{Described, Operation};

    const DESCRIPTION: &str = r##"
openapi: 3.0.3
servers: [{ url: "https://example.org/v2/" }]
paths:
  /cities/{id}:
    parameters: [{ $ref: "#/components/parameters/Id" }]
    get:
      parameters:
        - { name: language, in: query, required: true, description: "One of cs, de." }
        - { name: page, in: query, schema: { default: 1 } }
        - { name: X-Unit, in: header, required: true, schema: { enum: [km, mi] } }
        - { name: tag, in: query }
      responses:
        "404": { description: none }
        "200":
          content: { application/json: { example: { name: "Plzeň", zip: "301 00" } } }
    delete: { responses: {} }
  /cities:
    get:
      parameters: [{ name: zip, in: query, required: true }]
      responses:
        "200":
          content:
            application/json: { schema: { $ref: "#/components/schemas/Cities" } }
  /shops/{shop}:
    get:
      parameters: [{ name: shop, in: path, required: true, schema: { type: integer } }]
      responses: {}
  /secret:
    get: { parameters: [{ name: key, in: query, required: true }], responses: {} }
components:
  parameters:
    Id: { name: id, in: path, required: true, example: 7 }
  schemas:
    Cities: { example: { cities: [{ zip: "301 00" }] } }
"##;

    #[test]
    fn requests_come_from_examples() {
        let described = read(DESCRIPTION, None).unwrap();
        let city = Operation {
            name: "GET /cities/{id}".to_owned(),
            method: "GET".to_owned(),
            weight: 1,
            body: Vec::new(),
            path: "/v2/cities/7?language=cs&page=1".to_owned(),
            headers: Vec::from([("X-Unit".to_owned(), "km".to_owned())]),
            statuses: vec![200],
            is_json: true,
            keys: vec!["name".to_owned(), "zip".to_owned()],
        };
        let cities = Operation {
            name: "GET /cities".to_owned(),
            method: "GET".to_owned(),
            weight: 1,
            body: Vec::new(),
            path: "/v2/cities?zip=301%2000".to_owned(),
            headers: Vec::new(),
            statuses: vec![200],
            is_json: true,
            keys: vec!["cities".to_owned()],
        };
        let shop = Operation {
            name: "GET /shops/{shop}".to_owned(),
            method: "GET".to_owned(),
            weight: 1,
            path: "/v2/shops/1".to_owned(),
            ..Operation::default()
        };
        assert_eq!(
            described,
            Described {
                operations: vec![city, cities, shop],
                left_out: vec![
                    "DELETE /cities/{id}: it may change data".to_owned(),
                    "GET /secret: `key` has no example".to_owned(),
                ],
                notes: vec![
                    "/v2 of its server stands before every path; --base-path / drops it".to_owned(),
                    "GET /shops/{shop}: `shop=1`, an integer without an example: write one"
                        .to_owned(),
                ],
                ..Described::default()
            }
        );
    }

    #[test]
    fn what_stands_before_paths_can_be_said() {
        let text = r#"{"servers": [{"url": "/api"}], "paths": {"/a": {"get": {}}}}"#;
        let check = |base: Option<&str>, path: &str, notes: usize| {
            let described = read(text, base).unwrap();
            assert_eq!(described.operations[0].path, path);
            assert_eq!(described.notes.len(), notes, "{:?}", described.notes);
        };
        check(None, "/api/a", 1);
        check(Some("/"), "/a", 0);
        check(Some("/v1/"), "/v1/a", 0);
    }

    #[test]
    fn what_is_no_description_is_refused() {
        let refused = |text: &str| read(text, None).unwrap_err();
        assert!(refused("{\"a\":").message().starts_with("neither JSON nor"));
        assert!(refused("{}").message().contains("no `paths`"));
    }
}
