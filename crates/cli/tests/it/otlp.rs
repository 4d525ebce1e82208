//! Live metrics: a collector gets the numbers of each slice, in the JSON form of OTLP.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};

use serde_json::Value;

use crate::world::World;

/// A collector. Returns its port, and the path and body of each export.
fn collector() -> (u16, Receiver<(String, Value)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut reader = BufReader::new(stream.unwrap());
            let (mut path, mut length) = (String::new(), 0);
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).unwrap();
                let line = line.trim().to_ascii_lowercase();
                if let Some(value) = line.strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
                if line.starts_with("post ") {
                    path = line.split(' ').nth(1).unwrap().to_owned();
                }
                if line.is_empty() {
                    break;
                }
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            let response =
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}";
            reader.get_mut().write_all(response.as_bytes()).unwrap();
            let body = serde_json::from_slice(&body).unwrap();
            if sender.send((path, body)).is_err() {
                return;
            }
        }
    });
    (port, receiver)
}

#[test]
fn a_collector_gets_the_numbers_of_each_slice() {
    let world = World::new(&["good"]);
    let (port, exports) = collector();
    let url = format!("http://127.0.0.1:{port}");
    world
        .run(&format!("run SUITE --profile tiny --out OUT --otlp {url}"))
        .check(0, &[]);
    let exports: Vec<(String, Value)> = exports.try_iter().collect();
    assert!(exports.len() >= 4, "{exports:?}");
    let mut names = BTreeSet::new();
    for (path, body) in &exports {
        assert_eq!(path, "/v1/metrics");
        let scope = &body["resourceMetrics"][0]["scopeMetrics"][0];
        assert_eq!(scope["scope"]["name"], "bakeoff");
        for metric in scope["metrics"].as_array().unwrap() {
            let point = &metric["gauge"]["dataPoints"][0];
            // Numbers of 64 bits are texts in the JSON form of protocol buffers.
            assert!(
                point["timeUnixNano"].as_str().unwrap().len() > 18,
                "{point}"
            );
            assert!(point["asDouble"].as_f64().is_some(), "{point}");
            let attributes = point["attributes"].as_array().unwrap();
            let contender = attributes
                .iter()
                .find(|one| one["key"] == "bakeoff.contender");
            assert_eq!(contender.unwrap()["value"]["stringValue"], "good");
            names.insert(metric["name"].as_str().unwrap().to_owned());
        }
    }
    for name in [
        "bakeoff.contender.cpu",
        "bakeoff.contender.memory",
        "bakeoff.errors.rate",
        "bakeoff.requests.rate",
        "bakeoff.response.time.p99",
    ] {
        assert!(names.contains(name), "{names:?}");
    }
}

#[test]
fn a_collector_that_is_not_there_costs_a_note() {
    let world = World::new(&["good"]);
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let ran = world.run(&format!(
        "run SUITE --profile tiny --out OUT --otlp http://127.0.0.1:{port}"
    ));
    ran.check(0, &["metrics do not reach", "the measurement goes on"]);
    assert_eq!(
        ran.stderr.matches("metrics do not reach").count(),
        1,
        "{ran:#?}"
    );
}
