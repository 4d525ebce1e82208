//! The house style that no linter of the ecosystem checks: line, function and file length, import
//! circles between modules, contender files that must be equal, contenders that changed since they
//! were verified, words and sentences that texts do without, the map of the code, and the size of
//! the committed results.

mod circles;
mod lengths;
mod map;
mod markdown;
mod modules;
mod paths;
mod records;
mod shared_files;
mod signs;
mod source;
mod words;

use std::path::Path;

use anyhow::bail;

use crate::suites;
use crate::workspace::say;

/// Checks every file that git knows or would add; all findings at once.
pub(crate) fn tidy(root: &Path) -> anyhow::Result<()> {
    let files = source::rust_files(root)?;
    let mut findings: Vec<String> = files.iter().flat_map(lengths::check).collect();
    let crates = modules::crates(&files);
    findings.extend(crates.iter().flat_map(circles::check));
    findings.extend(shared_files::check(root)?);
    findings.extend(words::check(root)?);
    findings.extend(map::check(root)?);
    findings.extend(markdown::check(root)?);
    findings.extend(records::check(root)?);
    findings.extend(suites::findings(root, &suites::suites(root)?)?);
    for finding in &findings {
        say(finding);
    }
    if !findings.is_empty() {
        bail!("tidy: {} findings", findings.len());
    }
    say(&format!(
        "tidy: {} files of {} crates are tidy",
        files.len(),
        crates.len()
    ));
    Ok(())
}
