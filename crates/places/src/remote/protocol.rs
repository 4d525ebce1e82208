//! Requests to this program elsewhere, and its replies: a line of JSON each. Pure.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use bakeoff_base::problem::Problem;
use bakeoff_model::load::tls::Tls;
use bakeoff_model::measure::resource::{HostTime, ResourceSample};
use bakeoff_model::record::{Host, Startup};
use bakeoff_model::request::Body;
use bakeoff_model::suite::Limits;
use bakeoff_model::suite::conditions::Enforcement;
use serde::{Deserialize, Serialize};

use crate::Spoken;
use crate::api::{ExitInfo, ReadyError, StartError, StopReport};

/// A line with the number of its question: a reply for which nothing waited is never mistaken for
/// the reply to a later question.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Numbered<T> {
    pub(crate) number: u64,
    pub(crate) line: T,
}

/// A request to this program elsewhere.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum RemoteRequest {
    /// The description of that host.
    Host,
    /// The time there.
    Clock,
    /// The median round trip from there to a service, by this many connections.
    RoundTrip { to: SocketAddr, connections: usize },
    /// About a process that is started there.
    Process(ProcessRequest),
    /// About the other containers of a Pod or a node.
    Pod(PodRequest),
}

/// A request about processes of another host: about the process that was started last.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ProcessRequest {
    /// Remove what dead sessions left there; how are limits enforced?
    Sweep,
    /// Start a process.
    Start(Box<RemoteStart>),
    /// Wait for the first valid response of the process.
    AwaitReady { limit_ns: u64 },
    /// Report the cost of the process so far.
    Sample,
    /// Report how the process ended.
    Exited,
    /// Return the end of the process's output.
    Output,
    /// Ask the process to stop, then kill it.
    Stop { grace_ns: u64 },
}

/// A process to start, as in [`crate::StartSpec`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RemoteStart {
    pub(crate) label: String,
    pub(crate) command: Vec<String>,
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) workdir: String,
    pub(crate) limits: Limits,
    pub(crate) port: u16,
    pub(crate) ready_path: String,
    /// How it is reached over TLS, with the texts of certificates.
    pub(crate) tls: Option<Tls>,
    /// The descriptors of a service that speaks gRPC.
    pub(crate) grpc: Option<Body>,
}

/// A request to the program in a Pod.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PodRequest {
    /// Send one request over a fresh connection.
    Ask(Box<ServiceRequest>),
    /// Wait for the program of a Pod of this node, and for its first valid response.
    Watch(Watched),
    /// The cost of this container.
    Sample { container: String },
    /// Wait for the Elasticsearch of this address, fill it with what is in this program's image,
    /// and warm it for this long.
    Fill { node: SocketAddr, warm_up_ns: u64 },
    /// How much has the Elasticsearch of this address been asked?
    Statistics { node: SocketAddr },
    /// The notes of the replay backend of this Pod.
    Notes,
}

/// A Pod whose start is timed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Watched {
    /// The UID of the Pod.
    pub(crate) pod: String,
    /// The program with which the container's command line starts; empty if the image names it.
    pub(crate) program: String,
    pub(crate) port: u16,
    pub(crate) path: String,
    /// With the texts of certificates: files of the session's host are not there.
    pub(crate) spoken: Spoken,
    pub(crate) limit_ns: u64,
}

/// A request to a service.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ServiceRequest {
    pub(crate) to: SocketAddr,
    /// With the texts of certificates.
    pub(crate) spoken: Spoken,
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    /// Base64.
    pub(crate) body: String,
    pub(crate) limit_ns: u64,
}

/// The reply of this program elsewhere.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum RemoteReply {
    /// The host.
    Host(Box<Host>),
    /// Wall clock, ns since the Unix epoch, and how far it is ahead of the monotonic one.
    Clock { wall_ns: u64, ahead_ns: u64 },
    /// The round trip, ns; `None` if there is no way.
    RoundTrip(Option<u64>),
    /// The cost of a process or a container so far, and the times of the cores there.
    Sample(Box<ResourceSample>, Option<HostTime>),
    /// About a process.
    Process(ProcessReply),
    /// About a Pod.
    Pod(PodReply),
    /// The request failed.
    Failed(Problem),
}

/// The reply about a process of another host.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ProcessReply {
    /// The things that were removed, one line each.
    Swept {
        enforcement: Enforcement,
        removed: Vec<String>,
    },
    /// The process exists.
    Started,
    /// The process could not be started.
    NotStarted(StartError),
    /// The process has responded. Times are by the clock there.
    Ready(Box<Startup>),
    /// The process did not become ready.
    NotReady(ReadyError),
    /// How it ended, and the end of its output; `None` while it lives.
    Exited(Option<(ExitInfo, String)>),
    /// The end of the process's output until now.
    Output(String),
    /// How the stop went. The output as far as it is kept.
    Stopped(StopReport, String),
}

/// The reply of the program in a Pod.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PodReply {
    /// A whole response; its body in base64.
    Response {
        status: u16,
        grpc_status: Option<u16>,
        headers: Vec<(String, String)>,
        body: String,
    },
    /// No response, and why.
    NoResponse(String),
    /// The service has responded. All four are durations before now, because clocks of nodes
    /// differ.
    Answered {
        taken_ago_ns: u64,
        executed_ago_ns: u64,
        listened_ago_ns: u64,
        answered_ago_ns: u64,
    },
    /// No program of the Pod started.
    NoProgram,
    /// The program ended.
    Ended,
    /// Nothing listens at the port; the addresses where the program listens instead.
    NoListener { listens: Vec<String> },
    /// Something listens; this came instead of a valid response.
    NoAnswer(String),
    /// Requests that the replay backend completed, and those that it had no response to since the
    /// last query.
    Notes {
        requests: Option<u64>,
        unknown: Vec<String>,
    },
    /// The backend is filled and warm.
    Filled,
}

impl RemoteRequest {
    /// Whether the request changes nothing.
    pub(crate) fn can_be_repeated(&self) -> bool {
        match self {
            Self::Host | Self::Clock | Self::RoundTrip { .. } => true,
            Self::Process(_) => false,
            Self::Pod(PodRequest::Ask(_) | PodRequest::Watch(_) | PodRequest::Fill { .. }) => false,
            Self::Pod(
                PodRequest::Sample { .. } | PodRequest::Statistics { .. } | PodRequest::Notes,
            ) => true,
        }
    }
}
