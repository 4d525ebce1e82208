//! The answer of benchmarks of kind `startup`: who starts how fast, and at what price.

use crate::html::answer;
use crate::html::text::escape;
use crate::number::{figures, figures_or_dash};
use crate::startup::{StartRow, StartupSummary};
use crate::words;

pub(crate) fn section(summary: &StartupSummary, index: usize) -> String {
    let mut html = format!(
        "<section class=\"benchmark\" id=\"answer-{index}\">\n<h3>{}</h3>\n\
         <p class=\"conditions\">{}</p>\n",
        escape(&summary.name),
        escape(&summary.conditions)
    );
    if !summary.rows.is_empty() {
        html.push_str("<h4 class=\"fair\">Cold starts, fastest mean first</h4>\n");
        html.push_str(&answer::answers(&words::startup_answers(&summary.rows)));
        html.push_str(&table(&summary.rows));
        html.push_str(
            "<p class=\"hint\">Every start is a fresh instance; files may be in the host's cache. \
             Start-up runs from the beginning of the program to its first valid answer; to create \
             and to execute comes before that. Image: of the container image, or of the artifact \
             where there is none (a JVM is not in it then). “=”: the starts do not tell these \
             apart.</p>\n",
        );
    }
    html.push_str(&answer::unranked(&summary.unranked));
    html.push_str(&answer::failures(&summary.failures));
    html + "</section>\n"
}

fn table(rows: &[StartRow]) -> String {
    let slowest = rows
        .iter()
        .map(|row| row.startup_s.point)
        .fold(0.0, f64::max);
    let body: String = rows.iter().map(|row| line(row, slowest)).collect();
    format!(
        "<div class=\"scroll\"><table class=\"ranks\"><thead><tr>\
         <th scope=\"col\">#</th><th scope=\"col\">contender</th>\
         <th scope=\"col\" title=\"mean over starts, 95 % interval\">start-up s</th>\
         <th scope=\"col\">shortest</th><th scope=\"col\">median</th>\
         <th scope=\"col\">90 %</th><th scope=\"col\">longest</th>\
         <th scope=\"col\" title=\"until the process or container exists\">create ms</th>\
         <th scope=\"col\" title=\"until its own program begins\">exec ms</th>\
         <th scope=\"col\" title=\"until it accepts a connection\">listen ms</th>\
         <th scope=\"col\" title=\"until the first valid answer\">answer ms</th>\
         <th scope=\"col\" title=\"until the first answer\">CPU s</th>\
         <th scope=\"col\" title=\"highest until the first answer\">MiB</th>\
         <th scope=\"col\">image MiB</th>\
         <th scope=\"col\" title=\"answered of begun\">starts</th>\
         </tr></thead><tbody>\n{body}</tbody></table></div>\n"
    )
}

fn line(row: &StartRow, slowest: f64) -> String {
    let note = row.note.as_ref().map_or_else(String::new, |note| {
        format!("<small class=\"note\">{}</small>", escape(note))
    });
    let share = if slowest > 0.0 {
        (row.startup_s.point / slowest * 100.0).min(100.0)
    } else {
        0.0
    };
    let phases = &row.phases;
    let mut cells = vec![format!(
        "<span class=\"bar\" style=\"--share:{share:.1}%\"></span>{}",
        answer::estimate(&row.startup_s)
    )];
    cells.extend(row.spread_s.map(figures));
    cells.extend(
        [
            phases.create_ms,
            phases.exec_ms,
            phases.listen_ms,
            phases.answer_ms,
        ]
        .map(figures),
    );
    let cpu = row.cpu_s.as_ref();
    cells.push(cpu.map_or_else(|| "–".to_owned(), answer::estimate));
    cells.push(figures_or_dash(row.memory_mib));
    cells.push(figures_or_dash(row.image_mib));
    cells.push(answer::fraction(row.starts, row.starts_begun));
    let cells: String = cells
        .iter()
        .map(|cell| format!("<td>{cell}</td>"))
        .collect();
    let tie = if row.tied { "=" } else { "" };
    format!(
        "<tr><td class=\"rank\">{}{tie}</td><th scope=\"row\">{}{note}</th>{cells}</tr>\n",
        row.rank,
        escape(&row.label)
    )
}
