//! The answer: who beats whom, and the ranked tables.

use bakeoff_model::record::Validity;
use bakeoff_stats::{Better, Comparison, Criteria, Estimate, Verdict, compare};

use crate::html::text::escape;
use crate::number::{figures, figures_or_dash, range, spread};
use crate::summary::{BenchmarkSummary, FailedRun, RankTable, Row, Unranked};
use crate::words::{self, Answer};

/// More verdicts than this are folded away behind the first ones.
const ANSWERS_OPEN: usize = 6;

pub(crate) fn section(summary: &BenchmarkSummary, index: usize) -> String {
    let mut html = format!(
        "<section class=\"benchmark\" id=\"answer-{index}\">\n<h3>{}</h3>\n\
         <p class=\"conditions\">{}</p>\n",
        escape(&summary.name),
        escape(&summary.conditions)
    );
    for table in &summary.tables {
        html.push_str(&rank_table(table));
    }
    html.push_str(&unranked(&summary.unranked));
    html.push_str(&failures(&summary.failures));
    html + "</section>\n"
}

fn rank_table(table: &RankTable) -> String {
    let class = if table.validity == "fair" {
        "fair"
    } else {
        "unfair"
    };
    let mut html = format!("<h4 class=\"{class}\">{}</h4>\n", escape(&table.title));
    html.push_str(&answers(&words::answers(table)));
    let best = table.rows.first().map_or(1.0, |row| row.throughput.point);
    let rows: String = table.rows.iter().map(|row| ranked_row(row, best)).collect();
    html.push_str(&format!("{}{rows}</tbody></table></div>\n", head()));
    if table.rows.iter().any(|row| row.tied) {
        html.push_str(
            "<p class=\"hint\">“=”: the runs do not tell these apart; their order in the table \
             is no finding.</p>\n",
        );
    }
    html + &evidence(&table.rows) + &pairs(table)
}

pub(crate) fn answers(answers: &[Answer]) -> String {
    let item = |answer: &Answer| {
        format!(
            "<li class=\"{}\"><b>{}</b> {} <b>{}</b> <span class=\"detail\">{}</span> \
             <em>{}</em> <span class=\"detail\">{}</span></li>\n",
            answer.verdict,
            escape(&answer.first),
            escape(&answer.middle),
            escape(&answer.second),
            escape(&answer.detail),
            answer.verdict,
            escape(&answer.price)
        )
    };
    if answers.is_empty() {
        return String::new();
    }
    let (open, folded) = answers.split_at(answers.len().min(ANSWERS_OPEN));
    let open: String = open.iter().map(item).collect();
    let mut html = format!("<ul class=\"answers\">\n{open}</ul>\n");
    if !folded.is_empty() {
        let count = folded.len();
        let folded: String = folded.iter().map(item).collect();
        html.push_str(&format!(
            "<details><summary>{count} more</summary><ul class=\"answers\">{folded}</ul>\
             </details>\n"
        ));
    }
    html
}

fn head() -> &'static str {
    "<div class=\"scroll\"><table class=\"ranks\"><thead><tr>\
     <th scope=\"col\">#</th><th scope=\"col\">contender</th>\
     <th scope=\"col\" title=\"mean over runs at the best step, 95 % interval\">requests/s</th>\
     <th scope=\"col\" title=\"connections or rate of that step\">at</th>\
     <th scope=\"col\" title=\"at that step, all runs merged\">p50 ms</th>\
     <th scope=\"col\" title=\"at that step, all runs merged\">p99 ms</th>\
     <th scope=\"col\" title=\"over the measured steps\">CPU µs/request</th>\
     <th scope=\"col\" title=\"start-up, checks and warm-up included\">whole life</th>\
     <th scope=\"col\">max MiB</th><th scope=\"col\">start-up s</th>\
     <th scope=\"col\">errors</th><th scope=\"col\">checks</th>\
     <th scope=\"col\">lifecycle</th><th scope=\"col\" title=\"completed of begun\">runs</th>\
     </tr></thead><tbody>\n"
}

