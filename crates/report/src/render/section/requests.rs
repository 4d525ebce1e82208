//! The response-time block: each request of a benchmark that has several, how times are spread over
//! bands, the rounds compared, and what failed.

use super::Section;
use crate::render::table::{Cell, Column, Table};
use bakeoff_analysis::data::number::as_f64;
use bakeoff_analysis::data::requests::{Block, RequestRow, TimesMs};
use bakeoff_analysis::tables::errors::{ClassRow, ErrorRow, Failed};

const REQUESTS: &[Column<RequestRow>] = &[
    Column::text("step", |row: &RequestRow| Cell::word(&row.step)),
    Column::text("contender", |row: &RequestRow| Cell::name(&row.label)),
    Column::text("request", |row: &RequestRow| Cell::text(&row.block.request)),
    Column::new("OK", |row: &RequestRow| Cell::word(row.block.requests)).help("successful"),
    Column::new("KO", |row: &RequestRow| Cell::word(row.block.failures)).help("failed"),
    Column::new("req/s", |row: &RequestRow| {
        Cell::number(row.block.throughput)
    })
    .help("successful ones"),
];

/// Columns of a block's times.
const TIMES: &[Column<TimesMs>] = &[
    Column::new("min", |times: &TimesMs| Cell::number(times.min)),
    Column::new("max", |times: &TimesMs| Cell::number(times.max)),
    Column::new("mean", |times: &TimesMs| Cell::number(times.mean)),
    Column::new("std", |times: &TimesMs| Cell::number(times.deviation)).help("standard deviation"),
    Column::new("p50", |times: &TimesMs| Cell::number(times.percentiles[0])),
    Column::new("p75", |times: &TimesMs| Cell::number(times.percentiles[1])),
    Column::new("p95", |times: &TimesMs| Cell::number(times.percentiles[2])),
    Column::new("p99", |times: &TimesMs| Cell::number(times.percentiles[3])),
];

const BANDS: &[Column<RequestRow>] = &[
    Column::text("step", |row: &RequestRow| Cell::word(&row.step)),
    Column::text("contender", |row: &RequestRow| Cell::name(&row.label)),
    Column::text("request", |row: &RequestRow| Cell::text(&row.block.request)),
    Column::new("below 800 ms", |row: &RequestRow| banded(&row.block, 0)),
    Column::new("800 to 1200 ms", |row: &RequestRow| banded(&row.block, 1)),
    Column::new("above 1200 ms", |row: &RequestRow| banded(&row.block, 2)),
    Column::new("failed", |row: &RequestRow| {
        of_all(&row.block, row.block.failures)
    }),
    Column::new("Apdex", |row: &RequestRow| apdex(&row.block)),
    Column::text("rating", |row: &RequestRow| rating(&row.block)),
];

const ROUNDS: &[Column<RequestRow>] = &[
    Column::text("step", |row: &RequestRow| Cell::word(&row.step)),
    Column::text("contender", |row: &RequestRow| Cell::name(&row.label)),
    Column::new("duration s", |row: &RequestRow| {
        Cell::number(row.block.seconds)
    })
    .help("all completed runs together"),
    Column::new("OK", |row: &RequestRow| Cell::word(row.block.requests)).help("successful"),
    Column::new("KO", |row: &RequestRow| Cell::word(row.block.failures)).help("failed"),
    Column::new("min", |row: &RequestRow| {
        Cell::number(row.block.times.of_round()[0])
    }),
    Column::new("p50", |row: &RequestRow| {
        Cell::number(row.block.times.of_round()[1])
    }),
    Column::new("p95", |row: &RequestRow| {
        Cell::number(row.block.times.of_round()[2])
    }),
    Column::new("p99", |row: &RequestRow| {
        Cell::number(row.block.times.of_round()[3])
    }),
    Column::new("max", |row: &RequestRow| {
        Cell::number(row.block.times.of_round()[4])
    }),
    Column::new("mean", |row: &RequestRow| {
        Cell::number(row.block.times.of_round()[5])
    }),
    Column::new("std", |row: &RequestRow| {
        Cell::number(row.block.times.of_round()[6])
    })
    .help("standard deviation"),
    Column::new("req/s", |row: &RequestRow| {
        Cell::number(row.block.throughput)
    })
    .help("successful ones"),
    Column::new("Apdex", |row: &RequestRow| apdex(&row.block)),
    Column::text("rating", |row: &RequestRow| rating(&row.block)),
];

