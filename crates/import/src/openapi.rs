//! Converts an OpenAPI description (2 and 3) to requests, using its own examples. Pure.

use bakeoff_base::percent;
use bakeoff_base::problem::Problem;
use serde_json::{Map, Value};

use crate::headers;
use crate::requests::{Described, Operation, in_short};
use crate::scalar::as_text;

mod security;

/// Why operations are left out.
const NO_BODY: &str = "it has no body to check";
const CHANGES: &str = "it may change data";

/// Maximum length of a chain of references.
const REFERENCES_MAX: usize = 8;

/// The operations of a description that are taken.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selected {
    /// Replaces the description's own prefix of every path.
    pub base: Option<String>,
    /// Take operations that may change data, too.
    pub writes: bool,
    /// Operations that are taken though their methods may change data: `POST /search`.
    pub named: Vec<String>,
}

/// Reads a description, JSON or YAML.
///
/// # Errors
/// The text is neither, is not an OpenAPI description, or has no operation that is named.
pub fn read(text: &str, selected: &Selected) -> Result<Described, Problem> {
    let base = selected.base.as_deref();
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
    let mut named: Vec<&String> = selected.named.iter().collect();
    let mut guessed = Grouped::default();
    let mut needed = Grouped::default();
    for (path, item) in paths {
        let item = reader.resolved(item);
        for method in ["get", "head", "post", "put", "patch", "delete"] {
            let Some(operation) = item.get(method) else {
                continue;
            };
            let name = format!("{} {path}", method.to_uppercase());
            let is_named = named.iter().any(|one| **one == name);
            named.retain(|one| **one != name);
            let is_read = method == "get" || is_named || selected.writes && method != "head";
            if !is_read {
                let is_head = method == "head";
                let why = if is_head { NO_BODY } else { CHANGES };
                described.left_out.push(format!("{name}: {why}"));
                continue;
            }
            let mut of_operation = Vec::new();
            let place = Place { method, path, item };
            match reader.operation(&place, operation, &mut of_operation) {
                Ok(request) => {
                    let credentials = security::needed(&document, operation, &request.headers);
                    needed.extend(credentials, &name);
                    guessed.extend(of_operation, &name);
                    described.operations.push(request);
                }
                Err(why) => described.left_out.push(format!("{name}: {why}")),
            }
        }
    }
    if let Some(named) = named.first() {
        return Err(format!("it has no operation `{named}`").into());
    }
    let guessed = guessed.notes(|parameter, names| {
        format!("{names}: `{parameter}`, an integer without an example: write one")
    });
    let needed = needed.notes(|credential, names| {
        format!(
            "{names}: the description asks for {credential}, which is not sent; -H 'Name: value' \
             of a duel sends it"
        )
    });
    described.notes.extend(guessed.chain(needed));
    Ok(described)
}

/// Things that several operations have in common, each with their names.
#[derive(Default)]
struct Grouped(Vec<(String, Vec<String>)>);

impl Grouped {
    fn extend(&mut self, things: Vec<String>, name: &str) {
        for thing in things {
            match self.0.iter_mut().find(|(one, _)| *one == thing) {
                Some((_, names)) => names.push(name.to_owned()),
                None => self.0.push((thing, vec![name.to_owned()])),
            }
        }
    }

    /// Returns a sentence for each, made of it and of the names in short.
    fn notes(self, sentence: impl Fn(&str, &str) -> String) -> impl Iterator<Item = String> {
        let all = self.0.into_iter();
        all.map(move |(thing, names)| sentence(&thing, &in_short(&names)))
    }
}

/// An operation's method, its path, and what the path has for all its methods.
struct Place<'a> {
    method: &'a str,
    path: &'a str,
    item: &'a Value,
}

