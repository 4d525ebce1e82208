//! The response-time block: each request of a benchmark that has several.

use maud::{Markup, html};

use super::table::{self, Heading};
use crate::analysis::requests::{Bands, RequestRow};
use crate::number::{as_f64, significant, significant_or_dash};

const HEADINGS: [Heading; 14] = [
    ("contender", ""),
    ("step", ""),
    ("request", ""),
    ("OK", "successful"),
    ("KO", "failed"),
    ("req/s", ""),
    ("min", ""),
    ("max", ""),
    ("mean", ""),
    ("std", "standard deviation"),
    ("p50", ""),
    ("p75", ""),
    ("p95", ""),
    ("p99", ""),
];

const BAND_HEADINGS: [Heading; 8] = [
    ("contender", ""),
    ("step", ""),
    ("below 800 ms", ""),
    ("800 to 1200 ms", ""),
    ("above 1200 ms", ""),
    ("failed", ""),
    ("Apdex", ""),
    ("rating", ""),
];

/// Empty when the benchmark has a single request.
pub(super) fn section(rows: &[RequestRow]) -> Markup {
    let bands: Vec<(&RequestRow, Bands)> = rows
        .iter()
        .filter_map(|row| Some((row, row.bands?)))
        .collect();
    html! {
        @if !rows.is_empty() {
            h4 { "Requests" }
            p.hint {
                "All completed runs together. Times in milliseconds, of successful requests; in a \
                 scenario from the end of the user's pause."
            }
            (table::framed("", &html! {
                (table::head(&HEADINGS))
                tbody { @for row in rows { (line(row)) } }
            }))
        }
        @if !bands.is_empty() {
            h4 { "Response times in bands" }
            p.hint { "Apdex with T = 1.5 s; a failure is a frustrated user." }
            (table::framed("", &html! {
                (table::head(&BAND_HEADINGS))
                tbody { @for (row, bands) in &bands { (band_line(row, bands)) } }
            }))
        }
    }
}

fn line(row: &RequestRow) -> Markup {
    let times = [row.min_ms, row.max_ms, row.mean_ms, row.deviation_ms];
    html! {
        tr {
            th scope="row" { (row.label) }
            td { (row.step) }
            td.text { (row.request) }
            td { (row.requests) }
            td { (row.failures) }
            td { (significant(row.throughput)) }
            @for time_ms in times.iter().chain(&row.percentiles_ms) {
                td { (significant_or_dash(*time_ms)) }
            }
        }
    }
}

fn band_line(row: &RequestRow, bands: &Bands) -> Markup {
    let total = as_f64(row.requests + row.failures);
    let share = |count: u64| format!("{count} ({:.1} %)", as_f64(count) / total * 100.0);
    html! {
        tr {
            th scope="row" { (row.label) }
            td { (row.step) }
            @for count in bands.counts { td { (share(count)) } }
            td { (share(row.failures)) }
            td { (format!("{:.2}", bands.apdex)) }
            td { (bands.rating) }
        }
    }
}
