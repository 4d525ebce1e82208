//! Costs of contenders under load, and of the backend, between two readings.

use bakeoff_model::load::LoadInterval;
use bakeoff_model::record::{Others, Unloaded};
use futures_util::future::join_all;

use super::RunContext;
use crate::stages::slices::Reading;

/// Reads the counters of all contenders and of their services now, concurrently: another host
/// takes a second or more for its counters.
pub(super) async fn read_all(on: &[RunContext<'_>]) -> Vec<Reading> {
    let backend = match on.first() {
        Some(one) => one.parts.services.sample().await,
        None => None,
    };
    let reading = join_all(on.iter().map(|one| one.instance.sample()));
    let contenders = reading.await.into_iter();
    let all = contenders.map(|contender| Reading {
        contender,
        backend: backend.clone(),
    });
    all.collect()
}

/// The slices of contenders over the same time, and what was read at both of its ends.
pub(super) struct Slices<'r> {
    pub(super) ended: Vec<LoadInterval>,
    pub(super) before: &'r [Reading],
    pub(super) after: &'r [Reading],
}

impl Slices<'_> {
    /// Returns the cost and the activity of each contender. One that is not loaded may cost
    /// something too.
    pub(super) fn costs(&self) -> Vec<Others> {
        let mut costs: Vec<Others> = (0..self.before.len())
            .map(|side| Others {
                cpu_ns: self.used(side).map_or(0, |used| used.cpu_ns),
                ..Others::default()
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

    /// Returns the CPU time of a contender between the two readings; `None` if it was not read.
    pub(super) fn used(&self, side: usize) -> Option<Unloaded> {
        let (before, after) = (self.before.get(side)?, self.after.get(side)?);
        let (before, after) = (&before.contender.resources, &after.contender.resources);
        Some(Unloaded {
            cpu_ns: after.cpu_ns()?.saturating_sub(before.cpu_ns()?),
            wall_ns: after.at_ns.saturating_sub(before.at_ns),
        })
    }
}
