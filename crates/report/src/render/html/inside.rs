//! Tables of what goes on inside of contenders and databases: parts of their work, compiling,
//! garbage collection, connections.

use maud::{Markup, html};

use super::table::{self, Heading};
use crate::render::FIRST_BYTE_METHOD;
use crate::render::reasons::{LAYERS_METHOD, SAMPLED_METHOD, layer_text, sampled_rows};
use bakeoff_analysis::cpu_parts::CpuPartsRow;
use bakeoff_analysis::database::DatabaseRow;
use bakeoff_analysis::first_byte::FirstByteRow;
use bakeoff_analysis::gc::GcRow;
use bakeoff_analysis::layers::{Layers, SampledPair};
use bakeoff_analysis::number::{significant, significant_or_dash};
use bakeoff_analysis::probe::{self, ShareRow};

const SHARE_HEADINGS: [Heading; 6] = [
    ("contender", ""),
    ("part", ""),
    ("of", "the request that does it once"),
    (
        "alone, ms of CPU",
        "by a program of the contender that does nothing else",
    ),
    (
        "request, ms of CPU",
        "CPU of the contender in the measured steps for each successful one, mean over runs",
    ),
    ("share", ""),
];

const FIRST_BYTE_HEADINGS: [Heading; 6] = [
    ("step", ""),
    ("contender", ""),
    ("first byte, p50 ms", ""),
    ("first byte, p99 ms", ""),
    ("end, p50 ms", ""),
    ("end, p99 ms", ""),
];

const GC_HEADINGS: [Heading; 9] = [
    ("contender", ""),
    ("run", ""),
    ("collector", ""),
    ("pauses", "collections, where there is no log of them"),
    ("total ms", ""),
    ("longest ms", ""),
    (
        "throughput",
        "share of the time in which the program was not paused",
    ),
    ("heap after last, MiB", ""),
    ("heap after, at most, MiB", ""),
];

const DATABASE_HEADINGS: [Heading; 6] = [
    ("step", ""),
    ("contender", ""),
    ("open", "the most connections at the end of a time slice"),
    (
        "in use",
        "with a statement or transaction under way, mean over the ends of time slices",
    ),
    ("database, cores", "CPU of the database server"),
    ("contender, cores", "CPU of the contender"),
];

const CPU_HEADINGS: [Heading; 6] = [
    ("contender", ""),
    ("JIT, warm-up", "compiler threads"),
    ("JIT", "compiler threads, in measured steps"),
    ("JIT at most", "in a single measured slice"),
    (
        "collector",
        "threads of the garbage collector, in measured steps",
    ),
    ("application", "all the rest, in measured steps"),
];

/// Empty where nothing compiles or collects.
pub(super) fn cpu_parts(rows: &[CpuPartsRow]) -> Markup {
    html! {
        @if !rows.is_empty() {
            h4 { "What CPU time goes into" }
            p.hint {
                "By the names of threads, over all completed runs. Compiling above 5 % in a \
                 measured step marks it."
            }
            (table::filled("", &CPU_HEADINGS, rows.iter().map(cpu_cells).collect()))
        }
    }
}

/// Empty without samples of stacks.
pub(super) fn layers(layers: &Layers) -> Markup {
    html! {
        @if !layers.rows.is_empty() {
            h4 { "Where CPU time goes, by layer" }
            p.hint { (LAYERS_METHOD) }
            (table::framed("", &html! {
                thead {
                    tr {
                        th.label scope="col" { "CPU µs/request" }
                        @for name in &layers.names { th scope="col" { (name) } }
                        th scope="col" { "samples" }
                    }
                }
                tbody {
                    @for row in &layers.rows {
                        tr {
                            th scope="row" { (row.label) }
                            @for cell in &row.cpu_us { td { (layer_text(*cell)) } }
                            td { (row.samples) }
                        }
                    }
                }
            }))
            @for pair in &layers.pairs { (sampled_pair(pair)) }
        }
    }
}

