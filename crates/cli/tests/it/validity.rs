//! Contenders whose numbers look good and are not: `run` and `load` name them for what they are.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::world::{World, program};

/// A contender on a separate port, killed at the end of the test.
struct Service {
    child: Child,
    port: u16,
}

impl Service {
    fn start(mode: &str) -> Self {
        let mut child = Command::new(program())
            .env("MODE", mode)
            .env("PORT", "0")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let line = lines.next().unwrap().unwrap();
        let port = line.rsplit(':').next().unwrap().parse().unwrap();
        // It logs each request; nothing may keep it waiting.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, port }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The output of `load` about a contender of this mode.
fn loaded(mode: &str, class: &str) {
    let world = World::new(&[]);
    let service = Service::start(mode);
    let url = format!("http://127.0.0.1:{}/item", service.port);
    let ran = world.run(&format!(
        "load {url} -c 4 -t 1 -d 2s --timeout 100ms --json"
    ));
    let object: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(object["fair"], false, "{object}");
    assert_eq!(object["validity"]["validity"], "invalid", "{object}");
    let errors = object["validity"]["reasons"]
        .as_array()
        .unwrap()
        .iter()
        .find(|reason| reason["reason"] == "errors")
        .unwrap_or_else(|| panic!("{object}"));
    assert_eq!(errors["verdict"], "invalid", "{object}");
    assert!(errors["classes"][class].as_u64() > Some(0), "{object}");
    let page = world.run(&format!("load {url} -c 4 -t 1 -d 1s --timeout 100ms"));
    page.check(0, &["verdict", "invalid:", class]);
}

/// The output of `run` about a contender of this mode.
fn ran(mode: &str, class: &str) {
    let world = World::new(&[mode]);
    world.change_suite(
        "warm-up = [1], connections = [2, 4]",
        "warm-up = [], connections = [4]",
    );
    world
        .run("run SUITE --profile tiny --out OUT")
        .check(2, &["Not ranked"]);
    let records = fs::read_dir(world.out().join("records")).unwrap();
    let text: String = records
        .map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap())
        .collect();
    let end = text.lines().last().unwrap();
    assert!(
        end.contains("4 connections: invalid: ") && end.contains(class),
        "{end}"
    );
    let csv = world.read("out/results.csv");
    let row = csv.lines().last().unwrap();
    assert!(row.contains("invalid") && row.contains(class), "{csv}");
    let ranking = world.read("out/results.md");
    let reason = "no valid number: ";
    assert!(
        ranking.contains(reason) && ranking.contains(class),
        "{ranking}"
    );
    assert!(!ranking.contains("Ranked: fair numbers"), "{ranking}");
}

#[test]
fn load_names_a_service_that_resets_three_in_ten() {
    loaded("resets", "reset");
}

#[test]
fn load_names_a_service_that_leaves_one_in_fifty_without_a_response() {
    loaded("hangs", "header-timeout");
}

#[test]
fn load_names_a_service_that_refuses_half_of_its_work_quickly() {
    loaded("overloaded", "unexpected-status");
}

#[test]
fn run_names_a_contender_that_resets_three_in_ten() {
    ran("resets", "reset");
}

#[test]
fn run_names_a_contender_that_refuses_half_of_its_work_quickly() {
    ran("overloaded", "unexpected-status");
}
