//! A page for each published source: its charts with ours on the same axes, its single numbers
//! next to ours, and the verdict on each of its claims, in Markdown for the documentation site.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use bakeoff_model::suite::published::{Published, PublishedResult, Source};

use super::chart_files::ChartFile;
use crate::chart::published::is_like;
use crate::chart::{self, Axis, Chart, Point, Scale, Series, Shape, svg};
use bakeoff_analysis::LoadAnalysis;
use bakeoff_analysis::RoundResults;
use bakeoff_analysis::StartupAnalysis;
use bakeoff_analysis::benchmarks::{load, startup};
use bakeoff_analysis::claims::{self, ClaimRow, ClaimSession, Found, limits_text};
use bakeoff_analysis::data::labels::step_labels;
use bakeoff_analysis::data::metric::Metric;
use bakeoff_analysis::data::number::{count, range, significant, significant_or_dash};
use bakeoff_analysis::data::row::Row;

/// A page, and its drawings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Article {
    /// The source's name in `published.toml`: the name of the page and of its charts' folder.
    pub name: String,
    /// Title of the page.
    pub title: String,
    /// The page.
    pub markdown: String,
    /// The charts of the page, in the folder of its name.
    pub figures: Vec<ChartFile>,
}

/// Returns a page for each source, in the order of their file. Of rounds that show a chart or a
/// claim equally well, the first one counts.
#[must_use]
pub fn articles(rounds: &[RoundResults]) -> Vec<Article> {
    let mut published = rounds.iter().map(|round| round.results.published.as_ref());
    let Some(published) = published.find_map(|found| found) else {
        return Vec::new();
    };
    let rounds: Vec<Round<'_>> = rounds.iter().map(Round::of).collect();
    let sessions = rounds.iter().map(|round| {
        let name = round.input.results.round.as_deref();
        ClaimSession::new(&round.input.folder, name, &round.loads, &round.startups)
    });
    let sessions: Vec<ClaimSession<'_, '_>> = sessions.collect();
    let claims = claims::claims(Some(published), &sessions);
    let sources = published.sources.iter();
    let page = |source| article(&rounds, published, &claims, source);
    sources.map(page).collect()
}

/// A results folder.
struct Round<'r> {
    input: &'r RoundResults,
    loads: Vec<LoadAnalysis<'r>>,
    startups: Vec<StartupAnalysis<'r>>,
    /// For each load, its charts that sources publish, too.
    charts: Vec<Vec<Chart>>,
}

impl<'r> Round<'r> {
    fn of(input: &'r RoundResults) -> Self {
        let loads = load::loads(&input.results);
        let charts = loads.iter().map(|load| {
            let mut charts = chart::of_load(load, &[]);
            charts.retain(|chart| KINDS.iter().any(|kind| kind.id == chart.id));
            charts
        });
        Self {
            input,
            charts: charts.collect(),
            startups: startup::startups(&input.results),
            loads,
        }
    }

    /// The rows of a benchmark that are like a published result, the one of its very name first.
    fn row(&self, result: &PublishedResult) -> Option<&Row> {
        let loads = self.loads.iter();
        let rows = loads.filter(|load| load.summary.name == result.benchmark);
        let rows = rows.flat_map(|load| load.summary.rows());
        let like = rows.filter(|row| is_like(result, &row.label));
        like.min_by_key(|row| row.label.len())
    }

    /// The lines of a chart that are like a published result, with the labels of its steps.
    fn lines(&self, result: &PublishedResult, id: &str) -> Option<(&[String], Vec<&Series>)> {
        let row = self.row(result)?;
        let benchmarks = self.loads.iter().zip(&self.charts);
        let mut own = benchmarks.filter(|(load, _)| load.summary.name == result.benchmark);
        own.find_map(|(_, charts)| {
            let chart = charts.iter().find(|chart| chart.id == id)?;
            let Scale::Categories(labels) = &chart.x.scale else {
                return None;
            };
            let series = chart.series.iter().filter(|one| one.name == row.label);
            let series: Vec<&Series> = series.collect();
            (!series.is_empty()).then_some((&**labels, series))
        })
    }
}

/// A metric that sources publish.
struct Kind {
    /// Id of our chart.
    id: &'static str,
    title: &'static str,
    unit: &'static str,
    scale: Scale,
    /// The published value at each step, by the step's label.
    values: fn(&PublishedResult) -> Vec<(String, f64)>,
}

const KINDS: [Kind; 3] = [
    Kind {
        id: "throughput",
        title: "Throughput",
        unit: "requests/s",
        scale: Scale::Linear,
        values: |one| match (one.throughput.is_empty(), one.peak) {
            (true, Some((peak, connections))) => vec![(connections.to_string(), peak)],
            _ => by_step(one, &one.throughput),
        },
    },
    Kind {
        id: "cpu-per-request",
        title: "CPU time of a request",
        unit: "µs",
        scale: Scale::Log,
        values: |one| by_step(one, &one.cpu_us),
    },
    Kind {
        id: "p99",
        title: "99th percentile of response times",
        unit: "ms",
        scale: Scale::Log,
        values: |one| {
            let points = one.p99_ms.iter();
            points.map(|(at, ms)| (at.to_string(), *ms)).collect()
        },
    },
];

