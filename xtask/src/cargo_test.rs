//! Runs the tests of the workspace, and those that failed a second time, alone.
//!
//! Many tests run a load generator and a service for some hundred milliseconds. On a host whose
//! cores are taken away, a test can fail because of concurrent ones. So a few failures are not
//! final: each failed test gets a second run alone, and one that fails again fails the whole. Tests
//! that needed a second run are printed, then and at the end.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};

use crate::chores::Chores;
use crate::workspace::say;

/// A host that is taken away fails a test or two; more of them are a fault of the code.
const SECOND_RUNS_MAX: usize = 5;

/// A test prints its result or, after a minute, that it is still running. The longest one needs two
/// minutes, so after this time without a line a test hangs.
const SILENCE_MAX: Duration = Duration::from_secs(600);

const CARGO_TEST: [&str; 4] = ["test", "--workspace", "--locked", "--no-fail-fast"];

/// Runs all tests by `cargo test`.
pub(crate) fn cargo_test(chores: &mut Chores<'_>, env: &[(&str, &str)]) -> anyhow::Result<()> {
    let failed = chores.step("tests", |chores| {
        let told = run(chores.root(), &CARGO_TEST, env)?;
        told.worth_a_second_run()
    })?;
    if failed.is_empty() {
        return Ok(());
    }
    chores.step("failed tests, alone", |chores| {
        let mut arguments = CARGO_TEST.to_vec();
        arguments.extend(["--", "--exact", "--test-threads=1"]);
        arguments.extend(failed.iter().map(String::as_str));
        let told = run(chores.root(), &arguments, env)?;
        for name in &failed {
            ensure!(told.passed.contains(name), "{name} failed twice");
            chores.note(format!(
                "PASSED ALONE ONLY: {name} failed next to other tests"
            ));
        }
        ensure!(told.success, "cargo test failed, though each test passed");
        Ok(())
    })
}

/// The output of `cargo test`.
#[derive(Debug, Default)]
struct Told {
    success: bool,
    passed: Vec<String>,
    failed: Vec<String>,
    /// Binaries that started, and those of them that finished.
    began: usize,
    ended: usize,
}

impl Told {
    fn read(&mut self, line: &str) {
        if let Some(test) = line.strip_prefix("test ")
            && let Some((name, outcome)) = test.rsplit_once(" ... ")
        {
            match outcome {
                "ok" => self.passed.push(name.to_owned()),
                "FAILED" => self.failed.push(name.to_owned()),
                _ => {}
            }
        } else if line.starts_with("test result: ") {
            self.ended += 1;
        } else if line.starts_with("running ") && line.trim_end_matches('s').ends_with(" test") {
            self.began += 1;
        }
    }

    /// Returns the failed tests, if they are few and nothing else went wrong.
    fn worth_a_second_run(self) -> anyhow::Result<Vec<String>> {
        ensure!(
            self.success || !self.failed.is_empty(),
            "cargo test failed without a failed test"
        );
        ensure!(
            self.began == self.ended,
            "{} test binaries started and {} finished",
            self.began,
            self.ended
        );
        ensure!(
            self.failed.len() <= SECOND_RUNS_MAX,
            "{} tests failed: {}",
            self.failed.len(),
            self.failed.join(", ")
        );
        Ok(self.failed)
    }
}

/// Runs cargo in the root and reads what it prints while that goes on to our standard output.
fn run(root: &Path, arguments: &[&str], env: &[(&str, &str)]) -> anyhow::Result<Told> {
    let variables: String = env
        .iter()
        .map(|(name, value)| format!("{name}={value} "))
        .collect();
    say(&format!("+ {variables}cargo {}", arguments.join(" ")));
    let mut child = Command::new("cargo")
        .args(arguments)
        .envs(env.iter().copied())
        .current_dir(root)
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot run cargo")?;
    let Some(stdout) = child.stdout.take() else {
        bail!("cargo has no standard output");
    };
    let (sender, lines) = channel();
    thread::spawn(move || {
        for line in BufReader::new(stdout).lines() {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    let mut told = Told::default();
    loop {
        let line = match lines.recv_timeout(SILENCE_MAX) {
            Ok(line) => line.context("cannot read what cargo prints")?,
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                kill(&mut child);
                let minutes = SILENCE_MAX.as_secs() / 60;
                bail!("no test ended for {minutes} minutes: one of those that run hangs");
            }
        };
        told.read(&line);
        let _ = writeln!(std::io::stdout(), "{line}");
    }
    told.success = child.wait().context("cannot wait for cargo")?.success();
    Ok(told)
}

/// Kills the tests that cargo runs, and cargo.
fn kill(cargo: &mut Child) {
    let id = cargo.id().to_string();
    let _ = Command::new("pkill").args(["-KILL", "-P", &id]).status();
    let _ = cargo.kill();
    let _ = cargo.wait();
}

#[cfg(test)]
mod tests {
    use super::Told;

    fn told(success: bool, output: &str) -> Told {
        let mut told = Told::default();
        output.lines().for_each(|line| told.read(line));
        told.success = success;
        told
    }

    #[test]
    fn few_failures_are_worth_a_second_run() {
        let output = "running 1 test\ntest a::b ... ok\ntest result: ok. 1 passed\n\
                      running 2 tests\ntest a::c ... FAILED\ntest a::d ... ignored\n\
                      test result: FAILED. 0 passed";
        let told = told(false, output);
        assert_eq!(told.passed, ["a::b"]);
        assert_eq!(told.worth_a_second_run().unwrap(), ["a::c"]);
    }

    #[test]
    fn success_needs_none() {
        let output = "running 0 tests\ntest result: ok. 0 passed";
        let failed = told(true, output).worth_a_second_run().unwrap();
        assert!(failed.is_empty());
    }

    #[test]
    fn what_is_no_failure_of_a_test_is_the_end() {
        let message = |success, output: &str| {
            let error = told(success, output).worth_a_second_run().unwrap_err();
            error.to_string()
        };
        assert_eq!(
            message(false, ""),
            "cargo test failed without a failed test"
        );
        assert_eq!(
            message(false, "running 2 tests\ntest a ... FAILED"),
            "1 test binaries started and 0 finished"
        );
        let many: String = (0..6).map(|n| format!("test t{n} ... FAILED\n")).collect();
        assert_eq!(
            message(false, &many),
            "6 tests failed: t0, t1, t2, t3, t4, t5"
        );
    }
}
