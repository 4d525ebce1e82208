//! The figures of a benchmark, the price of its requests, and when its contenders were warm.

use bakeoff_stats::{SteadyState, steady_state};

use crate::figure::Figure;
use crate::figure::curves::warm_up_slices;
use crate::html::text::escape;
use crate::measure::{BenchmarkFigures, RunFigures};
use crate::number::{figures, seconds};
use crate::summary::{BenchmarkSummary, Row};

/// Dollars for one CPU for one hour, as the cost table begins with.
pub(crate) const PRICE: f64 = 0.0275;

/// A change of level below this is none when warm-up is looked for.
const WARM_RELEVANCE: f64 = 0.03;

/// Places for the figures; the script draws into them when they come into view.
pub(crate) fn section(benchmark: usize, figures: &[Figure]) -> String {
    let mut html = format!(
        "<div class=\"legend\" data-benchmark=\"{benchmark}\" role=\"group\" \
         aria-label=\"Contenders shown\"></div>\n<div class=\"figures\">\n"
    );
    for (index, figure) in figures.iter().enumerate() {
        let title = escape(&figure.title);
        html.push_str(&format!(
            "<figure id=\"b{benchmark}-{}\"><figcaption><h4>{title}</h4><p>{}</p></figcaption>\
             <div class=\"chart\" data-benchmark=\"{benchmark}\" data-figure=\"{index}\" \
             role=\"img\" aria-label=\"{title}\"></div>\
             <details class=\"data\" data-benchmark=\"{benchmark}\" data-figure=\"{index}\">\
             <summary>Data</summary></details></figure>\n",
            figure.id,
            escape(figure.note)
        ));
    }
    html + "</div>\n"
}

/// What a milliard of requests costs. The page recomputes it for another price.
pub(crate) fn cost(summary: &BenchmarkSummary) -> String {
    let mut rows: Vec<&Row> = summary.rows().filter(|row| row.cpu_us.is_some()).collect();
    if rows.is_empty() {
        return String::new();
    }
    let point = |row: &Row| row.cpu_us.map_or(f64::INFINITY, |cpu| cpu.point);
    rows.sort_by(|a, b| point(a).total_cmp(&point(b)));
    let body: String = rows.iter().map(|row| cost_row(row)).collect();
    format!(
        "<h4>What 10<sup>9</sup> requests cost</h4>\n\
         <p><label>$ <input class=\"price\" type=\"number\" min=\"0\" step=\"0.0005\" \
         value=\"{PRICE}\"> for one CPU for one hour</label>. CPU time only: memory, traffic and \
         idle machines are not in it.</p>\n\
         <div class=\"scroll\"><table class=\"cost\"><thead><tr><th scope=\"col\">contender</th>\
         <th scope=\"col\">CPU µs/request, measured steps</th>\
         <th scope=\"col\">$ for 10<sup>9</sup></th>\
         <th scope=\"col\">CPU µs/request, whole life</th>\
         <th scope=\"col\">$ for 10<sup>9</sup></th></tr></thead><tbody>\n{body}</tbody></table>\
         </div>\n"
    )
}

fn cost_row(row: &Row) -> String {
    let mut cells = String::new();
    for estimate in [&row.cpu_us, &row.cpu_us_whole] {
        match estimate {
            Some(cpu) => cells.push_str(&format!(
                "<td>{}</td><td class=\"dollars\" data-us=\"{}\">{}</td>",
                figures(cpu.point),
                cpu.point,
                figures(dollars(cpu.point, PRICE))
            )),
            None => cells.push_str("<td>–</td><td>–</td>"),
        }
    }
    format!(
        "<tr><th scope=\"row\">{}</th>{cells}</tr>\n",
        escape(&row.label)
    )
}

/// Dollars for 10^9 requests of so many CPU microseconds each.
pub(crate) fn dollars(cpu_us: f64, price_per_hour: f64) -> f64 {
    cpu_us * 1e-6 * 1e9 / 3600.0 * price_per_hour
}

/// When each run was warm and what it had cost by then.
pub(crate) fn warm_up(benchmark: &BenchmarkFigures<'_>) -> String {
    let mut rows = String::new();
    for case in &benchmark.cases {
        let found: Vec<String> = case
            .runs
            .iter()
            .filter_map(|run| Some(format!("<td>{}</td>", warm(run)?)))
            .collect();
        if !found.is_empty() {
            let cells = found.concat();
            let label = escape(&case.label);
            rows.push_str(&format!("<tr><th scope=\"row\">{label}</th>{cells}</tr>\n"));
        }
    }
    if rows.is_empty() {
        return String::new();
    }
    format!(
        "<h4>Until warm</h4>\n<p>Time under load and CPU time since its start until the \
         throughput of a run stayed within 3 % of its later level, found by change points in the \
         slices of the first load. One column for each run.</p>\n\
         <div class=\"scroll\"><table><tbody>{rows}</tbody></table></div>\n"
    )
}

/// `None` when there are too few slices to say.
fn warm(run: &RunFigures<'_>) -> Option<String> {
    let slices = warm_up_slices(run);
    let series: Vec<f64> = slices.iter().map(|(_, throughput)| *throughput).collect();
    let last = slices.last()?.0;
    let from_index = match steady_state(&series, WARM_RELEVANCE)? {
        SteadyState::NeverSteady => return Some(format!("not steady in {} s", figures(last))),
        SteadyState::Steady { from_index } => from_index,
    };
    let at = if from_index == 0 {
        0.0
    } else {
        slices[from_index - 1].0
    };
    let interval = run.records.intervals.get(from_index);
    let cpu = interval.and_then(|interval| interval.contender_before.as_ref()?.cpu);
    let cpu = cpu.map_or_else(String::new, |cpu| {
        format!(", {} CPU s", figures(seconds(cpu.total_ns())))
    });
    Some(format!("{} s{cpu}", figures(at)))
}
