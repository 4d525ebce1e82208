//! The places where contenders run, a file each. Everything that differs between local processes,
//! containers, a cluster and services elsewhere is behind one trait: another place is another
//! implementation of it. How contenders are started and metered there is in the other folders.

pub mod backends;
pub mod cluster;
pub mod dependencies;
mod docker;
mod external;
mod far;
mod far_docker;
mod far_processes;
pub mod launch;
mod load_host;
mod local;
pub mod open;
mod pods;

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use async_trait::async_trait;
use bakeoff_base::hint::hinted;
use bakeoff_build::Built;
use bakeoff_model::conditions::{BackendName, RuntimeKind};
use bakeoff_model::dependency::Dependency;
use bakeoff_model::nodes::Nodes;
use bakeoff_model::record::{Cores, GeneratorCeiling, Host};
use bakeoff_model::service_url::ServiceUrl;
use bakeoff_model::suite::{Contender, Suite};

use crate::client::HttpClient;
use crate::contender::Ready;
use crate::contracts::{Client, LoadGenerator};
use crate::far_hosts::FarHosts;
use crate::kubernetes::ClusterSettings;
use crate::load_generator::ProcessGenerator;
use crate::place::backends::{RunningBackend, WantedBackend};
use crate::place::launch::{Launched, Setting};
use crate::{Runtime, ceiling, host};

/// Where a JVM in a container writes its log of garbage collections; it goes with the container.
pub const GC_LOG_IN_CONTAINERS: &str = "/tmp/bakeoff-gc.log";

/// Where contenders run. What is provided here is what holds for contenders on this host.
#[async_trait(?Send)]
pub trait Platform {
    /// Starts and stops contenders, and meters them.
    fn runtime(&self) -> &dyn Runtime;

    /// Brings a built contender into the form that the runtime starts.
    async fn make_ready(
        &self,
        suite: &str,
        contender: &Contender,
        built: Built,
        jvm_options: Vec<String>,
    ) -> anyhow::Result<Ready>;

    /// Starts a backend where contenders reach it.
    async fn start_backend(
        &self,
        wanted: &WantedBackend<'_>,
    ) -> anyhow::Result<Box<dyn RunningBackend>>;

    /// Refuses dependencies that cannot run there, before anything is built.
    fn check_dependency(&self, wanted: &Dependency) -> anyhow::Result<()> {
        Err(hinted(
            format_args!(
                "dependency {}: dependencies run on this host only",
                wanted.name
            ),
            "use --runtime docker or --runtime process",
        ))
    }

    /// Starts a dependency where contenders reach it.
    async fn start_dependency(
        &self,
        wanted: &Dependency,
        _setting: &Setting<'_>,
        _known: &BTreeMap<String, SocketAddr>,
    ) -> anyhow::Result<Launched> {
        self.check_dependency(wanted)?;
        bail!("dependency {} cannot be started here", wanted.name)
    }

    /// Removes what dead sessions left behind; one line a thing.
    async fn sweep(&self) -> anyhow::Result<Vec<String>>;

    /// Returns what sends load to contenders; `program` is this binary.
    fn generator(&self, program: PathBuf) -> Box<dyn LoadGenerator> {
        Box::new(ProcessGenerator { program })
    }

    /// Returns what sends single requests to contenders.
    fn client(&self) -> &dyn Client {
        static HERE: HttpClient = HttpClient {
            prefix: String::new(),
        };
        &HERE
    }

    /// Measures what the load generator can do at best.
    async fn ceiling(&self, program: &Path, cores: &Cores) -> anyhow::Result<GeneratorCeiling> {
        let (program, cores) = (program.to_owned(), cores.clone());
        let measuring = move || ceiling::measure(&program, &cores);
        let measured = tokio::task::spawn_blocking(measuring).await;
        measured.context("the engine panicked")?
    }

    /// Describes the host on which contenders run.
    fn host(&self) -> Host {
        host::describe()
    }

    /// Returns the number of cores of that host that this process may use.
    fn host_cores(&self) -> usize {
        host::host_cores()
    }

    /// Returns where the host of contenders accepts connections, where that is not this one.
    ///
    /// # Errors
    /// Only this host can connect there.
    async fn reached(&self) -> anyhow::Result<Option<Reached>> {
        Ok(None)
    }

    /// Returns which part is on which node, where there are nodes.
    fn nodes(&self) -> Option<Nodes> {
        None
    }

    /// Returns the versions of what the platform itself consists of.
    fn versions(&self) -> BTreeMap<String, String> {
        BTreeMap::new()
    }

    /// Returns why contenders run without their limits, where they do and the user can change it.
    fn unlimited_because(&self) -> Option<String> {
        None
    }

    /// Whether contenders and load generators are pinned to cores of this host.
    fn pins_cores(&self) -> bool {
        false
    }

    /// Whether contenders that are alive concurrently share a network, and need a port each.
    fn shares_network(&self) -> bool {
        false
    }

    /// Returns where a contender writes its log of garbage collections, where that is not a file of
    /// this host.
    fn gc_log_inside(&self) -> Option<&'static Path> {
        None
    }

    /// Fails where contenders could not listen: the whole session would fail after it.
    fn check(&self, _suite: &Suite) -> anyhow::Result<()> {
        Ok(())
    }

    /// Gives back what was made for the session, and waits until it is gone.
    async fn close(self: Box<Self>) -> anyhow::Result<()> {
        Ok(())
    }
}

/// Where another host accepts connections.
#[derive(Debug, Clone, Copy)]
pub struct Reached {
    pub(super) address: SocketAddr,
    /// A server of SSH may listen there, which refuses those that connect too often.
    pub(super) is_ssh: bool,
}

/// Refuses a contender with volumes where contenders run elsewhere; `unseen` ends the sentence.
pub fn without_volumes(contender: &Contender, unseen: fmt::Arguments<'_>) -> anyhow::Result<()> {
    match contender.image_volumes.first() {
        None => Ok(()),
        Some(mount) => Err(hinted(
            format_args!("the volume {mount} is of this host, which {unseen} see"),
            "use --runtime docker with an engine of this host, or put its files into the image",
        )),
    }
}

/// The purpose of a platform.
#[derive(Debug)]
pub struct WantedPlatform<'a> {
    /// The runtime of contenders.
    pub kind: RuntimeKind,
    /// The user's settings of the cluster.
    pub cluster: &'a ClusterSettings,
    /// The backend, or none.
    pub backend: BackendName,
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
    /// The node or the host; empty where it is not known.
    pub node: String,
    /// The memory that contenders may have there together, where that is known.
    pub memory_bytes: Option<u64>,
    /// The map of the parts in words, and what a user should know about it, a sentence each.
    pub notes: Vec<String>,
}
