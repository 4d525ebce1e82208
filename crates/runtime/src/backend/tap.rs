//! The tap: stands between contenders and a real backend, passes everything on and keeps it.
//! What it kept becomes the recordings of the replay backend.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::CONTENT_TYPE;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::recording::{DURATIONS_MAX, Exchange, Key};
use crate::http::ask;

/// How long the real backend may take for an answer.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);

/// A tap at work. Dropping it closes it.
#[derive(Debug)]
pub struct Tap {
    address: SocketAddr,
    kept: Arc<Mutex<BTreeMap<Key, Exchange>>>,
    task: JoinHandle<()>,
}

impl Tap {
    /// Opens a tap in front of `upstream` on a free port of `listen`.
    ///
    /// # Errors
    /// The address cannot be listened on.
    pub async fn open(listen: SocketAddr, upstream: SocketAddr) -> std::io::Result<Self> {
        let listener = TcpListener::bind(listen).await?;
        let address = listener.local_addr()?;
        let kept = Arc::new(Mutex::new(BTreeMap::new()));
        let shared = Arc::clone(&kept);
        let task = tokio::spawn(async move {
            loop {
                let Ok((stream, _)) = listener.accept().await else {
                    continue;
                };
                let kept = Arc::clone(&shared);
                tokio::spawn(async move {
                    let service = service_fn(move |request| pass(request, upstream, kept.clone()));
                    // How a contender ends its connection is its own affair.
                    let _ = http1::Builder::new()
                        .serve_connection(TokioIo::new(stream), service)
                        .await;
                });
            }
        });
        Ok(Self {
            address,
            kept,
            task,
        })
    }

    /// Where contenders reach it.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes what was kept since the last call.
    #[must_use]
    pub fn take(&self) -> BTreeMap<Key, Exchange> {
        std::mem::take(&mut *self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Tap {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn pass(
    request: Request<Incoming>,
    upstream: SocketAddr,
    kept: Arc<Mutex<BTreeMap<Key, Exchange>>>,
) -> Result<Response<Full<Bytes>>, hyper::Error> {
    let (parts, body) = request.into_parts();
    let path = parts
        .uri
        .path_and_query()
        .map_or("/", |path| path.as_str())
        .to_owned();
    let body = body.collect().await?.to_bytes();
    let content_type = parts
        .headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let headers: Vec<(String, String)> = content_type
        .map(|value| ("content-type".to_owned(), value.to_owned()))
        .into_iter()
        .collect();
    let begun = Instant::now();
    let asked = ask(
        upstream,
        parts.method.as_str(),
        &path,
        &headers,
        &body,
        ANSWER_LIMIT,
    )
    .await;
    let took_us = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
    let Ok(answer) = asked else {
        let mut response = Response::new(Full::new(Bytes::from_static(b"no answer")));
        *response.status_mut() = StatusCode::BAD_GATEWAY;
        return Ok(response);
    };
    let header = answer
        .headers
        .iter()
        .find(|(name, _)| name == "content-type");
    let content_type = header.map(|(_, value)| value.clone());
    let text = String::from_utf8_lossy(&answer.body).into_owned();
    let key = Key::new(parts.method.as_str(), &path, &body);
    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
    let exchange = kept.entry(key.clone()).or_insert_with(|| Exchange {
        key,
        status: answer.status,
        content_type: content_type.clone(),
        answer: text,
        durations_us: Vec::new(),
    });
    if exchange.durations_us.len() < DURATIONS_MAX {
        exchange.durations_us.push(took_us);
    }
    drop(kept);
    let mut response = Response::new(Full::new(Bytes::from(answer.body)));
    *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::BAD_GATEWAY);
    if let Some(value) = content_type.and_then(|text| text.parse().ok()) {
        response.headers_mut().insert(CONTENT_TYPE, value);
    }
    Ok(response)
}
