//! Costs of a process group up to a moment: read from its cgroup and from /proc by the runtime.
//!
//! Counters are cumulative since the start of the group; differences of two samples are costs.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::load::CpuTime;

/// One reading. A value that the host cannot give is absent, never zero.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResourceSample {
    /// When it was read, monotonic ns.
    pub at_ns: u64,
    /// CPU time used so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<CpuTime>,
    /// CPU quota enforcement so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttling: Option<Throttling>,
    /// Memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Memory>,
    /// Threads by name ("N x name" in reports), with their CPU time.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub threads: BTreeMap<String, ThreadGroup>,
    /// Context switches so far, of live threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_switches: Option<ContextSwitches>,
    /// Network bytes so far, if the group has a separate network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
    /// TCP counters of the group's network namespace so far, if it is separate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp: Option<TcpCounters>,
    /// Pressure stall information, if there is any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pressure: Option<Pressure>,
    /// Counters of a HotSpot JVM, from its hsperfdata file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jvm: Option<Jvm>,
    /// Requests that it responded to so far; of backends that count them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// Lines that it wrote to its output so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_lines: Option<u64>,
    /// Connections of contenders, of a database server, if its processes can be seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<DatabaseSessions>,
}

impl ResourceSample {
    /// User and system time used so far, ns.
    #[must_use]
    pub fn cpu_ns(&self) -> Option<u64> {
        self.cpu.map(CpuTime::total_ns)
    }
}

/// Connections of contenders to a database server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DatabaseSessions {
    /// Open connections.
    pub open: u64,
    /// Connections with a statement or transaction under way.
    pub active: u64,
}

/// How the CPU quota bit so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Throttling {
    /// Enforcement periods.
    pub periods: u64,
    /// Periods in which the group was throttled.
    pub throttled_periods: u64,
    /// Time throttled, ns.
    pub throttled_ns: u64,
}

/// Memory of the group.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Memory {
    /// In use now, bytes.
    pub now_bytes: u64,
    /// Highest use so far, bytes.
    pub peak_bytes: u64,
    /// Anonymous, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anon_bytes: Option<u64>,
    /// Page cache of files, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_bytes: Option<u64>,
    /// Socket buffers, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub socket_bytes: Option<u64>,
    /// Kernel memory, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_bytes: Option<u64>,
    /// Processes of the group that were killed for memory so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oom_kills: Option<u64>,
}

/// Threads of one name. Digits that only number a thread are dropped from the name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadGroup {
    /// How many live threads have the name.
    pub count: u64,
    /// CPU time of these threads, ns.
    pub cpu_ns: u64,
}

/// Context switches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContextSwitches {
    /// Given up by the thread itself.
    pub voluntary: u64,
    /// Taken away.
    pub involuntary: u64,
}

/// Network traffic.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Network {
    /// Bytes received.
    pub received_bytes: u64,
    /// Bytes sent.
    pub sent_bytes: u64,
}

/// Time in which some task of the group waited for a resource, so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pressure {
    /// For a CPU, us.
    pub cpu_some_us: u64,
    /// For memory, us.
    pub memory_some_us: u64,
    /// For storage, us.
    pub io_some_us: u64,
}

/// Counters of a HotSpot JVM.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Jvm {
    /// Collections so far, all collectors.
    pub gc_count: u64,
    /// Time in collections so far, ns.
    pub gc_ns: u64,
    /// Time compiling so far, ns.
    pub jit_ns: u64,
    /// Heap in use, bytes.
    pub heap_used_bytes: u64,
    /// Heap reserved from the system, bytes.
    pub heap_capacity_bytes: u64,
    /// Safepoints so far.
    pub safepoints: u64,
    /// Time stopped at safepoints so far, ns.
    pub safepoint_ns: u64,
}

/// The contents of a JVM's own log of garbage collections.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GcLog {
    /// The collector as it calls itself: `Serial`, `G1`; empty if the log does not say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub collector: String,
    /// The pauses in order.
    pub pauses: Vec<GcPause>,
    /// Number of later pauses, which did not fit into the list.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: u64,
    /// Total time of the pauses in `left_out`, ns.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out_ns: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// One pause of a garbage collector.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GcPause {
    /// When it was logged, since the JVM started, ns.
    pub at_ns: u64,
    /// How long the program was paused, ns.
    pub pause_ns: u64,
    /// Whether the whole heap was collected.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_full: bool,
    /// Heap in use after it, bytes; absent if the log does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heap_after_bytes: Option<u64>,
    /// Size of the heap then, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heap_capacity_bytes: Option<u64>,
}

/// The times of the host's cores: counters since the boot, or their growth over some time. Their
/// grain is the kernel's tick, 10 ms.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostTime {
    /// The time covered, ns.
    pub wall_ns: u64,
    /// The CPU time of bakeoff's own process on any core: it reads meters, writes records, ns.
    pub own_ns: u64,
    /// Each core that is online.
    pub cores: Vec<CoreTime>,
}

/// The times of one core.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CoreTime {
    /// Number of the core.
    pub core: usize,
    /// Time in which the core worked, for any process, ns.
    pub busy_ns: u64,
    /// Time that the hypervisor withheld, ns.
    pub stolen_ns: u64,
}

impl HostTime {
    /// Returns the growth since an earlier reading; `None` when the cores are not the same.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Option<Self> {
        let same = |(now, then): (&CoreTime, &CoreTime)| now.core == then.core;
        let pairs = || self.cores.iter().zip(&earlier.cores);
        (self.cores.len() == earlier.cores.len() && pairs().all(same)).then(|| Self {
            wall_ns: self.wall_ns.saturating_sub(earlier.wall_ns),
            own_ns: self.own_ns.saturating_sub(earlier.own_ns),
            cores: pairs()
                .map(|(now, then)| CoreTime {
                    core: now.core,
                    busy_ns: now.busy_ns.saturating_sub(then.busy_ns),
                    stolen_ns: now.stolen_ns.saturating_sub(then.stolen_ns),
                })
                .collect(),
        })
    }
}

/// Counters of the kernel's TCP in one network namespace: since it was made, or their growth.
/// The connections of all processes in that namespace are in them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TcpCounters {
    /// Segments sent.
    pub sent_segments: u64,
    /// Segments sent again.
    pub resent_segments: u64,
    /// Requests to connect that were sent again.
    pub resent_syns: u64,
    /// Connections that found a listen queue full.
    pub listen_overflows: u64,
    /// Requests to connect that a listening socket dropped.
    pub listen_drops: u64,
    /// Acknowledgements that were delayed.
    pub delayed_acks: u64,
}

impl TcpCounters {
    /// Returns the growth since an earlier reading of the same namespace.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            sent_segments: self.sent_segments.saturating_sub(earlier.sent_segments),
            resent_segments: self.resent_segments.saturating_sub(earlier.resent_segments),
            resent_syns: self.resent_syns.saturating_sub(earlier.resent_syns),
            listen_overflows: self
                .listen_overflows
                .saturating_sub(earlier.listen_overflows),
            listen_drops: self.listen_drops.saturating_sub(earlier.listen_drops),
            delayed_acks: self.delayed_acks.saturating_sub(earlier.delayed_acks),
        }
    }
}
