//! The load of one run: drives the load generator step by step and meters every slice. Whether
//! the steps come one after the other or between those of others is the caller's business.

use std::collections::BTreeMap;
use std::time::Duration;

use bakeoff_base::text::counted;
use bakeoff_model::failure::{Failure, Stage};
use bakeoff_model::load::{
    Connections, FleetReceipt, FleetRecord, LoadEvent, LoadInterval, StepCommand,
};
use bakeoff_model::plan::PlayedStep;
use bakeoff_model::record::{IntervalRecord, Record, Turn};
use bakeoff_model::resource::ResourceSample;
use bakeoff_model::suite::Step as PlannedStep;
use bakeoff_model::validity::{Finding, Reason, Validity};
use bakeoff_model::warmth::Warmth;
use bakeoff_runtime::{Instance, Sampled};
use bakeoff_validity::{Judged, Step, WarmUp, evidence_of, is_warm};

use super::load_spec::{self, SpecInput};
use super::rows::Requests;
use super::work::Logged;
use crate::case::Case;
use crate::contracts::{Halt, LoadGenerator, Parts, RunningLoad};
use crate::event::{self, Event, Observer};

/// What was read at one boundary of a slice.
struct Reading {
    contender: Sampled,
    backend: Option<ResourceSample>,
}

/// What is loaded: a contender that is alive, in its session.
pub(crate) struct On<'a, L> {
    pub(crate) parts: &'a Parts<'a, L>,
    pub(crate) case: &'a Case,
    pub(crate) instance: &'a mut dyn Instance,
}

/// The load of one contender, played step by step. Dropping it ends its load generator.
pub(crate) struct Loading<G> {
    generator: G,
    played: Vec<PlayedStep>,
    /// How many of them have been played.
    done: usize,
    /// Connections of the current step, so that a failure can say where it happened.
    last: Connections,
    /// What was judged, by planned step.
    judged: BTreeMap<usize, Step>,
    logged: Logged,
    /// What became of the requests so far.
    requests: Requests,
    /// Slices of the current step so far.
    slices: u32,
    /// How warm the contender was at the end of a warm-up that lasted until it was.
    warmth: Option<Warmth>,
}

/// What a block of a step is: the whole step, but for warm-up that ends when the contender is warm.
struct Block<'w> {
    played: PlayedStep,
    /// Whose turn it is in a carousel.
    position: u32,
    /// The first of the step; the others are the same step once more.
    is_first: bool,
    /// Takes the slices of a warm-up.
    warm_up: Option<&'w mut WarmUp>,
}

