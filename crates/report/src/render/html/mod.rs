//! The report as one HTML page that needs no network: style, script, charts and data are inside,
//! and a content policy forbids the page to fetch anything.

mod anchor;
mod baseline;
mod capacity;
mod charts;
mod checks;
pub(crate) mod comparison;
mod conclusion;
mod contenders;
mod environment;
mod failures;
mod overhead;
pub(crate) mod panels;
mod pivot;
mod prose;
mod published;
mod ranks;
mod reasons;
mod rounds;
mod runs;
mod scaling;
mod section;
mod startup;
mod table;
mod validity;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::chart::svg;
use crate::render::section::of_load;
use bakeoff_analysis::Analysis;
use bakeoff_analysis::data::benchmark::last_attempts;
use bakeoff_analysis::data::number::counted;
use panels::{Panel, PanelSection};

const STYLE: &str = include_str!("../../../assets/report.css");
/// In the order in which they build on each other.
const SCRIPTS: [&str; 4] = [
    include_str!("../../../assets/numbers.js"),
    include_str!("../../../assets/charts.js"),
    include_str!("../../../assets/report.js"),
    include_str!("../../../assets/tables.js"),
];
const METHOD: &str = include_str!("../../../assets/method.html");
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; \
    img-src data:; base-uri 'none'; form-action 'none'";

/// The page.
#[must_use]
pub fn html(analysis: &Analysis<'_>) -> String {
    let panels = panels::of(analysis);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                title { (analysis.title) }
                // Named, because a chart that is saved takes it along.
                style id="chart-style" { (PreEscaped(svg::STYLE)) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                (header(analysis))
                main {
                    (baseline::section(analysis))
                    (conclusion::section(analysis))
                    (results(analysis))
                    (overhead::section(&analysis.overheads, &panels))
                    (chart_sections(analysis, &panels))
                    (published::section(analysis))
                    (contender_sections(analysis))
                    (check_sections(analysis))
                    (context_sections(analysis))
                    (PreEscaped(METHOD))
                }
                footer { p { "Made by bakeoff." } }
                script type="application/json" id="data" { (PreEscaped(panels::data(&panels))) }
                script { @for one in SCRIPTS { (PreEscaped(one)) } }
            }
        }
    };
    page.into_string()
}

fn header(analysis: &Analysis<'_>) -> Markup {
    let results = analysis.results;
    let has = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.trim().is_empty());
    let runs: Vec<_> = last_attempts(results).collect();
    html! {
        header {
            div {
                h1 { (analysis.title) }
                @if let Some(first) = runs.first() {
                    @let host = &first.begin.host;
                    p.lead {
                        (counted(runs.len(), "run")) " from " (day(&first.begin.at)) ", on "
                        (counted(host.cores, "core")) " of " (host.cpu_model) "."
                    }
                }
            }
            button type="button" id="theme" { "Dark or light" }
            nav aria-label="Sections" {
                a href="#results" { "Results" }
                @if !analysis.overheads.is_empty() { a href="#overhead" { "Baselines" } }
                a href="#charts" { "Charts" }
                @if results.published.is_some() { a href="#claims" { "Claims" } }
                a href="#contenders" { "Contenders" }
                a href="#checks" { "Checks" }
                a href="#environment" { "Environment" }
                a href="#validity" { "Validity" }
                a href="#runs" { "Runs" }
                @if has(&results.notes) { a href="#notes" { "Notes" } }
                @if has(&results.analysis) { a href="#analysis" { "Analysis" } }
                a href="#method" { "Method" }
            }
        }
    }
}

/// The day of a time stamp; the list of runs has the whole.
fn day(at: &str) -> &str {
    at.split('T').next().unwrap_or_default()
}