fn by_step(result: &PublishedResult, values: &[f64]) -> Vec<(String, f64)> {
    let labels = step_labels(&result.steps, 1).into_iter();
    labels.zip(values.iter().copied()).collect()
}

fn article(
    rounds: &[Round<'_>],
    published: &Published,
    claims: &[ClaimRow],
    source: &Source,
) -> Article {
    let mut text = format!("# {}\n\n{}, {}. ", source.title, source.author, source.date);
    let limits = limits_text(&source.limits);
    let _ = writeln!(text, "{limits}. {}", source.conditions.trim());
    let notes = rounds.iter();
    let notes = notes.map(|round| claims::limits_note(&round.input.results));
    let notes: BTreeSet<String> = notes.filter(|note| !note.is_empty()).collect();
    for note in notes {
        let _ = writeln!(text, "\n{note}");
    }
    let results = published.results.iter();
    let own: Vec<&PublishedResult> = results.filter(|one| one.source == source.name).collect();
    let benchmarks: BTreeSet<&str> = own.iter().map(|one| &*one.benchmark).collect();
    let mut figures = Vec::new();
    for benchmark in benchmarks {
        let own = own.iter().filter(|one| one.benchmark == benchmark);
        let own: Vec<&PublishedResult> = own.copied().collect();
        for kind in &KINDS {
            let Some((chart, folders)) = figure(rounds, &own, kind) else {
                continue;
            };
            let file = format!("{benchmark}-{}.svg", kind.id);
            let ours = match folders.is_empty() {
                true => "Nothing of this was measured in these results.".to_owned(),
                false => format!("Ours: {}.", names(&folders)),
            };
            let _ = writeln!(
                text,
                "\n## {benchmark}: {}\n\n![{}]({}/{file})\n\nDashed lines are what the source \
                 published, read off its text and charts. {ours}",
                kind.title, kind.title, source.name
            );
            let under = format!("dashed: {}, {}; {benchmark}", source.author, source.date);
            figures.push(ChartFile {
                file,
                title: chart.title.clone(),
                svg: svg::document(&chart, &under),
            });
        }
        text.push_str(&single_numbers(rounds, &own, benchmark));
    }
    text.push_str(&claims_table(published, claims, source));
    Article {
        name: source.name.clone(),
        title: source.title.clone(),
        markdown: text,
        figures,
    }
}

fn names(folders: &BTreeSet<&str>) -> String {
    let names: Vec<String> = folders.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// Published lines and ours on the same axes, and the folders that ours are from; `None` if no such
/// line was published.
fn figure<'r>(
    rounds: &'r [Round<'_>],
    own: &[&PublishedResult],
    kind: &Kind,
) -> Option<(Chart, BTreeSet<&'r str>)> {
    let mut labels: Vec<String> = Vec::new();
    let mut folders = BTreeSet::new();
    let mut lines: Vec<Line<'_>> = Vec::new();
    for (case, result) in own.iter().enumerate() {
        let values = (kind.values)(result);
        if values.is_empty() {
            continue;
        }
        labels.extend(values.iter().map(|(label, _)| label.clone()));
        lines.push(Line::Theirs(case, result, values));
        let ours = rounds.iter().find_map(|round| {
            let (steps, series) = round.lines(result, kind.id)?;
            Some((&*round.input.folder, steps, series))
        });
        if let Some((folder, steps, series)) = ours {
            folders.insert(folder);
            labels.extend(steps.iter().cloned());
            lines.extend(series.into_iter().map(|one| Line::Ours(case, one, steps)));
        }
    }
    let labels = in_order(labels);
    (!lines.is_empty()).then(|| {
        let series = lines.iter().map(|line| line.on(&labels)).collect();
        let chart = Chart {
            id: kind.id,
            title: kind.title.to_owned(),
            note: "",
            shape: Shape::Lines,
            x: Axis {
                name: "connections".to_owned(),
                scale: Scale::Categories(labels),
            },
            y: Axis {
                name: kind.unit.to_owned(),
                scale: kind.scale.clone(),
            },
            series,
        };
        (chart, folders)
    })
}

/// Labels of measured steps, each once, by the number of connections. Warm-up steps, whose labels
/// begin with a letter, are left out: theirs and ours are not the same.
fn in_order(mut labels: Vec<String>) -> Vec<String> {
    let connections = |label: &String| -> Option<u32> {
        let digits = label.split(|one: char| !one.is_ascii_digit()).next()?;
        digits.parse().ok()
    };
    labels.retain(|label| connections(label).is_some());
    labels.sort_by(|a, b| (connections(a), a).cmp(&(connections(b), b)));
    labels.dedup();
    labels
}

