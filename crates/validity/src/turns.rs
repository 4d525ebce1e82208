//! How turns divide a contender's time and CPU time.

use bakeoff_base::number::as_f64;
use bakeoff_model::load::{LoadInterval, TurnCount};

use crate::used::Used;

/// One turn in this number is assumed to be undisturbed, and shows how much CPU time a contender
/// uses when nothing else takes it.
pub const UNDISTURBED: usize = 5;

/// Share of the available CPU from which on a contender is CPU-bound, in undisturbed turns.
pub const FULL: f64 = 0.97;

/// CPU time of a contender that takes turns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct TurnsUsed {
    /// CPU time in the turns.
    pub(crate) in_turns: Used,
    /// Time at the ends of turns in which no more requests were sent, ns.
    pub(crate) drain_ns: u64,
    /// Turns whose CPU time was read.
    pub(crate) read: usize,
    /// Turns among these in which the contender used all its available CPU.
    pub(crate) full: usize,
}

impl TurnsUsed {
    /// Whether the contender is CPU-bound: it uses all its available CPU in undisturbed turns.
    pub(crate) fn is_cpu_bound(&self) -> bool {
        self.full > 0 && self.full * UNDISTURBED >= self.read
    }

    /// Returns the share of the turns' time in which no more requests were sent.
    pub(crate) fn drain_share(&self) -> f64 {
        as_f64(self.drain_ns) / as_f64(self.in_turns.wall_ns.max(1))
    }

    /// Adds the turns of another stretch of time.
    pub(crate) fn add(&mut self, other: &Self) {
        let Self {
            in_turns,
            drain_ns,
            read,
            full,
        } = other;
        self.in_turns.add(in_turns);
        self.drain_ns += drain_ns;
        self.read += read;
        self.full += full;
    }
}

/// Divides the CPU time in a slice of a contender that may use this number of cores; `None` without
/// turns. If it was not read turn by turn, all of it counts as used in the turns.
pub(crate) fn turns(load: &LoadInterval, all: Used, cores: f64) -> Option<TurnsUsed> {
    let read = load.turns.iter().filter(|turn| turn.own_cpu_us > 0);
    let is_full =
        |turn: &&TurnCount| as_f64(turn.own_cpu_us) >= FULL * cores * as_f64(turn.length_us.max(1));
    (!load.turns.is_empty()).then(|| TurnsUsed {
        drain_ns: drain_ns(load),
        read: read.clone().count(),
        full: read.filter(is_full).count(),
        in_turns: Used {
            used_ns: own_ns(load).unwrap_or(all.used_ns),
            wall_ns: load.length_ns(),
        },
    })
}

/// Returns the CPU time that a contender used outside its turns in a slice; `None` if it was not
/// read turn by turn.
pub(crate) fn outside_of_turns(load: &LoadInterval, all: Used) -> Option<Used> {
    Some(Used {
        used_ns: all.used_ns.saturating_sub(own_ns(load)?),
        wall_ns: all.wall_ns.saturating_sub(load.length_ns()),
    })
}

/// Returns the CPU time of a contender in its turns, ns.
fn own_ns(load: &LoadInterval) -> Option<u64> {
    let own_us: u64 = load.turns.iter().map(|turn| turn.own_cpu_us).sum();
    (own_us > 0).then_some(own_us * 1000)
}

/// Returns the time at the ends of turns in which no more requests were sent, ns.
pub(crate) fn drain_ns(load: &LoadInterval) -> u64 {
    load.turns.iter().map(|turn| turn.drain_us * 1000).sum()
}
