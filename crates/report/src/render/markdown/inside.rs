//! Parts of the work, compiling, garbage collection and database connections, as Markdown.

use std::fmt::Write as _;

use super::{Column, escape, push_table_of};
use crate::render::FIRST_BYTE_METHOD;
use crate::render::reasons::{LAYERS_METHOD, SAMPLED_METHOD, layer_text, sampled_rows};
use bakeoff_analysis::cpu_parts::CpuPartsRow;
use bakeoff_analysis::database::DatabaseRow;
use bakeoff_analysis::first_byte::FirstByteRow;
use bakeoff_analysis::gc::GcRow;
use bakeoff_analysis::layers::{Layers, SampledPair};
use bakeoff_analysis::number::{significant, significant_or_dash};
use bakeoff_analysis::probe::{self, ShareRow};

const CPU_COLUMNS: [Column; 6] = [
    ("<", "contender"),
    (">", "JIT, warm-up"),
    (">", "JIT"),
    (">", "JIT at most in a slice"),
    (">", "collector"),
    (">", "application"),
];

const SHARE_COLUMNS: [Column; 6] = [
    ("<", "contender"),
    ("<", "part"),
    ("<", "of"),
    (">", "alone, ms of CPU"),
    (">", "request, ms of CPU"),
    (">", "share"),
];

const FIRST_BYTE_COLUMNS: [Column; 6] = [
    ("<", "step"),
    ("<", "contender"),
    (">", "first byte, p50 ms"),
    (">", "first byte, p99 ms"),
    (">", "end, p50 ms"),
    (">", "end, p99 ms"),
];

const GC_COLUMNS: [Column; 9] = [
    ("<", "contender"),
    (">", "run"),
    ("<", "collector"),
    (">", "pauses"),
    (">", "total ms"),
    (">", "longest ms"),
    (">", "throughput"),
    (">", "heap after last, MiB"),
    (">", "heap after, at most, MiB"),
];

const DATABASE_COLUMNS: [Column; 6] = [
    ("<", "step"),
    ("<", "contender"),
    (">", "open at most"),
    (">", "in use, mean"),
    (">", "database, cores"),
    (">", "contender, cores"),
];

/// Nothing where nothing compiles or collects.
pub(super) fn push_cpu_parts(text: &mut String, rows: &[CpuPartsRow]) {
    if rows.is_empty() {
        return;
    }
    text.push_str(
        "\n### What CPU time goes into\n\nBy the names of threads, in measured steps unless the \
         column says warm-up.\n",
    );
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    let cells = |row: &CpuPartsRow| {
        vec![
            escape(&row.label),
            row.jit_warm_up.map_or_else(|| "–".to_owned(), percent),
            percent(row.jit),
            percent(row.jit_most),
            percent(row.gc),
            percent(row.application),
        ]
    };
    push_table_of(text, &CPU_COLUMNS, rows.iter().map(cells).collect());
}

/// Nothing where every response came whole.
pub(super) fn push_first_bytes(text: &mut String, rows: &[FirstByteRow]) {
    if rows.is_empty() {
        return;
    }
    let _ = write!(
        text,
        "\n### Time to the first byte\n\n{FIRST_BYTE_METHOD}\n"
    );
    let cells = |row: &FirstByteRow| {
        let times = row.first.iter().chain(&row.end);
        let times = times.map(|ms| significant(*ms));
        let names = [escape(&row.step), escape(&row.label)];
        names.into_iter().chain(times).collect()
    };
    push_table_of(text, &FIRST_BYTE_COLUMNS, rows.iter().map(cells).collect());
}

/// Nothing without a probe.
pub(super) fn push_shares(text: &mut String, rows: &[ShareRow]) {
    if rows.is_empty() {
        return;
    }
    let sentences = probe::sentences(rows).join(" ");
    let _ = write!(
        text,
        "\n### Where the CPU goes\n\n{} The part was measured alone, warm, before the load.\n",
        escape(&sentences)
    );
    let cells = |row: &ShareRow| {
        vec![
            escape(&row.label),
            escape(&row.part),
            escape(&row.request),
            significant(row.alone_ms),
            significant(row.request_ms),
            format!("{:.0} %", row.percent()),
        ]
    };
    push_table_of(text, &SHARE_COLUMNS, rows.iter().map(cells).collect());
}

/// Nothing without a JVM.
pub(super) fn push_gc(text: &mut String, rows: &[GcRow]) {
    if rows.is_empty() {
        return;
    }
    text.push_str(
        "\n### Garbage collection\n\nUnder load, warm-up included, by the JVM's own log; \
         without one by its counters, which know no single pause.\n",
    );
    let cells = |row: &GcRow| {
        vec![
            escape(&row.label),
            row.run.to_string(),
            escape(&row.collector),
            row.count.to_string(),
            significant(row.total_ms),
            significant_or_dash(row.longest_ms),
            format!("{:.2} %", row.throughput_percent),
            significant_or_dash(row.heap_after_last_mib),
            significant_or_dash(row.heap_after_most_mib),
        ]
    };
    push_table_of(text, &GC_COLUMNS, rows.iter().map(cells).collect());
}

/// Nothing without a database.
pub(super) fn push_database(text: &mut String, rows: &[DatabaseRow]) {
    if rows.is_empty() {
        return;
    }
    text.push_str("\n### Database connections\n");
    let cells = |row: &DatabaseRow| {
        vec![
            escape(&row.step),
            escape(&row.label),
            row.open_most.to_string(),
            significant(row.active_mean),
            significant_or_dash(row.database_cores),
            significant_or_dash(row.contender_cores),
        ]
    };
    push_table_of(text, &DATABASE_COLUMNS, rows.iter().map(cells).collect());
}

/// Where CPU time goes by samples of stacks; nothing without any.
pub(super) fn push_layers(text: &mut String, layers: &Layers) {
    if layers.rows.is_empty() {
        return;
    }
    let _ = write!(
        text,
        "\n### Where CPU time goes, by layer\n\n{LAYERS_METHOD}\n\n"
    );
    let names: Vec<String> = layers.names.iter().map(|name| escape(name)).collect();
    let _ = writeln!(text, "| CPU µs/request | {} | samples |", names.join(" | "));
    let _ = writeln!(text, "|---|{}--:|", "--:|".repeat(names.len()));
    for row in &layers.rows {
        let cells: Vec<String> = row.cpu_us.iter().map(|cell| layer_text(*cell)).collect();
        let label = escape(&row.label);
        let _ = writeln!(
            text,
            "| {label} | {} | {} |",
            cells.join(" | "),
            row.samples
        );
    }
    for pair in &layers.pairs {
        push_sampled_pair(text, pair);
    }
}

/// Nothing where nothing differs significantly.
fn push_sampled_pair(text: &mut String, pair: &SampledPair) {
    let rows = sampled_rows(pair);
    if rows.is_empty() {
        return;
    }
    let (dearer, cheaper) = (escape(&pair.dearer), escape(&pair.cheaper));
    let _ = write!(
        text,
        "\n{dearer} against {cheaper}. {SAMPLED_METHOD}\n\n\
         | CPU µs/request | {dearer} | {cheaper} | difference |\n|---|--:|--:|--:|\n"
    );
    for [name, dearer, cheaper, difference] in rows {
        let name = escape(&name);
        let _ = writeln!(text, "| {name} | {dearer} | {cheaper} | {difference} |");
    }
}
