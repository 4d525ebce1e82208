//! One row for each case, run and step: everything a spreadsheet needs, nothing averaged.

pub(crate) mod benchmarks;
pub(crate) mod capacity;
pub(crate) mod overhead;
pub(crate) mod requests;

use bakeoff_model::load::ErrorClass;
use bakeoff_model::measure::resource::{Memory, ResourceSample};
use bakeoff_model::record::{Outcome, Startup};

use bakeoff_analysis::Analysis;
use bakeoff_analysis::data::benchmark::{BenchmarkData, CaseData, RunData, StepData};
use bakeoff_analysis::data::number::{mib, seconds};
use bakeoff_analysis::data::percentiles::Latency;
use bakeoff_analysis::explain::cpu_parts;
use bakeoff_analysis::tables::steady::{self, WarmUp};

/// A run with what it belongs to.
struct Line<'l, 'r> {
    benchmark: &'l BenchmarkData<'r>,
    case: &'l CaseData<'r>,
    run: &'l RunData<'r>,
}

/// The name of a column and what stands in it.
type RunColumn = (&'static str, fn(&Line<'_, '_>) -> String);
type StepColumn = (&'static str, fn(&StepData<'_>) -> String);

/// The columns of a run over all its steps.
const OF_RUN: [RunColumn; 28] = [
    ("suite", |line| line.run.records.begin.suite.clone()),
    ("suite_digest", |line| {
        line.run.records.begin.suite_digest.clone()
    }),
    ("profile", |line| line.run.records.begin.profile.clone()),
    ("runtime", |line| line.run.records.begin.runtime.to_string()),
    ("backend", |line| line.run.records.begin.backend_label()),
    ("enforcement", |line| {
        line.run.records.begin.enforcement.to_string()
    }),
    ("benchmark", |line| line.benchmark.name.clone()),
    ("contender", |line| {
        line.run.records.begin.run.contender.clone()
    }),
    ("parameters", parameters),
    ("twin", |line| line.run.records.begin.run.twin.to_string()),
    ("repetition", |line| line.run.repetition().to_string()),
    ("group", group),
    ("order", |line| line.run.records.begin.run.order.to_string()),
    ("outcome", outcome),
    ("started_at", |line| line.run.records.begin.at.clone()),
    ("startup_s", |line| decimal(line.run.startup_s())),
    ("created_s", |line| {
        startup(line, |it| Some(seconds(it.created_ns)))
    }),
    ("pod_scheduled_s", |line| {
        startup(line, |it| Some(seconds(it.pod.as_ref()?.scheduled_ns)))
    }),
    ("image_pull_s", |line| {
        startup(line, |it| Some(seconds(it.pod.as_ref()?.pull_ns?)))
    }),
    ("executed_s", |line| {
        startup(line, |it| Some(seconds(it.executed_ns)))
    }),
    ("listened_s", |line| {
        startup(line, |it| Some(seconds(it.listened_ns)))
    }),
    ("answered_s", |line| {
        startup(line, |it| Some(seconds(it.answered_ns)))
    }),
    ("startup_cpu_s", |line| {
        startup(line, |it| Some(seconds(it.resources.cpu?.total_ns())))
    }),
    ("startup_memory_mib", |line| {
        startup(line, |it| Some(mib(it.resources.memory?.peak_bytes)))
    }),
    ("image_mib", |line| {
        startup(line, |it| Some(mib(it.image_bytes?)))
    }),
    ("until_warm_s", |line| match steady::warm_up(line.run) {
        Some(WarmUp::Steady { after_s, .. }) => decimal(Some(after_s)),
        _ => String::new(),
    }),
    ("until_warm_requests", |line| {
        match steady::warm_up(line.run) {
            Some(WarmUp::Steady { requests, .. }) => requests.to_string(),
            _ => String::new(),
        }
    }),
    ("until_warm_cpu_s", |line| match steady::warm_up(line.run) {
        Some(WarmUp::Steady { cpu_s, .. }) => decimal(cpu_s),
        _ => String::new(),
    }),
];

/// The load of a step. A column for each class of errors comes after these.
const OF_LOAD: [StepColumn; 9] = [
    ("step", |step| step.index.to_string()),
    ("step_label", |step| step.label.clone()),
    ("warm_up", |step| step.warm_up.to_string()),
    ("connections_asked", |step| step.connections.to_string()),
    ("connections_established", |step| {
        let slices = step.slices.iter();
        whole(slices.map(|slice| slice.load.connections.established).min())
    }),
    ("duration_s", |step| decimal(Some(step.totals.open_s()))),
    ("requests", |step| step.totals.requests.to_string()),
    ("requests_per_s", |step| decimal(Some(step.throughput()))),
    ("group_scale", |step| decimal(Some(step.scale.rate))),
];

