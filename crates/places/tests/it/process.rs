//! Local processes: limits, clock, hints, stops, leftovers.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use bakeoff_base::problem::Problem;
use bakeoff_places::http::{AskError, ask};
use bakeoff_places::local::{ProcessOptions, ProcessRuntime};
use bakeoff_places::meter::Meter;
use bakeoff_places::{ReadyError, Runtime, StartError};

use crate::support::{Bench, LIMIT, announce, contender, free_port, options};

const SERVE: [&str; 3] = ["CONTENDER", "serve", "0.0.0.0:PORT"];

#[tokio::test]
async fn a_process_responds_and_is_ended_by_a_signal() {
    let bench = Bench::new();
    let spec = bench.spec(free_port(), &["CONTENDER", "burn", "0.0.0.0:PORT", "2"]);
    let mut instance = bench.start(&spec).await;
    instance.await_ready(LIMIT).await.unwrap();
    let answer = ask(
        instance.address(),
        "GET",
        "/x",
        &[],
        b"",
        Duration::from_secs(5),
    )
    .await
    .unwrap();
    assert_eq!(
        (answer.status, answer.body.as_slice()),
        (404, b"".as_slice())
    );
    assert_eq!(
        answer.headers,
        [("content-length".to_owned(), "0".to_owned())]
    );
    let sample = instance.sample().await.resources;
    assert!(sample.context_switches.is_some());
    assert_eq!(sample.threads["burner"].count, 2, "{:?}", sample.threads);
    assert_eq!(sample.network, None, "it has no separate network");
    let report = instance.stop(LIMIT).await;
    assert!(report.graceful, "{report:?}");
    assert_eq!(report.exit.signal, Some(15));
}

#[tokio::test]
async fn a_contender_gets_its_environment_files_and_cores_only() {
    let bench = Bench::new();
    let mut spec = bench.spec(free_port(), &["CONTENDER", "limits", "127.0.0.1:PORT"]);
    spec.cores = vec![0];
    let mut instance = bench.start(&spec).await;
    instance.await_ready(LIMIT).await.unwrap();
    let log = instance.logs();
    let line = log.lines().next().unwrap();
    assert!(line.contains("cores 1"), "{line}");
    let names = line.split("env ").nth(1).unwrap();
    for name in names.split(',') {
        assert!(
            ["MARK", "PATH", "HOME", "LANG", "TMPDIR"].contains(&name),
            "{line}"
        );
    }
    assert!(names.contains("MARK"));
    // At least the hard limit of this process; more if permitted.
    let hard = rustix::process::getrlimit(rustix::process::Resource::Nofile).maximum;
    let wish = hard.unwrap_or(u64::MAX).min(1 << 20);
    let nofile = line
        .split(['(', ')'])
        .nth(1)
        .unwrap()
        .parse::<u64>()
        .unwrap();
    assert!(nofile >= wish, "{line}");
    instance.stop(LIMIT).await;
}

#[tokio::test]
async fn an_answer_of_another_process_is_not_the_contenders() {
    let bench = Bench::new();
    let port = free_port();
    let mut instance = bench.start(&bench.spec(port, &["sleep", "60"])).await;
    let stranger = TcpListener::bind(("127.0.0.1", port)).unwrap();
    std::thread::spawn(move || {
        for stream in stranger.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
        }
    });
    let error = instance.await_ready(LIMIT).await.unwrap_err().to_string();
    let expect = format!("(process {})", std::process::id());
    assert!(error.contains(&expect), "{error}");
    instance.stop(LIMIT).await;
}

/// Starts a command, waits for it in vain and gives the error.
async fn not_ready(command: &[&str], limit: Duration) -> ReadyError {
    let bench = Bench::new();
    let mut instance = bench.start(&bench.spec(free_port(), command)).await;
    let error = instance.await_ready(limit).await.unwrap_err();
    instance.stop(Duration::from_millis(100)).await;
    error
}

