//! The response-time block: what came of each request of a benchmark that has several, and for
//! scenarios how its times are spread over the bands that people think in.

use bakeoff_model::histogram::Histogram;
use bakeoff_model::load::RequestInterval;

use crate::html::text::escape;
use crate::measure::{BenchmarkFigures, CaseFigures, StepFigures};
use crate::number::{as_f64, figures};

const MS: u64 = 1_000_000;

/// Ends of the bands of response times, ms: what Gatling's reports made customary.
const BANDS_MS: [u64; 2] = [800, 1_200];

/// Apdex (Apdex Alliance, 2007): up to T a user is satisfied, up to 4 T tolerating.
const APDEX_T_MS: u64 = 1_500;

/// Ratings of Apdex: below this it is called so.
const RATINGS: [(f64, &str); 4] = [
    (0.5, "unacceptable"),
    (0.7, "poor"),
    (0.85, "fair"),
    (0.94, "good"),
];

/// One line: a request, or all of them.
struct Line {
    name: String,
    requests: u64,
    failures: u64,
    seconds: f64,
    times: Histogram,
}

/// The block of a benchmark; empty when it has a single request.
pub(crate) fn section(benchmark: &BenchmarkFigures<'_>) -> String {
    let several = benchmark
        .cases
        .iter()
        .flat_map(|case| &case.runs)
        .flat_map(|run| &run.steps)
        .any(|step| step.intervals.iter().any(|i| !i.load.by_request.is_empty()));
    if !several {
        return String::new();
    }
    let mut html = "<h4>Requests</h4>\n<p class=\"hint\">All completed runs together. Times in \
        milliseconds, of successful requests; in a scenario from the end of the user's pause.</p>\n\
        <div class=\"scroll\"><table><thead><tr><th scope=\"col\">contender</th>\
        <th scope=\"col\">step</th><th scope=\"col\">request</th><th scope=\"col\">OK</th>\
        <th scope=\"col\">KO</th><th scope=\"col\">req/s</th><th scope=\"col\">min</th>\
        <th scope=\"col\">max</th><th scope=\"col\">mean</th><th scope=\"col\">std</th>\
        <th scope=\"col\">p50</th><th scope=\"col\">p75</th><th scope=\"col\">p95</th>\
        <th scope=\"col\">p99</th></tr></thead><tbody>\n"
        .to_owned();
    let mut bands = String::new();
    for case in &benchmark.cases {
        for label in &benchmark.step_labels {
            let steps = steps(case, label);
            let is_scenario =
                |step: &&StepFigures<'_>| step.intervals.iter().any(|i| i.load.users.is_some());
            let all = all(&steps);
            if steps.iter().any(is_scenario) {
                bands.push_str(&band_row(&case.label, label, &all));
            }
            for line in std::iter::once(all).chain(lines(&steps)) {
                html.push_str(&row(&case.label, label, &line));
            }
        }
    }
    html.push_str("</tbody></table></div>\n");
    if bands.is_empty() {
        return html;
    }
    html + &format!(
        "<h4>Response times in bands</h4>\n<p class=\"hint\">Apdex with T = 1.5 s; a failure is a \
         frustrated user.</p>\n<div class=\"scroll\"><table><thead><tr>\
         <th scope=\"col\">contender</th><th scope=\"col\">step</th>\
         <th scope=\"col\">below 800 ms</th><th scope=\"col\">800 to 1200 ms</th>\
         <th scope=\"col\">above 1200 ms</th><th scope=\"col\">failed</th>\
         <th scope=\"col\">Apdex</th><th scope=\"col\">rating</th></tr></thead><tbody>\n{bands}\
         </tbody></table></div>\n"
    )
}

/// This step of all completed runs, unless it is warm-up.
fn steps<'s, 'a>(case: &'s CaseFigures<'a>, label: &str) -> Vec<&'s StepFigures<'a>> {
    let steps = case.completed().filter_map(|run| run.step(label));
    steps.filter(|step| !step.warm_up).collect()
}

