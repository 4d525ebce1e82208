//! The steps of the GitHub Action, run by hand: the binary is fetched from a folder that stands for
//! a release, a pull request is measured, and its comment is written by a `gh` that records its
//! input.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::world::{Ran, World, git_in};

/// A runner of GitHub Actions, as far as the scripts know it.
struct Runner {
    folder: TempDir,
}

impl Runner {
    fn new() -> Self {
        let runner = Self {
            folder: TempDir::new().unwrap(),
        };
        for folder in ["release", "temp", "bin"] {
            fs::create_dir(runner.path(folder)).unwrap();
        }
        let gh = "#!/bin/sh\necho \"$@\" >\"$SAID\"\nexit \"${GH_STATUS:-0}\"\n";
        fs::write(runner.path("bin/gh"), gh).unwrap();
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(runner.path("bin/gh"), executable).unwrap();
        runner
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A script of the action with these variables, in this folder.
    fn script(&self, name: &str, folder: &Path, variables: &[(&str, &str)]) -> Ran {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let path = std::env::var("PATH").unwrap();
        let own =
            [self.path("bin"), self.path("temp/bakeoff")].map(|one| one.display().to_string());
        let mut command = Command::new(root.join("packaging/action").join(name));
        command
            .current_dir(folder)
            .env("PATH", format!("{}:{path}", own.join(":")))
            .env("RUNNER_TEMP", self.path("temp"))
            .env("GITHUB_PATH", self.path("path"))
            .env(
                "DOWNLOADS",
                format!("file://{}", self.path("release").display()),
            )
            .env("SAID", self.path("said"))
            .env("BAKEOFF_CACHE", self.path("cache"))
            .env_remove("GITHUB_ACTIONS")
            .env_remove("GITHUB_STEP_SUMMARY")
            .envs(variables.iter().copied());
        Ran::from(command.output().unwrap())
    }

    /// Packs the binary as releases do, with its checksum.
    fn release(&self) {
        let target = format!("{}-unknown-linux-musl", std::env::consts::ARCH);
        let script = format!(
            "tar -I 'gzip -1' -cf bakeoff-1.2.0-{target}.tar.gz -C {} bakeoff && \
             sha256sum *.tar.gz >SHA256SUMS",
            Path::new(env!("CARGO_BIN_EXE_bakeoff"))
                .parent()
                .unwrap()
                .display()
        );
        let mut command = Command::new("sh");
        command
            .args(["-c", &script])
            .current_dir(self.path("release"));
        assert!(command.status().unwrap().success());
    }
}

#[test]
fn a_pull_request_is_measured_and_commented_on() {
    let (runner, world) = (Runner::new(), World::new(&["good"]));
    let suite = fs::read_to_string(world.path().join("suite.toml")).unwrap();
    let turns = "[profile.turns]\nlimits = { cpus = 1.0, memory = \"64MiB\" }\nruns = 2\n\
                 slice = \"200ms\"\n\
                 ladder = { warm-up = [4], connections = [4], step = \"600ms\" }\n";
    let suite = suite.replace(
        "[suite]",
        "[suite]\nlifecycle = false\nlogs-requests = false",
    );
    world.write("suite.toml", &format!("{suite}{turns}"));
    let checkout = world.path().parent().unwrap().to_owned();
    git_in(&checkout, &["init", "--quiet"]);
    git_in(&checkout, &["add", "suite"]);
    git_in(&checkout, &["commit", "--quiet", "--message", "Base"]);
    // What the pull request changes.
    let contender = "contenders/good/contender.toml";
    let text = fs::read_to_string(world.path().join(contender)).unwrap();
    world.write(
        contender,
        &text.replace("[env]\n", "[env]\nCHANGED = \"yes\"\n"),
    );

    runner.release();
    let version = [("VERSION", "v1.2.0"), ("REPOSITORY", "owner/bakeoff")];
    let installed = runner.script("install.sh", &checkout, &version);
    installed.check(0, &["bakeoff "]);
    let path = fs::read_to_string(runner.path("path")).unwrap();
    assert_eq!(
        path.trim(),
        runner.path("temp/bakeoff").display().to_string()
    );

    let variables = [
        ("SUITE", "suite"),
        ("BASELINE", "HEAD"),
        ("FAIL_IF", "errors>50% memory>900%"),
        ("OPTIONS", "--profile turns"),
        ("OUT", "out"),
    ];
    let measured = runner.script("compare.sh", &checkout, &variables);
    measured.check(0, &["for the pull request: out/ci/summary.md"]);
    let comment = runner.script("comment.sh", &checkout, &[("NUMBER", "7"), ("OUT", "out")]);
    comment.check(0, &[]);
    let said = fs::read_to_string(runner.path("said")).unwrap();
    let expect = "pr comment 7 --edit-last --create-if-none --body-file out/ci/summary.md";
    assert_eq!(said.trim(), expect);

    // A fork may not comment, and that is not a failure.
    let refused = [("NUMBER", "7"), ("OUT", "out"), ("GH_STATUS", "1")];
    runner
        .script("comment.sh", &checkout, &refused)
        .check(0, &["::notice::no comment could be written"]);
}

#[test]
fn what_cannot_be_fetched_or_is_not_what_it_should_be_ends_with_a_sentence() {
    let runner = Runner::new();
    let install = |version: &str| {
        let variables = [("VERSION", version), ("REPOSITORY", "owner/bakeoff")];
        runner.script("install.sh", runner.folder.path(), &variables)
    };
    install("main").check(
        1,
        &["::error::no release is called 'main'", "set `version`"],
    );
    install("v1.2.0").check(1, &["cannot be fetched: is there a release v1.2.0?"]);
    runner.release();
    fs::write(runner.path("release/SHA256SUMS"), "0000  another.tar.gz\n").unwrap();
    install("v1.2.0").check(1, &["is not what the release's SHA256SUMS says"]);
    let nothing = runner.script(
        "comment.sh",
        runner.folder.path(),
        &[("NUMBER", "7"), ("OUT", "out")],
    );
    nothing.check(0, &["::notice::there is no out/ci/summary.md"]);
}