/// Errors, times, cost and validity of a step.
const OF_RESULT: [StepColumn; 43] = [
    ("errors", |step| step.totals.failed().to_string()),
    ("censored", |step| step.censored().to_string()),
    ("reconnects", |step| {
        let slices = step.slices.iter();
        let reconnects = slices.map(|slice| slice.load.connections.reconnects);
        reconnects.sum::<u64>().to_string()
    }),
    ("mean_ms", |step| time(step, |times| times.mean_ms)),
    ("p50_ms", |step| percentile(step, 0.5, |times| times.p50_ms)),
    ("p75_ms", |step| {
        percentile(step, 0.75, |times| times.p75_ms)
    }),
    ("p90_ms", |step| percentile(step, 0.9, |times| times.p90_ms)),
    ("p95_ms", |step| {
        percentile(step, 0.95, |times| times.p95_ms)
    }),
    ("p99_ms", |step| {
        percentile(step, 0.99, |times| times.p99_ms)
    }),
    ("p99.9_ms", |step| {
        percentile(step, 0.999, |times| times.p999_ms)
    }),
    ("max_ms", |step| time(step, |times| times.max_ms)),
    ("service_p50_ms", |step| {
        service(step, 0.5, |times| times.p50_ms)
    }),
    ("service_p99_ms", |step| {
        service(step, 0.99, |times| times.p99_ms)
    }),
    ("offered", |step| {
        let slices = step.slices.iter();
        whole(slices.map(|slice| slice.load.offered).sum::<Option<u64>>())
    }),
    ("cpu_s", |step| decimal(step.cpu_s())),
    ("cpu_user_s", |step| {
        grown_s(step, |sample| Some(sample.cpu?.user_ns))
    }),
    ("cpu_us_per_request", |step| {
        decimal(step.cpu_us_per_request())
    }),
    ("throttled_s", |step| decimal(step.throttled_s())),
    ("throttled_periods", |step| {
        whole(step.grew(|sample| Some(sample.throttling?.throttled_periods)))
    }),
    ("periods", |step| {
        whole(step.grew(|sample| Some(sample.throttling?.periods)))
    }),
    ("memory_peak_mib", |step| {
        memory(step, |memory| Some(memory.peak_bytes))
    }),
    ("memory_mib", |step| {
        memory(step, |memory| Some(memory.now_bytes))
    }),
    ("memory_anon_mib", |step| {
        memory(step, |memory| memory.anon_bytes)
    }),
    ("memory_file_mib", |step| {
        memory(step, |memory| memory.file_bytes)
    }),
    ("memory_socket_mib", |step| {
        memory(step, |memory| memory.socket_bytes)
    }),
    ("memory_kernel_mib", |step| {
        memory(step, |memory| memory.kernel_bytes)
    }),
    ("threads", threads),
    ("switches_voluntary", |step| {
        whole(step.grew(|sample| Some(sample.context_switches?.voluntary)))
    }),
    ("switches_involuntary", |step| {
        whole(step.grew(|sample| Some(sample.context_switches?.involuntary)))
    }),
    ("sent_bytes", |step| {
        let slices = step.slices.iter();
        let sent = slices.map(|slice| slice.load.sent_bytes);
        sent.sum::<u64>().to_string()
    }),
    ("received_bytes", |step| {
        let slices = step.slices.iter();
        let received = slices.map(|slice| slice.load.received_bytes);
        received.sum::<u64>().to_string()
    }),
    ("gc_count", |step| {
        whole(step.grew(|sample| Some(sample.jvm?.gc_count)))
    }),
    ("gc_s", |step| {
        grown_s(step, |sample| Some(sample.jvm?.gc_ns))
    }),
    ("cpu_jit_share", |step| {
        decimal(cpu_parts::of_step(step).map(|parts| parts.jit_share()))
    }),
    ("cpu_gc_share", |step| {
        decimal(cpu_parts::of_step(step).map(|parts| parts.gc_share()))
    }),
    ("cpu_application_share", |step| {
        decimal(cpu_parts::of_step(step).map(|parts| parts.application_share()))
    }),
    ("rise_after_warm_up", |step| {
        decimal(step.warmth().map(|warmth| warmth.rise))
    }),
    ("rise_after_warm_up_at_most", |step| {
        decimal(step.warmth().map(|warmth| warmth.rise_most))
    }),
    ("loader_cores", |step| {
        decimal(Some(step.totals.generator_cores()))
    }),
    ("backend_cores", |step| decimal(step.backend_cores())),
    ("validity", |step| step.validity.name().to_owned()),
    ("unfair_intervals", |step| {
        format!("{} of {}", step.unfair, step.slices.len())
    }),
    ("evidence", |step| step.validity.evidence()),
];

/// All steps of all runs as CSV (RFC 4180, header first, empty = not known). A cold start is a row
/// without a step. `created_s` to `answered_s` run from the moment the start was asked for.
#[must_use]
pub fn csv(analysis: &Analysis<'_>) -> String {
    let loads = analysis.loads.iter().map(|load| &load.data);
    let startups = analysis.startups.iter().map(|startup| &startup.data);
    let capacities = analysis.capacities.iter().map(|capacity| &capacity.data);
    let lines = loads.chain(startups).chain(capacities).flat_map(lines);
    table(header(), lines.flat_map(|line| rows(&line)))
}

