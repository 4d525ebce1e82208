//! Builds of contenders, with the shell as toolchain.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bakeoff_base::problem::Problem;
use bakeoff_build::{BUILD_LIMIT, BuildError, BuildOptions, build, toolchain};
use bakeoff_model::suite::Contender;
use bakeoff_model::suite::container::ContainerSettings;

use crate::support::announce;

fn contender(script: &str) -> Contender {
    let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
    Contender {
        name: "shell-1/variant".to_owned(),
        folder: "shell-1".to_owned(),
        variant: Some("variant".to_owned()),
        describe: "a script".to_owned(),
        language: "sh".to_owned(),
        note: None,
        baseline: None,
        log_lines_min: None,
        needs: Vec::new(),
        build: words(&["sh", "-c", script]),
        build_env: BTreeMap::new(),
        artifact: Some("target/app".to_owned()),
        run: words(&["{artifact}"]),
        workdir: None,
        url: None,
        version: words(&["./{artifact}", "--version"]),
        probes: Vec::new(),
        jdk: None,
        image: None,
        image_entrypoint: Vec::new(),
        image_arguments: Vec::new(),
        image_volumes: Vec::new(),
        container: ContainerSettings::default(),
        image_base: "debian".to_owned(),
        env: BTreeMap::new(),
        matrix: BTreeMap::new(),
        is_base: false,
    }
}

const SCRIPT: &str = "mkdir -p target && cp app.sh target/app && chmod +x target/app && \
                      echo built $MARK >> target/count";

fn app(folder: &Path, version: &str) {
    fs::write(
        folder.join("app.sh"),
        format!("#!/bin/sh\necho app {version}\n"),
    )
    .unwrap();
}

