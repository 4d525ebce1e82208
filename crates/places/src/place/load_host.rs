//! Load from another host than this one, to contenders of a third: this program is copied there,
//! and is the load generator. Everything else is another platform's.

use std::collections::BTreeMap;
use std::iter;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, anyhow};
use async_trait::async_trait;
use bakeoff_base::hint::with_hints;
use bakeoff_build::Built;
use bakeoff_model::dependency::Dependency;
use bakeoff_model::load::{ClockOffset, LoadEvent, LoadSpec, StepCommand};
use bakeoff_model::nodes::Nodes;
use bakeoff_model::record::{Cores, GeneratorCeiling, Host};
use bakeoff_model::suite::{Contender, Suite};

use crate::Runtime;
use crate::contender::Ready;
use crate::contracts::{Client, LoadGenerator, RunningLoad};
use crate::load_generator::{GeneratorProcess, LOAD, started};
use crate::place::backends::{RunningBackend, WantedBackend};
use crate::place::far::{open, with_load};
use crate::place::launch::{Launched, Setting};
use crate::place::{Platform, Reached};
use crate::ssh::{FarClock, SshAddress, SshHost};

/// Contenders of another platform, loaded from a separate host.
pub(crate) struct LoadHostPlatform {
    contenders: Box<dyn Platform>,
    load: Arc<SshHost>,
    nodes: Option<Nodes>,
    round_trip_ns: Option<u64>,
}

impl LoadHostPlatform {
    pub(crate) async fn new(
        contenders: Box<dyn Platform>,
        address: &SshAddress,
    ) -> anyhow::Result<Self> {
        let load = open(address).await?;
        let round_trip_ns = match contenders.reached().await? {
            Some(Reached { address, is_ssh }) => load.round_trip(address, is_ssh).await,
            None => None,
        };
        let clock = load.clock().await.map_err(with_hints)?;
        let nodes = contenders.nodes().map(|nodes| {
            let mut nodes = with_load(nodes, &load);
            nodes.clocks.insert(load.name().to_owned(), clock.wall);
            nodes
        });
        Ok(Self {
            contenders,
            load,
            nodes,
            round_trip_ns,
        })
    }
}

#[async_trait(?Send)]
impl Platform for LoadHostPlatform {
    fn runtime(&self) -> &dyn Runtime {
        self.contenders.runtime()
    }

    async fn make_ready(
        &self,
        suite: &str,
        contender: &Contender,
        built: Built,
        jvm_options: Vec<String>,
    ) -> anyhow::Result<Ready> {
        let making = self
            .contenders
            .make_ready(suite, contender, built, jvm_options);
        making.await
    }

    async fn start_backend(
        &self,
        wanted: &WantedBackend<'_>,
    ) -> anyhow::Result<Box<dyn RunningBackend>> {
        self.contenders.start_backend(wanted).await
    }

    fn check_dependency(&self, wanted: &Dependency) -> anyhow::Result<()> {
        self.contenders.check_dependency(wanted)
    }

    async fn start_dependency(
        &self,
        wanted: &Dependency,
        setting: &Setting<'_>,
        known: &BTreeMap<String, SocketAddr>,
    ) -> anyhow::Result<Launched> {
        let starting = self.contenders.start_dependency(wanted, setting, known);
        starting.await
    }

    async fn sweep(&self) -> anyhow::Result<Vec<String>> {
        self.contenders.sweep().await
    }

    fn generator(&self, _program: PathBuf) -> Box<dyn LoadGenerator> {
        Box::new(FarGenerator(Arc::clone(&self.load)))
    }

    fn client(&self) -> &dyn Client {
        self.contenders.client()
    }

    async fn ceiling(&self, _program: &Path, _cores: &Cores) -> anyhow::Result<GeneratorCeiling> {
        let said = self.load.output(&["ceiling"]).await.map_err(with_hints)?;
        serde_json::from_str(&said).map_err(|_| anyhow!("{} said: {said}", self.load.name()))
    }

    fn host(&self) -> Host {
        Host {
            round_trip_ns: self.round_trip_ns,
            ..self.contenders.host()
        }
    }

    fn host_cores(&self) -> usize {
        self.contenders.host_cores()
    }

    fn nodes(&self) -> Option<Nodes> {
        self.nodes.clone()
    }

    fn versions(&self) -> BTreeMap<String, String> {
        self.contenders.versions()
    }

    fn unlimited_because(&self) -> Option<String> {
        self.contenders.unlimited_because()
    }

    fn shares_network(&self) -> bool {
        self.contenders.shares_network()
    }

    fn gc_log_inside(&self) -> Option<&'static Path> {
        self.contenders.gc_log_inside()
    }

    fn check(&self, suite: &Suite) -> anyhow::Result<()> {
        self.contenders.check(suite)
    }

    async fn close(self: Box<Self>) -> anyhow::Result<()> {
        self.contenders.close().await
    }
}

/// Starts load generators on another host.
struct FarGenerator(Arc<SshHost>);

/// A load generator on another host.
struct FarLoad {
    process: GeneratorProcess,
    clock: FarClock,
}

#[async_trait(?Send)]
impl LoadGenerator for FarGenerator {
    async fn start(&self, spec: &LoadSpec) -> anyhow::Result<Box<dyn RunningLoad>> {
        let clock = self.0.clock().await.map_err(with_hints)?;
        // Files and devices of this host are not there.
        let mut spec = spec.clone();
        for target in iter::once(&mut spec.target).chain(&mut spec.further_targets) {
            target.device = None;
            let trust = target.trust.as_ref().map(bakeoff_tls::inlined);
            target.trust = trust.transpose().context("no TLS")?;
        }
        let process = started(self.0.command(&LOAD), &spec).await;
        let process = process.with_context(|| format!("load from {}", self.0.name()))?;
        Ok(Box::new(FarLoad { process, clock }))
    }
}

#[async_trait(?Send)]
impl RunningLoad for FarLoad {
    async fn next(&mut self) -> anyhow::Result<Option<LoadEvent>> {
        let event = self.process.next().await?;
        Ok(event.map(|event| shifted(event, self.clock.shift_ns)))
    }

    async fn tell(&mut self, command: StepCommand) -> anyhow::Result<()> {
        self.process.tell(command).await
    }

    fn clock(&self) -> Option<ClockOffset> {
        Some(self.clock.wall)
    }
}

/// The event with its times by the session's clock: backends are read by that.
fn shifted(event: LoadEvent, shift_ns: i64) -> LoadEvent {
    match event {
        LoadEvent::Interval(mut interval) => {
            interval.start_ns = interval.start_ns.saturating_add_signed(shift_ns);
            interval.end_ns = interval.end_ns.saturating_add_signed(shift_ns);
            LoadEvent::Interval(interval)
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use bakeoff_model::load::{LoadEvent, LoadInterval};

    use super::shifted;

    #[test]
    fn slices_are_timed_by_the_session_s_clock() {
        let slice = |start_ns, end_ns| {
            LoadEvent::Interval(Box::new(LoadInterval {
                start_ns,
                end_ns,
                ..LoadInterval::default()
            }))
        };
        assert_eq!(shifted(slice(500, 900), -400), slice(100, 500));
        assert_eq!(shifted(slice(0, 1), 5), slice(5, 6));
        assert_eq!(shifted(LoadEvent::Done, 5), LoadEvent::Done);
    }
}
