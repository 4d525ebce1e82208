//! Requests to a service, from its description or recorded traffic.

use std::collections::HashMap;

use serde_json::Value;

/// The kind of document that requests come from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RequestSource {
    /// An OpenAPI description.
    #[default]
    Description,
    /// Recorded traffic.
    Recording,
    /// A file of HTTP requests.
    Requests,
    /// Requests that passed through a proxy.
    Capture,
}

impl RequestSource {
    /// Returns the source as a word in a sentence.
    #[must_use]
    pub fn noun(self) -> &'static str {
        match self {
            Self::Description => "description",
            Self::Recording => "recording",
            Self::Requests => "file",
            Self::Capture => "capture",
        }
    }
}

/// The requests that a description or a recording allows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Described {
    /// The kind of the document.
    pub source: RequestSource,
    /// The requests that are taken.
    pub operations: Vec<Operation>,
    /// The omitted requests, each with the reason: `POST /cities: it may change data`.
    pub left_out: Vec<String>,
    /// Notes for the user about what was taken, a sentence each.
    pub notes: Vec<String>,
}

/// Methods that change nothing (RFC 9110, 9.2.1).
const READS: [&str; 3] = ["GET", "HEAD", "OPTIONS"];

/// Whether requests of this method may change data. In files and recordings they are taken only if
/// that is asked for.
#[must_use]
pub fn may_change_data(method: &str) -> bool {
    !READS.contains(&method)
}

/// Which requests of a document are taken.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choice {
    /// The host whose requests are taken [default: the one with the most requests].
    pub host: Option<String>,
    /// Copy credentials, too.
    pub secrets: bool,
    /// Take requests that may change data, too.
    pub writes: bool,
}

/// Returns names in a sentence: one, or the first and how many more there are.
pub(crate) fn in_short(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [name] => name.clone(),
        [first, others @ ..] => format!("{first} and {} more", others.len()),
    }
}

impl Described {
    /// Returns a sentence for each reason why requests are left out.
    #[must_use]
    pub fn left_out_in_short(&self) -> Vec<String> {
        let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
        for line in &self.left_out {
            let (name, reason) = line.rsplit_once(": ").unwrap_or((line, ""));
            match reasons.iter_mut().find(|(one, _)| *one == reason) {
                Some((_, names)) => names.push(name.to_owned()),
                None => reasons.push((reason, vec![name.to_owned()])),
            }
        }
        let reasons = reasons.into_iter();
        reasons
            .map(|(reason, names)| format!("{}: {reason}", in_short(&names)))
            .collect()
    }

    /// Returns what takes the requests that are left out, if there is an option for it.
    #[must_use]
    pub fn remedy(&self) -> Option<&'static str> {
        let mut left_out = self.left_out.iter();
        left_out
            .any(|line| line.ends_with("it may change data"))
            .then_some("--writes takes those that may change data")
    }
}

/// Returns the name, or appends the first free number from 2 on: `GET /a (2)`.
#[must_use]
pub fn another(name: String, is_taken: impl Fn(&str) -> bool) -> String {
    let numbered = (2..).map(|number: u32| format!("{name} ({number})"));
    let mut all = std::iter::once(name.clone()).chain(numbered);
    all.find(|one| !is_taken(one)).unwrap_or(name)
}

/// A request with its expected response.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Operation {
    /// The name, as in the source: `GET /cities/{id}`; unique among the operations.
    pub name: String,
    /// The method.
    pub method: String,
    /// Path and query with values.
    pub path: String,
    /// Headers that the request needs, in order; a name may come several times.
    pub headers: Vec<(String, String)>,
    /// The body; mostly empty.
    pub body: Vec<u8>,
    /// How often it is sent, relative to the others.
    pub weight: u32,
    /// The accepted statuses; empty if any success will do.
    pub statuses: Vec<u16>,
    /// Whether the response is JSON.
    pub is_json: bool,
    /// Keys of the response.
    pub keys: Vec<String>,
    /// Whether it was sent over HTTP/2.
    pub is_http2: bool,
}

impl Operation {
    /// Returns why it cannot be one of the requests of a duel or a suite; `None` if it can.
    #[must_use]
    pub fn refusal(&self, writes: bool) -> Option<&'static str> {
        if self.is_grpc() {
            return Some("calls of gRPC are made of messages: --proto");
        }
        (!writes && may_change_data(&self.method)).then_some("it may change data")
    }

    /// Whether it is a call of gRPC, with its message as it is sent.
    #[must_use]
    pub fn is_grpc(&self) -> bool {
        let mut headers = self.headers.iter();
        headers.any(|(name, value)| {
            name.eq_ignore_ascii_case("content-type") && value.starts_with("application/grpc")
        })
    }
}

/// Requests of recorded traffic: each one once, with the number of times that it was sent.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    pub(crate) operations: Vec<Operation>,
    /// Indices by what is sent.
    known: HashMap<Sent, usize>,
    /// How many requests have this method and path.
    alike: HashMap<(String, String), usize>,
}

/// Whether over HTTP/2, method, path, headers that count, body.
type Sent = (bool, String, String, Vec<(String, String)>, Vec<u8>);

/// The operation that a request of recorded traffic became.
pub(crate) struct Added {
    /// The index of its operation.
    pub(crate) operation: usize,
    /// Names of headers that do not count and have another value.
    pub(crate) differing: Vec<String>,
}

impl Collected {
    /// Counts a request that is already known, and keeps what all its responses have in common.
    /// Headers that do not count, by their names in lower case, may differ.
    pub(crate) fn add(&mut self, mut new: Operation, does_not_count: fn(&str) -> bool) -> Added {
        let headers = new.headers.iter();
        let counts = |(name, _): &&(String, String)| !does_not_count(&name.to_ascii_lowercase());
        let sent = (
            new.is_http2,
            new.method.clone(),
            new.path.clone(),
            headers.filter(counts).cloned().collect(),
            new.body.clone(),
        );
        if let Some(&operation) = self.known.get(&sent) {
            let old = &mut self.operations[operation];
            old.weight += 1;
            old.statuses.extend(new.statuses);
            old.statuses.sort_unstable();
            old.statuses.dedup();
            old.keys.retain(|key| new.keys.contains(key));
            old.is_json &= new.is_json;
            let differing = new.headers.iter().filter(|one| !old.headers.contains(one));
            return Added {
                operation,
                differing: differing
                    .map(|(name, _)| name.to_ascii_lowercase())
                    .collect(),
            };
        }
        let alike = (new.method.clone(), new.path.clone());
        let count = self.alike.entry(alike).or_default();
        *count += 1;
        if *count > 1 {
            new.name = format!("{} ({count})", new.name);
        }
        let operation = self.operations.len();
        self.known.insert(sent, operation);
        self.operations.push(new);
        Added {
            operation,
            differing: Vec::new(),
        }
    }
}

/// Returns the keys of a JSON object; none for any other content.
pub(crate) fn json_keys(content: &[u8]) -> Vec<String> {
    match serde_json::from_slice(content) {
        Ok(Value::Object(object)) => object.keys().cloned().collect(),
        _ => Vec::new(),
    }
}
