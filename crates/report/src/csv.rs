//! One row for each case, run and step: everything a spreadsheet needs, nothing averaged.

use bakeoff_model::load::ErrorClass;
use bakeoff_model::record::Outcome;

use crate::ReportInput;
use crate::measure::{
    BenchmarkFigures, CaseFigures, RunFigures, StepFigures, benchmarks, startups,
};
use crate::number::mib;

const BEFORE_ERRORS: [&str; 29] = [
    "suite",
    "suite_digest",
    "profile",
    "runtime",
    "backend",
    "enforcement",
    "benchmark",
    "contender",
    "parameters",
    "repetition",
    "order",
    "outcome",
    "started_at",
    "startup_s",
    "created_s",
    "executed_s",
    "listened_s",
    "answered_s",
    "startup_cpu_s",
    "startup_memory_mib",
    "image_mib",
    "step",
    "step_label",
    "warm_up",
    "connections_asked",
    "connections_established",
    "duration_s",
    "requests",
    "requests_per_s",
];
const AFTER_ERRORS: [&str; 38] = [
    "errors",
    "censored",
    "reconnects",
    "mean_ms",
    "p50_ms",
    "p75_ms",
    "p90_ms",
    "p95_ms",
    "p99_ms",
    "p99.9_ms",
    "max_ms",
    "service_p50_ms",
    "service_p99_ms",
    "offered",
    "cpu_s",
    "cpu_user_s",
    "cpu_us_per_request",
    "throttled_s",
    "throttled_periods",
    "periods",
    "memory_peak_mib",
    "memory_mib",
    "memory_anon_mib",
    "memory_file_mib",
    "memory_socket_mib",
    "memory_kernel_mib",
    "threads",
    "switches_voluntary",
    "switches_involuntary",
    "sent_bytes",
    "received_bytes",
    "gc_count",
    "gc_s",
    "loader_cores",
    "backend_cores",
    "validity",
    "unfair_intervals",
    "evidence",
];

/// All steps of all runs as CSV (RFC 4180, header first, empty = not known). A cold start is a row
/// without a step. `created_s` to `answered_s` run from the moment the start was asked for.
#[must_use]
pub fn csv(input: &ReportInput<'_>) -> String {
    let mut header: Vec<String> = BEFORE_ERRORS.map(str::to_owned).to_vec();
    header.extend(ErrorClass::ALL.map(|class| format!("errors_{}", class.name())));
    header.extend(AFTER_ERRORS.map(str::to_owned));
    let mut text = line(&header);
    let all = benchmarks(input.results).into_iter();
    for benchmark in all.chain(startups(input.results)) {
        for case in &benchmark.cases {
            for run in &case.runs {
                rows(&benchmark, case, run, &mut text);
            }
        }
    }
    text
}

/// The rows of one run; a run without a step is one row, so that no run is missing.
fn rows(
    benchmark: &BenchmarkFigures<'_>,
    case: &CaseFigures<'_>,
    run: &RunFigures<'_>,
    text: &mut String,
) {
    let front = run_cells(benchmark, case, run);
    for step in &run.steps {
        let mut cells = front.clone();
        cells.extend(load_cells(step));
        cells.extend(latency_cells(step));
        cells.extend(cost_cells(step));
        text.push_str(&line(&cells));
    }
    if run.steps.is_empty() {
        let mut cells = front;
        cells.resize(
            BEFORE_ERRORS.len() + ErrorClass::ALL.len() + AFTER_ERRORS.len(),
            "".into(),
        );
        text.push_str(&line(&cells));
    }
}

fn run_cells(
    benchmark: &BenchmarkFigures<'_>,
    case: &CaseFigures<'_>,
    run: &RunFigures<'_>,
) -> Vec<String> {
    let begin = &run.records.begin;
    let outcome = match run.records.end.as_ref().map(|end| &end.outcome) {
        Some(Outcome::Completed) => "completed".to_owned(),
        Some(Outcome::Failed { stage, message, .. }) => format!("failed at {stage}: {message}"),
        Some(Outcome::Interrupted) => "interrupted".to_owned(),
        None => "killed".to_owned(),
    };
    let parameters = case
        .label
        .strip_prefix(begin.run.contender.as_str())
        .unwrap_or_default();
    let mut cells = vec![
        begin.suite.clone(),
        begin.suite_digest.clone(),
        begin.profile.clone(),
        begin.runtime.clone(),
        begin.backend.clone(),
        begin.enforcement.clone(),
        benchmark.name.clone(),
        begin.run.contender.clone(),
        parameters.trim_matches(['[', ']']).to_owned(),
        run.repetition().to_string(),
        begin.run.order.to_string(),
        outcome,
        begin.at.clone(),
        number(run.startup_s()),
    ];
    cells.extend(startup_cells(run));
    cells
}