fn all(steps: &[&StepFigures<'_>]) -> Line {
    let mut times = Histogram::new();
    steps
        .iter()
        .flat_map(|step| step.histograms())
        .for_each(|one| times.merge(one));
    Line {
        name: "all".to_owned(),
        requests: steps.iter().map(|step| step.requests).sum(),
        failures: steps.iter().map(|step| step.error_count()).sum(),
        seconds: steps.iter().map(|step| step.seconds).sum(),
        times,
    }
}

/// One line for each request, in the order of the benchmark.
fn lines(steps: &[&StepFigures<'_>]) -> Vec<Line> {
    let seconds = steps.iter().map(|step| step.seconds).sum();
    let mut lines: Vec<Line> = Vec::new();
    let intervals = steps.iter().flat_map(|step| &step.intervals);
    for interval in intervals {
        for (index, part) in interval.load.by_request.iter().enumerate() {
            if lines.len() <= index {
                lines.push(line(part, seconds));
            }
            let line = &mut lines[index];
            line.requests += part.requests;
            line.failures += part.failures;
            line.times.merge(&part.times);
        }
    }
    lines
}

fn line(part: &RequestInterval, seconds: f64) -> Line {
    Line {
        name: part.name.clone(),
        requests: 0,
        failures: 0,
        seconds,
        times: Histogram::new(),
    }
}

fn row(case: &str, step: &str, line: &Line) -> String {
    if line.requests + line.failures == 0 {
        return String::new();
    }
    let times = &line.times;
    let ms = |ns: Option<f64>| ns.map_or("–".to_owned(), |ns| figures(ns / 1e6));
    let at = |share| ms(times.quantile_ns(share).map(as_f64));
    let cells = [
        line.requests.to_string(),
        line.failures.to_string(),
        figures(as_f64(line.requests) / line.seconds.max(1e-9)),
        ms(times.min_ns().map(as_f64)),
        ms(times.max_ns().map(as_f64)),
        ms(times.mean_ns()),
        ms(times.deviation_ns()),
        at(0.5),
        at(0.75),
        at(0.95),
        at(0.99),
    ];
    let cells: String = cells
        .iter()
        .map(|cell| format!("<td>{cell}</td>"))
        .collect();
    format!(
        "<tr><th scope=\"row\">{}</th><td>{}</td><td class=\"text\">{}</td>{cells}</tr>\n",
        escape(case),
        escape(step),
        escape(&line.name)
    )
}

fn band_row(case: &str, step: &str, all: &Line) -> String {
    let total = as_f64(all.requests + all.failures);
    if total == 0.0 {
        return String::new();
    }
    let up_to = |ms: u64| all.times.count_between(1, ms * MS);
    let (low, middle) = (up_to(BANDS_MS[0]), up_to(BANDS_MS[1]));
    let count = all.times.count();
    let share = |count: u64| format!("{count} ({:.1} %)", as_f64(count) / total * 100.0);
    let satisfied = as_f64(up_to(APDEX_T_MS));
    let tolerating = as_f64(up_to(4 * APDEX_T_MS)) - satisfied;
    let apdex = (satisfied + tolerating / 2.0) / total;
    let rating = RATINGS.iter().find(|(below, _)| apdex < *below);
    let cells = [
        share(low),
        share(middle.saturating_sub(low)),
        share(count.saturating_sub(middle)),
        share(all.failures),
        format!("{apdex:.2}"),
        rating.map_or("excellent", |(_, name)| name).to_owned(),
    ];
    let cells: String = cells
        .iter()
        .map(|cell| format!("<td>{cell}</td>"))
        .collect();
    format!(
        "<tr><th scope=\"row\">{}</th><td>{}</td>{cells}</tr>\n",
        escape(case),
        escape(step)
    )
}
