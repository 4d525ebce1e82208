//! Sessions that are killed at random moments: `--resume` makes the rest, and nothing is lost,
//! doubled or left. Folders are read here line by line, not by the program's own readers, which
//! could share a mistake with its writers. A seed makes the moments the same in every run; with
//! `BAKEOFF_TEST_KILLS=200` there are as many kills.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs};

use bakeoff_base::random::Random;
use serde_json::Value;

use crate::turns::devices;
use crate::world::World;

/// How many sessions are killed unless `BAKEOFF_TEST_KILLS` says it.
const KILLS: u32 = 10;

const SEED: u64 = 20_261_128;

/// The profiles of the sessions, one after the other: sets in turns, and whole runs.
const PROFILES: [&str; 2] = ["turns", "whole"];

const SUITE: &str = r#"
[profile.turns]
limits = { cpus = 1.0, memory = "64MiB" }
runs = 2
slice = "100ms"
latency = false
ladder = { warm-up = [2], connections = [2], step = "200ms" }

[profile.whole]
limits = { cpus = 1.0, memory = "64MiB" }
runs = 1
whole-runs = true
slice = "100ms"
latency = false
ladder = { warm-up = [2], connections = [2], step = "200ms" }

[[benchmark]]
name = "start-up"
kind = "startup"
starts = 2
"#;

#[test]
fn sessions_that_are_killed_at_random_moments_lose_and_leave_nothing() {
    let kills = env::var("BAKEOFF_TEST_KILLS").map_or(KILLS, |kills| kills.parse().unwrap());
    let world = World::new(&["good", "same"]);
    let suite = world.read("suite/suite.toml") + SUITE;
    world.write("suite.toml", &suite);
    let lengths = PROFILES.map(|profile| {
        let start = Instant::now();
        let (profile, out) = (profile, format!("whole-{profile}"));
        session(&world, profile, &out, None);
        let length = start.elapsed();
        check_complete(&world, &out, &BTreeMap::new());
        length
    });
    let mut random = Random::new(SEED);
    let mut hit = 0;
    for kill in 0..kills {
        let profile = kill as usize % PROFILES.len();
        let moment = lengths[profile].mul_f64(random.unit());
        let out = format!("out-{kill}");
        let (killed, was_alive) = session(&world, PROFILES[profile], &out, Some(moment));
        hit += u32::from(was_alive);
        let place = format!("{out}, {} after {moment:?}", PROFILES[profile]);
        let folder = folder(&world, &out);
        if !folder.join("session.json").exists() {
            assert_eq!(files(&world, &out), BTreeMap::new(), "{place}");
            session(&world, PROFILES[profile], &out, None);
        }
        let before = files(&world, &out);
        let mut resuming = command(&world, &format!("run SUITE --resume {out}"));
        let resumed = resuming.spawn().unwrap();
        let resumer = resumed.id();
        let status = resumed.wait_with_output().unwrap().status;
        assert!(matches!(status.code(), Some(0 | 2)), "{place}: {status}");
        check_complete(&world, &out, &before);
        for process in [killed, resumer] {
            assert_eq!(world.leftovers(process), [""; 0], "{place}");
            assert_eq!(devices(process), [""; 0], "{place}");
        }
        assert_eq!(processes(&world), [""; 0], "{place}");
        fs::remove_dir_all(folder).unwrap();
    }
    let result = format!("{kills} kills, {hit} of them while the session was alive");
    // A terminal that is gone fails no test.
    let _ = writeln!(std::io::stderr(), "{result}");
}

