//! Evidence about turns over a stretch of time: of a contender that takes turns with others, and of
//! those others.

use bakeoff_model::record::Others;

use super::Slice;
use super::setting::Setting;
use crate::rising::RiseInTurns;
use crate::turns::{TurnsUsed, outside_of_turns, turns};
use crate::used::Used;

/// Readings about turns.
#[derive(Debug, Clone)]
pub(crate) struct TurnReadings {
    /// CPU time of the contender in its turns, and their time; `None` without turns.
    pub(crate) used: Option<TurnsUsed>,
    /// CPU time of the contender while others were loaded: outside its turns, if it was read turn
    /// by turn, and between its slices of open load.
    pub(crate) idle: Option<Used>,
    /// Activity of the contenders with which it takes turns; `None` in whole runs.
    pub(crate) others: Option<Others>,
    /// How the contender got faster over the turns of the step; only for steps of a set.
    pub(crate) rise: Option<RiseInTurns>,
}

impl TurnReadings {
    /// Returns the readings of a slice, in and outside the turns of which the contender used this
    /// CPU time; `None` if it was not read.
    pub(super) fn of(setting: &Setting, slice: &Slice<'_>, all: Option<Used>) -> Self {
        let unloaded = slice.unloaded.map(|unloaded| Used {
            used_ns: unloaded.cpu_ns,
            wall_ns: unloaded.wall_ns,
        });
        let outside = all.and_then(|all| outside_of_turns(slice.load, all));
        Self {
            used: all.and_then(|all| turns(slice.load, all, setting.contender_cores())),
            idle: outside.or(unloaded),
            others: slice.others,
            rise: None,
        }
    }

    /// Adds the readings of another stretch of the same step.
    pub(super) fn add(&mut self, other: &Self) {
        let Self {
            used,
            idle,
            others,
            // Found over a whole step, and added to its sum.
            rise: _,
        } = other;
        self.used = self.used.zip(*used).map(|(mut own, other)| {
            own.add(&other);
            own
        });
        if let Some(idle) = idle {
            self.idle.get_or_insert_default().add(idle);
        }
        self.others = self.others.zip(*others).map(|(mut own, other)| {
            own += other;
            own
        });
    }
}
