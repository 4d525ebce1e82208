//! The rulebook as a table: the measured value, the limits beyond which it speaks against a number,
//! and the verdict. A test compares it with the table in docs/method/validity.md.

use bakeoff_model::validity::FairnessVerdict::{
    self, BackendBound, Degraded, Fair, GeneratorBound, HostBound, Invalid,
};

use bakeoff_model::measure::core_sharing::CoreSharing;
use bakeoff_stats::rise;

use crate::cpu_missing::cpu_missing;
use crate::evidence::Evidence;
use crate::in_turns::{idle_work, long_drain, rising_in_turns};
use crate::measures::{self, Measure};

/// The side of its limits on which a value speaks against the number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitSide {
    /// Above the limits.
    Above,
    /// Below the limits.
    Below,
}

/// A limit of a rule and the verdict beyond it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limit {
    /// The limit itself, which is still good.
    pub at: f64,
    /// The limit in words.
    pub words: &'static str,
    /// The verdict beyond; `fair` makes it a diagnostic.
    pub verdict: FairnessVerdict,
}

/// One rule.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// The name of the finding in records.
    pub name: &'static str,
    /// The subject of the rule, in words.
    pub condition: &'static str,
    /// The bad side of the limits.
    pub side: LimitSide,
    /// Limits of the rule, the mildest first.
    pub limits: &'static [Limit],
    /// The source of the limits.
    pub source: &'static str,
    /// The function that measures the value.
    pub(crate) measure: fn(&Evidence) -> Measure,
}

impl Rule {
    /// Returns the verdict on a value; `None` if it is within all limits.
    #[must_use]
    pub fn grade(&self, value: f64) -> Option<FairnessVerdict> {
        let beyond = |limit: &&Limit| match self.side {
            LimitSide::Above => value > limit.at,
            LimitSide::Below => value < limit.at,
        };
        self.limits
            .iter()
            .filter(beyond)
            .map(|limit| limit.verdict)
            .max()
    }
}

const fn limit(at: f64, words: &'static str, verdict: FairnessVerdict) -> Limit {
    Limit { at, words, verdict }
}

/// Share of a step's time from which on the verdicts of single slices are the step's.
pub(crate) const UNFAIR_TIME_MAX: f64 = 0.1;

/// Share of the contender's CPU time from which on compiling is in the number.
pub(crate) const COMPILING_MAX: f64 = 0.05;

