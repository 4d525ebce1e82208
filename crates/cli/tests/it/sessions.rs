//! Whole sessions against contenders that behave well and badly.

use std::fs;
use std::net::TcpListener;

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
    world.start_within("3s");
    world.change_suite("[suite]\n", "[suite]\nlifecycle = false\n");
    let ran = world.run("run SUITE --profile tiny --out OUT --seed 1");
    ran.check(
        2,
        &[
            "giving up on purpose",
            "it listens on 127.0.0.1:",
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
    let world = World::new(&["good", "wrong-name-and-status"]);
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
    assert_eq!(bad("wrong-name-and-status"), ["get/item", "get/without id"]);

    world
        .run("run SUITE --profile tiny --out OUT")
        .check(2, &["2 of 3 functional checks failed; it is not loaded"]);
    let ranked = world.read("out/results.md");
    let row = |line: &&str| line.starts_with('|') && line.contains("wrong-name-and-status");
    let rows: Vec<&str> = ranked.lines().filter(row).collect();
    assert!(rows.iter().all(|row| !row.contains("req/s")), "{rows:#?}");
    assert!(ranked.contains("not ranked") || rows.is_empty(), "{ranked}");
}

#[test]
fn a_busy_port_is_a_sentence() {
    let world = World::new(&["good"]);
    let _listener = TcpListener::bind(("0.0.0.0", world.port())).unwrap();
    world.run("run SUITE --profile tiny --out OUT").check(
        1,
        &[
            "already in use",
            &world.port().to_string(),
            "--runtime docker",
        ],
    );
}

#[test]
fn a_contender_that_never_listens_is_given_up() {
    let world = World::new(&["never-listens"]);
    world.start_within("1s");
    world
        .run("verify SUITE --profile tiny --group get")
        .check(2, &["it opened no port; it must listen on 0.0.0.0:"]);
}

#[test]
fn a_contender_that_dies_under_load_keeps_its_intervals() {
    let world = World::new(&["dies-later"]);
    world.run("run SUITE --profile tiny --out OUT").check(
        2,
        &[
            "FAILED at load",
            "all of its log is logs/",
            "1 of 1 runs failed",
        ],
    );
    let records = fs::read_dir(world.out().join("records")).unwrap();
    let text: String = records
        .map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap())
        .collect();
    assert!(text.contains("\"record\":\"interval\""), "{text}");
    assert!(text.contains("died after "), "{text}");
}

#[test]
fn users_of_a_scenario_are_in_the_report() {
    let world = World::new(&["good"]);
    let suite = fs::read_to_string(world.path().join("suite.toml")).unwrap();
    let visit = r#"
[[benchmark]]
name = "visit"
[benchmark.scenario]
[[benchmark.scenario.feed]]
kind = "csv"
file = "data/people.csv"
variables = ["name"]
[[benchmark.request]]
name = "first look"
path = "/item"
headers = { x-name = "${name}" }
expect = { contains = "Plz" }
extract = { found = { json = "$.name" } }
pause-up-to = "5ms"
[[benchmark.request]]
name = "second look"
path = "/item"
headers = { x-again = "${found}" }
"#;
    // Of a session with shorter steps the host is not measured.
    let suite = suite.replace("400ms", "1s");
    world.write("suite.toml", &(suite + visit));
    world
        .run("plan SUITE --profile tiny --benchmark visit")
        .check(1, &["data/people.csv", "a feed of the benchmark visit"]);
    world.write("data/people.csv", "name,age\nAnna,3\nBeáta,4\n");
    world
        .run("run SUITE --profile tiny --benchmark visit --out OUT")
        .check(0, &["good"]);
    let report = world.read("out/report/index.html");
    for text in [
        "first look",
        "second look",
        "Apdex",
        "Load generator at best",
        "Physical cores",
    ] {
        assert!(report.contains(text), "{text}");
    }
    let plan = || world.run("plan SUITE --profile tiny --json").stdout;
    let before = plan();
    assert_eq!(plan(), before);
    world.write("data/people.csv", "name,age\nAnna,3\nBedřich,4\n");
    assert_ne!(plan(), before, "a feed is part of the digest");
}

#[test]
fn requests_travel_as_the_suite_says() {
    let world = World::new(&["good"]);
    let suite = fs::read_to_string(world.path().join("suite.toml")).unwrap();
    let each = r#"
[[benchmark]]
name = "each"
transport = { keep-alive = false }
[[benchmark.request]]
path = "/item"
[[benchmark]]
name = "streams"
transport = { protocol = "http2", in-flight = 4 }
[[benchmark.request]]
path = "/item"
"#;
    world.write("suite.toml", &(suite + each));
    world
        .run("run SUITE --profile tiny --benchmark each --out OUT")
        .check(0, &["good"]);
    let results = world.read("out/results.md");
    assert!(results.contains("HTTP/1.1, a connection for each request"));
    let order = world.run("plan SUITE --profile tiny --benchmark streams --case good");
    let order: serde_json::Value = serde_json::from_str(&order.stdout).unwrap();
    assert_eq!(order["target"]["protocol"], "http2");
    assert_eq!(order["in_flight"], 4);
}
