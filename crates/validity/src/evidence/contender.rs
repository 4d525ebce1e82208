//! Readings about the contender's processes over a stretch of time: CPU, memory and quota. How
//! turns divide its CPU time is in [`super::turns`].

use std::collections::BTreeMap;

use bakeoff_base::number::as_f64;
use bakeoff_model::measure::cpu_parts::CpuParts;
use bakeoff_model::measure::resource::Throttling;
use bakeoff_model::suite::Limits;

use super::Slice;
use super::setting::Setting;
use crate::reading::Reading;
use crate::used::{Samples, Used, wall_ns};

/// Share of the memory limit below which the kernel reclaims nothing from a group: without pressure
/// stall information, memory below this share shows that the contender did not wait for memory.
const MEMORY_ROOM: f64 = 0.9;

/// Readings about the contender.
#[derive(Debug, Clone)]
pub(crate) struct ContenderReadings {
    /// CPU time between the readings at both ends, in and outside its turns.
    pub(crate) cpu: Reading<Used>,
    /// Time in which some of its threads waited for memory.
    pub(crate) memory_wait: Reading<Used>,
    /// Time in which its quota stopped it; not applicable without a quota.
    pub(crate) throttling: Reading<Throttling>,
    /// Parts of its CPU time; `None` if threads were not read.
    pub(crate) parts: Option<CpuParts>,
    /// CPU time by the names of its threads, ns; empty without turns.
    pub(crate) threads_ns: BTreeMap<String, u64>,
}

impl ContenderReadings {
    /// Returns the readings of a slice.
    pub(super) fn of(setting: &Setting, slice: &Slice<'_>) -> Self {
        if !setting.metered {
            return Self {
                cpu: Reading::NotMetered,
                memory_wait: Reading::NotMetered,
                throttling: Reading::NotMetered,
                parts: None,
                threads_ns: BTreeMap::new(),
            };
        }
        let samples = slice.contender;
        let cpu = Reading::due(samples.and_then(Used::cpu_between));
        let in_turns = cpu.known().is_some() && !slice.load.turns.is_empty();
        Self {
            memory_wait: memory_wait(&setting.limits, samples),
            throttling: match setting.limits.cpus {
                None => Reading::NotApplicable,
                Some(_) => Reading::due(samples.and_then(throttling)),
            },
            parts: samples.and_then(|(before, after)| CpuParts::between(before, after)),
            threads_ns: samples
                .filter(|_| in_turns)
                .map(threads_ns)
                .unwrap_or_default(),
            cpu,
        }
    }

    /// Adds the readings of another stretch of time.
    pub(super) fn add(&mut self, other: &Self) {
        let Self {
            cpu,
            memory_wait,
            throttling,
            parts,
            threads_ns,
        } = other;
        self.cpu.add(cpu, Used::add);
        self.memory_wait.add(memory_wait, Used::add);
        self.throttling.add(throttling, add_throttling);
        self.parts = self.parts.zip(*parts).map(|(mut own, other)| {
            own += other;
            own
        });
        for (name, used_ns) in threads_ns {
            *self.threads_ns.entry(name.clone()).or_default() += used_ns;
        }
    }
}

/// Returns the time in which the contender waited for memory. Without pressure stall information it
/// did not wait if it has no memory limit, or stayed well below it.
fn memory_wait(limits: &Limits, samples: Option<Samples<'_>>) -> Reading<Used> {
    let waited = samples.and_then(|(before, after)| {
        let then_us = before.pressure?.memory_some_us;
        Some(after.pressure?.memory_some_us.saturating_sub(then_us))
    });
    let memory = samples.and_then(|(_, after)| after.memory);
    let has_room = match (limits.memory_bytes, memory) {
        (None, _) => true,
        (Some(limit), Some(memory)) => as_f64(memory.peak_bytes) < MEMORY_ROOM * as_f64(limit),
        (Some(_), None) => false,
    };
    match waited {
        Some(waited_us) => Reading::due(samples.and_then(wall_ns).map(|wall_ns| Used {
            used_ns: waited_us.saturating_mul(1000),
            wall_ns,
        })),
        None if has_room => Reading::NotApplicable,
        None => Reading::Unreadable,
    }
}

/// Returns how often, and how long, the contender's quota stopped it between two samples.
fn throttling((before, after): Samples<'_>) -> Option<Throttling> {
    let (then, now) = (before.throttling?, after.throttling?);
    Some(Throttling {
        periods: now.periods.saturating_sub(then.periods),
        throttled_periods: now.throttled_periods.saturating_sub(then.throttled_periods),
        throttled_ns: now.throttled_ns.saturating_sub(then.throttled_ns),
    })
}

fn add_throttling(sum: &mut Throttling, other: &Throttling) {
    let Throttling {
        periods,
        throttled_periods,
        throttled_ns,
    } = other;
    sum.periods += periods;
    sum.throttled_periods += throttled_periods;
    sum.throttled_ns += throttled_ns;
}

/// Returns the CPU time of each group of threads between two samples, ns. The later sample does not
/// include threads that have exited.
fn threads_ns((before, after): Samples<'_>) -> BTreeMap<String, u64> {
    let used = after.threads.iter().map(|(name, group)| {
        let then_ns = before.threads.get(name).map_or(0, |group| group.cpu_ns);
        (name.clone(), group.cpu_ns.saturating_sub(then_ns))
    });
    used.collect()
}
