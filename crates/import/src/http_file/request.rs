//! One request of a file. Pure but for files in bodies.

use super::body;
use super::parts::{self, Part, is_comment};
use super::variables::Variables;
use crate::requests::Operation;
use crate::target;

/// A request with what decides whether it is taken.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) operation: Operation,
    /// The line of its method and URL.
    pub(super) line: usize,
    /// Host to which it is sent; empty if only a path is given.
    pub(super) host: String,
    /// Whether the file says what is done with the response.
    pub(super) has_script: bool,
}

impl Found {
    /// Returns the request for lists of what is left out, without its query.
    pub(super) fn shown(&self) -> String {
        let path = self.operation.path.split('?').next().unwrap_or_default();
        format!("line {}: {} {path}", self.line, self.operation.method)
    }
}

/// Returns the request of a part, if it has one.
///
/// # Errors
/// Line and reason if it cannot be taken.
pub(super) fn read(
    part: &Part<'_>,
    variables: &mut Variables<'_>,
) -> Result<Option<Found>, String> {
    let mut lines = part.lines.iter().copied().peekable();
    let Some(begin) = begin(part.title, &mut lines, variables) else {
        return Ok(None);
    };
    let (number, mut name) = (begin.number, begin.name);
    let at = |why: String| format!("line {number}: {why}");
    let mut url = begin.line.to_owned();
    while let Some((_, line)) = lines.next_if(|(_, line)| continues_url(&url, line)) {
        url.push_str(line.trim());
    }
    let url = without_unknown_host(&url, variables);
    let url = variables.filled(&url).map_err(at)?;
    let (method, target) = request_line(&url).map_err(at)?;
    if let Some(script) = begin.script {
        return Err(format!(
            "line {script}: a script runs before the request of line {number}"
        ));
    }
    if let Some(line) = part.doubtful {
        return Err(format!(
            "line {line} looks like a request; write `###` before it"
        ));
    }
    let mut headers = Vec::new();
    for (number, line) in lines.by_ref() {
        let line = line.trim();
        if line.is_empty() {
            break;
        }
        if is_comment(line) {
            name = match given_name(line) {
                Some(title) if name.is_empty() => title,
                _ => name,
            };
            continue;
        }
        headers.push(header(line, variables).map_err(|why| format!("line {number}: {why}"))?);
    }
    let body = body::read(lines.collect(), value(&headers, "content-type"), variables)?;
    let host = match target.host.is_empty() {
        true => value(&headers, "host").to_owned(),
        false => target.host,
    };
    if target.user.is_some() {
        return Err(at(
            "its URL has a user; write the header Authorization".to_owned()
        ));
    }
    let path = target.path;
    let name = match name {
        "" => format!("{method} {path}"),
        title => title.to_owned(),
    };
    Ok(Some(Found {
        operation: Operation {
            name,
            method,
            path,
            headers,
            body: body.bytes,
            weight: 1,
            ..Operation::default()
        },
        line: number,
        host,
        has_script: body.has_script,
    }))
}

/// The first line of a request, and what stands above it.
struct Begin<'a> {
    number: usize,
    line: &'a str,
    /// The name of the request; empty without one.
    name: &'a str,
    /// The line of a script that runs before it.
    script: Option<usize>,
}

/// Reads up to the first line of a request, and sets the variables that are defined above it.
fn begin<'a>(
    title: &'a str,
    lines: &mut impl Iterator<Item = (usize, &'a str)>,
    variables: &mut Variables<'_>,
) -> Option<Begin<'a>> {
    let mut name = title;
    let mut script = None;
    for (number, line) in lines {
        let line = line.trim();
        if let Some((name, value)) = parts::definition(line) {
            variables.define(number, name, value);
        } else if let (Some(title), "") = (given_name(line), name) {
            name = title;
        } else if line.starts_with("< ") {
            script = Some(number);
        } else if !line.is_empty() && !is_comment(line) && (script.is_none() || is_begin(line)) {
            return Some(Begin {
                number,
                line,
                name,
                script,
            });
        }
    }
    None
}

/// Whether a line below a script begins the request.
fn is_begin(line: &str) -> bool {
    parts::method(line).is_some()
}

/// Returns the name that a comment gives the request: `# @name login`.
fn given_name(line: &str) -> Option<&str> {
    let comment = line.trim_start_matches(['#', '/']);
    let name = comment.trim_start().strip_prefix("@name")?;
    is_comment(line).then(|| name.trim_start_matches([' ', '=']).trim())
}

/// Leaves the host of a request line out if it is a variable without a value: what is sent is
/// directed to where contenders listen in any case.
fn without_unknown_host(line: &str, variables: &mut Variables<'_>) -> String {
    let method = parts::method(line).map_or(0, str::len);
    let url = line[method..].trim_start();
    let begin = line.len() - url.len();
    let scheme = ["http://", "https://"];
    let scheme = scheme.into_iter().find(|scheme| url.starts_with(scheme));
    let mut rest = &url[scheme.map_or(0, str::len)..];
    let mut unknown = None;
    loop {
        let variable = rest
            .strip_prefix("{{")
            .and_then(|rest| rest.split_once("}}"));
        if let Some((name, after)) = variable {
            unknown = unknown.or((!variables.has(name.trim())).then(|| name.trim()));
            rest = after;
        } else if rest.starts_with(|c: char| c.is_ascii_alphanumeric() || "-._:".contains(c)) {
            rest = &rest[1..];
        } else {
            break;
        }
    }
    match unknown {
        Some(name) if rest.starts_with('/') => {
            variables.is_host(name);
            format!("{}{rest}", &line[..begin])
        }
        _ => line.to_owned(),
    }
}

/// Whether a line below the request line goes on with its URL.
fn continues_url(url: &str, line: &str) -> bool {
    let trimmed = line.trim_start();
    let is_indented = trimmed.len() < line.len();
    trimmed.starts_with(['?', '&'])
        || !trimmed.is_empty() && url.ends_with(['?', '&'])
        || is_indented && trimmed.starts_with('/') && !trimmed.starts_with("//")
}

/// Returns the value of the first header of this name; empty without one.
fn value<'a>(headers: &'a [(String, String)], name: &str) -> &'a str {
    let mut headers = headers.iter();
    let found = headers.find(|(one, _)| one.eq_ignore_ascii_case(name));
    found.map_or("", |(_, value)| value)
}

fn header(line: &str, variables: &mut Variables<'_>) -> Result<(String, String), String> {
    let line = variables.filled(line)?;
    let (name, value) = line
        .split_once(':')
        .ok_or("no colon in the header; an empty line stands before a body")?;
    let name = name.trim();
    if name.is_empty() || name.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Err("a name of a header has blanks in it".to_owned());
    }
    Ok((name.to_owned(), value.trim().to_owned()))
}

/// Returns method and target of the first line of a request.
fn request_line(line: &str) -> Result<(String, target::Target), String> {
    let line = match line.rsplit_once(char::is_whitespace) {
        Some((before, version)) if version.starts_with("HTTP/") => before.trim_end(),
        _ => line,
    };
    let unknown = "this is not a request; write `GET /path` or `GET http://host/path`";
    let (method, url) = match parts::method(line) {
        Some("TRACE" | "CONNECT") => return Err("bakeoff sends no such method".to_owned()),
        Some(method) => (method, line[method.len()..].trim()),
        None if line.starts_with('/') || line.contains("://") && !line.contains(' ') => {
            ("GET", line)
        }
        None => return Err(unknown.to_owned()),
    };
    Ok((method.to_owned(), target::read(url)?))
}
