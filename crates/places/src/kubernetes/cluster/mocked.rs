//! A cluster whose API server is a table: for tests that check the requests, and how responses are
//! used.

use std::convert::Infallible;

use hyper::{Request, Response};
use kube::client::Body;
use kube::{Client, Config};
use serde_json::{Value, json};
use tower::service_fn;

use crate::kubernetes::cluster::connection::Cluster;

/// The status and the body of the response to a path.
pub(crate) type Answers = &'static [(&'static str, u16, fn() -> Value)];

/// Returns the body of a refusal, as an API server writes it.
pub(crate) fn status(code: u16, message: &str) -> Value {
    json!({
        "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code,
        "message": message, "reason": "",
    })
}

/// Returns a cluster that responds to these paths, and with 404 to all others.
pub(crate) fn cluster(answers: Answers) -> Cluster {
    let service = service_fn(move |request: Request<Body>| async move {
        let path = request.uri().path();
        let found = answers.iter().find(|(known, _, _)| *known == path);
        let (code, body) = match found {
            Some((_, code, body)) => (*code, body()),
            None => (404, status(404, &format!("{path} is not there"))),
        };
        let response = Response::builder().status(code);
        let body = Body::from(body.to_string().into_bytes());
        Ok::<_, Infallible>(response.body(body).expect("a status is a response"))
    });
    let config = Config::new("http://cluster.invalid".parse().expect("this is a URL"));
    Cluster::mocked(Client::new(service, "default"), config)
}
