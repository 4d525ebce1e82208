//! The recording proxy: sits between a contender and the real backend, forwards everything, and
//! writes down the exchanges.

use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bakeoff_base::problem::Problem;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1 as client;
use hyper::header::{
    ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, EXPECT, HeaderMap, HeaderValue,
    TRANSFER_ENCODING,
};
use hyper::server::conn::http1 as server;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};

use crate::key::RequestKey;
use crate::recording::{HEADERS, Recorded, Recording, RecordingError};

/// Responses above this many bytes get a warning: every replay sends them, and the repository keeps
/// them.
const LARGE_BYTES: usize = 256 << 10;

/// How often new exchanges are written, and so the most that a killed session loses.
const SAVE_EVERY: Duration = Duration::from_secs(2);

/// Pause after a connection could not be accepted, mostly for lack of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// A recording proxy that listens but does not record yet.
#[derive(Debug)]
pub struct RecordingProxy {
    listener: TcpListener,
    address: SocketAddr,
    upstream: SocketAddr,
    out: PathBuf,
    log: Arc<Log>,
}

/// The outcome of a recording session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordSummary {
    /// Exchanges in the file after recording.
    pub exchanges: usize,
    /// Exchanges that were not in the file before.
    pub new: usize,
    /// Warnings, one sentence each: large responses, failures of the backend.
    pub notes: Vec<String>,
}

#[derive(Debug, Default)]
struct Log {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    recording: Recording,
    changed: bool,
    failures: BTreeMap<String, u64>,
}

impl Log {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RecordingProxy {
    /// Listens, and reads the recording to extend, if there is one. Port 0 takes any free one;
    /// [`RecordingProxy::address`] returns it.
    ///
    /// # Errors
    /// The address cannot be used, or the existing recording cannot be read.
    pub async fn bind(
        upstream: SocketAddr,
        listen: SocketAddr,
        out: &Path,
    ) -> Result<Self, RecordingError> {
        let mut recording = Recording::default();
        if out.exists() {
            recording.merge_file(out)?;
        }
        let broken = |error: io::Error| RecordingError::Io {
            path: PathBuf::from(listen.to_string()),
            error,
        };
        let listener = TcpListener::bind(listen).await.map_err(broken)?;
        let address = listener.local_addr().map_err(broken)?;
        let state = State {
            recording,
            ..State::default()
        };
        Ok(Self {
            listener,
            address,
            upstream,
            out: out.to_owned(),
            log: Arc::new(Log {
                state: Mutex::new(state),
            }),
        })
    }

    /// Returns the address on which it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Forwards and records until `stop` is ready, and writes the file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub async fn record(
        self,
        stop: impl Future<Output = ()>,
    ) -> Result<RecordSummary, RecordingError> {
        let before = self.log.state().recording.len();
        let mut save = tokio::time::interval(SAVE_EVERY);
        tokio::pin!(stop);
        loop {
            tokio::select! {
                () = &mut stop => break,
                _ = save.tick() => self.save().await?,
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, _)) => {
                        let log = Arc::clone(&self.log);
                        tokio::spawn(connection(stream, self.upstream, log));
                    }
                    Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
                },
            }
        }
        self.save().await?;
        let state = self.log.state();
        Ok(RecordSummary {
            exchanges: state.recording.len(),
            new: state.recording.len() - before,
            notes: notes(&state),
        })
    }

    async fn save(&self) -> Result<(), RecordingError> {
        let recording = {
            let mut state = self.log.state();
            if !std::mem::take(&mut state.changed) {
                return Ok(());
            }
            state.recording.clone()
        };
        let out = self.out.clone();
        let writing = tokio::task::spawn_blocking(move || recording.write(&out));
        writing.await.unwrap_or_else(|error| {
            Err(RecordingError::Io {
                path: self.out.clone(),
                error: io::Error::other(error),
            })
        })
    }
}

fn notes(state: &State) -> Vec<String> {
    let large = state
        .recording
        .exchanges()
        .filter(|(_, recorded)| recorded.body.len() > LARGE_BYTES)
        .map(|(key, recorded)| format!("{key}: a response of {} kB", recorded.body.len() / 1000));
    let failures = state
        .failures
        .iter()
        .map(|(what, count)| format!("{what} ({count} times); it was not recorded"));
    large.chain(failures).collect()
}

