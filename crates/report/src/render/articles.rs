//! A page for each published source: its charts with ours on the same axes, its single numbers
//! next to ours, and the verdict on each of its claims, in Markdown for the documentation site.

mod charts;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use bakeoff_model::suite::published::{
    OwnChart, Published, PublishedChart, PublishedResult, Source,
};

use super::chart_files::ChartFile;
use super::html::panels::{self, Panel};
use crate::chart::published::is_like;
use crate::chart::{Chart, Scale, Series, svg};
use bakeoff_analysis::RoundResults;
use bakeoff_analysis::claims::{self, ClaimRow, ClaimSession, Found, limits_text};
use bakeoff_analysis::data::benchmark::CaseData;
use bakeoff_analysis::data::metric::{self, Metric, Wanted};
use bakeoff_analysis::data::number::{range, significant};
use bakeoff_analysis::data::row::Row;
use bakeoff_analysis::{Analysis, AnalysisInput};

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
        let (loads, startups) = (&round.analysis.loads, &round.analysis.startups);
        ClaimSession::new(&round.input.folder, name, loads, startups)
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
    analysis: Analysis<'r>,
    panels: Vec<Panel<'r>>,
}

impl<'r> Round<'r> {
    fn of(input: &'r RoundResults) -> Self {
        let analysis = Analysis::of(&AnalysisInput::new(&input.results, ""));
        Self {
            input,
            panels: panels::of(&analysis),
            analysis,
        }
    }

    /// The case of a benchmark that is like a published result, the one of its very name first, and
    /// its row.
    fn like(&self, result: &PublishedResult) -> Option<(&CaseData<'r>, &Row)> {
        let loads = self.analysis.loads.iter();
        let loads = loads.filter(|load| load.summary.name == result.benchmark);
        let cases = loads.flat_map(|load| load.data.cases.iter().map(move |case| (load, case)));
        let like = cases.filter_map(|(load, case)| {
            let row = load.summary.row(&case.label)?;
            is_like(result, &case.label).then_some((case, row))
        });
        like.min_by_key(|(case, _)| case.label.len())
    }

    /// Whether the benchmark was measured.
    fn has(&self, benchmark: &str) -> bool {
        self.panels.iter().any(|panel| panel.name == benchmark)
    }

    /// Our chart of the same: that of its benchmark, or one over all benchmarks.
    fn chart(&self, own_chart: &OwnChart) -> Option<&Chart> {
        let own = self
            .panels
            .iter()
            .filter(|one| one.name == own_chart.benchmark);
        let all = self.panels.iter().filter(|one| one.is_of_all());
        let mut charts = own.chain(all).flat_map(|panel| &panel.charts);
        charts.find(|chart| chart.id == own_chart.id)
    }

    /// The lines of our chart that are like a published result, with the labels of its steps.
    fn lines(
        &self,
        result: &PublishedResult,
        own_chart: &OwnChart,
    ) -> Option<(&[String], Vec<&Series>)> {
        let (case, _) = self.like(result)?;
        let chart = self.chart(own_chart)?;
        let Scale::Categories(labels) = &chart.x.scale else {
            return None;
        };
        let series = chart.series.iter();
        let series = series.filter(|one| !one.published && one.name == case.label);
        let series: Vec<&Series> = series.collect();
        (!series.is_empty()).then_some((&**labels, series))
    }
}

/// Returns the results of a round first, if it has a name, then all others.
fn best_first<'a, 'r>(
    rounds: &'a [Round<'r>],
    name: Option<&str>,
) -> impl Iterator<Item = &'a Round<'r>> {
    let is_it = |round: &&Round<'r>| name.is_some() && round.input.results.round.as_deref() == name;
    let (it, others): (Vec<_>, Vec<_>) = rounds.iter().partition(is_it);
    it.into_iter().chain(others)
}

