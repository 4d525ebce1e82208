//! The results that the repository holds stay readable, whatever becomes of the format.

use std::fs;
use std::path::{Path, PathBuf};

use crate::world::World;

/// Results folders, and folders of rounds, below a folder.
fn results_below(folder: &Path, found: &mut Vec<PathBuf>) {
    let is_one = |name: &str| folder.join(name).is_file();
    if is_one("session.json") || is_one("rounds.json") {
        found.push(folder.to_owned());
        return;
    }
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            results_below(&path, found);
        }
    }
}

#[test]
fn committed_results_can_be_ranked() {
    let records = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../records");
    let mut found = Vec::new();
    results_below(&records, &mut found);
    assert!(!found.is_empty(), "{} holds none", records.display());
    let world = World::new(&[]);
    for folder in found {
        let ran = world.run(&format!("rank {}", folder.display()));
        assert_eq!(ran.status, 0, "{}: {}", folder.display(), ran.stderr);
        assert!(!ran.stdout.is_empty(), "{}", folder.display());
    }
}
