//! The ranks of contenders, the differences and their confidence, and the contenders that are not
//! ranked, with the reason.

use std::collections::BTreeSet;

use bakeoff_model::validity::FairnessVerdict;
use bakeoff_stats::{Better, Criteria, Pairs, Sample, Threshold, rank};

use super::by_cpu::{self, ByCpu};
use super::comparison::{self, Conclusion, Matrix};
use super::control::{Control, ControlVerdict};
use super::failures::{self, FailedRun, Unranked};
use super::latency_sentences;
use super::lower_bounds::{self, LowerBound};
use crate::data::benchmark::BenchmarkData;
use crate::data::checks::CheckTable;
use crate::data::metric::{Metric, Percentile};
use crate::data::number::significant;
use crate::data::row::{self, Row};
use crate::data::stated_step::{self, StatedStep};
use crate::data::validity;
use crate::explain::reasons::{self, Reasons};
use crate::turns::{self, Sets};

/// The ranks of one benchmark with load.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchmarkSummary {
    /// The benchmark.
    pub name: String,
    /// Backend, limits, runtime and profile in words.
    pub conditions: String,
    /// The step of latencies, CPU per request and memory; `None` if no step is common to all.
    pub stated: Option<StatedStep>,
    /// Tables, one for each validity: fair numbers first, then those limited by another part.
    pub tables: Vec<RankTable>,
    /// Numbers limited by another part, compared with the best fair one, the highest first; empty
    /// without fair numbers, and if the session's control is void.
    pub lower_bounds: Vec<LowerBound>,
    /// The CPU per request of two contenders whose throughput cannot be compared.
    pub by_cpu: Option<ByCpu>,
    /// Contenders without a rank.
    pub unranked: Vec<Unranked>,
    /// Runs that did not complete.
    pub failures: Vec<FailedRun>,
    /// Measurements of the sets besides their ratios; `None` for whole runs.
    pub sets: Option<Sets>,
    /// Comparisons of the contenders with two processes.
    pub controls: Vec<Control>,
    /// The meaning of all controls of the session for these verdicts.
    pub control: ControlVerdict,
}

impl BenchmarkSummary {
    /// Returns all rows, ranked ones first.
    pub fn rows(&self) -> impl Iterator<Item = &Row> {
        let ranked = self.tables.iter().flat_map(|table| &table.rows);
        ranked.chain(
            self.unranked
                .iter()
                .filter_map(|unranked| unranked.row.as_ref()),
        )
    }

    /// Returns the conclusions from the numbers of a table, as lower bounds, about the best fair
    /// one; sentences.
    pub fn bound_sentences(&self, table: &RankTable) -> Vec<String> {
        let bounds = self.lower_bounds.iter();
        lower_bounds::sentences(bounds.filter(|one| one.validity == table.verdict))
    }

    /// Returns the row of a case, ranked or not.
    pub fn row(&self, label: &str) -> Option<&Row> {
        self.rows().find(|row| row.label == label)
    }
}

/// Contenders whose peaks have the same verdict, best first.
#[derive(Debug, Clone, PartialEq)]
pub struct RankTable {
    /// The verdict: fair (including degraded), host-bound, backend-bound or generator-bound.
    pub verdict: FairnessVerdict,
    /// The kind of the table, in words.
    pub title: &'static str,
    /// The benchmark's stated step, for latencies, CPU per request and memory.
    pub stated: Option<StatedStep>,
    /// The rows, best first.
    pub rows: Vec<Row>,
    /// Comparisons of the best with each of the others, as sentences.
    pub conclusions: Vec<Conclusion>,
    /// Comparisons of each of the others with the one with the shortest response times, as
    /// sentences; empty without turns.
    pub times: Vec<Conclusion>,
    /// Why the best and each of the others differ in CPU per request.
    pub reasons: Vec<Reasons>,
    /// Comparisons of every row with every other, by throughput.
    pub throughput_matrix: Matrix,
    /// Comparisons of every row with every other, by CPU per request.
    pub cpu_matrix: Matrix,
    /// Comparisons of every row with every other, by the median in open load.
    pub p50: Pairs,
    /// Comparisons of every row with every other, by the 99th percentile in open load; `None` if
    /// fewer than two rows have one.
    pub p99_matrix: Option<Matrix>,
}

