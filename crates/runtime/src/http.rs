//! One question over HTTP/1.1, for functional checks: a connection of its own each time, so that
//! a check says something about a server and not about an earlier connection.

use std::net::SocketAddr;
use std::time::Duration;

use bakeoff_base::percent;
use bakeoff_model::check::Answer;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::header::{CONNECTION, HOST, HeaderValue};
use hyper::{Method, Request};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// Longest body that a check takes, bytes: above the 5 MiB of the largest workload.
const BODY_MAX: usize = 64 << 20;

/// Why there was no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    /// Nobody answered: not connected, reset, cut short, not HTTP, too late.
    #[error("{0}")]
    NoAnswer(String),
    /// The question itself is not HTTP.
    #[error("{0}")]
    BadQuestion(String),
}

/// Asks once on a fresh connection. A `Host` header is added unless there is one; the answer's
/// header names are in lower case.
///
/// # Errors
/// No whole answer came in time, or the question is not HTTP.
pub async fn ask(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(String, String)],
    body: &[u8],
    timeout: Duration,
) -> Result<Answer, AskError> {
    let request = request(address, method, path, headers, body)?;
    let answer = tokio::time::timeout(timeout, exchange(address, request)).await;
    answer.unwrap_or_else(|_| {
        Err(AskError::NoAnswer(format!(
            "no answer within {} s",
            timeout.as_secs_f64()
        )))
    })
}

fn request(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(String, String)],
    body: &[u8],
) -> Result<Request<Full<Bytes>>, AskError> {
    let bad = |what: &str, error: &dyn std::fmt::Display| {
        AskError::BadQuestion(format!("cannot ask {what}: {error}"))
    };
    let method = Method::from_bytes(method.as_bytes()).map_err(|error| bad(method, &error))?;
    let mut builder = Request::builder().method(method).uri(percent::uri(path));
    for (name, value) in headers {
        builder = builder.header(name.as_str(), value.as_str());
    }
    let body = Full::new(Bytes::copy_from_slice(body));
    let mut request = builder.body(body).map_err(|error| bad(path, &error))?;
    if !request.headers().contains_key(HOST) {
        let host = HeaderValue::from_str(&address.to_string());
        request
            .headers_mut()
            .insert(HOST, host.map_err(|error| bad(path, &error))?);
    }
    if !request.headers().contains_key(CONNECTION) {
        request
            .headers_mut()
            .insert(CONNECTION, HeaderValue::from_static("close"));
    }
    Ok(request)
}

async fn exchange(address: SocketAddr, request: Request<Full<Bytes>>) -> Result<Answer, AskError> {
    let stream = TcpStream::connect(address)
        .await
        .map_err(|error| AskError::NoAnswer(format!("cannot connect to {address}: {error}")))?;
    let broken = |error: &dyn std::error::Error| AskError::NoAnswer(reason(error));
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream))
        .await
        .map_err(|error| broken(&error))?;
    let driver = tokio::spawn(connection);
    let answer = async {
        let response = sender
            .send_request(request)
            .await
            .map_err(|error| broken(&error))?;
        let (parts, body) = response.into_parts();
        let body = Limited::new(body, BODY_MAX).collect().await;
        let body = body.map_err(|error| AskError::NoAnswer(reason(error.as_ref())))?;
        let headers = parts.headers.iter().map(|(name, value)| {
            (
                name.as_str().to_owned(),
                String::from_utf8_lossy(value.as_bytes()).into_owned(),
            )
        });
        let headers = headers.collect();
        Ok(Answer {
            status: parts.status.as_u16(),
            headers,
            body: body.to_bytes().into(),
        })
    }
    .await;
    driver.abort();
    answer
}

/// An error with its causes, which hyper keeps for itself.
fn reason(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    text
}