fn results(analysis: &Analysis<'_>) -> Markup {
    let skipped = &analysis.results.skipped;
    html! {
        section id="results" {
            h2 { "Results" }
            // Contenders that this machine could not build, so that they are not thought forgotten.
            @if !skipped.is_empty() {
                h4.unfair { "Took no part" }
                ul.reasons { @for skipped in skipped { li { (skipped) } } }
            }
            @if analysis.results.runs.is_empty() {
                p { "There are no runs." }
            }
            @for (index, load) in analysis.loads.iter().enumerate() {
                (ranks::section(&load.summary, index))
            }
            @for (index, startup) in analysis.startups.iter().enumerate() {
                (startup::section(&startup.summary, analysis.loads.len() + index))
            }
            @let others = analysis.loads.len() + analysis.startups.len();
            @for (index, capacity) in analysis.capacities.iter().enumerate() {
                (capacity::section(&capacity.summary, others + index))
            }
            (rounds::section(analysis))
        }
    }
}

fn chart_sections(analysis: &Analysis<'_>, panels: &[Panel<'_>]) -> Markup {
    html! {
        section id="charts" {
            h2 { "Charts" }
            p.hint {
                "A line is the median over runs, the band around it reaches from the lowest to the \
                 highest run; “all runs” draws each. A hollow point is not a fair number, a gap is \
                 a step that failed. Point at a chart for its values, or choose it and use the \
                 arrow keys; choose contenders above the charts."
                @if panels.iter().any(Panel::has_published) {
                    " Dashed lines with crosses, named “published”, are what others measured \
                     elsewhere."
                }
            }
            noscript {
                p {
                    "Without JavaScript charts have no values at the pointer; the tables and \
                     results.csv have all."
                }
            }
            @for (index, panel) in panels::at(panels, PanelSection::Benchmark) {
                section.benchmark {
                    h3 { (panel.name) }
                    p.conditions { (panel.conditions) }
                    (charts::section(index, panel))
                    @if let Some(load) = analysis.loads.get(index) {
                        (charts::cost(&load.summary))
                        (charts::warm_up(&load.warm_ups))
                        @for one in &of_load(load) { (section::section(one)) }
                        (pivot::section(&load.data, &load.summary))
                        @let panels = panels::at(panels, PanelSection::Scaling(index));
                        @for (scaling, (index, panel)) in load.scalings.iter().zip(panels) {
                            (scaling::tables(scaling))
                            (charts::section(index, panel))
                        }
                    }
                }
            }
        }
    }
}

fn contender_sections(analysis: &Analysis<'_>) -> Markup {
    html! {
        section id="contenders" {
            h2 { "Contenders" }
            p.hint { "What each is, in which version, and what it did at each step." }
            (contenders::sections(analysis))
        }
    }
}

fn check_sections(analysis: &Analysis<'_>) -> Markup {
    html! {
        section id="checks" {
            h2 { "Checks" }
            p.hint { "Over all runs; bold is what differs from most contenders." }
            @for load in &analysis.loads {
                h3 { (load.data.name) }
                (checks::table(load))
            }
        }
    }
}

fn context_sections(analysis: &Analysis<'_>) -> Markup {
    let results = analysis.results;
    let prose = [
        ("notes", "Notes", &results.notes),
        ("analysis", "Analysis", &results.analysis),
    ];
    html! {
        section id="environment" {
            h2 { "Environment" }
            (environment::table(results))
        }
        section id="validity" {
            h2 { "Validity" }
            p.hint {
                "The verdict on every step with its reasons, by the sums over the step and the \
                 share of its time that was unfair."
            }
            @for load in &analysis.loads {
                h3 { (load.data.name) }
                (validity::tables(&load.data))
            }
        }
        section id="runs" {
            h2 { "Runs in order" }
            (runs::table(results))
        }
        @for (id, name, text) in prose {
            @if let Some(text) = text.as_ref().filter(|text| !text.trim().is_empty()) {
                section.prose id=(id) {
                    h2 { (name) }
                    (prose::render(text))
                }
            }
        }
    }
}
