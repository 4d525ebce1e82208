//! Searches for a capacity from outside, on servers whose limit is known. What they find is
//! compared with it loosely, because hosts of tests are busy; benches/capacity.sh does it closely.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bakeoff_model::record::{self, RunRecords};
use bakeoff_model::suite::capacity::{Purpose, SearchEnd};
use serde_json::Value;

use crate::world::{Ran, World, skipped};

/// A server with one worker that takes 2 ms for every request, in the order of arrival: 500
/// requests per second.
fn server() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let free = Arc::new(Mutex::new(Instant::now()));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let free = Arc::clone(&free);
            std::thread::spawn(move || answer(stream, &free));
        }
    });
    port
}

/// The queue is reckoned, so that a thread which wakes up late makes no other request late.
fn answer(mut stream: TcpStream, free: &Mutex<Instant>) -> Option<()> {
    let mut buffer = [0; 4096];
    while stream.read(&mut buffer).ok()? > 0 {
        let done = {
            let mut free = free.lock().ok()?;
            *free = Instant::now().max(*free) + Duration::from_millis(2);
            *free
        };
        std::thread::sleep(done.saturating_duration_since(Instant::now()));
        let response = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
        stream.write_all(response).ok()?;
    }
    None
}

#[test]
fn the_limit_of_a_server_is_found_behind_any_url() {
    let world = World::new(&[]);
    let mut command = world.command(&format!("load http://127.0.0.1:{}/", server()));
    command.args(["--capacity", "p99 <= 60ms and errors <= 0.1%"]);
    command.args([
        "-c", "32", "-t", "1", "-d", "400ms", "--trials", "12", "--json",
    ]);
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let (found, trials) = lines.split_last().unwrap();
    if found["ended"] == "disturbed" {
        assert_eq!(output.status.code(), Some(2), "{text}");
        let by = found["disturbance"].as_str().unwrap();
        return skipped(&format!("a capacity: the search was given up, {by}"));
    }
    assert_eq!(output.status.code(), Some(0), "{text}");
    let outcomes: Vec<&str> = trials
        .iter()
        .map(|trial| trial["verdicts"][0]["outcome"].as_str().unwrap())
        .collect();
    assert!(
        outcomes.contains(&"met") && outcomes.contains(&"missed"),
        "{text}"
    );
    let figure = |name: &str| found["capacity"][name].as_f64().unwrap();
    // For so short a time 15 % more than the limit passes. A host that is busy can use up the
    // trials before the interval is narrow, so it is the interval that has to be right.
    assert!(figure("low_per_s") < 800.0, "{text}");
    assert!(figure("high_per_s") > 300.0, "{text}");
    assert!(found["last_before_failure_per_s"].is_number(), "{text}");
}

#[test]
fn what_cannot_be_searched_for_is_refused() {
    let world = World::new(&[]);
    let check = |arguments: &[&str], expect: &str| {
        let mut command = world.command("load http://127.0.0.1:1/");
        let output = command.args(arguments).output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.contains(expect), "{text}");
    };
    check(&["--capacity", "fast"], "\"fast\" is not a bound");
    check(
        &["--capacity", "p99<=1s", "--rate", "5"],
        "cannot be used with",
    );
    check(&["--capacity", "p99<=1s", "-n", "5"], "cannot be used with");
    check(
        &["--capacity", "p99<=1s", "-c", "1,2"],
        "one number of connections",
    );
    check(&["--trials", "9"], "--capacity <SLO>");
}

#[test]
fn a_port_that_refuses_is_named_by_its_reason() {
    let world = World::new(&["good"]);
    let port = world.port();
    let mut command = world.command(&format!("load http://127.0.0.1:{port}/ -d 200ms"));
    command.args(["--capacity", "p99 <= 1s"]);
    let reason = "Connection refused";
    Ran::from(command.output().unwrap()).check(2, &["no request of the closed load", reason]);
    world
        .run(&format!("verify SUITE --url http://127.0.0.1:{port}"))
        .check(2, &["nothing accepts connections at 127.0.0.1:", reason]);
}

fn runs(world: &World) -> Vec<RunRecords> {
    let folder = world.out().join("records");
    let entries = std::fs::read_dir(folder).unwrap().flatten();
    let mut runs: Vec<RunRecords> = entries
        .map(|entry| std::fs::read_to_string(entry.path()).unwrap())
        .map(|text| record::read_run(&text).unwrap())
        .collect();
    runs.sort_by_key(|run| run.begin.run.repetition);
    runs
}

/// A suite that searches for the capacity of a contender of one worker.
fn searching() -> World {
    let world = World::new(&["one-worker"]);
    let suite = std::fs::read_to_string(world.path().join("suite.toml")).unwrap();
    let benchmark = r#"
[[benchmark]]
name = "capacity"
kind = "capacity"
slo = ["p99 <= 60ms", "max <= 1us"]
trial = "300ms"
trials-at-most = 9
connections = 16
rates = { from = 20, to = 4000 }

[[benchmark.request]]
path = "/item"
"#;
    world.write("suite.toml", &format!("{suite}{benchmark}"));
    world
}

/// On a host that is taken away a search is given up, and that is right; then what disturbed it has
/// to be said, and the run after it has nothing to confirm.
#[test]
fn a_suites_capacity_is_found_or_what_disturbed_the_search_is_said() {
    let world = searching();
    world
        .run("plan SUITE --profile tiny --benchmark capacity")
        .check(
            0,
            &["then the capacity by p99 <= 60ms; max <= 1us: at most 9 trials"],
        );
    let ran = world.run("run SUITE --profile tiny --benchmark capacity --runs 2 --out OUT");
    assert!(ran.stdout.contains("Capacity: p99 <= 60ms"), "{ran:?}");
    let mut confirmed = 0;
    for run in &runs(&world) {
        let [found, never] = run.capacities.as_slice() else {
            let why = "no request of the closed load before the search succeeded";
            ran.check(2, &[why]);
            continue;
        };
        assert_eq!(never.capacity, None);
        for found in [found, never] {
            let disturbed = found.ended == SearchEnd::Disturbed;
            assert_eq!(disturbed, found.disturbance.is_some(), "{found:?}");
        }
        check_trials(run, confirmed);
        if let Some(capacity) = found.capacity {
            // For so short a time 20 % more than the limit of 500 passes, and a core that is taken
            // away passes less. The few trials can be used up before the interval is narrow, so it
            // is the interval that has to be right.
            assert!(capacity.low_per_s < 900.0, "{found:?}");
            assert!(capacity.high_per_s > 20.0, "{found:?}");
            confirmed += 1;
        }
    }
    let markdown = world.read("out/results.md");
    let whys = ["missed even at the lowest", "no trial was met", "given up"];
    assert!(whys.iter().any(|why| markdown.contains(why)), "{markdown}");
    assert!(world.read("out/trials.csv").contains("p99 <= 60ms"));
}

/// The trials of a run follow its planned steps, with their slices; the first ones confirm what
/// was found before.
fn check_trials(run: &RunRecords, found_before: usize) {
    let steps = run.begin.run.steps.len();
    for (index, trial) in run.trials.iter().enumerate() {
        assert_eq!(trial.step, steps + index);
        let mut slices = run.intervals.iter();
        assert!(
            slices.any(|slice| slice.load.step == trial.step && slice.load.offered > Some(0)),
            "its slices are recorded"
        );
    }
    let confirmations = run.trials.iter();
    let confirmations = confirmations.filter(|trial| trial.purpose == Purpose::Confirmation);
    assert_eq!(confirmations.count(), found_before.min(1));
}