/// A command whose temporary files are all in the world's folder for them.
fn command(world: &World, arguments: &str) -> Command {
    let mut command = world.command(arguments);
    command.env("TMPDIR", folder(world, "run"));
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Makes a session, and kills it after some time; returns its process, and whether that was alive
/// then.
fn session(world: &World, profile: &str, out: &str, kill: Option<Duration>) -> (u32, bool) {
    let arguments = format!("run SUITE --profile {profile} --out {out}");
    let mut child = command(world, &arguments).spawn().unwrap();
    let is_alive = kill.is_some_and(|moment| {
        std::thread::sleep(moment);
        let is_alive = child.try_wait().unwrap().is_none();
        child.kill().unwrap();
        is_alive
    });
    child.wait().unwrap();
    (child.id(), is_alive)
}

fn folder(world: &World, name: &str) -> PathBuf {
    world.out().with_file_name(name)
}

/// The texts of the records' files by their names.
fn files(world: &World, out: &str) -> BTreeMap<String, String> {
    let entries = fs::read_dir(folder(world, out).join("records"));
    let entries = entries.into_iter().flatten().flatten();
    let read = entries.map(|entry| {
        let name = entry.file_name().into_string().unwrap();
        (name, fs::read_to_string(entry.path()).unwrap())
    });
    read.collect()
}

/// Each planned run is complete in its last attempt and, unless others of its set were cut off, in
/// no other; every line is whole; no file that was there `before` has changed.
#[track_caller]
fn check_complete(world: &World, out: &str, before: &BTreeMap<String, String>) {
    let session: Value = serde_json::from_str(&world.read(&format!("{out}/session.json"))).unwrap();
    let planned = session["plan"]["runs"].as_array().unwrap();
    let all = files(world, out);
    for (name, text) in before {
        assert_eq!(all.get(name), Some(text), "{out}: {name} was touched");
    }
    let completed: BTreeSet<(String, u64)> = all
        .iter()
        .filter_map(|(name, text)| completed(name, text))
        .collect();
    let of = |run: &Value| {
        let id = run["id"].as_str().unwrap();
        let mut attempts = all.keys().filter_map(|name| attempt(name));
        let last = attempts.by_ref().filter(|(run, _)| run == id).max();
        (id.to_owned(), last.unwrap_or_default().1)
    };
    let wanted: BTreeSet<(String, u64)> = planned.iter().map(of).collect();
    let missing: Vec<_> = wanted.difference(&completed).collect();
    assert!(missing.is_empty(), "{out}: {missing:?} of {completed:?}");
    for (id, number) in completed.difference(&wanted) {
        let run = planned.iter().find(|run| run["id"] == id.as_str()).unwrap();
        let set = |key: &str, other: &&Value| other[key] == run[key];
        let keys = ["benchmark", "repetition", "in_turns"];
        let mut set = planned
            .iter()
            .filter(|one| keys.iter().all(|key| set(key, one)));
        let is_cut = |one: &Value| {
            let id = one["id"].as_str().unwrap();
            !completed.contains(&(id.to_owned(), *number))
        };
        let is_again = run["in_turns"] == true && set.any(is_cut);
        assert!(is_again, "{out}: {id} is complete twice");
    }
}

/// The run and the attempt that a file is named after.
fn attempt(name: &str) -> Option<(String, u64)> {
    let (id, attempt) = name.strip_suffix(".jsonl")?.rsplit_once(".a")?;
    Some((id.to_owned(), attempt.parse().ok()?))
}

/// The run and the attempt of a file, if it was completed. All lines must be whole and in their
/// places.
#[track_caller]
fn completed(name: &str, text: &str) -> Option<(String, u64)> {
    assert!(text.is_empty() || text.ends_with('\n'), "{name}: torn");
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{name}: {line}")))
        .collect();
    let (id, number) = attempt(name).unwrap_or_else(|| panic!("{name}: no name of a run"));
    let first = lines.first()?;
    let begin = (&first["record"], &first["run"]["id"], &first["attempt"]);
    let expected = ("begin".into(), id.as_str().into(), number.into());
    assert_eq!(begin, (&expected.0, &expected.1, &expected.2), "{name}");
    let last = lines.last()?;
    let is_outer = |line: &&Value| line["record"] == "begin" || line["record"] == "end";
    let outer = lines.iter().filter(is_outer).count();
    let expected = 1 + usize::from(last["record"] == "end");
    assert_eq!(outer, expected, "{name}: goes on after its end");
    let is_completed = last["record"] == "end" && last["outcome"]["outcome"] == "completed";
    is_completed.then_some((id, number))
}

/// Processes that have to do with a world: a folder of it is in their environment.
fn processes(world: &World) -> Vec<String> {
    let name = world.out().parent().unwrap().display().to_string();
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let has_to_do = |entry: &fs::DirEntry| {
        let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
        String::from_utf8_lossy(&environment).contains(&name)
    };
    let found = entries.filter(has_to_do);
    found.map(|one| one.path().display().to_string()).collect()
}
