//! One request over HTTP, for functional checks: on a new connection each time, so that a check
//! says something about a server and not about an earlier connection.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bakeoff_base::{content_encoding, percent};
use bakeoff_model::request::RequestSpec;
use bakeoff_model::request::check::ReceivedResponse;
use bakeoff_tls::Client;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::{http1, http2};
use hyper::header::{CONNECTION, CONTENT_TYPE, HOST, HeaderMap, HeaderValue, TE};
use hyper::{Method, Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::Spoken;

/// Longest body that a check takes, bytes: above the 5 MiB of the largest workload.
const BODY_MAX: usize = 64 << 20;

/// The trailer with the status of a call of gRPC; of a call without a message it is a header.
const GRPC_STATUS: &str = "grpc-status";

/// Why there was no response.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    /// No valid response: not connected, reset, cut short, not HTTP, too late.
    #[error("{0}")]
    NoAnswer(String),
    /// The question itself is not HTTP.
    #[error("{0}")]
    BadRequest(String),
}

/// A request as it is sent.
#[derive(Debug, Clone, Copy)]
pub struct HttpRequest<'a> {
    /// The method, upper case.
    pub method: &'a str,
    /// Path and query.
    pub path: &'a str,
    /// Headers; `Host` is added unless it is one of them.
    pub headers: &'a [(String, String)],
    /// The body as it is sent.
    pub body: &'a [u8],
}

/// Asks once on a fresh connection, over plain HTTP/1.1; the response's header names are in lower
/// case.
///
/// # Errors
/// No whole response came in time, or the request is not HTTP.
pub async fn ask(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(String, String)],
    body: &[u8],
    timeout: Duration,
) -> Result<ReceivedResponse, AskError> {
    let question = HttpRequest {
        method,
        path,
        headers,
        body,
    };
    ask_over(&Spoken::default(), address, question, timeout).await
}

/// Asks as [`ask`] does, in the protocol of the service. For a gRPC call, `question` has the body
/// as it is sent, and the response has the trailers among its headers.
///
/// # Errors
/// No whole response came in time, the request is not HTTP, or TLS cannot be set up.
pub async fn ask_over(
    spoken: &Spoken,
    address: SocketAddr,
    question: HttpRequest<'_>,
    timeout: Duration,
) -> Result<ReceivedResponse, AskError> {
    let is_call = spoken.is_grpc;
    let request = request(address, question)?;
    let host = request
        .headers()
        .get(HOST)
        .and_then(|host| host.to_str().ok());
    let host = host.map_or_else(|| address.to_string(), str::to_owned);
    let client = spoken.tls.as_ref();
    let client = client.map(|tls| Client::new(tls, &host, spoken.alpn()));
    let client = client.transpose();
    let client = client.map_err(|error| AskError::NoAnswer(format!("no TLS: {error}")))?;
    let (request, head) = match is_call {
        true => (call(request, &host, client.is_some())?, None),
        false => (request, Some(head(question, &host)?)),
    };
    let asking = async {
        let stream = TcpStream::connect(address)
            .await
            .map_err(|error| AskError::NoAnswer(format!("cannot connect to {address}: {error}")))?;
        let Some(client) = client else {
            return exchange(Listening::new(stream, head), request, is_call).await;
        };
        let connecting = TlsConnector::from(client.config).connect(client.name, stream);
        let stream = connecting.await.map_err(|error| {
            let reason = bakeoff_tls::reason_of(&error);
            AskError::NoAnswer(format!("the TLS handshake failed: {reason}"))
        })?;
        exchange(Listening::new(stream, head), request, is_call).await
    };
    let answer = tokio::time::timeout(timeout, asking).await;
    answer.unwrap_or_else(|_| {
        Err(AskError::NoAnswer(format!(
            "no response within {} s",
            timeout.as_secs_f64()
        )))
    })
}

fn bad(what: &str, error: &dyn std::fmt::Display) -> AskError {
    AskError::BadRequest(format!("cannot ask {what}: {error}"))
}

fn request(
    address: SocketAddr,
    question: HttpRequest<'_>,
) -> Result<Request<Full<Bytes>>, AskError> {
    let HttpRequest {
        method,
        path,
        headers,
        body,
    } = question;
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
    Ok(request)
}

/// The head of the request as the load has it: hyper would send other names and another path.
fn head(question: HttpRequest<'_>, host: &str) -> Result<Vec<u8>, AskError> {
    let request = RequestSpec {
        method: question.method.to_owned(),
        path: question.path.to_owned(),
        headers: question.headers.to_vec(),
        body: question.body.into(),
        ..RequestSpec::default()
    };
    let head = bakeoff_load::single_head(&request, host);
    head.map_err(|why| AskError::BadRequest(format!("cannot ask {}: {why}", question.path)))
}

/// The request as a call of gRPC over HTTP/2, which has its host in the URI.
fn call(
    mut request: Request<Full<Bytes>>,
    host: &str,
    is_tls: bool,
) -> Result<Request<Full<Bytes>>, AskError> {
    let scheme = if is_tls { "https" } else { "http" };
    let uri = format!("{scheme}://{host}{}", request.uri());
    *request.uri_mut() = uri.parse().map_err(|error| bad(&uri, &error))?;
    let headers = request.headers_mut();
    headers.remove(HOST);
    headers.insert(TE, HeaderValue::from_static("trailers"));
    let kind = HeaderValue::from_static("application/grpc");
    headers.entry(CONTENT_TYPE).or_insert(kind);
    Ok(request)
}

