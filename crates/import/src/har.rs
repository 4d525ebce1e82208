//! Converts recorded traffic to requests: HAR 1.2, as browsers and proxies save it. Pure.
//!
//! Only what a suite needs is read, and as little as possible is required, because programs deviate
//! from the specification in many ways.

mod file;

use std::collections::BTreeSet;

use bakeoff_base::problem::Problem;
use bakeoff_base::text::counted;
use serde_json::Value;
use url::Url;

use crate::requests::{Described, Operation, RequestSource};
use file::{Entry, File};

/// The first status that is not a success.
const FAILURE: u16 = 400;
/// "Not modified" responds to a condition that is not sent here.
const NOT_MODIFIED: u16 = 304;
const OK: u16 = 200;

/// Headers that belong to a connection, to a browser or to its cache. `accept-encoding` is one of
/// them: checks cannot look into a compressed body.
const NOT_OF_THE_REQUEST: [&str; 24] = [
    "accept-encoding",
    "cache-control",
    "connection",
    "content-length",
    "dnt",
    "expect",
    "host",
    "if-modified-since",
    "if-none-match",
    "keep-alive",
    "origin",
    "pragma",
    "priority",
    "proxy-connection",
    "range",
    "referer",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "upgrade-insecure-requests",
    "user-agent",
    "via",
    "x-forwarded-for",
];

/// Parts of names of headers and query parameters that are credentials.
const SECRET: [&str; 14] = [
    "api-key",
    "api_key",
    "apikey",
    "authorization",
    "cookie",
    "credential",
    "csrf",
    "jwt",
    "passw",
    "secret",
    "session",
    "signature",
    "token",
    "xsrf",
];
/// Names of credentials that are too short to be searched for within names.
const SECRET_WHOLE: [&str; 5] = ["auth", "key", "sid", "sig", "x-auth"];

/// The selection of requests to take from a recording.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choice {
    /// The host whose requests are taken [default: the one with the most requests].
    pub host: Option<String>,
    /// Copy credentials, too.
    pub secrets: bool,
    /// Take requests that may change data, too.
    pub writes: bool,
}

/// Reads a recording.
///
/// # Errors
/// The text is not a recording, or has no request to the named host.
pub fn read(text: &str, choice: &Choice) -> Result<Described, Problem> {
    // Some programs start their files with a byte order mark.
    let text = text.trim_start_matches('\u{feff}');
    let file: File = serde_json::from_str(text)
        .map_err(|error| format!("no recording in the format HAR: {error}"))?;
    let mut taken = Taken::default();
    let mut dynamic = Vec::new();
    for entry in &file.log.entries {
        match Exchange::of(entry) {
            Ok(exchange) => dynamic.push(exchange),
            Err(left_out) => taken.leave_out(left_out),
        }
    }
    let host = host(&dynamic, choice)?;
    for exchange in &dynamic {
        match exchange.operation(&host, choice) {
            Ok(operation) => {
                taken.credentials.extend(exchange.credentials());
                taken.add(operation);
            }
            Err(left_out) => taken.leave_out(left_out),
        }
    }
    Ok(taken.described(&host, choice))
}

/// Why requests are omitted, in the order of the notes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum SkipReason {
    Static,
    OtherHost,
    Changes,
    Credentials,
    Failed,
    Other,
}

struct LeftOut {
    /// The request, without its query: there may be credentials in it.
    request: String,
    why: SkipReason,
    /// The content type, the host, or the name of the parameter.
    detail: String,
}

/// A request for a dynamic resource, with its response.
struct Exchange<'a> {
    entry: &'a Entry,
    url: Url,
    method: String,
    host: String,
    status: u16,
    content_type: String,
}

impl<'a> Exchange<'a> {
    /// Refuses what is not HTTP, has no response, or was a file.
    fn of(entry: &'a Entry) -> Result<Self, LeftOut> {
        let method = entry.request.method.to_ascii_uppercase();
        let is_method = !method.is_empty() && method.bytes().all(|b| b.is_ascii_uppercase());
        let url = Url::parse(&entry.request.url).ok();
        let url = url.filter(|url| matches!(url.scheme(), "http" | "https"));
        let (Some(url), true) = (url, is_method) else {
            return Err(LeftOut {
                request: "a request".to_owned(),
                why: SkipReason::Other,
                detail: "it is not HTTP".to_owned(),
            });
        };
        let name = url.host_str().unwrap_or_default();
        let host = match url.port() {
            Some(port) => format!("{name}:{port}"),
            None => name.to_owned(),
        };
        let left_out = |why: SkipReason, detail: &str| LeftOut {
            request: format!("{method} {}", url.path()),
            why,
            detail: detail.to_owned(),
        };
        let Some(status) = u16::try_from(entry.response.status)
            .ok()
            .filter(|status| *status >= OK)
        else {
            return Err(left_out(SkipReason::Failed, "it has no response"));
        };
        let content = entry.response.content.as_ref();
        let content_type = essence(content.and_then(|content| content.mime_type.as_deref()));
        if is_static(&content_type) {
            return Err(left_out(SkipReason::Static, &content_type));
        }
        Ok(Self {
            entry,
            method,
            host,
            status,
            content_type,
            url,
        })
    }

