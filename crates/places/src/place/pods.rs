//! Load generators in the Pods of a cluster, several of them as one.

use std::time::Duration;

use anyhow::{Context as _, anyhow};
use async_trait::async_trait;
use bakeoff_base::hint::with_hints;
use bakeoff_model::load::{ClockOffset, LoadEvent, LoadSpec, StepCommand};
use bakeoff_model::record::{Cores, GeneratorCeiling};

use crate::contracts::{LoadGenerator, RunningLoad};
use crate::fleet::FleetGenerator;
use crate::kubernetes::{Attached, LEAD, LoadPods};
use crate::remote::client::Way as _;

/// How long a Pod may be silent beyond what its load explains.
const PATIENCE: Duration = Duration::from_secs(20);

/// Starts a load generator in a Pod.
struct PodGenerator {
    pods: LoadPods,
    index: u32,
}

/// A load generator in a Pod.
struct PodLoad {
    attached: Attached,
    clock: ClockOffset,
    done: bool,
}

/// Returns the load generators in Pods: one, or several that start together.
pub(super) fn in_pods(pods: &LoadPods) -> Box<dyn LoadGenerator> {
    let member = |index: u32| PodGenerator {
        pods: pods.clone(),
        index,
    };
    if pods.count() == 1 {
        return Box::new(member(0));
    }
    let named = |index: u32| -> (String, Box<dyn LoadGenerator>) {
        (pods.label(index), Box::new(member(index)))
    };
    Box::new(FleetGenerator {
        members: (0..pods.count()).map(named).collect(),
        lead: LEAD,
        patience: PATIENCE,
    })
}

#[async_trait(?Send)]
impl LoadGenerator for PodGenerator {
    async fn start(&self, spec: &LoadSpec) -> anyhow::Result<Box<dyn RunningLoad>> {
        let (mut attached, clock) = self.pods.start(self.index).await.map_err(with_hints)?;
        attached.say(&serde_json::to_string(spec)?).await?;
        Ok(Box::new(PodLoad {
            attached,
            clock,
            done: false,
        }))
    }

    async fn ceiling(&self, _cores: &Cores) -> anyhow::Result<GeneratorCeiling> {
        let line = self.pods.ceiling().await.map_err(with_hints)?;
        serde_json::from_str(&line).map_err(|_| anyhow!("its Pod said: {line}"))
    }
}

#[async_trait(?Send)]
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
