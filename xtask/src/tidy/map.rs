//! The code map of ARCHITECTURE.md against the tree: every crate and tool is in it, and of each
//! folder that it lists every entry.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::workspace::tracked;

/// The page with the map.
const PAGE: &str = "ARCHITECTURE.md";

/// Returns what the map lacks, and what it lists that is not there.
pub(super) fn check(root: &Path) -> anyhow::Result<Vec<String>> {
    let page =
        fs::read_to_string(root.join(PAGE)).with_context(|| format!("cannot read {PAGE}"))?;
    let mut files = tracked(root, "crates/*.rs")?;
    files.extend(tracked(root, "tools/*.rs")?);
    Ok(findings(&page, &files))
}

fn findings(page: &str, files: &[PathBuf]) -> Vec<String> {
    let mut findings = Vec::new();
    for (folder, listed) in folders(page) {
        let there = entries(folder, files);
        let missing = there.difference(&listed);
        findings.extend(missing.map(|name| format!("{PAGE}: {folder}/{name} is not in the map")));
        let gone = listed.difference(&there);
        findings.extend(gone.map(|name| format!("{PAGE}: there is no {folder}/{name}")));
    }
    let crates = files.iter().map(|file| file.iter().take(2).collect());
    let crates: BTreeSet<PathBuf> = crates.collect();
    let names = crates.iter().map(|path| path.display());
    let unnamed = names.filter(|name| !page.contains(&format!("`{name}`")));
    findings.extend(unnamed.map(|name| format!("{PAGE}: {name} is not in the map")));
    findings
}

/// Returns the folders of the page's code blocks with what it lists of each. An unindented
/// `crates/...` starts a folder; below it, words that end in `.rs` or `/` are entries.
fn folders(page: &str) -> BTreeMap<&str, BTreeSet<String>> {
    let mut folders = BTreeMap::<&str, BTreeSet<String>>::new();
    let mut folder = None;
    for line in page.split("```").skip(1).step_by(2).flat_map(str::lines) {
        if !line.starts_with(' ') {
            folder = line.starts_with("crates/").then_some(line.trim());
        }
        let Some(folder) = folder else { continue };
        let words = line.split_whitespace().skip_while(|word| *word == folder);
        let names = words.filter(|word| word.ends_with(".rs") || word.ends_with('/'));
        folders
            .entry(folder)
            .or_default()
            .extend(names.map(str::to_owned));
    }
    folders
}

/// Returns the files and folders directly in a folder, but not the root module.
fn entries(folder: &str, files: &[PathBuf]) -> BTreeSet<String> {
    let inside = files
        .iter()
        .filter_map(|file| file.strip_prefix(folder).ok());
    let names = inside.filter_map(|path| {
        let first = path.iter().next()?.to_str()?;
        Some(match path.iter().count() {
            1 => first.to_owned(),
            _ => format!("{first}/"),
        })
    });
    names
        .filter(|name| name != "lib.rs" && name != "main.rs")
        .collect()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::findings;

    #[test]
    fn the_map_has_what_is_there_and_nothing_else() {
        let page =
            "| `crates/a` | first |\n```\ncrates/a/src\n  one.rs two/  both\n  gone.rs  x\n```\n";
        let files = ["lib.rs", "one.rs", "two/deep.rs", "three.rs"];
        let mut files: Vec<PathBuf> = files
            .iter()
            .map(|name| PathBuf::from("crates/a/src").join(name))
            .collect();
        files.push(PathBuf::from("crates/b/src/lib.rs"));
        assert_eq!(
            findings(page, &files),
            [
                "ARCHITECTURE.md: crates/a/src/three.rs is not in the map",
                "ARCHITECTURE.md: there is no crates/a/src/gone.rs",
                "ARCHITECTURE.md: crates/b is not in the map",
            ]
        );
    }
}
