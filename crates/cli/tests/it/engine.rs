//! `bakeoff load` from outside.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixListener;

use crate::world::{World, skipped};

/// A server that gives every request the same response until the test ends.
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

fn answer(mut stream: impl Read + Write) -> Option<()> {
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
fn a_rate_over_a_unix_socket_is_kept() {
    let world = World::new(&[]);
    let path = world.path().join("service.sock");
    let listener = UnixListener::bind(&path).unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || answer(stream));
        }
    });
    let path = path.display();
    let ran = world.run(&format!(
        "load http://localhost/ --unix-socket {path} -c 2 -t 1 --rate 100 -n 50 -d 5s --json"
    ));
    ran.check(0, &[]);
    let object: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(object["target"], format!("{path} as localhost:80"));
    assert_eq!(object["requests"], 50);
    let reactor = object["reactor"].as_str().unwrap();
    let by_kernel = ["-stamped", "-rx-timestamps"];
    assert!(
        by_kernel.iter().any(|end| reactor.ends_with(end)),
        "{reactor}"
    );
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
fn the_page_shows_steps_spread_and_verdict() {
    let world = World::new(&[]);
    let url = format!("http://127.0.0.1:{}/", server());
    let ran = world.run(&format!("load {url} -c 1,3 -t 1 -n 200 -d 5s"));
    ran.check(
        0,
        &[
            "1 of 1 established",
            "3 of 3 established",
            "p99.9",
            "verdict",
            "|#",
        ],
    );
    for line in ran.stdout.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

#[test]
fn inputs_differ_from_request_to_request() {
    let world = World::new(&[]);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (seen, lines) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut buffer = [0; 4096];
            while let Ok(bytes @ 1..) = stream.read(&mut buffer) {
                let text = String::from_utf8_lossy(&buffer[..bytes]).into_owned();
                seen.send(text.lines().next().unwrap().to_owned()).unwrap();
                let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
                stream.write_all(answer).unwrap();
            }
        }
    });
    let url = format!("http://127.0.0.1:{port}/user/${{id}}");
    world
        .run(&format!("load {url} --feed id=7.. -c 1 -t 1 -n 3 -d 5s"))
        .check(0, &["3 in "]);
    let seen: Vec<String> = lines.try_iter().collect();
    let line = |id: u32| format!("GET /user/{id} HTTP/1.1");
    assert_eq!(seen, [line(7), line(8), line(9)]);
    world
        .run(&format!("load {url} --feed id=nothing"))
        .check(1, &["not a feed", "id=unique"]);
    world
        .run(&format!("load {url} --feed other=unique"))
        .check(1, &["the feed other is used nowhere", "single quotes"]);
    world
        .run(&format!("load {url} --feed other=unique -H A:${{other}}"))
        .check(1, &["${id} has no feed", "--feed id=1..1000"]);
    world
        .run(&format!("load {url}"))
        .check(1, &["${id} has no feed"]);
    world
        .run(&format!("load http://127.0.0.1:{port}/user/ --feed id=1.."))
        .check(1, &["the feed id is used nowhere"]);
}

#[test]
fn a_feed_is_judged_as_the_same_load_without_one() {
    let world = World::new(&[]);
    let url = format!("http://127.0.0.1:{}/", server());
    for feed in ["", " -H X-Id:${id} --feed id=1.."] {
        let ran = world.run(&format!("load {url} -c 2 -t 1 -d 1s --json{feed}"));
        ran.check(0, &[]);
        let object: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        assert!(object["turnaround_us_mean"].is_number(), "{object}");
        assert!(object["response_time_us"].is_null(), "{object}");
        assert!(object["send_lag_us"].is_null(), "{object}");
    }
}

#[test]
fn the_engine_knows_its_own_ceiling() {
    let world = World::new(&[]);
    world.run("doctor --load").check(
        0,
        &[
            "core sharing",
            "load ceiling",
            "requests/s",
            "latency floor",
            "p99",
        ],
    );
}

#[test]
fn a_host_says_which_differences_it_finds() {
    let world = World::new(&[]);
    let ran = world.run("doctor --compare 40s");
    ran.check(0, &["compare"]);
    match ran.stdout.contains("this host finds ") {
        true => assert!(
            ran.stdout.contains(" from block to block"),
            "{}",
            ran.stdout
        ),
        false => skipped("the differences that a host finds: its numbers are not fair now"),
    }
}

#[test]
fn bodies_of_any_bytes_are_sent() {
    let world = World::new(&[]);
    let body = world.path().join("body.bin");
    std::fs::write(&body, b"\xff\x00\xfe${id}\n").unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (seen, requests) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut buffer = [0; 4096];
            while let Ok(bytes @ 1..) = stream.read(&mut buffer) {
                seen.send(buffer[..bytes].to_vec()).unwrap();
                let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
                stream.write_all(answer).unwrap();
            }
        }
    });
    let line = format!(
        "load http://127.0.0.1:{port}/ -m POST --body @{} -c 1 -n 1",
        body.display()
    );
    for line in [
        line.clone(),
        format!("{line} --feed id=1.. -H X-Id:${{id}}"),
    ] {
        world.run(&line).check(0, &["1 in "]);
        let request = requests.recv().unwrap();
        let body = b"Content-Length: 9\r\n\r\n\xff\x00\xfe${id}\n";
        assert!(request.ends_with(body), "{request:?}");
    }
    world
        .run(&line.replace(".bin", ".none"))
        .check(1, &["--body", "body.none"]);
}

#[test]
fn mistakes_in_the_command_line_are_no_failed_checks() {
    let world = World::new(&[]);
    for wrong in [
        "load",
        "load http://h/ --nonsense",
        "nonsense",
        "load http://h/ -c many",
    ] {
        world.run(wrong).check(1, &["--help"]);
    }
    for about in ["--help", "load --help", "--version"] {
        world.run(about).check(0, &["akeoff"]);
    }
}

#[test]
fn bad_targets_are_sentences() {
    let world = World::new(&[]);
    world
        .run("load ftp://127.0.0.1/")
        .check(1, &["unknown scheme ftp", "hint:"]);
    world.run("load http:///path").check(1, &["no host"]);
    let ran = world.run("load http://me:secret@127.0.0.1:1/");
    ran.check(1, &["-H 'Authorization: "]);
    assert!(!ran.stderr.contains("secret"), "{ran:#?}");
    world
        .run("load http://127.0.0.1:1/ -d never")
        .check(1, &["--duration"]);
    world
        .run("load http://127.0.0.1:1/ -H nocolon")
        .check(1, &["no colon"]);
}
