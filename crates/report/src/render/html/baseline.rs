//! Head against base, first of all results.

use maud::{Markup, html};

use crate::render::baseline::{FIGURES, range, remarks, title, verdict};
use bakeoff_analysis::Analysis;
use bakeoff_analysis::baseline::{AgainstBase, Change};
use bakeoff_analysis::data::number::{change_text, significant};

/// Empty without a baseline.
pub(super) fn section(analysis: &Analysis<'_>) -> Markup {
    html! {
        @if let Some(all) = &analysis.against_base { (found(all)) }
    }
}

fn found(all: &AgainstBase) -> Markup {
    html! {
        h3 id="baseline" { "Against the baseline " (all.baseline.describe()) }
        p { b { (verdict(all)) } "." }
        ul.reasons {
            @for (mark, sentence) in remarks(all) { li { b { (mark) } ": " (sentence) } }
        }
        div.scroll {
            table {
                thead {
                    tr {
                        th { "benchmark" }
                        th { "contender" }
                        @for figure in FIGURES { th.number { (title(figure)) } }
                    }
                }
                tbody {
                    @for case in &all.cases {
                        tr {
                            td.text { (case.benchmark) }
                            td.text { (case.label) }
                            @for figure in FIGURES { td.number { (cell(case.change(figure))) } }
                        }
                    }
                }
            }
        }
        p.hint {
            "Base → head, then head over base in percent with its 95 % interval. Below, base and \
             head are contenders like others."
        }
    }
}

fn cell(change: Option<&Change>) -> Markup {
    html! {
        @match change {
            None => "–",
            Some(change) => {
                (significant(change.base)) " → " (significant(change.head.point))
                br;
                b { (change_text(change.ratio.point)) " %" } " " span.detail { (range(change)) }
            }
        }
    }
}
