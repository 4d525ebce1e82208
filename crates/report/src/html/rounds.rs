//! Who won which qualification round and why, with links to the rounds' own reports.

use bakeoff_model::record::{Qualification, Results};

use crate::html::text::escape;

/// Empty when no round was involved.
pub(crate) fn section(results: &Results) -> String {
    if results.qualifications.is_empty() {
        return String::new();
    }
    let own = |one: &&Qualification| results.round.as_deref() == Some(one.round.as_str());
    let title = match results.qualifications.iter().all(|one| own(&one)) {
        true => "The winner of this round",
        false => "Winners of the qualification rounds",
    };
    let items: String = results.qualifications.iter().map(item).collect();
    format!("<h3 id=\"rounds\">{title}</h3>\n<ul class=\"rounds\">\n{items}</ul>\n")
}

fn item(one: &Qualification) -> String {
    let name = escape(&one.round);
    let name = match one.folder.as_str() {
        "" => format!("<b>{name}</b>"),
        // The page is in `report/`, one below its results folder.
        folder => format!(
            "<a href=\"../{}/report/index.html\">{name}</a>",
            escape(folder)
        ),
    };
    let winner = one.winner.as_ref().map_or_else(
        || "<span class=\"bad\">nobody</span>".to_owned(),
        |winner| format!("<b>{}</b>", escape(&winner.label())),
    );
    let reasons: String = one
        .reasons
        .iter()
        .map(|reason| format!("<li>{}</li>", escape(reason)))
        .collect();
    format!(
        "<li>{name}: {winner} <span class=\"detail\">by {} on {}</span>\
         <ul class=\"hint\">{reasons}</ul></li>\n",
        escape(&one.rule),
        escape(&one.benchmark)
    )
}
