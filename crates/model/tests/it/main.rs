//! Integration tests of the vocabulary, one module per feature.

mod format_page;
