//! Benchmarks of cold starts: who starts how fast, and at what price.

use maud::{Markup, html};

use super::table::{self, Heading};
use super::{failures, ranks};
use bakeoff_analysis::comparison::rank_text;
use bakeoff_analysis::number::{significant, significant_or_dash};
use bakeoff_analysis::startup::{StartRow, StartupSummary};

const HEADINGS: [Heading; 15] = [
    ("#", ""),
    ("contender", ""),
    ("start-up s", "mean over starts, 95 % interval"),
    ("shortest", ""),
    ("median", ""),
    ("90 %", ""),
    ("longest", ""),
    ("create ms", "until the process or container exists"),
    ("exec ms", "until its own program begins"),
    ("listen ms", "until it accepts a connection"),
    ("respond ms", "until the first valid response"),
    ("CPU s", "until the first response"),
    ("MiB", "highest until the first response"),
    ("image MiB", ""),
    ("starts", "responded of begun"),
];

pub(super) fn section(summary: &StartupSummary, index: usize) -> Markup {
    let slowest = summary.rows.iter().map(|row| row.startup_s.point);
    let slowest = slowest.fold(0.0, f64::max);
    html! {
        section.benchmark id={ "results-" (index) } {
            h3 { (summary.name) }
            p.conditions { (summary.conditions) }
            @if !summary.rows.is_empty() {
                h4.fair { "Cold starts, fastest mean first" }
                (ranks::conclusions(&summary.conclusions))
                @let cells = summary.rows.iter().map(|row| cells(row, slowest)).collect();
                (table::filled("ranks", &HEADINGS, cells))
                p.hint {
                    "Every start is a fresh instance; files may be in the host's cache. Start-up \
                     runs from the beginning of the program to its first valid response; to create \
                     and to execute comes before that. Image: of the container image, or of the \
                     artifact where there is none (a JVM is not in it then). “=”: not \
                     significantly different from another of the rank. “≈”: equivalent to the \
                     others, within 3 %."
                }
            }
            @if !summary.unranked.is_empty() {
                h4.unfair { "Not ranked" }
                (failures::unranked(&summary.unranked))
            }
            (failures::failed_runs(&summary.failures))
        }
    }
}

fn cells(row: &StartRow, slowest: f64) -> Vec<Markup> {
    let phases = &row.phases;
    let phases = [
        phases.create_ms,
        phases.exec_ms,
        phases.listen_ms,
        phases.respond_ms,
    ];
    let mut cells = vec![
        html! { td.rank { (rank_text(row.rank, row.tie)) } },
        html! {
            th scope="row" {
                (row.label)
                @if let Some(note) = &row.note { small.note { (note) } }
                @if let Some((schedule_ms, pull_ms)) = row.phases.pod_ms {
                    small.note {
                        "scheduled after " (significant(schedule_ms)) " ms, its image pulled in "
                        (significant(pull_ms)) " ms"
                    }
                }
            }
        },
        html! {
            td {
                (table::bar(row.startup_s.point, slowest))
                (table::estimate(&row.startup_s))
            }
        },
    ];
    let times = row.spread_s.into_iter().chain(phases);
    cells.extend(times.map(|time| html! { td { (significant(time)) } }));
    let others = [
        html! { @match &row.cpu_s { Some(cpu) => (table::estimate(cpu)), None => "–" } },
        html! { (significant_or_dash(row.memory_mib)) },
        html! { (significant_or_dash(row.image_mib)) },
        table::fraction(row.starts, row.starts_begun),
    ];
    cells.extend(others.map(|content| html! { td { (content) } }));
    cells
}