#[tokio::test]
async fn what_is_wrong_is_said() {
    let short = Duration::from_millis(700);
    let error = not_ready(&["sh", "-c", "echo no config; exit 3"], LIMIT).await;
    assert!(
        error
            .to_string()
            .starts_with("test/one: exited with code 3 after 0."),
        "{error}"
    );
    assert_eq!(Problem::from(error).evidence(), "no config");

    let error = not_ready(&["sleep", "100"], short).await;
    assert_eq!(error.to_string(), "test/one: not ready after 0.7 s");
    assert!(
        Problem::from(error).hints()[0]
            .starts_with("it opened no port; it must listen on 0.0.0.0:")
    );

    let elsewhere = free_port();
    let address = format!("127.0.0.1:{elsewhere}");
    let error = not_ready(&["CONTENDER", "serve", &address], short).await;
    let problem = Problem::from(error);
    let hint = &problem.hints()[0];
    let expect = format!("it listens on 127.0.0.1:{elsewhere}, not on 0.0.0.0:");
    assert!(hint.starts_with(&expect), "{hint}");

    let error = not_ready(&["CONTENDER", "garbage", "0.0.0.0:PORT"], short).await;
    let expect =
        "no valid response after 0.7 s: a response that is not HTTP, starting with \"220 smtp";
    assert!(error.to_string().contains(expect), "{error}");
}

#[tokio::test]
async fn starts_that_cannot_be_are_refused() {
    let bench = Bench::new();
    let failed = async |spec| bench.runtime.start(&spec).await.err().unwrap().to_string();
    let spec = bench.spec(free_port(), &["./no-such-program"]);
    let expect = "test/one: cannot execute ./no-such-program: there is no such program";
    assert_eq!(failed(spec).await, expect);
    assert_eq!(
        failed(bench.spec(1, &[])).await,
        "test/one: its command is empty"
    );

    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let error = bench
        .runtime
        .start(&bench.spec(port, &SERVE))
        .await
        .err()
        .unwrap();
    let StartError::PortInUse {
        listener: Some(who),
        ..
    } = &error
    else {
        panic!("{error}")
    };
    assert!(who.contains(&std::process::id().to_string()), "{error}");
    let expect = format!("test/one: port {port} is already in use by ");
    assert!(error.to_string().starts_with(&expect), "{error}");
}

#[tokio::test]
async fn a_shim_that_fails_is_not_the_contenders_fault() {
    let bench = Bench::unlimited();
    let spec = bench.spec(free_port(), &SERVE);
    let check = async |shim: &str, expect: &str| {
        let options = ProcessOptions {
            shim: shim.into(),
            ..options(bench.base.path())
        };
        let runtime = ProcessRuntime::unlimited(options, "by the test").unwrap();
        let found = match runtime.start(&spec).await {
            Err(StartError::Host(problem)) => problem,
            Err(other) => panic!("{other}"),
            Ok(mut instance) => match instance.await_ready(LIMIT).await {
                Err(ReadyError::NotExecuted(problem)) => problem,
                other => panic!("{other:?}"),
            },
        };
        assert!(found.message().starts_with(expect), "{found}");
    };
    let ended = "test/one: exited with code 1 before its program was executed";
    check("false", ended).await;
    check("/nowhere/shim", "test/one: cannot start a process: ").await;
}