fn broken(error: &dyn std::error::Error) -> AskError {
    AskError::NoAnswer(reason(error))
}

async fn exchange<S: AsyncRead + AsyncWrite + Send + Unpin + 'static>(
    stream: Listening<S>,
    mut request: Request<Full<Bytes>>,
    is_call: bool,
) -> Result<ReceivedResponse, AskError> {
    let io = TokioIo::new(stream);
    if is_call {
        let shaken = http2::handshake(TokioExecutor::new(), io).await;
        let (mut sender, connection) = shaken.map_err(|error| broken(&error))?;
        let driver = tokio::spawn(connection);
        let answer = answered(sender.send_request(request).await, is_call).await;
        driver.abort();
        return answer;
    }
    if !request.headers().contains_key(CONNECTION) {
        let close = HeaderValue::from_static("close");
        request.headers_mut().insert(CONNECTION, close);
    }
    let shaken = http1::handshake(io).await;
    let (mut sender, connection) = shaken.map_err(|error| broken(&error))?;
    let driver = tokio::spawn(connection);
    let answer = answered(sender.send_request(request).await, is_call).await;
    driver.abort();
    answer
}

async fn answered(
    response: hyper::Result<Response<Incoming>>,
    is_call: bool,
) -> Result<ReceivedResponse, AskError> {
    let (parts, body) = response.map_err(|error| broken(&error))?.into_parts();
    let body = Limited::new(body, BODY_MAX).collect().await;
    let body = body.map_err(|error| AskError::NoAnswer(reason(error.as_ref())))?;
    let mut headers = texts(&parts.headers);
    if is_call {
        headers.extend(body.trailers().map(texts).unwrap_or_default());
    }
    let grpc_status = headers.iter().find(|(name, _)| name == GRPC_STATUS);
    let grpc_status = grpc_status.and_then(|(_, text)| text.parse().ok());
    if is_call && grpc_status.is_none() && parts.status.is_success() {
        return Err(AskError::NoAnswer(
            "a response without a grpc-status".to_owned(),
        ));
    }
    let body: Vec<u8> = body.to_bytes().into();
    let content = content_encoding::decoded(&headers, &body, BODY_MAX);
    let content = content.map_err(|why| AskError::NoAnswer(why.to_string()))?;
    Ok(ReceivedResponse {
        status: parts.status.as_u16(),
        grpc_status: grpc_status.filter(|_| is_call),
        headers,
        body: content.unwrap_or(body),
    })
}

fn texts(headers: &HeaderMap) -> Vec<(String, String)> {
    let texts = headers.iter().map(|(name, value)| {
        (
            name.as_str().to_owned(),
            String::from_utf8_lossy(value.as_bytes()).into_owned(),
        )
    });
    texts.collect()
}

/// A connection on which the response is still read when the other side takes no more of the
/// request: a service may refuse a body, say so and close before all of it was sent (RFC 9112,
/// 9.3). Its head is replaced by another one.
struct Listening<S> {
    stream: S,
    /// The head that is sent in place of the one that is written.
    head: Option<Vec<u8>>,
    /// The bytes that were written of the head that is replaced.
    written: Vec<u8>,
    /// The bytes not yet sent of the head and of what was written with it.
    pending: Vec<u8>,
}

impl<S: AsyncWrite + Unpin> Listening<S> {
    fn new(stream: S, head: Option<Vec<u8>>) -> Self {
        Self {
            stream,
            head,
            written: Vec::new(),
            pending: Vec::new(),
        }
    }

    /// Takes bytes up to the end of the head that is replaced, and what was written with it.
    fn replace_head(&mut self, bytes: &[u8]) {
        self.written.extend_from_slice(bytes);
        let end = self.written.windows(4).position(|four| four == b"\r\n\r\n");
        if let (Some(end), Some(head)) = (end, &mut self.head) {
            self.pending = std::mem::take(head);
            self.pending.extend_from_slice(&self.written[end + 4..]);
            self.head = None;
        }
    }

    fn poll_pending(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.pending.is_empty() {
            let sent = Pin::new(&mut self.stream).poll_write(context, &self.pending);
            match sent_anyway(sent, self.pending.len()) {
                Poll::Ready(Ok(0)) => return Poll::Ready(Err(ErrorKind::WriteZero.into())),
                Poll::Ready(Ok(count)) => drop(self.pending.drain(..count)),
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => return Poll::Pending,
            }
        }
        Poll::Ready(Ok(()))
    }
}

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
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Listening<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.head.is_some() {
            self.replace_head(bytes);
            return Poll::Ready(Ok(bytes.len()));
        }
        match self.poll_pending(context) {
            Poll::Ready(Ok(())) => {}
            Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
            Poll::Pending => return Poll::Pending,
        }
        sent_anyway(
            Pin::new(&mut self.stream).poll_write(context, bytes),
            bytes.len(),
        )
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.poll_pending(context) {
            Poll::Ready(Ok(())) => Pin::new(&mut self.stream).poll_flush(context),
            unfinished => unfinished,
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.poll_pending(context) {
            Poll::Ready(Ok(())) => {}
            unfinished => return unfinished,
        }
        match Pin::new(&mut self.stream).poll_shutdown(context) {
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
