//! Comparison of two sessions: the same cases at different times or places.

use std::collections::{BTreeMap, BTreeSet};

use bakeoff_model::record::{Results, RunRecords};
use bakeoff_model::validity::Validity;
use bakeoff_stats::{Better, Comparison, Criteria, Verdict, compare};

use crate::Analysis;
use crate::benchmarks::load::LoadAnalysis;
use crate::data::metric::Metric;
use crate::data::row::Row;
use crate::data::validity::unranked;

/// A metric of one case in both sessions.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    /// The benchmark.
    pub benchmark: String,
    /// Contender and parameters.
    pub label: String,
    /// The metric by its unit: `requests/s`, `µs of CPU per request`.
    pub metric: &'static str,
    /// Mean over the runs of the first session.
    pub first: f64,
    /// Mean over the runs of the second session.
    pub second: f64,
    /// The second compared with the first.
    pub comparison: Comparison,
    /// Whether both numbers are valid, and no control voids them.
    pub counts: bool,
    /// The reason why one of the numbers is not fair; empty if both are.
    pub caveat: String,
}

/// Returns the reasons why two sessions are incomparable, a line each; empty if there are none.
#[must_use]
pub fn incompatible(first: &Results, second: &Results) -> Vec<String> {
    type Fact = (&'static str, fn(&RunRecords) -> String);
    let facts: [Fact; 8] = [
        ("suite", |run| run.begin.suite.clone()),
        ("suite digest", |run| run.begin.suite_digest.clone()),
        ("profile", |run| run.begin.profile.clone()),
        ("limits", |run| format!("{:?}", run.begin.run.limits)),
        ("limits enforced by", |run| {
            run.begin.enforcement.to_string()
        }),
        ("runtime", |run| run.begin.runtime.to_string()),
        ("backend", |run| run.begin.backend_label()),
        ("host", |run| {
            let host = &run.begin.host;
            format!("{}, {} cores, {}", host.cpu_model, host.cores, host.kernel)
        }),
    ];
    let mut found = Vec::new();
    for (name, value) in facts {
        let of =
            |results: &Results| -> BTreeSet<String> { results.runs.iter().map(value).collect() };
        let (one, other) = (of(first), of(second));
        if one != other {
            let list = |set: BTreeSet<String>| set.into_iter().collect::<Vec<_>>().join("; ");
            found.push(format!("{name}: {} and {}", list(one), list(other)));
        }
    }
    found
}

/// Returns peak throughput, and CPU per request if both state it at the same step, for every case
/// that both sessions have, in the order of the first.
#[must_use]
pub fn compared(first: &Analysis<'_>, second: &Analysis<'_>) -> Vec<Compared> {
    let mut all = Vec::new();
    for (load, other) in in_both(first, second) {
        for case in &load.data.cases {
            let rows = (load.summary.row(&case.label)).zip(other.summary.row(&case.label));
            if let Some((ours, theirs)) = rows {
                let mut rows = compared_rows(&load.data.name, ours, theirs);
                if load.summary.control.is_void() || other.summary.control.is_void() {
                    for row in &mut rows {
                        row.comparison.verdict = Verdict::Void;
                        row.counts = false;
                    }
                }
                all.extend(rows);
            }
        }
    }
    all
}

/// Returns the benchmarks with load that both sessions have, in the order of the first.
fn in_both<'a, 'r>(
    first: &'a Analysis<'r>,
    second: &'a Analysis<'r>,
) -> impl Iterator<Item = (&'a LoadAnalysis<'r>, &'a LoadAnalysis<'r>)> {
    first.loads.iter().filter_map(|load| {
        let mut others = second.loads.iter();
        let other = others.find(|other| other.data.name == load.data.name)?;
        Some((load, other))
    })
}

fn compared_rows(benchmark: &str, first: &Row, second: &Row) -> Vec<Compared> {
    let throughput = Some((&first.peak.throughput, &second.peak.throughput));
    let cpu = first
        .stated
        .cpu_us
        .as_ref()
        .zip(second.stated.cpu_us.as_ref());
    let cpu = cpu.filter(|(one, other)| one.steps == other.steps);
    let compared = |(a, b): (&Metric, &Metric), metric, better| Compared {
        benchmark: benchmark.to_owned(),
        label: first.label.clone(),
        metric,
        first: a.estimate.point,
        second: b.estimate.point,
        // Repetitions of two sessions are unrelated.
        comparison: compare(
            &b.sample.without_blocks(),
            &a.sample,
            &Criteria::new(better),
        ),
        counts: [a, b].iter().all(|one| unranked(&one.validity).is_none()),
        caveat: caveat(&a.validity, &b.validity),
    };
    let throughput = throughput.map(|both| compared(both, "requests/s", Better::Higher));
    let cpu = cpu.map(|both| compared(both, "µs of CPU per request", Better::Lower));
    throughput.into_iter().chain(cpu).collect()
}

fn caveat(first: &Validity, second: &Validity) -> String {
    match (first, second) {
        (one, other) if one.is_fair() && other.is_fair() => String::new(),
        (one, other) if one.name() == other.name() => format!("both {}", one.name()),
        (one, other) => format!("{} and {}", one.name(), other.name()),
    }
}

/// The verdicts on one pair of contenders in two sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairTwice {
    /// The benchmark.
    pub benchmark: String,
    /// Labels of the two contenders.
    pub labels: [String; 2],
    /// The metric of the verdicts: `requests/s`, `CPU per request`.
    pub metric: &'static str,
    /// Verdicts on the first of the two contenders in the first and the second session.
    pub verdicts: [Verdict; 2],
}

impl PairTwice {
    /// Whether both sessions decide: one is better in each, or both are equivalent.
    #[must_use]
    pub fn is_decided(&self) -> bool {
        let open = [Verdict::Inconclusive, Verdict::Void];
        !self.verdicts.iter().any(|verdict| open.contains(verdict))
    }

    /// Whether both sessions decide the same.
    #[must_use]
    pub fn repeats(&self) -> bool {
        self.is_decided() && self.verdicts[0] == self.verdicts[1]
    }
}

/// Returns the pairs of contenders that both sessions compare, by throughput and CPU per request.
#[must_use]
pub fn pairs_twice(first: &Analysis<'_>, second: &Analysis<'_>) -> Vec<PairTwice> {
    let mut all = Vec::new();
    for (load, other) in in_both(first, second) {
        let theirs = verdicts(other);
        let pairs = verdicts(load).into_iter().filter_map(|(pair, ours)| {
            let verdicts = [ours, *theirs.get(&pair)?];
            let (metric, [one, two]) = pair;
            Some(PairTwice {
                benchmark: load.data.name.clone(),
                labels: [one.to_owned(), two.to_owned()],
                metric,
                verdicts,
            })
        });
        all.extend(pairs);
    }
    all
}

/// The verdicts on all pairs of a benchmark, by metric and labels in alphabetical order.
fn verdicts<'l>(load: &'l LoadAnalysis<'_>) -> BTreeMap<(&'static str, [&'l str; 2]), Verdict> {
    let mut found = BTreeMap::new();
    for table in &load.summary.tables {
        let metrics = [
            ("requests/s", &table.throughput_matrix.pairs),
            ("CPU per request", &table.cpu_matrix.pairs),
        ];
        for (metric, pairs) in metrics {
            for (one, row) in table.rows.iter().enumerate() {
                for (two, other) in table.rows.iter().enumerate() {
                    if let Some(pair) = pairs.get(one, two).filter(|_| row.label < other.label) {
                        found.insert((metric, [&*row.label, &*other.label]), pair.verdict);
                    }
                }
            }
        }
    }
    found
}
