//! Contenders that are fast because they do less: each is caught under load, in `run`, and is not
//! ranked, while one next to it that does all of the work is.

use std::fs;

use serde_json::Value;

use crate::world::World;

/// One exchange of the backend that contenders of these suites ask.
const RECORDING: &str = concat!(
    r#"{"method":"GET","target":"/documents/1","status":200,"#,
    r#""headers":{"content-type":"application/json"},"body":"{\"name\":\"Plze\u0148\"}","#,
    r#""durations_us":[100]}"#,
    "\n"
);

/// The text that is replaced by an environment of the suite.
const BACKEND: &str = r#"log-lines-min = 1

[[backend]]
name = "replay"
data = "recordings"

[env]
BACKEND = "{backend.host}:{backend.port}"
"#;

/// The text that is replaced by a description of the benchmark.
const BENCHMARK: &str = r#"describe = "One item."
backend-requests-min = 1
"#;

/// A suite of these contenders that says what a request takes.
pub(crate) fn suite(modes: &[&str]) -> World {
    let world = World::new(modes);
    let suite = world.read("suite/suite.toml");
    let changes = [
        ("[env]\n", BACKEND),
        ("describe = \"One item.\"\n", BENCHMARK),
        (
            "path = \"/item\"\n",
            "path = \"/item\"\nsame-length = true\n",
        ),
        (
            "warm-up = [1], connections = [2, 4], step = \"400ms\"",
            "warm-up = [], connections = [4], step = \"1s\"",
        ),
    ];
    let suite = changes
        .iter()
        .fold(suite, |suite, (from, to)| suite.replacen(from, to, 1));
    world.write("suite.toml", &suite);
    world.write("recordings/one.jsonl", RECORDING);
    world
}

/// A session of these contenders on such a suite.
fn session(modes: &[&str]) -> World {
    let world = suite(modes);
    // What does not do the work has no rank.
    let status = if modes == ["good"] { 0 } else { 2 };
    let ran = world.run("run SUITE --profile tiny --out OUT");
    ran.check(status, &[]);
    world
}

/// The records of a contender's run.
fn records(world: &World, mode: &str) -> String {
    let file = format!("records/item.{mode}.r1.a1.jsonl");
    fs::read_to_string(world.out().join(file)).unwrap()
}

/// The contender is not ranked, for this reason.
#[track_caller]
fn unranked(world: &World, mode: &str, reason: &str) {
    let page = world.read("out/results.md");
    let (ranked, rest) = page
        .split_once("Not ranked")
        .unwrap_or_else(|| panic!("{page}"));
    assert!(!ranked.contains(&format!("| {mode} |")), "{page}");
    let said = |line: &str| line.contains(mode) && line.contains(reason);
    assert!(rest.lines().any(said), "{page}");
}

#[test]
fn who_does_all_of_the_work_is_not_accused() {
    let world = session(&["good"]);
    let records = records(&world, "good");
    let counts = records.lines().filter_map(|line| {
        let record: Value = serde_json::from_str(line).unwrap();
        record["backend_after"]["requests"].as_u64()
    });
    assert!(counts.max() > Some(0), "{records}");
    for word in ["unequal work", "wrong-bodies", "lines for"] {
        let accused = records
            .lines()
            .find(|line| line.contains(word) && !line.contains("\"outcome\":\"good\""));
        assert_eq!(accused, None, "{word}");
    }
    let counted = records
        .lines()
        .find(|line| line.contains("logs under load"));
    assert!(
        counted.unwrap().contains("\"outcome\":\"good\""),
        "{records}"
    );
}

#[test]
fn a_contender_that_caches_what_it_should_ask_for_is_not_ranked() {
    let world = session(&["caches"]);
    let end = records(&world, "caches");
    let end = end.lines().last().unwrap();
    assert!(end.contains("unequal work: only "), "{end}");
    unranked(&world, "caches", "unequal work: only ");
}

#[test]
fn a_contender_that_logs_one_request_in_ten_is_not_ranked() {
    let world = session(&["logs-little"]);
    unranked(&world, "logs-little", "lifecycle/logs under load failed");
}

#[test]
fn a_contender_whose_response_is_a_byte_short_now_and_then_is_not_ranked() {
    let world = session(&["one-byte-short"]);
    let end = records(&world, "one-byte-short");
    let end = end.lines().last().unwrap();
    assert!(end.contains("of the checked bodies were wrong"), "{end}");
    unranked(&world, "one-byte-short", "of the checked bodies were wrong");
}
