//! The response-time block and what failed, as Markdown.

use std::fmt::Write as _;

use super::escape;
use bakeoff_analysis::errors::{ClassRow, ErrorRow, Failed};
use bakeoff_analysis::number::{significant, significant_or_dash};
use bakeoff_analysis::requests::{Bands, RequestRow};

/// Nothing when the benchmark has a single request and nothing failed.
pub(super) fn push(text: &mut String, rows: &[RequestRow], failed: &Failed) {
    let banded = rows.iter().filter_map(|row| Some((row, row.block.bands?)));
    let banded: Vec<(&RequestRow, Bands)> = banded.collect();
    if !banded.is_empty() {
        push_rounds(text, &banded);
    }
    if !rows.is_empty() {
        push_requests(text, rows);
    }
    if !banded.is_empty() {
        push_bands(text, &banded);
    }
    if !failed.messages.is_empty() {
        push_errors(text, &failed.messages);
    }
    if !failed.classes.is_empty() {
        push_classes(text, &failed.classes);
    }
}

fn push_rounds(text: &mut String, rows: &[(&RequestRow, Bands)]) {
    text.push_str(
        "\n### Users, step by step\n\nAll requests of all completed runs together. Times in \
         milliseconds, of successful requests. Apdex with T = 1.5 s; a failure is a frustrated \
         user.\n\n\
         | step | contender | duration s | OK | KO | min | p50 | p95 | p99 | max | mean | std | \
         req/s | Apdex | rating |\n\
         |---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|\n",
    );
    for (row, bands) in rows.iter().filter(|(row, _)| row.block.is_of_all()) {
        let block = &row.block;
        let mut cells = vec![
            significant(block.seconds),
            block.requests.to_string(),
            block.failures.to_string(),
        ];
        cells.extend(block.times.of_round().map(significant_or_dash));
        cells.push(significant(block.throughput));
        cells.push(format!("{:.2}", bands.apdex));
        cells.push(bands.rating.to_owned());
        push_row(text, &row.step, &row.label, &cells);
    }
}

fn push_requests(text: &mut String, rows: &[RequestRow]) {
    let has_failed_times = rows.iter().any(|row| row.block.has_failed_times());
    text.push_str(
        "\n### Requests\n\n\
         | step | contender | request | OK | KO | req/s | min | max | mean | std | p50 | p75 | p95 \
         | p99 |",
    );
    if has_failed_times {
        text.push_str(" KO min | KO max | KO mean | KO std | KO p50 | KO p75 | KO p95 | KO p99 |");
    }
    let columns = if has_failed_times { 19 } else { 11 };
    let _ = writeln!(text, "\n|---|---|---|{}", "--:|".repeat(columns));
    for row in rows {
        let block = &row.block;
        let mut cells = vec![
            escape(&block.request),
            block.requests.to_string(),
            block.failures.to_string(),
            significant(block.throughput),
        ];
        cells.extend(block.times.all().map(significant_or_dash));
        if has_failed_times {
            cells.extend(block.failed_times.all().map(significant_or_dash));
        }
        push_row(text, &row.step, &row.label, &cells);
    }
}

fn push_bands(text: &mut String, rows: &[(&RequestRow, Bands)]) {
    text.push_str(
        "\n### Response times in bands\n\n\
         | step | contender | request | below 800 ms | 800 to 1200 ms | above 1200 ms | failed | \
         Apdex | rating |\n\
         |---|---|---|--:|--:|--:|--:|--:|---|\n",
    );
    for (row, bands) in rows {
        let mut cells = vec![escape(&row.block.request)];
        cells.extend(bands.counts.map(|count| count.to_string()));
        cells.push(row.block.failures.to_string());
        cells.push(format!("{:.2}", bands.apdex));
        cells.push(bands.rating.to_owned());
        push_row(text, &row.step, &row.label, &cells);
    }
}

fn push_errors(text: &mut String, rows: &[ErrorRow]) {
    text.push_str(
        "\n### Failed requests\n\nOf all runs, also those that did not complete.\n\n\
         | step | contender | class | message | count | share |\n\
         |---|---|---|---|--:|--:|\n",
    );
    for row in rows {
        let cells = [
            row.error.class.name().to_owned(),
            escape(&row.error.message),
            row.error.count.to_string(),
            format!("{:.1} %", row.error.share * 100.0),
        ];
        push_row(text, &row.step, &row.label, &cells);
    }
}

fn push_classes(text: &mut String, rows: &[ClassRow]) {
    text.push_str(
        "\n### Times of failed requests\n\nBy class, in milliseconds, until the failure; of all \
         runs, also those that did not complete. Shares are of all requests of the step.\n\n\
         | step | contender | class | count | share | min | max | mean | std | p50 | p75 | p95 | \
         p99 |\n\
         |---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    for row in rows {
        let mut cells = vec![
            row.class.name().to_owned(),
            row.count.to_string(),
            format!("{:.1} %", row.share * 100.0),
        ];
        cells.extend(row.times.all().map(significant_or_dash));
        push_row(text, &row.step, &row.label, &cells);
    }
}

fn push_row(text: &mut String, step: &str, label: &str, cells: &[String]) {
    let (step, label) = (escape(step), escape(label));
    let _ = writeln!(text, "| {step} | {label} | {} |", cells.join(" | "));
}
