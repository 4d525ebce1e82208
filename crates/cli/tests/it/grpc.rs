//! Contenders that speak gRPC: they are awaited, checked and loaded by calls.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::world::{Ran, Service, World};

pub(crate) const PROTO: &str = r#"
syntax = "proto3";
package helloworld;
service Greeter {
  rpc SayHello(HelloRequest) returns (HelloReply);
}
message HelloRequest { string name = 1; }
message HelloReply { string message = 1; }
"#;

const PATH: &str = "/helloworld.Greeter/SayHello";

pub(crate) fn program() -> PathBuf {
    let binary = Path::new(env!("CARGO_BIN_EXE_bakeoff"));
    binary.with_file_name("examples").join("grpc-contender")
}

/// A folder with the description of the messages.
fn world() -> World {
    let world = World::new(&["good"]);
    world.write("hello.proto", PROTO);
    world
}

fn proto(world: &World) -> String {
    let file = world.path().join("hello.proto");
    file.display().to_string()
}

/// Two services of the same program, of which one does more for each call.
fn duel(world: &World, more: &[&str]) -> Ran {
    let mut command = world.command("duel");
    let program = program().display().to_string();
    command
        .arg(format!("one={program}"))
        .arg(format!("two=env EXTRA=3000 {program}"))
        .args(["--path", PATH, "--proto", &proto(world)])
        .args(["--port", &world.port().to_string()])
        .args(more);
    Ran::from(command.output().unwrap())
}

#[test]
fn services_are_compared_by_calls() {
    let world = world();
    let suite = world.path().join("saved");
    let saved = suite.display().to_string();
    let sets = [
        "--runs",
        "2",
        "-d",
        "300ms",
        "--warm-up",
        "200ms",
        "-c",
        "4",
    ];
    let results = world.path().join("results");
    let out = results.display().to_string();
    let body = [
        "--body",
        r#"{"name": "Jan"}"#,
        "--save",
        &saved,
        "--out",
        &out,
    ];
    duel(&world, &[&sets[..], &body].concat()).check(
        0,
        &[
            "all responses are equal: 0 (OK)",
            "helloworld.Greeter/SayHello",
        ],
    );
    let results = fs::read_to_string(results.join("results.md")).unwrap();
    assert!(results.contains("gRPC, one call at a time"), "{results}");
    let file = fs::read_to_string(suite.join("suite.toml")).unwrap();
    assert!(file.contains("[suite.grpc]"), "{file}");
    assert!(file.contains("Hello Jan"), "{file}");
    let mut again = world.command("verify --profile duel");
    Ran::from(again.arg(&suite).output().unwrap()).check(0, &["one: functional 1/1"]);
}

#[test]
fn calls_that_fail_are_not_measured() {
    let world = world();
    duel(&world, &[]).check(2, &["3 (INVALID_ARGUMENT)", "no name", "are not measured"]);
    let other = ["--body", r#"{"nmae": "Jan"}"#];
    duel(&world, &other).check(1, &["helloworld.HelloRequest", "nmae"]);
}

#[test]
fn one_method_is_loaded() {
    let world = world();
    let port = world.port().to_string();
    let mut command = Command::new(program());
    command.env("PORT", &port).stdout(Stdio::null());
    let _service = Service(command.spawn().unwrap());
    let load = |path: &str, body: &str| {
        let mut command = world.command("load -c 2 --streams 4 -d 300ms -t 1");
        let url = format!("http://127.0.0.1:{port}{path}");
        command.args([&url, "--proto", &proto(&world), "--body", body]);
        Ran::from(command.output().unwrap())
    };
    load(PATH, r#"{"name": "Jan"}"#).check(0, &["requests"]);
    load(PATH, "{}").check(2, &["(gRPC status 3", "(INVALID_ARGUMENT)"]);
    load("/helloworld.Greeter/Wave", "{}").check(1, &["no method at the path"]);
}
