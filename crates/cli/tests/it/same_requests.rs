//! Requests that agreed before a duel are those that are measured: each way to give requests,
//! against servers that record the bytes that they get.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use crate::world::{Ran, World};

/// The text `ok`, compressed in two ways.
const GZIP: [&[u8]; 2] = [
    b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x04\x03\x01\x02\x00\xfd\xff\x6f\x6b\x47\xdd\xdc\x79\x02\x00\
      \x00\x00",
    b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xcb\xcf\x06\x00\x47\xdd\xdc\x79\x02\x00\x00\x00",
];

/// First line -> the different requests with it, each with whether it closes its connection.
pub(crate) type Requests = BTreeMap<String, BTreeSet<(String, bool)>>;

/// A server that records requests.
#[derive(Clone)]
pub(crate) struct Recorder {
    got: Arc<Mutex<Requests>>,
    pub(crate) url: String,
}

impl Recorder {
    pub(crate) fn start(gzip: &'static [u8]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let recorder = Self {
            got: Arc::default(),
            url: format!("http://{}", listener.local_addr().unwrap()),
        };
        let serving = recorder.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (stream, serving) = (stream.unwrap(), serving.clone());
                thread::spawn(move || serving.serve(stream, gzip));
            }
        });
        recorder
    }

    fn serve(&self, mut stream: TcpStream, gzip: &[u8]) -> Option<()> {
        let mut bytes: Vec<u8> = Vec::new();
        let mut buffer = [0; 4096];
        loop {
            let head = bytes.windows(4).position(|four| four == b"\r\n\r\n");
            let text = |end: usize| String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
            let length = head.map_or(0, |head| {
                let text = text(head);
                let length = text
                    .lines()
                    .find_map(|line| line.strip_prefix("content-length: "));
                length.map_or(0, |length| length.parse().unwrap())
            });
            let end = head.map(|head| head + 4 + length);
            let Some(end) = end.filter(|end| *end <= bytes.len()) else {
                match stream.read(&mut buffer).ok()? {
                    0 => return None,
                    count => bytes.extend_from_slice(&buffer[..count]),
                }
                continue;
            };
            let wants_gzip = text(end).contains("accept-encoding: gzip");
            let request: Vec<u8> = bytes.drain(..end).collect();
            self.record(&request.escape_ascii().to_string());
            let (header, body) = match wants_gzip {
                true => ("content-encoding: gzip\r\n", gzip),
                false => ("", &b"ok"[..]),
            };
            let length = body.len();
            let head = format!("HTTP/1.1 200 OK\r\n{header}content-length: {length}\r\n\r\n");
            stream.write_all(&[head.as_bytes(), body].concat()).ok()?;
        }
    }

    fn record(&self, request: &str) {
        // A check closes its connection, a load keeps it; nothing else may be different.
        let same = request.replace("Connection: close\\r\\n", "");
        let is_check = same != *request;
        let line = same.split("\\r\\n").next().unwrap().to_owned();
        let mut got = self.got.lock().unwrap();
        got.entry(line).or_default().insert((same, is_check));
    }

    pub(crate) fn taken(&self) -> Requests {
        let mut got = std::mem::take(&mut *self.got.lock().unwrap());
        got.retain(|line, _| !line.contains(" /ready "));
        got
    }
}

/// Makes a duel of each list of arguments, and compares the requests that were recorded.
fn check(world: &World, duels: &[(&[&str], &[&str])]) {
    let all = GZIP.map(Recorder::start);
    let sides: Vec<String> = ["a", "b"]
        .iter()
        .zip(&all)
        .map(|(name, one)| format!("{name}=url:{}", one.url))
        .collect();
    for (arguments, expect) in duels {
        let short = "--runs 1 --duration 100ms --warm-up none --connections 1 --ready /ready";
        let mut command = world.command(&format!("duel --out OUT {short}"));
        let ran = Ran::from(command.args(&sides).args(*arguments).output().unwrap());
        ran.check(0, &["all responses are equal: 200, 2 bytes"]);
        std::fs::remove_dir_all(world.out()).unwrap();
        for recorder in &all {
            let mut sent = Vec::new();
            let host = recorder.url.strip_prefix("http://").unwrap();
            for (line, requests) in recorder.taken() {
                let same: BTreeSet<&String> = requests.iter().map(|(text, _)| text).collect();
                assert_eq!(same.len(), 1, "{arguments:?}: {requests:#?}");
                assert_eq!(requests.len(), 2, "{line}: only asked or only measured");
                sent.extend(same.into_iter().map(|text| text.replace(host, "h")));
            }
            assert_eq!(sent, *expect, "{arguments:?}");
        }
    }
}

