//! Replaces credentials by references to variables of the environment, `${env:NAME}`.

use std::collections::{BTreeMap, HashMap};

use bakeoff_base::percent;
use serde_json::Value;

use crate::credentials::{REFERENCE, is_harmless, is_secret, is_token};

/// Values of one name that have a variable each. All further ones share the first variable.
const VALUES_MAX: usize = 8;

/// Headers of clients that say nothing about who asks, though they do not decide the response.
const OF_CLIENTS: [&str; 22] = [
    "accept-encoding",
    "cache-control",
    "dnt",
    "forwarded",
    "grpc-accept-encoding",
    "grpc-encoding",
    "host",
    "if-modified-since",
    "if-none-match",
    "if-range",
    "origin",
    "pragma",
    "priority",
    "referer",
    "te",
    "upgrade-insecure-requests",
    "user-agent",
    "via",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-real-ip",
];

/// A variable that stands for a credential.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// The name.
    pub name: String,
    /// The name of the header, parameter or field that has the credential.
    pub of: String,
    /// How many different values it stands for.
    pub values: usize,
}

/// The credentials that were replaced so far.
#[derive(Debug)]
pub(super) struct Redaction {
    keeps_all: bool,
    harmless: Vec<String>,
    /// Variables by the name of the first one, each with its values.
    variables: BTreeMap<String, Values>,
}

#[derive(Debug, Default)]
struct Values {
    of: String,
    /// The number of the variable of each value.
    numbers: HashMap<String, usize>,
}

impl Redaction {
    pub(super) fn new(keeps_all: bool, harmless: &[String]) -> Self {
        let harmless = harmless.iter().map(|name| name.to_ascii_lowercase());
        Self {
            keeps_all,
            harmless: harmless.collect(),
            variables: BTreeMap::new(),
        }
    }

    /// Returns the variables, by name.
    pub(super) fn variables(&self) -> Vec<Variable> {
        let variables = self.variables.iter().flat_map(|(name, values)| {
            let count = values.numbers.values().max().copied().unwrap_or_default();
            (1..=count).map(|number| Variable {
                name: numbered(name, number),
                of: values.of.clone(),
                values: values
                    .numbers
                    .values()
                    .filter(|one| **one == number)
                    .count(),
            })
        });
        variables.collect()
    }

    /// Returns the reference that stands for a value of this header, parameter or field.
    fn reference(&mut self, of: &str, value: &str) -> String {
        let letters = of.chars().map(|c| match c.is_ascii_alphanumeric() {
            true => c.to_ascii_uppercase(),
            false => '_',
        });
        let name: String = letters.collect();
        let name = match name.trim_matches('_') {
            "" => "TOKEN".to_owned(),
            name if name.starts_with(|c: char| c.is_ascii_digit()) => format!("_{name}"),
            name => name.to_owned(),
        };
        let values = self.variables.entry(name.clone()).or_default();
        if values.of.is_empty() {
            of.clone_into(&mut values.of);
        }
        let next = match values.numbers.len() {
            known if known < VALUES_MAX => known + 1,
            _ => 1,
        };
        let number = *values.numbers.entry(value.to_owned()).or_insert(next);
        format!("{REFERENCE}{}}}", numbered(&name, number))
    }

    fn is_secret(&self, name: &str, value: &str) -> bool {
        !self.is_kept(name) && (is_token(value) || is_secret(name) && !is_state(name, value))
    }

    fn is_kept(&self, name: &str) -> bool {
        self.keeps_all || self.harmless.contains(&name.to_ascii_lowercase())
    }

    /// Returns the value of a header.
    pub(super) fn header(&mut self, name: &str, value: &str) -> String {
        let lower = name.to_ascii_lowercase();
        let is_known = is_harmless(&lower)
            || lower.starts_with("sec-")
            || OF_CLIENTS.contains(&lower.as_str());
        if lower == "referer" && !self.is_kept(name) {
            return self.target(value);
        }
        if is_known || self.is_kept(name) {
            return literal(value);
        }
        // The scheme says how the credential is made.
        match value.split_once(' ') {
            Some((scheme @ ("Bearer" | "Basic" | "Token"), credential)) => {
                format!("{scheme} {}", self.reference(name, credential))
            }
            _ => self.reference(name, value),
        }
    }

