//! A real PostgreSQL with the schema of the suite `bootzooka`: started, filled, emptied, stopped.
//! Switched on by `BAKEOFF_TEST_POSTGRES=1`, because PostgreSQL has to be installed.

use std::fs;
use std::net::{IpAddr, Ipv4Addr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
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
    let url = format!(
        "postgres://bakeoff:bakeoff@{}/akka_http_equal",
        backend.address()
    );
    let mut connected = Command::new("psql")
        .args([&url, "-X", "-q", "-c", "SELECT pg_sleep(60)"])
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    backend.prepare(one).await.unwrap();
    let _ = connected.kill();
    connected.wait().unwrap();
    let count = "SELECT count(*) FROM users";
    assert_eq!(backend.query(one, count).await.unwrap(), "0");
    assert_eq!(backend.query(other, count).await.unwrap(), "1");
    let fsync = backend.query(one, "SHOW fsync").await.unwrap();
    assert_eq!(fsync, "on");
    let refused = as_contender(&backend, other, "CREATE DATABASE mine").unwrap_err();
    assert!(refused.contains("permission denied"), "{refused}");

    let usage = backend.sample().await;
    assert!(!usage.threads.is_empty(), "its processes are not read");
    assert!(
        backend.logs().contains("duplicate key"),
        "{}",
        backend.logs()
    );
    let address = backend.address();
    let stopped = backend.stop(Duration::from_secs(20)).await;
    assert!(stopped.graceful && !stopped.killed, "{stopped:?}");
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
