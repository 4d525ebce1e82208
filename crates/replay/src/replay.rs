//! The replay backend: serves recorded exchanges from memory, over HTTP/1.1.
//!
//! It excludes the real backend from a measurement: a response costs a few microseconds, and its
//! delay is configured. It is not a stub: a request that was not recorded gets status 501 and a
//! note, never an invented response.

use std::collections::HashMap;
use std::convert::Infallible;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bakeoff_model::suite::ReplaySettings;
use flate2::Compression;
use flate2::write::GzEncoder;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{
    ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderName,
    HeaderValue,
};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use crate::delay::Delayer;
use crate::key::RequestKey;
use crate::recording::{Recorded, Recording};
use crate::request_count::Answered;

/// Minimum interval between notes of the same unknown request: each run notes its own, and a loaded
/// contender does not fill the disk.
const NOTE_EVERY: Duration = Duration::from_secs(1);

/// Maximum number of different unknown requests that are listed; the others get a response, but no
/// note.
const UNKNOWN_MAX: usize = 1000;

/// Pause after a connection could not be accepted, for want of file descriptors mostly.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// Options of the replay backend.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReplayOptions {
    /// How the backend responds.
    pub settings: ReplaySettings,
    /// The file to which unknown requests are appended, one JSON string per line.
    pub unknown: Option<PathBuf>,
    /// The path of a Unix socket to create, which sends each client the number of completed
    /// requests as a decimal number.
    pub count: Option<PathBuf>,
    /// Seed of the delays.
    pub seed: u64,
}

/// A replay backend that listens but does not serve yet.
#[derive(Debug)]
pub struct Replay {
    listener: TcpListener,
    address: SocketAddr,
    shelf: Arc<Shelf>,
}

/// The state that connections share.
#[derive(Debug)]
struct Shelf {
    answers: HashMap<RequestKey, Stored>,
    delayer: Delayer,
    unknown: Option<Notes>,
    answered: Answered,
    queue: Option<Arc<Semaphore>>,
}

/// A response ready to be sent.
#[derive(Debug)]
struct Stored {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
    /// The body for clients that accept gzip.
    compressed: Option<Bytes>,
    durations_us: Vec<u64>,
}

impl Replay {
    /// Listens. Port 0 takes any free one; [`Replay::address`] returns it.
    ///
    /// # Errors
    /// The address cannot be used, the file for unknown requests cannot be written, or the socket
    /// for the count cannot be created.
    pub async fn bind(
        recording: &Recording,
        listen: SocketAddr,
        options: &ReplayOptions,
    ) -> io::Result<Self> {
        let unknown = options.unknown.as_deref().map(Notes::open).transpose()?;
        let listener = TcpListener::bind(listen).await?;
        let address = listener.local_addr()?;
        let answers = recording
            .exchanges()
            .map(|(key, recorded)| {
                let stored = Stored::of(key, recorded, options.settings.gzip);
                (key.clone(), stored)
            })
            .collect();
        let delayer = Delayer::new(options.settings.delay, options.seed);
        let places = options.settings.queue.map(|places| places as usize);
        let answered = Answered::default();
        if let Some(path) = &options.count {
            answered.tell_at(path)?;
        }
        let shelf = Arc::new(Shelf {
            answers,
            delayer,
            unknown,
            answered,
            queue: places.map(|places| Arc::new(Semaphore::new(places))),
        });
        Ok(Self {
            listener,
            address,
            shelf,
        })
    }

    /// Returns the address on which it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until the future is dropped.
    pub async fn serve(self) -> Infallible {
        loop {
            match self.listener.accept().await {
                Ok((stream, _)) => {
                    tokio::spawn(connection(stream, Arc::clone(&self.shelf)));
                }
                Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
            }
        }
    }
}

async fn connection(stream: TcpStream, shelf: Arc<Shelf>) {
    // Without it a delayed acknowledgement could be mistaken for the backend's latency.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| {
        let shelf = Arc::clone(&shelf);
        async move { shelf.answer(request).await }
    });
    // The client reports errors of a connection; they cannot be reported here.
    let _ = http1::Builder::new()
        .auto_date_header(false)
        .pipeline_flush(true)
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

