//! Charts of a source: its lines with ours on the same axes where its values are known, else our
//! chart of the same.

use std::collections::BTreeSet;

use bakeoff_analysis::data::number::count;
use bakeoff_model::suite::published::{
    OwnChart, Published, PublishedChart, PublishedResult, Source,
};
use bakeoff_model::text::names;

use super::{Round, best_first};
use crate::chart::published::{by_step, is_like, series_name};
use crate::chart::{Axis, Chart, Point, Scale, Series, Shape};

/// A metric that sources publish step by step.
struct Kind {
    /// Id of our chart.
    id: &'static str,
    title: &'static str,
    unit: &'static str,
    scale: Scale,
}

const KINDS: [Kind; 3] = [
    Kind {
        id: "throughput",
        title: "Throughput",
        unit: "requests/s",
        scale: Scale::Linear,
    },
    Kind {
        id: "cpu-per-request",
        title: "CPU time of a request",
        unit: "µs",
        scale: Scale::Log,
    },
    Kind {
        id: "p99",
        title: "99th percentile of response times",
        unit: "ms",
        scale: Scale::Log,
    },
];

/// Returns the charts of a source: those that its file lists, else one for each kind of line that
/// its results have.
pub(super) fn of_source(published: &Published, source: &Source) -> Vec<PublishedChart> {
    let listed = published.charts.iter();
    let listed: Vec<PublishedChart> = listed
        .filter(|one| one.source == source.name)
        .cloned()
        .collect();
    if !listed.is_empty() {
        return listed;
    }
    let results = published.results.iter();
    let own: Vec<&PublishedResult> = results.filter(|one| one.source == source.name).collect();
    let benchmarks: BTreeSet<&str> = own.iter().map(|one| &*one.benchmark).collect();
    let mut charts = Vec::new();
    for benchmark in benchmarks {
        for kind in &KINDS {
            let mut own = own.iter().filter(|one| one.benchmark == benchmark);
            if own.any(|one| !by_step(kind.id, one).is_empty()) {
                charts.push(PublishedChart {
                    source: source.name.clone(),
                    title: format!("{benchmark}: {}", kind.title),
                    ours: Ok(OwnChart {
                        id: kind.id.to_owned(),
                        benchmark: benchmark.to_owned(),
                        round: None,
                        contenders: Vec::new(),
                    }),
                });
            }
        }
    }
    charts
}

/// A chart with ours, and the folders that ours are from.
pub(super) struct WithOurs<'r> {
    pub(super) chart: Chart,
    pub(super) folders: BTreeSet<&'r str>,
    /// Whether published values are drawn, too.
    pub(super) has_theirs: bool,
}

/// Returns the chart with ours; `None` if nothing of it was published in numbers or measured.
/// `own` are the results of the source.
pub(super) fn with_ours<'r>(
    rounds: &'r [Round<'_>],
    own: &[&PublishedResult],
    wanted: &OwnChart,
) -> Option<WithOurs<'r>> {
    let own = own.iter().filter(|one| one.benchmark == wanted.benchmark);
    let own: Vec<&PublishedResult> = own.copied().collect();
    let mut kinds = KINDS.iter();
    let kind = kinds.find(|kind| kind.id == wanted.id && wanted.contenders.is_empty());
    let lines = kind.and_then(|kind| lines(rounds, &own, kind, wanted));
    lines.or_else(|| ours_alone(rounds, &own, wanted))
}

