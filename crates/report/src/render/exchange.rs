//! Results as files of other tools: Bencher, Apache Otava, badges of shields.io, and the logs and
//! percentile distributions of HdrHistogram.

use std::fmt::Write as _;

use bakeoff_model::load::histogram::Histogram;
use bakeoff_stats::Tie;
use serde_json::{Map, Value, json};

use crate::render::baseline;
use bakeoff_analysis::Analysis;
use bakeoff_analysis::baseline::Conclusion;
use bakeoff_analysis::data::benchmark::{RunData, StepData};
use bakeoff_analysis::data::metric::Metric;
use bakeoff_analysis::data::number::{as_f64, milliseconds, ratio_text, seconds, significant};
use bakeoff_analysis::data::row::Row;

/// A file with its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchanged {
    /// Letters, digits, dots and dashes; unique.
    pub file: String,
    /// The content.
    pub text: String,
}

/// Returns `bencher.json`, `otava.csv`, `badge.json`, and for each run `.hlog` and for each step
/// `.hgrm`, as far as there is something to put into them.
#[must_use]
pub fn exchanged(analysis: &Analysis<'_>) -> Vec<Exchanged> {
    let file = |file: &str, text: String| Exchanged {
        file: file.to_owned(),
        text,
    };
    let mut files = vec![
        file("bencher.json", bencher(analysis)),
        file("otava.csv", otava(analysis)),
        file("badge.json", badge(analysis)),
    ];
    for (place, load) in analysis.loads.iter().enumerate() {
        for case in &load.data.cases {
            let name = format!("{}.{}", safe(&name_of(analysis, place)), safe(&case.label));
            for run in case.completed() {
                let text = hlog(run);
                let process = run.process();
                let twin = if process.is_twin { ".twin" } else { "" };
                let file_name = format!("{name}.r{}{twin}.hlog", process.repetition);
                files.extend(text.map(|text| file(&file_name, text)));
            }
            for (label, times) in times_by_step(case.completed()) {
                files.push(file(&format!("{name}.{}.hgrm", safe(&label)), hgrm(&times)));
            }
        }
    }
    files
}

fn safe(name: &str) -> String {
    let safe = |letter: char| match letter {
        letter if letter.is_alphanumeric() || letter == '-' || letter == '.' => letter,
        _ => '-',
    };
    name.chars().map(safe).collect()
}

/// The name of a benchmark, with a number from the second of that name on: there is one for each
/// set of conditions.
fn name_of(analysis: &Analysis<'_>, place: usize) -> String {
    let name = &analysis.loads[place].data.name;
    let before = analysis.loads[..place].iter();
    match before.filter(|load| load.data.name == *name).count() {
        0 => name.clone(),
        before => format!("{name}-{}", before + 1),
    }
}

/// Every ranked row with the name of its benchmark.
fn rows<'s>(analysis: &'s Analysis<'_>) -> impl Iterator<Item = (String, &'s Row)> {
    let loads = analysis.loads.iter().enumerate();
    loads.flat_map(|(place, load)| {
        let name = name_of(analysis, place);
        let rows = load.summary.tables.iter().flat_map(|table| &table.rows);
        rows.map(move |row| (name.clone(), row))
    })
}

/// The metrics of a row by name, with their intervals, if they have any.
fn metrics(row: &Row) -> Vec<(&'static str, f64, Option<[f64; 2]>)> {
    let with_interval = |name, metric: &Metric| {
        let ends = metric.estimate.interval.map(|ends| [ends.low, ends.high]);
        (name, metric.mean(), ends)
    };
    let mut all = vec![with_interval("throughput", &row.peak.throughput)];
    all.extend(
        row.stated
            .cpu_us
            .as_ref()
            .map(|cpu| with_interval("cpu-us-per-request", cpu)),
    );
    all.extend(
        row.stated
            .memory_mib
            .as_ref()
            .map(|memory| with_interval("memory-mib", memory)),
    );
    all.extend(row.stated.p50_ms.map(|time| ("p50-ms", time, None)));
    all.extend(row.stated.p99_ms.map(|time| ("p99-ms", time, None)));
    all
}