/// Returns the prefix of every path: the path of the first server in OpenAPI 3, `basePath` in 2.
fn base_path(document: &Value) -> String {
    let url = document.pointer("/servers/0/url").and_then(Value::as_str);
    let variables = document.pointer("/servers/0/variables");
    let variables = variables.and_then(Value::as_object);
    let mut url = url.map(str::to_owned);
    for (name, variable) in variables.into_iter().flatten() {
        let first = || variable.get("enum")?.as_array()?.first();
        let value = variable.get("default").or_else(first).and_then(as_text);
        url = url.map(|url| match value {
            Some(value) => url.replace(&format!("{{{name}}}"), &value),
            None => url,
        });
    }
    let base = match url.as_deref() {
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
        place: &Place<'a>,
        operation: &'a Value,
        guessed: &mut Vec<String>,
    ) -> Result<Operation, Problem> {
        let method = place.method.to_uppercase();
        let responses = operation.get("responses").and_then(Value::as_object);
        let successes = successes(responses);
        let response = successes.first().map(|(_, value)| self.resolved(value));
        let example = response.and_then(|response| self.response_example(response));
        let fields = fields(example.unwrap_or(&Value::Null));
        let mut path = percent::request_target(place.path);
        let mut query = Vec::new();
        let mut headers = Vec::new();
        for parameter in self.parameters(place.item, operation) {
            let text = |key: &str| parameter.get(key).and_then(Value::as_str);
            let (name, place) = (text("name").unwrap_or_default(), text("in"));
            // OpenAPI 2 has the body among the parameters.
            if matches!(place, Some("body" | "formData")) {
                continue;
            }
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
                    let name = percent::request_target(name);
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
        if let Some(name) = undescribed(&path) {
            return Err(format!("`{name}` is not described").into());
        }
        let body = match place.method {
            "get" | "head" => Vec::new(),
            _ => self.typed_body(place.item, operation, &mut headers)?,
        };
        let query = match query.as_slice() {
            [] => String::new(),
            list => format!("?{}", list.join("&")),
        };
        let is_json = response.is_some_and(|response| self.is_json(operation, response));
        Ok(Operation {
            name: format!("{method} {}", place.path),
            method,
            path: format!("{}{path}{query}", self.base),
            headers,
            body,
            weight: 1,
            statuses: successes.iter().map(|(status, _)| *status).collect(),
            is_json,
            keys: match example {
                Some(Value::Object(example)) if is_json => example.keys().cloned().collect(),
                _ => Vec::new(),
            },
            ..Operation::default()
        })
    }

    /// Returns the parameters of this operation, and those of the whole path that it does not have
    /// itself.
    fn parameters(&self, item: &'a Value, operation: &'a Value) -> Vec<&'a Value> {
        let mut all: Vec<&Value> = Vec::new();
        for holder in [item, operation] {
            let own = holder.get("parameters").and_then(Value::as_array);
            for parameter in own.into_iter().flatten() {
                let parameter = self.resolved(parameter);
                let key = |one: &'a Value| (one.get("name"), one.get("in"));
                match all.iter_mut().find(|one| key(one) == key(parameter)) {
                    Some(one) => *one = parameter,
                    None => all.push(parameter),
                }
            }
        }
        all
    }

    /// Returns the body, and adds its type to the headers if that is known.
    fn typed_body(
        &self,
        item: &'a Value,
        operation: &'a Value,
        headers: &mut Vec<(String, String)>,
    ) -> Result<Vec<u8>, Problem> {
        let Some((kind, body)) = self.body(item, operation)? else {
            return Ok(Vec::new());
        };
        if !headers::has(headers, "content-type") {
            headers.push(("Content-Type".to_owned(), kind));
        }
        Ok(body)
    }

    /// Returns type and bytes of the body by the description's examples; `None` without a body.
    fn body(
        &self,
        item: &'a Value,
        operation: &'a Value,
    ) -> Result<Option<(String, Vec<u8>)>, Problem> {
        if let Some(body) = operation.get("requestBody") {
            let body = self.resolved(body);
            let media = body.get("content").and_then(Value::as_object);
            let kinds = media.into_iter().flatten();
            let kinds = kinds.filter_map(|(kind, holder)| {
                let text = self.written(kind, self.example(holder)?)?;
                Some((kind.clone(), text.into_bytes()))
            });
            let is_json = |(kind, _): &(String, Vec<u8>)| kind.contains("json");
            let kinds: Vec<(String, Vec<u8>)> = kinds.collect();
            let best = kinds.iter().position(is_json).unwrap_or_default();
            let found = kinds.into_iter().nth(best);
            let is_required = body.get("required") == Some(&Value::Bool(true));
            return match found {
                None if is_required || media.is_some_and(|media| !media.is_empty()) => {
                    Err("its body has no example".into())
                }
                found => Ok(found),
            };
        }
        let of_body = |one: &&Value| one.get("in").and_then(Value::as_str) == Some("body");
        let Some(parameter) = self.parameters(item, operation).into_iter().find(of_body) else {
            return Ok(None);
        };
        let example = self.example(parameter).ok_or("its body has no example")?;
        Ok(Some((
            "application/json".to_owned(),
            example.to_string().into_bytes(),
        )))
    }

    /// Returns an example as a body of this type.
    fn written(&self, kind: &str, example: Value) -> Option<String> {
        if kind.contains("json") {
            return Some(example.to_string());
        }
        match example {
            Value::Object(fields) if kind == "application/x-www-form-urlencoded" => {
                let fields = fields.iter();
                let pairs = fields.map(|(name, value)| Some((name, as_text(value)?)));
                let pairs: Vec<_> = pairs.collect::<Option<_>>()?;
                let mut form = url::form_urlencoded::Serializer::new(String::new());
                Some(form.extend_pairs(pairs).finish())
            }
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the example of a body, or one made of the examples in its schema.
    fn example(&self, holder: &'a Value) -> Option<Value> {
        let given = self.response_example(holder).cloned();
        given.or_else(|| self.sample(holder.get("schema")?, 0))
    }

    /// Returns a value that a schema describes, if it says enough.
    fn sample(&self, schema: &'a Value, depth: usize) -> Option<Value> {
        let schema = self.resolved(schema);
        let first = |key: &str| schema.get(key)?.as_array()?.first();
        let given = schema.get("example").or_else(|| first("examples"));
        let given = given
            .or_else(|| schema.get("default"))
            .or_else(|| first("enum"));
        if given.is_some() || depth > REFERENCES_MAX {
            return given.cloned();
        }
        if let Some(items) = schema.get("items") {
            return Some(Value::Array(vec![self.sample(items, depth + 1)?]));
        }
        let properties = schema.get("properties")?.as_object()?;
        let required = schema.get("required").and_then(Value::as_array);
        let mut object = Map::new();
        for (name, property) in properties {
            let is_required = required.is_some_and(|names| names.contains(&name.as_str().into()));
            match self.sample(property, depth + 1) {
                Some(value) => drop(object.insert(name.clone(), value)),
                None if is_required => return None,
                None => {}
            }
        }
        (!object.is_empty()).then_some(Value::Object(object))
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

/// Returns a parameter that is still in a path.
fn undescribed(path: &str) -> Option<&str> {
    let (_, rest) = path.split_once('{')?;
    rest.split('}').next()
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
    use super::{Selected, read};
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
        let described = read(DESCRIPTION, &Selected::default()).unwrap();
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
            ..Operation::default()
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
            ..Operation::default()
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
            let selected = Selected {
                base: base.map(str::to_owned),
                ..Selected::default()
            };
            let described = read(text, &selected).unwrap();
            assert_eq!(described.operations[0].path, path);
            assert_eq!(described.notes.len(), notes, "{:?}", described.notes);
        };
        check(None, "/api/a", 1);
        check(Some("/"), "/a", 0);
        check(Some("/v1/"), "/v1/a", 0);
    }

    fn requests(text: &str, selected: &Selected) -> (Vec<String>, Described) {
        let described = read(text, selected).unwrap();
        let all = described.operations.iter().map(|one| {
            let body = String::from_utf8_lossy(&one.body);
            format!("{} {} {body}", one.method, one.path)
        });
        (all.collect(), described)
    }

    #[test]
    fn small_faults_of_descriptions_make_no_wrong_requests() {
        let check = |text: &str, taken: &[&str], left_out: &[&str]| {
            let (found, described) = requests(text, &Selected::default());
            let found: Vec<&str> = found.iter().map(|one| one.trim_end()).collect();
            assert_eq!(found, taken, "{text}");
            assert_eq!(described.left_out, left_out, "{text}");
        };
        check(
            r#"{"servers": [{"url": "/{version}/api", "variables": {"version": {"default": "v1"}}}],
                "paths": {"/a": {"get": {}}}}"#,
            &["GET /v1/api/a"],
            &[],
        );
        check(
            r#"{"paths": {"/a/{id}/x": {"get": {}}}}"#,
            &[],
            &["GET /a/{id}/x: `id` is not described"],
        );
        check(
            r#"{"paths": {"/a/{id}": {
                "parameters": [{"name": "id", "in": "path", "example": 1},
                               {"name": "q", "in": "query", "example": "base"}],
                "get": {"parameters": [{"name": "id", "in": "path", "example": 2},
                                       {"name": "q", "in": "query", "example": "own"}]}}}}"#,
            &["GET /a/2?q=own"],
            &[],
        );
        check(r#"{"paths": {"/a b": {"get": {}}}}"#, &["GET /a%20b"], &[]);
    }

    #[test]
    fn operations_that_read_by_post_are_taken_by_name() {
        let text = r##"{"paths": {
            "/search": {"post": {"requestBody": {"content": {"application/json": {
                "example": {"q": "a"}}}}}},
            "/made": {"post": {"requestBody": {"content": {"application/json": {"schema": {
                "required": ["a"], "properties": {"a": {"example": 1}, "b": {}}}}}}}},
            "/form": {"put": {"requestBody": {"content": {"application/x-www-form-urlencoded": {
                "example": {"a": "b c"}}}}}},
            "/bare": {"post": {"requestBody": {"content": {"application/json": {}}}}},
            "/items": {"delete": {}}}}"##;
        let named = Selected {
            named: vec!["POST /search".to_owned()],
            ..Selected::default()
        };
        let (found, described) = requests(text, &named);
        assert_eq!(found, [r#"POST /search {"q":"a"}"#]);
        assert_eq!(described.left_out.len(), 4);
        assert_eq!(described.operations[0].headers[0].1, "application/json");
        let writes = Selected {
            writes: true,
            ..Selected::default()
        };
        let (found, described) = requests(text, &writes);
        let expect = [
            r#"POST /search {"q":"a"}"#,
            r#"POST /made {"a":1}"#,
            "PUT /form a=b+c",
            "DELETE /items ",
        ];
        assert_eq!(found, expect);
        assert_eq!(described.left_out, ["POST /bare: its body has no example"]);
        let other = Selected {
            named: vec!["POST /x".to_owned()],
            ..Selected::default()
        };
        let error = read(text, &other).unwrap_err();
        assert_eq!(error.message(), "it has no operation `POST /x`");
    }

    #[test]
    fn what_operations_have_in_common_is_said_once() {
        let id = r#""parameters": [{"name": "id", "in": "path", "schema": {"type": "integer"}}]"#;
        let paths = (0..50).map(|n| format!(r#""/x{n}/{{id}}": {{"get": {{{id}}}}}"#));
        let paths: Vec<String> = paths.collect();
        let text = format!(
            r#"{{"security": [{{"key": []}}], "paths": {{{}}}, "components": {{"securitySchemes":
                {{"key": {{"type": "apiKey", "in": "header", "name": "X-Key"}}}}}}}}"#,
            paths.join(", ")
        );
        let text = text.replace(r#""in": "path","#, r#""in": "path", "required": true,"#);
        let (_, described) = requests(&text, &Selected::default());
        assert_eq!(
            described.notes,
            [
                "GET /x0/{id} and 49 more: `id=1`, an integer without an example: write one",
                "GET /x0/{id} and 49 more: the description asks for the header `X-Key`, which is \
                 not sent; -H 'Name: value' of a duel sends it",
            ]
        );
    }

    #[test]
    fn what_is_no_description_is_refused() {
        let refused = |text: &str| read(text, &Selected::default()).unwrap_err();
        assert!(refused("{\"a\":").message().starts_with("neither JSON nor"));
        assert!(refused("{}").message().contains("no `paths`"));
    }
}
