//! The conclusion of a benchmark: the first thing that a reader sees. A sentence says which
//! contender leads by how much and at what cost, a chart shows all of them, and notes say how
//! reliable that is. It repeats the tables and decides nothing: ranks, ties and intervals are
//! theirs.

pub mod detectable;
mod sentence;

use bakeoff_stats::Estimate;

use crate::Analysis;
use crate::benchmarks::capacity::CapacityAnalysis;
use crate::benchmarks::load::LoadAnalysis;
use crate::benchmarks::startup::StartupAnalysis;
use crate::data::metric::Metric;
use crate::data::number::counted;
use crate::data::row::Row;
use crate::data::stated_step::StatedStep;
use crate::explain::reasons::Reasons;
use crate::tables::comparison::rank_text;
use crate::tables::control::{self, Control};
use crate::tables::failures::troubles;
use crate::tables::summary::BenchmarkSummary;

pub use sentence::TextSpan;

/// The conclusion of one benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct Conclusion {
    /// The benchmark.
    pub name: String,
    /// Backend, limits, runtime and profile in words.
    pub conditions: String,
    /// The conclusion, in parts.
    pub sentence: Vec<TextSpan>,
    /// How the response times of the two best compare, and why their CPU per request differs:
    /// sentences, as far as known.
    pub two_best: Vec<String>,
    /// The columns of the chart for each contender.
    pub columns: Vec<Column>,
    /// Contenders, best first; those that were not compared with the first ones are last.
    pub lines: Vec<Line>,
    /// Reasons why contenders have no rank or runs were not completed: a contender and a fragment
    /// each.
    pub troubles: Vec<(String, String)>,
    /// Notes on reliability.
    pub worth: Vec<String>,
    /// The cheapest and the most expensive ranked contender with their CPU per request, us.
    pub price: Option<[(String, f64); 2]>,
}

/// One metric of the chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// The title, with its unit.
    pub title: String,
    /// The better direction, in words.
    pub better: &'static str,
}

/// One contender of the chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// The rank as text; empty without one.
    pub rank: String,
    /// Contender and parameters.
    pub label: String,
    /// Whether it is the first of those that are ranked apart from the ones before it.
    pub apart: bool,
    /// Whether no other is significantly better.
    pub leads: bool,
    /// Why the number is not fair; `None` if it is.
    pub caveat: Option<String>,
    /// The value for each column, and whether it is fair.
    pub cells: Vec<Option<(Estimate, bool)>>,
}

const MORE: &str = "more is better";
const LESS: &str = "less is better";

/// Returns one conclusion for each benchmark, in the report's order.
pub fn answers(analysis: &Analysis<'_>) -> Vec<Conclusion> {
    let decision = analysis.results.runs_decision.as_ref();
    let decided = |mut answer: Conclusion| {
        let sentences = decision.map(|decision| decision.sentences_of(&answer.name));
        answer.worth.extend(sentences.unwrap_or_default());
        answer
    };
    let loads = analysis.loads.iter().map(of_load).map(decided);
    let startups = analysis.startups.iter().map(of_startup);
    let capacities = analysis.capacities.iter().map(of_capacity).map(decided);
    loads.chain(startups).chain(capacities).collect()
}

fn of_load(load: &LoadAnalysis<'_>) -> Conclusion {
    let summary = &load.summary;
    let at = summary.stated.as_ref().map(StatedStep::describe);
    let at = at.unwrap_or_default();
    let mut lines = Vec::new();
    for (place, table) in summary.tables.iter().enumerate() {
        let all = table.rows.iter().enumerate();
        lines.extend(all.map(|(line, row)| Line {
            rank: rank_text(row.standing.rank, row.standing.tie),
            label: row.label.clone(),
            apart: place > 0 && line == 0,
            leads: place == 0 && row.standing.rank == Some(1),
            caveat: caveat(row),
            cells: vec![
                Some(cell(&row.peak.throughput)),
                row.stated.cpu_us.as_ref().map(cell),
            ],
        }));
    }
    Conclusion {
        name: summary.name.clone(),
        conditions: summary.conditions.clone(),
        sentence: sentence::of_load(summary, &at),
        two_best: two_best(summary),
        columns: vec![
            column("requests/s, each at its best".to_owned(), MORE),
            column(format!("CPU µs/request {at}"), LESS),
        ],
        lines,
        troubles: troubles(&summary.unranked, &summary.failures),
        worth: worth(load),
        price: price(summary.tables.first().map_or(&[], |table| &table.rows)),
    }
}

/// Returns sentences about the first two rows of the first table.
fn two_best(summary: &BenchmarkSummary) -> Vec<String> {
    let Some(table) = summary.tables.first() else {
        return Vec::new();
    };
    let labels: Vec<&str> = table.rows.iter().map(|row| row.label.as_str()).collect();
    let Some(two) = labels.get(..2) else {
        return Vec::new();
    };
    let is_of_two = |label: &String| two.contains(&label.as_str());
    let mut times = table.times.iter();
    let times = times.find(|one| is_of_two(&one.first) && is_of_two(&one.second));
    let times = times.map(|one| format!("{}.", one.sentence()));
    let reasons = table.reasons_of_two_best().and_then(Reasons::sentence);
    times.into_iter().chain(reasons).collect()
}