/// Bencher Metric Format: `{ benchmark: { measure: { value, lower_value, upper_value } } }`.
fn bencher(analysis: &Analysis<'_>) -> String {
    let mut benchmarks = Map::new();
    for (benchmark, row) in rows(analysis) {
        let mut measures = Map::new();
        for (name, value, ends) in metrics(row) {
            let mut metric = json!({ "value": value });
            if let Some([low, high]) = ends {
                metric["lower_value"] = json!(low);
                metric["upper_value"] = json!(high);
            }
            measures.insert(name.to_owned(), metric);
        }
        benchmarks.insert(
            format!("{benchmark} {}", row.label),
            Value::Object(measures),
        );
    }
    format!("{:#}\n", Value::Object(benchmarks))
}

/// One row of the session: its time, then a column for each metric of each contender. Rows of
/// several sessions of one suite make the file that Otava looks for change points in.
fn otava(analysis: &Analysis<'_>) -> String {
    let begin = analysis
        .results
        .runs
        .first()
        .map(|run| run.begin.at.clone());
    let mut columns = vec![("time".to_owned(), begin.unwrap_or_default())];
    for (benchmark, row) in rows(analysis) {
        let metrics = metrics(row).into_iter();
        columns.extend(metrics.map(|(name, value, _)| {
            (
                format!("{benchmark}.{}.{name}", row.label),
                value.to_string(),
            )
        }));
    }
    let (names, values): (Vec<String>, Vec<String>) = columns.into_iter().unzip();
    let mut writer = csv::Writer::from_writer(Vec::new());
    let lines = [names, values].map(|line| writer.write_record(line).is_ok());
    let bytes = writer.into_inner().unwrap_or_default();
    debug_assert!(
        lines.iter().all(|written| *written),
        "memory takes any bytes"
    );
    String::from_utf8(bytes).unwrap_or_default()
}

/// The endpoint of a badge of shields.io.
fn badge(analysis: &Analysis<'_>) -> String {
    let (label, message, color) = match &analysis.against_base {
        Some(all) => (
            "performance".to_owned(),
            baseline::verdict(all),
            match all.conclusion() {
                Conclusion::Passed => "brightgreen",
                Conclusion::Undecided => "yellow",
                Conclusion::ConditionHolds | Conclusion::HeadFailed => "red",
            },
        ),
        None => {
            let load = analysis.loads.first();
            let label = load.map_or("bakeoff", |load| load.summary.name.as_str());
            let rows = load.and_then(|load| load.summary.tables.first());
            let is_void = load.is_some_and(|load| load.summary.control.is_void());
            let message = rows.map(|table| match is_void {
                true => "void: the control differs".to_owned(),
                false => first_of(&table.rows),
            });
            (
                label.to_owned(),
                message.unwrap_or_else(|| "no result".to_owned()),
                "blue",
            )
        }
    };
    let badge = json!({
        "schemaVersion": 1,
        "label": label,
        "message": message,
        "color": color,
    });
    format!("{badge:#}\n")
}

/// `a: 1.20 times b`, `a ≈ b`, `a: 5120 requests/s, b not significantly less`.
fn first_of(rows: &[Row]) -> String {
    let alone = |row: &Row| {
        let rate = significant(row.peak.throughput.mean());
        format!("{}: {rate} requests/s", row.label)
    };
    match rows {
        [] => "no result".to_owned(),
        [only] => alone(only),
        [best, next, ..] => match next
            .standing
            .throughput
            .filter(|_| next.standing.rank > best.standing.rank)
        {
            Some(found) => {
                let ratio = ratio_text(1.0 / found.ratio.point);
                format!("{}: {ratio} times {}", best.label, next.label)
            }
            None if next.standing.tie == Tie::Equivalent => {
                format!("{} ≈ {}", best.label, next.label)
            }
            None => format!("{}, {} not significantly less", alone(best), next.label),
        },
    }
}

