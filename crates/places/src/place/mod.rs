//! The places where contenders run, a file each. A place is a value, and everything that differs
//! between local processes, containers, a cluster and services elsewhere is in its fields: another
//! place is another function that fills them, and load from another host is the same place with
//! another generator. How contenders are started and metered there is in the other folders.

pub mod cluster;
mod docker;
mod external;
mod far;
mod far_docker;
mod far_processes;
pub mod launch;
mod load_host;
mod local;
pub mod node_images;
pub mod open;
mod pods;
mod services_here;
mod services_in_pods;

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bakeoff_base::hint::{hinted, with_hints};
use bakeoff_model::record::Host;
use bakeoff_model::record::nodes::Nodes;
use bakeoff_model::suite::cluster_settings::ClusterSettings;
use bakeoff_model::suite::conditions::RuntimeKind;
use bakeoff_model::suite::far_hosts::FarHosts;
use bakeoff_model::suite::{Contender, Suite};
use bakeoff_model::text::service_url::ServiceUrl;

use crate::client::HttpClient;
use crate::contracts::{Client, Installer, LoadGenerator};
use crate::load_generator::ProcessGenerator;
use crate::local::ProcessRuntime;
use crate::services::ServiceHost;
use crate::this_host::{free, swept};
use crate::{Runtime, host};

/// Where a JVM in a container writes its log of garbage collections; it goes with the container.
pub const GC_LOG_IN_CONTAINERS: &str = "/tmp/bakeoff-gc.log";

/// Where contenders run.
pub struct Place {
    /// Starts and stops contenders, and meters them.
    pub runtime: Arc<dyn Runtime>,
    /// Brings built contenders there.
    pub installer: Box<dyn Installer>,
    /// Starts what contenders call.
    pub services: Box<dyn ServiceHost>,
    /// Sends load to contenders.
    pub generator: Box<dyn LoadGenerator>,
    /// Sends contenders single requests.
    pub client: Box<dyn Client>,
    /// The host on which contenders run.
    pub host: Host,
    /// Cores of that host that this process may use.
    pub host_cores: usize,
    /// The nodes of the parts, if there are nodes.
    pub nodes: Option<Nodes>,
    /// The versions of what the place itself consists of.
    pub versions: BTreeMap<String, String>,
    /// Why contenders run without their limits, if they do and the user can change it.
    pub unlimited_because: Option<String>,
    /// Whether contenders and load generators are pinned to cores of this host.
    pub pins_cores: bool,
    /// The ports on which contenders listen.
    pub ports: Ports,
    /// Where a contender writes its log of garbage collections [default: a file of this host].
    pub gc_log: Option<&'static Path>,
    /// Where the host of contenders accepts connections [default: it is this host].
    pub(crate) reached: Option<Reached>,
    /// Processes of this host, which is swept whatever the place is.
    pub(crate) here: Arc<ProcessRuntime>,
}

/// The owner of the ports on which contenders listen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ports {
    /// Ports of this host: contenders that are alive concurrently need a port each.
    OfThisHost,
    /// Ports of another host, which contenders share likewise.
    OfAnotherHost,
    /// Each contender has its own.
    OfEach,
}

impl Place {
    /// Returns a place whose contenders are loaded from this host and seen by it alone: what is
    /// true of every such place, for the others to start from.
    ///
    /// # Errors
    /// This program's own file is gone.
    pub fn from_here(
        runtime: Arc<dyn Runtime>,
        installer: impl Installer + 'static,
        services: impl ServiceHost + 'static,
        here: Arc<ProcessRuntime>,
    ) -> anyhow::Result<Self> {
        Ok(Self {
            runtime,
            installer: Box::new(installer),
            services: Box::new(services),
            generator: Box::new(ProcessGenerator::of_this_program()?),
            client: Box::new(HttpClient {
                prefix: String::new(),
            }),
            host: host::describe(),
            host_cores: host::host_cores(),
            nodes: None,
            versions: BTreeMap::new(),
            unlimited_because: None,
            pins_cores: false,
            ports: Ports::OfEach,
            gc_log: None,
            reached: None,
            here,
        })
    }

    /// Removes what dead sessions left behind, here and there, and returns a line for each thing.
    ///
    /// # Errors
    /// Something of a dead session could not be removed.
    pub async fn sweep(&self) -> anyhow::Result<Vec<String>> {
        let mut removed = swept(&self.here).await?;
        removed.extend(self.runtime.sweep().await?);
        Ok(removed)
    }

    /// Fails if contenders could not listen: the whole session would fail after it.
    ///
    /// # Errors
    /// Another process has the port.
    pub fn check(&self, suite: &Suite) -> anyhow::Result<()> {
        match self.ports {
            Ports::OfThisHost => free(
                &suite.name,
                suite.port,
                "end what listens there (another session?) or use --runtime docker",
            ),
            Ports::OfAnotherHost | Ports::OfEach => Ok(()),
        }
    }

    /// Gives back what was made for the session, and waits until it is gone.
    ///
    /// # Errors
    /// It is still there; the sweep of the next session finds it.
    pub async fn close(self) -> anyhow::Result<()> {
        self.runtime.end().await.map_err(with_hints)
    }
}

/// An address at which another host accepts connections.
#[derive(Debug, Clone, Copy)]
pub struct Reached {
    pub(super) address: SocketAddr,
    /// A server of SSH may listen there, which refuses those that connect too often.
    pub(super) is_ssh: bool,
}

/// Refuses a contender that is started in a way that only engines know.
pub fn without_settings(contender: &Contender) -> anyhow::Result<()> {
    match contender.container.is_empty() {
        true => Ok(()),
        false => Err(hinted(
            "its `image.container` is for an engine, and Pods do not get it",
            "use --runtime docker, or omit the table",
        )),
    }
}

/// Refuses a contender with volumes if contenders run elsewhere; `unseen` ends the sentence.
pub fn without_volumes(contender: &Contender, unseen: fmt::Arguments<'_>) -> anyhow::Result<()> {
    match contender.image_volumes.first() {
        None => Ok(()),
        Some(mount) => Err(hinted(
            format_args!("the volume {mount} is of this host, which {unseen} see"),
            "use --runtime docker with an engine of this host, or put its files into the image",
        )),
    }
}

/// A place as a session wants it.
#[derive(Debug)]
pub struct WantedPlace<'a> {
    /// The runtime of contenders.
    pub kind: RuntimeKind,
    /// The user's settings of the cluster.
    pub cluster: &'a ClusterSettings,
    /// Whether services are started for contenders: a backend that is not a server of the user's
    /// own, or dependencies.
    pub has_services: bool,
    /// Recordings or data of the backend.
    pub recordings: Option<PathBuf>,
    /// Contenders are alive concurrently.
    pub side_by_side: bool,
    /// Other hosts on which parts run.
    pub hosts: &'a FarHosts,
    /// Where contenders run already.
    pub services: Vec<ServiceUrl>,
}

/// Where contenders run, if that is not this host, before anything is built for it.
#[derive(Debug)]
pub struct Elsewhere {
    /// The node or the host; empty if it is not known.
    pub node: String,
    /// The memory that contenders may have there together, if it is known.
    pub memory_bytes: Option<u64>,
    /// The map of the parts in words, and what a user should know about it, a sentence each.
    pub notes: Vec<String>,
}
