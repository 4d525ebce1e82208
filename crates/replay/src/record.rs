//! The recording proxy: sits between a contender and the real backend, passes everything on, and
//! writes down the exchanges.

use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bakeoff_base::content_encoding;
use bakeoff_base::problem::Problem;

use crate::key::RequestKey;
use crate::proxy::{Exchange, Exchanges, Proxy, Upstream};
use crate::recording::{HEADERS, Recorded, Recording, RecordingError};

/// Responses above this many bytes get a warning: every replay sends them, and the repository keeps
/// them.
const LARGE_BYTES: usize = 256 << 10;

/// The longest response that can be recorded.
const RESPONSE_BYTES_MAX: usize = 256 << 20;

/// How often new exchanges are written, and so the most that a killed session loses.
const SAVE_EVERY: Duration = Duration::from_secs(2);

/// A recording proxy that listens but does not record yet.
pub struct RecordingProxy {
    proxy: Proxy,
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

impl Exchanges for Log {
    fn take(&self, exchange: Exchange) {
        let request = &exchange.request;
        let key = RequestKey::of(&request.method, &request.target, &request.body.bytes);
        match recorded(&key, exchange) {
            Ok(recorded) => {
                let mut state = self.state();
                state.changed |= state.recording.add(key, recorded);
            }
            Err(why) => self.leave_out(&key.to_string(), why.message()),
        }
    }

    fn leave_out(&self, request: &str, why: &str) {
        let what = format!("{request}: {why}");
        *self.state().failures.entry(what).or_default() += 1;
    }

    fn response_bytes_max(&self) -> usize {
        RESPONSE_BYTES_MAX
    }
}

/// Returns the response to keep. Recordings have uncompressed bodies: compressed ones would be sent
/// to clients that cannot read them.
fn recorded(key: &RequestKey, exchange: Exchange) -> Result<Recorded, Problem> {
    if exchange.body.is_cut || exchange.request.body.is_cut {
        return Err("it is too long to be recorded".into());
    }
    let body = exchange.body.bytes;
    let decoded = content_encoding::decoded(&exchange.headers, &body, RESPONSE_BYTES_MAX)?;
    Ok(Recorded {
        status: exchange.status,
        headers: kept(key, &exchange.headers),
        body: decoded.unwrap_or(body),
        durations_us: vec![micros(exchange.took)],
    })
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
        let upstream = Upstream {
            address: upstream,
            tls: None,
        };
        let proxy = Proxy::bind(upstream, listen, None).await;
        let state = State {
            recording,
            ..State::default()
        };
        Ok(Self {
            proxy: proxy.map_err(broken)?,
            out: out.to_owned(),
            log: Arc::new(Log {
                state: Mutex::new(state),
            }),
        })
    }

    /// Returns the address on which it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.proxy.address()
    }

    /// Passes on and records until `stop` is ready, and writes the file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub async fn record(
        self,
        stop: impl Future<Output = ()>,
    ) -> Result<RecordSummary, RecordingError> {
        let before = self.log.state().recording.len();
        let log: Arc<Log> = Arc::clone(&self.log);
        let serving = self.proxy.serve(log, stop);
        tokio::pin!(serving);
        let mut save = tokio::time::interval(SAVE_EVERY);
        loop {
            tokio::select! {
                () = &mut serving => break,
                _ = save.tick() => self.save().await?,
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

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

fn kept(key: &RequestKey, headers: &[(String, String)]) -> BTreeMap<String, String> {
    let mut names: Vec<&str> = HEADERS.to_vec();
    if key.method == "HEAD" {
        names.push("content-length");
    }
    let kept = names.into_iter().filter_map(|name| {
        let mut headers = headers.iter();
        let (_, value) = headers.find(|(found, _)| found.eq_ignore_ascii_case(name))?;
        Some((name.to_owned(), value.clone()))
    });
    kept.collect()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::time::{Duration, Instant};

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::recorded;
    use crate::key::RequestKey;
    use crate::proxy::{Body, Exchange, SentRequest};

    #[test]
    fn compressed_responses_are_recorded_as_their_content() {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(b"content").unwrap();
        let mut body = Body::new(1000);
        body.push(&encoder.finish().unwrap());
        let headers = [("Content-Encoding", "gzip"), ("Content-Type", "text/plain")];
        let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        let exchange = Exchange {
            is_http2: false,
            request: SentRequest {
                method: "GET".to_owned(),
                target: "/".to_owned(),
                headers: Vec::new(),
                body: Body::new(0),
            },
            status: 200,
            headers: headers.map(owned).into(),
            body,
            arrived: Instant::now(),
            took: Duration::from_micros(7),
        };
        let key = RequestKey::of("GET", "/", b"");
        let kept = recorded(&key, exchange).unwrap();
        assert_eq!(kept.body, b"content");
        assert_eq!(kept.headers.len(), 1);
        assert_eq!(kept.durations_us, [7]);
    }
}
