//! `bakeoff load --generators N`: several processes make one load.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::world::{Ran, World};

/// A null server, which says how many requests have come when it ends.
struct Counting {
    server: Child,
    output: BufReader<ChildStdout>,
    url: String,
}

impl Counting {
    fn start(world: &World) -> Self {
        let mut command = world.command("null-server --until-input-ends");
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut server = command.spawn().unwrap();
        let mut output = BufReader::new(server.stdout.take().unwrap());
        let mut address = String::new();
        output.read_line(&mut address).unwrap();
        Self {
            server,
            output,
            url: format!("http://{}/", address.trim()),
        }
    }

    /// Stops counting, and returns the count.
    fn counted(mut self) -> u64 {
        drop(self.server.stdin.take());
        let mut said = String::new();
        self.output.read_to_string(&mut said).unwrap();
        self.server.wait().unwrap();
        said.trim()
            .strip_suffix(" requests")
            .unwrap()
            .parse()
            .unwrap()
    }
}

fn number(object: &Value, path: &str) -> u64 {
    let found = object.pointer(path).and_then(Value::as_u64);
    found.unwrap_or_else(|| panic!("{path} in {object}"))
}

/// Requests of each part.
fn parts(object: &Value) -> Vec<u64> {
    let parts = object["generators"]["parts"].as_array().unwrap();
    parts.iter().map(|part| number(part, "/requests")).collect()
}

#[test]
fn the_server_counts_the_sum_of_all_parts() {
    let world = World::new(&[]);
    let server = Counting::start(&world);
    let load = format!("load {} --generators 3 -t 1 --json", server.url);
    let ran = world.run(&format!("{load} -c 2,5 -n 1000"));
    ran.check(0, &[]);
    let steps: Vec<Value> = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(steps.len(), 2);
    for (step, shares) in steps.iter().zip([[500, 500, 0], [400, 400, 200]]) {
        assert_eq!(number(step, "/requests"), 1000);
        assert_eq!(parts(step), shares);
        let skew_us = step["generators"]["start_skew_us"].as_f64().unwrap();
        assert!(skew_us >= 0.0, "{step}");
    }
    // The number that there is time for, and some are under way at the end.
    let ran = world.run(&format!("{load} -c 5 -d 300ms"));
    ran.check(0, &[]);
    let timed: Value = serde_json::from_str(&ran.stdout).unwrap();
    let requests = number(&timed, "/requests");
    assert_eq!(requests, parts(&timed).iter().sum::<u64>());
    assert!(requests > 0);
    let ran = world.run(&format!("{load} -c 2 -n 60 --rate 600"));
    let open: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(
        (number(&open, "/requests"), number(&open, "/offered")),
        (60, 60)
    );
    let expected = 2000 + requests + number(&timed, "/unanswered/count") + 60;
    assert_eq!(server.counted(), expected);
}

#[test]
fn the_page_says_how_far_apart_they_began() {
    let world = World::new(&[]);
    let server = Counting::start(&world);
    let ran = world.run(&format!("load {} --generators 2 -c 2 -n 10", server.url));
    ran.check(
        0,
        &["generators    2 processes, 5 to 5 requests each, start skew "],
    );
    let refused = world.run(&format!("load {} --generators 2 --cores 0", server.url));
    refused.check(1, &["--cores"]);
}

/// The processes that a process has started.
fn children(parent: &Child) -> Vec<String> {
    let found = Command::new("ps")
        .args(["-o", "pid=", "--ppid", &parent.id().to_string()])
        .output();
    let found = String::from_utf8(found.unwrap().stdout).unwrap();
    found.split_whitespace().map(str::to_owned).collect()
}

/// A load of two processes and two steps, in the second of them.
struct InSecondStep {
    load: Child,
    output: BufReader<ChildStdout>,
    processes: Vec<String>,
    /// The output about the first step.
    first: Value,
}

impl InSecondStep {
    fn new(world: &World, url: &str) -> Self {
        let line = format!("load {url} --generators 2 -c 2,4 -d 3s --json");
        let mut command = world.command(&line);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut load = command.spawn().unwrap();
        let mut output = BufReader::new(load.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        Self {
            processes: children(&load),
            output,
            first: serde_json::from_str(&line).unwrap(),
            load,
        }
    }

    fn end(mut self) -> Ran {
        let mut ran = Ran::from(self.load.wait_with_output().unwrap());
        self.output.read_to_string(&mut ran.stdout).unwrap();
        ran
    }
}

fn kill(signal: &str, pid: &str) {
    let sent = Command::new("kill").args([signal, pid]).status();
    assert!(sent.unwrap().success());
}

#[test]
fn a_process_that_is_killed_is_named_and_the_rest_goes_on() {
    let world = World::new(&[]);
    let server = Counting::start(&world);
    let load = InSecondStep::new(&world, &server.url);
    assert!(parts(&load.first).iter().all(|requests| *requests > 0));
    kill("-KILL", &load.processes[1]);
    let ran = load.end();
    ran.check(0, &[]);
    let object: Value = serde_json::from_str(&ran.stdout).unwrap();
    let [first, second] = parts(&object)[..] else {
        panic!("two parts: {object}");
    };
    assert_eq!(number(&object, "/requests"), first + second);
    assert!(first > second, "{object}");
    let lost = object["generators"]["parts"][1]["lost"].as_str().unwrap();
    assert!(
        lost.contains("the load generator ended before its load did"),
        "{lost}"
    );
    let warnings = object["warnings"].to_string();
    assert!(warnings.contains("1 load generator lost"), "{warnings}");
    assert!(warnings.contains("generator 2 of 2: "), "{warnings}");
    assert_eq!(object["fair"], false);
}

#[test]
fn an_interrupted_load_shows_what_was_delivered_and_leaves_no_process() {
    let world = World::new(&[]);
    let server = Counting::start(&world);
    let load = InSecondStep::new(&world, &server.url);
    assert!(number(&load.first, "/requests") > 0);
    let processes = load.processes.clone();
    kill("-INT", &load.load.id().to_string());
    load.end()
        .check(130, &["interrupted: the last step ended after "]);
    let deadline = Instant::now() + Duration::from_secs(20);
    while Instant::now() < deadline {
        let alive = |pid: &String| std::path::Path::new("/proc").join(pid).exists();
        if !processes.iter().any(alive) {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("a load generator is left: {processes:?}");
}
