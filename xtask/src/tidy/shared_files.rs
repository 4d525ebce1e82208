//! Files that contenders of a suite have in common are in its folder `shared`, once, and each
//! contender has a link to them: builds follow links, so each is still built from its folder alone.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::source;

/// Shorter files say too little to be shared.
const LINES_MIN: usize = 10;

/// Returns a finding for each file of a contender that another one of its suite has too.
pub(super) fn check(root: &Path) -> anyhow::Result<Vec<String>> {
    let mut files = Vec::new();
    for path in source::tracked_once(root, "suites/*/contenders/*")? {
        let bytes = fs::read(root.join(&path));
        let bytes = bytes.with_context(|| format!("cannot read {}", path.display()))?;
        files.push((path, bytes));
    }
    Ok(equal(&files))
}

/// `files` are those of all contenders, links left out.
fn equal(files: &[(PathBuf, Vec<u8>)]) -> Vec<String> {
    let mut seen: BTreeMap<(PathBuf, &[u8]), &Path> = BTreeMap::new();
    let mut findings = Vec::new();
    for (path, bytes) in files {
        if bytes.iter().filter(|byte| **byte == b'\n').count() < LINES_MIN {
            continue;
        }
        let suite: PathBuf = path.iter().take(2).collect();
        let first = *seen.entry((suite.clone(), bytes)).or_insert(path);
        if first != path {
            findings.push(format!(
                "{} equals {}: keep it once in {}/shared, and link to it from both",
                path.display(),
                first.display(),
                suite.display()
            ));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::equal;

    #[test]
    fn long_files_of_one_suite_that_are_equal_are_found() {
        let long = "line\n".repeat(10);
        let file = |path: &str, text: &str| (PathBuf::from(path), text.as_bytes().to_vec());
        let files = [
            file("suites/a/contenders/x/main.rs", &long),
            file("suites/a/contenders/x/short.rs", "line\n"),
            file("suites/a/contenders/y/other.rs", &long),
            file("suites/a/contenders/y/short.rs", "line\n"),
            file("suites/b/contenders/z/main.rs", &long),
        ];
        let expect = "suites/a/contenders/y/other.rs equals suites/a/contenders/x/main.rs: keep it \
                      once in suites/a/shared, and link to it from both";
        assert_eq!(equal(&files), [expect]);
    }
}
