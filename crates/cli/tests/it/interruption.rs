//! Sessions that are cut short, by a person, by the kernel or by a full disk: what was recorded
//! stays, nothing is left running, and `--resume` finishes the rest.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use bakeoff_model::record::{self, Outcome};
use serde_json::Value;

use crate::turns::devices;
use crate::world::{Ran, Service, World, program};
use crate::{rounds, turns};

/// Starts a session and lets it go on until it prints an event that is `wanted`.
pub(crate) fn until(world: &World, command: &str, mut wanted: impl FnMut(&Value) -> bool) -> Child {
    let mut command = world.command(&format!("{command} --json"));
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let came = lines.any(|line| {
        let event: Value = serde_json::from_str(&line.unwrap()).unwrap_or_default();
        wanted(&event)
    });
    assert!(came, "the session ended before it came that far");
    // The rest of its output must be read, or it would wait for a reader.
    std::thread::spawn(move || lines.for_each(drop));
    child
}

/// Two runs of each contender into a folder.
fn two_runs(out: &str) -> String {
    format!("run SUITE --profile tiny --runs 2 --out {out}")
}

pub(crate) fn send(signal: &str, process: u32) {
    let sent = Command::new("kill")
        .args([signal, &process.to_string()])
        .status();
    assert!(sent.unwrap().success());
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
        let mut child = until(&world, &two_runs(&out), |event| {
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
fn what_a_killed_session_has_not_made_is_said_everywhere() {
    let world = World::new(&["good"]);
    let mut loads = 0;
    let mut child = until(&world, &two_runs("out"), |event| {
        loads += u32::from(is_stage(event, "load"));
        loads == 2
    });
    child.kill().unwrap();
    child.wait().unwrap();
    let said = "1 of 2 runs are made, so numbers are missing";
    for command in ["rank", "audit", "report"] {
        let ran = world.run(&format!("{command} out"));
        assert!(
            command == "report" || ran.unwrapped().stdout.contains(said),
            "{ran:#?}"
        );
    }
    let documents = ["out/results.md", "out/report/index.html"];
    for document in documents {
        assert!(world.read(document).contains(said), "{document}");
    }
    let resumed = "run SUITE --resume out";
    world.run(resumed).check(0, &["report: "]);
    for document in documents {
        assert!(
            !world.read(document).contains("runs are made"),
            "{document}"
        );
    }

    let session = world.out().join("session.json");
    let text = world.read("out/session.json");
    let cannot = "the description of the session cannot be read";
    for (text, why) in [
        ("{", "session.json: not a session file"),
        (
            &text.replace("\"format\": 2", "\"format\": 99"),
            "is of format 99",
        ),
    ] {
        fs::write(&session, text).unwrap();
        for command in ["rank out", "audit out"] {
            let ran = world.run(command).unwrapped();
            let is_said = ran.stdout.contains(cannot) && ran.stdout.contains(why);
            assert!(is_said, "{ran:#?}");
        }
        world.run(resumed).check(1, &[why]);
    }
}

#[test]
fn an_interrupted_session_says_how_to_go_on_and_leaves_nothing() {
    let world = World::new(&["good"]);
    for (phase, signal) in [("lifecycle", "-INT"), ("load", "-INT"), ("load", "-TERM")] {
        let out = format!("out{signal}-{phase}");
        let child = until(&world, &two_runs(&out), |event| is_stage(event, phase));
        let session = child.id();
        send(signal, session);
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
fn a_build_ends_with_its_session() {
    let world = World::new(&["good"]);
    let file = "contenders/good/contender.toml";
    let text = world.read(&format!("suite/{file}"));
    let started = world.path().join("started");
    let script = format!("sleep 600 & echo $! > {}; wait", started.display());
    let (before, after) = text.split_once("build = [").unwrap();
    let (_, after) = after.split_once(']').unwrap();
    let build = format!("build = [\"sh\", \"-c\", \"{script}\"]");
    world.write(file, &format!("{before}{build}{after}"));
    let mut child = until(&world, &two_runs("out"), |event| {
        event["event"] == "building"
    });
    let mut compiler = String::new();
    while !compiler.ends_with('\n') {
        compiler = fs::read_to_string(&started).unwrap_or_default();
    }
    let compiler = Path::new("/proc").join(compiler.trim());
    assert!(compiler.exists());
    child.kill().unwrap();
    child.wait().unwrap();
    let is_alive = || {
        let status = fs::read_to_string(compiler.join("status")).unwrap_or_default();
        status.contains("sleep") && !status.contains("zombie")
    };
    let killed = Instant::now();
    while is_alive() {
        assert!(
            killed.elapsed() < Duration::from_secs(30),
            "it is still there"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_folder_belongs_to_one_session_at_a_time() {
    let world = World::new(&["good"]);
    let session = until(&world, &two_runs("out"), |event| is_stage(event, "load"));
    let session = Service(session);
    // It is at work until it is killed, however long the others take.
    send("-STOP", session.0.id());
    let texts = [
        "out: another session writes to this folder",
        &format!("(process {})", session.0.id()),
        "hint:",
    ];
    let before = records(&world, "out").len();
    world.run("run SUITE --resume out").check(1, &texts);
    world.run(&two_runs("out")).check(1, &texts);
    let duel = "duel a=true b=true --get /item --out out";
    world.run(duel).check(1, &texts);
    assert_eq!(records(&world, "out").len(), before);
    drop(session);
    world
        .run("run SUITE --resume out")
        .check(0, &["report: ", "attempt 2"]);
}

#[test]
fn a_session_goes_on_with_the_same_build_only() {
    let world = World::new(&["good"]);
    let mut loads = 0;
    let mut child = until(&world, &two_runs("out"), |event| {
        loads += u32::from(is_stage(event, "load"));
        loads == 2
    });
    child.kill().unwrap();
    child.wait().unwrap();
    let file = "contenders/good/contender.toml";
    let text = world.read(&format!("suite/{file}"));
    let program = program();
    let program = program.display();
    let other = text.replace(
        &format!(r#""cp", "{program}", "contender""#),
        &format!(r#""sh", "-c", "cp {program} contender && echo >> contender""#),
    );
    world.write(file, &other);
    let before = records(&world, "out");
    world.run("run SUITE --resume out").check(
        1,
        &["good: it has changed since the session started", "hint:"],
    );
    assert_eq!(records(&world, "out").len(), before.len());
    assert_eq!(world.leftovers(0), [""; 0]);
    world.write(file, &text);
    world
        .run("run SUITE --resume out")
        .check(0, &["report: ", "attempt 2"]);
    world.run("audit out").check(0, &["nothing was found"]);
}

#[test]
fn a_set_in_turns_that_is_interrupted_leaves_nothing_and_is_made_again() {
    let Some(world) = turns::world() else { return };
    let mut is_second = false;
    let command = "run SUITE --profile turns --runs 2 --out out";
    let child = until(&world, command, |event| {
        is_second |= event["run"]["repetition"] == 2;
        is_second && event.to_string().contains("\"turns\":[")
    });
    let session = child.id();
    send("-INT", session);
    let ended = Ran::from(child.wait_with_output().unwrap());
    assert_eq!(ended.status, 130, "{ended:#?}");
    assert_eq!(world.leftovers(session), [""; 0]);
    assert_eq!(devices(session), [""; 0]);
    let before = finished_files(&world, "out");
    let interrupted = before
        .iter()
        .filter(|(_, text)| text.contains("\"outcome\":\"interrupted\""));
    assert_eq!((before.len(), interrupted.count()), (4, 2), "{before:#?}");
    world
        .run("run SUITE --resume out")
        .check(0, &["report: ", "attempt 2"]);
    check_complete(&world, "out", &before, 4);
    world
        .run("run SUITE --resume out")
        .check(0, &["nothing is left to run"]);
}

#[test]
fn a_group_of_rounds_that_is_killed_goes_on_where_it_was() {
    let world = rounds::pair("item");
    let (mut is_second_round, mut is_second_set) = (false, false);
    let command = "run SUITE --round pair --runs 2 --out out";
    let mut child = until(&world, command, |event| {
        is_second_round |= event["event"] == "round-began" && event["round"] == "second";
        is_second_set |= is_second_round && event["run"]["repetition"] == 2;
        is_second_set && event["event"] == "step-began"
    });
    child.kill().unwrap();
    child.wait().unwrap();
    let first = finished_files(&world, "out/first");
    let second = finished_files(&world, "out/second");
    assert_eq!(first.len(), 4);
    assert!((1..4).contains(&second.len()), "{second:#?}");
    world
        .run("run SUITE --resume out")
        .check(0, &["round second", "attempt 2"]);
    check_complete(&world, "out/first", &first, 4);
    check_complete(&world, "out/second", &second, 4);
    assert_eq!(world.leftovers(child.id()), [""; 0]);
    assert_eq!(devices(child.id()), [""; 0]);
    world
        .run("run SUITE --resume out")
        .check(0, &["nothing is left to run"]);
}

#[test]
fn a_sitting_that_ends_inside_a_group_of_rounds_is_gone_on_with() {
    let world = rounds::pair("start-up");
    // Eight starts of a second at least: more than the longer of these sittings.
    for name in ["good", "same"] {
        let file = format!("contenders/{name}/contender.toml");
        let slow = "run = [\"sh\", \"-c\", \"sleep 1; exec {artifact}\"]";
        let text = world.read(&format!("suite/{file}"));
        world.write(&file, &text.replace("run = [\"{artifact}\"]", slow));
    }
    let mut begun = "--round pair --out OUT";
    let mut before = [Vec::new(), Vec::new()];
    // Building and what else comes before the first start takes an unknown part of a sitting.
    for length in ["5s", "7s"] {
        let ran = world.run(&format!("run SUITE {begun} --for {length}"));
        ran.check(4, &["the time is over", "--resume"]);
        begun = "--resume OUT";
        before = ["out/first", "out/second"].map(|folder| finished_files(&world, folder));
        if before.iter().any(|files| !files.is_empty()) {
            break;
        }
    }
    let made: usize = before.iter().map(Vec::len).sum();
    assert!((1..8).contains(&made), "{before:#?}");
    assert_eq!(world.leftovers(0), [""; 0]);
    world.run("run SUITE --resume OUT").check(0, &["report: "]);
    check_complete(&world, "out/first", &before[0], 4);
    check_complete(&world, "out/second", &before[1], 4);
    assert_eq!(world.leftovers(0), [""; 0]);
    world
        .run("run SUITE --resume OUT --for 1m")
        .check(0, &["nothing is left to run"]);
}

#[test]
fn a_full_disk_is_a_sentence_and_costs_no_record() {
    let world = World::new(&["good"]);
    let out = world.out();
    fs::create_dir(&out).unwrap();
    // A separate file system that has room for little more than the session's description.
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

/// Each planned run of a folder has exactly one record of its completion, and what was finished
/// `before` is as it was.
#[track_caller]
fn check_complete(world: &World, out: &str, before: &[(String, String)], runs: usize) {
    let all = records(world, out);
    for file in before {
        assert!(all.contains(file), "{out}: {} was touched", file.0);
    }
    let completed = all.iter().filter_map(|(_, text)| {
        let run = record::read_run(text).unwrap();
        let is_whole = run.end?.outcome == Outcome::Completed;
        is_whole.then_some(run.begin.run.id)
    });
    let mut completed: Vec<String> = completed.collect();
    completed.sort();
    let session: Value = serde_json::from_str(&world.read(&format!("{out}/session.json"))).unwrap();
    let planned = session["plan"]["runs"].as_array().unwrap().iter();
    let mut planned: Vec<&str> = planned.map(|run| run["id"].as_str().unwrap()).collect();
    planned.sort_unstable();
    assert_eq!(completed, planned, "{out}");
    assert_eq!(planned.len(), runs, "{out}");
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
