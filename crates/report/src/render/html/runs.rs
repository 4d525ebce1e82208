//! Every attempt in the order in which it was made, also those whose numbers are not used.

use bakeoff_model::record::{Outcome, Results, RunRecords};
use maud::{Markup, html};

use super::table::{self, Heading};

const HEADINGS: [Heading; 7] = [
    ("order", ""),
    ("started", ""),
    ("benchmark", ""),
    ("contender", ""),
    ("run", ""),
    ("attempt", ""),
    ("outcome", ""),
];

pub(super) fn table(results: &Results) -> Markup {
    html! {
        div.tools {}
        div.scroll.tall tabindex="0" {
            table.texts {
                (table::head(&HEADINGS))
                tbody { @for run in &results.runs { (line(run)) } }
            }
        }
    }
}

fn line(run: &RunRecords) -> Markup {
    let begin = &run.begin;
    html! {
        tr {
            td { (begin.run.order + 1) }
            td { (begin.at) }
            td { (begin.run.benchmark) }
            th scope="row" { (begin.run.process_label()) }
            td { (begin.run.repetition_text()) }
            td { (begin.attempt) }
            td.text {
                (outcome(run))
                @for note in run.end.iter().flat_map(|end| &end.notes) { small.note { (note) } }
            }
        }
    }
}

fn outcome(run: &RunRecords) -> Markup {
    html! {
        @match run.end.as_ref().map(|end| &end.outcome) {
            Some(Outcome::Completed) => "completed",
            Some(Outcome::Failed(failure)) => {
                span.bad { "failed at " (failure.stage) } ": " (failure.message)
            }
            Some(Outcome::Interrupted) => span.bad { "interrupted" },
            None => span.bad { "killed" },
        }
    }
}
