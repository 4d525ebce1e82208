//! Requests to a service, from its description or recorded traffic.

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
}

impl RequestSource {
    /// Returns the source as a word in a sentence.
    #[must_use]
    pub fn noun(self) -> &'static str {
        match self {
            Self::Description => "description",
            Self::Recording => "recording",
            Self::Requests => "file",
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
pub(crate) fn may_change_data(method: &str) -> bool {
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
}
