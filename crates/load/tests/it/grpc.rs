//! Calls of gRPC: to a server of HTTP/2 that is not ours, whose messages are written out as bytes.

use std::fs;

use bakeoff_grpc::Schema;
use bakeoff_model::load::{ErrorClass, LoadSpec, Protocol};
use bakeoff_model::request::check::Expect;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::{HeaderMap, Response};
use serde_json::json;

use crate::http2::serve_http2_with;
use crate::{load_spec, run};

const REQUESTS: u64 = 60;

const PROTO: &str = r#"
syntax = "proto3";
package hello;
service Greeter {
  rpc Say(Name) returns (Greeting);
  rpc Count(Name) returns (stream Greeting);
}
message Name { string name = 1; }
message Greeting { string message = 1; }
"#;

/// A message with one text, as a frame.
fn frame(text: &str) -> Vec<u8> {
    let length = u8::try_from(text.len()).unwrap();
    let mut frame = vec![0, 0, 0, 0, length + 2, 0x0a, length];
    frame.extend_from_slice(text.as_bytes());
    frame
}

/// A service that greets the name that it is sent, or sends a stream of three messages.
fn server() -> String {
    serve_http2_with(65_535, |parts, body| {
        let is_right = parts.headers.get("te").is_some_and(|te| te == "trailers")
            && parts.headers["content-type"] == "application/grpc"
            && !parts.headers.contains_key("content-length")
            && body == frame("Jan");
        let (status, messages) = match parts.uri.path() {
            "/hello.Greeter/Say" if is_right => ("0", vec![frame("Hi Jan")]),
            "/hello.Greeter/Count" if is_right => {
                ("0", vec![frame("one"), frame("two"), frame("three")])
            }
            _ => ("3", Vec::new()),
        };
        let mut trailers = HeaderMap::new();
        trailers.insert("grpc-status", status.parse().unwrap());
        trailers.insert("grpc-message", "see the log".parse().unwrap());
        let body = Full::new(Bytes::from(messages.concat()));
        let body = body.with_trailers(async { Some(Ok(trailers)) });
        Response::builder()
            .header("content-type", "application/grpc")
            .body(body.boxed())
            .unwrap()
    })
}

fn schema() -> Schema {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("hello.proto");
    fs::write(&file, PROTO).unwrap();
    Schema::from_files(&[file]).unwrap()
}

fn calls(address: &str, method: &str, message: &str, expect: Expect) -> LoadSpec {
    let mut spec = load_spec(address, 3, REQUESTS);
    spec.target.protocol = Protocol::Http2;
    spec.in_flight = 4;
    spec.grpc = Some(schema().descriptors().into());
    spec.check_body_every = 2;
    let request = &mut spec.requests[0];
    request.method = "POST".to_owned();
    request.path = format!("/hello.Greeter/{method}");
    request.body = message.into();
    request.expect = Some(expect);
    spec
}

on_each_reactor!(calls_are_encoded_and_responses_are_checked);

fn calls_are_encoded_and_responses_are_checked() {
    let address = server();
    let jan = r#"{"name": "Jan"}"#;
    let check = |method: &str, message: &str, expect: Expect, class: Option<ErrorClass>| {
        let total = run(&calls(&address, method, message, expect));
        match class {
            None => {
                assert!(total.errors.is_empty(), "{method}: {:?}", total.errors);
                assert_eq!(total.requests, REQUESTS);
            }
            Some(class) => {
                assert!(total.count(class) > 0, "{method}: {:?}", total.errors);
                assert_eq!(total.errors.len(), 1, "{:?}", total.errors);
            }
        }
        total.errors
    };
    let value = |path: &str, value: &str| Expect {
        values: [(path.to_owned(), json!(value))].into(),
        ..Expect::default()
    };
    check("Say", jan, value("$.message", "Hi Jan"), None);
    check("Count", jan, value("$[2].message", "three"), None);
    let wrong = Some(ErrorClass::WrongBody);
    check("Say", jan, value("$.message", "Hi Eva"), wrong);
    let failed = Some(ErrorClass::UnexpectedStatus);
    let errors = check("Say", r#"{"name": "Eva"}"#, Expect::default(), failed);
    let example = errors[&ErrorClass::UnexpectedStatus]
        .example
        .clone()
        .unwrap();
    assert!(
        example.contains("gRPC status 3 (INVALID_ARGUMENT)"),
        "{example}"
    );
    let refused = Expect {
        grpc_status: vec![3],
        ..Expect::default()
    };
    check("Say", r#"{"name": "Eva"}"#, refused, None);
}

on_each_reactor!(a_service_without_grpc_fails_each_call);

fn a_service_without_grpc_fails_each_call() {
    let plain = serve_http2_with(65_535, |_, _| Response::new(Full::default().boxed()));
    let total = run(&calls(&plain, "Say", "", Expect::default()));
    assert_eq!(total.requests, 0);
    let errors = &total.errors[&ErrorClass::UnexpectedStatus];
    let example = errors.example.clone().unwrap();
    assert!(example.contains("gRPC status none"), "{example}");
}
