//! `published.toml` as people write it; see [`super::raw`].

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::raw::LimitsTable;
use crate::suite::published::{LimitKind, Metric};

/// `published.toml`: what others measured and claim about the suite's workloads.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct PublishedFile {
    /// The publications.
    #[schemars(length(min = 1))]
    pub(crate) source: Vec<SourceTable>,
    /// The published measurements.
    #[serde(default)]
    pub(crate) result: Vec<ResultTable>,
    /// The claims.
    #[serde(default)]
    pub(crate) claim: Vec<ClaimTable>,
    /// Systems that claims name and that are not available here.
    #[serde(default)]
    pub(crate) absent: Vec<AbsentTable>,
    /// The charts that the publications show, in their order.
    #[serde(default)]
    pub(crate) chart: Vec<ChartTable>,
}

/// A chart of a publication: which chart of ours shows the same, or why none does.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct ChartTable {
    /// Name of the source.
    pub(crate) source: String,
    /// Title in the source, or its subject if it has none.
    #[schemars(length(min = 1))]
    pub(crate) title: String,
    /// Id of our chart, as in the names of the report's drawings: `cpu-per-request`.
    pub(crate) ours: Option<String>,
    /// The benchmark that asks the same; goes with `ours`.
    pub(crate) benchmark: Option<String>,
    /// The round whose results are drawn, if there are any; goes with `ours`.
    pub(crate) round: Option<String>,
    /// Case labels and globs of those that are drawn: those like the source's results unless said
    /// otherwise, and all if it has none; goes with `ours`.
    #[serde(default)]
    pub(crate) contenders: Vec<String>,
    /// Why there is no chart of ours.
    #[schemars(length(min = 1))]
    pub(crate) why: Option<String>,
}

/// A publication.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct SourceTable {
    /// A short name for results and claims to refer to.
    #[schemars(extend("x-text" = "name"))]
    pub(crate) name: String,
    /// Title of the publication.
    #[schemars(length(min = 1))]
    pub(crate) title: String,
    /// Author of the publication.
    #[schemars(length(min = 1))]
    pub(crate) author: String,
    /// Date of the publication, as text.
    pub(crate) date: String,
    /// Limits of the contenders; what is absent was not limited.
    #[serde(default)]
    pub(crate) limits: LimitsTable,
    /// On what and how it was measured.
    #[serde(default)]
    pub(crate) conditions: String,
}

/// Contenders that the sources had and that are not available here, with what stands in for them:
/// each claim that names one is there twice, as the source's and as ours.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct AbsentTable {
    /// How their labels begin in claims: `http4s-blaze/`.
    #[schemars(length(min = 1))]
    pub(crate) labels: String,
    /// Why they are not available.
    #[schemars(length(min = 1))]
    pub(crate) why: String,
    /// How the labels of those in their place begin: `http4s/`.
    #[schemars(length(min = 1))]
    pub(crate) ours: String,
    /// The name of these: `http4s on Ember`.
    #[schemars(length(min = 1))]
    pub(crate) stand_in: String,
}

/// The published values of one system.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct ResultTable {
    /// Name of the source.
    pub(crate) source: String,
    /// The benchmark that asks the same.
    pub(crate) benchmark: String,
    /// The name in the source.
    #[schemars(length(min = 1))]
    pub(crate) name: String,
    /// The contender whose colour it takes.
    pub(crate) contender: String,
    /// The round whose results are shown next to it, if there are any.
    pub(crate) round: Option<String>,
    /// Connections of the warm-up steps, which come first.
    #[serde(default)]
    #[schemars(inner(range(min = 1)))]
    pub(crate) warm_up: Vec<u32>,
    /// Connections of the measured steps.
    #[serde(default)]
    #[schemars(inner(range(min = 1)))]
    pub(crate) connections: Vec<u32>,
    /// Requests per second at each step, warm-up first.
    #[serde(default)]
    pub(crate) throughput: Vec<f64>,
    /// CPU milliseconds per request at each step, warm-up first.
    #[serde(default)]
    pub(crate) cpu_ms: Vec<f64>,
    /// 99th percentiles in ms by connections.
    #[serde(default)]
    pub(crate) p99_ms: BTreeMap<String, f64>,
    /// Failed requests by connections.
    #[serde(default)]
    pub(crate) errors: BTreeMap<String, u64>,
    /// The highest throughput, if the steps are not given.
    pub(crate) peak: Option<PeakTable>,
    /// Seconds until the first response.
    pub(crate) startup_s: Option<f64>,
    /// High-water mark of memory in MiB, before the load and at the end.
    pub(crate) memory_mib: Option<MemoryTable>,
    /// CPU microseconds per request over the whole life.
    pub(crate) cpu_us_whole: Option<f64>,
}

