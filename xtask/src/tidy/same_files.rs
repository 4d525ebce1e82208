//! Files that contenders repeat on purpose: each contender is built alone, from a copy of its
//! folder, so what they have in common stands in each. `same-files.toml` lists it, and here it is
//! held equal.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde::Deserialize;

use super::source;

/// The list, beside the contenders of a suite.
const LIST: &str = "same-files.toml";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    same: Vec<Group>,
}

/// Files that are equal byte for byte.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    /// Path inside the folder of each contender.
    path: String,
    /// The contenders that share it; `*` is every one that has such a file.
    contenders: Vec<String>,
}

/// Files that should be equal and are not, and files that are equal and not listed, in all suites.
pub(super) fn check(root: &Path) -> anyhow::Result<Vec<String>> {
    let mut findings = Vec::new();
    for list in source::tracked(root, &format!("suites/*/contenders/{LIST}"))? {
        let text = fs::read_to_string(root.join(&list))
            .with_context(|| format!("cannot read {}", list.display()))?;
        let parsed: List = toml::from_str(&text).with_context(|| format!("{}", list.display()))?;
        let folder = list.parent().unwrap_or(Path::new(""));
        let mut files = BTreeMap::new();
        for path in source::tracked(root, &folder.join("*").display().to_string())? {
            let bytes = fs::read(root.join(&path))
                .with_context(|| format!("cannot read {}", path.display()))?;
            let inside = path.strip_prefix(folder).unwrap_or(&path).to_owned();
            files.insert(inside, bytes);
        }
        let found = compare(&parsed.same, &files);
        findings.extend(
            found
                .into_iter()
                .map(|text| format!("{}: {text}", list.display())),
        );
    }
    Ok(findings)
}

/// `files` are those of all contenders, by their path below the folder of contenders.
fn compare(groups: &[Group], files: &BTreeMap<PathBuf, Vec<u8>>) -> Vec<String> {
    let mut findings = Vec::new();
    let mut listed: BTreeMap<PathBuf, usize> = BTreeMap::new();
    for (index, group) in groups.iter().enumerate() {
        let paths = members(group, files);
        for path in &paths {
            match (
                files.get(path),
                paths.first().and_then(|first| files.get(first)),
            ) {
                (None, _) => findings.push(format!("{} is not there", path.display())),
                (Some(bytes), Some(first)) if bytes != first => {
                    findings.push(format!(
                        "{} differs from {}",
                        path.display(),
                        paths[0].display()
                    ));
                }
                _ => {}
            }
        }
        listed.extend(paths.into_iter().map(|path| (path, index)));
    }
    findings.extend(unlisted(&listed, files));
    findings
}

/// The paths of a group.
fn members(group: &Group, files: &BTreeMap<PathBuf, Vec<u8>>) -> Vec<PathBuf> {
    let named = |name: &String| Path::new(name).join(&group.path);
    if group.contenders != ["*"] {
        return group.contenders.iter().map(named).collect();
    }
    let has = |path: &&PathBuf| path.iter().skip(1).collect::<PathBuf>() == Path::new(&group.path);
    files.keys().filter(has).cloned().collect()
}

/// Files of the same name inside different contenders that are equal without being listed as such.
fn unlisted(listed: &BTreeMap<PathBuf, usize>, files: &BTreeMap<PathBuf, Vec<u8>>) -> Vec<String> {
    let mut seen: BTreeMap<(PathBuf, &[u8]), &Path> = BTreeMap::new();
    let mut findings = Vec::new();
    for (path, bytes) in files {
        let inside: PathBuf = path.iter().skip(1).collect();
        if inside.as_os_str().is_empty() || bytes.is_empty() {
            continue;
        }
        let first = *seen.entry((inside, bytes)).or_insert(path);
        let same_group = listed.contains_key(path) && listed.get(path) == listed.get(first);
        if first != path && !same_group {
            findings.push(format!(
                "{} equals {}: list it, or make them differ",
                path.display(),
                first.display()
            ));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::PathBuf;

    use super::{Group, compare};

    fn check(contenders: &[&str], files: &[(&str, &str)], expect: &[&str]) {
        let group = Group {
            path: "src/a.rs".to_owned(),
            contenders: contenders.iter().map(|&name| name.to_owned()).collect(),
        };
        let files: BTreeMap<PathBuf, Vec<u8>> = files
            .iter()
            .map(|(path, text)| (PathBuf::from(path), text.as_bytes().to_vec()))
            .collect();
        assert_eq!(compare(&[group], &files), expect);
    }

    #[test]
    fn listed_files_are_equal_and_equal_files_are_listed() {
        let (x, y, z) = (
            ("x/src/a.rs", "1"),
            ("y/src/a.rs", "1"),
            ("z/src/a.rs", "2"),
        );
        check(&["x", "y"], &[x, y, z], &[]);
        check(
            &["x", "z"],
            &[x, z],
            &["z/src/a.rs differs from x/src/a.rs"],
        );
        check(&["x", "q"], &[x], &["q/src/a.rs is not there"]);
        check(&["*"], &[x, y], &[]);
        check(&["*"], &[x, z], &["z/src/a.rs differs from x/src/a.rs"]);
        check(
            &["x"],
            &[x, y],
            &["y/src/a.rs equals x/src/a.rs: list it, or make them differ"],
        );
    }
}
