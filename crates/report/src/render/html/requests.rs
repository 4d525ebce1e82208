//! The response-time block: each request of a benchmark that has several, how times are spread over
//! bands, the rounds compared, and what failed.

use maud::{Markup, html};

use super::table::{self, Heading};
use bakeoff_analysis::errors::{ClassRow, ErrorRow, Failed};
use bakeoff_analysis::number::{as_f64, significant, significant_or_dash};
use bakeoff_analysis::requests::{Bands, RequestRow};

const HEADINGS: [Heading; 6] = [
    ("step", ""),
    ("contender", ""),
    ("request", ""),
    ("OK", "successful"),
    ("KO", "failed"),
    ("req/s", "successful ones"),
];

/// Of all times of a block.
const TIME_HEADINGS: [Heading; 8] = [
    ("min", ""),
    ("max", ""),
    ("mean", ""),
    ("std", "standard deviation"),
    ("p50", ""),
    ("p75", ""),
    ("p95", ""),
    ("p99", ""),
];

const FAILED_TIME_HEADINGS: [Heading; 8] = [
    ("KO min", "of failed requests"),
    ("KO max", "of failed requests"),
    ("KO mean", "of failed requests"),
    ("KO std", "standard deviation of failed requests"),
    ("KO p50", "of failed requests"),
    ("KO p75", "of failed requests"),
    ("KO p95", "of failed requests"),
    ("KO p99", "of failed requests"),
];

const CLASS_HEADINGS: [Heading; 5] = [
    ("step", ""),
    ("contender", ""),
    ("class", ""),
    ("count", ""),
    ("share", "of all requests of the step"),
];

const BAND_HEADINGS: [Heading; 9] = [
    ("step", ""),
    ("contender", ""),
    ("request", ""),
    ("below 800 ms", ""),
    ("800 to 1200 ms", ""),
    ("above 1200 ms", ""),
    ("failed", ""),
    ("Apdex", ""),
    ("rating", ""),
];

const ROUND_HEADINGS: [Heading; 15] = [
    ("step", ""),
    ("contender", ""),
    ("duration s", "all completed runs together"),
    ("OK", "successful"),
    ("KO", "failed"),
    ("min", ""),
    ("p50", ""),
    ("p95", ""),
    ("p99", ""),
    ("max", ""),
    ("mean", ""),
    ("std", "standard deviation"),
    ("req/s", "successful ones"),
    ("Apdex", ""),
    ("rating", ""),
];

const ERROR_HEADINGS: [Heading; 6] = [
    ("step", ""),
    ("contender", ""),
    ("class", ""),
    ("message", ""),
    ("count", ""),
    ("share", "of all failures of the step"),
];

/// Nothing when the benchmark has a single request and nothing failed.
pub(super) fn section(rows: &[RequestRow], failed: &Failed) -> Markup {
    let has_bands = rows.iter().any(|row| row.block.bands.is_some());
    html! {
        @if has_bands { (rounds(rows)) }
        @if !rows.is_empty() { (requests(rows)) }
        @if has_bands { (bands(rows)) }
        @if !failed.messages.is_empty() { (failures(&failed.messages)) }
        @if !failed.classes.is_empty() { (classes(&failed.classes)) }
    }
}

fn rounds(rows: &[RequestRow]) -> Markup {
    html! {
        h4 { "Users, step by step" }
        p.hint {
            "All requests of all completed runs together. Times in milliseconds, of successful \
             requests. Apdex with T = 1.5 s; a failure is a frustrated user."
        }
        (table::framed("", &html! {
            (table::head(&ROUND_HEADINGS))
            tbody {
                @for row in rows.iter().filter(|row| row.block.is_of_all()) {
                    @if let Some(bands) = &row.block.bands { (round_line(row, bands)) }
                }
            }
        }))
    }
}

