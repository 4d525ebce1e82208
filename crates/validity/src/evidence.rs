//! Sums of counts and readings over a stretch of time: a slice, a step, any number of slices.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use bakeoff_model::load::histogram::Histogram;
use bakeoff_model::load::{ErrorClass, ErrorCount, LoadInterval, MinMax};
use bakeoff_model::measure::core_sharing::CoreSharing;
use bakeoff_model::measure::cpu_parts::CpuParts;
use bakeoff_model::measure::resource::{HostTime, ResourceSample, TcpCounters, Throttling};
use bakeoff_model::plan::Work;
use bakeoff_model::record::nodes::Nodes;
use bakeoff_model::record::{Cores, Others, Unloaded};
use bakeoff_model::suite::Limits;
use bakeoff_model::suite::warmth::Warmth;
use bakeoff_model::validity::RequiredReading;

use crate::reading::Reading;
use crate::rising::RiseInTurns;
use crate::times::Times;
use crate::turns::{TurnsUsed, Used, drain_ns, outside_of_turns, threads_ns, turns};
use bakeoff_base::number::as_f64;

/// Share of the memory limit below which the kernel reclaims nothing from a group: without pressure
/// stall information, memory below this share shows that the contender did not wait for memory.
const MEMORY_ROOM: f64 = 0.9;

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
    /// Whether this is a warm-up step, not a measured one.
    pub warm_up: bool,
    /// How warm the contender was before the step; `None` if the warm-up did not last until it was
    /// warm.
    pub warmth: Option<Warmth>,
    /// Readings that are not due, because the records go without them.
    pub not_recorded: Vec<RequiredReading>,
}

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

/// Counts between two readings, monotonic ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counted {
    /// The count.
    pub count: u64,
    /// The first reading.
    pub from_ns: u64,
    /// The last one.
    pub to_ns: u64,
}

impl Counted {
    /// Adds a slice that follows this one: its first reading is the last one of this slice.
    fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.from_ns = self.from_ns.min(other.from_ns);
        self.to_ns = self.to_ns.max(other.to_ns);
    }
}

/// Sums over a stretch of time within one step.
#[derive(Debug, Clone)]
pub struct Evidence {
    pub(crate) setting: Setting,
    pub(crate) wall_ns: u64,
    /// When the load of the first slice started and that of the last ended, monotonic ns.
    pub(crate) from_ns: u64,
    pub(crate) to_ns: u64,
    pub(crate) requests: u64,
    pub(crate) errors: BTreeMap<ErrorClass, ErrorCount>,
    pub(crate) service_time: Times,
    pub(crate) response_time: Option<Histogram>,
    pub(crate) send_lag: Option<Histogram>,
    /// Age, ns, and count of requests without a response.
    pub(crate) censored: BTreeMap<u64, u64>,
    pub(crate) offered: Option<u64>,
    pub(crate) asked: u32,
    /// Whether users open their connections as they arrive.
    pub(crate) on_arrival: bool,
    /// Requests that all requested connections could have in flight, times the time.
    pub(crate) in_flight_ns: f64,
    /// Connections that were open, times the time.
    pub(crate) open_ns: f64,
    pub(crate) reconnects: u64,
    pub(crate) per_connection: Option<MinMax>,
    pub(crate) turnaround_ns: Reading<u64>,
    pub(crate) connecting_ns: Reading<u64>,
    /// Why load generators were lost, by name.
    pub(crate) lost: BTreeMap<String, String>,
    /// Connections of lost load generators, times the time.
    pub(crate) lost_ns: f64,
    /// CPU time of the load generator, and the time of all its threads.
    pub(crate) generator: Used,
    pub(crate) contender_cpu: Reading<Used>,
    /// CPU time of a contender in its turns, and their time; `None` without turns.
    pub(crate) turns: Option<TurnsUsed>,
    /// CPU time while others were loaded: outside its turns, if it was read turn by turn, and
    /// between its slices of open load.
    pub(crate) idle: Option<Used>,
    /// Activity of the contenders with which it takes turns; `None` in whole runs.
    pub(crate) others: Option<Others>,
    /// Parts of the contender's CPU time; `None` if threads were not read.
    pub(crate) cpu_parts: Option<CpuParts>,
    /// CPU time of a contender in turns by the names of its threads, ns.
    pub(crate) threads_ns: BTreeMap<String, u64>,
    /// How the contender got faster over the turns of the step; only for steps of a set.
    pub(crate) rise_in_turns: Option<RiseInTurns>,
    pub(crate) backend_cpu: Reading<Used>,
    pub(crate) backend_requests: Reading<Counted>,
    pub(crate) memory_wait: Reading<Used>,
    pub(crate) throttling: Reading<Throttling>,
    pub(crate) host: Reading<HostTime>,
    pub(crate) tcp: Reading<TcpCounters>,
}

