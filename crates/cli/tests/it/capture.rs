//! Captures: what passes to a service is what was sent, the folder has no credentials, and what is
//! played is what was captured.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::interruption::send as signal;
use crate::same_requests::Recorder;
use crate::world::{Ran, Service, World};

/// A capture that runs until it is interrupted.
struct Running {
    child: Child,
    address: String,
}

impl Running {
    fn start(world: &World, to: &str) -> Self {
        let mut command = world.command(&format!("capture --to {to} --out OUT"));
        let child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = child.unwrap();
        let mut line = String::new();
        let mut errors = BufReader::new(child.stderr.take().unwrap());
        errors.read_line(&mut line).unwrap();
        let url = line.split(' ').next().unwrap();
        let address = url
            .strip_prefix("http://")
            .unwrap_or_else(|| panic!("{line}"));
        Self {
            address: address.to_owned(),
            child,
        }
    }

    fn end(self) -> Ran {
        signal("-INT", self.child.id());
        Ran::from(self.child.wait_with_output().unwrap())
    }
}

/// Sends bytes over one connection, and waits for this number of responses.
fn send(address: &str, bytes: &[u8], responses: usize) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(bytes).unwrap();
    let mut got = String::new();
    let mut buffer = [0; 4096];
    while got.matches("HTTP/1.1 200 OK").count() < responses {
        let count = stream.read(&mut buffer).unwrap();
        assert_ne!(count, 0, "{got}");
        got.push_str(&String::from_utf8_lossy(&buffer[..count]));
    }
}

/// Returns all texts below a folder.
fn texts(folder: &Path) -> String {
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let texts = entries.map(|path| match path.is_dir() {
        true => texts(&path),
        false => fs::read_to_string(&path).unwrap(),
    });
    texts.collect()
}

/// Credentials of [`requests`], as variables.
const CREDENTIALS: [(&str, &str); 3] = [
    ("AUTHORIZATION", "topsecret"),
    ("COOKIE", "sid=topsecret"),
    ("PASSWORD", "hunter2"),
];

/// Requests to a host.
fn requests(host: &str) -> [String; 4] {
    let login = r#"{"user": "jan", "password": "hunter2", "n": [1, 2]}"#;
    let length = login.len();
    let heads = [
        format!(
            "GET /a?q=1|{{x}} HTTP/1.1\nHost: {host}\nX-Requested-With: a\nAccept: b\naccept: c"
        ),
        format!(
            "GET /b HTTP/1.1\nHost: {host}\nAuthorization: Bearer topsecret\nCookie: sid=topsecret"
        ),
        format!(
            "POST /login HTTP/1.1\nHost: {host}\nContent-Type: application/json\nContent-\
             Length: {length}"
        ),
        "GET /c HTTP/1.1\nHost: shop.example\nuser-agent: Me/1".to_owned(),
    ];
    let [a, b, c, d] = heads.map(|head| format!("{}\r\n\r\n", head.replace('\n', "\r\n")));
    [a, b, format!("{c}{login}"), d]
}

/// Requests as a [`Recorder`] has them.
fn recorded(requests: [String; 4]) -> BTreeSet<String> {
    let requests = requests.iter();
    requests
        .map(|one| one.as_bytes().escape_ascii().to_string())
        .collect()
}

/// A capture of [`requests`] that has ended: its folder is the world's `out`.
fn captured(world: &World, server: &Recorder) -> Ran {
    let capture = Running::start(world, &server.url);
    let proxy = capture.address.clone();
    let requests = requests(&proxy);
    let pipelined = [requests[0].as_bytes(), requests[3].as_bytes()].concat();
    send(&proxy, &pipelined, 2);
    for request in &requests {
        send(&proxy, request.as_bytes(), 1);
    }
    assert_eq!(got(server), recorded(requests));
    let ran = capture.end();
    assert!(!texts(&world.out()).contains(&proxy));
    ran
}

/// The requests that a server got since it was asked last.
fn got(server: &Recorder) -> BTreeSet<String> {
    let got = server.taken().into_values().flatten();
    got.map(|(request, _)| request).collect()
}

#[test]
fn what_was_sent_is_captured_without_credentials_and_played() {
    let world = World::new(&["good"]);
    let server = Recorder::start(b"ok");
    captured(&world, &server).check(
        0,
        &[
            "6 requests in",
            "4 different",
            "AUTHORIZATION",
            "COOKIE",
            "PASSWORD",
        ],
    );
    let written = texts(&world.out());
    assert!(
        !written.contains("topsecret") && !written.contains("hunter2"),
        "{written}"
    );
    let load = |more: &[&str]| {
        let mut command = world.command("load --captured OUT --speed 100");
        command.envs(CREDENTIALS).arg(&server.url).args(more);
        Ran::from(command.output().unwrap())
    };
    load(&["--writes"]).check(0, &["requests      6 in", "POST /login"]);
    let host = server.url.strip_prefix("http://").unwrap();
    assert_eq!(got(&server), recorded(requests(host)));
    let left_out = "left out: 1 request that may change data";
    load(&[]).check(0, &["requests      5 in", left_out]);
}