    fn operation(&self, host: &str, choice: &Choice) -> Result<Operation, LeftOut> {
        let request = format!("{} {}", self.method, self.url.path());
        let left_out = |why: SkipReason, detail: &str| LeftOut {
            request: request.clone(),
            why,
            detail: detail.to_owned(),
        };
        if self.host != host {
            return Err(left_out(SkipReason::OtherHost, &self.host));
        }
        match self.method.as_str() {
            "GET" => {}
            "HEAD" => return Err(left_out(SkipReason::Other, "it has no body to check")),
            "OPTIONS" => {
                return Err(left_out(
                    SkipReason::Other,
                    "browsers ask so before they ask",
                ));
            }
            _ if !choice.writes => return Err(left_out(SkipReason::Changes, "it may change data")),
            _ => {}
        }
        if self.status >= FAILURE {
            let detail = format!("its response status was {}", self.status);
            return Err(left_out(SkipReason::Failed, &detail));
        }
        let mut names = self.url.query_pairs().map(|(name, _)| name.into_owned());
        if let Some(name) = names.find(|name| !choice.secrets && is_secret(name)) {
            return Err(left_out(SkipReason::Credentials, &shown(&name)));
        }
        let body = self
            .body()
            .map_err(|why| left_out(SkipReason::Other, why))?;
        let query = self.url.query().filter(|query| !query.is_empty());
        let query = query.map_or_else(String::new, |query| format!("?{query}"));
        let path = format!("{}{query}", self.url.path());
        let headers = self
            .headers()
            .filter(|(name, _)| choice.secrets || !is_secret(name));
        let keys = self.json_keys();
        Ok(Operation {
            name: format!("{} {path}", self.method),
            method: self.method.clone(),
            path,
            headers: headers.collect(),
            body: body.into(),
            weight: 1,
            statuses: vec![match self.status {
                NOT_MODIFIED => OK,
                status => status,
            }],
            is_json: keys.is_some(),
            keys: keys.unwrap_or_default(),
        })
    }

    /// Returns the headers that belong to the request itself, in lower case.
    fn headers(&self) -> impl Iterator<Item = (String, String)> {
        let headers = self.entry.request.headers.iter();
        headers.filter_map(|header| {
            let name = header.name.to_ascii_lowercase();
            is_of_the_request(&name).then(|| (name, header.value.clone()))
        })
    }

    /// Returns the names of headers that are credentials.
    fn credentials(&self) -> impl Iterator<Item = String> {
        let names = self.headers().map(|(name, _)| name);
        names.filter(|name| is_secret(name))
    }

    fn body(&self) -> Result<String, &'static str> {
        let Some(data) = &self.entry.request.post_data else {
            return Ok(String::new());
        };
        if let Some(text) = data.text.as_ref().filter(|text| !text.is_empty()) {
            return Ok(text.clone());
        }
        let params = data.params.as_deref().unwrap_or_default();
        let sent_as = |kind: &str| {
            self.headers()
                .any(|(name, value)| name == "content-type" && value.starts_with(kind))
        };
        match params.is_empty() || sent_as("application/x-www-form-urlencoded") {
            true => {
                let mut form = url::form_urlencoded::Serializer::new(String::new());
                form.extend_pairs(params.iter().map(|pair| (&pair.name, &pair.value)));
                Ok(form.finish())
            }
            false => Err("its body is not text"),
        }
    }

    /// Returns the keys of a JSON response; `None` for any other.
    fn json_keys(&self) -> Option<Vec<String>> {
        if !self.content_type.contains("json") {
            return None;
        }
        let content = self.entry.response.content.as_ref()?;
        let plain = content.encoding.as_deref().unwrap_or_default().is_empty();
        let text = content.text.as_deref().filter(|_| plain);
        match text.and_then(|text| serde_json::from_str(text).ok()) {
            Some(Value::Object(object)) => Some(object.keys().cloned().collect()),
            _ => Some(Vec::new()),
        }
    }
}

