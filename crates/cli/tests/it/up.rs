//! One contender for its user's own tools.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use crate::world::World;

#[test]
fn it_listens_until_it_is_told_to_stop_and_leaves_nothing() {
    let world = World::new(&["good"]);
    let mut command = world.command("up SUITE --contender good --profile tiny");
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut first = String::new();
    output.read_line(&mut first).unwrap();
    let address = format!("127.0.0.1:{}", world.port());
    let said = format!("good listens on http://{address} after ");
    assert!(first.starts_with(&said), "{first}");
    assert!(first.ends_with(" s, 1 CPU, 64 MiB\n"), "{first}");

    let mut stream = TcpStream::connect(&address).unwrap();
    let request = "GET /item HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n";
    stream.write_all(request.as_bytes()).unwrap();
    let mut status = String::new();
    BufReader::new(stream).read_line(&mut status).unwrap();
    assert_eq!(status, "HTTP/1.1 200 OK\r\n");
    let mut lines = output.by_ref().lines().map(Result::unwrap);
    assert!(lines.any(|line| line == "/item"), "its log is shown");

    let interrupt = ["-INT".to_owned(), child.id().to_string()];
    assert!(
        Command::new("kill")
            .args(interrupt)
            .status()
            .unwrap()
            .success()
    );
    let mut rest = String::new();
    output.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{rest}");
    assert!(rest.contains("s of CPU time, at most "), "{rest}");
    assert!(rest.contains("good stopped in "), "{rest}");
    assert_eq!(world.leftovers(child.id()), [""; 0]);
}

#[test]
fn what_cannot_stay_up_is_a_sentence() {
    let world = World::new(&["good", "exits"]);
    world
        .run("up SUITE --contender exits --profile tiny")
        .check(1, &["error: exits: ready: ", "giving up on purpose"]);
    world
        .run("up SUITE --contender * --profile tiny")
        .check(1, &["2 match", "hint: name one of "]);
    world
        .run("up SUITE --contender nobody --profile tiny")
        .check(1, &["nobody"]);
}
