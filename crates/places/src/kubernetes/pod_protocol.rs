//! Requests to a Pod of this program, and its replies: a line of JSON each. Pure.

use std::net::SocketAddr;

use bakeoff_model::measure::resource::{HostTime, ResourceSample};
use bakeoff_model::record::Host;
use serde::{Deserialize, Serialize};

use crate::Spoken;

/// A request to the program in a Pod.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum PodRequest {
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
    /// The description of this node.
    Host,
    /// The time there.
    Clock,
    /// The notes of the replay backend of this Pod.
    Notes,
}

/// A Pod whose start is timed.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Watched {
    /// Its UID.
    pub(super) pod: String,
    /// The program with which its command line starts; empty where its image names it.
    pub(super) program: String,
    pub(super) port: u16,
    pub(super) path: String,
    /// With the texts of certificates: files of the session's host are not there.
    pub(super) spoken: Spoken,
    pub(super) limit_ns: u64,
}

/// A request to a service.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ServiceRequest {
    pub(super) to: SocketAddr,
    /// With the texts of certificates.
    pub(super) spoken: Spoken,
    pub(super) method: String,
    pub(super) path: String,
    pub(super) headers: Vec<(String, String)>,
    /// Base64.
    pub(super) body: String,
    pub(super) limit_ns: u64,
}

/// The reply of the program in a Pod.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum PodReply {
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
    /// The cost of the container, and the times of the cores of its node.
    Sample(Box<ResourceSample>, Option<HostTime>),
    /// The backend is filled and warm.
    Filled,
    /// The node.
    Host(Box<Host>),
    /// Wall clock, ns since the Unix epoch.
    Clock(u64),
}

impl PodRequest {
    /// Whether it changes nothing.
    pub(super) fn can_be_repeated(&self) -> bool {
        match self {
            Self::Ask(_) | Self::Watch(_) | Self::Fill { .. } => false,
            Self::Sample { .. }
            | Self::Statistics { .. }
            | Self::Notes
            | Self::Host
            | Self::Clock => true,
        }
    }
}
