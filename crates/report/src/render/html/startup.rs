//! Benchmarks of cold starts: how fast each contender starts, and at what price.

use maud::{Markup, html};

use super::{failures, ranks, table};
use crate::render::table::starts;
use bakeoff_analysis::benchmarks::startup::StartupSummary;

pub(super) fn section(summary: &StartupSummary, index: usize) -> Markup {
    html! {
        section.benchmark id={ "results-" (index) } {
            h3 { (summary.name) }
            p.conditions { (summary.conditions) }
            @if !summary.rows.is_empty() {
                h4.fair { "Cold starts, fastest mean first" }
                (ranks::conclusions(&summary.conclusions))
                (table::of("ranks", &starts::table(&summary.rows)))
                p.hint {
                    "Every start is a fresh instance; files may be in the host's cache. Start-up \
                     runs from the start of the program to its first valid response; to create \
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
