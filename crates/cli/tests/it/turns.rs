//! Turns from outside: two contenders alive on one port, loaded in turns, killed and resumed.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use bakeoff_model::record::{self, IntervalRecord, RunRecords};
use serde_json::Value;

use crate::world::{Ran, World, skipped};

/// [`with_turns`]; `None`, said loudly, if turns are not permitted.
pub(crate) fn world() -> Option<World> {
    if !rustix::process::geteuid().is_root() {
        skipped("turns: they take root");
        return None;
    }
    Some(with_turns())
}

/// Two contenders that are as good, and a profile for both.
fn with_turns() -> World {
    let world = World::new(&["good"]);
    let same = fs::read_to_string(world.path().join("contenders/good/contender.toml")).unwrap();
    let same = same.replace("name = \"good\"", "name = \"same\"");
    world.write("contenders/same/contender.toml", &same);
    let suite = fs::read_to_string(world.path().join("suite.toml")).unwrap();
    let profile = r#"
[profile.turns]
limits = { cpus = 1.0, memory = "64MiB" }
runs = 1
slice = "200ms"
latency = false
ladder = { warm-up = [4], connections = [4, 8], step = "600ms", order = "listed" }
"#;
    world.write("suite.toml", &format!("{suite}{profile}"));
    world
}

/// The runs of a results folder by the names of their files.
fn runs(world: &World, out: &str) -> Vec<(String, RunRecords)> {
    let folder = world.path().join("..").join(out).join("records");
    let mut runs: Vec<(String, RunRecords)> = fs::read_dir(folder)
        .unwrap()
        .flatten()
        .map(|entry| {
            let text = fs::read_to_string(entry.path()).unwrap();
            let name = entry.file_name().to_string_lossy().into_owned();
            (name, record::read_run(&text).unwrap())
        })
        .collect();
    runs.sort_by(|a, b| a.0.cmp(&b.0));
    runs
}

/// Network devices that a session left on this host.
pub(crate) fn devices(session: u32) -> Vec<String> {
    let entries = fs::read_dir("/sys/class/net").unwrap().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let prefix = format!("bko{session}x");
    names.filter(|name| name.starts_with(&prefix)).collect()
}

#[test]
fn two_take_turns_and_a_killed_set_is_made_again_as_a_whole() {
    let Some(world) = world() else { return };
    world.run("plan SUITE --profile turns").check(
        0,
        &[
            "turns: 2 contenders alive concurrently",
            "connections 4 4 8, in turns",
        ],
    );
    let mut child = world
        .command("run SUITE --profile turns --json --out out")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let came = lines.any(|line| line.unwrap().contains("\"turns\":["));
    assert!(came, "no turns");
    child.kill().unwrap();
    child.wait().unwrap();

    let resumed = world.run("run SUITE --resume out");
    resumed.check(0, &["swept: ", "report: ", "attempt 2"]);
    assert_eq!(world.leftovers(child.id()), [""; 0]);
    assert_eq!(devices(child.id()), [""; 0]);
    let runs = runs(&world, "out");
    let names: Vec<&str> = runs.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "item.good.r1.a1.jsonl",
            "item.good.r1.a2.jsonl",
            "item.same.r1.a1.jsonl",
            "item.same.r1.a2.jsonl"
        ]
    );
    let whole: Vec<&RunRecords> = runs
        .iter()
        .filter(|(name, _)| name.contains(".a2."))
        .map(|(_, run)| run)
        .collect();
    let mut sides = Vec::new();
    for run in &whole {
        assert!(run.begin.run.in_turns);
        assert_eq!(run.begin.traffic_path.name(), "veth");
        assert!(run.end.is_some());
        sides.push(run.intervals[0].load.side);
        for slice in &run.intervals {
            assert!(slice.load.requests > 0);
            let in_turns: u64 = slice.load.turns.iter().map(|turn| turn.requests).sum();
            assert_eq!(in_turns, slice.load.requests, "no request outside of turns");
            assert_eq!(slice.load.failed(), 0, "{:?}", slice.load.errors);
        }
    }
    sides.sort_unstable();
    assert_eq!(sides, [0, 1]);
    let [good, same] = whole[..] else {
        panic!("two runs: {names:?}");
    };
    check_beside(good, same);
    world
        .run("run SUITE --resume out")
        .check(0, &["nothing is left to run"]);
}

