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
