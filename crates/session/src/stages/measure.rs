//! The load of one run: drives the load generator step by step and meters every slice.

use bakeoff_model::failure::{Failure, Stage};
use bakeoff_model::load::{Connections, LoadEvent, LoadInterval};
use bakeoff_model::record::{IntervalRecord, Record};
use bakeoff_model::resource::{HostTime, ResourceSample};
use bakeoff_model::validity::{Finding, Reason, Validity, Verdict};
use bakeoff_runtime::Instance;
use bakeoff_validity::{Judged, Step, evidence_of};

use super::load_spec::{self, SpecInput};
use crate::case::Case;
use crate::contracts::{Halt, LoadGenerator, Parts, RunningLoad};
use crate::event::{self, Event, Observer};

/// What was read at one boundary of a slice.
struct Reading {
    contender: ResourceSample,
    backend: Option<ResourceSample>,
    host: Option<HostTime>,
}

/// Loads the contender through all steps. `last` follows the connections of the current step,
/// so that a failure can say where it happened.
pub(crate) async fn load<L: LoadGenerator>(
    parts: &Parts<'_, L>,
    case: &Case,
    instance: &mut dyn Instance,
    last: &mut Connections,
    notes: &mut Vec<String>,
    observer: &mut dyn Observer,
) -> Result<(), Halt> {
    let spec = load_spec::load_spec(&SpecInput {
        address: instance.address(),
        host: instance.host(),
        requests: &case.requests,
        scenario: case.scenario.as_ref(),
        steps: &case.begin.run.steps,
        transport: case.begin.run.transport,
        cores: &case.begin.cores,
        slice: case.slice,
        seed: case.seed,
    });
    let mut generator = parts.generator.start(&spec).await?;
    let mut before = read(parts, instance).await;
    let mut judged = Step::default();
    while let Some(event) = generator
        .next()
        .await
        .map_err(|error| failed(&error.to_string()))?
    {
        match event {
            LoadEvent::Ready {
                step, connections, ..
            } => {
                *last = connections;
                observer.observe(&Event::StepBegan {
                    run: case.begin.run.id.clone(),
                    step,
                    steps: spec.steps.len(),
                    connections: connections.asked,
                    established: connections.established,
                })?;
                alive(instance, connections.asked).await?;
                before = read(parts, instance).await;
                go(&mut generator).await?;
            }
            LoadEvent::Interval(interval) => {
                let after = read(parts, instance).await;
                let mut record = interval_record(case, *interval, &before, &after);
                let slice = Judged::new(evidence_of(&case.begin, &record));
                judged.add(&slice);
                record.validity = slice.validity;
                event::record(observer, Record::Interval(Box::new(record)))?;
                before = after;
                alive(instance, last.asked).await?;
            }
            LoadEvent::Failed { message } => return Err(failed(&message)),
            LoadEvent::StepDone { step } => {
                let connections = spec.steps[step].connections;
                let validity = std::mem::take(&mut judged).validity();
                notes.extend(notes_of(&validity, connections));
                // The last slice has been read: what opening connections costs is not its own.
                if step + 1 < spec.steps.len() {
                    go(&mut generator).await?;
                }
            }
            LoadEvent::Done => {}
        }
    }
    Ok(())
}

async fn go(load: &mut impl RunningLoad) -> Result<(), Halt> {
    let reached = load.go().await;
    reached.map_err(|error| failed(&error.to_string()))
}

fn failed(message: &str) -> Halt {
    Failure::new(Stage::Load, format!("the load generator failed: {message}")).into()
}

/// Ends the load of a contender that has died.
async fn alive(instance: &mut dyn Instance, connections: u32) -> Result<(), Halt> {
    let Some(exit) = instance.exited().await else {
        return Ok(());
    };
    let plural = if connections == 1 { "" } else { "s" };
    let message = if exit.oom_killed {
        format!("killed for memory at {connections} connection{plural}")
    } else {
        format!("{exit} at {connections} connection{plural}")
    };
    let failure = Failure::new(Stage::Load, message)
        .with_oom_killed(exit.oom_killed)
        .with_evidence(instance.logs());
    Err(failure.into())
}

async fn read<L>(parts: &Parts<'_, L>, instance: &dyn Instance) -> Reading {
    let contender = instance.sample().await;
    let backend = match parts.backend {
        Some(backend) => Some(backend.sample().await),
        None => None,
    };
    Reading {
        contender,
        backend,
        host: (parts.host_time)(),
    }
}

/// A slice as it is recorded, before anybody has judged it.
fn interval_record(
    case: &Case,
    load: LoadInterval,
    before: &Reading,
    after: &Reading,
) -> IntervalRecord {
    let host = after.host.as_ref().zip(before.host.as_ref());
    let step = case.begin.run.steps.get(load.step);
    IntervalRecord {
        connections: step.map_or(0, |step| step.connections),
        warm_up: step.is_some_and(|step| step.warm_up),
        load,
        contender_before: Some(before.contender.clone()),
        contender_after: Some(after.contender.clone()),
        backend_before: before.backend.clone(),
        backend_after: after.backend.clone(),
        steal_ns: None,
        host: host.and_then(|(after, before)| after.since(before)),
        validity: Validity::fair(),
    }
}

/// What a reader of the run should know about a step: what speaks against its numbers, and every
/// diagnostic but those on figures that nobody meant to read.
fn notes_of(validity: &Validity, connections: u32) -> Vec<String> {
    let told = |reason: &&Reason| {
        !matches!(
            reason.finding,
            Finding::NotMetered { .. } | Finding::NotRecorded { .. }
        )
    };
    let words = |reason: &Reason| match reason.verdict {
        Verdict::Fair => format!("{connections} connections: {}", reason.finding),
        verdict => format!("{connections} connections: {verdict}: {}", reason.finding),
    };
    validity.reasons().iter().filter(told).map(words).collect()
}
