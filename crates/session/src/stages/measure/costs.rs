//! Costs of the contenders of a load, and of the backend, between two readings.

use bakeoff_model::load::LoadInterval;
use bakeoff_model::record::Others;
use futures_util::future::join_all;

use super::On;
use crate::stages::slices::Reading;

/// Reads the counters of all contenders, and of the backend, now, and concurrently: those of
/// another host take a second or more.
pub(super) async fn read_all(on: &[On<'_>]) -> Vec<Reading> {
    let backend = match on.first().and_then(|one| one.parts.backend) {
        Some(backend) => Some(backend.sample().await),
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
