//! The replay backend: answers recorded exchanges from memory, so that a contender can be measured
//! without a database that eats the other core. An unknown request is answered 501 and written
//! down, so that nobody mistakes a gap in the recording for a slow or wrong contender.

use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bakeoff_model::suite::Limits;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::CONTENT_TYPE;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;

use super::recording::{Exchange, Key, read_folder};
use super::{Backend, BackendError, BackendOptions, free_port};
use crate::api::{Runtime, StartSpec};
use crate::process::ProcessRuntime;

/// Asked to find out whether the replay backend answers; never recorded.
pub const READY_PATH: &str = "/_bakeoff/ready";
/// How long it may take to read its recordings.
const START_LIMIT: Duration = Duration::from_secs(30);
/// Raw requests remembered with their answers, so that a body is parsed once only.
const REMEMBERED_MAX: usize = 10_000;

/// How long an answer is held back.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum Delay {
    /// Not at all.
    #[default]
    None,
    /// As long as the real backend took, one of its recorded durations after the other.
    Recorded,
    /// Always as long.
    Constant(Duration),
    /// Exponentially distributed with this mean.
    Exponential(Duration),
}

/// The recordings and what has been asked.
#[derive(Debug)]
pub struct Replay {
    answers: BTreeMap<Key, Arc<Recorded>>,
    delay: Delay,
    unknown_path: Option<PathBuf>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct Recorded {
    status: StatusCode,
    content_type: Option<String>,
    answer: Bytes,
    durations_us: Vec<u64>,
}

#[derive(Debug, Default)]
struct State {
    remembered: HashMap<(String, Bytes), Arc<Recorded>>,
    /// Answers given so far; chooses recorded durations and seeds random ones.
    answered: u64,
    unknown: std::collections::BTreeSet<String>,
}

impl Replay {
    /// Reads all recordings of a folder. Unknown requests are appended to `unknown_path`.
    ///
    /// # Errors
    /// A sentence naming the folder, file or line that cannot be read.
    pub fn read(
        folder: &Path,
        delay: Delay,
        unknown_path: Option<PathBuf>,
    ) -> Result<Self, String> {
        let exchanges = read_folder(folder)?;
        let recorded = |exchange: Exchange| -> Result<Recorded, String> {
            let status = StatusCode::from_u16(exchange.status)
                .map_err(|_| format!("{}: status {} is none", exchange.key, exchange.status))?;
            Ok(Recorded {
                status,
                content_type: exchange.content_type,
                answer: Bytes::from(exchange.answer),
                durations_us: exchange.durations_us,
            })
        };
        let mut answers = BTreeMap::new();
        for (key, exchange) in exchanges {
            answers.insert(key, Arc::new(recorded(exchange)?));
        }
        Ok(Self {
            answers,
            delay,
            unknown_path,
            state: Mutex::default(),
        })
    }

    /// Serves until the listener fails.
    ///
    /// # Errors
    /// The address cannot be listened on.
    pub async fn serve(self, listen: SocketAddr) -> std::io::Result<Infallible> {
        let listener = TcpListener::bind(listen).await?;
        let replay = Arc::new(self);
        loop {
            // A connection that ended before it was accepted is not the listener's end.
            let Ok((stream, _)) = listener.accept().await else {
                continue;
            };
            // Without it a small answer could wait for the other side's acknowledgement.
            let _ = stream.set_nodelay(true);
            let replay = Arc::clone(&replay);
            tokio::spawn(async move {
                let service = service_fn(move |request| {
                    let replay = Arc::clone(&replay);
                    async move { replay.answer(request).await }
                });
                // How a contender ends its connection is its own affair.
                let _ = http1::Builder::new()
                    .timer(TokioTimer::new())
                    .serve_connection(TokioIo::new(stream), service)
                    .await;
            });
        }
    }

    async fn answer(
        &self,
        request: Request<Incoming>,
    ) -> Result<Response<Full<Bytes>>, hyper::Error> {
        let (parts, body) = request.into_parts();
        let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
        if path == READY_PATH {
            return Ok(Response::new(Full::new(Bytes::from_static(b"ready"))));
        }
        let head = format!("{} {path}", parts.method);
        let body = body.collect().await?.to_bytes();
        let Some((recorded, turn)) = self.find(head, &body, parts.method.as_str(), path) else {
            return Ok(self.unknown(&Key::new(parts.method.as_str(), path, &body)));
        };
        if let Some(pause) = pause(self.delay, &recorded.durations_us, turn) {
            tokio::time::sleep(pause).await;
        }
        let mut response = Response::new(Full::new(recorded.answer.clone()));
        *response.status_mut() = recorded.status;
        if let Some(value) = recorded
            .content_type
            .as_ref()
            .and_then(|text| text.parse().ok())
        {
            response.headers_mut().insert(CONTENT_TYPE, value);
        }
        Ok(response)
    }