fn startup_cells(run: &RunFigures<'_>) -> Vec<String> {
    let Some(startup) = &run.records.startup else {
        return vec![String::new(); 7];
    };
    let times = [
        startup.created_ns,
        startup.executed_ns,
        startup.listened_ns,
        startup.answered_ns,
    ];
    let seconds = |time_ns| number(Some(crate::number::seconds(time_ns)));
    let mut cells = times.map(seconds).to_vec();
    let resources = &startup.resources;
    let cpu = resources.cpu.map(|cpu| cpu.total_ns());
    cells.push(cpu.map(seconds).unwrap_or_default());
    let memory = resources.memory.map(|memory| memory.peak_bytes);
    cells.push(number(memory.map(mib)));
    cells.push(number(startup.image_bytes.map(mib)));
    cells
}

fn load_cells(step: &StepFigures<'_>) -> Vec<String> {
    let established = step
        .intervals
        .iter()
        .map(|i| i.load.connections.established)
        .min();
    let reconnects: u64 = step
        .intervals
        .iter()
        .map(|i| i.load.connections.reconnects)
        .sum();
    let mut cells = vec![
        step.index.to_string(),
        step.label.clone(),
        step.warm_up.to_string(),
        step.connections.to_string(),
        whole(established),
        number(Some(step.seconds)),
        step.requests.to_string(),
        number(Some(step.throughput())),
    ];
    let errors = |class| step.errors.get(&class).copied().unwrap_or(0).to_string();
    cells.extend(ErrorClass::ALL.map(errors));
    cells.extend([step.error_count(), step.censored(), reconnects].map(|n| n.to_string()));
    cells
}

fn latency_cells(step: &StepFigures<'_>) -> Vec<String> {
    let quoted = step.latency();
    let mut cells: Vec<String> = match quoted {
        Some(l) => [
            l.mean_ms, l.p50_ms, l.p75_ms, l.p90_ms, l.p95_ms, l.p99_ms, l.p999_ms, l.max_ms,
        ]
        .map(|ms| number(Some(ms)))
        .to_vec(),
        None => vec![String::new(); 8],
    };
    cells.push(number(step.service.map(|service| service.p50_ms)));
    cells.push(number(step.service.map(|service| service.p99_ms)));
    let offered: Option<u64> = step.intervals.iter().map(|i| i.load.offered).sum();
    cells.push(whole(offered));
    cells
}

fn cost_cells(step: &StepFigures<'_>) -> Vec<String> {
    let seconds = |counter: Option<u64>| number(counter.map(crate::number::seconds));
    let memory = step.memory();
    let last = step
        .intervals
        .last()
        .and_then(|interval| interval.contender_after.as_ref());
    let threads = last.filter(|sample| !sample.threads.is_empty());
    let threads = threads.map(|sample| sample.threads.values().map(|t| t.count).sum::<u64>());
    vec![
        number(step.cpu_s()),
        seconds(step.grew(|sample| Some(sample.cpu?.user_ns))),
        number(step.cpu_us_per_request()),
        number(step.throttled_s()),
        whole(step.grew(|sample| Some(sample.throttling?.throttled_periods))),
        whole(step.grew(|sample| Some(sample.throttling?.periods))),
        number(memory.map(|memory| mib(memory.peak_bytes))),
        number(memory.map(|memory| mib(memory.now_bytes))),
        number(memory.and_then(|memory| memory.anon_bytes).map(mib)),
        number(memory.and_then(|memory| memory.file_bytes).map(mib)),
        number(memory.and_then(|memory| memory.socket_bytes).map(mib)),
        number(memory.and_then(|memory| memory.kernel_bytes).map(mib)),
        whole(threads),
        whole(step.grew(|sample| Some(sample.context_switches?.voluntary))),
        whole(step.grew(|sample| Some(sample.context_switches?.involuntary))),
        step.intervals
            .iter()
            .map(|i| i.load.sent_bytes)
            .sum::<u64>()
            .to_string(),
        step.intervals
            .iter()
            .map(|i| i.load.received_bytes)
            .sum::<u64>()
            .to_string(),
        whole(step.grew(|sample| Some(sample.jvm?.gc_count))),
        seconds(step.grew(|sample| Some(sample.jvm?.gc_ns))),
        number(Some(step.loader_cores())),
        number(step.backend_cores()),
        step.validity().name().to_owned(),
        format!("{} of {}", step.unfair(), step.intervals.len()),
        step.validity().evidence().to_owned(),
    ]
}

/// Six decimals at most: microseconds in a column of seconds.
fn number(value: Option<f64>) -> String {
    let Some(value) = value else {
        return String::new();
    };
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn whole<T: ToString>(value: Option<T>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

fn line(cells: &[String]) -> String {
    let quoted: Vec<String> = cells.iter().map(|cell| quote(cell)).collect();
    quoted.join(",") + "\r\n"
}

fn quote(cell: &str) -> String {
    if cell.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}
