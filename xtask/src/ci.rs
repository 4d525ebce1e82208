//! The steps of continuous integration, runnable by anyone.

use std::env;
use std::path::Path;
use std::thread;

use anyhow::{bail, ensure};

use crate::chores::{Chores, Variables, command, works};
use crate::needs::{Failures, Needs, install, install_toolchain};
use crate::offline::{Exported, Offline};
use crate::suites::{Ledger, Suite, findings, suites};
use crate::workspace::{say, tracked};
use crate::{package, site, tidy};

/// Switches on the tests that need a Docker engine with the base images.
const DOCKER: (&str, &str) = ("BAKEOFF_TEST_DOCKER", "1");

/// Switches on the tests that need a cluster. If it is set already, they use that of the
/// kubeconfig's current context.
const CLUSTER: &str = "BAKEOFF_TEST_KUBERNETES";

/// The oldest compiler that `Cargo.toml` promises.
const OLDEST_RUST: &str = env!("CARGO_PKG_RUST_VERSION");

/// Built without optimisation: it runs for a second, and compiling it is what takes time.
const DENY: &str = "cargo install cargo-deny --locked --debug";

/// Systems on which results are read: nothing is measured there. Their code is checked, and neither
/// linked nor run.
const OTHER_SYSTEMS: [&str; 2] = ["aarch64-apple-darwin", "x86_64-pc-windows-gnu"];

/// Private items are documented as well, so links to them lead somewhere.
const RUSTDOC: Variables = &[(
    "RUSTDOCFLAGS",
    "-D warnings -A rustdoc::private-intra-doc-links",
)];

const DOCUMENTATION: &str = "cargo doc --workspace --no-deps --document-private-items --locked";

/// Twice as long as all tests take on two cores: after this time one of them hangs.
const TESTS_MAX: &str = "40m";

/// Set if CI can fetch the advisory database and requires it.
const ADVISORIES: &str = "BAKEOFF_CI_ADVISORIES";

/// Format, lints (also for other systems), tidy, scripts, documentation, everything of [`test()`],
/// dependencies, the oldest compiler.
pub(crate) fn ci(root: &Path) -> anyhow::Result<()> {
    finished(root, |chores| {
        chores.run("format", "cargo fmt --all --check")?;
        chores.step("tidy", |chores| tidy::tidy(chores.root()))?;
        let clippy = "cargo clippy --workspace --all-targets --locked -- -D warnings";
        chores.run("lints", clippy)?;
        other_systems(chores)?;
        scripts(chores)?;
        let oldest = install_oldest_rust(root);
        if let Err(error) = &oldest {
            chores.note(format!("NOT CHECKED: Rust {OLDEST_RUST}: {error:#}"));
        }
        // Compiled while tests wait for the cluster, and judged after them.
        let mut beside = vec![(DOCUMENTATION.to_owned(), RUSTDOC)];
        if !has_deny() {
            beside.push((DENY.to_owned(), &[]));
        }
        if oldest.is_ok() {
            beside.push((oldest_rust_line(), &[]));
        }
        let needs = Needs::read()?;
        everything(chores, Contenders::Sampled, &needs, &beside)?;
        chores.run_with("documentation", DOCUMENTATION, RUSTDOC)?;
        dependencies(chores)?;
        match oldest {
            Ok(()) => oldest_rust(chores),
            Err(_) => Ok(()),
        }
    })
}

/// Which contenders of the suites are built and verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Contenders {
    /// The contenders that changed lately by the ledger of their suite, or a sample.
    Sampled,
    /// All of them.
    All,
}

/// All tests of the workspace, then the suites end to end: real processes and containers, real
/// backends, real JDKs, and a report.
pub(crate) fn test(root: &Path, contenders: Contenders, needs: &Needs) -> anyhow::Result<()> {
    finished(root, |chores| everything(chores, contenders, needs, &[]))
}