impl Evidence {
    /// Returns the evidence of one slice.
    #[must_use]
    pub fn of(setting: &Setting, slice: &Slice<'_>) -> Self {
        let load = slice.load;
        let wall_ns = load.length_ns();
        let connections = load.connections;
        let width = match (connections.in_flight_max, connections.established) {
            (_, 0) => 1.0,
            (in_flight, open) => f64::from(in_flight) / f64::from(open),
        };
        let mut evidence = Self {
            setting: setting.clone(),
            wall_ns,
            from_ns: load.start_ns,
            to_ns: load.end_ns,
            requests: load.requests,
            errors: load.errors.clone(),
            service_time: Times::of(&load.service_time),
            response_time: load.response_time.clone(),
            send_lag: load.send_lag.clone(),
            censored: load.censored.buckets().collect(),
            offered: load.offered,
            asked: connections.asked,
            on_arrival: connections.on_arrival,
            // At the end of a turn requests in flight are awaited, and none are sent.
            in_flight_ns: f64::from(connections.asked)
                * width
                * as_f64(wall_ns.saturating_sub(drain_ns(load))),
            open_ns: f64::from(connections.established) * as_f64(wall_ns),
            reconnects: connections.reconnects,
            per_connection: load.requests_per_connection,
            turnaround_ns: Reading::NotApplicable,
            connecting_ns: Reading::NotApplicable,
            lost: lost(load),
            lost_ns: as_f64(lost_connections(load)) * as_f64(wall_ns),
            generator: Used {
                used_ns: load.generator_cpu.total_ns(),
                wall_ns: wall_ns.saturating_mul(load.generator_threads.max(1) as u64),
            },
            contender_cpu: Reading::NotMetered,
            turns: None,
            idle: slice.unloaded.map(|unloaded| Used {
                used_ns: unloaded.cpu_ns,
                wall_ns: unloaded.wall_ns,
            }),
            others: slice.others,
            cpu_parts: None,
            threads_ns: BTreeMap::new(),
            rise_in_turns: None,
            backend_cpu: Reading::NotApplicable,
            backend_requests: Reading::NotApplicable,
            memory_wait: Reading::NotMetered,
            throttling: Reading::NotMetered,
            host: Reading::NotMetered,
            tcp: Reading::NotMetered,
        };
        evidence.read_loop(load);
        evidence.read_parts(slice);
        evidence.read_host(slice);
        evidence
    }

    fn read_loop(&mut self, load: &LoadInterval) {
        if self.setting.closed_loop {
            // Without keep-alive each request has a separate connection, and only connecting comes
            // between a response and the next request.
            self.turnaround_ns = match self.setting.keep_alive {
                true => self.due(RequiredReading::Turnaround, load.turnaround_ns),
                false => Reading::NotApplicable,
            };
        }
        self.connecting_ns = match self.reconnects {
            0 if !self.on_arrival => Reading::NotApplicable,
            _ => self.due(RequiredReading::Connecting, load.connecting_ns),
        };
    }

    fn read_parts(&mut self, slice: &Slice<'_>) {
        if self.setting.metered {
            let (before, after) = slice.contender.unzip();
            self.contender_cpu = Reading::due(cpu(before, after));
            self.turns = self
                .contender_cpu
                .known()
                .and_then(|all| turns(slice.load, *all, self.contender_cores()));
            let outside = self.contender_cpu.known();
            self.idle = outside
                .and_then(|all| outside_of_turns(slice.load, *all))
                .or(self.idle);
            let both = before.zip(after);
            self.cpu_parts = both.and_then(|(before, after)| CpuParts::between(before, after));
            if let (Some(_), Some((before, after))) = (self.turns, both) {
                self.threads_ns = threads_ns(before, after);
            }
            self.memory_wait = self.memory_wait(before, after);
            self.throttling = match self.setting.limits.cpus {
                None => Reading::NotApplicable,
                Some(_) => Reading::due(throttling(before, after)),
            };
        }
        let (before, after) = slice.backend.unzip();
        self.backend_cpu = self
            .setting
            .backend
            .then(|| Reading::due(cpu(before, after)));
        if self.setting.work.backend_requests_min.is_some() {
            self.backend_requests = backend_requests(before, after);
        }
    }

