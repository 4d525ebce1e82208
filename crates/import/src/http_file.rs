//! Converts a file of HTTP requests (`.http`, `.rest`), as editors send them, to requests: requests
//! between lines that start with `###`, variables as `@name = value` and `{{name}}`. Pure.

use std::collections::BTreeMap;

use bakeoff_base::problem::Problem;
use bakeoff_base::text::counted;

use crate::har::is_of_the_request;
use crate::requests::{Described, Operation, RequestSource, another};
use crate::target;

const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/// Reads the requests of a file. Hosts and connection headers are omitted.
///
/// # Errors
/// Says which line is not understood, or that there is no request.
pub fn read(text: &str) -> Result<Described, Problem> {
    let mut variables = BTreeMap::new();
    let mut operations: Vec<Operation> = Vec::new();
    let mut part: Vec<(usize, &str)> = Vec::new();
    let mut title = "";
    for (number, line) in (1..).zip(text.lines()) {
        if let Some(next) = line.strip_prefix("###") {
            operations.extend(operation(title, &part, &mut variables)?);
            (part, title) = (Vec::new(), next.trim());
        } else {
            part.push((number, line));
        }
    }
    operations.extend(operation(title, &part, &mut variables)?);
    if operations.is_empty() {
        return Err("no request in it".into());
    }
    let mut taken: Vec<Operation> = Vec::new();
    for mut operation in operations {
        let is_taken = |name: &str| taken.iter().any(|one| one.name == name);
        operation.name = another(operation.name, is_taken);
        taken.push(operation);
    }
    Ok(Described {
        source: RequestSource::Requests,
        operations: taken,
        ..Described::default()
    })
}

/// Returns the request of a part, if it has one.
fn operation(
    title: &str,
    part: &[(usize, &str)],
    variables: &mut BTreeMap<String, String>,
) -> Result<Option<Operation>, Problem> {
    let mut lines = part.iter().copied().peekable();
    let mut begin = None;
    for (number, line) in lines.by_ref() {
        let line = line.trim();
        if let Some((name, value)) = line.strip_prefix('@').and_then(|rest| rest.split_once('=')) {
            let value = filled(number, value.trim(), variables)?;
            variables.insert(name.trim().to_owned(), value);
        } else if !line.is_empty() && !is_comment(line) {
            begin = Some((number, filled(number, line, variables)?));
            break;
        }
    }
    let Some((number, begin)) = begin else {
        return Ok(None);
    };
    let (method, path) = request_line(number, &begin)?;
    let mut headers = Vec::new();
    for (number, line) in lines.by_ref() {
        let line = line.trim();
        if line.is_empty() {
            break;
        }
        if is_comment(line) {
            continue;
        }
        let line = filled(number, line, variables)?;
        let (name, value) = line
            .split_once(':')
            .ok_or_else(|| format!("line {number}: no colon in the header {line:?}"))?;
        let name = name.trim().to_ascii_lowercase();
        if is_of_the_request(&name) {
            headers.push((name, value.trim().to_owned()));
        }
    }
    let body: Result<Vec<String>, Problem> = lines
        .map(|(number, line)| filled(number, line, variables))
        .collect();
    let body = body?.join("\n").trim().to_owned();
    if body.starts_with("< ") || body.starts_with("<@") {
        return Err(format!(
            "line {number}: a body out of a file cannot be taken; write it below the headers"
        )
        .into());
    }
    if body.lines().any(is_about_response) {
        return Err(format!(
            "line {number}: what is done with the response cannot be taken; leave it out"
        )
        .into());
    }
    let name = match title {
        "" => format!("{method} {path}"),
        title => title.to_owned(),
    };
    Ok(Some(Operation {
        name,
        method,
        path,
        headers,
        body: body.into(),
        weight: 1,
        ..Operation::default()
    }))
}

