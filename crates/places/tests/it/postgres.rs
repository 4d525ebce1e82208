//! A real PostgreSQL with the schema of the suite `bootzooka`: started, filled, emptied, stopped.
//! Switched on by `BAKEOFF_TEST_POSTGRES=1`, because PostgreSQL has to be installed.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{IpAddr, Ipv4Addr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use bakeoff_base::problem::Problem;
use bakeoff_model::suite::Limits;
use bakeoff_model::text::database_url::DatabaseUrl;
use bakeoff_places::services::{
    Backend, BackendKind, BackendOptions, Databases, Service as _, database_name, start,
};

use crate::support::{Bench, announce};

const INSERT: &str = "INSERT INTO users VALUES \
                      (gen_random_uuid(), 'Ann', 'ann', 'ann@example.org', 'x', 'y', now())";

/// The databases of contenders that a server holds.
fn held(server: &Backend) -> &Databases {
    server.databases().expect("it is a PostgreSQL")
}

fn switched_on(what: &str) -> bool {
    let on = std::env::var_os("BAKEOFF_TEST_POSTGRES").is_some();
    if !on {
        announce(&format!("{what}: set BAKEOFF_TEST_POSTGRES=1"));
    }
    on
}

fn options(bench: &Bench, data: &Path) -> BackendOptions {
    // The server runs as another user than root; tests may run as root.
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
fn as_contender(backend: &Backend, contender: &str, statement: &str) -> Result<String, Problem> {
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
        false => Err(text(&output.stderr).into()),
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
    let mut backend = start(&bench.runtime, &options(&bench, &data))
        .await
        .unwrap();
    let (one, other) = ("akka-http/equal", "axum");
    for contender in [one, other] {
        held(&backend).prepare(contender).await.unwrap();
        as_contender(&backend, contender, INSERT).unwrap();
    }
    let doubled = as_contender(&backend, one, INSERT).unwrap_err();
    assert!(
        doubled.message().contains("users_login_lowercase"),
        "{doubled}"
    );

    // Emptied, although a client is connected; the other one is not touched.
    let mut disconnected = connect(&backend, one);
    let mut connected = connect(&backend, other);
    held(&backend).prepare(one).await.unwrap();
    let count = "SELECT count(*) FROM users";
    assert_eq!(held(&backend).query(one, count).await.unwrap(), "0");
    assert_eq!(held(&backend).query(other, count).await.unwrap(), "1");
    let fsync = held(&backend).query(one, "SHOW fsync").await.unwrap();
    assert_eq!(fsync, "on");
    let refused = as_contender(&backend, other, "CREATE DATABASE mine").unwrap_err();
    assert!(refused.message().contains("permission denied"), "{refused}");

    let mut usage = backend.sample().await;
    assert!(!usage.threads.is_empty(), "its processes are not read");
    // Of the two that connected, one was disconnected when its database was emptied. Processes of
    // those that have gone by themselves may take a moment to end.
    for _ in 0..100 {
        if usage.sessions.is_some_and(|sessions| sessions.open == 1) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
        usage = backend.sample().await;
    }
    let sessions = usage.sessions.unwrap();
    assert_eq!((sessions.open, sessions.active), (1, 0));
    assert!(
        backend.logs().contains("duplicate key"),
        "{}",
        backend.logs()
    );
    // Stopped, although a client is connected.
    let address = backend.address();
    let stopped = backend.stop().await;
    assert!(stopped.graceful && !stopped.killed, "{stopped:?}");
    for session in [&mut disconnected, &mut connected] {
        session.kill().unwrap();
        session.wait().unwrap();
    }
    assert!(
        TcpListener::bind(address).is_ok(),
        "something still listens"
    );
    let left = fs::read_dir(bench.runtime.folder()).unwrap();
    let left: Vec<_> = left
        .map(|entry| entry.unwrap().file_name())
        .filter(|name| name.to_string_lossy().starts_with("postgres"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

/// A server as a user may run it, whose administrator has the database of `admin`. Nothing
/// in it is marked as ours.
async fn somebody_elses(bench: &Bench, data: &Path) -> Backend {
    let server = start(&bench.runtime, &options(bench, data)).await.unwrap();
    held(&server).prepare("admin").await.unwrap();
    for statement in [
        "DROP DATABASE bakeoff__template",
        "CREATE ROLE ann LOGIN CREATEDB PASSWORD 'a@b'",
        "CREATE ROLE bob LOGIN PASSWORD 'b'",
        "CREATE DATABASE shop OWNER ann",
        "CREATE DATABASE bakeoff_hers OWNER ann",
    ] {
        held(&server).query("admin", statement).await.unwrap();
    }
    server
}

/// Names of a server's databases, except those that every server has.
async fn databases(server: &Backend) -> String {
    let names = "SELECT string_agg(datname, ' ' ORDER BY datname) FROM pg_database \
                 WHERE datname NOT IN ('postgres', 'template0', 'template1')";
    held(server).query("admin", names).await.unwrap()
}

/// A session on the user's server.
async fn session_on(
    bench: &Bench,
    data: &Path,
    server: &Backend,
    login: &str,
) -> Result<Backend, Problem> {
    let url: DatabaseUrl = format!("postgres://{login}@{}", server.address())
        .parse()
        .unwrap();
    let options = BackendOptions {
        kind: BackendKind::PostgresServer(url),
        ..options(bench, data)
    };
    start(&bench.runtime, &options).await
}

/// Databases that are made in the user's server are dropped again, and nothing else is touched.
#[tokio::test]
async fn a_server_of_another_owner_is_left_as_it_was() {
    if !switched_on("the user's PostgreSQL") {
        return;
    }
    let bench = Bench::new();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suites/bootzooka/data");
    let mut server = somebody_elses(&bench, &data).await;
    let before = databases(&server).await;
    assert_eq!(before, "bakeoff_admin bakeoff_hers shop");
    // What a killed session leaves is removed by the next one: it is marked, and its owner is gone.
    held(&server)
        .query("admin", "CREATE DATABASE bakeoff_left OWNER ann")
        .await
        .unwrap();
    let mark = "COMMENT ON DATABASE bakeoff_left IS 'made by bakeoff, which drops it'";
    held(&server).query("admin", mark).await.unwrap();

    let mut backend = session_on(&bench, &data, &server, "ann:a%40b")
        .await
        .unwrap();
    assert_eq!(held(&backend).login(), ("ann", "a@b"));
    assert_eq!(backend.address(), server.address());
    let version = held(&server)
        .query("admin", "SHOW server_version")
        .await
        .unwrap();
    assert_eq!(held(&backend).version().await, Some(version));
    for _ in 0..2 {
        held(&backend).prepare("axum").await.unwrap();
        assert_eq!(held(&backend).query("axum", INSERT).await.unwrap(), "");
        let count = held(&backend)
            .query("axum", "SELECT count(*) FROM users")
            .await;
        assert_eq!(count.unwrap(), "1");
    }
    let during = databases(&server).await;
    let ours = "bakeoff__session bakeoff__template bakeoff_admin bakeoff_axum bakeoff_hers shop";
    assert_eq!(during, ours);
    assert_eq!(backend.sample().await.sessions, None, "it is not metered");

    let not_ours = held(&backend).prepare("hers").await.unwrap_err();
    assert!(
        not_ours
            .to_string()
            .ends_with("its database bakeoff_hers was not made by bakeoff, and is left alone"),
        "{not_ours}"
    );
    let second = session_on(&bench, &data, &server, "ann:a%40b")
        .await
        .unwrap_err();
    assert!(
        second
            .to_string()
            .ends_with(": another session of bakeoff is using it"),
        "{second}"
    );
    assert_eq!(
        databases(&server).await,
        ours,
        "the second one touched something"
    );

    backend.stop().await;
    assert_eq!(databases(&server).await, before);
    server.stop().await;
}

#[tokio::test]
async fn a_server_that_cannot_be_used_is_said_with_its_reason() {
    if !switched_on("a PostgreSQL that lets no user in") {
        return;
    }
    let bench = Bench::new();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suites/bootzooka/data");
    let mut server = somebody_elses(&bench, &data).await;
    let address = server.address();
    for (login, user, why, hint) in [
        (
            "ann:wrong",
            "ann",
            "the password is wrong, or there is no such user",
            "PGPASSWORD",
        ),
        (
            "eve:x",
            "eve",
            "the password is wrong, or there is no such user",
            "PGPASSWORD",
        ),
        (
            "bob:b",
            "bob",
            "bob may not make databases there",
            "ALTER ROLE \"bob\" CREATEDB",
        ),
    ] {
        let error = session_on(&bench, &data, &server, login).await.unwrap_err();
        let place = format!("postgres://{user}@{address}/postgres: {why}");
        assert_eq!(error.to_string(), place);
        let said = &error.hints()[0];
        assert!(said.contains(hint), "{said}");
    }
    let before = databases(&server).await;
    server.stop().await;
    assert_eq!(before, "bakeoff_admin bakeoff_hers shop");
    let url: DatabaseUrl = format!("postgres://ann:x@{address}").parse().unwrap();
    let options = BackendOptions {
        kind: BackendKind::PostgresServer(url),
        ..options(&bench, &data)
    };
    let gone = start(&bench.runtime, &options).await.unwrap_err();
    assert!(
        gone.to_string().ends_with(": nothing listens there"),
        "{gone}"
    );
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