#[tokio::test]
async fn whoever_does_not_stop_is_killed_with_its_children() {
    for bench in [Bench::new(), Bench::unlimited()] {
        let script = "trap '' TERM; sleep 1000 & CONTENDER serve 0.0.0.0:PORT; sleep 1000";
        let port = free_port();
        let mut spec = bench.spec(port, &["sh", "-c", script]);
        spec.label = format!("stubborn-{port}");
        let mut instance = bench.start(&spec).await;
        instance.await_ready(LIMIT).await.unwrap();
        // The shell may not have become `sleep` yet.
        let mut sample = instance.sample().await.resources;
        for _ in 0..500 {
            if sample.threads.contains_key("sleep") {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
            sample = instance.sample().await.resources;
        }
        assert_eq!(sample.threads["sleep"].count, 1, "{:?}", sample.threads);
        let report = instance.stop(Duration::from_millis(200)).await;
        assert!(report.killed && !report.graceful, "{report:?}");
        assert_eq!(report.exit.signal, Some(9));
        let gone = ask(
            instance.address(),
            "GET",
            "/",
            &[],
            b"",
            Duration::from_secs(5),
        )
        .await;
        assert!(matches!(gone, Err(AskError::NoAnswer(_))), "{gone:?}");
        assert_eq!(groups_named(&spec.label), Vec::<PathBuf>::new());
    }
}

#[tokio::test]
async fn without_groups_it_is_unlimited_and_still_metered() {
    let bench = Bench::unlimited();
    assert_eq!(
        bench.runtime.enforcement().unlimited_because(),
        Some("by the test")
    );
    let mut instance = bench.start(&bench.spec(free_port(), &SERVE)).await;
    instance.await_ready(LIMIT).await.unwrap();
    let sample = instance.sample().await.resources;
    assert!(sample.cpu.is_some() && sample.throttling.is_none());
    assert!(
        sample
            .memory
            .is_some_and(|memory| memory.anon_bytes > Some(0))
    );
    drop(instance);
}

#[tokio::test]
async fn a_dropped_instance_leaves_nothing() {
    let bench = Bench::new();
    let mut spec = bench.spec(free_port(), &SERVE);
    spec.label = format!("dropped-{}", spec.port);
    let mut instance = bench.start(&spec).await;
    instance.await_ready(LIMIT).await.unwrap();
    let address = instance.address();
    drop(instance);
    assert!(
        ask(address, "GET", "/", &[], b"", Duration::from_secs(5))
            .await
            .is_err()
    );
    assert_eq!(groups_named(&spec.label), Vec::<PathBuf>::new());
    assert_eq!(
        std::fs::read_dir(bench.runtime.folder()).unwrap().count(),
        2,
        "its own two files"
    );
}

#[tokio::test]
async fn what_a_killed_session_left_is_swept() {
    let bench = Bench::new();
    if !bench.limits_hold() {
        return;
    }
    let port = free_port();
    let mut session = Command::new(contender())
        .args([
            "session",
            &bench.base.path().display().to_string(),
            &port.to_string(),
        ])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(session.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert_eq!(line.trim(), format!("ready {}", session.id()));
    assert_eq!(
        bench.runtime.sweep().await.unwrap(),
        Vec::<String>::new(),
        "it lives"
    );
    session.kill().unwrap();
    session.wait().unwrap();
    // The main process dies with its session; what it had started waits for the sweep.
    let prefix = format!("bakeoff-{}-left", session.id());
    assert!(!groups_named(&prefix).is_empty());
    let removed = bench.runtime.sweep().await.unwrap();
    assert!(
        removed.iter().any(|line| line.starts_with("group ")),
        "{removed:?}"
    );
    assert!(
        removed.iter().any(|line| line.starts_with("folder ")),
        "{removed:?}"
    );
    assert_eq!(groups_named(&prefix), Vec::<PathBuf>::new());
    let address = format!("127.0.0.1:{port}").parse().unwrap();
    assert!(
        ask(address, "GET", "/", &[], b"", Duration::from_secs(5))
            .await
            .is_err()
    );
    assert_eq!(bench.runtime.sweep().await.unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn without_groups_leftovers_are_found_by_their_session() {
    let bench = Bench::unlimited();
    let mut session = Command::new(contender())
        .args([
            "session",
            &bench.base.path().display().to_string(),
            &free_port().to_string(),
        ])
        .arg("unlimited")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(session.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    session.kill().unwrap();
    session.wait().unwrap();
    let removed = bench.runtime.sweep().await.unwrap();
    let count = |what: &str| removed.iter().filter(|line| line.starts_with(what)).count();
    // The contender died with its session, or is met here while it does; its `sleep` did not.
    assert!(count("process ") >= 1, "{removed:?}");
    assert_eq!((count("group "), count("folder ")), (0, 1), "{removed:?}");
}

#[tokio::test]
async fn a_group_is_found_by_any_process_in_it() {
    let bench = Bench::new();
    if !bench.limits_hold() {
        return;
    }
    let mut spec = bench.spec(free_port(), &SERVE);
    spec.limits.memory_bytes = Some(64 << 20);
    let mut instance = bench.start(&spec).await;
    instance.await_ready(LIMIT).await.unwrap();
    let pid = std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .find_map(|entry| {
            let command = std::fs::read(entry.path().join("cmdline")).ok()?;
            let wanted = format!("serve\00.0.0.0:{}\0", spec.port);
            let found = String::from_utf8_lossy(&command).ends_with(&wanted);
            if found {
                entry.file_name().to_str()?.parse().ok()
            } else {
                None
            }
        });
    let meter = Meter::of_pid(pid.unwrap());
    assert_eq!(meter.processes(), [pid.unwrap()]);
    let sample = meter.sample();
    assert!(sample.throttling.is_some(), "it is the group's: {sample:?}");
    assert_eq!(meter.oom_kills(), Some(0));
    instance.stop(LIMIT).await;
}

/// Group folders of ours with this text in their name.
fn groups_named(text: &str) -> Vec<PathBuf> {
    fn walk(dir: &Path, text: &str, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                if entry.file_name().to_string_lossy().contains(text) {
                    found.push(entry.path());
                }
                walk(&entry.path(), text, found);
            }
        }
    }
    let root = Path::new("/sys/fs/cgroup");
    if !root.exists() {
        announce("that no group is left: /sys/fs/cgroup does not exist");
    }
    let mut found = Vec::new();
    walk(root, text, &mut found);
    found
}
