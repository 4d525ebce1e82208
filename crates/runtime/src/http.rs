//! One question over HTTP/1.1, for functional checks: a connection of its own each time, so that
//! a check says something about a server and not about an earlier connection.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bakeoff_base::percent;
use bakeoff_model::check::Answer;
use bakeoff_model::tls::Tls;
use bakeoff_tls::Client;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::header::{CONNECTION, HOST, HeaderValue};
use hyper::{Method, Request};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// Longest body that a check takes, bytes: above the 5 MiB of the largest workload.
const BODY_MAX: usize = 64 << 20;

/// Why there was no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    /// No valid answer: not connected, reset, cut short, not HTTP, too late.
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
    ask_over(None, address, method, path, headers, body, timeout).await
}

/// Asks as [`ask`] does, over TLS where it is given.
///
/// # Errors
/// No whole answer came in time, the question is not HTTP, or TLS cannot be set up.
pub async fn ask_over(
    tls: Option<&Tls>,
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(String, String)],
    body: &[u8],
    timeout: Duration,
) -> Result<Answer, AskError> {
    let request = request(address, method, path, headers, body)?;
    let host = request
        .headers()
        .get(HOST)
        .and_then(|host| host.to_str().ok());
    let host = host.map_or_else(|| address.to_string(), str::to_owned);
    let client = tls.map(|tls| Client::new(tls, &host, b"http/1.1"));
    let client = client.transpose();
    let client = client.map_err(|error| AskError::NoAnswer(format!("no TLS: {error}")))?;
    let asking = async {
        let stream = TcpStream::connect(address)
            .await
            .map_err(|error| AskError::NoAnswer(format!("cannot connect to {address}: {error}")))?;
        let Some(client) = client else {
            return exchange(Listening(stream), request).await;
        };
        let connecting = TlsConnector::from(client.config).connect(client.name, stream);
        let stream = connecting
            .await
            .map_err(|error| AskError::NoAnswer(format!("the TLS handshake failed: {error}")))?;
        exchange(Listening(stream), request).await
    };
    let answer = tokio::time::timeout(timeout, asking).await;
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

async fn exchange<S: AsyncRead + AsyncWrite + Send + Unpin + 'static>(
    stream: Listening<S>,
    request: Request<Full<Bytes>>,
) -> Result<Answer, AskError> {
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

/// A connection on which the response is still read when the other side takes no more of the
/// request: a service may refuse a body, say so and close before all of it was sent (RFC 9112,
/// 9.3).
struct Listening<S>(S);

/// Counts bytes that were not taken as sent.
fn sent_anyway(outcome: Poll<io::Result<usize>>, length: usize) -> Poll<io::Result<usize>> {
    match outcome {
        Poll::Ready(Err(error)) if refuses_more(&error) => Poll::Ready(Ok(length)),
        outcome => outcome,
    }
}

fn refuses_more(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::BrokenPipe | ErrorKind::ConnectionReset
    )
}

impl<S: AsyncRead + Unpin> AsyncRead for Listening<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Listening<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        sent_anyway(
            Pin::new(&mut self.0).poll_write(context, bytes),
            bytes.len(),
        )
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match Pin::new(&mut self.0).poll_shutdown(context) {
            Poll::Ready(Err(error)) if error.kind() == ErrorKind::NotConnected => {
                Poll::Ready(Ok(()))
            }
            outcome => outcome,
        }
    }
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

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::net::TcpListener;
    use std::thread;
    use std::time::Duration;

    use super::ask;

    #[tokio::test]
    async fn a_refusal_is_read_though_not_all_was_sent() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let refuse = move || {
            for stream in listener.incoming().take(20) {
                let mut reader = BufReader::new(stream.unwrap());
                let mut line = String::new();
                while reader.read_line(&mut line).unwrap() > 2 {
                    line.clear();
                }
                let response = b"HTTP/1.1 413 Content Too Large\r\ncontent-length: 2\r\n\r\nno";
                reader.get_mut().write_all(response).unwrap();
            }
        };
        let refusing = thread::spawn(refuse);
        let body = vec![b'x'; 8 << 20];
        for _ in 0..20 {
            let answer = ask(address, "POST", "/", &[], &body, Duration::from_secs(10)).await;
            assert_eq!(answer.unwrap().status, 413);
        }
        refusing.join().unwrap();
    }
}