impl RankTable {
    /// Returns the meaning of the mark on a number at the stated step: `degraded or host-bound at
    /// 64 connections`.
    pub fn not_fair(&self) -> String {
        let names = |verdicts: BTreeSet<FairnessVerdict>| -> Vec<&str> {
            let unfair = verdicts
                .into_iter()
                .filter(|one| *one != FairnessVerdict::Fair);
            unfair.map(FairnessVerdict::name).collect()
        };
        let stated = names(
            self.rows
                .iter()
                .map(|row| row.stated.validity.verdict())
                .collect(),
        );
        let open = self.rows.iter().filter_map(|row| row.open.as_ref());
        let open = names(open.map(|open| open.validity.verdict()).collect());
        let at = self.stated.as_ref().map(StatedStep::describe);
        let parts = [
            (stated, at.unwrap_or_default()),
            (open, "in open load".to_owned()),
        ];
        let parts = parts.into_iter().filter(|(names, _)| !names.is_empty());
        let parts: Vec<String> = parts
            .map(|(names, place)| format!("{} {place}", names.join(" or ")))
            .collect();
        parts.join("; ")
    }

    /// Whether a number at the stated step or in open load is not fair.
    pub fn has_unfair(&self) -> bool {
        let mut rows = self.rows.iter();
        rows.any(|row| !row.stated.validity.is_fair() || !row.times_validity().is_fair())
    }

    /// Returns the load under which response times were measured, if not at the stated step: `in
    /// open load at 2450 requests/s`.
    pub fn open_words(&self) -> Option<String> {
        let rates = self.rows.iter().filter_map(|row| row.open.as_ref());
        let rates: Vec<f64> = rates.map(|open| open.rate_per_s).collect();
        let mean = Sample::new(rates)?.mean();
        Some(format!("in open load at {} requests/s", significant(mean)))
    }

    /// Returns why requests of the two best differ in CPU, if known.
    pub fn reasons_of_two_best(&self) -> Option<&Reasons> {
        let [best, next, ..] = self.rows.as_slice() else {
            return None;
        };
        let two = [&best.label, &next.label];
        let is_of_two = |one: &&Reasons| two.contains(&&one.dearer) && two.contains(&&one.cheaper);
        self.reasons.iter().find(is_of_two)
    }

    /// Returns the requirements of a verdict on a pair of the table by throughput.
    pub fn threshold(&self) -> Threshold {
        Threshold::of_family(self.throughput_matrix.pairs.compared())
    }
}

/// Summarises a benchmark.
pub fn of_benchmark(
    benchmark: &BenchmarkData<'_>,
    checks: &CheckTable,
    controls: Vec<Control>,
    control: ControlVerdict,
) -> BenchmarkSummary {
    let stated = stated_step::stated(benchmark);
    let mut groups: Vec<Vec<Row>> = Vec::new();
    let mut unranked = Vec::new();
    let rows = (0..benchmark.cases.len())
        .map(|index| row::row(benchmark, checks, stated.as_ref(), index))
        .collect::<Vec<Option<Row>>>();
    let by_cpu = by_cpu::of(&rows, checks).filter(|_| !control.is_void());
    for (index, (case, row)) in benchmark.cases.iter().zip(rows).enumerate() {
        let reason = checks.reason_unranked(index).or_else(|| match &row {
            None => Some(failures::no_numbers(case)),
            Some(row) => validity::unranked(row.validity()),
        });
        match (reason, row) {
            (None, Some(row)) => insert(&mut groups, row),
            (reason, row) => unranked.push(Unranked {
                label: case.label.clone(),
                reason: reason.unwrap_or_default(),
                row,
            }),
        }
    }
    groups.sort_by_key(|rows| rows.first().map(group));
    let tables = groups.into_iter();
    let tables = tables.filter_map(|rows| {
        let mut table = table(rows, stated.as_ref(), control)?;
        if !control.is_void() {
            table.reasons = reasons::of(benchmark, &table.rows, stated.as_ref());
        }
        Some(table)
    });
    let tables: Vec<RankTable> = tables.collect();
    let lower_bounds = match control {
        ControlVerdict::Passed => bounds(&tables),
        ControlVerdict::Void => Vec::new(),
    };
    let is_compared = tables.iter().any(|table| table.rows.len() > 1)
        || lower_bounds.iter().any(LowerBound::is_higher);
    BenchmarkSummary {
        name: benchmark.name.clone(),
        conditions: benchmark.conditions.clone(),
        by_cpu: by_cpu.filter(|_| !is_compared),
        tables,
        lower_bounds,
        stated,
        unranked,
        failures: failures::failures(benchmark),
        sets: turns::sets(benchmark),
        controls,
        control,
    }
}

/// Compares the rows of bounded tables with the first one of the fair table.
fn bounds(tables: &[RankTable]) -> Vec<LowerBound> {
    let fair = tables.iter().find(|table| table.verdict.ranks());
    let Some(best) = fair.and_then(|table| table.rows.first()) else {
        return Vec::new();
    };
    let bounded = tables.iter().filter(|table| table.verdict.is_bound());
    let rows: Vec<&Row> = bounded.flat_map(|table| &table.rows).collect();
    lower_bounds::of(best, &rows)
}