    fn memory_wait(
        &self,
        before: Option<&ResourceSample>,
        after: Option<&ResourceSample>,
    ) -> Reading<Used> {
        let pressure = |sample: Option<&ResourceSample>| Some(sample?.pressure?.memory_some_us);
        let has_room = match (
            self.setting.limits.memory_bytes,
            after.map(|sample| sample.memory),
        ) {
            (None, _) => true,
            (Some(limit), Some(Some(memory))) => {
                as_f64(memory.peak_bytes) < MEMORY_ROOM * as_f64(limit)
            }
            _ => false,
        };
        match (pressure(before), pressure(after)) {
            (Some(then), Some(now)) => {
                let waited_us = now.saturating_sub(then);
                Reading::due(wall_ns(before, after).map(|wall_ns| Used {
                    used_ns: waited_us.saturating_mul(1000),
                    wall_ns,
                }))
            }
            _ if has_room => Reading::NotApplicable,
            _ => Reading::Unreadable,
        }
    }

    fn read_host(&mut self, slice: &Slice<'_>) {
        if self.setting.metered {
            self.host = self.due(RequiredReading::CoreTimes, slice.host.cloned());
            self.tcp = self.due(RequiredReading::TcpCounters, slice.tcp.copied());
        } else if let Some(tcp) = slice.tcp {
            self.tcp = Reading::Known(*tcp);
        }
    }

    /// A reading that is due unless the records go without it.
    fn due<T>(&self, reading: RequiredReading, value: Option<T>) -> Reading<T> {
        match value {
            None if self.setting.not_recorded.contains(&reading) => Reading::NotRecorded,
            value => Reading::due(value),
        }
    }

    /// Returns the number of requests that failed.
    pub(crate) fn failed(&self) -> u64 {
        self.errors.values().map(|error| error.count).sum()
    }

    /// Returns the number of requests that ended, successfully or not.
    pub(crate) fn ended(&self) -> u64 {
        self.requests + self.failed()
    }

    /// Returns the number of requests that failed in this way.
    pub(crate) fn count(&self, class: ErrorClass) -> u64 {
        self.errors.get(&class).map_or(0, |error| error.count)
    }

    /// Returns the number of cores that the contender may use.
    pub(crate) fn contender_cores(&self) -> f64 {
        let cores = match self.setting.cores.contender.len() {
            0 => self.setting.host_cores,
            cores => cores,
        };
        let cores = as_f64(cores as u64);
        self.setting
            .limits
            .cpus
            .map_or(cores, |quota| quota.min(cores))
    }

    /// Returns the CPU time of the contender while it was loaded.
    pub(crate) fn loaded_cpu(&self) -> Option<Used> {
        match self.turns {
            Some(turns) => Some(turns.in_turns),
            None => self.contender_cpu.known().copied(),
        }
    }

    /// Returns the number of cores that the load generator used, as CPU time per time.
    pub(crate) fn generator_cores(&self) -> f64 {
        as_f64(self.generator.used_ns) / as_f64(self.wall_ns.max(1))
    }
}

impl AddAssign<&Evidence> for Evidence {
    fn add_assign(&mut self, other: &Self) {
        self.wall_ns += other.wall_ns;
        self.from_ns = self.from_ns.min(other.from_ns);
        self.to_ns = self.to_ns.max(other.to_ns);
        self.requests += other.requests;
        for (class, error) in &other.errors {
            let sum = self.errors.entry(*class).or_default();
            sum.count += error.count;
            sum.time_ns_sum += error.time_ns_sum;
        }
        self.service_time.add(&other.service_time);
        Histogram::merge_some(&mut self.response_time, other.response_time.as_ref());
        Histogram::merge_some(&mut self.send_lag, other.send_lag.as_ref());
        for (age_ns, count) in &other.censored {
            *self.censored.entry(*age_ns).or_default() += count;
        }
        if let Some(offered) = other.offered {
            *self.offered.get_or_insert(0) += offered;
        }
        self.asked = self.asked.max(other.asked);
        self.in_flight_ns += other.in_flight_ns;
        self.open_ns += other.open_ns;
        self.reconnects += other.reconnects;
        // The last slice of a step has the counts of the whole step.
        self.per_connection = other.per_connection.or(self.per_connection);
        let sum = |own: &mut u64, other: &u64| *own += other;
        self.turnaround_ns.add(&other.turnaround_ns, sum);
        self.connecting_ns.add(&other.connecting_ns, sum);
        let lost = other.lost.iter();
        self.lost
            .extend(lost.map(|(name, why)| (name.clone(), why.clone())));
        self.lost_ns += other.lost_ns;
        self.generator.add(&other.generator);
        self.contender_cpu.add(&other.contender_cpu, Used::add);
        self.turns = self.turns.zip(other.turns).map(|(mut own, other)| {
            own.add(&other);
            own
        });
        if let Some(other) = &other.idle {
            self.idle.get_or_insert_default().add(other);
        }
        self.others = self.others.zip(other.others).map(|(mut own, other)| {
            own += other;
            own
        });
        self.cpu_parts = self.cpu_parts.zip(other.cpu_parts).map(|(mut own, other)| {
            own += other;
            own
        });
        for (name, used_ns) in &other.threads_ns {
            *self.threads_ns.entry(name.clone()).or_default() += used_ns;
        }
        self.backend_cpu.add(&other.backend_cpu, Used::add);
        let (own, other_requests) = (&mut self.backend_requests, &other.backend_requests);
        own.add(other_requests, Counted::add);
        self.memory_wait.add(&other.memory_wait, Used::add);
        self.throttling.add(&other.throttling, add_throttling);
        self.host.add(&other.host, add_host);
        self.tcp.add(&other.tcp, add_tcp);
    }
}