#[test]
fn a_duel_asks_what_was_captured_and_keeps_no_credentials() {
    let world = World::new(&["good"]);
    let server = Recorder::start(b"ok");
    captured(&world, &server).check(0, &[]);
    let results = world.out().with_file_name("results");
    let duel = || {
        let mut command = world.command("duel --captured OUT --runs 1 --duration 100ms");
        command.args(["--warm-up", "none", "--ready", "/ready"]);
        command.arg("--out").arg(&results);
        command.args(["a", "b"].map(|name| format!("{name}=url:{}", server.url)));
        command
    };
    let missing = [
        "not set: AUTHORIZATION",
        "COOKIE",
        "export AUTHORIZATION=VALUE",
    ];
    Ran::from(duel().output().unwrap()).check(1, &missing);
    let ran = Ran::from(duel().envs(CREDENTIALS).output().unwrap());
    ran.check(0, &["GET /b: all responses are equal"]);
    assert!(!texts(&results).contains("topsecret"));
}

#[test]
fn credentials_that_are_kept_are_for_the_user_alone() {
    let world = World::new(&["good"]);
    let server = Recorder::start(b"ok");
    let mut command = world.command(&format!(
        "capture --to {} --secrets --out OUT --",
        server.url
    ));
    command.args([
        env!("CARGO_BIN_EXE_bakeoff"),
        "load",
        "-n",
        "1",
        "-H",
        "Cookie: sid=x",
    ]);
    Ran::from(command.arg("{url}/a").output().unwrap()).check(0, &["1 request in"]);
    for file in ["suite.toml", "checks/all.toml"] {
        let path = world.out().join(file);
        assert!(fs::read_to_string(&path).unwrap().contains("sid=x"));
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
}

#[test]
fn a_command_finds_the_address_and_its_status_is_said() {
    let world = World::new(&["good"]);
    let server = Recorder::start(b"ok");
    let script = r#"test "$BAKEOFF_URL" = "$1" && "$0" load -n 3 -c 1 "$1/x" && exit 7"#;
    let capture = |out: &str, words: &[&str]| {
        let mut command = world.command(&format!("capture --to {} --out {out} --", server.url));
        Ran::from(command.args(words).output().unwrap())
    };
    let bakeoff = env!("CARGO_BIN_EXE_bakeoff");
    let ran = capture("one", &["sh", "-c", script, bakeoff, "{url}"]);
    ran.check(2, &["3 requests in", "1 different", "ended with status 7"]);
    capture("one", &["true"]).check(1, &["holds a suite already", "--out"]);
    capture("two", &["true"]).check(1, &["no request was captured", "clients must use http://"]);
    capture("two", &["/nowhere/at/all"]).check(1, &["cannot start /nowhere/at/all"]);
}

#[test]
fn calls_of_grpc_are_captured_over_http2() {
    let world = World::new(&["good"]);
    world.write("hello.proto", crate::grpc::PROTO);
    let port = world.port().to_string();
    let mut command = Command::new(crate::grpc::program());
    let _service = Service(
        command
            .env("PORT", &port)
            .stdout(Stdio::null())
            .spawn()
            .unwrap(),
    );
    let url = format!("http://127.0.0.1:{port}");
    let proto = world.path().join("hello.proto");
    let mut command = world.command(&format!("capture --to {url} --out OUT --"));
    command
        .arg(env!("CARGO_BIN_EXE_bakeoff"))
        .args(["load", "-n", "5", "-c", "2", "--proto"]);
    command.arg(&proto).args(["--body", r#"{"name": "Jan"}"#]);
    command.arg("{url}/helloworld.Greeter/SayHello");
    let ran = Ran::from(command.output().unwrap());
    ran.check(
        0,
        &[
            "5 requests in",
            "1 different",
            "bodies that are no text are kept",
        ],
    );
    let suite = fs::read_to_string(world.out().join("suite.toml")).unwrap();
    assert!(
        suite.contains("protocol = \"http2\"") && suite.contains("weight = 5"),
        "{suite}"
    );
    let played = world.run(&format!("load --captured OUT --writes --speed 10 {url}"));
    played.check(0, &["requests      5 in"]);
    let duel = format!("duel --captured OUT --writes a=url:{url} b=url:{url}");
    world
        .run(&duel)
        .check(1, &["calls of gRPC are made of messages: --proto"]);
}

#[test]
fn a_service_over_tls_is_captured_over_tls() {
    let world = crate::tls::world(crate::tls::TRUSTED);
    let tls = world.path().join("tls");
    let port = world.port().to_string();
    let mut command = Command::new(crate::tls::program());
    command
        .env("CERTIFICATE", tls.join("localhost.pem"))
        .env("KEY", tls.join("localhost-key.pem"));
    let _service = Service(
        command
            .env("PORT", &port)
            .stdout(Stdio::null())
            .spawn()
            .unwrap(),
    );
    let authority = tls.join("ca.pem").display().to_string();
    let capture = |more: &str, script: &str| {
        let mut command = world.command(&format!("capture --to https://localhost:{port} {more}"));
        command.args(["--", "sh", "-c", script, env!("CARGO_BIN_EXE_bakeoff")]);
        Ran::from(command.output().unwrap())
    };
    let load = r#""$0" load -n 2 -c 1 --cacert "$BAKEOFF_CA" "$BAKEOFF_URL/item""#;
    let ran = capture(&format!("--cacert {authority} --out OUT"), load);
    ran.check(0, &["BEGIN CERTIFICATE", "2 requests in"]);
    let left = fs::read_dir(world.out().with_file_name("run"));
    assert_eq!(left.map(Iterator::count).unwrap_or_default(), 0);
    // Its own certificate is checked, too.
    let ran = capture("--out other", load);
    ran.check(1, &["no request was captured", "cannot be reached"]);
}
