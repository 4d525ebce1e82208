//! The parts of a HAR file that are read.

use serde::Deserialize;
use serde_json::Value;

#[derive(Debug, Deserialize)]
pub(super) struct File {
    pub(super) log: Log,
}

#[derive(Debug, Deserialize)]
pub(super) struct Log {
    /// The entries as they are: one that is odd does not make the others unreadable.
    pub(super) entries: Vec<Value>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Entry {
    pub(super) request: Request,
    /// The response; some programs record only what was sent.
    pub(super) response: Option<Response>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Request {
    pub(super) method: String,
    pub(super) url: String,
    pub(super) headers: Option<Vec<Pair>>,
    pub(super) post_data: Option<PostData>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Pair {
    pub(super) name: String,
    #[serde(default)]
    pub(super) value: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct PostData {
    pub(super) text: Option<String>,
    pub(super) encoding: Option<String>,
    pub(super) params: Option<Vec<Pair>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Response {
    pub(super) status: Option<i64>,
    pub(super) content: Option<Content>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Content {
    pub(super) mime_type: Option<String>,
    pub(super) text: Option<String>,
    pub(super) encoding: Option<String>,
}
