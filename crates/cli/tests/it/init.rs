//! Suites to begin with.

use std::fs;

use crate::world::{World, program};

/// A description of what the world's contenders answer.
const DESCRIPTION: &str = r#"
openapi: 3.1.0
paths:
  /item:
    get:
      responses:
        "200": { content: { application/json: { example: { name: Brno } } } }
    delete: { responses: {} }
"#;

#[test]
fn the_template_can_be_planned_and_its_contenders_listed() {
    let world = World::new(&[]);
    world
        .run("init demo")
        .check(0, &["bakeoff verify demo", "bakeoff run demo"]);
    world
        .run("plan demo")
        .check(0, &["threads", "asyncio", "6 runs", "no backend"]);
    world
        .run("init demo")
        .check(1, &["demo: holds a suite already", "hint:"]);
}

#[test]
fn the_template_verifies_where_there_is_python() {
    let world = World::new(&[]);
    world.run("init demo").check(0, &[]);
    let suite = world.read("demo/suite.toml");
    let port = world.port().to_string();
    let file = world.out().with_file_name("demo/suite.toml");
    fs::write(file, suite.replace("8080", &port)).unwrap();
    world
        .run("verify demo")
        .check(0, &["threads: functional 1/1", "asyncio: functional 1/1"]);
}

#[test]
fn a_description_becomes_requests_that_verify() {
    let world = World::new(&[]);
    fs::write(world.out().with_file_name("api.yaml"), DESCRIPTION).unwrap();
    let mut command = world.command(&format!(
        "init shop --openapi api.yaml --port {}",
        world.port()
    ));
    command.arg(format!("good=env MODE=good {}", program().display()));
    let ran = crate::world::Ran::from(command.output().unwrap());
    ran.check(0, &["1 request of the description, 1 left out"]);
    let checks = world.read("shop/checks/all.toml");
    assert!(
        checks.contains("#   DELETE /item: it may change data"),
        "{checks}"
    );
    world.run("verify shop").check(0, &["good: functional 1/1"]);
    world
        .run("init other --openapi api.yaml")
        .check(1, &["NAME=SERVICE"]);
    fs::write(world.out().with_file_name("none.json"), "{}").unwrap();
    let mut command = world.command("init other --openapi none.json");
    command.arg("a=b");
    crate::world::Ran::from(command.output().unwrap())
        .check(1, &["none.json: no OpenAPI description"]);
}
