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
    /// Where it is sent; empty if only a path is given.
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
    let mut name = part.title;
    let mut script = None;
    let mut begin = None;
    for (number, line) in lines.by_ref() {
        let line = line.trim();
        if let Some((name, value)) = line.strip_prefix('@').and_then(|rest| rest.split_once('=')) {
            variables.define(number, name.trim(), value.trim());
        } else if let (Some(title), "") = (given_name(line), name) {
            name = title;
        } else if line.starts_with("< ") {
            script = Some(number);
            begin = None;
        } else if !line.is_empty() && !is_comment(line) && !(script.is_some() && !is_begin(line)) {
            begin = Some((number, line));
            break;
        }
    }
    let Some((number, begin)) = begin else {
        return Ok(None);
    };
    let at = |why: String| format!("line {number}: {why}");
    let mut url = begin.to_owned();
    while let Some((_, line)) = lines.next_if(|(_, line)| continues_url(line)) {
        url.push_str(line.trim());
    }
    let url = variables.filled(&url).map_err(at)?;
    let (method, target) = request_line(&url).map_err(at)?;
    if let Some(script) = script {
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
    let of_type = |(name, _): &&(String, String)| name.eq_ignore_ascii_case("content-type");
    let content_type = headers.iter().find(of_type);
    let content_type = content_type.map_or("", |(_, value)| value.as_str());
    let body = body::read(lines.collect(), content_type, variables)?;
    let of_host = |(name, _): &&(String, String)| name.eq_ignore_ascii_case("host");
    let host = match target.host.as_str() {
        "" => headers.iter().find(of_host).map(|(_, host)| host.clone()),
        host => Some(host.to_owned()),
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
        host: host.unwrap_or_default(),
        has_script: body.has_script,
    }))
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

/// Whether a line below the request line goes on with its URL.
fn continues_url(line: &str) -> bool {
    let trimmed = line.trim_start();
    let is_indented = trimmed.len() < line.len();
    trimmed.starts_with(['?', '&'])
        || is_indented && trimmed.starts_with('/') && !trimmed.starts_with("//")
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