/// Returns the load generators that were lost and had a part in the step, with the reasons.
fn lost(load: &LoadInterval) -> BTreeMap<String, String> {
    let with_load = load.lost.iter().filter(|lost| lost.connections > 0);
    with_load
        .map(|lost| (lost.name.clone(), lost.why.clone()))
        .collect()
}

fn lost_connections(load: &LoadInterval) -> u64 {
    let connections = load.lost.iter().map(|lost| u64::from(lost.connections));
    connections.sum()
}

fn add_throttling(sum: &mut Throttling, other: &Throttling) {
    sum.periods += other.periods;
    sum.throttled_periods += other.throttled_periods;
    sum.throttled_ns += other.throttled_ns;
}

fn add_host(sum: &mut HostTime, other: &HostTime) {
    sum.wall_ns += other.wall_ns;
    sum.own_ns += other.own_ns;
    for (core, other) in sum.cores.iter_mut().zip(&other.cores) {
        core.busy_ns += other.busy_ns;
        core.stolen_ns += other.stolen_ns;
    }
}

fn add_tcp(sum: &mut TcpCounters, other: &TcpCounters) {
    sum.sent_segments += other.sent_segments;
    sum.resent_segments += other.resent_segments;
    sum.resent_syns += other.resent_syns;
    sum.listen_overflows += other.listen_overflows;
    sum.listen_drops += other.listen_drops;
    sum.delayed_acks += other.delayed_acks;
}

fn wall_ns(before: Option<&ResourceSample>, after: Option<&ResourceSample>) -> Option<u64> {
    Some(after?.at_ns.saturating_sub(before?.at_ns)).filter(|wall_ns| *wall_ns > 0)
}

fn cpu(before: Option<&ResourceSample>, after: Option<&ResourceSample>) -> Option<Used> {
    let (then, now) = (before?.cpu?, after?.cpu?);
    Some(Used {
        used_ns: now.total_ns().saturating_sub(then.total_ns()),
        wall_ns: wall_ns(before, after)?,
    })
}

/// Returns the requests that the backend counted. Not every backend counts them; one that does may
/// fail to report them.
fn backend_requests(
    before: Option<&ResourceSample>,
    after: Option<&ResourceSample>,
) -> Reading<Counted> {
    let read = |sample: Option<&ResourceSample>| {
        let sample = sample?;
        Some((sample.at_ns, sample.requests?))
    };
    match (read(before), read(after)) {
        (None, None) => Reading::NotMetered,
        (Some((from_ns, then)), Some((to_ns, now))) => Reading::Known(Counted {
            count: now.saturating_sub(then),
            from_ns,
            to_ns,
        }),
        _ => Reading::Unreadable,
    }
}

fn throttling(
    before: Option<&ResourceSample>,
    after: Option<&ResourceSample>,
) -> Option<Throttling> {
    let (then, now) = (before?.throttling?, after?.throttling?);
    Some(Throttling {
        periods: now.periods.saturating_sub(then.periods),
        throttled_periods: now.throttled_periods.saturating_sub(then.throttled_periods),
        throttled_ns: now.throttled_ns.saturating_sub(then.throttled_ns),
    })
}
