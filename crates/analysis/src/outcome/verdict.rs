//! The outcome of a benchmark as one object for programs. It says what the report says.

use bakeoff_stats::{Comparison, Estimate, Pairs};
use schemars::JsonSchema;
use serde::Serialize;

use super::conclusion::{self, TextSpan};
use crate::Analysis;
use crate::benchmarks::load::LoadAnalysis;
use crate::data::metric::Metric;
use crate::data::row::Row;
use crate::explain::reasons::{Reason, Reasons};
use crate::tables::control::Control;
use crate::tables::lower_bounds::LowerBound;
use crate::tables::summary::RankTable;

/// The outcome of a benchmark.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct BenchmarkVerdict {
    /// The benchmark.
    pub benchmark: String,
    /// Backend, limits, runtime and profile in words.
    pub conditions: String,
    /// The contender that serves significantly more requests per second than each other ranked one;
    /// absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub winner: Option<String>,
    /// The conclusion as the report has it, one or more sentences.
    pub sentence: String,
    /// Two processes of a contender differ significantly, so that nothing is compared.
    pub void: bool,
    /// The conclusion from each contender with two processes, a sentence.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub controls: Vec<String>,
    /// Ranked contenders, best first; after the fair ones those whose numbers are lower bounds.
    pub contenders: Vec<Ranked>,
    /// The best of each table against each other contender of it.
    pub comparisons: Vec<AgainstBest>,
    /// Why requests of the best and of each other contender differ in CPU.
    pub reasons: Vec<CpuExplanation>,
    /// Contenders without a rank.
    pub unranked: Vec<NotRanked>,
}

/// A ranked contender.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Ranked {
    /// Contender and parameters.
    pub contender: String,
    /// One more than how many are significantly faster; absent if none is ranked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<usize>,
    /// `fair`, `degraded`, `host-bound`, `backend-bound` or `generator-bound`.
    pub validity: String,
    /// Successful requests per second at the best step.
    pub requests_per_s: WithInterval,
    /// CPU per request at the stated step, us.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_us_per_request: Option<WithInterval>,
    /// Highest memory up to the end of the stated step, MiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_mib: Option<WithInterval>,
    /// Median response time, ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p50_ms: Option<f64>,
    /// 99th percentile of response times, ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_ms: Option<f64>,
    /// Requests that failed.
    pub errors: u64,
    /// Runs, or sets, behind the requests per second.
    pub runs: usize,
}

/// A number with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct WithInterval {
    /// The number.
    pub point: f64,
    /// The lower end; absent if there are too few runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// The upper end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
}

/// Two contenders by one metric.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct AgainstBest {
    /// The best; of two that have no rank in common, the one that takes more CPU.
    pub first: String,
    /// The other.
    pub second: String,
    /// `requests-per-s`, `cpu-us-per-request` or `p99-ms`.
    pub metric: &'static str,
    /// First over second.
    pub ratio: WithInterval,
    /// On the first: `faster`, `slower`, `equivalent`, `inconclusive` or `void`. Less CPU and
    /// shorter times are `faster`.
    pub verdict: &'static str,
}

/// Why requests of two contenders differ in CPU.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CpuExplanation {
    /// The contender that uses more CPU for a request.
    pub dearer: String,
    /// The other one.
    pub cheaper: String,
    /// The reasons; absent if their CPU per request does not differ significantly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sentence: Option<String>,
    /// CPU per request, then its parts, us; then what else a request has.
    pub parts: Vec<TakenByBoth>,
}

/// The amounts of one thing that two contenders take for a request.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TakenByBoth {
    /// Name of the thing, with its unit.
    pub name: &'static str,
    /// The amount of the dearer contender.
    pub dearer: f64,
    /// The amount of the cheaper one.
    pub cheaper: f64,
    /// The dearer minus the cheaper one.
    pub difference: WithInterval,
    /// Significant among all differences of the table.
    pub significant: bool,
}

/// A contender without a rank.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct NotRanked {
    /// Contender and parameters.
    pub contender: String,
    /// Why.
    pub reason: String,
}

/// Returns one for each benchmark with load, in the order of the report.
#[must_use]
pub fn verdicts(analysis: &Analysis<'_>) -> Vec<BenchmarkVerdict> {
    let answers = conclusion::answers(analysis);
    let both = analysis.loads.iter().zip(answers);
    both.map(|(load, answer)| of_load(load, &answer.sentence))
        .collect()
}

/// Name of CPU per request in comparisons.
const CPU: &str = "cpu-us-per-request";