    /// The recorded answer and how many were given before.
    fn find(
        &self,
        head: String,
        body: &Bytes,
        method: &str,
        path: &str,
    ) -> Option<(Arc<Recorded>, u64)> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.answered += 1;
        let turn = state.answered;
        let raw = (head, body.clone());
        if let Some(recorded) = state.remembered.get(&raw) {
            return Some((Arc::clone(recorded), turn));
        }
        let recorded = self.answers.get(&Key::new(method, path, body))?;
        if state.remembered.len() < REMEMBERED_MAX {
            state.remembered.insert(raw, Arc::clone(recorded));
        }
        Some((Arc::clone(recorded), turn))
    }

    fn unknown(&self, key: &Key) -> Response<Full<Bytes>> {
        let name = key.to_string();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.unknown.insert(name.clone())
            && let Some(path) = &self.unknown_path
        {
            let file = OpenOptions::new().create(true).append(true).open(path);
            // The 501 says it too; a list that cannot be written must not end the backend.
            let _ = file.and_then(|mut file| writeln!(file, "{}", name.replace('\n', " ")));
        }
        drop(state);
        let text = serde_json::json!({ "error": format!("no recording of {name}") }).to_string();
        let mut response = Response::new(Full::new(Bytes::from(text)));
        *response.status_mut() = StatusCode::NOT_IMPLEMENTED;
        response.headers_mut().insert(
            CONTENT_TYPE,
            hyper::header::HeaderValue::from_static("application/json"),
        );
        response
    }
}

/// How long the answer of this turn is held back.
fn pause(delay: Delay, durations_us: &[u64], turn: u64) -> Option<Duration> {
    match delay {
        Delay::None => None,
        Delay::Recorded => {
            let count = u64::try_from(durations_us.len())
                .ok()
                .filter(|count| *count > 0)?;
            let index = usize::try_from(turn % count).ok()?;
            durations_us.get(index).map(|us| Duration::from_micros(*us))
        }
        Delay::Constant(duration) => Some(duration),
        Delay::Exponential(mean) => Some(mean.mul_f64(-uniform(turn).ln())),
    }
}

/// A number in (0, 1], well mixed from a counter (the finaliser of `SplitMix64`).
fn uniform(turn: u64) -> f64 {
    let mut z = turn.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit a float exactly")]
    let share = (((z ^ (z >> 31)) >> 11) + 1) as f64 / 9_007_199_254_740_992.0;
    share
}

/// Starts the replay backend as a process of `program replay`.
///
/// # Errors
/// There are no recordings, or the process does not start.
pub async fn start(
    runtime: &ProcessRuntime,
    program: &Path,
    recordings: &Path,
    options: &BackendOptions,
) -> Result<Backend, BackendError> {
    // Read here too, so that a broken recording is told before anything is started.
    read_folder(recordings).map_err(BackendError::Prepare)?;
    let port = free_port()?;
    let unknown = options.logs.join("replay-unknown.txt");
    // A list from an earlier session of the same folder says nothing about this one.
    let _ = std::fs::remove_file(&unknown);
    let command = [
        program.display().to_string(),
        "replay".to_owned(),
        "--recordings".to_owned(),
        recordings.display().to_string(),
        "--listen".to_owned(),
        SocketAddr::new(options.listen, port).to_string(),
        "--unknown".to_owned(),
        unknown.display().to_string(),
    ];
    let spec = StartSpec {
        label: "replay".to_owned(),
        command: command.into(),
        env: BTreeMap::new(),
        workdir: options.logs.clone(),
        limits: Limits::default(),
        cores: options.cores.clone(),
        port,
        ready_path: READY_PATH.to_owned(),
        image: None,
        log_path: options.logs.join("backend-replay.log"),
    };
    let mut instance = runtime.start(&spec).await?;
    let ready = instance.await_ready(START_LIMIT).await;
    ready.map_err(|error| BackendError::Ready { error })?;
    Ok(Backend::new(
        instance,
        SocketAddr::new(options.reach, port),
        Some(unknown),
    ))
}