fn cell(metric: &Metric) -> (Estimate, bool) {
    (metric.estimate, metric.validity.is_fair())
}

fn column(title: String, better: &'static str) -> Column {
    Column { title, better }
}

fn caveat(row: &Row) -> Option<String> {
    let validity = row.validity();
    (!validity.is_fair()).then(|| validity.name().to_owned())
}

/// Returns notes on validity, runs, detectable differences, and the controls.
fn worth(load: &LoadAnalysis<'_>) -> Vec<String> {
    let summary = &load.summary;
    let rows = || summary.tables.iter().flat_map(|table| &table.rows);
    let mut verdicts: Vec<(&str, usize)> = Vec::new();
    for row in rows() {
        let name = row.validity().name();
        match verdicts.iter_mut().find(|(other, _)| *other == name) {
            Some((_, count)) => *count += 1,
            None => verdicts.push((name, 1)),
        }
    }
    let mut worth: Vec<String> = best_results(&verdicts).into_iter().collect();
    let runs = || rows().map(|row| row.peak.throughput.estimate.runs);
    if let (Some(fewest), Some(most), Some(row)) = (runs().min(), runs().max(), rows().next()) {
        let unit = row.unit();
        let each = match fewest == most {
            true => counted(fewest, unit),
            false => format!("{fewest} to {}", counted(most, unit)),
        };
        worth.push(format!("{each} of each contender, in one session."));
    }
    if !summary.control.is_void() {
        worth.extend(summary.tables.first().and_then(detectable::sentence));
    }
    match summary.control.is_void() {
        true => worth.extend(summary.controls.iter().map(Control::sentence)),
        false => worth.extend(control::line(&summary.controls)),
    }
    worth
}

/// Says how fair the best results are: names of verdicts with the number of results.
fn best_results(verdicts: &[(&str, usize)]) -> Option<String> {
    Some(match verdicts {
        [] => return None,
        [(name, 1)] => format!("The best result is {name}."),
        [(name, 2)] => format!("Both best results are {name}."),
        [(name, all)] => format!("All {all} best results are {name}."),
        several => {
            let parts = several.iter();
            let parts: Vec<String> = parts
                .map(|(name, count)| format!("{count} {name}"))
                .collect();
            format!("Best results: {}.", parts.join(", "))
        }
    })
}

/// Returns the cheapest and the most expensive row with a number.
fn price(rows: &[Row]) -> Option<[(String, f64); 2]> {
    let priced = rows
        .iter()
        .filter_map(|row| Some((row.label.clone(), row.stated.cpu_us.as_ref()?.mean())));
    let mut priced: Vec<(String, f64)> = priced.collect();
    priced.sort_by(|a, b| a.1.total_cmp(&b.1));
    let dearest = priced.last()?.clone();
    Some([priced.swap_remove(0), dearest])
}

fn of_startup(startup: &StartupAnalysis<'_>) -> Conclusion {
    let summary = &startup.summary;
    let lines = summary.rows.iter().map(|row| Line {
        rank: rank_text(row.rank, row.tie),
        label: row.label.clone(),
        apart: false,
        leads: row.rank == Some(1),
        caveat: None,
        cells: vec![
            Some((row.startup_s, true)),
            row.cpu_s.map(|cpu| (cpu, true)),
        ],
    });
    Conclusion {
        name: summary.name.clone(),
        conditions: summary.conditions.clone(),
        sentence: sentence::of_startup(summary),
        two_best: Vec::new(),
        columns: vec![
            column("s until the first response".to_owned(), LESS),
            column("CPU s until then".to_owned(), LESS),
        ],
        lines: lines.collect(),
        troubles: troubles(&summary.unranked, &summary.failures),
        worth: Vec::new(),
        price: None,
    }
}

/// Returns the conclusion for the first objective, which is the one that the suite names first.
fn of_capacity(capacity: &CapacityAnalysis<'_>) -> Conclusion {
    let summary = &capacity.summary;
    let rows = summary.tables.first().map(|table| table.rows.as_slice());
    let lines = rows.unwrap_or_default().iter().map(|row| Line {
        rank: rank_text(row.rank, row.tie),
        label: row.label.clone(),
        apart: false,
        leads: row.rank == Some(1),
        caveat: None,
        cells: vec![Some((row.rate, true))],
    });
    Conclusion {
        name: summary.name.clone(),
        conditions: summary.conditions.clone(),
        sentence: sentence::of_capacity(summary),
        two_best: Vec::new(),
        columns: vec![column(
            "requests/s that meet the objective".to_owned(),
            MORE,
        )],
        lines: lines.collect(),
        troubles: troubles(
            summary.tables.first().map_or(&[], |table| &table.unranked),
            &summary.failures,
        ),
        worth: vec![format!("{}.", summary.how.trim_end_matches('.'))],
        price: None,
    }
}
