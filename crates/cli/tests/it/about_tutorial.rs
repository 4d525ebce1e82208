//! Every command of the tutorial is run, in order, as it stands there, on a suite of shorter steps.
//! Switched on by `BAKEOFF_TEST_TUTORIAL=1`, because it takes minutes and needs Python.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::world::{reserved, skipped};

const SWITCH: &str = "BAKEOFF_TEST_TUTORIAL";
const PAGE: &str = include_str!("../../../../docs/tutorial.md");

/// The lines of all blocks of shell; one that ends in a backslash goes on.
fn commands() -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    let (mut inside, mut goes_on) = (false, false);
    for line in PAGE.lines() {
        if line.starts_with("```") {
            inside = line == "```sh";
        } else if inside {
            match commands.last_mut().filter(|_| goes_on) {
                Some(last) => last.push_str(line.trim()),
                None => commands.push(line.to_owned()),
            }
            let last = commands.last_mut().unwrap();
            goes_on = last.ends_with('\\');
            if goes_on {
                last.pop();
            }
        }
    }
    commands
}

fn shell(folder: &Path, line: &str) {
    let programs = Path::new(env!("CARGO_BIN_EXE_bakeoff")).parent().unwrap();
    let path = format!("{}:{}", programs.display(), env::var("PATH").unwrap());
    let output = Command::new("sh")
        .args(["-c", line])
        .env("PATH", path)
        .current_dir(folder)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    // Other work on this host may leave no number that counts, which is a result, too.
    let is_lost = text.contains("They cannot be compared");
    if is_lost {
        skipped(&format!("the result of {line}: {text}"));
    }
    assert!(
        output.status.success() || is_lost,
        "{line}\n{text}\n{errors}"
    );
}

/// Has the profile that `run` takes measure for a fraction of its time.
fn shorten(suite: &Path) {
    let text = fs::read_to_string(suite).unwrap();
    let step = "step = \"2s\"";
    assert!(text.contains(step), "{text}");
    fs::write(suite, text.replace(step, "step = \"500ms\"")).unwrap();
}

#[test]
fn every_command_of_the_tutorial_works() {
    let commands = commands();
    assert!(commands.len() >= 8, "{commands:?}");
    if env::var_os(SWITCH).is_none() {
        skipped(&format!("the commands of the tutorial: set {SWITCH}=1"));
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    // The tutorial's own may be taken here.
    let (port, _holder) = reserved(0).unwrap();
    for line in commands {
        let has_port = ["bakeoff init", "bakeoff duel"]
            .iter()
            .any(|one| line.starts_with(one));
        match has_port {
            true => shell(folder.path(), &format!("{line} --port {port}")),
            false => shell(folder.path(), &line),
        }
        if line.starts_with("bakeoff init") {
            shorten(&folder.path().join("demo/suite.toml"));
        }
    }
    for made in [
        "first/report/index.html",
        "figures/all-throughput.svg",
        "change.html",
    ] {
        assert!(folder.path().join(made).is_file(), "{made}");
    }
}
