//! A real PostgreSQL with the schema of the suite `bootzooka`: started, filled, emptied, stopped.
//! Switched on by `BAKEOFF_TEST_POSTGRES=1`, because PostgreSQL has to be installed.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{IpAddr, Ipv4Addr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use bakeoff_model::suite::Limits;
use bakeoff_runtime::backend::{Backend, BackendKind, BackendOptions, database_name, start};

use crate::support::{Bench, announce};

const INSERT: &str = "INSERT INTO users VALUES \
                      (gen_random_uuid(), 'Ann', 'ann', 'ann@example.org', 'x', 'y', now())";

fn switched_on(what: &str) -> bool {
    let on = std::env::var_os("BAKEOFF_TEST_POSTGRES").is_some();
    if !on {
        announce(&format!("{what}: set BAKEOFF_TEST_POSTGRES=1"));
    }
    on
}

fn options(bench: &Bench, data: &Path) -> BackendOptions {
    // The server is another user than root, who tests may be.
    fs::set_permissions(bench.base.path(), fs::Permissions::from_mode(0o755)).unwrap();
    BackendOptions {
        kind: BackendKind::Postgres,
        listen: IpAddr::V4(Ipv4Addr::LOCALHOST),
        port: None,
        cores: Vec::new(),
        limits: Limits::default(),
        data: data.to_owned(),
        log_path: bench.base.path().join("backend.log"),
    }
}

/// Runs a statement as the contender does: over TCP, with its own name and password.
fn as_contender(backend: &Backend, contender: &str, statement: &str) -> Result<String, String> {
    let (address, database) = (backend.address(), database_name(contender));
    let url = format!("postgres://bakeoff:bakeoff@{address}/{database}");
    let output = Command::new("psql")
        .args([&url, "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c"])
        .arg(statement)
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    match output.status.success() {
        true => Ok(text(&output.stdout)),
        false => Err(text(&output.stderr)),
    }
}

/// A session of the contender's that stays until it is ended.
fn connect(backend: &Backend, contender: &str) -> Child {
    let (address, database) = (backend.address(), database_name(contender));
    let url = format!("postgres://bakeoff:bakeoff@{address}/{database}");
    let mut session = Command::new("psql")
        .args([&url, "-X", "-q", "-A", "-t"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let stdin = session.stdin.as_mut().unwrap();
    stdin.write_all(b"SELECT 'connected';\n").unwrap();
    let mut line = String::new();
    let mut stdout = BufReader::new(session.stdout.as_mut().unwrap());
    stdout.read_line(&mut line).unwrap();
    assert_eq!(line, "connected\n");
    session
}

#[tokio::test]
async fn every_contender_has_a_database_that_can_be_emptied() {
    if !switched_on("a real PostgreSQL") {
        return;
    }
    let bench = Bench::new();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suites/bootzooka/data");
    let backend = start(&bench.runtime, &options(&bench, &data))
        .await
        .unwrap();
    let (one, other) = ("akka-http/equal", "axum");
    for contender in [one, other] {
        backend.prepare(contender).await.unwrap();
        as_contender(&backend, contender, INSERT).unwrap();
    }
    let doubled = as_contender(&backend, one, INSERT).unwrap_err();
    assert!(doubled.contains("users_login_lowercase"), "{doubled}");

    // Emptied, although somebody is connected; the other one is not touched.
    let mut disconnected = connect(&backend, one);
    let mut connected = connect(&backend, other);
    backend.prepare(one).await.unwrap();
    let count = "SELECT count(*) FROM users";
    assert_eq!(backend.query(one, count).await.unwrap(), "0");
    assert_eq!(backend.query(other, count).await.unwrap(), "1");
    let fsync = backend.query(one, "SHOW fsync").await.unwrap();
    assert_eq!(fsync, "on");
    let refused = as_contender(&backend, other, "CREATE DATABASE mine").unwrap_err();
    assert!(refused.contains("permission denied"), "{refused}");

    let usage = backend.sample().await;
    assert!(!usage.threads.is_empty(), "its processes are not read");
    // Of the two that connected, one was disconnected when its database was emptied.
    let sessions = usage.sessions.unwrap();
    assert_eq!((sessions.open, sessions.active), (1, 0));
    assert!(
        backend.logs().contains("duplicate key"),
        "{}",
        backend.logs()
    );
    // Stopped, although somebody is connected.
    let address = backend.address();
    let stopped = backend.stop(Duration::from_secs(20)).await;
    assert!(stopped.graceful && !stopped.killed, "{stopped:?}");
    for session in [&mut disconnected, &mut connected] {
        session.kill().unwrap();
        session.wait().unwrap();
    }
    assert!(TcpListener::bind(address).is_ok(), "somebody still listens");
    let left = fs::read_dir(bench.runtime.folder()).unwrap();
    let left: Vec<_> = left
        .map(|entry| entry.unwrap().file_name())
        .filter(|name| name.to_string_lossy().starts_with("postgres"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[tokio::test]
async fn a_schema_that_is_wrong_is_said_with_its_reason() {
    if !switched_on("a PostgreSQL with a wrong schema") {
        return;
    }
    let bench = Bench::new();
    let data = bench.base.path().join("data");
    fs::create_dir(&data).unwrap();
    let options = options(&bench, &data);
    let missing = start(&bench.runtime, &options).await.unwrap_err();
    assert!(
        missing.to_string().contains("schema.sql: No such file"),
        "{missing}"
    );
    fs::write(data.join("schema.sql"), "CREATE TABLE t (n NUMBER)").unwrap();
    let wrong = start(&bench.runtime, &options).await.unwrap_err();
    assert!(
        wrong.to_string().contains("type \"number\" does not exist"),
        "{wrong}"
    );
}
