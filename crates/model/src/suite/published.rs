//! Results that others have published about the same workloads, and their claims. Shown next to
//! our results and compared with them, never part of them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::limits::Limits;
use crate::load::step::Step;

/// The file `published.toml` of a suite.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Published {
    /// The publications.
    pub sources: Vec<Source>,
    /// The results.
    pub results: Vec<PublishedResult>,
    /// The claims.
    pub claims: Vec<Claim>,
    /// The charts that the publications show, in their order.
    pub charts: Vec<PublishedChart>,
}

/// A publication.
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    /// A short name for the others to refer to.
    pub name: String,
    /// Title of the publication.
    pub title: String,
    /// Author of the publication.
    pub author: String,
    /// Date of the publication, as text.
    pub date: String,
    /// Under which limits the contenders were measured.
    pub limits: Limits,
    /// On what and how it was measured, a sentence or two.
    pub conditions: String,
}

/// A chart of a publication.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishedChart {
    /// Name of the source.
    pub source: String,
    /// Title in the source, or its subject if it has none.
    pub title: String,
    /// Our chart, or why there is none.
    pub ours: Result<OwnChart, String>,
}

/// The chart of ours that shows the same as one of a publication.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnChart {
    /// Id of the chart, as in the names of the report's drawings: `cpu-per-request`.
    pub id: String,
    /// The benchmark of the suite that asks the same.
    pub benchmark: String,
    /// The round whose results are drawn, if there are any.
    pub round: Option<String>,
    /// Case labels and globs of those that are drawn; empty for those that are like the source's
    /// results, and for all if there are none.
    pub contenders: Vec<String>,
}

/// The published values of one system. Values that were not published are absent.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishedResult {
    /// Name of the source.
    pub source: String,
    /// The benchmark of the suite that asks the same.
    pub benchmark: String,
    /// The name in the source.
    pub name: String,
    /// The contender whose colour it takes: the one that is most like it.
    pub contender: String,
    /// The round of the suite whose results are shown next to it, if there are any.
    pub round: Option<String>,
    /// The steps of `throughput` and `cpu_us`.
    pub steps: Vec<Step>,
    /// Requests per second at each step; empty when not published.
    pub throughput: Vec<f64>,
    /// CPU microseconds per request at each step; empty when not published.
    pub cpu_us: Vec<f64>,
    /// Connections -> 99th percentile, ms.
    pub p99_ms: BTreeMap<u32, f64>,
    /// Connections -> failed requests.
    pub errors: BTreeMap<u32, u64>,
    /// Highest throughput and the connections at which it was reached.
    pub peak: Option<(f64, u32)>,
    /// Seconds until the first response.
    pub startup_s: Option<f64>,
    /// High-water mark of memory before the load, MiB.
    pub memory_start_mib: Option<f64>,
    /// High-water mark of memory at the end, MiB.
    pub memory_end_mib: Option<f64>,
    /// CPU microseconds per request over the whole life, start-up included.
    pub cpu_us_whole: Option<f64>,
}

/// Something that a source says, in a form that can be held against measured runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    /// The claim, as a person reads it.
    pub text: String,
    /// The sentence of the source; absent if its value says it.
    pub quote: Option<String>,
    /// Name of the source.
    pub source: String,
    /// The benchmark that can show it.
    pub benchmark: String,
    /// The benchmark of a ratio's lower half, if it is another one.
    pub second_benchmark: Option<String>,
    /// Metric of the claim.
    pub metric: Metric,
    /// Connections at which the metric is read, if that has to be said.
    pub at: Option<u32>,
    /// Connections for a ratio's lower half, if they differ.
    pub second_at: Option<u32>,
    /// Which of the measured steps with this number of connections, counted from 1.
    pub nth_step: u32,
    /// Whether the number is read although many requests failed: the source published it for the
    /// requests that were answered well.
    pub despite_failures: bool,
    /// The condition under which it is reproduced.
    pub test: ClaimTest,
    /// How the suite's author worked the claim out, if the source does not say it itself.
    pub derived: Option<String>,
    /// The limits that must be the source's own for it to mean something.
    pub same_limits: Vec<LimitKind>,
    /// The round of the suite that measures the claim under its conditions, if others have its
    /// contenders, too.
    pub round: Option<String>,
    /// Why what the claim names cannot be measured here, according to the suite's author; absent if
    /// it can.
    pub absent: Option<String>,
    /// Name of the measured systems if the source had others under these labels: no result answers
    /// the source's claim then. Absent if it had the same.
    pub replaced_by: Option<String>,
    /// The contender that stands in for the named one, if the suite and not the source asks the
    /// question.
    pub stand_in: Option<String>,
}

/// A limit that a claim may depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LimitKind {
    /// CPU time per time.
    Cpus,
    /// Memory.
    Memory,
    /// The hardware, which no other measurement has: absolute times of it hold nowhere else.
    Host,
}

impl LimitKind {
    /// Whether this limit is the same in both; the hardware never is.
    #[must_use]
    pub fn same(self, one: &Limits, other: &Limits) -> bool {
        match self {
            Self::Cpus => one.cpus == other.cpus,
            Self::Memory => one.memory_bytes == other.memory_bytes,
            Self::Host => false,
        }
    }
}

