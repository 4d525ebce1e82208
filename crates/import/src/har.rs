//! Converts recorded traffic to requests: HAR 1.2, as browsers and proxies save it. Pure.
//!
//! Only what a suite needs is read, and as little as possible is required, because programs deviate
//! from the specification in many ways.

mod file;

use std::collections::BTreeSet;

use bakeoff_base::problem::Problem;
use bakeoff_base::text::counted;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use url::Url;

use crate::credentials;
use crate::headers;
use crate::requests::{Choice, Collected, Described, Operation, RequestSource, json_keys};
use file::{Entry, File};

/// The first status that is not a success.
const FAILURE: u16 = 400;
/// "Not modified" responds to a condition that is not sent here.
const NOT_MODIFIED: u16 = 304;
const OK: u16 = 200;
/// A part of a content, as it was asked for.
const PARTIAL: u16 = 206;

/// Headers that belong to a connection, to a browser or to its cache. With `accept-encoding`,
/// responses would be compressed as that browser wishes.
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
    "if-range",
    "keep-alive",
    "origin",
    "pragma",
    "priority",
    "proxy-connection",
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
    let mut entries = Vec::new();
    for (number, entry) in (1..).zip(file.log.entries) {
        match serde_json::from_value::<Entry>(entry) {
            Ok(entry) => entries.push(entry),
            Err(error) => taken.leave_out(LeftOut {
                request: format!("entry {number}"),
                why: SkipReason::Other,
                detail: format!("it is not an entry of HAR: {error}"),
            }),
        }
    }
    let mut dynamic = Vec::new();
    for entry in &entries {
        match Exchange::of(entry) {
            Ok(exchange) => dynamic.push(exchange),
            Err(left_out) => taken.leave_out(left_out),
        }
    }
    let host = host(&dynamic, choice)?;
    for exchange in &dynamic {
        match exchange.operation(&host, choice) {
            Ok(operation) => {
                taken.not_harmless.extend(exchange.not_harmless());
                taken.collected.add(operation, |_| false);
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
    /// The status of the response, if it was recorded.
    status: Option<u16>,
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
            request: format!("{method} {}", credentials::without(url.path())),
            why,
            detail: detail.to_owned(),
        };
        let response = entry.response.as_ref();
        let status = match response.and_then(|response| response.status) {
            None => None,
            Some(status) => match u16::try_from(status).ok().filter(|status| *status >= OK) {
                None => return Err(left_out(SkipReason::Failed, "it has no response")),
                status => status,
            },
        };
        let content = response.and_then(|response| response.content.as_ref());
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
        let request = format!("{} {}", self.method, credentials::without(self.url.path()));
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
        if let Some(status) = self.status.filter(|status| *status >= FAILURE) {
            let detail = format!("its response status was {status}");
            return Err(left_out(SkipReason::Failed, &detail));
        }
        let pairs = self.url.query_pairs();
        let pairs: Vec<(String, String)> = pairs
            .map(|(name, value)| (name.into_owned(), value.into_owned()))
            .collect();
        let body = self
            .body()
            .map_err(|why| left_out(SkipReason::Other, why))?;
        let found = credentials::in_target(self.url.path(), &pairs);
        let found = found.or_else(|| credentials::in_body(&body));
        if let Some(name) = found.filter(|_| !choice.secrets) {
            return Err(left_out(SkipReason::Credentials, &shown(&name)));
        }
        let query = self.url.query().filter(|query| !query.is_empty());
        let query = query.map_or_else(String::new, |query| format!("?{query}"));
        let path = format!("{}{query}", self.url.path());
        let headers = self
            .headers()
            .filter(|(name, _)| choice.secrets || credentials::is_harmless(name));
        let keys = self.json_keys();
        Ok(Operation {
            name: format!("{} {path}", self.method),
            method: self.method.clone(),
            path,
            headers: headers.collect(),
            body,
            weight: 1,
            statuses: self.statuses(),
            is_json: keys.is_some(),
            keys: keys.unwrap_or_default(),
            is_http2: false,
        })
    }

    /// Returns the accepted statuses: the response's status; without a response, any success.
    fn statuses(&self) -> Vec<u16> {
        let status = match self.status {
            Some(NOT_MODIFIED) => Some(OK),
            Some(PARTIAL) if !self.is_partial() => Some(OK),
            status => status,
        };
        status.into_iter().collect()
    }

    /// Whether a part of a content was asked for and came. Otherwise the whole is asked for.
    fn is_partial(&self) -> bool {
        let headers = self.entry.request.headers.iter().flatten();
        let mut names = headers.map(|header| &header.name);
        self.status == Some(PARTIAL) && names.any(|name| name.eq_ignore_ascii_case("range"))
    }

    /// Returns the headers that belong to the request itself, as they were recorded.
    fn headers(&self) -> impl Iterator<Item = (String, String)> {
        let headers = self.entry.request.headers.iter().flatten();
        headers.filter_map(|header| {
            let name = header.name.to_ascii_lowercase();
            let is_taken = is_of_the_request(&name) && (name != "range" || self.is_partial());
            is_taken.then(|| (header.name.clone(), header.value.clone()))
        })
    }

    /// Returns the names, in lower case, of headers that may be credentials.
    fn not_harmless(&self) -> impl Iterator<Item = String> {
        let names = self.headers().map(|(name, _)| name.to_ascii_lowercase());
        names.filter(|name| !credentials::is_harmless(name))
    }

    fn body(&self) -> Result<Vec<u8>, &'static str> {
        let Some(data) = &self.entry.request.post_data else {
            return Ok(Vec::new());
        };
        if let Some(text) = data.text.as_ref().filter(|text| !text.is_empty()) {
            return match data.encoding.as_deref() {
                Some("base64") => STANDARD.decode(text).map_err(|_| "its body is not base64"),
                _ => Ok(text.clone().into_bytes()),
            };
        }
        let params = data.params.as_deref().unwrap_or_default();
        let sent_as = |kind: &str| {
            self.headers().any(|(name, value)| {
                name.eq_ignore_ascii_case("content-type") && value.starts_with(kind)
            })
        };
        match params.is_empty() || sent_as("application/x-www-form-urlencoded") {
            true => {
                let mut form = url::form_urlencoded::Serializer::new(String::new());
                form.extend_pairs(params.iter().map(|pair| (&pair.name, &pair.value)));
                Ok(form.finish().into_bytes())
            }
            false => Err("its body is not text"),
        }
    }

    /// Returns the keys of a JSON response; `None` for any other.
    fn json_keys(&self) -> Option<Vec<String>> {
        if !self.content_type.contains("json") {
            return None;
        }
        let content = self.entry.response.as_ref()?.content.as_ref()?;
        let plain = content.encoding.as_deref().unwrap_or_default().is_empty();
        let text = content.text.as_deref().filter(|_| plain);
        Some(json_keys(text.unwrap_or_default().as_bytes()))
    }
}

