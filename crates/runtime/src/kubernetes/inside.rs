//! What runs in Pods beside the load generator: asks a service, waits for it, reads the meters of a
//! container. One question a line on standard input, one reply a line on standard output.

use std::collections::HashMap;
use std::io::{BufRead as _, Write as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bakeoff_model::resource::ResourceSample;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

use crate::http;
use crate::meter::Meter;
use crate::ready::{Unanswered, await_answer, monotonic_ns};

use super::error::ClusterError;
use super::exec::Attached;
use super::pods::CGROUP_MOUNT;

/// What is asked.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Question {
    /// Send one request over a fresh connection.
    Ask(Box<Request>),
    /// Wait for the first valid answer.
    Await {
        at: SocketAddr,
        path: String,
        limit_ns: u64,
    },
    /// What has this container cost?
    Sample { container: String },
}

/// One request.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Request {
    pub(super) to: SocketAddr,
    pub(super) method: String,
    pub(super) path: String,
    pub(super) headers: Vec<(String, String)>,
    /// Base64.
    pub(super) body: String,
    pub(super) limit_ns: u64,
}

/// What is replied.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Reply {
    /// A whole response; its body in base64.
    Response {
        status: u16,
        headers: Vec<(String, String)>,
        body: String,
    },
    /// No response, and why.
    NoResponse(String),
    /// The service answers; how long ago it began to listen.
    Ready { listened_ago_ns: u64 },
    /// Nobody listens yet.
    NoListener,
    /// Somebody listens; this came instead of a valid answer.
    NoAnswer(String),
    /// What the container has cost.
    Sample(Box<ResourceSample>),
}

/// A running [`serve`] in a Pod.
#[derive(Debug)]
pub(super) struct Inside(Mutex<Attached>);

impl Inside {
    pub(super) async fn start(pods: &Api<Pod>, pod: &str) -> Result<Arc<Self>, ClusterError> {
        let attached = Attached::start(pods, pod, &["inside"]).await?;
        Ok(Arc::new(Self(Mutex::new(attached))))
    }

    pub(super) async fn ask(&self, question: &Question) -> Result<Reply, ClusterError> {
        let strange =
            |error: serde_json::Error| ClusterError::new(format!("a Pod replied strangely: {error}"));
        let line = serde_json::to_string(question).map_err(strange)?;
        let mut attached = self.0.lock().await;
        attached.say(&line).await?;
        let reply = attached.hear().await?;
        serde_json::from_str(&reply).map_err(strange)
    }
}

/// Replies to questions until standard input ends. Blocks.
///
/// # Errors
/// A line is no question, or the reply cannot be written.
pub fn serve() -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let mut meters = HashMap::new();
    let mut output = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let reply = match serde_json::from_str(&line?)? {
            Question::Ask(request) => runtime.block_on(response(&request)),
            Question::Await { at, path, limit_ns } => {
                awaited(at, &path, Duration::from_nanos(limit_ns))
            }
            Question::Sample { container } => sample(&mut meters, container),
        };
        serde_json::to_writer(&mut output, &reply)?;
        output.write_all(b"\n")?;
        output.flush()?;
    }
    Ok(())
}

async fn response(request: &Request) -> Reply {
    let body = STANDARD.decode(&request.body).unwrap_or_default();
    let limit = Duration::from_nanos(request.limit_ns);
    let (method, path, headers) = (&request.method, &request.path, &request.headers);
    match http::ask(request.to, method, path, headers, &body, limit).await {
        Ok(answer) => Reply::Response {
            status: answer.status,
            headers: answer.headers,
            body: STANDARD.encode(answer.body),
        },
        Err(error) => Reply::NoResponse(error.to_string()),
    }
}

fn awaited(at: SocketAddr, path: &str, limit: Duration) -> Reply {
    match await_answer(at, path, limit, &mut || false) {
        Ok(answered) => Reply::Ready {
            listened_ago_ns: monotonic_ns().saturating_sub(answered.listened_ns),
        },
        Err(Unanswered::NoAnswer(found)) => Reply::NoAnswer(found),
        Err(Unanswered::NoListener | Unanswered::Ended) => Reply::NoListener,
    }
}

fn sample(meters: &mut HashMap<String, Meter>, container: String) -> Reply {
    let find = || Meter::below(Path::new(CGROUP_MOUNT), &container);
    if !meters.contains_key(&container)
        && let Some(meter) = find()
    {
        // Contenders come one after the other: the files of former ones lead nowhere.
        meters.retain(|_, meter| !meter.is_gone());
        meters.insert(container.clone(), meter);
    }
    let sample = meters.get(&container).map(Meter::sample);
    let absent = || ResourceSample {
        at_ns: monotonic_ns(),
        ..ResourceSample::default()
    };
    Reply::Sample(Box::new(sample.unwrap_or_else(absent)))
}

/// The folder of a container below `root`, whose name holds the container's identity.
pub(crate) fn container_folder(root: &Path, container: &str, depth: u32) -> Option<PathBuf> {
    let folders = std::fs::read_dir(root).ok()?.flatten();
    let folders = folders.filter(|one| one.file_type().is_ok_and(|kind| kind.is_dir()));
    let folders: Vec<PathBuf> = folders.map(|one| one.path()).collect();
    let is_it = |folder: &&PathBuf| {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        name.contains(container)
    };
    if let Some(found) = folders.iter().find(is_it) {
        return Some(found.clone());
    }
    let deeper = depth.checked_sub(1)?;
    folders
        .iter()
        .find_map(|folder| container_folder(folder, container, deeper))
}
