//! The report as one HTML page that needs no network: style, script, chart library and data are
//! inside, and a content policy forbids the page to fetch anything.

mod answer;
mod checks;
mod context;
mod figures;
mod pivot;
mod prose;
mod published;
mod requests;
mod rounds;
mod startup;
mod text;

use serde_json::{Value, json};

use crate::ReportInput;
use crate::figure::published::Guest;
use crate::figure::{self, Figure, option::figure_json};
use crate::measure::{BenchmarkFigures, benchmarks, last_attempts, startups};
use crate::summary::{Summary, summary_of};
use text::escape;

const STYLE: &str = include_str!("../../assets/report.css");
const SCRIPT: &str = include_str!("../../assets/report.js");
const METHOD: &str = include_str!("../../assets/method.html");
/// Apache ECharts with its licence in its first lines; see `vendor/echarts/README.md`.
const CHARTS: &str = include_str!("../../vendor/echarts/echarts.min.js");

/// The page.
#[must_use]
pub fn html(input: &ReportInput<'_>) -> String {
    let benchmarks = benchmarks(input.results);
    let startups = startups(input.results);
    let summary = summary_of(input, &benchmarks, &startups);
    let published = input.results.published.as_ref();
    let all = benchmarks.iter().chain(&startups);
    let guests: Vec<Vec<Guest<'_>>> = all
        .map(|benchmark| figure::published::guests(published, benchmark))
        .collect();
    let (of_loads, of_starts) = guests.split_at(benchmarks.len());
    let mut figures: Vec<Vec<Figure>> = Vec::new();
    for ((benchmark, summary), guests) in benchmarks.iter().zip(&summary.benchmarks).zip(of_loads) {
        figures.push(figure::all(benchmark, summary, guests));
    }
    let starts = startups.iter().zip(of_starts);
    figures.extend(starts.map(|(benchmark, guests)| figure::of_startup(benchmark, guests)));
    let mut html = head(input);
    html.push_str(&header(input));
    html.push_str("<main>\n");
    html.push_str(&answers(input, &summary));
    html.push_str(&figure_sections(&benchmarks, &startups, &summary, &figures));
    html.push_str(&published::section(input));
    html.push_str(&check_sections(&benchmarks));
    html.push_str(&context_sections(input, &benchmarks));
    html.push_str("</main>\n");
    html.push_str(&format!(
        "<footer><p>Made by bakeoff. Charts: Apache ECharts 6.1.0, Apache License 2.0.</p>\
         </footer>\n<script type=\"application/json\" id=\"data\">{}</script>\n\
         <script>{CHARTS}</script>\n<script>{SCRIPT}</script>\n</body>\n</html>\n",
        data(benchmarks.iter().chain(&startups), &figures, &guests)
    ));
    html
}

fn head(input: &ReportInput<'_>) -> String {
    let title = escape(input.title);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; base-uri 'none'; \
         form-action 'none'\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
    )
}

fn header(input: &ReportInput<'_>) -> String {
    let runs: Vec<_> = last_attempts(input.results).collect();
    let facts = runs.first().map_or_else(String::new, |first| {
        let host = &first.begin.host;
        let count = runs.len();
        let (cpu, cores, at) = (escape(&host.cpu_model), host.cores, escape(&first.begin.at));
        format!(
            "<p class=\"lead\">{count} run{} from {at}, on {cores} core{} of {cpu}.</p>\n",
            if count == 1 { "" } else { "s" },
            if cores == 1 { "" } else { "s" },
        )
    });
    format!(
        "<header>\n<div><h1>{}</h1>\n{facts}</div>\n\
         <button type=\"button\" id=\"theme\">Dark or light</button>\n\
         <nav aria-label=\"Sections\"><a href=\"#answer\">Answer</a>\
         <a href=\"#figures\">Figures</a>{}<a href=\"#checks\">Checks</a>\
         <a href=\"#environment\">Environment</a>\
         <a href=\"#validity\">Validity</a><a href=\"#runs\">Runs</a>{}{}\
         <a href=\"#method\">Method</a></nav>\n</header>\n",
        escape(input.title),
        match input.results.published {
            Some(_) => "<a href=\"#claims\">Claims</a>",
            None => "",
        },
        link(input.results.notes.as_deref(), "notes", "Notes"),
        link(input.results.analysis.as_deref(), "analysis", "Analysis"),
    )
}

fn link(text: Option<&str>, id: &str, name: &str) -> String {
    match text {
        Some(text) if !text.trim().is_empty() => format!("<a href=\"#{id}\">{name}</a>"),
        _ => String::new(),
    }
}

fn answers(input: &ReportInput<'_>, summary: &Summary) -> String {
    let mut html = "<section id=\"answer\">\n<h2>Answer</h2>\n".to_owned();
    if !summary.warnings.is_empty() {
        let item = |warning: &String| format!("<li>{}</li>", escape(warning));
        let items: String = summary.warnings.iter().map(item).collect();
        html.push_str(&format!("<ul class=\"warnings\">{items}</ul>\n"));
    }
    html.push_str(&rounds::section(input.results));
    html.push_str(&skipped(input));
    if summary.benchmarks.is_empty() && summary.startups.is_empty() {
        html.push_str("<p>There are no runs.</p>\n");
    }
    for (index, benchmark) in summary.benchmarks.iter().enumerate() {
        html.push_str(&answer::section(benchmark, index));
    }
    for (index, startup) in summary.startups.iter().enumerate() {
        let index = summary.benchmarks.len() + index;
        html.push_str(&startup::section(startup, index));
    }
    html + "</section>\n"
}