/// Returns the verdict whose table contains a row: degraded numbers are marked, among the fair
/// ones.
fn group(row: &Row) -> FairnessVerdict {
    match row.validity().verdict() {
        verdict if verdict.ranks() => FairnessVerdict::Fair,
        bound => bound,
    }
}

fn insert(groups: &mut Vec<Vec<Row>>, row: Row) {
    let same = |rows: &&mut Vec<Row>| rows.first().map(group) == Some(group(&row));
    match groups.iter_mut().find(same) {
        Some(rows) => rows.push(row),
        None => groups.push(vec![row]),
    }
}

fn title(verdict: FairnessVerdict, rows: &[Row]) -> &'static str {
    let degraded = rows.iter().filter(|row| !row.validity().is_fair()).count();
    match verdict {
        FairnessVerdict::Fair | FairnessVerdict::Degraded => match degraded {
            0 => "Ranked: fair numbers",
            some if some == rows.len() => "Ranked: degraded numbers",
            _ => "Ranked: fair and degraded numbers",
        },
        FairnessVerdict::HostBound => {
            "Host-bound: the parts shared the host's cores, so the order holds for this host only"
        }
        FairnessVerdict::BackendBound => {
            "Backend-bound: the backend was the bottleneck; true values are at least this high"
        }
        FairnessVerdict::GeneratorBound => {
            "Generator-bound: the load generator was the bottleneck; true values are at least this \
             high"
        }
        FairnessVerdict::Unknown => "Not judged",
        FairnessVerdict::Invalid => "Invalid",
    }
}

/// Sorts, ranks and compares rows of one validity. Ranks, sentences and matrices are based on the
/// same comparisons: all pairs of the table by that metric.
fn table(
    rows: Vec<Row>,
    stated: Option<&StatedStep>,
    control: ControlVerdict,
) -> Option<RankTable> {
    let higher = Criteria::new(Better::Higher);
    let mut rows = ranked(rows, &higher, control);
    let verdict = group(rows.first()?);
    let throughput = pairs(&rows, &higher, control, |row| Some(&row.peak.throughput));
    let cpu = pairs(&rows, &Criteria::new(Better::Lower), control, |row| {
        row.stated.cpu_us.as_ref()
    });
    let by_time = |wanted: Percentile| {
        let lower = Criteria::new(Better::Lower);
        pairs(&rows, &lower, control, move |row| {
            latency_sentences::of(row, wanted)
        })
    };
    let (p50, p99) = (by_time(Percentile::P50), by_time(Percentile::P99));
    let times = latency_sentences::conclusions(&rows, &p50, &p99);
    let at = stated.map_or_else(String::new, StatedStep::describe);
    for (place, row) in rows.iter_mut().enumerate().skip(1) {
        row.standing.throughput = throughput.get(place, 0).copied();
        row.standing.cpu = cpu.get(place, 0).copied();
    }
    Some(RankTable {
        verdict,
        title: title(verdict, &rows),
        stated: stated.cloned(),
        conclusions: comparison::throughput_conclusions(&rows, &at),
        times,
        p50,
        reasons: Vec::new(),
        throughput_matrix: Matrix {
            title: "requests/s".to_owned(),
            pairs: throughput,
        },
        cpu_matrix: Matrix {
            title: format!("CPU per request {at}"),
            pairs: cpu,
        },
        p99_matrix: (p99.compared() > 0).then(|| Matrix {
            title: "p99 in open load".to_owned(),
            pairs: p99,
        }),
        rows,
    })
}

/// Returns the rows with their ranks, best first.
fn ranked(rows: Vec<Row>, criteria: &Criteria, control: ControlVerdict) -> Vec<Row> {
    let samples: Vec<&Sample> = rows.iter().map(|row| &row.peak.throughput.sample).collect();
    let pairs = pairs(&rows, criteria, control, |row| Some(&row.peak.throughput));
    let order = rank(&samples, &pairs, criteria);
    let mut rows: Vec<Option<Row>> = rows.into_iter().map(Some).collect();
    let in_order = order.iter().filter_map(|ranked| {
        let mut row = rows[ranked.index].take()?;
        (row.standing.rank, row.standing.tie) = (ranked.rank, ranked.tie);
        Some(row)
    });
    in_order.collect()
}

fn pairs(
    rows: &[Row],
    criteria: &Criteria,
    control: ControlVerdict,
    metric: impl Fn(&Row) -> Option<&Metric>,
) -> Pairs {
    let samples = rows
        .iter()
        .map(|row| metric(row).map(|metric| &metric.sample));
    control.apply(Pairs::new(&samples.collect::<Vec<_>>(), criteria))
}
