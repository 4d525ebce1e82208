//! Whole sessions against contenders that behave well and badly.

use std::fs;
use std::net::TcpListener;
use std::time::{Duration, Instant};

use crate::world::World;

#[test]
fn a_session_of_good_and_bad_contenders_ends_in_a_report() {
    let world = World::new(&[
        "good",
        "exits",
        "garbage",
        "wrong-body",
        "wrong-address",
        "hungry",
    ]);
    let ran = world.run("run SUITE --profile tiny --out OUT --seed 1");
    ran.check(
        2,
        &[
            "giving up on purpose",
            "127.0.0.1:18099",
            "expected \"Plzeň\"",
            "killed for memory",
            "good",
        ],
    );
    for file in ["report/index.html", "results.csv", "results.md"] {
        assert!(world.out().join(file).is_file(), "{file}");
    }
    let report = world.read("out/report/index.html");
    assert!(report.contains("wrong-body") && report.contains("hungry"));
    assert_eq!(
        fs::read_dir(world.out().join("records")).unwrap().count(),
        6
    );
}

#[test]
fn a_wrong_contender_fails_exactly_its_checks() {
    let world = World::new(&["good", "wrong-body"]);
    let ran = world.run("verify SUITE --profile tiny --json");
    ran.check(2, &[]);
    let objects: Vec<serde_json::Value> = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let bad = |contender: &str| -> Vec<String> {
        let object = objects
            .iter()
            .find(|object| object["contender"] == contender)
            .unwrap();
        let checks = object["checks"].as_array().unwrap();
        checks
            .iter()
            .filter(|check| check["outcome"] != "good" && check["outcome"] != "not-applicable")
            .map(|check| format!("{}/{}", check["group"], check["name"]).replace('"', ""))
            .collect()
    };
    assert_eq!(bad("good"), ["lifecycle/stops gracefully"; 0]);
    assert_eq!(bad("wrong-body"), ["get/item"]);
}

#[test]
fn a_busy_port_is_a_sentence() {
    let world = World::new(&["good"]);
    let _listener = TcpListener::bind(("0.0.0.0", world.port())).unwrap();
    world
        .run("run SUITE --profile tiny --out OUT")
        .check(2, &["already in use", &world.port().to_string()]);
}

#[test]
fn a_killed_session_is_resumed_without_repeating_finished_runs() {
    let world = World::new(&["good", "exits"]);
    let mut child = world
        .command("run SUITE --profile tiny --runs 2 --out OUT")
        .spawn()
        .unwrap();
    let limit = Instant::now() + Duration::from_secs(120);
    let records = world.out().join("records");
    // Killed in the middle of the second or a later run of four.
    while fs::read_dir(&records).map_or(0, Iterator::count) < 3 && Instant::now() < limit {
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let finished = finished_files(&world);
    world
        .run("run SUITE --resume OUT")
        .check(2, &["finished before"]);
    let all = finished_files(&world);
    for (name, text) in &finished {
        assert!(
            all.contains(&(name.clone(), text.clone())),
            "{name} was touched"
        );
    }
    assert_eq!(all.len(), 4, "each of four runs ended once: {all:#?}");
    world
        .run("run SUITE --resume OUT")
        .check(2, &["nothing is left to run"]);
}

/// Records of finished runs: file name and text.
fn finished_files(world: &World) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = fs::read_dir(world.out().join("records"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, fs::read_to_string(path).unwrap())
        })
        .filter(|(_, text)| text.contains("\"record\":\"end\""))
        .collect();
    files.sort();
    files
}