impl Shelf {
    async fn answer(
        &self,
        request: Request<Incoming>,
    ) -> Result<Response<Full<Bytes>>, hyper::Error> {
        let (parts, body) = request.into_parts();
        let body = body.collect().await?.to_bytes();
        let began = Instant::now();
        let target = parts
            .uri
            .path_and_query()
            .map_or("/", |target| target.as_str());
        let key = RequestKey::of(parts.method.as_str(), target, &body);
        let Some(stored) = self.answers.get(&key) else {
            return Ok(self.unknown(&key));
        };
        let place = self.queue.as_ref().map(|queue| queue.try_acquire());
        if let Some(Err(_)) = place {
            return Ok(rejection());
        }
        self.delayer.hold(began, &stored.durations_us).await;
        self.answered.one();
        Ok(stored.response(takes_gzip(&parts.headers)))
    }

    fn unknown(&self, key: &RequestKey) -> Response<Full<Bytes>> {
        let request = key.to_string();
        if let Some(notes) = &self.unknown {
            notes.note(&request);
        }
        let body = serde_json::json!({ "error": "not recorded", "request": request });
        refusal(StatusCode::NOT_IMPLEMENTED, &body)
    }
}

/// Returns Elasticsearch's response when its queue is full.
fn rejection() -> Response<Full<Bytes>> {
    let reason = "rejected execution: the queue of the replay backend is full";
    let error = serde_json::json!({ "type": "es_rejected_execution_exception", "reason": reason });
    let body = serde_json::json!({ "error": error, "status": 429 });
    refusal(StatusCode::TOO_MANY_REQUESTS, &body)
}

fn refusal(status: StatusCode, body: &serde_json::Value) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body.to_string())));
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    response
}

/// Whether a client accepts gzip, with a weight other than zero.
fn takes_gzip(headers: &HeaderMap) -> bool {
    let listed = headers.get_all(ACCEPT_ENCODING).into_iter();
    let listed = listed.filter_map(|value| value.to_str().ok());
    listed.flat_map(|value| value.split(',')).any(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, "q=1"));
        let weight = weight
            .trim()
            .strip_prefix("q=")
            .and_then(|weight| weight.parse::<f64>().ok());
        name.trim().eq_ignore_ascii_case("gzip") && weight != Some(0.0)
    })
}

/// Compresses a body as Elasticsearch does by default: level 3. `None` without a body.
fn compressed(body: &[u8]) -> Option<Bytes> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::new(3));
    encoder.write_all(body).ok()?;
    let bytes = encoder.finish().ok()?;
    (!body.is_empty()).then(|| Bytes::from(bytes))
}

impl Stored {
    fn of(key: &RequestKey, recorded: &Recorded, gzip: bool) -> Self {
        let pairs = recorded.headers.iter().filter_map(|(name, value)| {
            let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
            Some((name, HeaderValue::from_str(value).ok()?))
        });
        let mut headers: HeaderMap = pairs.collect();
        if key.method != Method::HEAD.as_str() {
            // The server counts the bytes itself; only a response without them has to say so.
            headers.remove(CONTENT_LENGTH);
        }
        Self {
            status: StatusCode::from_u16(recorded.status).unwrap_or(StatusCode::BAD_GATEWAY),
            compressed: match gzip && !headers.contains_key(CONTENT_ENCODING) {
                true => compressed(&recorded.body),
                false => None,
            },
            headers,
            body: Bytes::from(recorded.body.clone()),
            durations_us: recorded.durations_us.clone(),
        }
    }

    fn response(&self, takes_gzip: bool) -> Response<Full<Bytes>> {
        let compressed = self.compressed.as_ref().filter(|_| takes_gzip);
        let body = compressed.unwrap_or(&self.body);
        let mut response = Response::new(Full::new(body.clone()));
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers.clone();
        if compressed.is_some() {
            let gzip = HeaderValue::from_static("gzip");
            response.headers_mut().insert(CONTENT_ENCODING, gzip);
        }
        response
    }
}

/// The file of unknown requests.
#[derive(Debug)]
struct Notes {
    inner: Mutex<(File, HashMap<String, Instant>)>,
}

impl Notes {
    fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        Ok(Self {
            inner: Mutex::new((file, HashMap::new())),
        })
    }

    fn note(&self, request: &str) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let (file, seen) = &mut *inner;
        let now = Instant::now();
        let full = seen.len() >= UNKNOWN_MAX;
        match seen.get_mut(request) {
            Some(last) if now.duration_since(*last) < NOTE_EVERY => return,
            Some(last) => *last = now,
            None if full => return,
            None => {
                seen.insert(request.to_owned(), now);
            }
        }
        // One write, so that a reader never finds half a line that was not cut by a full disk.
        let _ = file.write_all(format!("{}\n", serde_json::json!(request)).as_bytes());
    }
}
