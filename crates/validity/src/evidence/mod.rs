//! Sums of counts and readings over a stretch of time: a slice, a step, any number of slices.
//!
//! Each group of them knows how it is taken from a slice, and how it is added up.

mod backend;
mod connections;
mod contender;
mod generator;
mod host;
mod requests;
mod setting;
mod turns;

use std::ops::AddAssign;

use bakeoff_base::number::as_f64;
use bakeoff_model::load::LoadInterval;
use bakeoff_model::measure::resource::{HostTime, ResourceSample, TcpCounters};
use bakeoff_model::record::{Others, Unloaded};

use self::backend::BackendReadings;
use self::connections::ConnectionCounts;
use self::contender::ContenderReadings;
use self::generator::GeneratorReadings;
use self::host::HostReadings;
use self::requests::RequestCounts;
pub use self::setting::{Phase, Setting};
use self::turns::TurnReadings;
use crate::used::Used;

/// The counts and readings of a stretch of time: the load, and readings at both of its ends.
#[derive(Debug, Clone, Copy)]
pub struct Slice<'a> {
    /// Counts of the load generator.
    pub load: &'a LoadInterval,
    /// The contender.
    pub contender: Option<(&'a ResourceSample, &'a ResourceSample)>,
    /// The backend.
    pub backend: Option<(&'a ResourceSample, &'a ResourceSample)>,
    /// Times of the host's cores.
    pub host: Option<&'a HostTime>,
    /// TCP counters of the kernel.
    pub tcp: Option<&'a TcpCounters>,
    /// Activity of the contenders with which it takes turns.
    pub others: Option<Others>,
    /// CPU use of the contender while others had the open load.
    pub unloaded: Option<Unloaded>,
}

/// Sums over a stretch of time within one step.
#[derive(Debug, Clone)]
pub struct Evidence {
    /// Everything that stays the same over the step.
    pub(crate) setting: Setting,
    /// The stretch of time itself.
    pub(crate) stretch: Stretch,
    /// Requests, as the load generator counted them.
    pub(crate) requests: RequestCounts,
    /// Connections, as the load generator counted them.
    pub(crate) connections: ConnectionCounts,
    /// The load generator itself.
    pub(crate) generator: GeneratorReadings,
    /// Processes of the contender.
    pub(crate) contender: ContenderReadings,
    /// Turns of the contender, and the contenders with which it takes them.
    pub(crate) turns: TurnReadings,
    /// The backend.
    pub(crate) backend: BackendReadings,
    /// The host, or in a cluster the contender's node.
    pub(crate) host: HostReadings,
}

impl Evidence {
    /// Returns the evidence of one slice.
    #[must_use]
    pub fn of(setting: &Setting, slice: &Slice<'_>) -> Self {
        let contender = ContenderReadings::of(setting, slice);
        let contender_cpu = contender.cpu.known().copied();
        Self {
            setting: setting.clone(),
            stretch: Stretch::of(slice.load),
            requests: RequestCounts::of(slice.load),
            connections: ConnectionCounts::of(setting, slice.load),
            generator: GeneratorReadings::of(slice.load),
            contender,
            turns: TurnReadings::of(setting, slice, contender_cpu),
            backend: BackendReadings::of(setting, slice.backend),
            host: HostReadings::of(setting, slice),
        }
    }

    /// Returns the CPU time of the contender while it was loaded; `None` if it was not read.
    pub(crate) fn loaded_cpu(&self) -> Option<Used> {
        match self.turns.used {
            Some(turns) => Some(turns.in_turns),
            None => self.contender.cpu.known().copied(),
        }
    }

    /// Returns the number of cores that the load generator used, as CPU time per time.
    pub(crate) fn generator_cores(&self) -> f64 {
        as_f64(self.generator.cpu.used_ns) / as_f64(self.stretch.wall_ns.max(1))
    }
}

impl AddAssign<&Evidence> for Evidence {
    fn add_assign(&mut self, other: &Self) {
        let Self {
            // All stretches are of one step.
            setting: _,
            stretch,
            requests,
            connections,
            generator,
            contender,
            turns,
            backend,
            host,
        } = other;
        self.stretch.add(stretch);
        self.requests.add(requests);
        self.connections.add(connections);
        self.generator.add(generator);
        self.contender.add(contender);
        self.turns.add(turns);
        self.backend.add(backend);
        self.host.add(host);
    }
}

/// A stretch of time: some slices of a step, which need not follow each other without a gap.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stretch {
    /// Length of all slices together, ns.
    pub(crate) wall_ns: u64,
    /// When the load of the first slice started, monotonic ns.
    pub(crate) from_ns: u64,
    /// When the load of the last slice ended, monotonic ns.
    pub(crate) to_ns: u64,
}

impl Stretch {
    /// Returns the time of a slice.
    fn of(load: &LoadInterval) -> Self {
        Self {
            wall_ns: load.length_ns(),
            from_ns: load.start_ns,
            to_ns: load.end_ns,
        }
    }

    /// Adds slices of the same step.
    fn add(&mut self, other: &Self) {
        let Self {
            wall_ns,
            from_ns,
            to_ns,
        } = other;
        self.wall_ns += wall_ns;
        self.from_ns = self.from_ns.min(*from_ns);
        self.to_ns = self.to_ns.max(*to_ns);
    }
}