/// Returns method and path of the first line of a request.
fn request_line(number: usize, line: &str) -> Result<(String, String), Problem> {
    let mut words = line.split_whitespace();
    let first = words.next().unwrap_or_default();
    let (method, url) = match words.next() {
        Some(url) if METHODS.contains(&first) && ends(words.next()) => (first, url),
        None if first.starts_with('/') || first.contains("://") => ("GET", first),
        _ => {
            return Err(format!(
                "line {number}: {line:?} is not a request; write \
                 `GET /path` or `GET http://host/path`"
            )
            .into());
        }
    };
    let path = target::read(url)
        .map_err(|why| format!("line {number}: {why}"))?
        .path;
    Ok((method.to_owned(), path))
}

/// Whether only the HTTP version follows the URL.
fn ends(word: Option<&str>) -> bool {
    word.is_none_or(|word| word.starts_with("HTTP/"))
}

/// Whether a line below a request says how an editor handles the response.
fn is_about_response(line: &str) -> bool {
    ["> ", ">> ", "<> "]
        .iter()
        .any(|mark| line.starts_with(mark))
}

fn is_comment(line: &str) -> bool {
    line.starts_with('#') || line.starts_with("//")
}

/// Returns the line with the values of its variables.
fn filled(
    number: usize,
    line: &str,
    variables: &BTreeMap<String, String>,
) -> Result<String, Problem> {
    let (mut text, mut rest) = (String::new(), line);
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((name, after)) = after.split_once("}}") else {
            break;
        };
        let known = variables.get(name.trim()).ok_or_else(|| {
            let count = counted(variables.len() as u64, "variable");
            format!("line {number}: {{{{{name}}}}} is none of its {count} (`@name = value`)")
        })?;
        text.push_str(before);
        text.push_str(known);
        rest = after;
    }
    text.push_str(rest);
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn requests_stand_between_marks() {
        let text = "@host = http://127.0.0.1:8080\n@item = 7\n\n\
            ### one\n# a comment\nGET {{host}}/items/{{item}}?a=b HTTP/1.1\n\
            Accept: application/json\nConnection: close\n\n\
            ###\nPOST /items\nContent-Type: application/json\n\n{\n  \"id\": {{item}}\n}\n\n\
            ###\n{{host}}/plain\n### \n\n";
        let found = read(text).unwrap().operations;
        let short: Vec<(&str, &str, &str)> = found
            .iter()
            .map(|one| (one.name.as_str(), one.method.as_str(), one.path.as_str()))
            .collect();
        let expect = [
            ("one", "GET", "/items/7?a=b"),
            ("POST /items", "POST", "/items"),
            ("GET /plain", "GET", "/plain"),
        ];
        assert_eq!(short, expect);
        assert_eq!(found[0].headers.len(), 1);
        assert_eq!(found[1].body, b"{\n  \"id\": 7\n}");
    }

    #[test]
    fn requests_of_one_name_are_numbered() {
        let found = read("GET /a\n###\nGET /a\n###\nGET /a\n")
            .unwrap()
            .operations;
        let names: Vec<&str> = found.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["GET /a", "GET /a (2)", "GET /a (3)"]);
    }

    #[test]
    fn what_is_not_understood_is_named_with_its_line() {
        for (text, expect) in [
            ("", "no request"),
            ("###\n\n###\n", "no request"),
            ("\nFETCH /a", "line 2: \"FETCH /a\" is not a request"),
            ("GET {{host}}/a", "line 1: {{host}}"),
            ("GET /a\nplain", "line 2: no colon"),
            ("POST /a\n\n< body.json", "line 1: a body out of a file"),
            ("POST /a\n\n<@ body.json", "line 1: a body out of a file"),
            (
                "GET /a\n\n> {% client.test() %}",
                "line 1: what is done with",
            ),
            ("@q = blue shoes\nGET /a?q={{q}}", "line 2: "),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.message().contains(expect), "{text:?}: {error}");
        }
    }
}