/// A line, which belongs to the published result of that index.
enum Line<'s> {
    Theirs(usize, &'s PublishedResult, Vec<(String, f64)>),
    Ours(usize, &'s Series, &'s [String]),
}

impl Line<'_> {
    /// The line on an axis with these steps; those that it does not have are not gaps in it.
    fn on(&self, labels: &[String]) -> Series {
        let points = labels.iter().enumerate();
        let points = points.filter_map(|(place, label)| self.point(count(place), label));
        match self {
            Self::Theirs(case, result, _) => Series {
                case: *case,
                name: format!("{}, published", result.name),
                run: None,
                published: true,
                points: points.collect(),
            },
            Self::Ours(case, series, _) => Series {
                case: *case,
                points: points.collect(),
                ..(*series).clone()
            },
        }
    }

    fn point(&self, x: f64, label: &str) -> Option<Point> {
        match self {
            Self::Theirs(_, _, values) => {
                let (_, value) = values.iter().find(|(step, _)| step == label)?;
                Some(Point::new(x, Some(*value)))
            }
            Self::Ours(_, series, steps) => {
                let place = steps.iter().position(|step| step == label)?;
                let mut points = series.points.iter();
                let found = points.find(|point| (point.x - count(place)).abs() < 0.5)?;
                Some(Point { x, ..found.clone() })
            }
        }
    }
}

/// Returns the single numbers that sources state, theirs and ours; empty if they state none.
fn single_numbers(rounds: &[Round<'_>], own: &[&PublishedResult], benchmark: &str) -> String {
    let mut lines = String::new();
    for result in own {
        let found = rounds
            .iter()
            .find_map(|round| Some((round, round.row(result)?)));
        let ours = |metric: fn(&Row) -> Option<&Metric>| {
            let metric = found.and_then(|(_, row)| metric(row));
            metric.map_or("–".to_owned(), |metric| {
                let estimate = &metric.estimate;
                match range(estimate) {
                    range if range.is_empty() => significant(estimate.point),
                    range => format!("{} ({range})", significant(estimate.point)),
                }
            })
        };
        let highest = result.throughput.iter().copied().reduce(f64::max);
        let peak = result.peak.map(|(peak, _)| peak).or(highest);
        let folder = found.map_or("–".to_owned(), |(round, row)| {
            format!("`{}`, {}", row.label, round.input.folder)
        });
        let _ = writeln!(
            lines,
            "| {} | {} | {} | {} | {} | {} | {} | {folder} |",
            result.name,
            significant_or_dash(peak),
            ours(|row| Some(&row.peak.throughput)),
            significant_or_dash(result.cpu_us_whole),
            ours(|row| row.whole.cpu_us.as_ref()),
            significant_or_dash(result.startup_s),
            ours(|row| row.whole.startup_s.as_ref()),
        );
    }
    format!(
        "\n## {benchmark}: single numbers\n\nOurs with 95 % intervals.\n\n| | highest requests/s, \
         published | ours | CPU per request over the whole life, µs, published | ours | start-up, \
         s, published | ours | ours measured as |\n|---|--:|--:|--:|--:|--:|--:|---|\n{lines}"
    )
}

/// The claims of a source with our verdicts.
fn claims_table(published: &Published, claims: &[ClaimRow], source: &Source) -> String {
    // Rows are in the order of the claims.
    let rows = published.claims.iter().zip(claims);
    let own = rows.filter(|(claim, _)| claim.source == source.name);
    let own: Vec<ClaimRow> = own.map(|(_, row)| row.clone()).collect();
    if own.is_empty() {
        return String::new();
    }
    let each = |row: &ClaimRow, of: fn(&Found) -> &str| {
        let each: Vec<&str> = row.found.iter().map(of).collect();
        each.join("; ")
    };
    let counted = claims::counts(&own).join(" ");
    let mut text = format!("\n## Claims\n\n{counted}\n");
    text.push_str(
        "\n| claim | verdict | measured here | round | holds when |\n\
         |---|---|---|---|---|\n",
    );
    for row in &own {
        let why = match row.why.is_empty() {
            true => String::new(),
            false => format!(": {}", row.why),
        };
        let quote = match row.quote.is_empty() {
            true => String::new(),
            false => format!(": “{}”", row.quote),
        };
        let derived = match row.derived.is_empty() {
            true => String::new(),
            false => format!(" (our own arithmetic: {})", row.derived),
        };
        let cells = [
            format!("{}{quote}{derived}", row.text),
            format!("**{}**{why}", row.verdict_text()),
            each(row, |found| &found.measured),
            each(row, |found| &found.folder),
            row.expected.clone(),
        ];
        let cells = cells.map(|cell| cell.replace('|', "\\|").replace('<', "&lt;"));
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text
}