fn of_load(load: &LoadAnalysis<'_>, sentence: &[TextSpan]) -> BenchmarkVerdict {
    let summary = &load.summary;
    let rows = summary.tables.iter().flat_map(|table| &table.rows);
    let fair = summary.tables.first().filter(|table| table.verdict.ranks());
    let unranked = summary.unranked.iter();
    // A number limited by another part can be above all fair ones.
    let is_passed = summary.lower_bounds.iter().any(LowerBound::is_higher);
    BenchmarkVerdict {
        benchmark: summary.name.clone(),
        conditions: summary.conditions.clone(),
        winner: fair
            .filter(|_| !summary.control.is_void() && !is_passed)
            .and_then(winner),
        sentence: sentence.iter().map(TextSpan::text).collect(),
        void: summary.control.is_void(),
        controls: summary.controls.iter().map(Control::sentence).collect(),
        contenders: rows.map(ranked).collect(),
        comparisons: {
            let by_cpu = summary.by_cpu.iter().map(|found| AgainstBest {
                first: found.dearer.clone(),
                second: found.cheaper.clone(),
                metric: CPU,
                ratio: WithInterval::from(&found.comparison.ratio),
                verdict: found.comparison.verdict.name(),
            });
            let tables = summary.tables.iter().flat_map(comparisons);
            tables.chain(by_cpu).collect()
        },
        reasons: summary
            .tables
            .iter()
            .flat_map(|table| table.reasons.iter().map(why))
            .collect(),
        unranked: unranked
            .map(|one| NotRanked {
                contender: one.label.clone(),
                reason: one.reason.clone(),
            })
            .collect(),
    }
}

/// Returns the first row, if each other one has a lower rank.
fn winner(table: &RankTable) -> Option<String> {
    let (best, others) = table.rows.split_first()?;
    let is_alone = !others.is_empty()
        && others
            .iter()
            .all(|row| row.standing.rank > best.standing.rank);
    is_alone.then(|| best.label.clone())
}

fn ranked(row: &Row) -> Ranked {
    Ranked {
        contender: row.label.clone(),
        rank: row.standing.rank,
        validity: row.validity().name().to_owned(),
        requests_per_s: of_metric(&row.peak.throughput),
        cpu_us_per_request: row.stated.cpu_us.as_ref().map(of_metric),
        memory_mib: row.stated.memory_mib.as_ref().map(of_metric),
        p50_ms: row.stated.p50_ms,
        p99_ms: row.stated.p99_ms,
        errors: row.whole.errors,
        runs: row.peak.throughput.estimate.runs,
    }
}

fn of_metric(metric: &Metric) -> WithInterval {
    WithInterval::from(&metric.estimate)
}

impl From<&Estimate> for WithInterval {
    fn from(estimate: &Estimate) -> Self {
        Self {
            point: estimate.point,
            low: estimate.interval.map(|ends| ends.low),
            high: estimate.interval.map(|ends| ends.high),
        }
    }
}

fn comparisons(table: &RankTable) -> Vec<AgainstBest> {
    let Some((best, others)) = table.rows.split_first() else {
        return Vec::new();
    };
    let metrics: [(&'static str, Option<&Pairs>); 3] = [
        ("requests-per-s", Some(&table.throughput_matrix.pairs)),
        (CPU, Some(&table.cpu_matrix.pairs)),
        (
            "p99-ms",
            table.p99_matrix.as_ref().map(|matrix| &matrix.pairs),
        ),
    ];
    let mut all = Vec::new();
    for (place, row) in (1..).zip(others) {
        for (metric, pairs) in &metrics {
            let found = pairs.and_then(|pairs| pairs.get(0, place));
            all.extend(found.and_then(|found| compared(best, row, metric, found)));
        }
    }
    all
}

fn compared(
    first: &Row,
    second: &Row,
    metric: &'static str,
    found: &Comparison,
) -> Option<AgainstBest> {
    found.ratio.point.is_finite().then(|| AgainstBest {
        first: first.label.clone(),
        second: second.label.clone(),
        metric,
        ratio: WithInterval::from(&found.ratio),
        verdict: found.verdict.name(),
    })
}

fn why(reasons: &Reasons) -> CpuExplanation {
    CpuExplanation {
        dearer: reasons.dearer.clone(),
        cheaper: reasons.cheaper.clone(),
        sentence: reasons.sentence(),
        parts: reasons.all().map(part).collect(),
    }
}

fn part(one: &Reason) -> TakenByBoth {
    TakenByBoth {
        name: one.name,
        dearer: one.dearer,
        cheaper: one.cheaper,
        difference: WithInterval::from(&one.difference.estimate),
        significant: one.difference.is_significant(),
    }
}
