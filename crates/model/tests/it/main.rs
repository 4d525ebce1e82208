//! Integration tests of the vocabulary, one module per feature.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod choosing;
mod diagnostics;
mod equal_work;
mod evaluate;
mod format_page;
mod histograms;
mod layers;
mod meaning;
mod parts;
mod planning;
mod records;
mod repository;
mod schemas;
