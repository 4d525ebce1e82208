//! Two sessions against each other as one page: a sentence, a chart of ratios, the table.

use bakeoff_stats::Verdict;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::table::{self, Heading};
use super::{POLICY, STYLE};
use crate::chart::svg::{self, Drawing};
use crate::chart::{Axis, Chart, Point, Scale, Series, Shape};
use bakeoff_analysis::data::number::{
    change_text, count, counted, enumerated, range, ratio_text, significant,
};
use bakeoff_analysis::outcome::sessions::Compared;

/// Sorting, filtering and copying; there is nothing else that moves on this page.
const SCRIPT: &str = include_str!("../../../assets/tables.js");

const HEADINGS: [Heading; 8] = [
    ("benchmark", ""),
    ("contender", ""),
    ("metric", ""),
    ("first", "mean over runs"),
    ("second", "mean over runs"),
    ("second over first", "with its 95 % interval"),
    ("verdict", ""),
    ("validity", "where not both are fair"),
];

/// The page of a comparison. `names` are those of the sessions, `differences` the conditions in
/// which they differ although they were compared.
#[must_use]
pub fn comparison(all: &[Compared], names: [&str; 2], differences: &[String]) -> String {
    let [first, second] = names;
    let title = format!("{second} against {first}");
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                title { (title) }
                style { (PreEscaped(svg::STYLE)) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header { div { h1 { (title) } } }
                main {
                    @if !differences.is_empty() {
                        p.bad { "Not comparable, compared all the same:" }
                        ul.warnings { @for one in differences { li { (one) } } }
                    }
                    p.answer { (sentence(all)) }
                    p.hint {
                        "Each case that both sessions have, as its number in " b { (second) }
                        " over that in " b { (first) } ". The sessions were at different times, so \
                         what the host did then is in every ratio; for a verdict on a change \
                         measure both in one session: "
                        code { "bakeoff run --baseline" } "."
                    }
                    @if !all.is_empty() {
                        @let chart = chart(all);
                        section {
                            h2 { (chart.title) }
                            p.hint { (chart.note) }
                            div.chart role="img" aria-label=(chart.title) {
                                (Drawing::of_page(&chart).inline())
                            }
                        }
                        (numbers(all))
                    }
                }
                footer { p { "Made by bakeoff." } }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

/// `Of 4 numbers 1 is better, 1 is worse and 2 are not significantly different.`
fn sentence(all: &[Compared]) -> String {
    let with = |verdict: Verdict| {
        all.iter()
            .filter(|one| one.comparison.verdict == verdict)
            .count()
    };
    let parts = [
        (Verdict::Faster, "better"),
        (Verdict::Slower, "worse"),
        (Verdict::Equivalent, "equivalent"),
        (Verdict::Inconclusive, "not significantly different"),
        (Verdict::Void, "void"),
    ];
    let parts = parts
        .map(|(verdict, name)| (with(verdict), name))
        .into_iter();
    let parts: Vec<String> = parts
        .filter(|(count, _)| *count > 0)
        .map(|(count, name)| format!("{count} {} {name}", if count == 1 { "is" } else { "are" }))
        .collect();
    match all.is_empty() {
        true => "The sessions have no case in common that both could measure.".to_owned(),
        false => format!(
            "Of {} {}.",
            counted(all.len(), "number"),
            enumerated(&parts)
        ),
    }
}

/// Ratios in percent with their intervals, a row for each.
fn chart(all: &[Compared]) -> Chart {
    let name = |one: &Compared| format!("{}: {}", one.label, one.metric);
    let metrics: Vec<&str> = all.iter().map(|one| one.metric).collect();
    let colour = |metric: &str| metrics.iter().position(|one| *one == metric).unwrap_or(0);
    let rows = all.iter().rev().enumerate();
    let series = rows.map(|(row, one)| {
        let ratio = &one.comparison.ratio;
        let mut point = Point::new(ratio.point * 100.0, Some(count(row)));
        point.interval = ratio
            .interval
            .map(|ends| (ends.low * 100.0, ends.high * 100.0));
        point.fair = one.caveat.is_empty();
        Series {
            case: colour(one.metric),
            name: name(one),
            run: None,
            published: false,
            points: vec![point],
        }
    });
    let axis = |name: &str, scale| Axis {
        name: name.to_owned(),
        scale,
    };
    Chart {
        id: "comparison",
        title: "The second session in percent of the first".to_owned(),
        note: "Ratios with their 95 % intervals. Hollow: not both numbers are fair.",
        shape: Shape::Estimates,
        series: series.collect(),
        x: axis("% of the first", Scale::Linear),
        y: axis("", Scale::Categories(all.iter().rev().map(name).collect())),
    }
}

fn numbers(all: &[Compared]) -> Markup {
    table::framed(
        "matrix",
        &html! {
            (table::head(&HEADINGS))
            tbody { @for one in all { (line(one)) } }
        },
    )
}

fn line(one: &Compared) -> Markup {
    let ratio = &one.comparison.ratio;
    let verdict = match one.comparison.verdict {
        Verdict::Faster => "better",
        Verdict::Slower => "worse",
        other => other.name(),
    };
    html! {
        tr {
            td.text { (one.benchmark) }
            th scope="row" { (one.label) }
            td.text { (one.metric) }
            td { (significant(one.first)) }
            td { (significant(one.second)) }
            td {
                b { (ratio_text(ratio.point)) } " (" (change_text(ratio.point)) " %) "
                small { (range(ratio)) }
            }
            td class=(one.comparison.verdict.name()) { (verdict) }
            td.text { (one.caveat) }
        }
    }
}
