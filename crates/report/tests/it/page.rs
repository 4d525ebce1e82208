//! The HTML page.

use std::fs;
use std::path::Path;

use bakeoff_report::{ReportInput, html};

use crate::synthetic;

/// The page of the synthetic session; also left in the target folder to be looked at.
fn page() -> String {
    let results = synthetic::results();
    let input = ReportInput {
        results: &results,
        title: "Synthetic, profile seed, backend replay",
    };
    let page = html(&input);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    fs::write(folder.join("synthetic-report.html"), &page).unwrap();
    page
}

#[test]
fn the_page_needs_no_network() {
    let page = page();
    assert!(page.starts_with("<!doctype html>"));
    let ours = page.split("<script>").next().unwrap();
    for address in ["http://", "https://", "src=", "@import", "url("] {
        assert!(!ours.contains(address), "{address}");
    }
}
