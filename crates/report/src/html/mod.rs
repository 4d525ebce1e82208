//! The report as one HTML page that needs no network.

use crate::ReportInput;

mod text;

/// The page.
#[must_use]
pub fn html(input: &ReportInput<'_>) -> String {
    let body = text::escape(&crate::markdown(input));
    let title = text::escape(input.title);
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\
         </head><body><pre>{body}</pre></body></html>\n"
    )
}
