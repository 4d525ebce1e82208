//! What runs in Pods beside the load generator: asks a service, waits for it, reads the meters of a
//! container. One question a line on standard input, one reply a line on standard output.

use std::collections::HashMap;
use std::io::{BufRead as _, Write as _};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bakeoff_model::record::Host;
use bakeoff_model::resource::{HostTime, ResourceSample};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

use crate::backend::ReplayNotes;
use crate::meter::Meter;
use crate::ready::{monotonic_ns, wall_ns};
use crate::{host, http};

use super::error::{AWAY_MAX, AWAY_PAUSE, ClusterError};
use super::exec::Attached;
use super::generators::LoadPods;
use super::pods::{CGROUP_MOUNT, REPLAY_FOLDER};
use super::watch::{meter, watch};

/// What is asked.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Question {
    /// Send one request over a fresh connection.
    Ask(Box<Request>),
    /// Wait for the program of a Pod of this node, and for its first valid answer.
    Watch(Watched),
    /// What has this container cost?
    Sample { container: String },
    /// What is this node?
    Host,
    /// What time is it here?
    Clock,
    /// What has the replay backend of this Pod noted?
    Notes,
}

/// A Pod whose start is to be timed.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Watched {
    /// Its UID.
    pub(super) pod: String,
    /// The program with which its command line begins; empty where its image says it.
    pub(super) program: String,
    pub(super) port: u16,
    pub(super) path: String,
    pub(super) limit_ns: u64,
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
    /// The service has answered. All four are told as times ago, because clocks of nodes differ.
    Answered {
        taken_ago_ns: u64,
        executed_ago_ns: u64,
        listened_ago_ns: u64,
        answered_ago_ns: u64,
    },
    /// No program of the Pod began.
    NoProgram,
    /// The program ended.
    Ended,
    /// Nobody listens where it should; where it listens instead.
    NoListener { listens: Vec<String> },
    /// Somebody listens; this came instead of a valid answer.
    NoAnswer(String),
    /// Requests that the replay backend answered, and those that it had no answer to since the
    /// last question.
    Notes {
        requests: Option<u64>,
        unknown: Vec<String>,
    },
    /// What the container has cost, and what the cores of its node did.
    Sample(Box<ResourceSample>, Option<HostTime>),
    /// The node.
    Host(Box<Host>),
    /// Wall clock, ns since the Unix epoch.
    Clock(u64),
}

/// Where a [`serve`] is to run.
#[derive(Debug, Clone)]
pub(super) enum Place {
    /// In the Pod of this name.
    Pod(Api<Pod>, String),
    /// In whichever Pod makes this part of the load now.
    LoadPod(LoadPods, u32),
}

impl Place {
    async fn attach(&self) -> Result<Attached, ClusterError> {
        match self {
            Self::Pod(pods, name) => Attached::start(pods, name, &["inside"]).await,
            Self::LoadPod(load, index) => {
                let name = load.name(*index).await?;
                Attached::start(&load.pods, &name, &["inside"]).await
            }
        }
    }
}

/// A running [`serve`] in a Pod. When the way to it is cut, it is started again: an API server may
/// be away for a while, and a load generator's Pod replaced.
#[derive(Debug)]
pub(super) struct Inside {
    place: Place,
    /// Absent while a question is on its way: a reply that nobody waited for is never mistaken for
    /// that to the next question.
    attached: Mutex<Option<Attached>>,
}

impl Inside {
    pub(super) async fn start(pods: &Api<Pod>, pod: &str) -> Result<Arc<Self>, ClusterError> {
        Self::begin(Place::Pod(pods.clone(), pod.to_owned())).await
    }

    pub(super) async fn begin(place: Place) -> Result<Arc<Self>, ClusterError> {
        let attached = Mutex::new(Some(place.attach().await?));
        Ok(Arc::new(Self { place, attached }))
    }

    /// Asks once, or again where the way was cut; a request to a contender is sent at most once.
    pub(super) async fn ask(&self, question: &Question) -> Result<Reply, ClusterError> {
        let mut kept = self.attached.lock().await;
        let deadline = Instant::now() + AWAY_MAX;
        loop {
            let attached = match kept.take() {
                Some(attached) => Ok(attached),
                None => self.place.attach().await,
            };
            let asked = match attached {
                Ok(mut attached) => match exchange(&mut attached, question).await {
                    Ok(reply) => {
                        *kept = Some(attached);
                        return Ok(reply);
                    }
                    Err(error) => Err(error),
                },
                Err(error) => Err(error),
            };
            if Instant::now() >= deadline || !question.can_be_repeated() {
                return asked;
            }
            tokio::time::sleep(AWAY_PAUSE).await;
        }
    }
}

impl Question {
    fn can_be_repeated(&self) -> bool {
        match self {
            Self::Ask(_) | Self::Watch(_) => false,
            Self::Sample { .. } | Self::Notes | Self::Host | Self::Clock => true,
        }
    }
}

async fn exchange(attached: &mut Attached, question: &Question) -> Result<Reply, ClusterError> {
    let strange =
        |error: serde_json::Error| ClusterError::new(format!("a Pod replied strangely: {error}"));
    let line = serde_json::to_string(question).map_err(strange)?;
    attached.say(&line).await?;
    let reply = attached.hear().await?;
    serde_json::from_str(&reply).map_err(strange)
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
    let notes = ReplayNotes::in_folder(Path::new(REPLAY_FOLDER));
    let mut output = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let reply = match serde_json::from_str(&line?)? {
            Question::Ask(request) => runtime.block_on(response(&request)),
            Question::Watch(watched) => watch(Path::new(CGROUP_MOUNT), &watched),
            Question::Notes => Reply::Notes {
                requests: runtime.block_on(notes.requests()),
                unknown: notes.unknown(),
            },
            Question::Sample { container } => sample(&mut meters, container),
            Question::Host => Reply::Host(Box::new(host::describe())),
            Question::Clock => Reply::Clock(wall_ns()),
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

fn sample(meters: &mut HashMap<String, Meter>, container: String) -> Reply {
    if !meters.contains_key(&container)
        && let Some(meter) = meter(Path::new(CGROUP_MOUNT), &container)
    {
        // Contenders come one after the other: the files of former ones lead nowhere.
        meters.retain(|_, meter: &mut Meter| !meter.processes().is_empty());
        meters.insert(container.clone(), meter);
    }
    let sample = meters.get(&container).map(Meter::sample);
    let absent = || ResourceSample {
        at_ns: monotonic_ns(),
        ..ResourceSample::default()
    };
    Reply::Sample(Box::new(sample.unwrap_or_else(absent)), host::time())
}