/// Our chart, with what its contenders have of the published values, from the first results that
/// have the most of them.
fn ours_alone<'r>(
    rounds: &'r [Round<'_>],
    own: &[&PublishedResult],
    wanted: &OwnChart,
) -> Option<WithOurs<'r>> {
    let globs = &wanted.contenders;
    let is_listed = |label: &str| globs.iter().any(|glob| names::matches(glob, label));
    let is_drawn = |label: &str| match (globs.is_empty(), own.is_empty()) {
        (true, true) => true,
        (true, false) => own.iter().any(|result| is_like(result, label)),
        (false, _) => is_listed(label),
    };
    let is_theirs = |name: &str| {
        let mut like = own.iter().filter(|one| series_name(one) == name);
        like.any(|result| globs.is_empty() || is_listed(&result.contender))
    };
    let mut best: Option<(usize, &Round<'_>, Chart)> = None;
    for round in best_first(rounds, wanted.round.as_deref()) {
        let found = round.chart(wanted);
        let Some(chart) = found.and_then(|chart| only(chart, is_drawn, is_theirs)) else {
            continue;
        };
        let has = |glob: &&String| contenders(&chart).any(|label| names::matches(glob, label));
        let number = globs.iter().filter(has).count();
        if best.as_ref().is_none_or(|(most, ..)| number > *most) {
            best = Some((number, round, chart));
        }
    }
    best.map(|(_, round, chart)| WithOurs {
        has_theirs: chart.series.iter().any(|one| one.published),
        chart,
        folders: BTreeSet::from([&*round.input.folder]),
    })
}

/// The contenders of a chart: its rows, or its lines.
fn contenders(chart: &Chart) -> impl Iterator<Item = &str> {
    let rows = match &chart.y.scale {
        Scale::Categories(rows) => &rows[..],
        _ => &[],
    };
    let lines = chart.series.iter().filter(|one| !one.published);
    rows.iter()
        .map(String::as_str)
        .chain(lines.map(|one| &*one.name))
}

/// Returns the chart with some of its contenders; `None` if it has none of them.
fn only(
    chart: &Chart,
    is_drawn: impl Fn(&str) -> bool,
    is_theirs: impl Fn(&str) -> bool,
) -> Option<Chart> {
    let mut chart = chart.clone();
    if let Scale::Categories(rows) = &mut chart.y.scale {
        let kept: Vec<usize> = (0..rows.len())
            .filter(|row| is_drawn(&rows[*row]))
            .collect();
        *rows = kept.iter().map(|row| rows[*row].clone()).collect();
        for series in &mut chart.series {
            series.points.retain_mut(|point| {
                let of_row = |row: &usize| point.y.is_some_and(|y| (y - count(*row)).abs() < 0.5);
                let place = kept.iter().position(of_row);
                point.y = place.map(count);
                place.is_some()
            });
        }
        chart.series.retain(|series| !series.points.is_empty());
    } else {
        chart
            .series
            .retain(|one| !one.published && is_drawn(&one.name) || is_theirs(&one.name));
    }
    let has_ours = chart.series.iter().any(|one| !one.published);
    has_ours.then_some(chart)
}

/// Published lines and ours on the same axes; `None` if no such line was published.
fn lines<'r>(
    rounds: &'r [Round<'_>],
    own: &[&PublishedResult],
    kind: &Kind,
    wanted: &OwnChart,
) -> Option<WithOurs<'r>> {
    let mut labels: Vec<String> = Vec::new();
    let mut folders = BTreeSet::new();
    let mut lines: Vec<Line<'_>> = Vec::new();
    for (case, result) in own.iter().enumerate() {
        let values = by_step(kind.id, result);
        if values.is_empty() {
            continue;
        }
        labels.extend(values.iter().map(|(label, _)| label.clone()));
        lines.push(Line::Theirs(case, result, values));
        let round = wanted.round.as_deref().or(result.round.as_deref());
        let ours = best_first(rounds, round).find_map(|round| {
            let (steps, series) = round.lines(result, wanted)?;
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
                name: axis_name(&labels).to_owned(),
                scale: Scale::Categories(labels),
            },
            y: Axis {
                name: kind.unit.to_owned(),
                scale: kind.scale.clone(),
            },
            series,
        };
        WithOurs {
            chart,
            folders,
            has_theirs: true,
        }
    })
}

/// Returns the name of the axis of these steps.
fn axis_name(labels: &[String]) -> &'static str {
    match labels.iter().any(|label| label.contains("users")) {
        true => "users at once",
        false => "connections",
    }
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
                name: series_name(result),
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
