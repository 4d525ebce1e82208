//! How `bakeoff load` ends: when it is interrupted, when nobody reads, when a service fails.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::world::{Ran, World};

/// A server that answers the requests of each connection until `is_over` says so, and then closes
/// what there is and what comes.
fn server(is_over: impl Fn() -> bool + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let is_over = std::sync::Arc::new(is_over);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let is_over = is_over.clone();
            std::thread::spawn(move || answer(stream, &*is_over));
        }
    });
    url
}

fn answer(mut stream: TcpStream, is_over: &dyn Fn() -> bool) {
    let mut buffer = [0; 4096];
    while !is_over() && stream.read(&mut buffer).is_ok_and(|bytes| bytes > 0) {
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
    let url = server(|| false);
    for signal in ["-INT", "-TERM"] {
        let load = start(&world, &format!("load {url} -c 2,2 -d 60s --json"));
        std::thread::sleep(Duration::from_secs(1));
        let sent = Command::new("kill")
            .args([signal, &load.id().to_string()])
            .status();
        assert!(sent.unwrap().success());
        let ran = Ran::from(load.wait_with_output().unwrap());
        ran.check(130, &["interrupted: the last step ended after "]);
        let object: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert!(object["requests"].as_u64().unwrap() > 0, "{object}");
        assert!(object["duration_s"].as_f64().unwrap() < 30.0, "{object}");
    }
}

#[test]
fn a_reader_that_goes_away_ends_the_load() {
    let world = World::new(&[]);
    let url = server(|| false);
    for (conditions, status) in [("", 0), ("--fail-if p99>1ns", 3)] {
        let begun = Instant::now();
        let command = format!("load {url} -c 1,1,1 -d 1s --json {conditions}");
        let mut load = start(&world, &command);
        let mut line = String::new();
        BufReader::new(load.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        Ran::from(load.wait_with_output().unwrap()).check(status, &[]);
        // The pipe is found broken when the second step writes; the third is never begun.
        assert!(begun.elapsed() < Duration::from_secs(3), "{line}");
    }
}

#[test]
fn a_service_that_gives_no_answer_is_a_failure() {
    let world = World::new(&[]);
    let (listener, url) = silent();
    let command = format!("load {url} -c 1 -d 300ms");
    world.run(&command).check(2, &["no request succeeded"]);
    let command = format!("{command} --fail-if errors>0");
    let ran = world.run(&command);
    ran.check(3, &["failed: errors>0: no request came to an end"]);
    drop(listener);
    let ran = world.run(&format!("load {url} -c 1 -n 3 --fail-if p99>1s"));
    ran.check(3, &["failed: p99>1s: no request succeeded"]);
}

#[test]
fn a_service_that_dies_is_not_fair() {
    let world = World::new(&[]);
    let begun = Instant::now();
    let url = server(move || begun.elapsed() > Duration::from_millis(800));
    let ran = world.run(&format!("load {url} -c 4 -d 3s --json"));
    ran.check(
        0,
        &[
            "no request succeeded in ",
            "rate and times are those of the others",
        ],
    );
    let object: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(object["fair"], false);
}
