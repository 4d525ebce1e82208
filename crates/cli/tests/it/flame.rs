//! Flame graphs during a session and with `up`, with a scripted `perf`.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

use crate::world::{Ran, World, git_in, program};

/// Records until it is interrupted, like the real one, and has always seen the same.
pub(crate) const PERF: &str = r#"#!/bin/sh
[ "$1" = --buildid-dir ] && shift 2
case "$1" in
record)
    while [ "$1" != -o ]; do shift; done
    trap 'echo samples > "$2"; exit 0' INT
    while :; do sleep 0.05; done ;;
script)
    for i in 1 2 3; do
        printf 'contender 77/77 1.%s: cpu-clock: \n' "$i"
        printf '\t    55d0 serve_item (/bin/contender)\n'
        printf '\t    55d1 main (/bin/contender)\n\n'
    done ;;
esac
"#;
const REFUSING: &str = "#!/bin/sh\necho 'Error: No permission to enable cpu-clock' >&2; exit 255\n";

/// A command in a world whose `perf` is this script.
pub(crate) fn command(world: &World, perf: &str, arguments: &str) -> Command {
    let programs = world.out().with_file_name("programs");
    fs::create_dir_all(&programs).unwrap();
    let file = programs.join("perf");
    fs::write(&file, perf).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = world.command(arguments);
    let path = std::env::var("PATH").unwrap();
    command.env("PATH", format!("{}:{path}", programs.display()));
    command
}

#[test]
fn a_session_ends_with_a_flame_graph_of_each_case() {
    let world = World::new(&["good"]);
    let run = "run SUITE --profile tiny --out OUT --profile-cpu";
    let ran = Ran::from(command(&world, PERF, run).output().unwrap());
    ran.check(
        0,
        &[
            "flame graph 1/1: good · item · about 10 s",
            "flame/item.good.flame.svg: 3 samples by perf",
            "report: ",
        ],
    );
    let svg = world.read("out/flame/item.good.flame.svg");
    assert!(svg.contains("serve_item (3 samples, 100.00%)"), "{svg}");
    let report = world.read("out/report/index.html");
    assert!(report.contains("href=\"../flame/item.good.flame.svg\""));
    let records = fs::read_dir(world.out().join("records")).unwrap();
    assert_eq!(records.count(), 1, "its own run is not recorded");
    // A finished session has nothing to draw.
    let again = command(&world, PERF, "run SUITE --resume OUT").output();
    let again = Ran::from(again.unwrap());
    again.check(0, &["nothing is left to run"]);
    assert!(!again.stderr.contains("flame graph"), "{again:#?}");
}

#[test]
fn lines_that_changed_between_two_commits_are_looked_for() {
    let world = World::new(&[]);
    let repository = world.path().join("repository");
    fs::create_dir(&repository).unwrap();
    git_in(&repository, &["init", "--quiet"]);
    for work in ["one", "two"] {
        let text = format!("int serve_item(int a) {{\n  return {work}(a);\n}}\n");
        fs::write(repository.join("item.c"), text).unwrap();
        git_in(&repository, &["add", "."]);
        git_in(&repository, &["commit", "--quiet", "-m", work]);
    }
    let side = |name: &str| format!("{name}=env MODE=good {}", program().display());
    let duel = "duel --get /item --runs 1 --duration 300ms --warm-up none --out OUT";
    let mut duel = command(&world, PERF, duel);
    duel.args(["--diff", "HEAD~1..HEAD", &side("old"), &side("new")]);
    duel.args(["--port", &world.port().to_string()]);
    let ran = Ran::from(duel.current_dir(&repository).output().unwrap());
    ran.check(0, &["flame graph 2/2"]);
    let index = world.read("out/flame/index.json");
    let graphs: Vec<serde_json::Value> = serde_json::from_str(&index).unwrap();
    for graph in &graphs {
        let change = &graph["changes"][0];
        assert_eq!(change["name"], "item.c:2 (serve_item)", "{index}");
        // Of three sets, because none shows a difference.
        assert_eq!(change["samples"], 9, "{index}");
    }
    assert_eq!(graphs.len(), 2, "{index}");
}

#[test]
fn what_cannot_be_sampled_is_a_sentence_and_no_failure() {
    let world = World::new(&["good"]);
    let run = "run SUITE --profile tiny --out OUT --profile-cpu";
    let ran = Ran::from(command(&world, REFUSING, run).output().unwrap());
    ran.check(0, &["none: perf refuses: Error: No permission to enable"]);
    let report = world.read("out/report/index.html");
    assert!(report.contains("no flame graph of good, item: perf refuses: "));
    world
        .run("up SUITE --contender good --profile-cpu --runtime external")
        .check(1, &["flame graphs need processes on this host", "hint: "]);
}

#[test]
fn a_contender_that_stands_is_sampled_until_it_is_stopped() {
    let world = World::new(&["good"]);
    let up = "up SUITE --contender good --profile tiny --profile-cpu=1h";
    let mut child = command(&world, PERF, up)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut lines = output.by_ref().lines().map(Result::unwrap);
    let begun = "taking samples for its flame graph for 3600 s: load it now";
    let said = lines.find(|line| line == begun || line.starts_with("no flame graph"));
    assert_eq!(said.as_deref(), Some(begun));
    let interrupt = ["-INT".to_owned(), child.id().to_string()];
    let told = Command::new("kill").args(interrupt).status().unwrap();
    assert!(told.success());
    let mut rest = String::new();
    output.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{rest}");
    let said = "flame graph: flame-good.svg, 3 samples by perf";
    assert!(rest.contains(said), "{rest}");
    assert!(world.read("flame-good.svg").contains("serve_item"));
    assert_eq!(world.leftovers(child.id()), [""; 0]);
}
