//! Converts traffic that passed through a proxy to requests, with their mix and their times. Pure.
//!
//! Requests stay as they were sent, with two exceptions: what belongs to a connection is left out,
//! and what may be a credential becomes a variable of the environment.

mod redaction;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use bakeoff_base::text::counted;

use crate::credentials;
use crate::requests::{Collected, Described, Operation, RequestSource, json_keys};
use redaction::Redaction;

pub use redaction::Variable;

/// Headers that belong to a connection; each request gets new ones.
const OF_CONNECTION: [&str; 9] = [
    "connection",
    "content-length",
    "expect",
    "http2-settings",
    "keep-alive",
    "proxy-connection",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Headers that name one request: requests that differ in nothing else are the same, and are sent
/// with the first value.
const OF_ONE_REQUEST: [&str; 11] = [
    "b3",
    "grpc-timeout",
    "sentry-trace",
    "traceparent",
    "tracestate",
    "x-amzn-trace-id",
    "x-b3-spanid",
    "x-b3-traceid",
    "x-cloud-trace-context",
    "x-correlation-id",
    "x-request-id",
];

/// The content type of gRPC messages, without their encoding.
const GRPC: &str = "application/grpc";

/// Which parts of a capture are written down.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CaptureChoice {
    /// Keep credentials as they are.
    pub secrets: bool,
    /// Headers, parameters and fields, by their names in any case, that are no credentials.
    pub harmless: Vec<String>,
    /// The values of `Host` that name the proxy itself.
    pub proxy_hosts: Vec<String>,
}

/// A request that passed, and what is known of its response.
#[derive(Debug, Clone, Copy)]
pub struct CapturedRequest<'a> {
    /// The time from the start of the capture.
    pub at: Duration,
    /// Whether it was sent over HTTP/2.
    pub is_http2: bool,
    /// The method.
    pub method: &'a str,
    /// Path and query.
    pub target: &'a str,
    /// Headers, in order.
    pub headers: &'a [(String, String)],
    /// The body.
    pub body: &'a [u8],
    /// The status of the response.
    pub status: u16,
    /// Headers of the response.
    pub response_headers: &'a [(String, String)],
    /// The content of the response; empty if it is not known.
    pub content: &'a [u8],
}

/// The requests that passed so far. Credentials of them are kept nowhere but in memory, to tell
/// their values apart.
#[derive(Debug)]
pub struct Capture {
    choice: CaptureChoice,
    redaction: Redaction,
    collected: Collected,
    arrivals: Vec<Arrival>,
    left_out: BTreeMap<String, u64>,
    /// Headers of one request each, of which the first value is sent.
    first_values: BTreeSet<String>,
    /// Requests with bodies that are not text.
    binary: BTreeSet<String>,
}

/// When a request was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// The time from the first request.
    pub at: Duration,
    /// The index of its operation.
    pub operation: usize,
}

/// The outcome of a capture.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Captured {
    /// The requests, each as often as it was sent.
    pub described: Described,
    /// The times, in order.
    pub arrivals: Vec<Arrival>,
    /// The variables that stand for credentials.
    pub variables: Vec<Variable>,
}

impl Capture {
    /// Returns a capture without requests.
    #[must_use]
    pub fn new(choice: CaptureChoice) -> Self {
        Self {
            redaction: Redaction::new(choice.secrets, &choice.harmless),
            choice,
            collected: Collected::default(),
            arrivals: Vec::new(),
            left_out: BTreeMap::new(),
            first_values: BTreeSet::new(),
            binary: BTreeSet::new(),
        }
    }

    /// Returns how many requests were taken.
    #[must_use]
    pub fn len(&self) -> usize {
        self.arrivals.len()
    }