/// Both have a turn in each block, and know what the other did meanwhile.
#[track_caller]
fn check_beside(good: &RunRecords, same: &RunRecords) {
    let pairs = good.intervals.iter().zip(&same.intervals);
    for (one, other) in pairs {
        let blocks = |slice: &IntervalRecord| -> Vec<u64> {
            slice.load.turns.iter().map(|turn| turn.block).collect()
        };
        assert_eq!(blocks(one), blocks(other));
        assert_eq!(one.others.unwrap().requests, other.load.requests);
        assert_eq!(other.others.unwrap().requests, one.load.requests);
    }
    assert_eq!(good.intervals.len(), same.intervals.len());
    for step in 0..3 {
        let found = good.intervals.iter().any(|slice| slice.load.step == step);
        assert!(found, "step {step} was not played");
    }
}

/// Without root each contender of a set has a separate port.
#[test]
fn without_root_contenders_take_turns_on_ports_of_their_own() {
    let world = with_turns();
    let user = world.unprivileged();
    let ran = |arguments: &str| Ran::from(user.command(&world, arguments).output().unwrap());
    ran("plan SUITE --profile turns").check(0, &["connections 4 4 8, in turns"]);
    ran("run SUITE --profile turns --out OUT").check(0, &["report: "]);
    let runs = runs(&world, "out");
    let [(_, good), (_, same)] = &runs[..] else {
        panic!("two runs: {}", runs.len());
    };
    for run in [good, same] {
        assert!(run.begin.run.in_turns);
        assert_eq!(run.begin.traffic_path.name(), "loopback");
    }
    check_beside(good, same);
}

/// If contenders cannot be alive concurrently, the same runs are whole ones.
#[test]
fn without_root_and_a_port_that_is_named_contenders_are_measured_in_whole_runs() {
    let why = "without root contenders have no separate networks: whole runs one after the \
               other instead of turns";
    let world = with_turns();
    world.hide_port();
    let user = world.unprivileged();
    let ran = |arguments: &str| Ran::from(user.command(&world, arguments).output().unwrap());
    let plan = ran("plan SUITE --profile turns");
    let words: Vec<&str> = plan
        .check(0, &["2 runs"])
        .stdout
        .split_whitespace()
        .collect();
    let said = words.join(" ");
    assert!(said.ends_with(why), "{said}");
    ran("run SUITE --profile turns --out OUT").check(0, &["without root contenders have no"]);
    let runs = runs(&world, "out");
    assert_eq!(runs.len(), 2);
    for (_, run) in &runs {
        assert!(!run.begin.run.in_turns);
        let measured = run.intervals.iter().filter(|slice| !slice.warm_up);
        // Two steps of three slices of 200 ms.
        assert_eq!(measured.clone().count(), 6);
        assert!(measured.clone().all(|slice| slice.others.is_none()));
    }
    let report = world.read("out/results.md");
    assert!(report.contains(why), "{report}");
}

#[test]
fn pods_of_one_load_generator_and_services_that_run_elsewhere_take_turns() {
    let world = with_turns();
    let plan = |runtime: &str| -> Value {
        let plan = format!("plan SUITE --profile turns --json --runtime {runtime}");
        serde_json::from_str(&world.run(&plan).check(0, &[]).stdout).unwrap()
    };
    let several = plan("kubernetes --load-pods 2");
    let why = "several load generators load one contender at a time";
    assert_eq!(several["no_turns"], why);
    assert!(several["runs"][0].get("in_turns").is_none());
    for runtime in ["kubernetes", "external"] {
        let turns = plan(runtime);
        assert!(turns.get("no_turns").is_none());
        assert_eq!(turns["runs"][0]["in_turns"], true);
    }
}

#[test]
fn a_profile_may_ask_for_whole_runs() {
    let world = with_turns();
    let suite = fs::read_to_string(world.path().join("suite.toml")).unwrap();
    let whole = suite.replace("[profile.turns]", "[profile.turns]\nwhole-runs = true");
    world.write("suite.toml", &whole);
    let plan = world.run("plan SUITE --profile turns");
    let said = &plan.check(0, &["2 runs"]).stdout;
    assert!(
        !said.contains("turns:") && !said.contains("in turns"),
        "{said}"
    );
    assert!(!said.contains("instead of turns"), "{said}");
}