/// Contenders that this machine could not build, so that nobody thinks they were forgotten.
fn skipped(input: &ReportInput<'_>) -> String {
    if input.results.skipped.is_empty() {
        return String::new();
    }
    let item = |skipped: &String| format!("<li>{}</li>", escape(skipped));
    let items: String = input.results.skipped.iter().map(item).collect();
    format!("<h4 class=\"unfair\">Took no part</h4>\n<ul class=\"reasons\">{items}</ul>\n")
}

fn figure_sections(
    benchmarks: &[BenchmarkFigures<'_>],
    startups: &[BenchmarkFigures<'_>],
    summary: &Summary,
    figures: &[Vec<Figure>],
) -> String {
    let mut html = "<section id=\"figures\">\n<h2>Figures</h2>\n\
        <p class=\"hint\">One line for each run; runs of one contender share its colour. A hollow \
        point is not a fair number, a gap is a step that failed. Point at a figure for its values, \
        choose contenders above the figures. Dashed lines with crosses, named “published”, \
        are what others measured elsewhere.</p>\n\
        <noscript><p>The figures need JavaScript; the tables and results.csv do not.</p>\
        </noscript>\n"
        .to_owned();
    for (index, benchmark) in benchmarks.iter().chain(startups).enumerate() {
        html.push_str(&format!(
            "<section class=\"benchmark\">\n<h3>{}</h3>\n<p class=\"conditions\">{}</p>\n",
            escape(&benchmark.name),
            escape(&benchmark.conditions)
        ));
        html.push_str(&figures::section(index, &figures[index]));
        if let Some(summary) = summary.benchmarks.get(index) {
            html.push_str(&figures::cost(summary));
            html.push_str(&figures::warm_up(benchmark));
            html.push_str(&requests::section(benchmark));
            html.push_str(&pivot::section(benchmark, summary));
        }
        html.push_str("</section>\n");
    }
    html + "</section>\n"
}

fn check_sections(benchmarks: &[BenchmarkFigures<'_>]) -> String {
    let mut html =
        "<section id=\"checks\">\n<h2>Checks</h2>\n<p class=\"hint\">Over all runs; bold \
        is what differs from most contenders.</p>\n"
            .to_owned();
    for benchmark in benchmarks {
        html.push_str(&format!("<h3>{}</h3>\n", escape(&benchmark.name)));
        html.push_str(&checks::section(benchmark));
    }
    html + "</section>\n"
}

fn context_sections(input: &ReportInput<'_>, benchmarks: &[BenchmarkFigures<'_>]) -> String {
    let results = input.results;
    let mut html = format!(
        "<section id=\"environment\">\n<h2>Environment</h2>\n{}<h3>Contenders</h3>\n{}</section>\n\
         <section id=\"validity\">\n<h2>Validity</h2>\n<p class=\"hint\">The verdict on every \
         recorded interval with its evidence. A step is as good as its worst interval.</p>\n",
        context::environment(results),
        context::contenders(results)
    );
    for benchmark in benchmarks {
        html.push_str(&format!("<h3>{}</h3>\n", escape(&benchmark.name)));
        html.push_str(&context::validity(benchmark));
    }
    html.push_str(&format!(
        "</section>\n<section id=\"runs\">\n<h2>Runs in order</h2>\n{}</section>\n",
        context::order(results)
    ));
    let prose = [
        ("notes", "Notes", &results.notes),
        ("analysis", "Analysis", &results.analysis),
    ];
    for (id, name, text) in prose {
        if let Some(text) = text.as_ref().filter(|text| !text.trim().is_empty()) {
            html.push_str(&format!(
                "<section id=\"{id}\" class=\"prose\">\n<h2>{name}</h2>\n{}</section>\n",
                prose::render(text)
            ));
        }
    }
    html + METHOD
}

/// All figures as JSON that can stand inside a script element: `<` would be able to end it.
fn data<'b, 'r: 'b>(
    benchmarks: impl Iterator<Item = &'b BenchmarkFigures<'r>>,
    figures: &[Vec<Figure>],
    guests: &[Vec<Guest<'_>>],
) -> String {
    let list: Vec<Value> = benchmarks
        .zip(figures)
        .zip(guests)
        .map(|((benchmark, figures), guests)| {
            let guest = |guest: &Guest<'_>| json!({ "name": guest.name, "case": guest.case });
            json!({
                "name": benchmark.name,
                "conditions": benchmark.conditions,
                "cases": benchmark.cases.iter().map(|case| &case.label).collect::<Vec<_>>(),
                "published": guests.iter().map(guest).collect::<Vec<_>>(),
                "figures": figures.iter().map(figure_json).collect::<Vec<_>>(),
            })
        })
        .collect();
    json!({ "benchmarks": list })
        .to_string()
        .replace('<', "\\u003c")
}
