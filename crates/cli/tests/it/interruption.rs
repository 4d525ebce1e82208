//! Sessions that are cut short, by a person, by the kernel or by a full disk: what was recorded
//! stays, nothing is left running, and `--resume` finishes the rest.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::world::{Ran, World};

/// Starts a session and lets it go on until it prints an event that is `wanted`.
fn until(world: &World, out: &str, wanted: impl Fn(&Value) -> bool) -> Child {
    let command = format!("run SUITE --profile tiny --runs 2 --json --out {out}");
    let mut command = world.command(&command);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let came = lines.any(|line| {
        let event: Value = serde_json::from_str(&line.unwrap()).unwrap_or_default();
        wanted(&event)
    });
    assert!(came, "the session ended before it came that far");
    // What else it says has to go somewhere, or it would wait for a reader.
    std::thread::spawn(move || lines.for_each(drop));
    child
}

fn is_stage(event: &Value, stage: &str) -> bool {
    event["event"] == "stage-began" && event["stage"] == stage
}

#[test]
fn a_session_that_is_killed_in_any_phase_is_resumed() {
    let world = World::new(&["good"]);
    for phase in [
        "building",
        "lifecycle",
        "start",
        "verify",
        "load",
        "stop",
        "step-began",
        "session-ended",
    ] {
        let out = format!("out-{phase}");
        let mut child = until(&world, &out, |event| {
            event["event"] == phase || is_stage(event, phase)
        });
        child.kill().unwrap();
        child.wait().unwrap();
        let finished = finished_files(&world, &out);
        let resumed = world.run(&format!("run SUITE --resume {out}"));
        resumed.check(0, &["report: "]);
        let all = finished_files(&world, &out);
        for (name, text) in &finished {
            assert!(
                all.contains(&(name.clone(), text.clone())),
                "{phase}: {name} was touched"
            );
        }
        assert_eq!(
            all.len(),
            2,
            "{phase}: each of two runs ended once: {all:#?}"
        );
        assert_eq!(world.leftovers(child.id()), [""; 0], "{phase}");
        world
            .run(&format!("run SUITE --resume {out}"))
            .check(0, &["nothing is left to run"]);
    }
}

#[test]
fn an_interrupted_session_says_how_to_go_on_and_leaves_nothing() {
    let world = World::new(&["good"]);
    for (phase, signal) in [("lifecycle", "-INT"), ("load", "-INT"), ("load", "-TERM")] {
        let out = format!("out{signal}-{phase}");
        let child = until(&world, &out, |event| is_stage(event, phase));
        let session = child.id();
        let sent = Command::new("kill")
            .args([signal, &session.to_string()])
            .status();
        assert!(sent.unwrap().success());
        let ended = Ran::from(child.wait_with_output().unwrap());
        assert_eq!(ended.status, 130, "{phase} {signal}: {ended:#?}");
        assert_eq!(world.leftovers(session), [""; 0], "{phase} {signal}");
        let first = first_record(&world, &out);
        assert!(first.contains("\"outcome\":\"interrupted\""), "{first}");
        world
            .run(&format!("run SUITE --resume {out}"))
            .check(0, &["report: ", "attempt 2"]);
    }
}

#[test]
fn a_full_disk_is_a_sentence_and_costs_no_record() {
    let world = World::new(&["good"]);
    let out = world.out();
    fs::create_dir(&out).unwrap();
    // A file system of its own that has room for little more than the session's description.
    let script = format!(
        "mount -t tmpfs -o size=24k none {out} && \
         {program} run SUITE --profile tiny --runs 3 --out {out}/results; status=$?; \
         cat {out}/results/records/*; exit $status",
        out = out.display(),
        program = env!("CARGO_BIN_EXE_bakeoff"),
    );
    let script = script.replace("SUITE", &world.path().display().to_string());
    let mut command = world.command("");
    let mut inside = Command::new("unshare");
    inside.args(["--map-root-user", "--mount", "sh", "-c", &script]);
    inside.envs(
        command
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    inside.current_dir(command.current_dir(world.path()).get_current_dir().unwrap());
    let ran = Ran::from(inside.output().unwrap());
    ran.check(1, &["No space left on device", "hint:", "--resume"]);
    let records = ran.stdout.lines().filter(|line| line.starts_with('{'));
    let whole = records
        .map(serde_json::from_str::<Value>)
        .filter(Result::is_ok);
    assert!(whole.count() > 1, "{ran:#?}");
    assert_eq!(world.leftovers(0), [""; 0]);
}

/// Records of finished runs: file name and text.
fn finished_files(world: &World, out: &str) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = records(world, out)
        .into_iter()
        .filter(|(_, text)| text.contains("\"record\":\"end\""))
        .collect();
    files.sort();
    files
}

fn first_record(world: &World, out: &str) -> String {
    let mut files = records(world, out);
    files.sort();
    files.swap_remove(0).1
}

fn records(world: &World, out: &str) -> Vec<(String, String)> {
    let folder = world.path().join("..").join(out).join("records");
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            (name, fs::read_to_string(entry.path()).unwrap())
        })
        .collect()
}