impl<G: RunningLoad> Loading<G> {
    /// Starts the load generator, which opens the first step's connections.
    pub(crate) async fn begin<L>(on: &On<'_, L>) -> Result<Self, Halt>
    where
        L: LoadGenerator<Load = G>,
    {
        let run = &on.case.begin.run;
        let spec = load_spec::load_spec(&SpecInput {
            address: on.instance.address(),
            host: on.instance.host(),
            requests: &on.case.requests,
            scenario: on.case.scenario.as_ref(),
            run,
            cores: &on.case.begin.cores,
            slice: on.case.slice,
            seed: on.case.seed,
        });
        let before = on.instance.sample().await.resources.log_lines;
        Ok(Self {
            generator: on.parts.generator.start(&spec).await?,
            played: run.played(),
            done: 0,
            last: Connections::default(),
            judged: BTreeMap::new(),
            logged: Logged {
                requests: 0,
                before,
            },
            requests: Requests::default(),
            slices: 0,
            warmth: None,
        })
    }

    /// The step that is played next; `None` after the last one.
    pub(crate) fn next(&self) -> Option<PlayedStep> {
        self.played.get(self.done).copied()
    }

    /// Connections of the step that was begun last.
    pub(crate) fn last(&self) -> Connections {
        self.last
    }

    /// What has been asked, and how long the log was before that.
    pub(crate) fn logged(&self) -> Logged {
        self.logged
    }

    /// What became of the requests so far, which is counted from nothing again.
    pub(crate) fn take_requests(&mut self) -> Requests {
        std::mem::take(&mut self.requests)
    }

    /// Plays the next step. In a carousel it is that contender's turn, the one of this `position`.
    pub(crate) async fn play<L>(
        &mut self,
        on: &mut On<'_, L>,
        position: u32,
        observer: &mut dyn Observer,
    ) -> Result<(), Halt> {
        let Some(played) = self.next() else {
            return Ok(());
        };
        self.slices = 0;
        let step = on.case.begin.run.steps.get(played.step).copied();
        match step.filter(|step| step.at_least.is_some()) {
            Some(step) => self.until_warm(on, played, &step, observer).await?,
            None => {
                let block = Block {
                    played,
                    position,
                    is_first: true,
                    warm_up: None,
                };
                self.block(on, block, observer).await?;
            }
        }
        self.done += 1;
        Ok(())
    }

    /// Plays a warm-up block by block, until the contender is warm or its time is over.
    async fn until_warm<L>(
        &mut self,
        on: &mut On<'_, L>,
        played: PlayedStep,
        step: &PlannedStep,
        observer: &mut dyn Observer,
    ) -> Result<(), Halt> {
        let length = step.block(on.case.slice);
        let (mut warm_up, mut loaded) = (WarmUp::default(), Duration::ZERO);
        loop {
            let block = Block {
                played,
                position: 0,
                is_first: loaded.is_zero(),
                warm_up: Some(&mut warm_up),
            };
            self.block(on, block, observer).await?;
            loaded += length;
            self.warmth = warm_up.warmth();
            let is_warm = loaded >= step.shortest() && self.warmth.as_ref().is_some_and(is_warm);
            if is_warm || loaded + length > step.duration {
                return Ok(());
            }
        }
    }

    /// Plays what the load generator plays at a time.
    async fn block<L>(
        &mut self,
        on: &mut On<'_, L>,
        mut block: Block<'_>,
        observer: &mut dyn Observer,
    ) -> Result<(), Halt> {
        let played = block.played;
        // The last slice has been read: what opening connections costs is not its own.
        match (block.is_first, self.done) {
            (false, _) => self.tell(StepCommand::Again).await?,
            (true, 0) => {}
            (true, _) => self.tell(StepCommand::Go).await?,
        }
        let mut before = self.ready(on, block.is_first, observer).await?;
        let first = self.slices;
        let mut slices = Vec::new();
        loop {
            match self.event().await? {
                LoadEvent::Interval(mut interval) => {
                    self.logged.requests += interval.requests;
                    self.requests.add(&on.case.requests, &interval);
                    let after = read(on.parts, on.instance).await;
                    interval.slice += first;
                    self.slices = interval.slice + 1;
                    let readings = [&before, &after];
                    let mut record =
                        interval_record(on.case, played, block.position, *interval, readings);
                    record.warmth = self.warmth.filter(|_| !record.warm_up);
                    if let Some(warm_up) = &mut block.warm_up {
                        warm_up.add(&record);
                    }
                    let slice = Judged::new(evidence_of(&on.case.begin, &record));
                    record.validity = slice.validity.clone();
                    slices.push(slice);
                    event::record(observer, Record::Interval(Box::new(record)))?;
                    before = after;
                    alive(on.instance, self.last.asked).await?;
                }
                LoadEvent::StepDone { fleet, .. } => {
                    if let Some(receipt) = fleet {
                        record_fleet(on.case, played, *receipt, observer)?;
                    }
                    break;
                }
                other => return Err(unexpected(other)),
            }
        }
        let judged = self.judged.entry(played.step).or_default();
        slices.iter().for_each(|slice| judged.add(slice));
        Ok(())
    }

    /// Waits for the step's connections, reads the counters and opens the window.
    async fn ready<L>(
        &mut self,
        on: &mut On<'_, L>,
        is_first: bool,
        observer: &mut dyn Observer,
    ) -> Result<Reading, Halt> {
        let connections = match self.event().await? {
            LoadEvent::Ready { connections, .. } => connections,
            other => return Err(unexpected(other)),
        };
        self.last = connections;
        if is_first {
            observer.observe(&Event::StepBegan {
                run: on.case.begin.run.id.clone(),
                step: self.done,
                steps: self.played.len(),
                connections: connections.asked,
                established: connections.established,
            })?;
        }
        alive(on.instance, connections.asked).await?;
        let before = read(on.parts, on.instance).await;
        self.tell(StepCommand::Go).await?;
        Ok(before)
    }

    async fn event(&mut self) -> Result<LoadEvent, Halt> {
        let event = self.generator.next().await;
        let event = event.map_err(|error| failed(&error.to_string()))?;
        Ok(event.unwrap_or(LoadEvent::Done))
    }

    async fn tell(&mut self, command: StepCommand) -> Result<(), Halt> {
        let told = self.generator.tell(command).await;
        told.map_err(|error| failed(&error.to_string()))
    }

    /// Waits until the load generator has ended.
    pub(crate) async fn end(&mut self) -> Result<(), Halt> {
        match self.event().await? {
            LoadEvent::Done => Ok(()),
            other => Err(unexpected(other)),
        }
    }

    /// Takes over what another load of the same contender asked for, once that has ended.
    pub(crate) fn take_over(&mut self, other: Self) {
        self.last = other.last;
        self.logged.requests += other.logged.requests;
        self.requests.add_all(&other.requests);
    }

    /// What a reader should know about the steps that were played.
    pub(crate) fn notes(self, case: &Case) -> Vec<String> {
        let steps = &case.begin.run.steps;
        let notes = self.judged.into_iter().flat_map(|(step, judged)| {
            let at = steps.get(step).map(at).unwrap_or_default();
            notes_of(&judged.validity(), &at)
        });
        notes.collect()
    }
}

fn unexpected(event: LoadEvent) -> Halt {
    match event {
        LoadEvent::Failed { message } => failed(&message),
        LoadEvent::Done => failed("it ended before its load did"),
        LoadEvent::Ready { .. }
        | LoadEvent::Began { .. }
        | LoadEvent::Interval(_)
        | LoadEvent::StepDone { .. } => failed("its events came out of order"),
    }
}

fn failed(message: &str) -> Halt {
    Failure::new(Stage::Load, format!("the load generator failed: {message}")).into()
}

/// Ends the load of a contender that has died.
async fn alive(instance: &mut dyn Instance, connections: u32) -> Result<(), Halt> {
    let Some(exit) = instance.exited().await else {
        return Ok(());
    };
    let at = counted(connections.into(), "connection");
    let message = if let Some(why) = instance.ended_because() {
        format!("{why}, at {at}")
    } else if exit.oom_killed {
        format!("killed for memory at {at}")
    } else {
        format!("{exit} at {at}")
    };
    let log = instance.log_path().file_name();
    let log = log.map(|name| format!("all of its log is logs/{}", name.to_string_lossy()));
    let failure = Failure::new(Stage::Load, message)
        .with_oom_killed(exit.oom_killed)
        .with_evidence(instance.logs())
        .with_hints(log);
    Err(failure.into())
}

async fn read<L>(parts: &Parts<'_, L>, instance: &dyn Instance) -> Reading {
    Reading {
        contender: instance.sample().await,
        backend: match parts.backend {
            Some(backend) => Some(backend.sample().await),
            None => None,
        },
    }
}

/// Records what each of several load generators did in a step that is measured.
fn record_fleet(
    case: &Case,
    played: PlayedStep,
    receipt: FleetReceipt,
    observer: &mut dyn Observer,
) -> Result<(), Halt> {
    let step = case.begin.run.steps.get(played.step);
    if step.is_none_or(|step| step.warm_up) {
        return Ok(());
    }
    let record = Record::Fleet(FleetRecord {
        step: played.step,
        cycle: played.cycle,
        receipt,
    });
    Ok(event::record(observer, record)?)
}

/// A slice as it is recorded, before anybody has judged it.
fn interval_record(
    case: &Case,
    played: PlayedStep,
    position: u32,
    mut load: LoadInterval,
    readings: [&Reading; 2],
) -> IntervalRecord {
    let [before, after] = readings;
    let host = after.contender.host.as_ref();
    let host = host.zip(before.contender.host.as_ref());
    let step = case.begin.run.steps.get(played.step);
    // By the plan: a carousel's load generator plays some steps many times, with one slice each.
    load.step = played.step;
    load.slice = played.cycle.unwrap_or(load.slice);
    IntervalRecord {
        connections: step.map_or(0, |step| step.connections),
        warm_up: step.is_some_and(|step| step.warm_up),
        turn: played.cycle.map(|cycle| Turn { cycle, position }),
        warmth: None,
        load,
        contender_before: Some(before.contender.resources.clone()),
        contender_after: Some(after.contender.resources.clone()),
        backend_before: before.backend.clone(),
        backend_after: after.backend.clone(),
        steal_ns: None,
        host: host.and_then(|(after, before)| after.since(before)),
        validity: Validity::fair(),
    }
}

/// Which step a note is about: `64 connections`, `warm-up, 1 connection`.
fn at(step: &PlannedStep) -> String {
    let connections = counted(step.connections.into(), "connection");
    match step.warm_up {
        true => format!("warm-up, {connections}"),
        false => connections,
    }
}

/// What a reader of the run should know about a step: what speaks against its numbers, and every
/// diagnostic but those on figures that nobody meant to read.
fn notes_of(validity: &Validity, at: &str) -> Vec<String> {
    let told = |reason: &&Reason| {
        !matches!(
            reason.finding,
            Finding::NotMetered { .. } | Finding::NotRecorded { .. }
        )
    };
    let words = |reason: &Reason| format!("{at}: {reason}");
    validity.reasons().iter().filter(told).map(words).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bakeoff_model::load::Pace;
    use bakeoff_model::suite::Step;

    use super::at;

    #[test]
    fn a_note_says_which_step_it_is_about() {
        let step = |connections, warm_up| Step {
            connections,
            duration: Duration::from_secs(1),
            pace: Pace::Closed,
            warm_up,
            at_least: None,
        };
        assert_eq!(at(&step(1, true)), "warm-up, 1 connection");
        assert_eq!(at(&step(64, false)), "64 connections");
    }
}