/// Every rule, in the order in which equally bad findings are named.
pub const RULES: &[Rule] = &[
    Rule {
        name: "no-success",
        condition: "successful requests",
        side: LimitSide::Below,
        limits: &[limit(1.0, "1", Invalid)],
        source: "there is no number",
        measure: measures::no_success,
    },
    Rule {
        name: "errors",
        condition: "failed requests of every class, of all that came to an end",
        side: LimitSide::Above,
        limits: &[
            limit(0.0, "0", Fair),
            limit(0.001, "0.1 %", Degraded),
            limit(0.01, "1 %", Invalid),
        ],
        source: "throughput and times are those of the others; p99 needs 99 % of the requests",
        measure: measures::errors,
    },
    Rule {
        name: "wrong-bodies",
        condition: "responses whose checked body or header was wrong",
        side: LimitSide::Above,
        limits: &[limit(0.0, "0", Invalid)],
        source: "one body in 64 is checked, and a service that is right is right always",
        measure: measures::wrong_bodies,
    },
    Rule {
        name: "backend-requests",
        condition: "requests that the backend responded to in a step, of those that its \
                    successful requests take at least (`backend-requests-min`)",
        side: LimitSide::Below,
        limits: &[limit(0.99, "99 %", Invalid)],
        source: "responding from a cache is other work",
        measure: measures::backend_requests,
    },
    Rule {
        name: "cpu-missing",
        condition: "CPU time of the contender, µs for each of 100 or more successful requests",
        side: LimitSide::Below,
        limits: &[limit(0.2, "0.2", Invalid)],
        source: "one system call takes as long: what serves is not metered, as a process that has \
                 left its control group or that a daemon has started",
        measure: cpu_missing,
    },
    Rule {
        name: "generator-errors",
        condition: "requests that failed because the load generator lacked files, ports or memory",
        side: LimitSide::Above,
        limits: &[limit(0.0, "0", Invalid)],
        source: "not the service's fault",
        measure: measures::generator_errors,
    },
    Rule {
        name: "generator-lost",
        condition: "connections of load generators that were lost, of those asked for",
        side: LimitSide::Above,
        limits: &[limit(0.0, "0", Degraded), limit(0.02, "2 %", Invalid)],
        source: "the load is less than its label says; as for `rate-missed`",
        measure: measures::generator_lost,
    },
    Rule {
        name: "connections-starved",
        condition: "responses on the slowest connection, with two on average",
        side: LimitSide::Below,
        limits: &[limit(1.0, "1", Invalid)],
        source: "the others had the service to themselves",
        measure: measures::connections_starved,
    },
    Rule {
        name: "connections-missing",
        condition: "connections neither open nor being opened, of those asked for, where they \
                    must be kept",
        side: LimitSide::Above,
        limits: &[limit(0.05, "5 %", Invalid)],
        source: "services may close idle connections for a moment",
        measure: measures::connections_missing,
    },
    Rule {
        name: "concurrency-missing",
        condition: "requests in flight by Little's law, turnaround and reconnecting included, \
                    of those asked for",
        side: LimitSide::Below,
        limits: &[limit(0.85, "85 %", Invalid)],
        source: "Little 1961; pauses after failures and starvation are what is missing",
        measure: measures::concurrency_missing,
    },
    Rule {
        name: "concurrency-low",
        condition: "effective concurrency (with the service or connecting), of that asked for",
        side: LimitSide::Below,
        limits: &[limit(0.85, "85 %", Degraded)],
        source: "the step is not what its label says",
        measure: measures::concurrency_low,
    },
    Rule {
        name: "long-drain",
        condition: "time at the ends of turns in which no request was sent any more, of the turns",
        side: LimitSide::Above,
        limits: &[limit(0.1, "10 %", Fair)],
        source: "fewer and fewer requests are in flight then; turns are ten times as long as the \
                 mean drain, unless a step is too short for that",
        measure: long_drain,
    },
    Rule {
        name: "connections-unequal",
        condition: "responses on the fastest connection for each on the slowest",
        side: LimitSide::Above,
        limits: &[limit(2.0, "2", Fair), limit(10.0, "10", Degraded)],
        source: "kernels spread connections over threads unevenly, within a small factor",
        measure: measures::connections_unequal,
    },
    Rule {
        name: "rate-missed",
        condition: "open load: requests that came to an end, of those offered",
        side: LimitSide::Below,
        limits: &[limit(0.98, "98 %", Invalid)],
        source: "the service was not under the stated rate",
        measure: measures::rate_missed,
    },
    Rule {
        name: "send-lag",
        condition: "open load: p99 of the send lag, of the p99 of the response time",
        side: LimitSide::Above,
        limits: &[limit(0.1, "10 %", GeneratorBound)],
        source: "the lag is part of the response time",
        measure: measures::send_lag,
    },
    Rule {
        name: "generator-full",
        condition: "CPU time of the load generator, of its threads' time",
        side: LimitSide::Above,
        limits: &[limit(0.9, "90 %", GeneratorBound)],
        source: "no headroom for bursts",
        measure: measures::generator_full,
    },
    Rule {
        name: "generator-share",
        condition: "turnaround, of a cycle of closed load",
        side: LimitSide::Above,
        limits: &[limit(0.25, "25 %", GeneratorBound)],
        source: "the rate is too much the generator's own; not judged of a contender that is \
                 CPU-bound in undisturbed turns",
        measure: measures::generator_share,
    },
    Rule {
        name: "backend-full",
        condition: "CPU time of the backend, of its cores' time",
        side: LimitSide::Above,
        limits: &[limit(0.9, "90 %", BackendBound)],
        source: "no headroom for bursts",
        measure: measures::backend_full,
    },
    Rule {
        name: "shared-cores-full",
        condition: "work of all processes on cores that load generator and backend, or all parts, \
                    share; in turns their own work in the contender's turns",
        side: LimitSide::Above,
        limits: &[limit(0.9, "90 %", HostBound)],
        source: "no headroom for bursts",
        measure: measures::shared_cores_full,
    },
    Rule {
        name: "shared-physical-core",
        condition: "slowdown of the contender's core while the load generator's work, in three of \
                    four windows, measured before the first run",
        side: LimitSide::Above,
        limits: &[
            limit(CoreSharing::SEPARATE, "5 %", Fair),
            limit(CoreSharing::ONE_CORE, "15 %", Degraded),
        ],
        source: "separate cores lose 2 to 5 % of turbo, hyper-threads 30 to 50 %, see below",
        measure: measures::shared_physical_core,
    },
    Rule {
        name: "steal",
        condition: "time stolen by the hypervisor, of the contender's cores",
        side: LimitSide::Above,
        limits: &[limit(0.02, "2 %", Degraded), limit(0.05, "5 %", HostBound)],
        source: "a quiet host had at most 0.8 %, see below",
        measure: measures::steal,
    },
    Rule {
        name: "foreign-work",
        condition: "work that is not the contender's, of its cores' time",
        side: LimitSide::Above,
        limits: &[limit(0.05, "5 %", Degraded), limit(0.1, "10 %", HostBound)],
        source: "chosen, not derived, see below",
        measure: measures::foreign_work,
    },
    Rule {
        name: "idle-work",
        condition: "CPU time of the contender outside of its turns, of one core",
        side: LimitSide::Above,
        limits: &[limit(0.01, "1 %", Fair), limit(0.05, "5 %", Degraded)],
        source: "the others have that much less of the core in their turns; the finding names the \
                 threads that used CPU",
        measure: idle_work,
    },
    Rule {
        name: "memory-pressure",
        condition: "time in which the contender waited for memory (PSI)",
        side: LimitSide::Above,
        limits: &[limit(0.02, "2 %", Degraded)],
        source: "its memory limit costs it time; the limit is part of the question",
        measure: measures::memory_pressure,
    },
    Rule {
        name: "quota-stalls",
        condition: "time throttled by the CPU quota",
        side: LimitSide::Above,
        limits: &[limit(0.01, "1 %", Fair)],
        source: "the quota is part of the question; less does not show in p99",
        measure: measures::quota_stalls,
    },
    Rule {
        name: "nobody-full",
        condition: "CPU time of the contender, of its cores' time, with 16 requests in flight for \
                    each core and no other part full; in turns what other processes took of the \
                    cores counts too",
        side: LimitSide::Below,
        limits: &[limit(0.8, "80 %", Degraded)],
        source: "it waited for something that is not seen: locks, pools, a slow backend",
        measure: measures::nobody_full,
    },
    Rule {
        name: "still-rising",
        condition: "rise of requests per CPU time at the end of a warm-up until steady, in 10 s, \
                    or in turns from one quarter of them to the next; the best guess, where the \
                    noise excludes none",
        side: LimitSide::Above,
        limits: &[limit(rise::FLAT, "1 %", Degraded)],
        source: "the contender was not warm after the longest warm-up, see Warm-up",
        measure: measures::still_rising,
    },
    Rule {
        name: "warmth-unknown",
        condition: "the same rise, as far as the noise does not exclude it",
        side: LimitSide::Above,
        limits: &[limit(rise::EXCLUDED, "3 %", Fair)],
        source: "the longest warm-up was too short for so much noise",
        measure: measures::warmth_unknown,
    },
    Rule {
        name: "rising-in-turns",
        condition: "rise of requests per CPU time from the first block of a measured step in turns \
                    to the last, relative to the median of the other contenders, where the noise \
                    excludes none, and where more than half of it is there relative to the load \
                    generator's CPU time too",
        side: LimitSide::Above,
        limits: &[limit(rise::FLAT, "1 %", Degraded)],
        source: "the contender was not warm in the step, see Warm-up; what the host gives or takes \
                 is the same for all in a block",
        measure: rising_in_turns,
    },
    Rule {
        name: "compiling",
        condition: "CPU time of compiler threads, of the contender's, in a measured step",
        side: LimitSide::Above,
        limits: &[limit(COMPILING_MAX, "5 %", Degraded)],
        source: "compiling is in the number, and what was compiled will be faster",
        measure: measures::compiling,
    },
    Rule {
        name: "keep-alive",
        condition: "reconnects that no failure explains, for each request, where connections \
                    must be kept",
        side: LimitSide::Above,
        limits: &[limit(0.01, "1 %", Degraded)],
        source: "the cost of connecting is in the number",
        measure: measures::keep_alive,
    },
    Rule {
        name: "delayed-acknowledgements",
        condition: "times that gather at 40 ms, four times as crowded as their surroundings",
        side: LimitSide::Above,
        limits: &[limit(0.005, "0.5 %", Degraded)],
        source: "TCP_DELACK_MIN; p99 is the kernel's wait",
        measure: measures::delayed_acknowledgements,
    },
    Rule {
        name: "retransmission-waits",
        condition: "times that gather at 200 ms, four times as crowded as their surroundings",
        side: LimitSide::Above,
        limits: &[limit(0.005, "0.5 %", Degraded)],
        source: "TCP_RTO_MIN; p99 is the kernel's wait",
        measure: measures::retransmission_waits,
    },
    Rule {
        name: "retransmissions",
        condition: "TCP segments sent again, of those sent in the contender's network",
        side: LimitSide::Above,
        limits: &[limit(0.001, "0.1 %", Degraded)],
        source: "as for errors",
        measure: measures::retransmissions,
    },
    Rule {
        name: "listen-queue",
        condition: "overflows of listen queues, dropped or repeated requests to connect, for each \
                    request",
        side: LimitSide::Above,
        limits: &[limit(0.0, "0", Fair), limit(0.001, "0.1 %", Degraded)],
        source: "as for errors; a dropped request to connect waits for a second",
        measure: measures::listen_queue,
    },
];