/// The measured steps and the open load of runs, each with all its times.
fn times_by_step<'s, 'a: 's>(
    runs: impl Iterator<Item = &'s RunData<'a>>,
) -> Vec<(String, Histogram)> {
    let mut all: Vec<(String, Histogram)> = Vec::new();
    for step in runs.flat_map(RunData::measured_and_open) {
        let Some(times) = Histogram::sum(step.histograms()) else {
            continue;
        };
        match all.iter_mut().find(|(label, _)| *label == step.label) {
            Some((_, sum)) => sum.merge(&times),
            None => all.push((step.label.clone(), times)),
        }
    }
    all
}

const HLOG: &str = "\
#[Logged by bakeoff, format 1.3. Times in s and ms since the run's load began, histograms in ns.]
#[Histogram log format version 1.3]
#[BaseTime: 0.000 (seconds since epoch)]
\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"
";

/// The slices of a run, tagged with their steps; `None` if it has no times, as in turns.
fn hlog(run: &RunData<'_>) -> Option<String> {
    let mut text = HLOG.to_owned();
    let began_ns = run.records.intervals.first()?.load.start_ns;
    let mut any = false;
    for step in run.measured_and_open() {
        for slice in slices_with_times(step) {
            let load = &slice.load;
            let times = load.stated_times();
            let _ = writeln!(
                text,
                "Tag={},{:.3},{:.3},{:.3},{}",
                safe(&step.label),
                seconds(load.start_ns.saturating_sub(began_ns)),
                seconds(load.length_ns()),
                milliseconds(times.max_ns().unwrap_or_default()),
                times.encode()
            );
            any = true;
        }
    }
    any.then_some(text)
}

fn slices_with_times<'s>(
    step: &'s StepData<'_>,
) -> impl Iterator<Item = &'s bakeoff_model::record::IntervalRecord> {
    let slices = step.slices.iter().copied();
    slices.filter(|slice| slice.load.turns.is_empty())
}

/// In each halving of the distance to 100 % there are this number of lines, as HdrHistogram has
/// them.
const TICKS_PER_HALF: i32 = 5;

/// The percentile distribution, ms.
fn hgrm(times: &Histogram) -> String {
    let total = times.count();
    let mut text = format!(
        "{:>12} {:>14} {:>10} {:>14}\n\n",
        "Value", "Percentile", "TotalCount", "1/(1-Percentile)"
    );
    let at = |share: f64| times.quantile_ns(share).unwrap_or_default();
    let mut share: f64 = 0.0;
    loop {
        let value_ns = at(share);
        let count = times.count_between(0, value_ns);
        let _ = writeln!(
            text,
            "{:>12.3} {share:>14.12} {count:>10} {:>14.2}",
            milliseconds(value_ns),
            1.0 / (1.0 - share)
        );
        if count >= total {
            break;
        }
        let halvings = (1.0 / (1.0 - share)).log2().floor() + 1.0;
        let ticks = f64::from(TICKS_PER_HALF) * 2_f64.powf(halvings);
        share = (share + 1.0 / ticks).min(1.0 - f64::EPSILON);
    }
    let _ = writeln!(
        text,
        "{:>12.3} {:>14.12} {total:>10}",
        milliseconds(times.max_ns().unwrap_or_default()),
        1.0
    );
    let _ = writeln!(
        text,
        "#[Mean    = {:>12.3}, StdDeviation   = {:>12.3}]",
        times.mean_ns().unwrap_or_default() / 1e6,
        times.deviation_ns().unwrap_or_default() / 1e6
    );
    let _ = writeln!(
        text,
        "#[Max     = {:>12.3}, Total count    = {:>12}]",
        milliseconds(times.max_ns().unwrap_or_default()),
        as_f64(total)
    );
    text
}
