//! One session against another: the same cases then and now, or here and there.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use bakeoff_model::record::{Results, RunRecords, Validity};
use bakeoff_stats::{Better, Comparison, Criteria, compare};

use crate::measure::benchmarks;
use crate::number::{figures, range};
use crate::reading::{self, Wanted};
use crate::summary::{BenchmarkSummary, of_benchmark};
use crate::words::ratio_figures;

/// A figure of one case in both sessions.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    /// The benchmark.
    pub benchmark: String,
    /// Contender and parameters.
    pub label: String,
    /// The figure with its unit: `requests/s`, `µs of CPU per request`.
    pub figure: &'static str,
    /// Mean over the runs of the first session.
    pub first: f64,
    /// The same of the second.
    pub second: f64,
    /// The second against the first.
    pub comparison: Comparison,
    /// What keeps one of the numbers from being fair; empty when both are.
    pub caveat: String,
}

/// What makes two sessions incomparable, a line each; empty when nothing does.
#[must_use]
pub fn incompatible(first: &Results, second: &Results) -> Vec<String> {
    type Fact = (&'static str, fn(&RunRecords) -> String);
    let facts: [Fact; 8] = [
        ("suite", |run| run.begin.suite.clone()),
        ("suite digest", |run| run.begin.suite_digest.clone()),
        ("profile", |run| run.begin.profile.clone()),
        ("limits", |run| format!("{:?}", run.begin.run.limits)),
        ("limits enforced by", |run| run.begin.enforcement.clone()),
        ("runtime", |run| run.begin.runtime.clone()),
        ("backend", |run| run.begin.backend.clone()),
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

/// Peak throughput and CPU per request of every case that both sessions have, in the order of the
/// first.
#[must_use]
pub fn compared(first: &Results, second: &Results) -> Vec<Compared> {
    let mut all = Vec::new();
    let others = benchmarks(second);
    for benchmark in benchmarks(first) {
        let Some(other) = others.iter().find(|other| other.name == benchmark.name) else {
            continue;
        };
        let (ours, theirs) = (of_benchmark(&benchmark), of_benchmark(other));
        for case in &benchmark.cases {
            let same = other.cases.iter().find(|other| other.label == case.label);
            let row = |summary: &BenchmarkSummary| {
                let mut rows = summary.rows();
                rows.find(|row| row.label == case.label).cloned()
            };
            let rows = row(&ours).zip(row(&theirs));
            let (Some(same), Some((a, b))) = (same, rows) else {
                continue;
            };
            for (wanted, figure, better) in [
                (Wanted::Peak, "requests/s", Better::Higher),
                (Wanted::Cpu(None), "µs of CPU per request", Better::Lower),
            ] {
                let a = reading::read(case, &a, wanted);
                let b = reading::read(same, &b, wanted);
                let Some(((a, a_validity), (b, b_validity))) = a.zip(b) else {
                    continue;
                };
                all.push(Compared {
                    benchmark: benchmark.name.clone(),
                    label: case.label.clone(),
                    figure,
                    first: a.mean(),
                    second: b.mean(),
                    comparison: compare(&b, &a, &Criteria::new(better)),
                    caveat: caveat(&a_validity, &b_validity),
                });
            }
        }
    }
    all
}

fn caveat(first: &Validity, second: &Validity) -> String {
    match (first, second) {
        (Validity::Fair, Validity::Fair) => String::new(),
        (one, other) if one.name() == other.name() => format!("both {}", one.name()),
        (one, other) => format!("{} and {}", one.name(), other.name()),
    }
}

/// The comparison as text: one line for each figure.
#[must_use]
pub fn compared_text(all: &[Compared]) -> String {
    let width = all
        .iter()
        .map(|one| one.label.chars().count() + one.benchmark.chars().count() + 2)
        .max()
        .unwrap_or(0);
    let mut text = String::new();
    for one in all {
        let name = format!("{}: {}", one.benchmark, one.label);
        let ratio = &one.comparison.ratio;
        let interval = match range(ratio) {
            range if range.is_empty() => "no interval".to_owned(),
            range => format!("95 %: {range}"),
        };
        let verdict = match one.comparison.verdict.name() {
            "faster" => "better",
            "slower" => "worse",
            other => other,
        };
        let caveat = match one.caveat.as_str() {
            "" => String::new(),
            caveat => format!(" [{caveat}]"),
        };
        let _ = writeln!(
            text,
            "{name:<width$}  {} -> {} {}  x{} ({interval}) {verdict}{caveat}",
            figures(one.first),
            figures(one.second),
            one.figure,
            ratio_figures(ratio.point),
        );
    }
    text
}