/// Builds and verifies contenders, and enters them into the ledgers of their suites. Without a
/// suite, these are the contenders that changed since they were verified.
pub(crate) fn verify(
    root: &Path,
    suite: Option<&str>,
    contenders: &[String],
    needs: &Needs,
) -> anyhow::Result<()> {
    let mut chosen = Vec::new();
    for mut one in suites(root)? {
        let outdated = Ledger::read(root, &one)?.outdated(root, &one)?;
        match suite.map(|suite| suite.trim_end_matches('/')) {
            Some(named) if named == one.folder => one.only(contenders)?,
            Some(_) => continue,
            None if outdated.is_empty() => continue,
            None => one.only(&outdated)?,
        }
        chosen.push(one);
    }
    match (suite, chosen.is_empty()) {
        (Some(suite), true) => {
            bail!("{suite}: no such suite; they are folders such as suites/tapir")
        }
        (None, true) => say("all contenders are as they were when they were verified"),
        _ => {}
    }
    finished(root, |chores| {
        chores.run("program compiled", "cargo build --locked --bin bakeoff")?;
        let offline = Offline::new(chores)?;
        ending_engine(chores, &offline, |chores| {
            let failures = needs.install(root);
            let docker = engine(&offline);
            noted(chores, &failures, docker.as_ref().err());
            for suite in &mut chosen {
                suite.without(&failures.contenders);
                suite.verify(chores, docker.is_ok())?;
                suite.enter(root)?;
            }
            Ok(())
        })
    })
}

/// The workspace compiles with the oldest Rust that it promises.
pub(crate) fn msrv(root: &Path) -> anyhow::Result<()> {
    finished(root, |chores| {
        install_oldest_rust(root)?;
        oldest_rust(chores)
    })
}

/// Licences, sources and advisories of the dependencies.
pub(crate) fn deny(root: &Path) -> anyhow::Result<()> {
    finished(root, dependencies)
}

/// The documentation site.
pub(crate) fn site(root: &Path) -> anyhow::Result<()> {
    finished(root, |chores| {
        chores.run("program compiled", "cargo build --locked --bin bakeoff")?;
        site::site(chores)
    })
}

/// The crates as they would be published.
pub(crate) fn package(root: &Path) -> anyhow::Result<()> {
    finished(root, package::package)
}

