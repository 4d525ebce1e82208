//! The suites of this repository are without mistakes.

use std::fs;
use std::path::{Path, PathBuf};

use bakeoff_model::diagnostic::SourceFile;
use bakeoff_model::parse::{self, SuiteSources};
use bakeoff_model::suite::Suite;

fn read(path: &Path) -> SourceFile {
    SourceFile {
        path: path.display().to_string(),
        text: fs::read_to_string(path).unwrap(),
    }
}

/// Entries of a folder in name order; none when there is no such folder.
pub(crate) fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut entries: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    entries
}

fn sources(suite: &Path) -> SuiteSources {
    let checks = entries(&suite.join("checks"));
    let checks = checks
        .iter()
        .filter(|path| path.extension().is_some_and(|end| end == "toml"));
    let contenders = entries(&suite.join("contenders"))
        .into_iter()
        .filter_map(|folder| {
            let file = folder.join("contender.toml");
            let name = folder.file_name()?.to_str()?.to_owned();
            file.is_file().then(|| (name, read(&file)))
        });
    SuiteSources {
        suite: read(&suite.join("suite.toml")),
        checks: checks.map(|path| read(path)).collect(),
        contenders: contenders.collect(),
        published: Some(suite.join("published.toml"))
            .filter(|path| path.is_file())
            .map(|path| read(&path)),
    }
}

/// The suites of this repository and their folders.
pub(crate) fn suites() -> Vec<(PathBuf, Suite)> {
    let suites = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suites");
    let mut complaints = Vec::new();
    let mut found = Vec::new();
    for folder in entries(&suites) {
        if !folder.join("suite.toml").is_file() {
            continue;
        }
        match parse::suite(&sources(&folder)) {
            Ok(suite) => found.push((folder, suite)),
            Err(diagnostics) => complaints.extend(diagnostics.iter().map(ToString::to_string)),
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    assert!(!found.is_empty(), "no suite below {}", suites.display());
    found
}

#[test]
fn suites_parse() {
    suites();
}
