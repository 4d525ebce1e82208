//! Rounds and cold starts, end to end.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use crate::world::World;

const ROUNDS: &str = r#"
[[benchmark]]
name = "start-up"
kind = "startup"
starts = 3

[[round]]
name = "manners"
contenders = ["good", "wrong-body"]
benchmarks = ["item"]
winner = "peak-throughput"

[[round]]
name = "unbuildable"
contenders = ["absent"]
benchmarks = ["item"]
winner = "p99"

[[round]]
name = "main"
contenders = ["wrong-body"]
winners-of = ["manners", "unbuildable"]
benchmarks = ["item"]
"#;

fn world() -> World {
    let world = World::new(&["good", "wrong-body", "absent"]);
    let suite = world.read("suite/suite.toml") + ROUNDS;
    world.write("suite.toml", &suite);
    let absent = world.read("suite/contenders/absent/contender.toml");
    let absent = absent.replace("needs = []", "needs = [\"jdk-99\"]");
    world.write("contenders/absent/contender.toml", &absent);
    world
}

/// Two contenders and a group `pair` of two rounds that compare them by a benchmark: `item`, or
/// `start-up` with two starts of each.
pub(crate) fn pair(benchmark: &str) -> World {
    let world = World::new(&["good", "same"]);
    let start_up = "\n[[benchmark]]\nname = \"start-up\"\nkind = \"startup\"\nstarts = 2\n";
    let round = |name: &str| {
        format!(
            "\n[[round]]\nname = \"{name}\"\ngroup = \"pair\"\nprofile = \"tiny\"\n\
             contenders = [\"good\", \"same\"]\nbenchmarks = [\"{benchmark}\"]\n"
        )
    };
    let suite = world.read("suite/suite.toml") + start_up + &round("first") + &round("second");
    world.write("suite.toml", &suite);
    world
}

/// Rounds of a group are run into one folder, under their own profile, and in sittings.
#[test]
fn a_group_of_rounds_is_run_in_sittings() {
    let world = pair("item");
    world
        .run("plan SUITE --round pair")
        .check(0, &["first", "second", "all"]);
    let ran = world.run("run SUITE --round pair --runs 1 --for 1ms --out OUT");
    ran.check(4, &["the time is over; left: 4 runs", "--resume"]);
    world
        .run("run SUITE --resume OUT")
        .check(0, &["round first", "round second"]);
    let files = |round: &str| {
        let folder = world.out().join(round).join("records");
        fs::read_dir(folder).unwrap().count()
    };
    assert_eq!((files("first"), files("second")), (2, 2), "nothing twice");
    world
        .run("run SUITE --resume OUT --for 1m")
        .check(0, &["nothing is left to run"]);
}

#[test]
fn all_rounds_are_run_and_the_winner_joins_the_main_one() {
    let world = world();
    let ran = world.run("run SUITE --round all --profile tiny --out OUT --seed 1");
    // 2, because the wrong contender could not be measured.
    ran.check(
        2,
        &[
            "round manners: the winner is good by highest throughput at its peak on item",
            "wrong-body could not win",
            "round unbuildable: no winner",
            "No contender could take part",
            "jdk-99",
        ],
    );
    let main = world.read("out/main/report/index.html");
    assert!(main.contains("<a href=\"../../manners/report/index.html\">The report of manners</a>"));
    assert!(
        main.contains("good wins with"),
        "the reason is in the report"
    );
    let plan: serde_json::Value =
        serde_json::from_str(&world.read("out/main/session.json")).unwrap();
    assert_eq!(plan["suite_folder"], "../../suite", "no absolute path");
    let runs = plan["plan"]["runs"].as_array().unwrap();
    let mut contenders: Vec<&str> = runs
        .iter()
        .map(|run| run["contender"].as_str().unwrap())
        .collect();
    contenders.sort_unstable();
    assert_eq!(contenders, ["good", "wrong-body"]);
    world
        .run("rank OUT")
        .check(2, &["round manners", "round main", "the winner is good"]);
    world
        .run("report OUT")
        .check(0, &["manners/report/index.html", "main/report/index.html"]);
    world
        .run("compare out/main out/main")
        .check(0, &["item: good", "x1.00", "requests/s", "inconclusive"]);
    world
        .run("compare out/main out/manners")
        .check(0, &["item: good"]);
    // Nothing is left, so nothing is measured again.
    let records = fs::read_dir(world.out().join("main/records"))
        .unwrap()
        .count();
    world
        .run("run SUITE --resume OUT")
        .check(2, &["nothing is left to run"]);
    let after = fs::read_dir(world.out().join("main/records"))
        .unwrap()
        .count();
    assert_eq!(records, after);
}

#[test]
fn one_round_is_run_by_its_name_and_unknown_ones_are_named() {
    let world = world();
    world
        .run("run SUITE --round maners --profile tiny --out OUT")
        .check(1, &["unknown round `maners`", "did you mean `manners`?"]);
    world
        .run("plan SUITE --round manners --profile tiny")
        .check(0, &["good", "wrong-body"]);
    let all = [
        "manners ",
        "main ",
        "and the winners of manners, unbuildable",
        "all ",
    ];
    world
        .run("plan SUITE --round all --profile tiny")
        .check(0, &all);
    world
        .run("plan SUITE --round all --profile tiny --json")
        .check(1, &["name one with --round"]);
    world
        .run("run SUITE --round main --profile tiny --out OUT")
        .check(
            2,
            &["the winners of the rounds manners, unbuildable: only --round"],
        );
}

#[test]
fn cold_starts_are_a_distribution_of_fresh_instances() {
    let world = world();
    world
        .run("run SUITE --profile tiny --benchmark start-up --contender good --out OUT")
        .check(0, &["Cold starts", "3/3"]);
    let records = fs::read_dir(world.out().join("records")).unwrap();
    assert_eq!(records.count(), 3);
    let csv = world.read("out/results.csv");
    assert!(csv.lines().next().unwrap().contains("startup_cpu_s"));
    assert_eq!(csv.lines().count(), 4);
    assert!(world.read("out/results.md").contains("### Cold starts"));
}

/// Names of events in the published schema.
fn event_names() -> BTreeSet<String> {
    let schema = include_str!("../../../../docs/schema/event.schema.json");
    let schema: Value = serde_json::from_str(schema).unwrap();
    let kinds = schema["oneOf"].as_array().unwrap().iter();
    let name = |kind: &Value| {
        kind["properties"]["event"]["const"]
            .as_str()
            .map(str::to_owned)
    };
    kinds.map(|kind| name(kind).unwrap()).collect()
}

#[test]
fn the_event_stream_has_a_version_and_is_all_that_is_printed() {
    let world = world();
    let ran = world.run("run SUITE --round all --profile tiny --out OUT --json");
    let events: Vec<Value> = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(events[0]["event"], "stream-began");
    assert_eq!(events[0]["format"], 1);
    let known = event_names();
    let names: Vec<&str> = events
        .iter()
        .map(|event| event["event"].as_str().unwrap())
        .collect();
    for name in &names {
        assert!(known.contains(*name), "{name}");
    }
    let count = |wanted: &str| names.iter().filter(|name| **name == wanted).count();
    assert_eq!(count("stream-began"), 1);
    assert_eq!(count("round-began"), 3);
    assert_eq!(count("winner-picked"), 2);
    assert_eq!(count("session-ended"), 2);
    let ended = |event: &&Value| event["event"] == "session-ended";
    let last = events.iter().rfind(ended).unwrap();
    assert_eq!((&last["runs"], &last["failed"]), (&2.into(), &1.into()));
    assert!(world.out().join("main/report/index.html").is_file());
}
