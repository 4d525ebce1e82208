//! The setting of a step: limits, cores, the kind of load, and which readings are due.

use bakeoff_base::number::as_f64;
use bakeoff_model::measure::core_sharing::CoreSharing;
use bakeoff_model::plan::Work;
use bakeoff_model::record::Cores;
use bakeoff_model::record::nodes::Nodes;
use bakeoff_model::suite::Limits;
use bakeoff_model::suite::warmth::Warmth;
use bakeoff_model::validity::RequiredReading;

use crate::reading::Reading;

/// Everything that stays the same over a step.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// Which cores each part may use; empty = all.
    pub cores: Cores,
    /// The slowdown of the contender's cores by the load generator's; `None` if it was not
    /// measured.
    pub core_sharing: Option<CoreSharing>,
    /// Cores of the host; in a cluster, of the contender's node.
    pub host_cores: usize,
    /// Which part is on which node of a cluster.
    pub nodes: Option<Nodes>,
    /// Limits of the contender.
    pub limits: Limits,
    /// Whether each connection sends its next request when it has its response: no schedule, no
    /// think time, and times that start with a request.
    pub closed_loop: bool,
    /// Whether connections must be kept.
    pub keep_alive: bool,
    /// Whether the contender's resources are metered.
    pub metered: bool,
    /// Whether there is a backend, and whether its resources are metered.
    pub backend: Reading<()>,
    /// The minimum work of each successful request.
    pub work: Work,
    /// Whether the step is warm-up or measured.
    pub phase: Phase,
    /// Readings that are not due, because the records go without them.
    pub not_recorded: Vec<RequiredReading>,
}

/// The part of a run that a step belongs to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Phase {
    /// The warm-up: a contender may still compile and get faster in it.
    WarmUp,
    /// The measured steps.
    Measured {
        /// How warm the contender was before the step; `None` if the warm-up did not last until it
        /// was warm.
        warmth: Option<Warmth>,
    },
}

impl Phase {
    /// Whether a step is warm-up, not measured.
    pub(crate) fn is_warm_up(self) -> bool {
        matches!(self, Self::WarmUp)
    }

    /// Returns how warm the contender was before a measured step; `None` in warm-up, and if the
    /// warm-up did not last until it was warm.
    pub(crate) fn warmth(self) -> Option<Warmth> {
        match self {
            Self::WarmUp => None,
            Self::Measured { warmth } => warmth,
        }
    }
}

impl Setting {
    /// Returns the number of cores that the contender may use: a fraction if a quota limits it.
    pub(crate) fn contender_cores(&self) -> f64 {
        let cores = match self.cores.contender.len() {
            0 => self.host_cores,
            cores => cores,
        };
        let cores = as_f64(cores as u64);
        self.limits.cpus.map_or(cores, |quota| quota.min(cores))
    }

    /// Returns a reading that is due unless the records go without it.
    pub(crate) fn due<T>(&self, reading: RequiredReading, value: Option<T>) -> Reading<T> {
        match value {
            None if self.not_recorded.contains(&reading) => Reading::NotRecorded,
            value => Reading::due(value),
        }
    }
}