#[test]
fn typed_requests_that_agreed_are_those_that_are_measured() {
    let world = World::new(&[]);
    check(
        &world,
        &[(
            &[
                "--get",
                "/a/../b|%2e?q={1}",
                "-H",
                "X-Tag: a",
                "-H",
                "x-Other: c",
                "-H",
                "X-Tag: b",
                "-H",
                "Host: shop",
                "-H",
                "Accept-Encoding: gzip",
            ],
            &[
                "GET /a/../b|%2e?q={1} HTTP/1.1\\r\\nX-Tag: a\\r\\nX-Tag: b\\r\\nx-Other: c\\r\\n\
           Host: shop\\r\\nAccept-Encoding: gzip\\r\\n\\r\\n",
            ],
        )],
    );
    check(
        &world,
        &[(
            &[
                "--curl",
                "curl -d $'a\\xc3\\xa9\\0' -u me:x -r 0-9 -H 'X-Empty;' -H 'x-T: 1' http://h/p",
            ],
            &[
                "POST /p HTTP/1.1\\r\\nHost: h\\r\\nAuthorization: Basic bWU6eA==\\r\\n\
           Range: bytes=0-9\\r\\nX-Empty: \\r\\nx-T: 1\\r\\n\
           Content-Type: application/x-www-form-urlencoded\\r\\nContent-Length: 4\\r\\n\\r\\n\
           a\\xc3\\xa9\\x00",
            ],
        )],
    );
}

#[test]
fn requests_of_files_that_agreed_are_those_that_are_measured() {
    let world = World::new(&[]);
    world.write("x.bin", "b");
    world.write(
        "shop.http",
        "POST http://h/a\nX-Tag: a\nx-tag: b\nHost: shop\n\n< ./x.bin\n###\nGET http://h/b\n?x=1\n",
    );
    check(
        &world,
        &[(
            &["--requests", "suite/shop.http", "--writes"],
            &[
                "GET /b?x=1 HTTP/1.1\\r\\nHost: h\\r\\n\\r\\n",
                "POST /a HTTP/1.1\\r\\nX-Tag: a\\r\\nx-tag: b\\r\\nHost: shop\\r\\n\
             Content-Length: 1\\r\\n\\r\\nb",
            ],
        )],
    );
    world.write(
        "shop.har",
        r#"{"log": {"entries": [{"request": {"method": "GET", "url": "http://h/x?q=a%20b",
            "headers": [{"name": "Accept", "value": "a/b"}, {"name": "Accept", "value": "c/d"}]},
            "response": {"status": 200}}]}}"#,
    );
    check(
        &world,
        &[(
            &["--har", "suite/shop.har"],
            &["GET /x?q=a%20b HTTP/1.1\\r\\nHost: h\\r\\nAccept: a/b\\r\\nAccept: c/d\\r\\n\\r\\n"],
        )],
    );
    world.write(
        "shop.json",
        r#"{"paths": {"/items": {"get": {"parameters": [
            {"name": "X-Unit", "in": "header", "required": true, "example": "km"}]}}}}"#,
    );
    check(
        &world,
        &[(
            &["--openapi", "suite/shop.json"],
            &["GET /items HTTP/1.1\\r\\nHost: h\\r\\nX-Unit: km\\r\\n\\r\\n"],
        )],
    );
}