/// Whether a header, in lower case, belongs to the request itself and not to the connection or the
/// program.
pub(crate) fn is_of_the_request(name: &str) -> bool {
    !name.starts_with(':') && !name.starts_with("sec-") && !NOT_OF_THE_REQUEST.contains(&name)
}

/// Returns the named host, or the one with the most requests for dynamic resources.
fn host(exchanges: &[Exchange<'_>], choice: &Choice) -> Result<String, Problem> {
    let mut hosts: Vec<(&str, usize)> = Vec::new();
    for exchange in exchanges {
        match hosts.iter_mut().find(|(host, _)| *host == exchange.host) {
            Some((_, count)) => *count += 1,
            None => hosts.push((&exchange.host, 1)),
        }
    }
    if let Some(named) = &choice.host {
        return match hosts.iter().any(|(host, _)| host == named) {
            true => Ok(named.clone()),
            false => {
                let list: Vec<&str> = hosts.iter().map(|(host, _)| *host).collect();
                let list = list.join(", ");
                Err(format!("no request to {named} is in it; it has some to {list}").into())
            }
        };
    }
    // The first of several hosts with equally many requests.
    let most = hosts.iter().rev().max_by_key(|(_, count)| *count);
    Ok(most.map_or_else(String::new, |(host, _)| (*host).to_owned()))
}

/// The requests taken so far, and the notes about the others.
#[derive(Default)]
struct Taken {
    operations: Vec<Operation>,
    left_out: Vec<LeftOut>,
    /// Names of headers.
    credentials: BTreeSet<String>,
}

impl Taken {
    fn leave_out(&mut self, left_out: LeftOut) {
        self.left_out.push(left_out);
    }

    /// Counts a request that is already known, and keeps what all its responses have in common.
    fn add(&mut self, mut new: Operation) {
        let same = |old: &&mut Operation| {
            (&old.method, &old.path, &old.headers, &old.body)
                == (&new.method, &new.path, &new.headers, &new.body)
        };
        if let Some(old) = self.operations.iter_mut().find(same) {
            old.weight += 1;
            old.statuses.extend(new.statuses);
            old.statuses.sort_unstable();
            old.statuses.dedup();
            old.keys.retain(|key| new.keys.contains(key));
            old.is_json &= new.is_json;
            return;
        }
        let (method, path) = (new.method.clone(), new.path.clone());
        let alike = |old: &&Operation| (&old.method, &old.path) == (&method, &path);
        let before = self.operations.iter().filter(alike).count();
        if before > 0 {
            new.name = format!("{} ({})", new.name, before + 1);
        }
        self.operations.push(new);
    }

    fn described(self, host: &str, choice: &Choice) -> Described {
        let mut lines = Vec::new();
        for one in &self.left_out {
            let line = match one.why {
                SkipReason::OtherHost => format!("{}: to {}", one.request, one.detail),
                SkipReason::Credentials => {
                    format!("{}: `{}` in its query", one.request, one.detail)
                }
                _ => format!("{}: {}", one.request, one.detail),
            };
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        Described {
            source: RequestSource::Recording,
            notes: self.notes(host, choice),
            operations: self.operations,
            left_out: lines,
        }
    }

    fn notes(&self, host: &str, choice: &Choice) -> Vec<String> {
        let mut notes = vec![format!(
            "all were sent to {host}, which is dropped: contenders are asked where they listen"
        )];
        let mut kinds: Vec<SkipReason> = self.left_out.iter().map(|one| one.why).collect();
        kinds.sort_unstable();
        kinds.dedup();
        for why in kinds {
            let those: Vec<&LeftOut> = self.left_out.iter().filter(|one| one.why == why).collect();
            let details: BTreeSet<&str> = those.iter().map(|one| one.detail.as_str()).collect();
            let details = Vec::from_iter(details).join(", ");
            let count = those.len() as u64;
            notes.push(match why {
                SkipReason::Static => {
                    format!("left out: {} ({details})", counted(count, "static file"))
                }
                SkipReason::OtherHost => {
                    format!("left out: {count} to other hosts ({details}); --host takes another")
                }
                SkipReason::Changes => {
                    format!("left out: {count} that may change data; --writes takes them")
                }
                SkipReason::Credentials => format!(
                    "left out: {count} with credentials in the query ({details}); --secrets takes \
                     them"
                ),
                SkipReason::Failed => format!("left out: {count} that failed ({details})"),
                SkipReason::Other => format!("left out: {count} more ({details})"),
            });
        }
        let names = Vec::from_iter(self.credentials.iter().map(String::as_str)).join(", ");
        match (names.as_str(), choice.secrets) {
            ("", _) => {}
            (names, false) => notes.push(format!(
                "not copied, because they are credentials: {names}; --secrets copies them"
            )),
            (names, true) => notes.push(format!(
                "copied, though they are credentials: {names}; every reader of the suite has them"
            )),
        }
        if self.operations.iter().any(|one| !one.body.is_empty()) {
            notes.push("bodies are as they were recorded; look what is in them".to_owned());
        }
        notes.push(
            "not copied: headers of the browser, of its cache and of connections, with \
             accept-encoding, so that nothing is compressed"
                .to_owned(),
        );
        notes
    }
}

/// Returns a content type without its parameters.
fn essence(content_type: Option<&str>) -> String {
    let text = content_type.unwrap_or_default();
    let text = text.split(';').next().unwrap_or_default();
    shown(text.trim()).to_ascii_lowercase()
}

/// Returns a text for messages and comments: without line ends.
fn shown(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

/// Whether responses of this type are static files, which file servers serve better.
fn is_static(content_type: &str) -> bool {
    let (kind, rest) = content_type.split_once('/').unwrap_or((content_type, ""));
    matches!(kind, "image" | "font" | "audio" | "video")
        || matches!(
            rest,
            "css"
                | "javascript"
                | "x-javascript"
                | "ecmascript"
                | "wasm"
                | "manifest+json"
                | "vnd.ms-fontobject"
        )
        || rest.contains("font-")
}

fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET.iter().any(|part| name.contains(part)) || SECRET_WHOLE.contains(&name.as_str())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Choice, read};
    use crate::requests::Operation;

    fn entry(method: &str, url: &str, headers: &[(&str, &str)], response: Value) -> Value {
        let headers: Vec<Value> = headers
            .iter()
            .map(|(name, value)| json!({ "name": name, "value": value }))
            .collect();
        json!({
            "request": { "method": method, "url": url, "headers": headers, "cookies": [] },
            "response": response,
        })
    }

    fn answer(status: u16, kind: &str, text: &str) -> Value {
        json!({ "status": status, "content": { "mimeType": kind, "text": text } })
    }

    fn recording(entries: &[Value]) -> String {
        json!({ "log": { "version": "1.2", "entries": entries } }).to_string()
    }

    const JSON: &str = "application/json; charset=utf-8";

    /// Returns a recording as a browser makes it when it visits a shop.
    fn visit() -> String {
        let item = "https://shop.example:8443/items?page=2&q=a%20b#top";
        let headers = [
            (":authority", "shop.example"),
            ("Host", "shop.example"),
            ("Accept", "application/json"),
            ("Accept-Encoding", "gzip"),
            ("User-Agent", "a browser"),
            ("sec-fetch-mode", "cors"),
            ("X-Unit", "km"),
        ];
        recording(&[
            entry(
                "GET",
                "https://other.example/collect",
                &[],
                answer(200, "text/plain", ""),
            ),
            entry(
                "GET",
                item,
                &headers,
                answer(200, JSON, r#"{"items": [], "next": 3}"#),
            ),
            entry(
                "get",
                item,
                &headers,
                answer(200, JSON, r#"{"items": [], "last": 1}"#),
            ),
            entry(
                "GET",
                "https://shop.example:8443/",
                &[],
                answer(304, "", ""),
            ),
            entry(
                "GET",
                "https://shop.example:8443/a.png",
                &[],
                answer(200, "image/png", ""),
            ),
            entry(
                "GET",
                "https://shop.example:8443/gone",
                &[],
                answer(404, JSON, "{}"),
            ),
            entry(
                "GET",
                "wss://shop.example:8443/live",
                &[],
                json!({ "status": 101 }),
            ),
            entry(
                "DELETE",
                "https://shop.example:8443/items/1",
                &[],
                answer(204, "", ""),
            ),
        ])
    }

    #[test]
    fn requests_of_one_host_are_taken_as_often_as_they_were_recorded() {
        let described = read(&visit(), &Choice::default()).unwrap();
        let kept = Vec::from([
            ("accept".to_owned(), "application/json".to_owned()),
            ("x-unit".to_owned(), "km".to_owned()),
        ]);
        let items = Operation {
            name: "GET /items?page=2&q=a%20b".to_owned(),
            method: "GET".to_owned(),
            path: "/items?page=2&q=a%20b".to_owned(),
            headers: kept,
            body: Vec::new(),
            weight: 2,
            statuses: vec![200],
            is_json: true,
            keys: vec!["items".to_owned()],
        };
        let home = Operation {
            name: "GET /".to_owned(),
            method: "GET".to_owned(),
            path: "/".to_owned(),
            weight: 1,
            statuses: vec![200],
            ..Operation::default()
        };
        assert_eq!(described.operations, [items, home]);
    }

    #[test]
    fn what_is_left_out_is_listed_and_counted() {
        let described = read(&visit(), &Choice::default()).unwrap();
        assert_eq!(
            described.left_out,
            [
                "GET /a.png: image/png",
                "a request: it is not HTTP",
                "GET /collect: to other.example",
                "GET /gone: its response status was 404",
                "DELETE /items/1: it may change data",
            ]
        );
        assert_eq!(
            described.notes[..5],
            [
                "all were sent to shop.example:8443, which is dropped: contenders are asked where \
                 they listen",
                "left out: 1 static file (image/png)",
                "left out: 1 to other hosts (other.example); --host takes another",
                "left out: 1 that may change data; --writes takes them",
                "left out: 1 that failed (its response status was 404)",
            ]
        );
    }

    #[test]
    fn another_host_can_be_named() {
        let text = visit();
        let other = Choice {
            host: Some("other.example".to_owned()),
            ..Choice::default()
        };
        assert_eq!(read(&text, &other).unwrap().operations[0].path, "/collect");
        let nobody = Choice {
            host: Some("nobody.example".to_owned()),
            ..Choice::default()
        };
        let message = read(&text, &nobody).unwrap_err();
        assert!(
            message
                .message()
                .contains("it has some to other.example, shop"),
            "{message}"
        );
    }

    #[test]
    fn credentials_are_copied_only_when_asked() {
        let secret = [
            ("Cookie", "sid=1"),
            ("Authorization", "Bearer abc"),
            ("X-CSRF-Token", "t"),
            ("X-Author", "me"),
        ];
        let text = recording(&[
            entry("GET", "http://a/items", &secret, answer(200, JSON, "[]")),
            entry(
                "GET",
                "http://a/feed?access_token=abc",
                &[],
                answer(200, JSON, "[]"),
            ),
        ]);
        let described = read(&text, &Choice::default()).unwrap();
        assert_eq!(described.operations.len(), 1);
        let headers = &described.operations[0].headers;
        assert_eq!(headers, &[("x-author".to_owned(), "me".to_owned())]);
        assert_eq!(
            described.left_out,
            ["GET /feed: `access_token` in its query"]
        );
        let notes = described.notes.join("\n");
        assert!(
            notes.contains("they are credentials: authorization, cookie, x-csrf-token; --secrets"),
            "{notes}"
        );
        assert!(!format!("{described:?}").contains("abc"));
        let choice = Choice {
            secrets: true,
            ..Choice::default()
        };
        let described = read(&text, &choice).unwrap();
        assert_eq!(described.operations.len(), 2);
        assert_eq!(
            described.operations[0].headers[0],
            ("cookie".to_owned(), "sid=1".to_owned())
        );
        assert!(
            described
                .notes
                .join("\n")
                .contains("copied, though they are credentials")
        );
    }

    #[test]
    fn bodies_come_along_with_requests_that_may_change_data() {
        let form = [("Content-Type", "application/x-www-form-urlencoded")];
        let mut posts: Vec<Value> = (1..=2)
            .map(|_| entry("POST", "http://a/search", &form, answer(200, JSON, "[1]")))
            .collect();
        posts[0]["request"]["postData"] = json!({ "mimeType": "text/plain", "text": "a" });
        posts[1]["request"]["postData"] =
            json!({ "mimeType": "", "params": [{ "name": "q", "value": "a b" }] });
        let choice = Choice {
            writes: true,
            ..Choice::default()
        };
        let described = read(&recording(&posts), &choice).unwrap();
        let all = described.operations.iter();
        let all: Vec<(&str, &[u8])> = all.map(|one| (&*one.name, &*one.body)).collect();
        assert_eq!(
            all,
            [("POST /search", &b"a"[..]), ("POST /search (2)", b"q=a+b")]
        );
        assert!(described.operations[0].is_json);
    }

    #[test]
    fn what_is_no_recording_is_refused() {
        for text in ["", "{}", "[]", r#"{"log": {}}"#] {
            let message = read(text, &Choice::default()).unwrap_err();
            assert!(
                message
                    .message()
                    .starts_with("no recording in the format HAR"),
                "{message}"
            );
        }
        let none = read(&recording(&[]), &Choice::default()).unwrap();
        assert_eq!(none.operations, []);
    }
}
