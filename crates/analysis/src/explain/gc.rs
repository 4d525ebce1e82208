//! Costs of garbage collection in a JVM run under load: from the collector's own log if the profile
//! enables it, else from the JVM's counters, which do not show single pauses.

use bakeoff_model::measure::resource::{GcLog, GcPause};

use crate::data::benchmark::{BenchmarkData, RunData};
use crate::data::number::{as_f64, mib, milliseconds, seconds};

/// Garbage collection of one run under load, including warm-up.
#[derive(Debug, Clone, PartialEq)]
pub struct GcRow {
    /// Contender and parameters.
    pub label: String,
    /// Repetition.
    pub run: u32,
    /// The collector's own name; empty if it is not known.
    pub collector: String,
    /// Number of pauses, or of collections if only counters are known.
    pub count: u64,
    /// Time of all pauses, ms.
    pub total_ms: f64,
    /// The longest pause, ms; `None` if pauses were not recorded individually.
    pub longest_ms: Option<f64>,
    /// Share of the time in which the program was not paused, %.
    pub throughput_percent: f64,
    /// Heap in use after the last collection, MiB; `None` if pauses were not recorded individually.
    pub heap_after_last_mib: Option<f64>,
    /// Maximum heap in use after any collection, MiB; `None` if pauses were not recorded
    /// individually.
    pub heap_after_most_mib: Option<f64>,
}

/// Returns a row for each run on the JVM.
pub fn rows(benchmark: &BenchmarkData<'_>) -> Vec<GcRow> {
    let mut rows = Vec::new();
    for case in &benchmark.cases {
        for run in &case.runs {
            let row = logged(run).or_else(|| counted(run));
            rows.extend(row.map(|row| GcRow {
                label: case.label.clone(),
                run: run.repetition(),
                ..row
            }));
        }
    }
    rows
}

/// Returns the pauses of a run with their ends in seconds since its load started; negative before
/// it.
pub fn pauses<'r>(run: &RunData<'r>) -> Vec<(f64, &'r GcPause)> {
    let (Some(log), Some(began_ns), Some((load_ns, _))) =
        (run.gc_log(), began_ns(run), load_ns(run))
    else {
        return Vec::new();
    };
    let at = |pause: &GcPause| seconds(began_ns.saturating_add(pause.at_ns)) - seconds(load_ns);
    log.pauses.iter().map(|pause| (at(pause), pause)).collect()
}

/// Returns when the contender's program started, monotonic ns: its log counts from there.
fn began_ns(run: &RunData<'_>) -> Option<u64> {
    let startup = run.records.startup.as_ref()?;
    startup.resources.at_ns.checked_sub(startup.startup_ns)
}

/// Returns the time from the first slice to the last, monotonic ns.
fn load_ns(run: &RunData<'_>) -> Option<(u64, u64)> {
    let (first, last) = (
        run.records.intervals.first()?,
        run.records.intervals.last()?,
    );
    Some((first.load.start_ns, last.load.end_ns))
}

/// Returns the length of all slices, seconds.
fn loaded_s(run: &RunData<'_>) -> f64 {
    let loads = run.records.intervals.iter().map(|slice| &slice.load);
    let lengths = loads.map(|load| load.end_ns.saturating_sub(load.start_ns));
    seconds(lengths.sum())
}

fn logged(run: &RunData<'_>) -> Option<GcRow> {
    let log: &GcLog = run.gc_log()?;
    let (from_ns, to_ns) = load_ns(run)?;
    let length_s = seconds(to_ns.saturating_sub(from_ns));
    let pauses = pauses(run);
    let under_load: Vec<&GcPause> = pauses
        .iter()
        .filter(|(at_s, _)| (0.0..=length_s).contains(at_s))
        .map(|(_, pause)| *pause)
        .collect();
    let total_ns: u64 = under_load.iter().map(|pause| pause.pause_ns).sum();
    let total_ns = total_ns.saturating_add(log.left_out_ns);
    // For pauses that are not in the list only their number and sum are known.
    let is_whole = log.left_out == 0;
    let listed = || under_load.iter().filter(|_| is_whole);
    let heaps = || listed().filter_map(|pause| pause.heap_after_bytes);
    Some(GcRow {
        label: String::new(),
        run: 0,
        collector: log.collector.clone(),
        count: under_load.len() as u64 + log.left_out,
        total_ms: milliseconds(total_ns),
        longest_ms: listed()
            .map(|pause| milliseconds(pause.pause_ns))
            .reduce(f64::max),
        throughput_percent: throughput_percent(total_ns, loaded_s(run)),
        heap_after_last_mib: heaps().next_back().map(mib),
        heap_after_most_mib: heaps().max().map(mib),
    })
}

fn counted(run: &RunData<'_>) -> Option<GcRow> {
    let first = run.records.intervals.first()?;
    let last = run.records.intervals.last()?;
    let before = first.contender_before.as_ref()?.jvm?;
    let after = last.contender_after.as_ref()?.jvm?;
    let total_ns = after.gc_ns.saturating_sub(before.gc_ns);
    Some(GcRow {
        label: String::new(),
        run: 0,
        collector: String::new(),
        count: after.gc_count.saturating_sub(before.gc_count),
        total_ms: milliseconds(total_ns),
        longest_ms: None,
        throughput_percent: throughput_percent(total_ns, loaded_s(run)),
        heap_after_last_mib: None,
        heap_after_most_mib: None,
    })
}

/// Returns the share of the time under load in which the collector paused the contender, 0 to 1.
pub fn paused_share(run: &RunData<'_>) -> Option<f64> {
    let row = logged(run).or_else(|| counted(run))?;
    Some((1.0 - row.throughput_percent / 100.0).max(0.0))
}

fn throughput_percent(paused_ns: u64, loaded_s: f64) -> f64 {
    if loaded_s > 0.0 {
        (1.0 - as_f64(paused_ns) / 1e9 / loaded_s) * 100.0
    } else {
        100.0
    }
}