/// Whether a header, in lower case, belongs to the request itself and not to the connection or the
/// program. What is no name of a header was written by a program that records the lines of a
/// request among them.
pub(crate) fn is_of_the_request(name: &str) -> bool {
    headers::is_name(name) && !name.starts_with("sec-") && !NOT_OF_THE_REQUEST.contains(&name)
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
    collected: Collected,
    left_out: Vec<LeftOut>,
    /// Names of headers that may be credentials.
    not_harmless: BTreeSet<String>,
}

impl Taken {
    fn leave_out(&mut self, left_out: LeftOut) {
        self.left_out.push(left_out);
    }

    fn described(self, host: &str, choice: &Choice) -> Described {
        let mut lines = Vec::new();
        for one in &self.left_out {
            let line = match one.why {
                SkipReason::OtherHost => format!("{}: to {}", one.request, one.detail),
                SkipReason::Credentials => {
                    format!("{}: {}", one.request, credential(&one.detail))
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
            operations: self.collected.operations,
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
                SkipReason::Credentials => {
                    format!("left out: {count} with credentials ({details}); --secrets takes them")
                }
                SkipReason::Failed => format!("left out: {count} that failed ({details})"),
                SkipReason::Other => format!("left out: {count} more ({details})"),
            });
        }
        let names = Vec::from_iter(self.not_harmless.iter().map(String::as_str)).join(", ");
        match (names.as_str(), choice.secrets) {
            ("", _) => {}
            (names, false) => notes.push(format!(
                "headers that are not copied, because they may be credentials: {names}; --secrets \
                 copies them"
            )),
            (names, true) => notes.push(format!(
                "headers that are copied, though they may be credentials: {names}; every reader of \
                 the suite has them"
            )),
        }
        let with_body = self
            .collected
            .operations
            .iter()
            .filter(|one| !one.body.is_empty());
        let names: BTreeSet<String> = with_body
            .map(|one| format!("{} {}", one.method, credentials::without(&one.path)))
            .collect();
        if !names.is_empty() {
            let names = Vec::from_iter(names).join(", ");
            notes.push(format!(
                "bodies are as they were recorded; look what is in them: {names}"
            ));
        }
        notes.push(
            "not copied: headers of the browser, of its cache and of connections, with \
             accept-encoding, so that nothing is compressed"
                .to_owned(),
        );
        notes
    }
}

