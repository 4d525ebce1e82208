//! Passes on the requests of an HTTP/2 connection: requests, responses and trailers are unchanged,
//! while their frames are new.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Instant;

use bakeoff_base::problem::Problem;
use http_body_util::Either;
use http_body_util::Full;
use hyper::body::{Body as _, Bytes, Frame, Incoming, SizeHint};
use hyper::client::conn::http2 as client;
use hyper::header::{HOST, HeaderMap};
use hyper::server::conn::http2 as server;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncWrite};

use super::exchange::{Body, Exchange, Exchanges, SentRequest};
use super::http1::REQUEST_BYTES_MAX;

/// Connects a client and a server until one of them ends.
pub(super) async fn pass<C, S>(client: C, server: S, exchanges: Arc<dyn Exchanges>)
where
    C: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let handshake = client::handshake(TokioExecutor::new(), TokioIo::new(server));
    let (sender, connection) = match handshake.await {
        Ok(made) => made,
        Err(error) => {
            let why = Problem::new(error);
            exchanges.leave_out("a connection over HTTP/2", why.message());
            return;
        }
    };
    let service = service_fn(move |request| {
        let exchanges = Arc::clone(&exchanges);
        let sender = sender.clone();
        async move { Ok::<_, Infallible>(pass_on(request, sender, exchanges).await) }
    });
    let serving = server::Builder::new(TokioExecutor::new())
        .auto_date_header(false)
        .serve_connection(TokioIo::new(client), service);
    // Both sides report errors of a connection.
    tokio::select! {
        _ = serving => {}
        _ = connection => {}
    }
}

async fn pass_on(
    request: Request<Incoming>,
    mut sender: client::SendRequest<Tapped>,
    exchanges: Arc<dyn Exchanges>,
) -> Response<Either<Tapped, Full<Bytes>>> {
    let (parts, body) = request.into_parts();
    let sent = SentRequest {
        method: parts.method.as_str().to_owned(),
        target: parts
            .uri
            .path_and_query()
            .map_or("/", |target| target.as_str())
            .to_owned(),
        headers: match parts.uri.authority() {
            Some(authority) if !parts.headers.contains_key(HOST) => {
                let host = ("host".to_owned(), authority.to_string());
                std::iter::once(host).chain(pairs(&parts.headers)).collect()
            }
            _ => pairs(&parts.headers).collect(),
        },
        body: Body::new(REQUEST_BYTES_MAX),
    };
    let line = sent.line();
    let stream = Arc::new(Stream {
        state: Mutex::new(State {
            response: Body::new(exchanges.response_bytes_max()),
            request: sent,
            status: 0,
            headers: Vec::new(),
            ended: 0,
        }),
        arrived: Instant::now(),
        exchanges: Arc::clone(&exchanges),
    });
    let body = Tapped::new(body, Arc::clone(&stream), Side::Request);
    let answer = sender.send_request(Request::from_parts(parts, body)).await;
    match answer {
        Ok(answer) => {
            let (parts, body) = answer.into_parts();
            {
                let mut state = stream.state.lock().unwrap_or_else(PoisonError::into_inner);
                state.status = parts.status.as_u16();
                state.headers = pairs(&parts.headers).collect();
            }
            let body = Tapped::new(body, stream, Side::Response);
            Response::from_parts(parts, Either::Left(body))
        }
        Err(error) => {
            exchanges.leave_out(&line, Problem::new(error).message());
            let mut response = Response::new(Either::Right(Full::default()));
            *response.status_mut() = StatusCode::BAD_GATEWAY;
            response
        }
    }
}

fn pairs(headers: &HeaderMap) -> impl Iterator<Item = (String, String)> {
    headers.iter().map(|(name, value)| {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        (name.as_str().to_owned(), value)
    })
}

/// A request with its response, as far as they have come.
struct Stream {
    state: Mutex<State>,
    arrived: Instant,
    exchanges: Arc<dyn Exchanges>,
}

struct State {
    request: SentRequest,
    status: u16,
    headers: Vec<(String, String)>,
    response: Body,
    /// How many of the two bodies have ended.
    ended: u8,
}

impl Drop for Stream {
    /// Both bodies are gone.
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        if state.status == 0 {
            // It was left out when it failed.
            return;
        }
        if state.ended < 2 {
            let why = "it has no complete response";
            self.exchanges.leave_out(&state.request.line(), why);
            return;
        }
        self.exchanges.take(Exchange {
            is_http2: true,
            request: state.request.clone(),
            status: state.status,
            headers: std::mem::take(&mut state.headers),
            body: state.response.clone(),
            arrived: self.arrived,
            took: self.arrived.elapsed(),
        });
    }
}

/// Which body of a stream.
#[derive(Debug, Clone, Copy)]
enum Side {
    Request,
    Response,
}

/// A body whose bytes are noted as they pass.
struct Tapped {
    body: Incoming,
    stream: Arc<Stream>,
    side: Side,
    has_ended: bool,
}

impl Tapped {
    fn new(body: Incoming, stream: Arc<Stream>, side: Side) -> Self {
        let mut tapped = Self {
            body,
            stream,
            side,
            has_ended: false,
        };
        if tapped.body.is_end_stream() {
            tapped.end();
        }
        tapped
    }

    fn end(&mut self) {
        if !std::mem::replace(&mut self.has_ended, true) {
            let state = self.stream.state.lock();
            state.unwrap_or_else(PoisonError::into_inner).ended += 1;
        }
    }
}

impl hyper::body::Body for Tapped {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        if let Some(Ok(frame)) = &frame
            && let Some(bytes) = frame.data_ref()
        {
            let mut state = self
                .stream
                .state
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            match self.side {
                Side::Request => state.request.body.push(bytes),
                Side::Response => state.response.push(bytes),
            }
        }
        if frame.is_none() || self.body.is_end_stream() {
            self.end();
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