/// Empty where nothing differs significantly.
fn sampled_pair(pair: &SampledPair) -> Markup {
    let rows = sampled_rows(pair);
    html! {
        @if !rows.is_empty() {
            p.hint { (pair.dearer) " against " (pair.cheaper) ". " (SAMPLED_METHOD) }
            (table::framed("", &html! {
                thead {
                    tr {
                        th.label scope="col" { "CPU µs/request" }
                        th scope="col" { (pair.dearer) }
                        th scope="col" { (pair.cheaper) }
                        th scope="col" { "difference" }
                    }
                }
                tbody {
                    @for [name, dearer, cheaper, difference] in &rows {
                        tr {
                            th scope="row" { (name) }
                            td { (dearer) }
                            td { (cheaper) }
                            td { (difference) }
                        }
                    }
                }
            }))
        }
    }
}

/// Empty where every response came whole.
pub(super) fn first_bytes(rows: &[FirstByteRow]) -> Markup {
    let cells = |row: &FirstByteRow| {
        let times = row.first.iter().chain(&row.end);
        let times = times.map(|ms| html! { td { (significant(*ms)) } });
        let names = [
            html! { td { (row.step) } },
            html! { th scope="row" { (row.label) } },
        ];
        names.into_iter().chain(times).collect()
    };
    html! {
        @if !rows.is_empty() {
            h4 { "Time to the first byte" }
            p.hint { (FIRST_BYTE_METHOD) }
            (table::filled("", &FIRST_BYTE_HEADINGS, rows.iter().map(cells).collect()))
        }
    }
}

/// Empty without a probe.
pub(super) fn shares(rows: &[ShareRow]) -> Markup {
    html! {
        @if !rows.is_empty() {
            h4 { "Where the CPU goes" }
            p.hint {
                @for sentence in probe::sentences(rows) { (sentence) " " }
                "The part was measured alone, warm, before the load; the CPU of the request is all \
                 that the contender used, other requests and failures included."
            }
            (table::filled("", &SHARE_HEADINGS, rows.iter().map(share_cells).collect()))
        }
    }
}

/// Empty without a JVM.
pub(super) fn gc(rows: &[GcRow]) -> Markup {
    html! {
        @if !rows.is_empty() {
            h4 { "Garbage collection" }
            p.hint {
                "Under load, warm-up included, by the JVM's own log; without one by its counters, \
                 which know no single pause."
            }
            (table::filled("", &GC_HEADINGS, rows.iter().map(gc_cells).collect()))
        }
    }
}

/// Empty without a database.
pub(super) fn database(rows: &[DatabaseRow]) -> Markup {
    html! {
        @if !rows.is_empty() {
            h4 { "Database connections" }
            p.hint { "Of all completed runs, beside the CPU that was used meanwhile." }
            (table::filled("", &DATABASE_HEADINGS, rows.iter().map(database_cells).collect()))
        }
    }
}

fn cpu_cells(row: &CpuPartsRow) -> Vec<Markup> {
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    vec![
        html! { th scope="row" { (row.label) } },
        html! { td { (row.jit_warm_up.map_or_else(|| "–".to_owned(), percent)) } },
        html! { td { (percent(row.jit)) } },
        html! { td { (percent(row.jit_most)) } },
        html! { td { (percent(row.gc)) } },
        html! { td { (percent(row.application)) } },
    ]
}

fn share_cells(row: &ShareRow) -> Vec<Markup> {
    vec![
        html! { th scope="row" { (row.label) } },
        html! { td.text { (row.part) } },
        html! { td.text { (row.request) } },
        html! { td { (significant(row.alone_ms)) } },
        html! { td { (significant(row.request_ms)) } },
        html! { td { (format!("{:.0} %", row.percent())) } },
    ]
}

fn gc_cells(row: &GcRow) -> Vec<Markup> {
    vec![
        html! { th scope="row" { (row.label) } },
        html! { td { (row.run) } },
        html! { td.text { (row.collector) } },
        html! { td { (row.count) } },
        html! { td { (significant(row.total_ms)) } },
        html! { td { (significant_or_dash(row.longest_ms)) } },
        html! { td { (format!("{:.2} %", row.throughput_percent)) } },
        html! { td { (significant_or_dash(row.heap_after_last_mib)) } },
        html! { td { (significant_or_dash(row.heap_after_most_mib)) } },
    ]
}

fn database_cells(row: &DatabaseRow) -> Vec<Markup> {
    vec![
        html! { td { (row.step) } },
        html! { th scope="row" { (row.label) } },
        html! { td { (row.open_most) } },
        html! { td { (significant(row.active_mean)) } },
        html! { td { (significant_or_dash(row.database_cores)) } },
        html! { td { (significant_or_dash(row.contender_cores)) } },
    ]
}