fn article(
    rounds: &[Round<'_>],
    published: &Published,
    claims: &[ClaimRow],
    source: &Source,
) -> Article {
    let mut text = format!("# {}\n\n{}, {}. ", source.title, source.author, source.date);
    let limits = limits_text(&source.limits);
    let _ = writeln!(text, "Limits: {limits}. {}", source.conditions.trim());
    let notes = rounds.iter();
    let notes = notes.map(|round| claims::limits_note(&round.input.results));
    let notes: BTreeSet<String> = notes.filter(|note| !note.is_empty()).collect();
    for note in notes {
        let _ = writeln!(text, "\n{note}");
    }
    let results = published.results.iter();
    let own: Vec<&PublishedResult> = results.filter(|one| one.source == source.name).collect();
    let mut files = Vec::new();
    for chart in charts::of_source(published, source) {
        let _ = writeln!(text, "\n## {}\n", chart.title);
        let under = format!("{}, {}", source.author, source.date);
        match section(rounds, &own, &chart, &under) {
            Ok((section, file)) => {
                text.push_str(&section);
                files.push(file);
            }
            Err(why) => {
                let _ = writeln!(text, "No chart of ours: {why}.");
            }
        }
    }
    text.push_str(&single_numbers(rounds, &own));
    text.push_str(&claims_table(published, claims, source));
    Article {
        name: source.name.clone(),
        title: source.title.clone(),
        markdown: text,
        figures: files,
    }
}

/// Returns the text below the title of a chart and its drawing, or why there is none.
fn section(
    rounds: &[Round<'_>],
    own: &[&PublishedResult],
    chart: &PublishedChart,
    author: &str,
) -> Result<(String, ChartFile), String> {
    let own_chart = chart.ours.as_ref().map_err(Clone::clone)?;
    let Some(found) = charts::with_ours(rounds, own, own_chart) else {
        let is_there = rounds.iter().any(|round| round.has(&own_chart.benchmark));
        let benchmark = &own_chart.benchmark;
        let contenders = own_chart.contenders.join(", ");
        return Err(match (is_there, contenders.is_empty()) {
            (true, true) => format!("{benchmark} was measured, and there is nothing to draw"),
            (true, false) => format!("{benchmark} was measured, but not with {contenders}"),
            (false, _) => format!("{benchmark} was not measured in these results"),
        });
    };
    let file = file_name(chart, own_chart);
    let ours = match found.folders.is_empty() {
        true => "Nothing of this was measured in these results.".to_owned(),
        false => format!("Ours: {}.", names(&found.folders)),
    };
    let theirs = match found.has_theirs {
        true => "Dashed lines are what the source published, read off its text and charts. ",
        false => "",
    };
    let under = match found.has_theirs {
        true => format!("dashed: {author}; {}", own_chart.benchmark),
        false => own_chart.benchmark.clone(),
    };
    let text = format!(
        "![{}]({}/{file})\n\n{theirs}{ours}\n",
        chart.title, chart.source
    );
    let file = ChartFile {
        file,
        title: found.chart.title.clone(),
        svg: svg::document(&found.chart, &under),
    };
    Ok((text, file))
}

/// Returns the name of a chart's file: benchmark, chart, and its contenders if it lists some.
fn file_name(chart: &PublishedChart, own_chart: &OwnChart) -> String {
    let safe = |letter: char| match letter {
        letter if letter.is_ascii_alphanumeric() => letter,
        _ => '-',
    };
    let contenders = match own_chart.contenders.is_empty() {
        true => String::new(),
        false => format!("-{}", chart.title.to_ascii_lowercase()),
    };
    let name = format!("{}-{}{contenders}", own_chart.benchmark, own_chart.id);
    format!("{}.svg", name.chars().map(safe).collect::<String>())
}

fn names(folders: &BTreeSet<&str>) -> String {
    let names: Vec<String> = folders.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// A number that a source states of a system, and ours.
struct Single {
    name: &'static str,
    published: fn(&PublishedResult) -> Option<f64>,
    ours: fn(&CaseData<'_>, &Row) -> Option<Metric>,
}

const SINGLES: [Single; 4] = [
    Single {
        name: "highest requests/s",
        published: |result| {
            let highest = result.throughput.iter().copied().reduce(f64::max);
            result.peak.map(|(peak, _)| peak).or(highest)
        },
        ours: |_, row| Some(row.peak.throughput.clone()),
    },
    Single {
        name: "CPU per request over the whole life, µs",
        published: |result| result.cpu_us_whole,
        ours: |_, row| row.whole.cpu_us.clone(),
    },
    Single {
        name: "start-up, s",
        published: |result| result.startup_s,
        ours: |_, row| row.whole.startup_s.clone(),
    },
    Single {
        name: "memory at the end, MiB",
        published: |result| result.memory_end_mib,
        ours: |case, _| metric::read(case, Wanted::Memory(None)),
    },
];

/// Returns the single numbers that sources state, theirs and ours; empty if they state none.
fn single_numbers(rounds: &[Round<'_>], own: &[&PublishedResult]) -> String {
    let mut lines = String::new();
    for result in own {
        let found = best_first(rounds, result.round.as_deref())
            .find_map(|round| Some((round, round.like(result)?)));
        let folder = found.map_or("–".to_owned(), |(round, (case, _))| {
            format!("`{}`, {}", case.label, round.input.folder)
        });
        for single in &SINGLES {
            let Some(published) = (single.published)(result) else {
                continue;
            };
            let metric = found.and_then(|(_, (case, row))| (single.ours)(case, row));
            let ours = metric.map_or("–".to_owned(), |metric| {
                let estimate = &metric.estimate;
                match range(estimate) {
                    range if range.is_empty() => significant(estimate.point),
                    range => format!("{} ({range})", significant(estimate.point)),
                }
            });
            let (name, of) = (&result.name, single.name);
            let published = significant(published);
            let _ = writeln!(lines, "| {name} | {of} | {published} | {ours} | {folder} |");
        }
    }
    if lines.is_empty() {
        return lines;
    }
    format!(
        "\n## Single numbers\n\nOurs with 95 % intervals.\n\n| | | published | ours | ours \
         measured as |\n|---|---|--:|--:|---|\n{lines}"
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
