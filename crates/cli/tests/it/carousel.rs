//! Carousels from outside: two contenders alive on one port, slices in turn, killed and resumed.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use bakeoff_model::record::{self, RunRecords};
use serde_json::Value;

use crate::world::{Ran, World};

/// [`with_turns`]; `None`, said loudly, where carousels are not permitted.
fn world() -> Option<World> {
    if !rustix::process::geteuid().is_root() {
        announce("carousels: they take root");
        return None;
    }
    Some(with_turns())
}

/// Two contenders that are as good, and a profile for both in turn.
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
carousel = { connections = 4, warm-up = "500ms", cycles = 3, slice = "200ms", discard = "50ms" }
"#;
    world.write("suite.toml", &format!("{suite}{profile}"));
    world
}

#[expect(clippy::print_stderr, reason = "a skipped test must be seen")]
fn announce(text: &str) {
    eprintln!("\n******** NOT TESTED HERE ********\n{text}\n");
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
fn devices(session: u32) -> Vec<String> {
    let entries = fs::read_dir("/sys/class/net").unwrap().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let prefix = format!("bko{session}x");
    names.filter(|name| name.starts_with(&prefix)).collect()
}

#[test]
fn two_take_turns_and_a_killed_carousel_is_made_again_as_a_whole() {
    let Some(world) = world() else { return };
    world
        .run("plan SUITE --profile turns")
        .check(0, &["2 contenders alive together", "3 turns of a carousel"]);
    let mut child = world
        .command("run SUITE --profile turns --json --out out")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let came = lines.any(|line| line.unwrap().contains("\"turn\":{\"cycle\":1"));
    assert!(came, "no second cycle");
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
    let mut positions = Vec::new();
    for (_, run) in runs.iter().filter(|(name, _)| name.contains(".a2.")) {
        assert_eq!(run.begin.traffic_path.name(), "veth");
        assert!(run.end.is_some());
        let slices = run.intervals.iter().filter(|slice| !slice.warm_up);
        let turns: Vec<(u32, u32)> = slices
            .map(|slice| slice.turn.map(|turn| (turn.cycle, turn.position)).unwrap())
            .collect();
        assert_eq!(
            turns.iter().map(|turn| turn.0).collect::<Vec<_>>(),
            [0, 1, 2]
        );
        positions.extend(turns);
        let served: u64 = run.intervals.iter().map(|slice| slice.load.requests).sum();
        assert!(served > 0);
        for slice in run.intervals.iter().filter(|slice| slice.turn.is_some()) {
            let errors: u64 = slice.load.errors.values().map(|error| error.count).sum();
            assert_eq!(
                errors, 0,
                "thawing leaves no trace: {:?}",
                slice.load.errors
            );
        }
    }
    positions.sort_unstable();
    assert_eq!(positions, [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)]);
    world
        .run("run SUITE --resume out")
        .check(0, &["nothing is left to run"]);
}

/// Where contenders cannot be frozen, a carousel is whole runs in turn: same runs, one step each.
#[test]
fn without_root_the_same_contenders_are_measured_in_whole_runs() {
    let why = "contenders cannot be frozen without root: whole runs in turn instead of a carousel";
    let world = with_turns();
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
    ran("run SUITE --profile turns --out OUT").check(0, &["warning: contenders cannot be"]);
    let runs = runs(&world, "out");
    assert_eq!(runs.len(), 2);
    for (_, run) in &runs {
        assert!(run.begin.run.carousel.is_none());
        let measured = run.intervals.iter().filter(|slice| !slice.warm_up);
        // Three slices of 200 ms, one after the other.
        assert_eq!(measured.count(), 3);
    }
    let report = world.read("out/results.md");
    assert!(report.contains(why), "{report}");
}

#[test]
fn what_cannot_be_frozen_anywhere_is_measured_in_whole_runs() {
    let world = with_turns();
    for (runtime, who) in [
        ("external", "services that run elsewhere"),
        ("kubernetes", "Pods"),
    ] {
        let plan = format!("plan SUITE --profile turns --json --runtime {runtime}");
        let plan: Value = serde_json::from_str(&world.run(&plan).check(0, &[]).stdout).unwrap();
        assert_eq!(plan["no_carousels"], format!("{who} cannot be frozen"));
        assert!(plan["runs"][0].get("carousel").is_none());
        assert_eq!(plan["runs"][0]["steps"].as_array().unwrap().len(), 2);
    }
}