const ERRORS: &[Column<ErrorRow>] = &[
    Column::text("step", |row: &ErrorRow| Cell::word(&row.step)),
    Column::text("contender", |row: &ErrorRow| Cell::name(&row.label)),
    Column::text("class", |row: &ErrorRow| Cell::text(row.error.class.name())),
    Column::text("message", |row: &ErrorRow| Cell::text(&row.error.message)),
    Column::new("count", |row: &ErrorRow| Cell::word(row.error.count)),
    Column::new("share", |row: &ErrorRow| {
        Cell::percent(row.error.share * 100.0, 1)
    })
    .help("of all failures of the step"),
];

const CLASSES: &[Column<ClassRow>] = &[
    Column::text("step", |row: &ClassRow| Cell::word(&row.step)),
    Column::text("contender", |row: &ClassRow| Cell::name(&row.label)),
    Column::text("class", |row: &ClassRow| Cell::text(row.class.name())),
    Column::new("count", |row: &ClassRow| Cell::word(row.count)),
    Column::new("share", |row: &ClassRow| {
        Cell::percent(row.share * 100.0, 1)
    })
    .help("of all requests of the step"),
];

/// None when the benchmark has a single request and nothing failed.
pub(super) fn sections(rows: &[RequestRow], failed: &Failed) -> Vec<Section> {
    let banded = || rows.iter().filter(|row| row.block.bands.is_some());
    let all = [
        of_rounds(Table::of(
            ROUNDS,
            banded().filter(|row| row.block.is_of_all()),
        )),
        of_requests(rows),
        Section::of(
            "Response times in bands",
            "Apdex with T = 1.5 s; a failure is a frustrated user.",
            Table::of(BANDS, banded()),
        ),
        Section::of(
            "Failed requests",
            "By message; of all runs, also those that did not complete.",
            Table::of(ERRORS, &failed.messages),
        ),
        of_classes(&failed.classes),
    ];
    all.into_iter().filter(Section::has_rows).collect()
}

fn of_rounds(table: Table) -> Section {
    let note = "All requests of all completed runs together. Times in milliseconds, of successful \
                requests. Apdex with T = 1.5 s; a failure is a frustrated user.";
    Section::of("Users, step by step", note, table)
}

fn of_requests(rows: &[RequestRow]) -> Section {
    let apart = match rows.iter().any(|row| row.block.has_failed_times()) {
        true => ", those of failed ones apart",
        false => "",
    };
    let note = format!(
        "All completed runs together. Times in milliseconds, of successful requests{apart}; in a \
         scenario from the end of the user's pause."
    );
    let times = Table::of(TIMES, rows.iter().map(|row| &row.block.times));
    let failed = Table::of(TIMES, rows.iter().map(|row| &row.block.failed_times));
    let table = Table::of(REQUESTS, rows)
        .beside(times)
        .beside(failed.prefixed("KO ", "of failed requests"));
    Section::of("Requests", note, table)
}

fn of_classes(rows: &[ClassRow]) -> Section {
    let note = "By class, in milliseconds, until the failure; of all runs, also those that did \
                not complete. Shares are of all requests of the step.";
    let times = Table::of(TIMES, rows.iter().map(|row| &row.times));
    let table = Table::of(CLASSES, rows).beside(times);
    Section::of("Times of failed requests", note, table)
}

/// The requests in a band.
fn banded(block: &Block, band: usize) -> Cell {
    let count = block.bands.as_ref().map(|bands| bands.counts[band]);
    count.map_or(Cell::number(None), |count| of_all(block, count))
}

/// A count with its share of all.
fn of_all(block: &Block, count: u64) -> Cell {
    let total = as_f64(block.requests + block.failures);
    Cell::Word(format!("{count} ({:.1} %)", as_f64(count) / total * 100.0))
}

fn apdex(block: &Block) -> Cell {
    let apdex = block.bands.as_ref().map(|bands| bands.apdex);
    apdex.map_or(Cell::number(None), |apdex| {
        Cell::Word(format!("{apdex:.2}"))
    })
}

fn rating(block: &Block) -> Cell {
    Cell::text(block.bands.as_ref().map_or("", |bands| bands.rating))
}
