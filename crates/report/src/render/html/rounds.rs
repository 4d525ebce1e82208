//! Who won which qualification round and why, with links to the rounds' own reports.

use bakeoff_model::record::Qualification;
use maud::{Markup, html};

use crate::analysis::Analysis;

/// Empty when no round was involved.
pub(super) fn section(analysis: &Analysis<'_>) -> Markup {
    let own = |one: &Qualification| analysis.results.round.as_ref() == Some(&one.round);
    let all = &analysis.qualifications;
    html! {
        @if !all.is_empty() {
            h3 id="rounds" {
                @if all.iter().all(own) {
                    "The winner of this round"
                } @else {
                    "Winners of the qualification rounds"
                }
            }
            ul.rounds { @for one in all { (item(one)) } }
        }
    }
}

fn item(one: &Qualification) -> Markup {
    html! {
        li {
            // The page is in `report/`, one below its results folder.
            @match one.folder.as_str() {
                "" => b { (one.round) },
                folder => a href={ "../" (folder) "/report/index.html" } { (one.round) },
            }
            ": "
            @match &one.winner {
                Some(winner) => b { (winner.label()) },
                None => span.bad { "no winner" },
            }
            " " span.detail { "by " (one.rule) " on " (one.benchmark) }
            ul.hint { @for reason in &one.reasons { li { (reason) } } }
        }
    }
}