fn requests(rows: &[RequestRow]) -> Markup {
    let has_failed_times = rows.iter().any(|row| row.block.has_failed_times());
    let failed_headings: &[Heading] = match has_failed_times {
        true => &FAILED_TIME_HEADINGS,
        false => &[],
    };
    let headings = [&HEADINGS[..], &TIME_HEADINGS, failed_headings].concat();
    html! {
        h4 { "Requests" }
        p.hint {
            "All completed runs together. Times in milliseconds, of successful requests"
            @if has_failed_times { ", those of failed ones apart" }
            "; in a scenario from the end of the user's pause."
        }
        (table::framed("", &html! {
            (table::head(&headings))
            tbody { @for row in rows { (line(row, has_failed_times)) } }
        }))
    }
}

fn bands(rows: &[RequestRow]) -> Markup {
    html! {
        h4 { "Response times in bands" }
        p.hint { "Apdex with T = 1.5 s; a failure is a frustrated user." }
        (table::framed("", &html! {
            (table::head(&BAND_HEADINGS))
            tbody {
                @for row in rows {
                    @if let Some(bands) = &row.block.bands { (band_line(row, bands)) }
                }
            }
        }))
    }
}

fn failures(errors: &[ErrorRow]) -> Markup {
    html! {
        h4 { "Failed requests" }
        p.hint { "By message; of all runs, also those that did not complete." }
        (table::framed("", &html! {
            (table::head(&ERROR_HEADINGS))
            tbody {
                @for row in errors {
                    tr {
                        (place(&row.step, &row.label))
                        td.text { (row.error.class.name()) }
                        td.text { (row.error.message) }
                        td { (row.error.count) }
                        td { (format!("{:.1} %", row.error.share * 100.0)) }
                    }
                }
            }
        }))
    }
}

fn classes(rows: &[ClassRow]) -> Markup {
    html! {
        h4 { "Times of failed requests" }
        p.hint { "By class, in milliseconds, until the failure; of all runs, also those that did \
                  not complete." }
        (table::framed("", &html! {
            (table::head(&[&CLASS_HEADINGS[..], &TIME_HEADINGS].concat()))
            tbody {
                @for row in rows {
                    tr {
                        (place(&row.step, &row.label))
                        td.text { (row.class.name()) }
                        td { (row.count) }
                        td { (format!("{:.1} %", row.share * 100.0)) }
                        @for time_ms in row.times.all() { td { (significant_or_dash(time_ms)) } }
                    }
                }
            }
        }))
    }
}

/// The first two cells of each row.
fn place(step: &str, label: &str) -> Markup {
    html! {
        td { (step) }
        th scope="row" { (label) }
    }
}

fn line(row: &RequestRow, has_failed_times: bool) -> Markup {
    let block = &row.block;
    let failed_times = has_failed_times.then(|| block.failed_times.all());
    let times = block.times.all().into_iter();
    let times = times.chain(failed_times.into_iter().flatten());
    html! {
        tr {
            (place(&row.step, &row.label))
            td.text { (block.request) }
            td { (block.requests) }
            td { (block.failures) }
            td { (significant(block.throughput)) }
            @for time_ms in times { td { (significant_or_dash(time_ms)) } }
        }
    }
}

fn round_line(row: &RequestRow, bands: &Bands) -> Markup {
    let block = &row.block;
    html! {
        tr {
            (place(&row.step, &row.label))
            td { (significant(block.seconds)) }
            td { (block.requests) }
            td { (block.failures) }
            @for time_ms in block.times.of_round() { td { (significant_or_dash(time_ms)) } }
            td { (significant(block.throughput)) }
            td { (format!("{:.2}", bands.apdex)) }
            td.text { (bands.rating) }
        }
    }
}

fn band_line(row: &RequestRow, bands: &Bands) -> Markup {
    let block = &row.block;
    let total = as_f64(block.requests + block.failures);
    let share = |count: u64| format!("{count} ({:.1} %)", as_f64(count) / total * 100.0);
    html! {
        tr {
            (place(&row.step, &row.label))
            td.text { (block.request) }
            @for count in bands.counts { td { (share(count)) } }
            td { (share(block.failures)) }
            td { (format!("{:.2}", bands.apdex)) }
            td.text { (bands.rating) }
        }
    }
}
