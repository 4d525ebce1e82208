//! Findings about a number.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::FairnessVerdict;
use crate::load::ErrorClass;
use crate::measure::core_sharing::CoreSharing;

/// A finding, with the numbers by which it was judged. Shares are 0 to 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "reason", rename_all = "kebab-case")]
pub enum Finding {
    /// No request succeeded.
    NoSuccess {
        /// Requests that failed.
        failed: u64,
    },
    /// Requests failed.
    Errors {
        /// How many, of all classes.
        failed: u64,
        /// Requests that came to an end.
        ended: u64,
        /// How many of each class.
        classes: BTreeMap<ErrorClass, u64>,
    },
    /// Bodies were not the expected ones. Only some are looked at, so each stands for many.
    WrongBodies {
        /// How many of those that were looked at.
        count: u64,
    },
    /// The backend was asked less often than the work takes: responses came from somewhere else.
    BackendRequests {
        /// Requests that the backend responded to.
        found: u64,
        /// Successful requests of the load.
        requests: u64,
        /// Requests to the backend that each of them takes at least.
        each_min: f64,
    },
    /// The contender used next to no CPU time: what serves is not metered.
    CpuMissing {
        /// CPU time of the contender, ns.
        cpu_ns: u64,
        /// Successful requests of the load.
        requests: u64,
    },
    /// The load generator ran out of file descriptors, ports or memory.
    GeneratorErrors {
        /// How many requests failed by that.
        count: u64,
    },
    /// Load generators of a fleet were lost before the end.
    GeneratorLost {
        /// Share of the connections that were asked for, over the time, that were theirs.
        share: f64,
        /// How many load generators.
        count: u64,
        /// Some of them with the reason, a lower-case fragment each.
        generators: Vec<String>,
    },
    /// Connections were not open.
    ConnectionsMissing {
        /// How many were open or being opened, on average.
        open: f64,
        /// How many were asked for.
        asked: u32,
    },
    /// A connection got no response in the whole step.
    ConnectionsStarved {
        /// Requests of the slowest connection.
        min: u64,
        /// Requests of the fastest one.
        max: u64,
    },
    /// Connections were not served alike.
    ConnectionsUnequal {
        /// Requests of the slowest connection.
        min: u64,
        /// Requests of the fastest one.
        max: u64,
    },
    /// By Little's law part of the concurrency that was asked for is missing: neither with the
    /// service nor with the load generator.
    ConcurrencyMissing {
        /// The concurrency that was found.
        found: f64,
        /// The concurrency that was asked for.
        asked: f64,
    },
    /// The service had fewer requests at a time than were asked for: throughput times mean time.
    ConcurrencyLow {
        /// Requests that it had at a time.
        effective: f64,
        /// The concurrency that was asked for.
        asked: f64,
    },
    /// Open load: less was done than was offered.
    RateMissed {
        /// Requests that came to an end.
        ended: u64,
        /// Requests that were due.
        offered: u64,
    },
    /// Open load: requests were sent late.
    SendLag {
        /// 99th percentile of the delay, ns.
        lag_p99_ns: u64,
        /// 99th percentile of the response time, ns.
        response_p99_ns: u64,
    },
    /// The load generator's threads had no headroom.
    GeneratorFull {
        /// Share of its threads' time that it used.
        busy: f64,
    },
    /// Too much of each cycle of closed load passed in the load generator.
    GeneratorShare {
        /// Share of the cycle between a response and the next request.
        share: f64,
    },
    /// The backend's cores had no headroom.
    BackendFull {
        /// Cores that it used.
        used: f64,
        /// Cores that it may use.
        allowed: f64,
    },
    /// Cores that several parts share had no headroom.
    SharedCoresFull {
        /// Cores that were busy, with anything.
        busy: f64,
        /// How many they are.
        cores: usize,
        /// Whether the contender is one of the parts.
        with_contender: bool,
    },
    /// The contender's core is slower while the load generator's work: hyper-threads of one core.
    SharedPhysicalCore(CoreSharing),
    /// The hypervisor withheld the contender's cores.
    Steal {
        /// Share of these cores' time.
        share: f64,
    },
    /// Others worked on the contender's cores.
    ForeignWork {
        /// Share of these cores' time.
        share: f64,
    },
    /// Turns drained for much of their time.
    LongDrain {
        /// Share of the turns in which no request was sent any more.
        share: f64,
    },
    /// The contender worked while others had their turns.
    IdleWork {
        /// Cores' worth of CPU time outside of its turns.
        cores: f64,
        /// Share of compilers in its CPU time.
        jit_share: f64,
        /// Share of garbage collectors in its CPU time.
        gc_share: f64,
        /// Threads that used enough CPU time, in the contender's turns and outside of them, to have
        /// done that, with their shares of all its CPU time, the largest first; empty if threads
        /// were not read.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        threads: Vec<ThreadShare>,
    },
    /// The contender waited for memory.
    MemoryPressure {
        /// Share of the time in which some of its threads waited.
        share: f64,
    },
    /// The CPU quota stalled the contender.
    QuotaStalls {
        /// Enforcement periods in which it was throttled.
        throttled_periods: u64,
        /// All periods.
        periods: u64,
        /// Time throttled, ns.
        throttled_ns: u64,
    },
    /// Many requests were in flight, and no part had its cores full.
    NobodyFull {
        /// Cores that the contender used.
        used: f64,
        /// Cores that it may use.
        allowed: f64,
        /// Requests in flight.
        in_flight: f64,
    },
    /// After its longest warm-up the contender was not warm.
    StillRising {
        /// Growth, as that of the warmth; the best guess.
        rise: f64,
        /// Slices or turns at the end of the warm-up that say so.
        slices: usize,
        /// Whether these are turns.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        in_turns: bool,
    },
    /// After its longest warm-up it is not known whether the contender was warm.
    WarmthUnknown {
        /// The largest growth that the noise does not exclude.
        rise_most: f64,
        /// Slices or turns at the end of the warm-up that say so.
        slices: usize,
        /// Whether these are turns.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        in_turns: bool,
    },
    /// In a measured step in turns the contender got faster, and the others did not.
    RisingInTurns {
        /// Growth in the contender's requests per second of CPU time from the first block to the
        /// last, relative to the median of the others; the best guess.
        rise: f64,
        /// Growth of the load generator's CPU time for each second of the contender's.
        to_generator: f64,
        /// Blocks that say so.
        blocks: usize,
    },
    /// The contender compiled while it was measured.
    Compiling {
        /// Share of its CPU time that compiler threads used.
        share: f64,
    },
    /// Connections were not kept although they should be.
    KeepAlive {
        /// Connections that were opened again.
        reconnects: u64,
        /// Successful requests.
        requests: u64,
    },
    /// Response times gather where delayed acknowledgements put them.
    DelayedAcknowledgements {
        /// Share of the times.
        share: f64,
    },
    /// Response times gather where retransmissions put them.
    RetransmissionWaits {
        /// Share of the times.
        share: f64,
    },
    /// The kernel sent TCP segments again.
    Retransmissions {
        /// Segments sent again.
        resent: u64,
        /// Segments sent.
        sent: u64,
    },
    /// A listen queue overflowed, or requests to connect were lost.
    ListenQueue {
        /// Connections that found the listen queue full.
        overflows: u64,
        /// Requests to connect that were dropped.
        drops: u64,
        /// Requests to connect that were sent again.
        resent: u64,
    },
    /// Readings that should have been taken and could not be.
    Unreadable {
        /// Which.
        figures: Vec<RequiredReading>,
    },
    /// Readings that the records go without, as their `begin` says: not judged.
    NotRecorded {
        /// Which.
        figures: Vec<RequiredReading>,
    },
    /// Readings of a service that is not metered: not judged.
    NotMetered {
        /// Which.
        figures: Vec<RequiredReading>,
    },
    /// Part of a step's time slices have this verdict by themselves.
    PartOfTime {
        /// Verdict of the slices, or a worse one.
        slices: FairnessVerdict,
        /// Share of the step's time.
        share: f64,
        /// The finding in the longest of them, a lower-case fragment.
        example: String,
        /// Whether that finding is that requests failed, or that none ended.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        failing: bool,
    },
    /// A verdict that is recorded in words, by a rule that is not one of these.
    Recorded {
        /// Words of the verdict.
        evidence: String,
    },
}

impl Finding {
    /// Whether it is that requests failed, or that none ended.
    #[must_use]
    pub fn is_of_failures(&self) -> bool {
        match self {
            Self::NoSuccess { .. } | Self::Errors { .. } => true,
            Self::PartOfTime { failing, .. } => *failing,
            _ => false,
        }
    }
}

/// Threads with one name, and their share of the contender's CPU time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadShare {
    /// Name of the threads, as in samples.
    pub name: String,
    /// Share of the contender's CPU time.
    pub share: f64,
}

/// A reading that rules need.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum RequiredReading {
    /// CPU time of the contender.
    ContenderCpu,
    /// Time in which the contender waited for memory.
    MemoryPressure,
    /// Time in which the quota stalled the contender.
    QuotaStalls,
    /// CPU time of the backend.
    BackendCpu,
    /// Requests that the backend responded to.
    BackendRequests,
    /// The times of each core.
    CoreTimes,
    /// Counters of the kernel's TCP.
    TcpCounters,
    /// Time between responses and next requests.
    Turnaround,
    /// Time in which connections were being opened again.
    Connecting,
}
