//! The load generator itself over a stretch of time: its CPU time, and parts of it that were lost.

use std::collections::BTreeMap;

use bakeoff_base::number::as_f64;
use bakeoff_model::load::LoadInterval;

use crate::used::Used;

/// Readings about the load generator.
#[derive(Debug, Clone)]
pub(crate) struct GeneratorReadings {
    /// CPU time of the load generator, and the time of all its threads.
    pub(crate) cpu: Used,
    /// Why load generators of a fleet were lost, by name.
    pub(crate) lost: BTreeMap<String, String>,
    /// Connections of lost load generators, times the time.
    pub(crate) lost_ns: f64,
}

impl GeneratorReadings {
    /// Returns the readings of a slice.
    pub(super) fn of(load: &LoadInterval) -> Self {
        let wall_ns = load.length_ns();
        let connections = load.lost.iter().map(|lost| u64::from(lost.connections));
        Self {
            cpu: Used {
                used_ns: load.generator_cpu.total_ns(),
                wall_ns: wall_ns.saturating_mul(load.generator_threads.max(1) as u64),
            },
            lost: lost(load),
            lost_ns: as_f64(connections.sum()) * as_f64(wall_ns),
        }
    }

    /// Adds the readings of another stretch of time.
    pub(super) fn add(&mut self, other: &Self) {
        let Self { cpu, lost, lost_ns } = other;
        self.cpu.add(cpu);
        let lost = lost.iter().map(|(name, why)| (name.clone(), why.clone()));
        self.lost.extend(lost);
        self.lost_ns += lost_ns;
    }
}

/// Returns the load generators that were lost and had a part in the step, with the reasons.
fn lost(load: &LoadInterval) -> BTreeMap<String, String> {
    let with_load = load.lost.iter().filter(|lost| lost.connections > 0);
    with_load
        .map(|lost| (lost.name.clone(), lost.why.clone()))
        .collect()
}
