//! The parts of a file of HTTP requests: each has one request, or none. Pure.

/// Methods that a request line can begin with.
const METHODS: [&str; 9] = [
    "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT",
];

/// Methods whose requests have a body.
const WITH_BODY: [&str; 3] = ["POST", "PUT", "PATCH"];

/// A part with its title and its lines, which have numbers.
#[derive(Debug, Default)]
pub(super) struct Part<'a> {
    /// The text behind `###`.
    pub(super) title: &'a str,
    /// The lines with their numbers, from 1 on.
    pub(super) lines: Vec<(usize, &'a str)>,
    /// The line within the body that may be another request.
    pub(super) doubtful: Option<usize>,
}

impl<'a> Part<'a> {
    /// Takes the variables that are defined below the request, for those that follow.
    pub(super) fn take_definitions(&mut self) -> Vec<(usize, &'a str, &'a str)> {
        let is_body = |line: &str| !line.trim().is_empty() && definition(line).is_none();
        let end = self.lines.iter().rposition(|(_, line)| is_body(line));
        let lines = self.lines.split_off(end.map_or(0, |end| end + 1));
        let definitions = lines.into_iter().filter_map(|(number, line)| {
            let (name, value) = definition(line)?;
            Some((number, name, value))
        });
        definitions.collect()
    }
}

/// Where a part stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Before the request line.
    Begin,
    /// Below the request line, among headers.
    Headers,
    /// Below an empty line.
    Body,
}

/// Splits a file at `###`, and where a request without a body is followed by a request line.
pub(super) fn of(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut part = Part::default();
    let (mut place, mut has_body, mut in_script) = (Place::Begin, false, false);
    for (number, line) in (1..).zip(text.lines()) {
        if let Some(title) = line.strip_prefix("###") {
            parts.push(std::mem::take(&mut part));
            part.title = title.trim_start_matches('#').trim();
            (place, has_body) = (Place::Begin, false);
            continue;
        }
        if place == Place::Begin && (in_script || line.trim_start().starts_with("< {%")) {
            in_script = !line.trim_end().ends_with("%}");
            part.lines.push((number, line));
            continue;
        }
        let begins = method(line);
        match (place, begins) {
            (Place::Headers, Some(_)) => parts.push(std::mem::take(&mut part)),
            (Place::Body, Some(_)) if has_body => {
                part.doubtful.get_or_insert(number);
            }
            (Place::Body, Some(_)) => parts.push(std::mem::take(&mut part)),
            _ => {}
        }
        let is_new = part.lines.is_empty() && place != Place::Begin;
        part.lines.push((number, line));
        let trimmed = line.trim();
        let is_begin = place == Place::Begin || is_new;
        if is_begin && begins_request(trimmed) {
            place = Place::Headers;
            has_body = begins.is_some_and(|method| WITH_BODY.contains(&method));
        } else if place == Place::Headers && trimmed.is_empty() {
            place = Place::Body;
        } else if place == Place::Headers {
            has_body |= is_content_type(trimmed);
        } else if place == Place::Body {
            has_body |= !trimmed.is_empty() && !is_comment(trimmed);
        }
    }
    parts.push(part);
    parts
}

/// Returns the method if a line is a request line: a method and something like a URL.
pub(super) fn method(line: &str) -> Option<&'static str> {
    let (first, rest) = line.split_once([' ', '\t'])?;
    let is_method = |method: &&&str| method.eq_ignore_ascii_case(first);
    let method = METHODS.iter().find(is_method)?;
    let url = rest.trim_start().to_ascii_lowercase();
    let is_url = ["/", "http://", "https://", "{{"];
    is_url
        .iter()
        .any(|begin| url.starts_with(begin))
        .then_some(*method)
}

/// Whether a line above a request begins it: everything but comments, variables and scripts.
fn begins_request(line: &str) -> bool {
    !line.is_empty() && !is_comment(line) && !line.starts_with('@') && !line.starts_with("< ")
}

fn is_content_type(line: &str) -> bool {
    let name = line.split(':').next().unwrap_or_default();
    name.trim().eq_ignore_ascii_case("content-type")
}

/// Returns name and value of a line that defines a variable: `@name = value`.
pub(super) fn definition(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.trim().strip_prefix('@')?.split_once('=')?;
    Some((name.trim(), value.trim()))
}

pub(super) fn is_comment(line: &str) -> bool {
    line.starts_with('#') || line.starts_with("//")
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn parts_begin_at_marks_and_at_request_lines() {
        let check = |text: &str, expect: &[&[usize]]| {
            let parts = of(text);
            let lines = parts.iter().filter(|part| !part.lines.is_empty());
            let lines: Vec<Vec<usize>> = lines
                .map(|part| part.lines.iter().map(|(number, _)| *number).collect())
                .collect();
            assert_eq!(lines, expect, "{text}");
        };
        check("GET /a\n\nGET /b", &[&[1, 2], &[3]]);
        check("GET http://h/a\nGET http://h/b\n", &[&[1], &[2]]);
        check(
            "GET /a\nA: b\n\n# c\n\nget {{h}}/b\n\nGET /c",
            &[&[1, 2, 3, 4, 5], &[6, 7], &[8]],
        );
        check("@a = b\nGET /a\n### c\nGET /b", &[&[1, 2], &[4]]);
        check("POST /a\n\nGET /b", &[&[1, 2, 3]]);
        check("GET /a\n\nGet well soon", &[&[1, 2, 3]]);
        assert_eq!(of("POST /a\n\nx\nGET /b")[0].doubtful, Some(4));
    }
}