/// The condition under which a claim is reproduced. Contenders are case labels; only `among` and
/// `contenders` may be globs.
#[derive(Debug, Clone, PartialEq)]
pub enum ClaimTest {
    /// The ratio of two contenders' values.
    Ratio {
        /// Above the line.
        first: String,
        /// Below the line.
        second: String,
        /// Two contenders by whose ratio, read at the same places, that of `first` and `second` is
        /// divided: one loses more than the other. None for a plain ratio.
        than: Option<[String; 2]>,
        /// The expected value.
        expected: Expected,
    },
    /// A contender's value.
    Value {
        /// The contender.
        contender: String,
        /// The expected value.
        expected: Expected,
    },
    /// One is the best of some.
    Best {
        /// The one.
        best: String,
        /// All of them, each glob any number of cases.
        among: Vec<String>,
    },
    /// The contenders come in this order, the best first.
    Order {
        /// The contenders.
        order: Vec<String>,
    },
    /// An event happens to each of these, or to none of them, at `at` connections: see [`Metric`].
    Happens {
        /// The contenders.
        contenders: Vec<String>,
        /// Whether it happens.
        happens: bool,
    },
}

/// The expected value of a ratio or a metric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Expected {
    /// Within the source's own bounds.
    Within(Bounds),
    /// As large as the source found it, within the interval of the runs.
    About(f64),
    /// 1, up to what the report takes for relevant: the contenders are equivalent. Ratios only.
    Equal,
}

/// Bounds, ends included; an absent one does not bound.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Bounds {
    /// At least this.
    pub min: Option<f64>,
    /// At most this.
    pub max: Option<f64>,
}

/// The subject of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// Requests per second at each contender's best step.
    PeakThroughput,
    /// Requests per second at this number of connections.
    Throughput,
    /// CPU per request, microseconds, over all measured steps unless `at` says where.
    CpuPerRequest,
    /// CPU per request over the whole life of the process, start-up included, microseconds.
    CpuPerRequestWhole,
    /// Highest memory up to the end of the load, or of its step with `at` connections, MiB.
    Memory,
    /// Mean time of the contender for one request at this number of connections, ms: in turns only
    /// with one, and without the time that the load generator takes between two requests.
    ServiceTime,
    /// 99th percentile at this number of connections, ms.
    P99,
    /// Share of requests that failed at this number of connections or users, 0 to 1.
    FailedShare,
    /// Apdex at this number of users with T = 1.5 s, 0 to 1; a failure is a frustrated user.
    Apdex,
    /// Share of the time under load in which the garbage collector paused the contender, 0 to 1.
    GcPauses,
    /// Seconds from the program's start to the first response.
    StartUp,
    /// CPU seconds up to the end of the warm-up steps, start-up included, beyond what equally many
    /// requests cost later: compiling, and running what is not compiled yet.
    WarmUpCpu,
    /// The contender is killed for memory when this number of connections is open.
    KilledForMemory,
    /// With this number of connections open, some of them are never served.
    ConnectionsUnserved,
}

impl Metric {
    /// Whether a higher value is the better one.
    #[must_use]
    pub fn higher_is_better(self) -> bool {
        matches!(self, Self::PeakThroughput | Self::Throughput | Self::Apdex)
    }

    /// The value at which nothing of what it counts happens, such as failures; `None` for other
    /// metrics, of which a smaller value than claimed is not less of the same.
    #[must_use]
    pub fn no_effect(self) -> Option<f64> {
        matches!(self, Self::FailedShare | Self::GcPauses | Self::WarmUpCpu).then_some(0.0)
    }

    /// Whether it is something that happens, not a value.
    #[must_use]
    pub fn is_event(self) -> bool {
        matches!(self, Self::KilledForMemory | Self::ConnectionsUnserved)
    }

    /// The metric in words, with its unit: `requests/s at the peak`.
    #[must_use]
    pub fn describe(self, at: Option<u32>) -> String {
        let at = at.map_or_else(String::new, |at| format!(" at {at} connections"));
        match self {
            Self::PeakThroughput => "requests/s at the peak".to_owned(),
            Self::Throughput => format!("requests/s{at}"),
            Self::CpuPerRequest => format!("µs of CPU per request{at}"),
            Self::CpuPerRequestWhole => "µs of CPU per request, start-up included".to_owned(),
            Self::Memory if at.is_empty() => "MiB of memory at the end of the load".to_owned(),
            Self::Memory => format!("MiB of memory{at}"),
            Self::ServiceTime => format!("ms of service time{at}"),
            Self::P99 => format!("ms, p99{at}"),
            Self::FailedShare => format!("of requests failed{at}"),
            Self::Apdex => format!("Apdex{at}"),
            Self::GcPauses => "of the time in pauses for garbage collection".to_owned(),
            Self::StartUp => "s of start-up".to_owned(),
            Self::WarmUpCpu => "CPU s until warm, beyond its requests".to_owned(),
            Self::KilledForMemory => format!("killed for memory{at}"),
            Self::ConnectionsUnserved => format!("connections that are never served{at}"),
        }
    }
}