fn ranked_row(row: &Row, best: f64) -> String {
    let rank = match row.rank {
        0 => "–".to_owned(),
        rank => format!("{rank}{}", if row.tied { "=" } else { "" }),
    };
    let note = row.note.as_ref().map_or_else(String::new, |note| {
        format!("<small class=\"note\">{}</small>", escape(note))
    });
    let share = if best > 0.0 {
        (row.throughput.point / best * 100.0).min(100.0)
    } else {
        0.0
    };
    let throughput = format!(
        "<span class=\"bar\" style=\"--share:{share:.1}%\"></span>{}",
        estimate(&row.throughput)
    );
    let optional = |value: &Option<Estimate>| value.as_ref().map_or("–".to_owned(), estimate);
    let cells = [
        throughput,
        escape(&row.step),
        figures_or_dash(row.p50_ms),
        figures_or_dash(row.p99_ms),
        optional(&row.cpu_us),
        optional(&row.cpu_us_whole),
        figures_or_dash(row.memory_mib),
        optional(&row.startup_s),
        errors(row),
        fraction(row.checks.good, row.checks.total),
        fraction(row.lifecycle.good, row.lifecycle.total),
        fraction(row.runs, row.runs_begun),
    ];
    let cells: String = cells
        .iter()
        .map(|cell| format!("<td>{cell}</td>"))
        .collect();
    format!(
        "<tr><td class=\"rank\">{rank}</td><th scope=\"row\">{}{}{note}</th>{cells}</tr>\n",
        escape(&row.label),
        badge(&row.validity)
    )
}

pub(crate) fn estimate(estimate: &Estimate) -> String {
    let point = figures(estimate.point);
    if estimate.interval.is_none() {
        return format!("<b>{point}</b>");
    }
    format!(
        "<b>{point}</b> <small title=\"95 % interval {}\">{}</small>",
        range(estimate),
        spread(estimate)
    )
}

fn errors(row: &Row) -> String {
    if row.errors == 0 {
        return "0".to_owned();
    }
    let percent = figures(row.error_share * 100.0);
    format!(
        "<span class=\"bad\">{}</span> <small>{percent} %</small>",
        row.errors
    )
}

/// `33/33`; nothing to count is a dash, less than all is marked.
pub(crate) fn fraction(good: usize, total: usize) -> String {
    match (good, total) {
        (_, 0) => "–".to_owned(),
        (good, total) if good == total => format!("{good}/{total}"),
        (good, total) => format!("<span class=\"bad\">{good}/{total}</span>"),
    }
}

/// The worst evidence behind each row that is not fair.
fn evidence(rows: &[Row]) -> String {
    let unfair = rows.iter().filter(|row| row.validity != Validity::Fair);
    let item = |row: &Row| {
        format!(
            "<li>{}: {} at {}, because {}</li>\n",
            escape(&row.label),
            row.validity.name(),
            escape(&row.step),
            escape(row.validity.evidence())
        )
    };
    let items: String = unfair.map(item).collect();
    if items.is_empty() {
        return items;
    }
    format!(
        "<details><summary>Why these are not fair numbers</summary><ul>{items}</ul></details>\n"
    )
}

/// The verdict as a badge; what is fair needs none.
fn badge(validity: &Validity) -> String {
    let class = match validity {
        Validity::Fair => return String::new(),
        Validity::Invalid { .. } => "invalid",
        _ => "bound",
    };
    let (name, evidence) = (validity.name(), escape(validity.evidence()));
    format!(" <span class=\"badge {class}\" title=\"{evidence}\">{name}</span>")
}

/// Everybody against everybody: throughput and CPU per request.
fn pairs(table: &RankTable) -> String {
    if table.rows.len() < 2 {
        return String::new();
    }
    let throughput = pair_table(table, "requests/s", |a, b| {
        let (a, b) = (&a.samples.throughput, &b.samples.throughput);
        Some(compare(a, b, &Criteria::new(Better::Higher)))
    });
    let cpu = pair_table(table, "CPU per request", |a, b| {
        let (a, b) = (a.samples.cpu_us.as_ref()?, b.samples.cpu_us.as_ref()?);
        Some(compare(a, b, &Criteria::new(Better::Lower)))
    });
    format!(
        "<details class=\"pairs\"><summary>Everybody against everybody</summary>\
         <p class=\"hint\">Row divided by column, with the 95 % interval. ▲ the row is better, \
         ▼ worse, ≈ equivalent within 3 %, ? the runs do not tell.</p>{throughput}{cpu}</details>\n"
    )
}

