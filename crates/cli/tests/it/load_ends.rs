//! The ends of `bakeoff load`: when it is interrupted, when its reader is gone, when a service
//! fails.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use bakeoff_model::load::{LoadSpec, Pace, RequestSpec, StepSpec, Target};
use serde_json::Value;

use crate::world::{Ran, World};

/// The requests that a server has seen.
#[derive(Default)]
struct Seen {
    connections: AtomicUsize,
    requests: AtomicUsize,
}

/// A server that responds to N requests, and then closes all present and new connections.
fn server(requests_max: usize) -> (String, Arc<Seen>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let seen = Arc::new(Seen::default());
    let of_server = seen.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            of_server.connections.fetch_add(1, SeqCst);
            let seen = of_server.clone();
            std::thread::spawn(move || answer(stream, &seen, requests_max));
        }
    });
    (url, seen)
}

fn answer(mut stream: TcpStream, seen: &Seen, requests_max: usize) {
    let mut buffer = [0; 4096];
    while stream.read(&mut buffer).is_ok_and(|bytes| bytes > 0) {
        if seen.requests.fetch_add(1, SeqCst) >= requests_max {
            return;
        }
        // So that the counts of a test stay small.
        std::thread::sleep(Duration::from_millis(5));
        let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
        if stream.write_all(answer).is_err() {
            return;
        }
    }
}

/// A server that takes connections and never says anything.
fn silent() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    (listener, url)
}

fn start(world: &World, arguments: &str) -> Child {
    let mut command = world.command(arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

#[test]
fn an_interrupted_load_shows_what_was_measured() {
    let world = World::new(&[]);
    for signal in ["-INT", "-TERM"] {
        let (url, seen) = server(usize::MAX);
        let load = start(&world, &format!("load {url} -c 2,2 -d 600s --json"));
        while seen.requests.load(SeqCst) < 20 {
            std::thread::yield_now();
        }
        let sent = Command::new("kill")
            .args([signal, &load.id().to_string()])
            .status();
        assert!(sent.unwrap().success());
        let ran = Ran::from(load.wait_with_output().unwrap());
        ran.check(130, &["interrupted: the last step ended after "]);
        let object: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert!(object["requests"].as_u64().unwrap() > 0, "{object}");
        assert!(object["duration_s"].as_f64().unwrap() < 600.0, "{object}");
    }
}

#[test]
fn a_redirect_is_a_response_and_not_followed() {
    let world = World::new(&[]);
    let (elsewhere, seen) = server(usize::MAX);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let head = format!("HTTP/1.1 302 Found\r\nlocation: {elsewhere}\r\n");
            let answer = format!("{head}content-length: 0\r\n\r\n");
            while stream.read(&mut [0; 4096]).is_ok_and(|bytes| bytes > 0) {
                if stream.write_all(answer.as_bytes()).is_err() {
                    break;
                }
            }
        }
    });
    let ran = world.run(&format!("load {url} -c 1 -n 5"));
    ran.check(0, &["requests      5 in", "errors        none"]);
    world.run(&format!("duel a={url} b={url} --get /"));
    assert_eq!(seen.connections.load(SeqCst), 0);
}

/// A load generator on its standard input, with lines of which one is wrong.
#[test]
fn a_line_that_is_no_command_opens_no_window() {
    let world = World::new(&[]);
    let check = |lines: &str, events: &[&str], wrong: &str| {
        let (url, seen) = server(usize::MAX);
        let step = |requests_max| StepSpec {
            connections: 1,
            duration_ns: 600_000_000_000,
            pace: Pace::Closed,
            warm_up: false,
            requests_max,
            close_after: false,
            ..StepSpec::default()
        };
        let address = url.trim_start_matches("http://").trim_end_matches('/');
        let spec = LoadSpec {
            target: Target {
                address: address.to_owned(),
                ..Target::default()
            },
            requests: vec![RequestSpec {
                method: "GET".to_owned(),
                path: "/".to_owned(),
                weight: 1,
                ..RequestSpec::default()
            }],
            steps: vec![step(5), step(5)],
            timeout_connect_ns: 5_000_000_000,
            timeout_answer_ns: 5_000_000_000,
            stepwise: true,
            ..LoadSpec::default()
        };
        let mut command = world.command("load -");
        command.stdin(Stdio::piped());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut load = command.spawn().unwrap();
        let input = format!("{}\n{lines}", serde_json::to_string(&spec).unwrap());
        let mut standard_input = load.stdin.take().unwrap();
        standard_input.write_all(input.as_bytes()).unwrap();
        let ran = Ran::from(load.wait_with_output().unwrap());
        ran.check(1, &[]);
        let found: Vec<Value> = ran
            .stdout
            .lines()
            .map(|line| line.parse().unwrap())
            .collect();
        let names: Vec<&str> = found
            .iter()
            .map(|it| it["event"].as_str().unwrap())
            .collect();
        assert_eq!(names, events, "{lines:?}");
        let message = found.last().unwrap()["message"].as_str().unwrap();
        let expect = format!("standard input: {wrong:?} is not a step command: write `go`");
        assert!(message.starts_with(&expect), "{message}");
        let windows = names.iter().filter(|name| **name == "step-done").count();
        assert_eq!(seen.requests.load(SeqCst), 5 * windows);
    };
    check("goo\n", &["ready", "failed"], "goo");
    check("\n", &["ready", "failed"], "");
    check(
        "go\nagian\n",
        &["ready", "interval", "step-done", "failed"],
        "agian",
    );
    check(
        "go\ngo\ngo at noon\n",
        &["ready", "interval", "step-done", "ready", "failed"],
        "go at noon",
    );
}

#[test]
fn a_reader_that_goes_away_ends_the_load() {
    let world = World::new(&[]);
    for (conditions, status) in [("", 0), ("--fail-if p99>1ns", 3)] {
        let (url, seen) = server(usize::MAX);
        let command = format!("load {url} -c 1,1,7 -n 100 --json {conditions}");
        let mut load = start(&world, &command);
        let mut line = String::new();
        BufReader::new(load.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        Ran::from(load.wait_with_output().unwrap()).check(status, &[]);
        // The pipe is found broken when the second step writes; the third is never started.
        assert!(seen.connections.load(SeqCst) < 7, "{line}");
    }
}

#[test]
fn a_service_that_does_not_respond_is_a_failure() {
    let world = World::new(&[]);
    let (listener, url) = silent();
    let command = format!("load {url} -c 1 -d 300ms");
    world.run(&command).check(2, &["no request came to an end"]);
    let command = format!("{command} --fail-if errors>0");
    let ran = world.run(&command);
    ran.check(3, &["failed: errors>0: no request came to an end"]);
    let ran = world.run(&format!("load {url} -c 1 -d 300ms --fail-if p99>1s"));
    ran.check(3, &["failed: p99>1s: no request came to an end"]);
    drop(listener);
    let refused = ["no connection could be opened", "refused", "check the port"];
    world
        .run(&format!("load {url} -c 1 -d 1h"))
        .check(1, &refused);
}

#[test]
fn a_service_that_dies_is_not_fair() {
    let world = World::new(&[]);
    let (url, _) = server(30);
    let ran = world.run(&format!("load {url} -c 4 -d 3s --json"));
    ran.check(
        0,
        &["\"validity\":\"invalid\"", "1 of 4 connections were open"],
    );
    let object: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(object["fair"], false);
}
