//! The inside of contenders and databases: parts of their work, compiling, garbage
//! collection, connections.

use super::Section;
use crate::render::table::{Cell, Column, Table};
use bakeoff_analysis::explain::cpu_parts::CpuPartsRow;
use bakeoff_analysis::explain::database::DatabaseRow;
use bakeoff_analysis::explain::gc::GcRow;
use bakeoff_analysis::explain::probe::{self, ShareRow};
use bakeoff_analysis::tables::first_byte::FirstByteRow;

const CPU_COLUMNS: &[Column<CpuPartsRow>] = &[
    Column::text("contender", |row: &CpuPartsRow| Cell::name(&row.label)),
    Column::new("JIT, warm-up", |row: &CpuPartsRow| match row.jit_warm_up {
        Some(share) => share_of_cpu(share),
        None => Cell::number(None),
    })
    .help("compiler threads"),
    Column::new("JIT", |row: &CpuPartsRow| share_of_cpu(row.jit))
        .help("compiler threads, in measured steps"),
    Column::new("JIT at most in a slice", |row: &CpuPartsRow| {
        share_of_cpu(row.jit_most)
    })
    .help("in a single measured slice"),
    Column::new("collector", |row: &CpuPartsRow| share_of_cpu(row.gc))
        .help("threads of the garbage collector, in measured steps"),
    Column::new("application", |row: &CpuPartsRow| {
        share_of_cpu(row.application)
    })
    .help("all the rest, in measured steps"),
];

/// The section on CPU parts; `None` if nothing compiles or collects.
pub(super) fn cpu_parts(rows: &[CpuPartsRow]) -> Option<Section> {
    let note = "By the names of threads, over all completed runs, in measured steps unless the \
                column says warm-up. Compiling above 5 % in a measured step marks it.";
    let section = || {
        Section::of(
            "What CPU time goes into",
            note,
            Table::of(CPU_COLUMNS, rows),
        )
    };
    (!rows.is_empty()).then(section)
}

fn share_of_cpu(share: f64) -> Cell {
    Cell::percent(share * 100.0, 1)
}

const FIRST_BYTE_COLUMNS: &[Column<FirstByteRow>] = &[
    Column::text("step", |row: &FirstByteRow| Cell::word(&row.step)),
    Column::text("contender", |row: &FirstByteRow| Cell::name(&row.label)),
    Column::new("first byte, p50 ms", |row: &FirstByteRow| {
        Cell::number(row.first[0])
    }),
    Column::new("first byte, p99 ms", |row: &FirstByteRow| {
        Cell::number(row.first[1])
    }),
    Column::new("end, p50 ms", |row: &FirstByteRow| Cell::number(row.end[0])),
    Column::new("end, p99 ms", |row: &FirstByteRow| Cell::number(row.end[1])),
];

/// The section on first bytes; `None` if every response came whole.
pub(super) fn first_bytes(rows: &[FirstByteRow]) -> Option<Section> {
    let note = "Of responses, some of which came in parts: from the send to the first byte of the \
                body, and to its end; means over runs or sets.";
    let table = || Table::of(FIRST_BYTE_COLUMNS, rows);
    (!rows.is_empty()).then(|| Section::of("Time to the first byte", note, table()))
}

const SHARE_COLUMNS: &[Column<ShareRow>] = &[
    Column::text("contender", |row: &ShareRow| Cell::name(&row.label)),
    Column::text("part", |row: &ShareRow| Cell::text(&row.part)),
    Column::text("of", |row: &ShareRow| Cell::text(&row.request))
        .help("the request that does it once"),
    Column::new("alone, ms of CPU", |row: &ShareRow| {
        Cell::number(row.alone_ms)
    })
    .help("by a program of the contender that does nothing else"),
    Column::new("request, ms of CPU", |row: &ShareRow| {
        Cell::number(row.request_ms)
    })
    .help("CPU of the contender in the measured steps for each successful one, mean over runs"),
    Column::new("share", |row: &ShareRow| Cell::percent(row.percent(), 0)),
];

/// None without a probe.
pub(super) fn shares(rows: &[ShareRow]) -> Option<Section> {
    if rows.is_empty() {
        return None;
    }
    let note = format!(
        "{} The part was measured alone, warm, before the load; the CPU of the request is all that \
         the contender used, other requests and failures included.",
        probe::sentences(rows).join(" ")
    );
    let table = Table::of(SHARE_COLUMNS, rows);
    Some(Section::of("Where the CPU goes", note, table))
}

const GC_COLUMNS: &[Column<GcRow>] = &[
    Column::text("contender", |row: &GcRow| Cell::name(&row.label)),
    Column::new("run", |row: &GcRow| Cell::word(row.run)),
    Column::text("collector", |row: &GcRow| Cell::text(&row.collector)),
    Column::new("pauses", |row: &GcRow| Cell::word(row.count))
        .help("collections, where there is no log of them"),
    Column::new("total ms", |row: &GcRow| Cell::number(row.total_ms)),
    Column::new("longest ms", |row: &GcRow| Cell::number(row.longest_ms)),
    Column::new("throughput", |row: &GcRow| {
        Cell::percent(row.throughput_percent, 2)
    })
    .help("share of the time in which the program was not paused"),
    Column::new("heap after last, MiB", |row: &GcRow| {
        Cell::number(row.heap_after_last_mib)
    }),
    Column::new("heap after, at most, MiB", |row: &GcRow| {
        Cell::number(row.heap_after_most_mib)
    }),
];

/// None without a JVM.
pub(super) fn gc(rows: &[GcRow]) -> Option<Section> {
    let note = "Under load, warm-up included, by the JVM's own log; without one by its counters, \
                which know no single pause.";
    let section = || Section::of("Garbage collection", note, Table::of(GC_COLUMNS, rows));
    (!rows.is_empty()).then(section)
}

const DATABASE_COLUMNS: &[Column<DatabaseRow>] = &[
    Column::text("step", |row: &DatabaseRow| Cell::word(&row.step)),
    Column::text("contender", |row: &DatabaseRow| Cell::name(&row.label)),
    Column::new("open at most", |row: &DatabaseRow| {
        Cell::word(row.open_most)
    })
    .help("the most connections at the end of a time slice"),
    Column::new("in use, mean", |row: &DatabaseRow| {
        Cell::number(row.active_mean)
    })
    .help("with a statement or transaction under way, mean over the ends of time slices"),
    Column::new("database, cores", |row: &DatabaseRow| {
        Cell::number(row.database_cores)
    })
    .help("CPU of the database server"),
    Column::new("contender, cores", |row: &DatabaseRow| {
        Cell::number(row.contender_cores)
    })
    .help("CPU of the contender"),
];

/// None without a database.
pub(super) fn database(rows: &[DatabaseRow]) -> Option<Section> {
    let note = "Of all completed runs, next to the CPU that was used meanwhile.";
    let table = || Table::of(DATABASE_COLUMNS, rows);
    (!rows.is_empty()).then(|| Section::of("Database connections", note, table()))
}