/// All runs of a benchmark.
fn lines<'l, 'r>(benchmark: &'l BenchmarkData<'r>) -> impl Iterator<Item = Line<'l, 'r>> {
    let cases = benchmark.cases.iter();
    cases.flat_map(move |case| {
        case.runs.iter().map(move |run| Line {
            benchmark,
            case,
            run,
        })
    })
}

/// A header and its rows as text.
fn table(header: Vec<String>, rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut writer = csv::WriterBuilder::new()
        .terminator(csv::Terminator::CRLF)
        .from_writer(Vec::new());
    for cells in std::iter::once(header).chain(rows) {
        let written = writer.write_record(cells);
        written.expect("rows are as long as the header, and memory can be written to");
    }
    let bytes = writer.into_inner().expect("memory can be written to");
    String::from_utf8(bytes).expect("cells are text")
}

fn header() -> Vec<String> {
    let of_run = OF_RUN.iter().map(|(name, _)| (*name).to_owned());
    let of_load = OF_LOAD.iter().map(|(name, _)| (*name).to_owned());
    let errors = ErrorClass::ALL.map(|class| format!("errors_{}", class.name()));
    let of_result = OF_RESULT.iter().map(|(name, _)| (*name).to_owned());
    let all = of_run.chain(of_load).chain(errors).chain(of_result);
    all.collect()
}

/// The rows of one run; a run without a step is one row, so that no run is missing.
fn rows(line: &Line<'_, '_>) -> Vec<Vec<String>> {
    let front: Vec<String> = OF_RUN.iter().map(|(_, cell)| cell(line)).collect();
    if line.run.steps.is_empty() {
        let blank = OF_LOAD.len() + ErrorClass::ALL.len() + OF_RESULT.len();
        let blanks = std::iter::repeat_n(String::new(), blank);
        return vec![front.into_iter().chain(blanks).collect()];
    }
    let row = |step: &StepData<'_>| {
        let of_load = OF_LOAD.iter().map(|(_, cell)| cell(step));
        let count = |class| step.totals.errors.get(&class).copied().unwrap_or(0);
        let errors = ErrorClass::ALL.map(|class| count(class).to_string());
        let of_result = OF_RESULT.iter().map(|(_, cell)| cell(step));
        let front = front.iter().cloned();
        front
            .chain(of_load)
            .chain(errors)
            .chain(of_result)
            .collect()
    };
    let steps = line.run.steps.iter().chain(&line.run.open);
    steps.map(row).collect()
}

fn parameters(line: &Line<'_, '_>) -> String {
    let contender = line.run.records.begin.run.contender.as_str();
    let parameters = line.case.label.strip_prefix(contender).unwrap_or_default();
    let parameters = parameters.trim_end_matches(|letter| letter != ']');
    parameters.trim_matches(['[', ']']).to_owned()
}

/// The group of a set, if that is split.
fn group(line: &Line<'_, '_>) -> String {
    let group = line.run.records.begin.run.group;
    group.map_or_else(String::new, |group| group.to_string())
}

fn outcome(line: &Line<'_, '_>) -> String {
    match line.run.records.end.as_ref().map(|end| &end.outcome) {
        Some(Outcome::Completed) => "completed".to_owned(),
        Some(Outcome::Failed(failure)) => format!("failed at {failure}"),
        Some(Outcome::Interrupted) => "interrupted".to_owned(),
        None => "killed".to_owned(),
    }
}

fn startup(line: &Line<'_, '_>, value: fn(&Startup) -> Option<f64>) -> String {
    decimal(line.run.records.startup.as_ref().and_then(value))
}

/// A time of the step in milliseconds.
fn time(step: &StepData<'_>, value: fn(&Latency) -> f64) -> String {
    decimal(step.latency().as_ref().map(value))
}

/// A percentile of the step's times; empty if too few requests took longer.
fn percentile(step: &StepData<'_>, share: f64, value: fn(&Latency) -> f64) -> String {
    let latency = step.latency().filter(|_| step.resolves(share));
    decimal(latency.as_ref().map(value))
}

/// A percentile of the step's service times; empty if too few requests took longer.
fn service(step: &StepData<'_>, share: f64, value: fn(&Latency) -> f64) -> String {
    let latency = step.service.filter(|_| step.resolves(share));
    decimal(latency.as_ref().map(value))
}

/// How much a counter of nanoseconds grew, in seconds.
fn grown_s(step: &StepData<'_>, counter: fn(&ResourceSample) -> Option<u64>) -> String {
    decimal(step.grew(counter).map(seconds))
}

fn memory(step: &StepData<'_>, bytes: fn(&Memory) -> Option<u64>) -> String {
    decimal(step.memory().as_ref().and_then(bytes).map(mib))
}

/// Threads at the end of the step.
fn threads(step: &StepData<'_>) -> String {
    let last = step.slices.last();
    let sample = last.and_then(|slice| slice.contender_after.as_ref());
    let known = sample.filter(|sample| !sample.threads.is_empty());
    whole(known.map(|sample| sample.threads.values().map(|t| t.count).sum::<u64>()))
}

/// Six decimals at most: microseconds in a column of seconds.
fn decimal(value: Option<f64>) -> String {
    let Some(value) = value else {
        return String::new();
    };
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn whole<T: ToString>(value: Option<T>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}