#[tokio::test]
async fn a_cache_that_cannot_be_used_is_not_the_contenders_fault() {
    let (source, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    app(source.path(), "1");
    let file = cache.path().join("file");
    fs::write(&file, "").unwrap();
    let options = BuildOptions {
        cache: file.clone(),
        suite: "suite".to_owned(),
        limit: BUILD_LIMIT,
    };
    let built = build(&contender(SCRIPT), source.path(), &options).await;
    let Err(BuildError::Cache(problem)) = built else {
        panic!("{built:?}")
    };
    let place = file.display().to_string();
    assert!(problem.message().contains(&place), "{problem}");
    assert!(problem.hints()[0].contains("BAKEOFF_CACHE"), "{problem:?}");
}

#[tokio::test]
async fn a_contender_is_built_when_something_changed() {
    let (source, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let options = BuildOptions {
        cache: cache.path().to_owned(),
        suite: "test".to_owned(),
        limit: BUILD_LIMIT,
    };
    let mut contender = contender(SCRIPT);
    app(source.path(), "1");
    let first = build(&contender, source.path(), &options).await.unwrap();
    let made = first.artifact.clone().unwrap();
    assert!(first.fresh && made.path.is_absolute());
    assert_eq!(first.version.as_deref(), Some("app 1"));
    assert!(made.digest.starts_with("sha256:"), "{}", made.digest);
    assert!(
        !source.path().join("target").exists(),
        "the clone stays clean"
    );

    let again = build(&contender, source.path(), &options).await.unwrap();
    assert!(!again.fresh);
    assert_eq!(again.artifact, first.artifact);

    app(source.path(), "2");
    let changed = build(&contender, source.path(), &options).await.unwrap();
    assert!(changed.fresh && changed.artifact != first.artifact);
    assert_eq!(changed.version.as_deref(), Some("app 2"));
    let count = fs::read_to_string(changed.workdir.join("target/count")).unwrap();
    assert_eq!(
        count.lines().count(),
        2,
        "outputs survive, and nothing else was run"
    );

    fs::write(changed.artifact.unwrap().path, "damaged").unwrap();
    assert!(
        build(&contender, source.path(), &options)
            .await
            .unwrap()
            .fresh
    );

    contender
        .build_env
        .insert("MARK".to_owned(), "lto".to_owned());
    let variant = build(&contender, source.path(), &options).await.unwrap();
    assert_ne!(
        variant.workdir, changed.workdir,
        "builds that differ are kept apart"
    );
}

#[tokio::test]
async fn what_is_wrong_with_a_build_is_said() {
    let (source, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let options = BuildOptions {
        cache: cache.path().to_owned(),
        suite: "test".to_owned(),
        limit: BUILD_LIMIT,
    };
    let fails =
        async |contender: &Contender| build(contender, source.path(), &options).await.unwrap_err();
    let error = fails(&contender("echo one; echo two >&2; exit 4")).await;
    let BuildError::Failed(failure) = &error else {
        panic!("{error}")
    };
    assert_eq!(
        error.to_string(),
        "shell-1/variant: its build failed with exit status: 4"
    );
    assert_eq!(
        failure.evidence(),
        "sh -c echo one; echo two >&2; exit 4\none\ntwo"
    );
    assert!(failure.hints()[0].starts_with("the whole log is "));

    let error = fails(&contender("true")).await;
    assert_eq!(
        error.to_string(),
        "shell-1/variant: its build made no target/app"
    );

    let mut missing = contender("true");
    missing.needs = vec!["jdk-3".to_owned()];
    let expect = "shell-1/variant: jdk-3 is missing: install a JDK 3, or set JAVA_HOME_3 to the \
                  home folder of one";
    assert_eq!(fails(&missing).await.to_string(), expect);
}

#[test]
fn toolchains_of_this_host_are_found() {
    let rust = toolchain("rust").unwrap();
    let version = rust.version.as_deref().unwrap_or_default();
    assert!(version.starts_with("cargo 1."), "{rust:?}");
    for name in ["maven", "jdk-11", "jdk-17", "jdk-25", "node"] {
        match toolchain(name) {
            Ok(tool) => {
                let version = tool.version.as_deref().unwrap_or_default();
                assert!(version.contains(char::is_numeric), "{tool:?}");
            }
            Err(missing) => announce(&format!("{missing}: {}", missing.how)),
        }
    }
}

/// A program counts as found whatever it prints, and one that is not known is not asked.
#[test]
fn a_program_of_no_known_version_is_there() {
    let tool = toolchain("false").unwrap();
    assert!(
        tool.path.ends_with("false") && tool.version.is_none(),
        "{tool:?}"
    );
}

const GO_SERVICE: &str = r#"package main

import "fmt"

func main() { fmt.Println("app in Go") }
"#;

#[tokio::test]
async fn a_contender_in_go_is_built() {
    if let Err(missing) = toolchain("go") {
        announce(&format!("a contender in Go: {missing}: {}", missing.how));
        return;
    }
    let (source, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let options = BuildOptions {
        cache: cache.path().to_owned(),
        suite: "test".to_owned(),
        limit: BUILD_LIMIT,
    };
    fs::write(source.path().join("go.mod"), "module app\n\ngo 1.18\n").unwrap();
    fs::write(source.path().join("main.go"), GO_SERVICE).unwrap();
    let mut contender = contender("go build -o target/app .");
    contender.needs = vec!["go".to_owned()];
    let built = build(&contender, source.path(), &options).await.unwrap();
    assert!(built.fresh && built.artifact.is_some());
    assert_eq!(built.version.as_deref(), Some("app in Go"));
    let go = &built.toolchains["go"];
    assert!(go.starts_with("go version go1."), "{go}");
}

#[tokio::test]
async fn a_build_that_hangs_is_ended_with_all_its_processes() {
    let (source, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let options = BuildOptions {
        cache: cache.path().to_owned(),
        suite: "test".to_owned(),
        limit: Duration::from_secs(1),
    };
    // Its child is not the command itself, as with a build tool that runs tests.
    let hanging = contender("sleep 3600 & echo $!; wait");
    let error = build(&hanging, source.path(), &options).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "shell-1/variant: its build did not end within 1 s and was ended"
    );
    let problem = Problem::from(error);
    let evidence = problem.evidence();
    let child = evidence.lines().last().unwrap();
    let state = PathBuf::from(format!("/proc/{child}/stat"));
    let gone = || fs::read_to_string(&state).map_or(true, |stat| stat.contains(") Z "));
    for _ in 0..100 {
        if gone() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("process {child} of the build goes on");
}