/// A highest throughput.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct PeakTable {
    /// Requests per second.
    pub(crate) throughput: f64,
    /// Connections at which the highest throughput was reached.
    #[schemars(range(min = 1))]
    pub(crate) connections: u32,
}

/// Memory at two moments, MiB.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct MemoryTable {
    /// Before the load.
    pub(crate) start: f64,
    /// After it.
    pub(crate) end: f64,
}

/// A statement of a source, with one of: `first`, `second` and how large their ratio is;
/// `contender` and how large its value is; `best` and `among`; `order`; `contenders`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct ClaimTable {
    /// The claim, as a person reads it.
    #[schemars(length(min = 1))]
    pub(crate) text: String,
    /// The sentence of the source, letter by letter; `[…]` where something is left out.
    #[schemars(length(min = 1))]
    pub(crate) quote: Option<String>,
    /// Name of the source.
    pub(crate) source: String,
    /// The benchmark that can show it.
    pub(crate) benchmark: String,
    /// The benchmark of the ratio's lower half, if it is another one.
    pub(crate) second_benchmark: Option<String>,
    /// Metric of the claim.
    pub(crate) metric: Metric,
    /// Connections at which the metric is read.
    #[schemars(range(min = 1))]
    pub(crate) at: Option<u32>,
    /// Connections for the ratio's lower half, if they differ.
    #[schemars(range(min = 1))]
    pub(crate) second_at: Option<u32>,
    /// Which of several measured steps with `at` connections or users it is read at, from 1.
    #[schemars(range(min = 1))]
    pub(crate) nth_step: Option<u32>,
    /// Read although many requests failed, which otherwise makes a number invalid: the source's
    /// number is of those that were answered well. Needs `at`.
    #[serde(default)]
    pub(crate) despite_failures: bool,
    /// The ratio's upper half: a case label.
    pub(crate) first: Option<String>,
    /// The ratio's lower half.
    pub(crate) second: Option<String>,
    /// Two contenders by whose ratio, read at the same places, that of `first` and `second` is
    /// divided.
    pub(crate) than: Option<[String; 2]>,
    /// The contender whose value it is.
    pub(crate) contender: Option<String>,
    /// The lower bound of the ratio or value.
    pub(crate) min: Option<f64>,
    /// The upper bound of it.
    pub(crate) max: Option<f64>,
    /// The ratio or value that the source found.
    pub(crate) about: Option<f64>,
    /// The two contenders of the ratio are said to be equal.
    #[serde(default)]
    pub(crate) equal: bool,
    /// The one that is the best of `among`.
    pub(crate) best: Option<String>,
    /// Globs of those that it is the best of.
    #[serde(default)]
    pub(crate) among: Vec<String>,
    /// All of them, the best first.
    #[serde(default)]
    pub(crate) order: Vec<String>,
    /// Contenders to which the event happens.
    #[serde(default)]
    pub(crate) contenders: Vec<String>,
    /// Whether the event happens to `contenders`; `true` unless said otherwise.
    pub(crate) happens: Option<bool>,
    /// How the claim was worked out, if the source does not say it itself.
    pub(crate) derived: Option<String>,
    /// The limits that must be the source's own for it to mean something.
    #[serde(default)]
    pub(crate) same_limits: Vec<LimitKind>,
    /// The round that measures the claim under its conditions, if others have its contenders, too.
    pub(crate) round: Option<String>,
    /// Name of the measured systems if the source had others under these labels: the
    /// claim is there twice, as the source's, which no result answers, and as ours.
    #[schemars(length(min = 1))]
    pub(crate) stand_in: Option<String>,
}