/// Says where a credential is.
fn credential(detail: &str) -> String {
    match detail.contains(' ') {
        true => detail.to_owned(),
        false => format!("`{detail}` may be a credential"),
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::read;
    use crate::requests::{Choice, Operation};

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
        let kept = vec![("Accept".to_owned(), "application/json".to_owned())];
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
            ..Operation::default()
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
        assert_eq!(headers, &[]);
        assert_eq!(
            described.left_out,
            ["GET /feed: `access_token` may be a credential"]
        );
        let notes = described.notes.join("\n");
        assert!(
            notes.contains("be credentials: authorization, cookie, x-author, x-csrf-token; --sec"),
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
            ("Cookie".to_owned(), "sid=1".to_owned())
        );
        assert!(
            described
                .notes
                .join("\n")
                .contains("copied, though they may be credentials")
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
    fn entries_are_taken_though_others_are_odd() {
        let range = [("Range", "bytes=0-9")];
        let mut post = entry("POST", "http://a/bytes", &[], answer(200, "", ""));
        post["request"]["postData"] = json!({ "text": "AAH/", "encoding": "base64" });
        let mut login = entry("POST", "http://a/login", &[], answer(200, "", ""));
        login["request"]["postData"] = json!({ "text": "{\"user\": 1, \"password\": 2}" });
        let entries = [
            json!({ "request": { "method": "GET", "url": "http://a/plain" } }),
            json!({ "request": { "method": "GET" } }),
            json!(7),
            entry(
                "GET",
                "http://a/part",
                &range,
                answer(206, "text/plain", ""),
            ),
            entry(
                "GET",
                "http://a/whole",
                &range,
                answer(200, "text/plain", ""),
            ),
            entry("GET", "http://a/cut", &[], answer(206, "text/plain", "")),
            post,
            login,
            entry(
                "GET",
                "http://a/eyJhbGci.eyJz.c2ln/x",
                &[],
                answer(200, "", ""),
            ),
        ];
        let choice = Choice {
            writes: true,
            ..Choice::default()
        };
        let described = read(&recording(&entries), &choice).unwrap();
        let all = described.operations.iter();
        let all: Vec<(&str, &[u16], usize, &[u8])> = all
            .map(|one| (&*one.name, &*one.statuses, one.headers.len(), &*one.body))
            .collect();
        let expect: [(&str, &[u16], usize, &[u8]); 5] = [
            ("GET /plain", &[], 0, b""),
            ("GET /part", &[206], 1, b""),
            ("GET /whole", &[200], 0, b""),
            ("GET /cut", &[200], 0, b""),
            ("POST /bytes", &[200], 0, &[0, 1, 255]),
        ];
        assert_eq!(all, expect);
        let left_out = described.left_out;
        assert!(
            left_out[0].starts_with("entry 2: it is not an entry of HAR"),
            "{left_out:?}"
        );
        assert!(left_out[1].starts_with("entry 3: "), "{left_out:?}");
        assert_eq!(
            left_out[2..],
            [
                "POST /login: `password` may be a credential",
                "GET /…/x: a token in its path",
            ]
        );
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