async fn connection(stream: TcpStream, upstream: SocketAddr, log: Arc<Log>) {
    let _ = stream.set_nodelay(true);
    let line = Arc::new(Line {
        upstream,
        log,
        sender: tokio::sync::Mutex::new(None),
    });
    let service = service_fn(move |request| {
        let line = Arc::clone(&line);
        async move { line.pass_on(request).await }
    });
    // The client reports errors of a connection.
    let _ = server::Builder::new()
        .auto_date_header(false)
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

/// A client's own connection to the backend, opened on first use.
struct Line {
    upstream: SocketAddr,
    log: Arc<Log>,
    sender: tokio::sync::Mutex<Option<client::SendRequest<Full<Bytes>>>>,
}

impl Line {
    async fn pass_on(
        &self,
        request: Request<Incoming>,
    ) -> Result<Response<Full<Bytes>>, hyper::Error> {
        let (mut parts, body) = request.into_parts();
        let body = body.collect().await?.to_bytes();
        let target = parts
            .uri
            .path_and_query()
            .map_or("/", |target| target.as_str());
        let key = RequestKey::of(parts.method.as_str(), target, &body);
        if let Ok(uri) = target.parse() {
            parts.uri = uri;
        }
        // Recordings have uncompressed bodies: compressed ones would be sent to clients that cannot
        // read them.
        parts.headers.remove(ACCEPT_ENCODING);
        for name in [CONNECTION, TRANSFER_ENCODING, CONTENT_LENGTH, EXPECT] {
            parts.headers.remove(name);
        }
        let began = Instant::now();
        match self.ask(Request::from_parts(parts, Full::new(body))).await {
            Ok((parts, body)) => {
                let recorded = Recorded {
                    status: parts.status.as_u16(),
                    headers: kept(&key, &parts.headers),
                    body: body.to_vec(),
                    durations_us: vec![micros(began.elapsed())],
                };
                let mut state = self.log.state();
                state.changed |= state.recording.add(key, recorded);
                drop(state);
                Ok(passed_back(parts, body))
            }
            Err(problem) => {
                let what = format!("{key}: the backend did not respond: {problem}");
                *self.log.state().failures.entry(what).or_default() += 1;
                Ok(bad_gateway(problem.message()))
            }
        }
    }

    async fn ask(
        &self,
        request: Request<Full<Bytes>>,
    ) -> Result<(hyper::http::response::Parts, Bytes), Problem> {
        let mut sender = self.sender.lock().await;
        let usable = match sender.as_mut() {
            Some(sender) => sender.ready().await.is_ok(),
            None => false,
        };
        if !usable {
            *sender = None;
        }
        let sender = match sender.as_mut() {
            Some(sender) => sender,
            None => sender.insert(self.connect().await?),
        };
        let answer = sender.send_request(request).await;
        let (parts, body) = answer.map_err(Problem::new)?.into_parts();
        let body = body.collect().await.map_err(Problem::new)?;
        Ok((parts, body.to_bytes()))
    }

    async fn connect(&self) -> Result<client::SendRequest<Full<Bytes>>, Problem> {
        let stream = TcpStream::connect(self.upstream).await;
        let stream = stream.map_err(Problem::new)?;
        let _ = stream.set_nodelay(true);
        let (sender, connection) = client::handshake(TokioIo::new(stream))
            .await
            .map_err(Problem::new)?;
        tokio::spawn(connection);
        Ok(sender)
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

fn kept(key: &RequestKey, headers: &HeaderMap) -> BTreeMap<String, String> {
    let mut names: Vec<&str> = HEADERS.to_vec();
    if key.method == Method::HEAD.as_str() {
        names.push(CONTENT_LENGTH.as_str());
    }
    names
        .into_iter()
        .filter_map(|name| {
            let value = headers.get(name)?.to_str().ok()?;
            Some((name.to_owned(), value.to_owned()))
        })
        .collect()
}

fn passed_back(mut parts: hyper::http::response::Parts, body: Bytes) -> Response<Full<Bytes>> {
    for name in [CONNECTION, TRANSFER_ENCODING] {
        parts.headers.remove(name);
    }
    Response::from_parts(parts, Full::new(body))
}

fn bad_gateway(message: &str) -> Response<Full<Bytes>> {
    let text = serde_json::json!({ "error": "the backend did not respond", "reason": message });
    let mut response = Response::new(Full::new(Bytes::from(text.to_string())));
    *response.status_mut() = StatusCode::BAD_GATEWAY;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    response
}