fn pair_table(
    table: &RankTable,
    title: &str,
    comparison: impl Fn(&Row, &Row) -> Option<Comparison>,
) -> String {
    let label = |row: &Row| format!("<th scope=\"col\">{}</th>", escape(&row.label));
    let heads: String = table.rows.iter().map(label).collect();
    let mut rows = String::new();
    for (line, row) in table.rows.iter().enumerate() {
        let cell = |(column, other): (usize, &Row)| {
            if line == column {
                return "<td></td>".to_owned();
            }
            comparison(row, other).map_or("<td>–</td>".to_owned(), |found| pair_cell(&found))
        };
        let cells: String = table.rows.iter().enumerate().map(cell).collect();
        rows.push_str(&format!(
            "<tr><th scope=\"row\">{}</th>{cells}</tr>\n",
            escape(&row.label)
        ));
    }
    format!(
        "<div class=\"scroll\"><table class=\"matrix\"><caption>{title}</caption><thead>\
         <tr><td></td>{heads}</tr></thead><tbody>{rows}</tbody></table></div>\n"
    )
}

fn pair_cell(comparison: &Comparison) -> String {
    let mark = match comparison.verdict {
        Verdict::Faster => "▲",
        Verdict::Slower => "▼",
        Verdict::Equivalent => "≈",
        Verdict::Inconclusive => "?",
    };
    let chance = comparison.p_value.map_or_else(String::new, |p| {
        format!(" title=\"permutation test: p = {}\"", figures(p))
    });
    format!(
        "<td class=\"{}\"{chance}>{} {mark} <small>{}</small></td>",
        comparison.verdict.name(),
        words::ratio_figures(comparison.ratio.point),
        range(&comparison.ratio)
    )
}

pub(crate) fn unranked(list: &[Unranked]) -> String {
    if list.is_empty() {
        return String::new();
    }
    let item = |unranked: &Unranked| {
        format!(
            "<li><b>{}</b>: {}</li>\n",
            escape(&unranked.label),
            escape(&unranked.reason)
        )
    };
    let items: String = list.iter().map(item).collect();
    let measured: Vec<&Row> = list
        .iter()
        .filter_map(|unranked| unranked.row.as_ref())
        .collect();
    let best = measured
        .iter()
        .map(|row| row.throughput.point)
        .fold(0.0, f64::max);
    let rows: String = measured.iter().map(|row| ranked_row(row, best)).collect();
    let table = if rows.is_empty() {
        String::new()
    } else {
        format!(
            "<p class=\"hint\">Their figures all the same:</p>{}{rows}</tbody></table></div>\n",
            head()
        )
    };
    format!("<h4 class=\"unfair\">Not ranked</h4>\n<ul class=\"reasons\">\n{items}</ul>\n{table}")
}

pub(crate) fn failures(list: &[FailedRun]) -> String {
    if list.is_empty() {
        return String::new();
    }
    let item = |failure: &FailedRun| {
        let evidence = if failure.evidence.trim().is_empty() {
            String::new()
        } else {
            format!(
                "<details><summary>evidence</summary><pre>{}</pre></details>",
                escape(&failure.evidence)
            )
        };
        format!(
            "<li><b>{}</b> {}, at {}: {}{evidence}</li>\n",
            escape(&failure.label),
            failure.runs_words(),
            escape(&failure.stage),
            escape(&failure.message)
        )
    };
    let items: String = list.iter().map(item).collect();
    format!("<h4 class=\"unfair\">Failed runs</h4>\n<ul class=\"reasons\">\n{items}</ul>\n")
}
