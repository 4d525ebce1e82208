//! CPU time that was used of a time that passed, and how turns divide both.

use std::collections::BTreeMap;

use bakeoff_base::number::as_f64;
use bakeoff_model::load::LoadInterval;
use bakeoff_model::resource::ResourceSample;

/// Time used of a time that passed, ns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Used {
    /// Used.
    pub used_ns: u64,
    /// Passed between the readings.
    pub wall_ns: u64,
}

impl Used {
    /// Used time for each time that passed: cores, or a share.
    pub(crate) fn share(self) -> f64 {
        as_f64(self.used_ns) / as_f64(self.wall_ns.max(1))
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.used_ns += other.used_ns;
        self.wall_ns += other.wall_ns;
    }
}

/// CPU time of a contender that takes turns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct TurnsUsed {
    /// In its turns.
    pub(crate) in_turns: Used,
    /// Time at the ends of turns in which no request was sent any more, ns.
    pub(crate) drain_ns: u64,
}

/// Divides the CPU time of a slice; `None` without turns. Where it was not read turn by turn, all
/// of it counts as that of the turns.
pub(crate) fn turns(load: &LoadInterval, all: Used) -> Option<TurnsUsed> {
    (!load.turns.is_empty()).then(|| TurnsUsed {
        drain_ns: drain_ns(load),
        in_turns: Used {
            used_ns: own_ns(load).unwrap_or(all.used_ns),
            wall_ns: load.length_ns(),
        },
    })
}

/// Returns the part of the CPU time of a slice that a contender used outside of its turns; `None`
/// where that was not read turn by turn.
pub(crate) fn outside_of_turns(load: &LoadInterval, all: Used) -> Option<Used> {
    Some(Used {
        used_ns: all.used_ns.saturating_sub(own_ns(load)?),
        wall_ns: all.wall_ns.saturating_sub(load.length_ns()),
    })
}

/// The CPU time of a contender in its turns, ns.
fn own_ns(load: &LoadInterval) -> Option<u64> {
    let own_us: u64 = load.turns.iter().map(|turn| turn.own_cpu_us).sum();
    (own_us > 0).then_some(own_us * 1000)
}

/// The ends of turns in which no request was sent any more, ns.
pub(crate) fn drain_ns(load: &LoadInterval) -> u64 {
    load.turns.iter().map(|turn| turn.drain_us * 1000).sum()
}

/// CPU time of each group of threads between two readings, ns. What a thread used before it ended
/// is gone from the later reading.
pub(crate) fn threads_ns(before: &ResourceSample, after: &ResourceSample) -> BTreeMap<String, u64> {
    let used = after.threads.iter().map(|(name, group)| {
        let then_ns = before.threads.get(name).map_or(0, |group| group.cpu_ns);
        (name.clone(), group.cpu_ns.saturating_sub(then_ns))
    });
    used.collect()
}
