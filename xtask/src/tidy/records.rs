//! Committed results stay small: their raw slices are compressed, and all of them together are
//! below a bound.

use std::fs;
use std::path::Path;

use crate::workspace::tracked;

/// The most that all committed results may take in a checkout, bytes.
const BYTES_MAX: u64 = 20 << 20;

pub(super) fn check(root: &Path) -> anyhow::Result<Vec<String>> {
    let mut findings = Vec::new();
    for path in tracked(root, "records/*.jsonl")? {
        let path = path.display();
        findings.push(format!("{path} is not compressed: gzip -9 {path}"));
    }
    let mut bytes = 0;
    for path in tracked(root, "records/*")? {
        bytes += fs::metadata(root.join(path)).map_or(0, |file| file.len());
    }
    if bytes > BYTES_MAX {
        findings.push(format!(
            "records/ has {} MiB, {} are allowed: results that were measured again can go",
            bytes >> 20,
            BYTES_MAX >> 20
        ));
    }
    Ok(findings)
}
