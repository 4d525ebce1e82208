//! Several load generators as one: a load that one process, or one machine, cannot send.
//!
//! Each of them makes a part of the load. They start every step at one instant, which they are
//! given when all of them are ready, and their events are merged while they run. The caller starts
//! them, as processes here or as Pods in a cluster, and brings them as [`LoadGenerator`]s.

mod merge;
mod part;
mod slice;
#[cfg(test)]
mod tests;

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use anyhow::{Context as _, bail};
use async_trait::async_trait;
use bakeoff_base::problem::Problem;
use bakeoff_model::load::{LoadEvent, LoadPart, LoadSpec, StepCommand};
use bakeoff_model::record::{Cores, GeneratorCeiling};
use futures_util::future::join_all;
use futures_util::stream::{FuturesUnordered, StreamExt as _};

use crate::contracts::{LoadGenerator, RunningLoad};

pub use merge::Merge;

/// Tries to connect that the load generators' own bound on opening connections lets pass.
const OPENING_TIMEOUTS: u32 = 4;

/// How long responses may come after a step before the load generator gives up on them.
const DRAIN: Duration = Duration::from_secs(1);

/// A load generator that is made of others.
pub struct FleetGenerator {
    /// The name of each, and what starts it; in the order of their parts.
    pub members: Vec<(String, Box<dyn LoadGenerator>)>,
    /// From the order to start a step to its start: enough for the order to reach all.
    pub lead: Duration,
    /// How long one may be silent beyond what its load explains before it is lost.
    pub patience: Duration,
}

/// A running fleet.
pub struct FleetLoad {
    merge: Merge,
    /// Load generators that are neither listened to now nor lost, by their part.
    members: Vec<Option<Box<dyn RunningLoad>>>,
    listening: FuturesUnordered<Pin<Box<dyn Future<Output = Heard>>>>,
    /// The targets that got no further requests so far: those that are listened to are told when
    /// they have said something.
    left: Vec<StepCommand>,
    lead: Duration,
    /// Longest silence while connections are being opened, and in a step.
    silence_opening: Duration,
    silence_running: Duration,
    /// Whether the fleet goes on by itself, because the load has no stops between its steps.
    unattended: bool,
    /// Whether the fleet waits for the command to go on.
    held: bool,
}

/// The result of listening to a load generator.
struct Heard {
    part: usize,
    load: Box<dyn RunningLoad>,
    /// An event, or why there will be none, a lower-case fragment.
    event: Result<LoadEvent, Problem>,
}

#[async_trait(?Send)]
impl LoadGenerator for FleetGenerator {
    async fn start(&self, spec: &LoadSpec) -> anyhow::Result<Box<dyn RunningLoad>> {
        let of = u32::try_from(self.members.len())?;
        if of == 0 {
            bail!("a load without load generators");
        }
        let starting = (0_u32..).zip(&self.members).map(async |(index, member)| {
            let (name, generator) = member;
            let part = LoadSpec {
                stepwise: true,
                ..spec.part(LoadPart { index, of })
            };
            let load = generator.start(&part).await;
            load.with_context(|| format!("{name}: cannot start this load generator of {of}"))
        });
        let loads = join_all(starting).await.into_iter();
        let loads: Vec<Box<dyn RunningLoad>> = loads.collect::<anyhow::Result<_>>()?;
        let names = self.members.iter().map(|(name, _)| name.clone());
        let clocks = loads.iter().map(|load| load.clock());
        Ok(Box::new(FleetLoad {
            merge: Merge::new(spec, names.zip(clocks).collect()),
            members: loads.into_iter().map(Some).collect(),
            listening: FuturesUnordered::new(),
            left: Vec::new(),
            lead: self.lead,
            silence_opening: self.patience + opening_max(spec),
            silence_running: self.patience + self.lead + slice_max(spec) + DRAIN,
            unattended: !spec.stepwise,
            held: false,
        }))
    }

    /// The first one stands for all.
    async fn ceiling(&self, cores: &Cores) -> anyhow::Result<GeneratorCeiling> {
        let (_, first) = { self.members.first() }.context("a load without load generators")?;
        first.ceiling(cores).await
    }
}

/// How long load generators may open connections without a word.
fn opening_max(spec: &LoadSpec) -> Duration {
    Duration::from_nanos(spec.timeout_connect_ns) * OPENING_TIMEOUTS
}

/// The longest slice.
fn slice_max(spec: &LoadSpec) -> Duration {
    let longest = spec.steps.iter().map(|step| step.duration_ns).max();
    let longest = longest.unwrap_or(0);
    Duration::from_nanos(match spec.slice_ns {
        0 => longest,
        slice_ns => slice_ns.min(longest),
    })
}

