//! `bakeoff load` from outside.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use crate::world::World;

/// A server that answers every request alike until the test ends.
fn server() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || answer(stream));
        }
    });
    port
}

fn answer(mut stream: std::net::TcpStream) -> Option<()> {
    let mut buffer = [0; 4096];
    while stream.read(&mut buffer).ok()? > 0 {
        stream
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")
            .ok()?;
    }
    None
}

#[test]
fn the_documented_json_has_its_fields() {
    let world = World::new(&[]);
    let url = format!("http://127.0.0.1:{}/", server());
    let ran = world.run(&format!("load {url} -c 2 -t 1 -d 300ms --json"));
    ran.check(0, &[]);
    let object: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    for path in [
        "/requests",
        "/duration_s",
        "/requests_per_s",
        "/cpu_s/user",
        "/cpu_s/system",
        "/connections/asked",
        "/connections/established",
        "/service_time_us/p50",
        "/service_time_us/p90",
        "/service_time_us/p99",
        "/service_time_us/p99_9",
        "/service_time_us/max",
    ] {
        assert!(
            object.pointer(path).is_some_and(|v| v.is_number()),
            "{path} in {object}"
        );
    }
    assert_eq!(object["errors"], serde_json::json!({}));
    assert_eq!(object["connections"]["established"], 2);
}

#[test]
fn conditions_decide_the_status() {
    let world = World::new(&[]);
    let url = format!("http://127.0.0.1:{}/", server());
    world
        .run(&format!("load {url} -c 1 -d 100ms --fail-if rate<1"))
        .check(0, &["generator"]);
    world
        .run(&format!("load {url} -c 1 -d 100ms --fail-if rate>1"))
        .check(3, &["failed: rate>1"]);
    world
        .run(&format!("load {url} -c 1 -d 100ms --fail-if fast"))
        .check(1, &["not a condition"]);
}

#[test]
fn bad_targets_are_sentences() {
    let world = World::new(&[]);
    world
        .run("load ftp://127.0.0.1/")
        .check(1, &["unknown scheme ftp", "hint:"]);
    world.run("load http:///path").check(1, &["no host"]);
    world
        .run("load http://127.0.0.1:1/ -d never")
        .check(1, &["--duration"]);
    world
        .run("load http://127.0.0.1:1/ -H nocolon")
        .check(1, &["no colon"]);
}
