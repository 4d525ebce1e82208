//! The winner of each qualification round and why, a folded line each, with links to the rounds'
//! own reports.

use bakeoff_model::record::Qualification;
use maud::{Markup, html};

use bakeoff_analysis::Analysis;

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
            div.rounds { @for one in all { (item(one)) } }
        }
    }
}

fn item(one: &Qualification) -> Markup {
    html! {
        details {
            summary {
                (one.round) ": "
                @match &one.winner {
                    Some(winner) => b { (winner.label()) },
                    None => span.bad { "no winner" },
                }
                " " span.detail { "by " (one.rule) " on " (one.benchmark) }
            }
            ul.hint {
                @for reason in &one.reasons { li { (reason) } }
                @if !one.folder.is_empty() {
                    // The page is in `report/`, one below its results folder.
                    li {
                        a href={ "../" (one.folder) "/report/index.html" } {
                            "The report of " (one.round)
                        }
                    }
                }
            }
        }
    }
}
