//! A page for each published source: their figures in our drawing, ours, and the verdict on each of
//! their claims, in Markdown for the documentation site.

use std::fmt::Write as _;

use bakeoff_model::published::{PublishedResult, Source};

use super::figures::Figure;
use crate::analysis::Analysis;
use crate::analysis::claims::{ClaimRow, limits_text};
use crate::analysis::labels::step_labels;
use crate::chart::published::{self, PublishedSeries};
use crate::chart::{self, Axis, Chart, Point, Scale, Series, Shape, svg};
use crate::number::count;

/// A page, and the drawings beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Article {
    /// The source's name in `published.toml`: the name of the page and of its figures' folder.
    pub name: String,
    /// Its title.
    pub title: String,
    /// The page.
    pub markdown: String,
    /// What the page shows, in the folder of its name.
    pub figures: Vec<Figure>,
}

/// One for each source, in the order of their file.
#[must_use]
pub fn articles(analysis: &Analysis<'_>) -> Vec<Article> {
    let sources = analysis
        .results
        .published
        .iter()
        .flat_map(|one| &one.sources);
    sources.map(|source| article(analysis, source)).collect()
}

fn article(analysis: &Analysis<'_>, source: &Source) -> Article {
    let mut text = format!("# {}\n\n{}, {}. ", source.title, source.author, source.date);
    let _ = writeln!(
        text,
        "{}. {}",
        limits_text(&source.limits),
        source.conditions.trim()
    );
    if !analysis.limits_note.is_empty() {
        let _ = writeln!(text, "\n{}", analysis.limits_note);
    }
    let figures = figures(analysis, source);
    for pair in &figures {
        let _ = writeln!(text, "\n## {}", pair.title);
        for (whose, figure) in [("Theirs", &pair.theirs), ("Ours", &pair.ours)] {
            match figure {
                Some(figure) => {
                    let alt = format!("{whose}: {}", figure.title);
                    let _ = writeln!(text, "\n![{alt}]({}/{})", source.name, figure.file);
                }
                None => text.push_str("\nNothing of this was measured in this session.\n"),
            }
        }
    }
    text.push_str(&claims(analysis, source));
    let drawn = figures.into_iter();
    let drawn = drawn.flat_map(|pair| pair.theirs.into_iter().chain(pair.ours));
    Article {
        name: source.name.clone(),
        title: source.title.clone(),
        markdown: text,
        figures: drawn.collect(),
    }
}

/// Their claims with our verdicts.
fn claims(analysis: &Analysis<'_>, source: &Source) -> String {
    let results = analysis.results.published.as_ref();
    let claims = results.into_iter().flat_map(|published| &published.claims);
    // Rows are in the order of the claims.
    let rows = claims.zip(&analysis.claims);
    let own: Vec<&ClaimRow> = rows
        .filter(|(claim, _)| claim.source == source.name)
        .map(|(_, row)| row)
        .collect();
    if own.is_empty() {
        return String::new();
    }
    let mut text = "\n## Their claims\n\n| claim | verdict | measured here | holds when |\n\
                    |---|---|---|---|\n"
        .to_owned();
    for row in own {
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
            format!("**{}**{why}", row.verdict.name()),
            row.measured.clone(),
            row.expected.clone(),
        ];
        let cells = cells.map(|cell| cell.replace('|', "\\|").replace('<', "&lt;"));
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text
}

/// The same figure of theirs and of ours.
struct Pair {
    title: String,
    theirs: Option<Figure>,
    ours: Option<Figure>,
}

/// What a figure shows of a published result, for each of its steps.
type Values = fn(&PublishedResult) -> &[f64];

fn figures(analysis: &Analysis<'_>, source: &Source) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for load in &analysis.loads {
        let all = published::of_benchmark(analysis.results.published.as_ref(), &load.data);
        let own: Vec<PublishedSeries<'_>> = all
            .into_iter()
            .filter(|one| one.result().source == source.name)
            .collect();
        let ours = chart::of_load(load, &[]);
        let kinds: [(&str, &str, Scale, Values); 2] = [
            ("throughput", "requests/s", Scale::Linear, |one| {
                &one.throughput
            }),
            ("cpu-per-request", "µs", Scale::Log, |one| &one.cpu_us),
        ];
        for (id, unit, scale, values) in kinds {
            let y = Axis {
                name: unit.to_owned(),
                scale,
            };
            let Some(theirs) = lines(&own, id, y, values) else {
                continue;
            };
            let like: Vec<usize> = own.iter().map(|one| one.case).collect();
            let ours = ours.iter().find(|chart| chart.id == id);
            let ours = ours.and_then(|chart| only(chart, &like));
            pairs.push(Pair {
                title: format!("{}: {}", load.data.name, theirs.title),
                theirs: Some(drawn(&theirs, &load.data.name, "theirs", source)),
                ours: ours.map(|chart| drawn(&chart, &load.data.name, "ours", source)),
            });
        }
    }
    pairs
}

/// Their lines by connections; `None` where they published no such line.
fn lines(own: &[PublishedSeries<'_>], id: &'static str, y: Axis, values: Values) -> Option<Chart> {
    let own: Vec<&PublishedSeries<'_>> = own
        .iter()
        .filter(|one| !values(one.result()).is_empty())
        .collect();
    let longest = own.iter().max_by_key(|one| one.result().steps.len())?;
    let labels = step_labels(&longest.result().steps, 1);
    let series = own.iter().map(|one| {
        let steps = step_labels(&one.result().steps, 1);
        let point = |(place, label): (usize, &String)| {
            let found = steps.iter().position(|step| step == label);
            let value = found.and_then(|found| values(one.result()).get(found).copied());
            Point::new(count(place), value)
        };
        Series {
            case: one.case,
            name: one.result().name.clone(),
            run: None,
            published: true,
            points: labels.iter().enumerate().map(point).collect(),
        }
    });
    let series = series.collect();
    let title = match id {
        "throughput" => "Throughput",
        _ => "CPU time of a request",
    };
    Some(Chart {
        id,
        title: title.to_owned(),
        note: "As published, read off the article's text and figures.",
        shape: Shape::Lines,
        x: Axis {
            name: "connections (w = warm-up step)".to_owned(),
            scale: Scale::Categories(labels),
        },
        y,
        series,
    })
}

/// A chart of ours with the contenders that are like theirs.
fn only(chart: &Chart, cases: &[usize]) -> Option<Chart> {
    let series = chart.series.iter().filter(|one| cases.contains(&one.case));
    let series: Vec<Series> = series.cloned().collect();
    (!series.is_empty()).then(|| Chart {
        series,
        ..chart.clone()
    })
}

fn drawn(chart: &Chart, benchmark: &str, whose: &str, source: &Source) -> Figure {
    let under = match whose {
        "theirs" => format!(
            "published by {}, {}; {benchmark}",
            source.author, source.date
        ),
        _ => format!("measured by bakeoff; {benchmark}"),
    };
    Figure {
        file: format!("{benchmark}-{}-{whose}.svg", chart.id),
        title: chart.title.clone(),
        svg: svg::document(chart, &under),
    }
}
