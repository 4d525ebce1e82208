//! What is read at both ends of a slice, and the record that comes of it.

use bakeoff_model::load::LoadInterval;
use bakeoff_model::record::{IntervalRecord, Others};
use bakeoff_model::resource::ResourceSample;
use bakeoff_model::validity::Validity;
use bakeoff_runtime::Sampled;

use super::{Block, On};

/// What was read at one boundary of a slice.
#[derive(Clone)]
pub(super) struct Reading {
    pub(super) contender: Sampled,
    pub(super) backend: Option<ResourceSample>,
}

/// Reads the counters of all contenders, and of the backend, now.
pub(super) async fn read_all<L>(on: &[On<'_, L>]) -> Vec<Reading> {
    let mut all: Vec<Reading> = Vec::new();
    let backend = match on.first().and_then(|one| one.parts.backend) {
        Some(backend) => Some(backend.sample().await),
        None => None,
    };
    for one in on {
        all.push(Reading {
            contender: one.instance.sample().await,
            backend: backend.clone(),
        });
    }
    all
}

/// The slices of contenders over the same time, and what was read at both of its ends.
pub(super) struct Slices<'r> {
    pub(super) ended: Vec<LoadInterval>,
    pub(super) before: &'r [Reading],
    pub(super) after: &'r [Reading],
}

impl Slices<'_> {
    /// What each contender cost and did. One that is not loaded may cost something too.
    pub(super) fn costs(&self) -> Vec<Others> {
        let cpu_ns = |reading: &Reading| reading.contender.resources.cpu_ns();
        let boundaries = self.before.iter().zip(self.after);
        let mut costs: Vec<Others> = boundaries
            .map(|(before, after)| {
                let used = cpu_ns(after).zip(cpu_ns(before));
                Others {
                    cpu_ns: used.map_or(0, |(after, before)| after.saturating_sub(before)),
                    ..Others::default()
                }
            })
            .collect();
        for load in &self.ended {
            if let Some(cost) = costs.get_mut(load.side as usize) {
                cost.generator_cpu_ns = load.generator_cpu.total_ns();
                cost.requests = load.requests;
            }
        }
        costs
    }
}

/// A slice as it is recorded, before anybody has judged it.
pub(super) fn interval_record(
    block: &Block<'_>,
    mut load: LoadInterval,
    readings: [&Reading; 2],
) -> IntervalRecord {
    let [before, after] = readings;
    let host = after.contender.host.as_ref();
    let host = host.zip(before.contender.host.as_ref());
    // By the plan: they may be played in another order.
    load.step = block.step;
    let step = block.planned;
    IntervalRecord {
        connections: step.map_or(0, |step| step.connections),
        warm_up: step.is_some_and(|step| step.warm_up),
        turn: None,
        warmth: None,
        others: None,
        latency_rate_per_s: block.latency_rate_per_s,
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
