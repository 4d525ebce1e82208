//! Processes that are alive concurrently on one port. Needs root.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use bakeoff_model::suite::conditions::TrafficPath;
use bakeoff_places::http::ask;
use bakeoff_places::local::ProcessRuntime;
use bakeoff_places::{Instance, Runtime};

use crate::support::{Bench, LIMIT, announce, contender, options};

const PORT: u16 = 8080;
const SERVE: [&str; 3] = ["CONTENDER", "serve", "0.0.0.0:PORT"];

/// A bench whose processes have separate networks; `None`, with a printed note, if they cannot.
fn bench() -> Option<Bench> {
    let base = tempfile::tempdir().unwrap();
    match ProcessRuntime::side_by_side(options(base.path())) {
        Ok(runtime) => Some(Bench { base, runtime }),
        Err(reason) => {
            announce(&format!("contenders alive concurrently: {reason}"));
            None
        }
    }
}

async fn answers(instance: &dyn Instance, within: Duration) -> bool {
    let answer = ask(instance.address(), "GET", "/", &[], b"", within).await;
    answer.is_ok_and(|answer| answer.status < 500)
}

/// Network devices of this session on the host.
fn devices(session: u32) -> Vec<String> {
    let entries = std::fs::read_dir("/sys/class/net").unwrap().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let prefix = format!("bko{session}x");
    names.filter(|name| name.starts_with(&prefix)).collect()
}

#[tokio::test]
async fn several_listen_on_one_port_and_each_responds() {
    let Some(bench) = bench() else { return };
    assert_eq!(bench.runtime.traffic_path(), TrafficPath::Veth);
    let mut first = bench.start(&bench.spec(PORT, &SERVE)).await;
    let mut burning = bench.spec(PORT, &["CONTENDER", "burn", "0.0.0.0:PORT", "1"]);
    burning.log_path = bench.base.path().join("two.log");
    let mut second = bench.start(&burning).await;
    for one in [&mut first, &mut second] {
        let startup = one.await_ready(LIMIT).await.unwrap();
        assert!(startup.listened_ns >= startup.executed_ns, "{startup:?}");
        assert!(answers(one.as_ref(), LIMIT).await);
        assert!(one.sample().await.resources.network.is_some(), "its own");
    }
    assert_ne!(first.address(), second.address());

    let report = first.stop(LIMIT).await;
    assert!(report.graceful, "{report:?}");
    assert!(answers(second.as_ref(), LIMIT).await);
    drop(second);
    assert_eq!(devices(std::process::id()), [""; 0]);
}

#[tokio::test]
async fn a_member_of_a_killed_set_is_swept() {
    let Some(bench) = bench() else { return };
    let mut session = Command::new(contender())
        .args([
            "session",
            &bench.base.path().display().to_string(),
            "8080",
            "networks",
        ])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut output = BufReader::new(session.stdout.take().unwrap());
    output.read_line(&mut line).unwrap();
    assert_eq!(line.trim(), format!("ready {}", session.id()));
    assert_eq!(devices(session.id()).len(), 1);
    session.kill().unwrap();
    session.wait().unwrap();
    let removed = bench.runtime.sweep().await.unwrap();
    let group = removed.iter().find_map(|line| line.strip_prefix("group "));
    assert!(
        group.is_some_and(|group| !Path::new(group).exists()),
        "{removed:?}"
    );
    assert_eq!(devices(session.id()), [""; 0]);
    assert_eq!(bench.runtime.sweep().await.unwrap(), Vec::<String>::new());
}
