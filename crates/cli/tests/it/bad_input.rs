//! Bad input ends in one clear sentence, a hint and a status that is not zero.

use std::net::TcpListener;

use crate::world::{Ran, World};

#[test]
fn unknown_names_list_the_known_ones() {
    let world = World::new(&["good"]);
    world
        .run("list nowhere")
        .check(1, &["nowhere", "unknown suite", "hint:"]);
    world
        .run("run SUITE --profile fast")
        .check(1, &["fast", "tiny"]);
    world
        .run("run SUITE --profile tiny --contender nobody")
        .check(1, &["nobody", "good"]);
    world
        .run("run SUITE --profile tiny --benchmark nothing")
        .check(1, &["nothing", "item"]);
    world
        .run("verify SUITE --profile tiny --group dreams")
        .check(1, &["dreams", "missing"]);
    world
        .run("run SUITE --profile tiny --backend oracle")
        .check(1, &["oracle"]);
    world
        .run("schema nothing")
        .check(1, &["nothing", "possible values", "event"]);
}

#[test]
fn all_mistakes_of_a_suite_are_told_at_once() {
    let world = World::new(&["good"]);
    let suite = world.read("suite/suite.toml");
    let broken = suite
        .replace("runs = 1", "runs = \"often\"")
        .replace("cpus = 1.0", "cpus = \"all\"")
        .replace("slice = \"200ms\"", "slice = 200");
    world.write("suite.toml", &broken);
    world
        .run("list SUITE")
        .check(1, &["3 mistakes", "runs", "cpus", "slice", "suite.toml:"]);
    world.write("suite.toml", "[suite\nname = 3");
    world.run("list SUITE").check(1, &["suite.toml:1"]);
}

#[test]
fn the_results_folder_must_be_writable_and_free() {
    let world = World::new(&["good"]);
    std::fs::write(world.out(), "a file").unwrap();
    world
        .run("run SUITE --profile tiny --out OUT")
        .check(1, &["cannot write results", "a writable folder with --out"]);
    std::fs::remove_file(world.out()).unwrap();
    std::fs::create_dir(world.out()).unwrap();
    std::fs::write(world.out().join("session.json"), "{}").unwrap();
    world
        .run("run SUITE --profile tiny --out OUT")
        .check(1, &["holds a session already"]);
    world
        .run("run SUITE --resume OUT")
        .check(1, &["not a session file"]);
    world
        .run("report nowhere")
        .check(1, &["not a results folder"]);
}

#[test]
fn an_engine_that_is_not_there_is_a_sentence() {
    let world = World::new(&["good"]);
    let mut command = world.command("verify SUITE --profile tiny --runtime docker");
    command.env("DOCKER_HOST", "unix:///nowhere/docker.sock");
    Ran::from(command.output().unwrap()).check(1, &["/nowhere/docker.sock", "hint:"]);
}

#[test]
fn a_backend_that_does_not_start_is_a_sentence() {
    let world = World::new(&["good"]);
    let suite = world.read("suite/suite.toml");
    let with = |backend: &str| {
        let backend = format!("[[backend]]\nname = \"{backend}\"\ndata = \"data\"\n");
        world.write("suite.toml", &format!("{suite}\n{backend}"));
        world.run(&format!(
            "run SUITE --profile tiny --out OUT --backend {backend}",
            backend = backend.split('"').nth(1).unwrap()
        ))
    };
    with("elasticsearch").check(1, &["backend elasticsearch does not start", "no backends/"]);
    world.write("data/broken.jsonl", "this is no recording");
    with("replay").check(1, &["backend replay does not start", "broken.jsonl"]);
}

/// Whatever keeps a session from its first run leaves the disk as it was.
#[test]
fn a_refused_session_leaves_no_folder() {
    let world = World::new(&["good"]);
    let taken = TcpListener::bind(("0.0.0.0", world.port())).unwrap();
    let refused = "listens";
    let results = world.out().join("of/today");
    let run = format!("run SUITE --profile tiny --out {}", results.display());
    world.run(&run).check(1, &[refused]);
    assert!(!world.out().exists());
    world.run("run SUITE --profile tiny").check(1, &[refused]);
    assert!(!world.out().with_file_name("results").exists());

    // The existing files stay.
    std::fs::create_dir(world.out()).unwrap();
    let own = "run SUITE --profile tiny --out OUT";
    world.run(own).check(1, &[refused]);
    assert_eq!(std::fs::read_dir(world.out()).unwrap().count(), 0);
    std::fs::write(world.out().join("notes.md"), "mine").unwrap();
    world.run(own).check(1, &[refused]);
    assert_eq!(world.read("out/notes.md"), "mine");

    let rounds = "[[round]]\nname = \"main\"\ncontenders = [\"*\"]\nbenchmarks = [\"item\"]\n";
    let suite = world.read("suite/suite.toml");
    world.write("suite.toml", &format!("{suite}\n{rounds}"));
    world
        .run(&format!("{run} --round all"))
        .check(1, &[refused]);
    assert!(!results.exists());
    drop(taken);
}
