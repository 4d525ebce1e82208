//! The results that the repository holds stay readable, whatever becomes of the format; those from
//! elsewhere do no harm.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::json;

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
        // Of some a contender has no rank.
        let is_ranked = [0, 2].contains(&ran.status) && ran.stderr.is_empty();
        assert!(is_ranked, "{}: {ran:#?}", folder.display());
        assert!(!ran.stdout.is_empty(), "{}", folder.display());
    }
}

/// The folder of some committed results.
fn committed() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../records/locations/start-up")
}

/// Copies committed records into a new results folder.
fn copied(folder: &Path) {
    fs::create_dir_all(folder.join("records")).unwrap();
    for entry in fs::read_dir(committed().join("records")).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), folder.join("records").join(entry.file_name())).unwrap();
    }
}

#[test]
fn results_of_a_stranger_are_read_and_written_nowhere_else() {
    let world = World::new(&[]);
    let out = world.out();
    copied(&out);
    let secret = world.path().join("secret");
    fs::write(&secret, "a secret").unwrap();
    for name in ["results.partial", "results.csv", "notes.md"] {
        symlink(&secret, out.join(name)).unwrap();
    }
    world.run("report OUT").check(0, &["report/index.html"]);
    assert_eq!(world.read("suite/secret"), "a secret");
    assert!(world.read("out/results.csv").contains("contender"));
    assert!(!world.read("out/report/index.html").contains("a secret"));

    fs::remove_dir_all(out.join("report")).unwrap();
    let elsewhere = world.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, out.join("report")).unwrap();
    world
        .run("report OUT")
        .check(1, &["out/report: a link", "remove it"]);
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);

    symlink(&secret, out.join("records/item.x.r1.a1.jsonl")).unwrap();
    world
        .run("rank OUT")
        .check(1, &["item.x.r1.a1.jsonl", "not a regular file"]);
}

#[test]
fn rounds_of_a_stranger_are_in_their_folder() {
    let world = World::new(&[]);
    let victim = world.path().join("victim");
    copied(&victim);
    fs::create_dir(world.out()).unwrap();
    symlink(&victim, world.out().join("linked")).unwrap();
    let absolute = victim.display().to_string();
    let check = |round: &str, texts: &[&str]| {
        let rounds = json!({
            "suite_folder": "..", "suite_digest": "", "runtime": "process", "backend": "none",
            "seed": 1, "runs": null, "benchmarks": [], "rounds": [round],
        });
        fs::write(world.out().join("rounds.json"), rounds.to_string()).unwrap();
        for command in ["report OUT", "run SUITE --resume OUT"] {
            world.run(command).check(1, texts);
        }
        assert!(!victim.join("report").exists(), "{round}");
    };
    let name = "is not the name of a round";
    check(
        "../suite/victim",
        &["rounds.json: \"../suite/victim\"", name],
    );
    check(&absolute, &["rounds.json: ", &absolute, name]);
    check("..", &["rounds.json: \"..\"", name]);
    check("linked", &["out/linked: a link"]);
}
