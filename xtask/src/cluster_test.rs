//! The tests in a cluster: a cluster, a static program for its Pods, one test binary.

use std::path::Path;

use crate::chores::{Chores, command};
use crate::cluster;

/// Switches on the tests in a cluster.
const SWITCH: (&str, &str) = ("BAKEOFF_TEST_KUBERNETES", "1");

/// Runs them where a cluster is to be had; says loudly where none is.
pub(crate) fn cluster_test(chores: &mut Chores<'_>) -> anyhow::Result<()> {
    let root = chores.root();
    let was_there = cluster::answering().is_ok();
    let mut found = None;
    chores.step("cluster started, program for Pods compiled", |chores| {
        let prepared = static_program(root).and_then(|()| cluster::start(root));
        match prepared {
            Ok(cluster) => found = Some(cluster),
            Err(error) => chores.note(format!("NOT TESTED: Kubernetes: {error:#}")),
        }
        Ok(())
    })?;
    let Some(cluster) = found else {
        return Ok(());
    };
    let program = root.join(program());
    let mut variables = cluster.variables();
    variables.push(("BAKEOFF_POD_PROGRAM", program.display().to_string()));
    let mut all: Vec<(&str, &str)> = vec![SWITCH];
    all.extend(
        variables
            .iter()
            .map(|(name, value)| (*name, value.as_str())),
    );
    let line = "cargo test --package bakeoff --test it --locked -- --nocapture kubernetes::";
    let tested = chores.run_with("tests in a cluster", line, &all);
    // One that was started for the tests ends with them.
    if !was_there && let Err(error) = cluster::stop(root) {
        chores.note(format!("NOT STOPPED: the cluster: {error:#}"));
    }
    tested
}

/// Where Pods can run anything: a program that needs no file of the image.
fn target() -> String {
    format!("{}-unknown-linux-musl", std::env::consts::ARCH)
}

fn program() -> String {
    format!("target/{}/debug/bakeoff", target())
}

fn static_program(root: &Path) -> anyhow::Result<()> {
    let target = target();
    command(root, &format!("rustup target add {target}"), &[])?;
    let line = format!("cargo build --locked --target {target} --bin bakeoff");
    command(root, &line, &[])
}