    /// Whether no request was taken.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.arrivals.is_empty()
    }

    /// Notes a request that is not taken, by its method and target.
    pub fn leave_out(&mut self, request: &str, why: &str) {
        let line = match request.split_once(' ') {
            Some((method, target)) if target.starts_with('/') => {
                format!("{method} {}: {why}", credentials::without(target))
            }
            _ => format!("{request}: {why}"),
        };
        *self.left_out.entry(line).or_default() += 1;
    }

    /// Takes a request.
    pub fn add(&mut self, request: &CapturedRequest<'_>) {
        match self.operation(request) {
            Ok(operation) => {
                let of_one = |name: &str| OF_ONE_REQUEST.contains(&name);
                let added = self.collected.add(operation, of_one);
                self.first_values.extend(added.differing);
                self.arrivals.push(Arrival {
                    at: request.at,
                    operation: added.operation,
                });
            }
            Err(why) => {
                let line = format!("{} {}", request.method, request.target);
                self.leave_out(&line, &why);
            }
        }
    }

    fn operation(&mut self, request: &CapturedRequest<'_>) -> Result<Operation, String> {
        let content_type = value_of(request.headers, "content-type");
        let is_text = !content_type.starts_with(GRPC) && !content_type.contains("proto");
        let body = match is_text {
            true => self.redaction.body(request.body, &content_type)?,
            false => self.redaction.binary(request.body)?,
        };
        let path = self.redaction.target(request.target);
        let headers = request.headers.iter().filter_map(|(name, value)| {
            let lower = name.to_ascii_lowercase();
            let is_left_out = OF_CONNECTION.contains(&lower.as_str())
                || lower == "host" && self.choice.proxy_hosts.contains(value);
            if is_left_out {
                return None;
            }
            let is_of_one = OF_ONE_REQUEST.contains(&lower.as_str());
            let value = match is_of_one {
                true => value.clone(),
                false => self.redaction.header(name, value),
            };
            Some((name.clone(), value))
        });
        let headers: Vec<(String, String)> = headers.collect();
        let name = format!("{} {path}", request.method);
        if !body.is_empty() && std::str::from_utf8(&body).is_err() || !is_text {
            self.binary.insert(name.clone());
        }
        let of_response = value_of(request.response_headers, "content-type");
        let has_content = request.method != "HEAD" && of_response.contains("json");
        let keys = match is_text && has_content {
            true => Some(json_keys(request.content)),
            false => None,
        };
        Ok(Operation {
            name,
            method: request.method.to_owned(),
            path,
            headers,
            body,
            weight: 1,
            statuses: vec![request.status],
            is_json: keys.is_some(),
            keys: keys.unwrap_or_default(),
            is_http2: request.is_http2,
        })
    }

    /// Returns what was captured.
    #[must_use]
    pub fn finish(self) -> Captured {
        let mut arrivals = self.arrivals;
        arrivals.sort_by_key(|arrival| arrival.at);
        let first = arrivals
            .first()
            .map(|arrival| arrival.at)
            .unwrap_or_default();
        arrivals.iter_mut().for_each(|arrival| arrival.at -= first);
        let mut notes = Vec::new();
        let joined = |names: BTreeSet<String>| Vec::from_iter(names).join(", ");
        if !self.first_values.is_empty() {
            notes.push(format!(
                "headers that differ from request to request are sent with their first value: {}",
                joined(self.first_values)
            ));
        }
        if !self.binary.is_empty() && !self.choice.secrets {
            notes.push(format!(
                "bodies that are no text are kept as they were sent; look what is in them: {}",
                joined(self.binary)
            ));
        }
        let left_out = self.left_out.into_iter().map(|(line, count)| match count {
            1 => line,
            count => format!("{line} ({})", counted(count, "time")),
        });
        Captured {
            described: Described {
                source: RequestSource::Capture,
                operations: self.collected.operations,
                left_out: left_out.collect(),
                notes,
            },
            arrivals,
            variables: self.redaction.variables(),
        }
    }
}

