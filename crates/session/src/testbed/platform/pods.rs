//! Whatever sends the load of a session: a process here, a Pod, several Pods as one.

use std::time::Duration;

use anyhow::Context as _;
use bakeoff_model::load::{ClockOffset, LoadEvent, LoadSpec, StepCommand};
use bakeoff_runtime::kubernetes::{Attached, LEAD, LoadPods};

use super::load_generator::{GeneratorProcess, ProcessGenerator};
use crate::contracts::{LoadGenerator, RunningLoad};
use crate::fleet::{FleetGenerator, FleetLoad};
use crate::hint::of_cluster as plain;

/// How long a Pod may be silent beyond what its load explains.
const PATIENCE: Duration = Duration::from_secs(20);

/// Starts load generators.
#[derive(Debug)]
pub enum Generator {
    /// As processes.
    Process(ProcessGenerator),
    /// In a Pod.
    Pod(PodGenerator),
    /// In several Pods that begin together.
    Pods(FleetGenerator<PodGenerator>),
}

/// A running load generator.
pub enum Load {
    /// A process.
    Process(GeneratorProcess),
    /// One in a Pod.
    Pod(PodLoad),
    /// Several in Pods.
    Pods(Box<FleetLoad<PodLoad>>),
}

/// Starts a load generator in a Pod.
#[derive(Debug)]
pub struct PodGenerator {
    pods: LoadPods,
    index: u32,
}

/// A load generator in a Pod.
#[derive(Debug)]
pub struct PodLoad {
    attached: Attached,
    clock: ClockOffset,
    done: bool,
}

impl Generator {
    /// The load generators of a cluster.
    #[must_use]
    pub fn in_pods(pods: &LoadPods) -> Self {
        let member = |index: u32| {
            let generator = PodGenerator {
                pods: pods.clone(),
                index,
            };
            (pods.label(index), generator)
        };
        if pods.count() == 1 {
            return Self::Pod(member(0).1);
        }
        Self::Pods(FleetGenerator {
            members: (0..pods.count()).map(member).collect(),
            lead: LEAD,
            patience: PATIENCE,
        })
    }
}

impl LoadGenerator for Generator {
    type Load = Load;

    async fn start(&self, spec: &LoadSpec) -> anyhow::Result<Load> {
        Ok(match self {
            Self::Process(process) => Load::Process(process.start(spec).await?),
            Self::Pod(pod) => Load::Pod(pod.start(spec).await?),
            Self::Pods(pods) => Load::Pods(Box::new(pods.start(spec).await?)),
        })
    }
}

impl RunningLoad for Load {
    async fn next(&mut self) -> anyhow::Result<Option<LoadEvent>> {
        match self {
            Self::Process(load) => load.next().await,
            Self::Pod(load) => load.next().await,
            Self::Pods(load) => load.next().await,
        }
    }

    async fn tell(&mut self, command: StepCommand) -> anyhow::Result<()> {
        match self {
            Self::Process(load) => load.tell(command).await,
            Self::Pod(load) => load.tell(command).await,
            Self::Pods(load) => load.tell(command).await,
        }
    }

    fn clock(&self) -> Option<ClockOffset> {
        match self {
            Self::Process(load) => load.clock(),
            Self::Pod(load) => load.clock(),
            Self::Pods(load) => load.clock(),
        }
    }
}

impl LoadGenerator for PodGenerator {
    type Load = PodLoad;

    async fn start(&self, spec: &LoadSpec) -> anyhow::Result<PodLoad> {
        let (mut attached, clock) = self.pods.start(self.index).await.map_err(plain)?;
        attached.say(&serde_json::to_string(spec)?).await?;
        Ok(PodLoad {
            attached,
            clock,
            done: false,
        })
    }
}

impl RunningLoad for PodLoad {
    async fn next(&mut self) -> anyhow::Result<Option<LoadEvent>> {
        if self.done {
            return Ok(None);
        }
        let line = self.attached.hear().await?;
        let event: LoadEvent = serde_json::from_str(&line).with_context(|| {
            format!("a load generator wrote something else than an event: {line}")
        })?;
        self.done = event == LoadEvent::Done;
        Ok(Some(event))
    }

    async fn tell(&mut self, command: StepCommand) -> anyhow::Result<()> {
        Ok(self.attached.say(&command.to_string()).await?)
    }

    fn clock(&self) -> Option<ClockOffset> {
        Some(self.clock)
    }
}