/// Waits for the next event of a load generator, at most this long.
async fn listen(part: usize, mut load: Box<dyn RunningLoad>, silence_max: Duration) -> Heard {
    let event = match tokio::time::timeout(silence_max, load.next()).await {
        Ok(Ok(Some(event))) => Ok(event),
        Ok(Ok(None)) => Err("its output ended before its load did".into()),
        Ok(Err(error)) => Err(format!("{error:#}").into()),
        Err(_) => Err(format!("silent for {} s", silence_max.as_secs()).into()),
    };
    Heard { part, load, event }
}

#[async_trait(?Send)]
impl RunningLoad for FleetLoad {
    async fn next(&mut self) -> anyhow::Result<Option<LoadEvent>> {
        loop {
            if self.held && self.unattended {
                self.tell(StepCommand::Go).await?;
            }
            if let Some(event) = self.merge.next_event() {
                self.held = match event {
                    LoadEvent::Ready { .. } => true,
                    LoadEvent::StepDone { .. } => !self.merge.is_ending(),
                    _ => false,
                };
                return Ok(Some(event));
            }
            if self.merge.is_over() {
                return Ok(None);
            }
            self.hear().await?;
        }
    }

    async fn tell(&mut self, command: StepCommand) -> anyhow::Result<()> {
        match command {
            StepCommand::Go if self.merge.is_ready() => {
                let lead_ns = u64::try_from(self.lead.as_nanos()).unwrap_or(0);
                self.open(bakeoff_load::wall_ns() + lead_ns, false).await;
            }
            StepCommand::GoAt(unix_ns) => self.open(unix_ns, true).await,
            StepCommand::Leave(_) => {
                self.left.push(command);
                self.tell_members(|_| command).await;
            }
            StepCommand::Go | StepCommand::Again => {
                self.merge.go();
                self.tell_all(|_| command).await;
            }
        }
        Ok(())
    }
}

impl FleetLoad {
    /// Has all windows open at an instant of the session's wall clock.
    async fn open(&mut self, unix_ns: u64, announce: bool) {
        let ahead_ns = bakeoff_load::wall_ahead_ns();
        self.merge.go_at(unix_ns, ahead_ns, announce);
        self.tell_all(|load| {
            let ahead_ns = load.clock().map_or(0, |clock| clock.ahead_ns);
            StepCommand::GoAt(unix_ns.saturating_add_signed(ahead_ns))
        })
        .await;
    }

    /// Sends each of them its command, all at the same time; those that cannot be reached are lost.
    async fn tell_all(&mut self, command: impl Fn(&dyn RunningLoad) -> StepCommand) {
        self.held = false;
        self.tell_members(command).await;
    }

    /// Sends those that are not listened to a command; those that cannot be reached are lost.
    async fn tell_members(&mut self, command: impl Fn(&dyn RunningLoad) -> StepCommand) {
        let command = &command;
        let telling = self
            .members
            .iter_mut()
            .enumerate()
            .map(async |(part, load)| {
                let told = match load {
                    Some(load) => load.tell(command(load.as_ref())).await,
                    None => Ok(()),
                };
                (part, told)
            });
        for (part, told) in join_all(telling).await {
            if let Err(error) = told {
                self.lose(part, &format!("{error:#}"));
            }
        }
    }

    /// Waits until one of the load generators has said something.
    async fn hear(&mut self) -> anyhow::Result<()> {
        for (part, member) in self.members.iter_mut().enumerate() {
            if !self.merge.awaits(part) {
                continue;
            }
            if let Some(load) = member.take() {
                let silence_max = match self.merge.is_running(part) {
                    true => self.silence_running,
                    false => self.silence_opening,
                };
                self.listening
                    .push(Box::pin(listen(part, load, silence_max)));
            }
        }
        let Some(Heard {
            part,
            mut load,
            event,
        }) = self.listening.next().await
        else {
            bail!("the load generators wait for the command to go on");
        };
        match event {
            Ok(event) => {
                self.merge.take(part, event);
                let mut told = Ok(());
                for command in &self.left {
                    told = told.and(load.tell(*command).await);
                }
                // Dropping one ends it.
                self.members[part] = self.merge.lives(part).then_some(load);
                if let Err(error) = told {
                    self.lose(part, &format!("{error:#}"));
                }
            }
            Err(why) => self.merge.lose(part, why.message()),
        }
        Ok(())
    }

    /// Ends one that is of no use any more.
    fn lose(&mut self, part: usize, why: &str) {
        self.members[part] = None;
        self.merge.lose(part, why);
    }
}