/// Returns the value of a header in lower case; empty without it.
fn value_of(headers: &[(String, String)], wanted: &str) -> String {
    let mut headers = headers.iter();
    let found = headers.find(|(name, _)| name.eq_ignore_ascii_case(wanted));
    found
        .map(|(_, value)| value.to_ascii_lowercase())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Capture, CaptureChoice, Captured, CapturedRequest};

    type Sent<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a str);

    /// Requests that have credentials in each of their parts.
    const WITH_CREDENTIALS: [Sent<'static>; 5] = [
        (
            "GET /a?api_key=secret1&page=2",
            &[
                ("Authorization", "Bearer secret2"),
                ("Cookie", "s=secret3"),
                ("Accept", "*/*"),
            ],
            "",
        ),
        (
            "POST /login",
            &[("Content-Type", "application/json")],
            r#"{"user": "jan", "password": "secret4\"", "pin": 1234, "tags": ["a"]}"#,
        ),
        (
            "POST /login",
            &[("Content-Type", "application/x-www-form-urlencoded")],
            "user=jan&password=secret5",
        ),
        ("GET /a;jsessionid=secret6/b", &[], ""),
        (
            "POST /x",
            &[("Content-Type", "text/xml")],
            "<a><Password>secret7</Password></a>",
        ),
    ];

    fn captured(choice: CaptureChoice, sent: &[Sent<'_>]) -> Captured {
        let mut capture = Capture::new(choice);
        for (second, (line, headers, body)) in (0..).zip(sent) {
            let (method, target) = line.split_once(' ').unwrap();
            let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
            let headers: Vec<(String, String)> = headers.iter().map(owned).collect();
            capture.add(&CapturedRequest {
                at: Duration::from_secs(second),
                is_http2: false,
                method,
                target,
                headers: &headers,
                body: body.as_bytes(),
                status: 200,
                response_headers: &[("content-type".to_owned(), "application/json".to_owned())],
                content: br#"{"id": 1, "name": "x"}"#,
            });
        }
        capture.finish()
    }

    #[test]
    fn equal_requests_are_one_with_its_share_and_all_times() {
        let captured = captured(
            CaptureChoice {
                proxy_hosts: vec!["127.0.0.1:1".to_owned()],
                ..CaptureChoice::default()
            },
            &[
                (
                    "GET /a",
                    &[("Host", "127.0.0.1:1"), ("traceparent", "1")],
                    "",
                ),
                (
                    "GET /b",
                    &[("Host", "shop.example"), ("X-Requested-With", "x")],
                    "",
                ),
                (
                    "GET /a",
                    &[("Host", "127.0.0.1:1"), ("traceparent", "2")],
                    "",
                ),
                ("POST /a", &[("Content-Length", "1")], "x"),
            ],
        );
        let operations = &captured.described.operations;
        let names: Vec<(&str, u32)> = operations
            .iter()
            .map(|one| (one.name.as_str(), one.weight))
            .collect();
        assert_eq!(names, [("GET /a", 2), ("GET /b", 1), ("POST /a", 1)]);
        assert_eq!(operations[0].headers, [("traceparent".into(), "1".into())]);
        assert_eq!(operations[1].headers.len(), 2);
        assert_eq!(operations[0].keys, ["id", "name"]);
        let times = captured.arrivals.iter();
        let times: Vec<(u64, usize)> = times.map(|one| (one.at.as_secs(), one.operation)).collect();
        assert_eq!(times, [(0, 0), (1, 1), (2, 0), (3, 2)]);
        assert_eq!(captured.described.notes.len(), 1);
        assert!(captured.described.notes[0].ends_with(": traceparent"));
    }

    #[test]
    fn credentials_are_variables() {
        let found = captured(CaptureChoice::default(), &WITH_CREDENTIALS);
        let text = format!("{:?}", found.described);
        assert!(!text.contains("secret") && !text.contains("1234"), "{text}");
        let operations = &found.described.operations;
        assert_eq!(operations[0].path, "/a?api_key=${env:API_KEY}&page=2");
        assert_eq!(operations[0].headers[0].1, "Bearer ${env:AUTHORIZATION}");
        assert_eq!(operations[0].headers[1].1, "${env:COOKIE}");
        assert_eq!(operations[0].headers[2].1, "*/*");
        let body = |at: usize| String::from_utf8_lossy(&operations[at].body).into_owned();
        assert_eq!(
            body(1),
            r#"{"user": "jan", "password": "${env:PASSWORD}", "pin": ${env:PIN}, "tags": ["a"]}"#
        );
        assert_eq!(body(2), "user=jan&password=${env:PASSWORD_2}");
        assert_eq!(operations[3].path, "/a;jsessionid=${env:JSESSIONID}/b");
        assert_eq!(found.described.left_out.len(), 1);
        let names: Vec<&str> = found
            .variables
            .iter()
            .map(|one| one.name.as_str())
            .collect();
        assert_eq!(
            names,
            [
                "API_KEY",
                "AUTHORIZATION",
                "COOKIE",
                "JSESSIONID",
                "PASSWORD",
                "PASSWORD_2",
                "PIN"
            ]
        );
    }

    #[test]
    fn credentials_are_kept_if_that_is_asked_for() {
        let choice = CaptureChoice {
            secrets: true,
            ..CaptureChoice::default()
        };
        let kept = captured(choice, &[("GET /a?api_key=secret1", &[], "")]);
        assert!(kept.variables.is_empty());
        assert_eq!(kept.described.operations[0].path, "/a?api_key=secret1");
    }

    #[test]
    fn what_is_named_is_no_credential() {
        let choice = CaptureChoice {
            harmless: vec!["X-Tenant".to_owned(), "sort_key".to_owned()],
            ..CaptureChoice::default()
        };
        let sent: &[Sent<'_>] = &[(
            "GET /?sort_key=a",
            &[("x-tenant", "acme"), ("x-b", "c")],
            "",
        )];
        let found = captured(choice, sent);
        let one = &found.described.operations[0];
        assert_eq!(one.path, "/?sort_key=a");
        assert_eq!(one.headers[0].1, "acme");
        assert_eq!(one.headers[1].1, "${env:X_B}");
    }

    #[test]
    fn many_values_of_one_name_are_one_variable() {
        let lines: Vec<String> = (0..30).map(|n| format!("GET /?token=secret{n}")).collect();
        let sent: Vec<Sent<'_>> = lines
            .iter()
            .map(|line| (line.as_str(), &[][..], ""))
            .collect();
        let found = captured(CaptureChoice::default(), &sent);
        assert_eq!(found.variables.len(), 8);
        assert_eq!(found.variables[0].values, 23);
        assert!(!format!("{found:?}").contains("secret"));
    }

    #[test]
    fn references_that_were_sent_are_no_references() {
        let found = captured(CaptureChoice::default(), &[("GET /${env:A}", &[], "")]);
        assert_eq!(found.described.operations[0].path, "/$${env:A}");
    }
}
