//! A session that decides the number of its runs after a pilot.

use crate::world::World;

/// Two contenders that behave well, and a profile that asks for what they may or may not show.
fn world() -> World {
    let world = World::new(&["good"]);
    let contender = world.read("suite/contenders/good/contender.toml");
    let twin = contender.replace("name = \"good\"", "name = \"twin\"");
    world.write("contenders/twin/contender.toml", &twin);
    let suite = world.read("suite/suite.toml");
    let suite = suite.replace(
        "ready-path = \"/\"",
        "ready-path = \"/\"\nlifecycle = false",
    );
    let profile = r#"
[profile.until]
describe = "As many runs as it takes."
limits = { cpus = 1.0, memory = "64MiB" }
runs = { until = "50%", at-most = 4, within = "1h" }
slice = "200ms"
control = false
ladder = { warm-up = [1], connections = [4], step = "400ms" }
"#;
    world.write("suite.toml", &format!("{suite}{profile}"));
    world
}

#[test]
fn a_pilot_decides_and_a_number_of_runs_replaces_it() {
    let world = world();
    world.run("plan SUITE --profile until").check(
        0,
        &[
            "6 to 8 runs, ",
            "3 to 4 runs of each contender, at most 1 h: after 3 it is decided how many",
        ],
    );
    world
        .run("plan SUITE --profile until --runs 2")
        .check(0, &["4 runs, about "]);

    let ran = world.run("run SUITE --profile until --out OUT --seed 1 --json");
    ran.check(0, &["\"event\":\"runs-decided\""]);
    let session: serde_json::Value = serde_json::from_str(&world.read("out/session.json")).unwrap();
    // What the host does to them in so short a time is not known: three or four.
    let runs = session["runs_decision"]["runs"].as_u64().unwrap();
    assert!((3..=4).contains(&runs), "{session:#}");
    let planned = session["plan"]["runs"].as_array().unwrap().len();
    assert_eq!(planned, usize::try_from(2 * runs).unwrap());
    assert!(session["plan"]["runs_until"].is_null(), "{session:#}");
    let records = std::fs::read_dir(world.out().join("records")).unwrap();
    assert_eq!(records.count(), planned);
    let said = format!("{runs} runs of each contender: ");
    assert!(world.read("out/results.md").contains(&said));

    world
        .run("run SUITE --resume OUT --verbose")
        .check(0, &["nothing is left to run", &said]);
}