    /// Returns path and query.
    pub(super) fn target(&mut self, target: &str) -> String {
        let (path, query) = match target.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (target, None),
        };
        let segments = path.split('/').map(|segment| {
            let mut parts = segment.split(';');
            let first = parts.next().unwrap_or_default();
            let first = match is_token(first) && !self.keeps_all {
                true => self.reference("token", first),
                false => literal(first),
            };
            let parameters = parts.map(|pair| self.pair(pair));
            std::iter::once(first)
                .chain(parameters)
                .collect::<Vec<_>>()
                .join(";")
        });
        let path = segments.collect::<Vec<_>>().join("/");
        match query {
            Some(query) => format!("{path}?{}", self.pairs(query)),
            None => path,
        }
    }

    /// Returns pairs of a query or a form.
    fn pairs(&mut self, text: &str) -> String {
        let pairs = text.split('&').map(|pair| self.pair(pair));
        pairs.collect::<Vec<_>>().join("&")
    }

    fn pair(&mut self, pair: &str) -> String {
        let Some((raw_name, raw_value)) = pair.split_once('=') else {
            return literal(pair);
        };
        let (name, value) = (plain(raw_name), plain(raw_value));
        // A URL in a parameter may have credentials, too.
        let is_nested = value.contains('=') && value.contains(['?', '&', '#']);
        let mut nested = value.split(['?', '&', '#']).filter(|_| is_nested);
        let holds_secret = nested.any(|pair| {
            let pair = pair.split_once('=');
            pair.is_some_and(|(name, value)| self.is_secret(name, value))
        });
        let is_secret = self.is_secret(&name, &value) || holds_secret && !self.is_kept(&name);
        match is_secret && !raw_value.is_empty() {
            true => format!("{}={}", literal(raw_name), self.reference(&name, raw_value)),
            false => literal(pair),
        }
    }

    /// Returns a body that should be text.
    ///
    /// # Errors
    /// It holds a credential that cannot be replaced; the reason, for a list.
    pub(super) fn body(&mut self, body: &[u8], content_type: &str) -> Result<Vec<u8>, String> {
        if self.keeps_all || body.is_empty() {
            return Ok(body.to_vec());
        }
        let Ok(text) = std::str::from_utf8(body) else {
            return self.binary(body);
        };
        if serde_json::from_str::<Value>(text).is_ok() {
            return Ok(self.json(text).into_bytes());
        }
        if content_type.starts_with("application/x-www-form-urlencoded") {
            return Ok(self.pairs(text).into_bytes());
        }
        if content_type.starts_with("multipart/") {
            return Ok(self.multipart(text).into_bytes());
        }
        let is_of_word = |c: char| c.is_ascii_alphanumeric() || "-_.~+/".contains(c);
        let mut words = text.split(|c: char| !is_of_word(c));
        let mut tags = text
            .split('<')
            .filter_map(|tag| tag.split(['>', ' ']).next());
        match tags.find(|tag| self.is_secret(tag, "")) {
            Some(tag) => Err(format!("`{tag}` in its body may be a credential")),
            None if words.any(is_token) => Err("its body may hold a token".to_owned()),
            None => Ok(literal(text).into_bytes()),
        }
    }

    /// Returns a body that is not text.
    ///
    /// # Errors
    /// It may hold a token.
    pub(super) fn binary(&self, body: &[u8]) -> Result<Vec<u8>, String> {
        let is_of_token = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.~+/=".contains(byte);
        let mut runs = body.split(|byte| !is_of_token(byte));
        match !self.keeps_all && runs.any(|run| is_token(&String::from_utf8_lossy(run))) {
            true => Err("its body may hold a token".to_owned()),
            false => Ok(body.to_vec()),
        }
    }

    /// Returns a valid JSON text, byte for byte but for the values that are replaced.
    fn json(&mut self, text: &str) -> String {
        let mut out = String::new();
        // The name of the value that follows, for each object or array around it.
        let mut names = vec![String::new()];
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let length = match first {
                '"' => string_length(rest),
                c if c.is_ascii_alphanumeric() || c == '-' => {
                    let is_of_word = |c: char| c.is_ascii_alphanumeric() || "-+.".contains(c);
                    rest.find(|c| !is_of_word(c)).unwrap_or(rest.len())
                }
                c => c.len_utf8(),
            };
            let (token, after) = rest.split_at(length);
            rest = after;
            let name = names.last().cloned().unwrap_or_default();
            let is_name = first == '"' && after.trim_start().starts_with(':');
            match first {
                '"' if is_name => {
                    if let Some(last) = names.last_mut() {
                        *last = serde_json::from_str(token).unwrap_or_default();
                    }
                    out.push_str(&literal(token));
                }
                '"' => {
                    let value: String = serde_json::from_str(token).unwrap_or_default();
                    let raw = &token[1..token.len() - 1];
                    match self.is_secret(&name, &value) && !raw.is_empty() {
                        true => out.push_str(&format!("\"{}\"", self.reference(&name, raw))),
                        false => out.push_str(&literal(token)),
                    }
                }
                '-' | '0'..='9' if self.is_secret(&name, token) => {
                    out.push_str(&self.reference(&name, token));
                }
                '{' | '[' => {
                    names.push(name);
                    out.push(first);
                }
                '}' | ']' => {
                    names.pop();
                    out.push(first);
                }
                _ => out.push_str(token),
            }
        }
        out
    }

    /// Returns the parts of a form, with the values of fields that are credentials replaced.
    fn multipart(&mut self, text: &str) -> String {
        let parts = text.split("\r\n\r\n");
        let mut out = String::new();
        let mut name: Option<String> = None;
        for (number, part) in parts.enumerate() {
            if number > 0 {
                out.push_str("\r\n\r\n");
            }
            // The value of the field before, then the headers of the next one.
            let (value, headers) = match part.find("\r\n--") {
                Some(at) => part.split_at(at),
                None => (part, ""),
            };
            match name.take() {
                Some(name) if self.is_secret(&name, value) && !value.is_empty() => {
                    out.push_str(&self.reference(&name, value));
                }
                _ => out.push_str(&literal(value)),
            }
            out.push_str(headers);
            let of_headers = if number == 0 { part } else { headers };
            let named = of_headers.rsplit("name=\"").next();
            name = named
                .filter(|_| of_headers.contains("name=\""))
                .and_then(|rest| rest.split('"').next())
                .map(str::to_owned);
        }
        out
    }
}

/// Returns the name of a variable with its number, from the second on.
fn numbered(name: &str, number: usize) -> String {
    match number {
        0 | 1 => name.to_owned(),
        number => format!("{name}_{number}"),
    }
}

/// Returns text in which nothing is a reference.
fn literal(text: &str) -> String {
    text.replace(REFERENCE, &format!("${REFERENCE}"))
}

/// Returns a part of a query without its encoding.
fn plain(raw: &str) -> String {
    let spaced = raw.replace('+', " ");
    percent::decoded(&spaced).unwrap_or(spaced)
}

/// Whether it is a state or a code of a thing, not of a login: a short word without digits, such as
/// `state=open` or `country_code=CZ`.
fn is_state(name: &str, value: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let is_weak = name.ends_with("state") || name.ends_with("code");
    let is_word = value
        .chars()
        .all(|c| c.is_ascii_alphabetic() || c == '_' || c == '-');
    is_weak && is_word && value.len() < 16
}

/// Returns how many bytes the string at the start of a valid JSON text has, quotes included.
fn string_length(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}
