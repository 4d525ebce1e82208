//! What others published: their claims with our verdicts, and their figures in a table of their
//! own. Nothing of it is in the tables of the answer.

use bakeoff_model::published::{Published, PublishedResult, Source};

use crate::ReportInput;
use crate::claims::{ClaimRow, ClaimVerdict, claims, limits_differ, limits_words};
use crate::html::text::escape;
use crate::number::{figures, figures_or_dash};

/// Empty when nothing was published.
pub(crate) fn section(input: &ReportInput<'_>) -> String {
    let Some(published) = &input.results.published else {
        return String::new();
    };
    let mut html = "<section id=\"claims\">\n<h2>Claims of others</h2>\n".to_owned();
    html.push_str(&sources(published));
    let limits = limits_differ(input);
    if !limits.is_empty() {
        html.push_str(&format!("<p>{limits}</p>\n"));
    }
    html.push_str(&claims_table(&claims(input)));
    if !published.results.is_empty() {
        html.push_str(
            "<h3>Published figures</h3>\n<p class=\"hint\">Under the sources’ conditions, not \
             ours: for shapes and ratios, not for the numbers. In the figures above they are \
             dashed and end in “published”.</p>\n",
        );
        html.push_str(&results_table(&published.results));
    }
    html + "</section>\n"
}

fn sources(published: &Published) -> String {
    let item = |source: &Source| {
        format!(
            "<li>{}: “{}”, {}. <span class=\"detail\">{}. {}</span></li>\n",
            escape(&source.author),
            escape(&source.title),
            escape(&source.date),
            limits_words(&source.limits),
            escape(&source.conditions)
        )
    };
    let items: String = published.sources.iter().map(item).collect();
    format!("<ul class=\"rounds\">{items}</ul>\n")
}

fn claims_table(rows: &[ClaimRow]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let count = |verdict| rows.iter().filter(|row| row.verdict == verdict).count();
    let counts = [
        ClaimVerdict::Reproduced,
        ClaimVerdict::NotReproduced,
        ClaimVerdict::Undecided,
        ClaimVerdict::NotTestable,
    ]
    .map(|verdict| format!("{} {}", count(verdict), verdict.name()));
    let body: String = rows.iter().map(claim_row).collect();
    format!(
        "<p>{}.</p>\n<p class=\"hint\">Reproduced: the whole 95 % interval of what we measured \
         lies where the claim says; not reproduced: the whole interval lies elsewhere; undecided: \
         it lies on both sides. Compared are runs of one session only.</p>\n\
         <div class=\"scroll\"><table class=\"texts claims\"><thead><tr>\
         <th scope=\"col\">claim</th><th scope=\"col\">verdict</th>\
         <th scope=\"col\">measured here</th><th scope=\"col\">holds when</th>\
         </tr></thead><tbody>\n{body}</tbody></table></div>\n",
        counts.join(", ")
    )
}

fn claim_row(row: &ClaimRow) -> String {
    let class = match row.verdict {
        ClaimVerdict::Reproduced => "good",
        ClaimVerdict::NotReproduced => "bad",
        ClaimVerdict::Undecided => "doubt",
        ClaimVerdict::NotTestable => "none",
    };
    let why = match row.why.as_str() {
        "" => String::new(),
        why => format!("<small class=\"note\">{}</small>", escape(why)),
    };
    let round = match row.folder.as_str() {
        "" => String::new(),
        folder => format!(
            " <small>in <a href=\"../{0}/report/index.html\">{0}</a></small>",
            escape(folder)
        ),
    };
    let measured = match row.measured.as_str() {
        "" => "–".to_owned(),
        measured => escape(measured),
    };
    format!(
        "<tr><th scope=\"row\">{}<small class=\"note\">{}</small></th>\
         <td class=\"{class}\"><b>{}</b>{why}</td><td>{measured}{round}</td><td>{}</td></tr>\n",
        escape(&row.text),
        escape(&row.source),
        row.verdict.name(),
        escape(&row.expected)
    )
}

fn results_table(results: &[PublishedResult]) -> String {
    let row = |one: &PublishedResult| {
        let peak = one.peak.map_or_else(
            || "<td>–</td><td>–</td>".to_owned(),
            |(throughput, at)| format!("<td>{}</td><td>{at}</td>", figures(throughput)),
        );
        let p99 = |at: u32| figures_or_dash(one.p99_ms.get(&at).copied());
        format!(
            "<tr><th scope=\"row\">{}</th><td class=\"text\">{}</td>{peak}<td>{}</td><td>{}</td>\
             <td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
            escape(&one.name),
            escape(&one.benchmark),
            p99(64),
            p99(256),
            figures_or_dash(one.cpu_us_whole),
            figures_or_dash(one.memory_start_mib),
            figures_or_dash(one.memory_end_mib),
            figures_or_dash(one.startup_s),
        )
    };
    let body: String = results.iter().map(row).collect();
    format!(
        "<div class=\"scroll\"><table><thead><tr><th scope=\"col\">published</th>\
         <th scope=\"col\" class=\"text\">benchmark</th><th scope=\"col\">requests/s</th>\
         <th scope=\"col\">at</th><th scope=\"col\">p99 ms at 64</th>\
         <th scope=\"col\">p99 ms at 256</th><th scope=\"col\">CPU µs/request, whole life</th>\
         <th scope=\"col\">MiB before load</th><th scope=\"col\">MiB at the end</th>\
         <th scope=\"col\">start-up s</th></tr></thead><tbody>\n{body}</tbody></table></div>\n"
    )
}