/// Does some work, then says what took how long, also when it failed.
fn finished(
    root: &Path,
    work: impl FnOnce(&mut Chores<'_>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut chores = Chores::new(root);
    let result = work(&mut chores);
    chores.finish();
    result
}

/// Everything of [`test()`]; `beside` are commands that run while tests wait for the cluster.
fn everything(
    chores: &mut Chores<'_>,
    contenders: Contenders,
    needs: &Needs,
    beside: &[(String, Variables)],
) -> anyhow::Result<()> {
    let root = chores.root();
    let mut suites = suites(root)?;
    let unverified = findings(root, &suites)?;
    ensure!(unverified.is_empty(), "{}", unverified.join("\n"));
    if contenders == Contenders::Sampled {
        for suite in &mut suites {
            suite.sampled(root)?;
        }
    }
    let offline = Offline::new(chores)?;
    announce(needs, &suites, &offline);
    ending_engine(chores, &offline, |chores| {
        with_docker(chores, needs, &mut suites, &offline, beside)
    })
}

const ENGINE_STATUS: [&str; 2] = ["docker-engine", "status"];

/// Does some work; a Docker engine that was started for it ends with it.
fn ending_engine(
    chores: &mut Chores<'_>,
    offline: &Offline,
    work: impl FnOnce(&mut Chores<'_>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let was_there = offline.says(&ENGINE_STATUS).is_some();
    let result = work(chores);
    if !was_there && let Err(error) = offline.run(&["docker-engine", "stop"]) {
        chores.note(format!("NOT STOPPED: Docker: {error:#}"));
    }
    result
}

/// Says what could not be installed or started.
fn noted(chores: &mut Chores<'_>, failures: &Failures, docker: Option<&anyhow::Error>) {
    for line in &failures.lines {
        chores.note(line.clone());
    }
    if let Some(error) = docker {
        chores.note(format!("NOT TESTED: Docker: {error:#}"));
    }
}

/// Whether the tests have a cluster that is provided.
fn has_cluster() -> bool {
    env::var_os(CLUSTER).is_some()
}

const GIVEN_CLUSTER: &str = "make namespaces in the cluster of the kubeconfig's current context, \
                             drain one of its nodes for a moment, and remove them";

fn announce(needs: &Needs, suites: &[Suite], offline: &Offline) {
    say("This is about to");
    needs.announce();
    say(if offline.says(&ENGINE_STATUS).is_some() {
        "- use the Docker engine that runs, and make the base images that it lacks"
    } else {
        "- install Docker if need be, start an engine, make base images, and stop it at the end"
    });
    let cluster = match has_cluster() {
        true => Some(GIVEN_CLUSTER.to_owned()),
        false => offline.says(&["cluster", "plan"]),
    };
    if let Some(cluster) = cluster {
        say(&format!("- {}", cluster.trim_end()));
    }
    say("- install mdBook by cargo if it is missing, and build the documentation site");
    say("- package the crates, and install them into a temporary folder");
    say("- start servers on the loopback interface, in separate control groups");
    for suite in suites {
        say(&format!("- build and start {}", suite.describe()));
    }
    say("What it builds and fetches is kept below the caches of Cargo, Maven and bakeoff.");
}

fn with_docker(
    chores: &mut Chores<'_>,
    needs: &Needs,
    suites: &mut [Suite],
    offline: &Offline,
    beside: &[(String, Variables)],
) -> anyhow::Result<()> {
    let root = chores.root();
    // Compilers use all cores, and what is fetched meanwhile waits for the network.
    let (docker, prepared, failures, compiled) = thread::scope(|scope| {
        let host = scope.spawn(|| {
            let failures = needs.install(root);
            let cluster = match has_cluster() {
                true => Ok(Exported::new()),
                false => offline.run(&["cluster", "build"]),
            };
            (engine(offline), cluster, failures)
        });
        let compiled = chores.run(
            "tests compiled, host prepared",
            "cargo test --workspace --locked --no-run",
        );
        let (docker, prepared, failures) = match host.join() {
            Ok(prepared) => prepared,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        (docker, prepared, failures, compiled)
    });
    compiled?;
    noted(chores, &failures, docker.as_ref().err());
    tests(chores, docker.as_deref().ok())?;
    for suite in &mut *suites {
        suite.without(&failures.contenders);
    }
    let mut prepared_meanwhile = compiling(suites)?;
    prepared_meanwhile.extend_from_slice(beside);
    // These tests mostly wait for the cluster.
    chores.beside(
        "contenders, tools, oldest Rust built",
        &prepared_meanwhile,
        |chores| in_cluster(chores, offline, prepared, docker.as_deref().ok()),
    )?;
    let mut failed = Vec::new();
    for suite in suites {
        // What is wrong with one suite says nothing about the next.
        if let Err(error) = suite.check(chores, docker.is_ok()) {
            failed.push(format!("{error:#}"));
        }
    }
    ensure!(failed.is_empty(), "{}", failed.join("\n"));
    site::site(chores)?;
    package::package(chores)?;
    say("end to end: what is not named as left out was verified and measured, see above");
    Ok(())
}

/// The commands that build what the parts after the tests need, with their variables.
fn compiling(suites: &[Suite]) -> anyhow::Result<Vec<(String, Variables)>> {
    let mut commands: Vec<(String, Variables)> = suites
        .iter()
        .map(Suite::building)
        .collect::<anyhow::Result<_>>()?;
    commands.extend(site::installing().map(|line| (line.to_owned(), &[] as Variables)));
    Ok(commands)
}

/// A Docker engine with the base images. Contenders whose base cannot be made fail later, by name.
fn engine(offline: &Offline) -> anyhow::Result<Exported> {
    let exported = offline.run(&["docker-engine", "start"])?;
    offline.run(&["base-images"])?;
    Ok(exported)
}

/// The tests of the workspace, those of real things switched on.
///
/// `docker` is what the engine exports: some of the tests have a separate cache, in which the
/// engine's socket is not.
fn tests(chores: &mut Chores<'_>, docker: Option<&[(String, String)]>) -> anyhow::Result<()> {
    let mut switches = vec![
        ("BAKEOFF_TEST_ELASTICSEARCH", "1"),
        ("BAKEOFF_TEST_POSTGRES", "1"),
        ("BAKEOFF_TEST_SSH", "1"),
        ("BAKEOFF_TEST_TUTORIAL", "1"),
    ];
    if let Some(exported) = docker {
        switches.push(DOCKER);
        switches.extend(
            exported
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_str())),
        );
    }
    // Many tests wait for what they started.
    let threads = (thread::available_parallelism().map_or(1, usize::from) + 1).to_string();
    switches.push(("RUST_TEST_THREADS", &threads));
    let line = format!("timeout {TESTS_MAX} cargo test --workspace --locked --no-fail-fast");
    chores.run_with("tests", &line, &switches)
}

/// The tests that need a cluster, in one that is started for them.
fn in_cluster(
    chores: &mut Chores<'_>,
    offline: &Offline,
    prepared: anyhow::Result<Exported>,
    docker: Option<&[(String, String)]>,
) -> anyhow::Result<()> {
    if has_cluster() {
        // Then they were among the other tests.
        return Ok(());
    }
    let outcome = match prepared.and_then(|_| offline.run(&["cluster", "start"])) {
        Ok(variables) => tests_in_cluster(chores, &variables, docker),
        Err(error) => {
            chores.note(format!("NOT TESTED: Kubernetes: {error:#}"));
            Ok(())
        }
    };
    offline.run(&["cluster", "stop"])?;
    outcome
}

/// The tests that need a cluster.
fn tests_in_cluster(
    chores: &mut Chores<'_>,
    variables: &[(String, String)],
    docker: Option<&[(String, String)]>,
) -> anyhow::Result<()> {
    let mut switches = vec![(CLUSTER, "1")];
    switches.extend(docker.map(|_| DOCKER));
    // The engine by its variable, too: these tests have a separate cache, where no engine is.
    let variables = variables.iter().chain(docker.unwrap_or_default());
    switches.extend(variables.map(|(name, value)| (name.as_str(), value.as_str())));
    // Of the whole workspace, so that nothing is compiled again with other features.
    let line = "cargo test --locked --workspace --test it kubernetes:: -- --test-threads=1";
    chores.run_with("tests in a cluster", line, &switches)
}

/// The commands that only read results, for systems that this one has a standard library of.
fn other_systems(chores: &mut Chores<'_>) -> anyhow::Result<()> {
    for target in OTHER_SYSTEMS {
        let library = format!("rustup target add {target}");
        if let Err(error) = command(chores.root(), &library, &[]) {
            chores.note(format!("NOT CHECKED: {target}: {error:#}"));
            continue;
        }
        let line = format!("cargo clippy -p bakeoff --locked --target {target} -- -D warnings");
        chores.run(&format!("lints for {target}"), &line)?;
    }
    Ok(())
}

/// The shell scripts of the tree.
fn scripts(chores: &mut Chores<'_>) -> anyhow::Result<()> {
    let scripts = tracked(chores.root(), "*.sh")?;
    let names: Vec<String> = scripts
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    chores.step("scripts", |chores| {
        if !works("shellcheck", &["--version"])
            && let Err(error) = install(chores.root(), &["shellcheck"])
        {
            chores.note(format!("NOT CHECKED: scripts: {error:#}"));
            return Ok(());
        }
        let line = format!("shellcheck .ci/run {}", names.join(" "));
        command(chores.root(), &line, &[])
    })
}

fn has_deny() -> bool {
    works("cargo", &["deny", "--version"])
}

/// Licences, bans and sources are checked always, advisories if their database can be fetched.
fn dependencies(chores: &mut Chores<'_>) -> anyhow::Result<()> {
    if !has_deny() {
        chores.run("cargo-deny installed", DENY)?;
    }
    chores.run(
        "licences and sources",
        "cargo deny check licenses bans sources",
    )?;
    if !works("cargo", &["deny", "fetch", "db"]) {
        let missing = "advisories: their database cannot be fetched from here";
        if env::var_os(ADVISORIES).is_some() {
            bail!("{missing}, and {ADVISORIES} is set");
        }
        chores.note(format!("NOT CHECKED: {missing}"));
        return Ok(());
    }
    chores.run("advisories", "cargo deny --offline check advisories")
}

/// Installs the oldest compiler if it is missing.
fn install_oldest_rust(root: &Path) -> anyhow::Result<()> {
    if works("rustup", &["run", OLDEST_RUST, "rustc", "--version"]) {
        return Ok(());
    }
    install_toolchain(root, OLDEST_RUST)
}

/// In a separate folder: the artifacts of one compiler would replace those of the other.
fn oldest_rust_line() -> String {
    format!("rustup run {OLDEST_RUST} cargo check --workspace --locked --target-dir target/msrv")
}

/// The workspace compiles with the oldest Rust that it promises.
fn oldest_rust(chores: &mut Chores<'_>) -> anyhow::Result<()> {
    chores.run("oldest Rust", &oldest_rust_line())
}

/// Writes the JSON Schemas.
pub(crate) fn schema(root: &Path) -> anyhow::Result<()> {
    let line = "cargo run --quiet --bin bakeoff -- schema --write docs/schema";
    command(root, line, &[])
}
