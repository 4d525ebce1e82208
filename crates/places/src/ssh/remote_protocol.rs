//! Requests to this program on another host, and its replies: a line of JSON each. Pure.

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

use crate::api::{ExitInfo, ReadyError, StartError, StopReport};

/// A line of a question. The reply has the same number: one that nothing waited for is never
/// mistaken for that to a later question.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Numbered<T> {
    pub(super) number: u64,
    pub(super) line: T,
}

/// A request to this program on another host. A process is the one that was started last.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum RemoteRequest {
    /// The description of that host.
    Host,
    /// The time there.
    Clock,
    /// The median round trip from there to a service, by this many connections.
    RoundTrip { to: SocketAddr, connections: usize },
    /// Remove what dead sessions left there; how are limits enforced?
    Sweep,
    /// Start a process.
    Start(Box<RemoteStart>),
    /// Wait for its first valid response.
    AwaitReady { limit_ns: u64 },
    /// Its cost.
    Sample,
    /// How it ended.
    Exited,
    /// The end of its output.
    Output,
    /// Ask it to stop, then kill it.
    Stop { grace_ns: u64 },
}

/// A process to start, as in [`crate::StartSpec`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct RemoteStart {
    pub(super) label: String,
    pub(super) command: Vec<String>,
    pub(super) env: BTreeMap<String, String>,
    pub(super) workdir: String,
    pub(super) limits: Limits,
    pub(super) port: u16,
    pub(super) ready_path: String,
    /// How it is reached over TLS, with the texts of certificates.
    pub(super) tls: Option<Tls>,
    /// The descriptors of a service that speaks gRPC.
    pub(super) grpc: Option<Body>,
}

/// The reply of this program on another host.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum RemoteReply {
    /// The host.
    Host(Box<Host>),
    /// Wall clock, ns since the Unix epoch, and how far it is ahead of the monotonic one.
    Clock { wall_ns: u64, ahead_ns: u64 },
    /// The round trip, ns; `None` where there is no way.
    RoundTrip(Option<u64>),
    /// The things that were removed, one line each.
    Swept {
        enforcement: Enforcement,
        removed: Vec<String>,
    },
    /// The process exists.
    Started,
    /// Why it does not.
    NotStarted(StartError),
    /// The process has responded. Times are by the clock there.
    Ready(Box<Startup>),
    /// Why it has not.
    NotReady(ReadyError),
    /// Its cost so far, and the times of the cores there.
    Sample(Box<ResourceSample>, Option<HostTime>),
    /// How it ended, and the end of its output; `None` while it lives.
    Exited(Option<(ExitInfo, String)>),
    /// The end of its output until now.
    Output(String),
    /// How the stop went. The output as far as it is kept.
    Stopped(StopReport, String),
    /// The request failed.
    Failed(Problem),
}
