//! The cheapest limits of a service with a known limit: 500 requests per second, by a queue that
//! takes 2 ms for each.

use serde_json::Value;

use crate::world::{World, program, skipped};

fn size(world: &World, arguments: &[&str]) -> crate::world::Ran {
    let mut command = world
        .command("size --out OUT --get /item --connections 8 --warm-up 500ms --duration 500ms");
    command.args(["--memory", "64MiB", "--port", &world.port().to_string()]);
    command.args(arguments);
    command.arg(format!("shop={}", program().display()));
    crate::world::Ran::from(command.output().unwrap())
}

/// The outcome of sizing a service in this mode; `None` if limits cannot be enforced.
fn sizing(mode: &str, more: &[&str]) -> Option<Value> {
    if !rustix::process::geteuid().is_root() {
        skipped("sizing: limits take root");
        return None;
    }
    let world = World::new(&[]);
    let mode = format!("MODE={mode}");
    let slo = "p99 <= 60ms and errors <= 1%";
    let mut arguments = vec!["--env", &mode, "--rate", "800", "--slo", slo, "--json"];
    arguments.extend(more);
    let ran = size(&world, &arguments);
    ran.check(0, &[]);
    let last: Value = serde_json::from_str(ran.stdout.lines().last().unwrap()).unwrap();
    assert_eq!(last["event"], "sizing-ended", "{last}");
    Some(last["sizing"].clone())
}

#[test]
fn a_shape_that_is_killed_for_memory_has_no_capacity() {
    // The time is over after the first shape, so that no further limit is tried.
    let Some(sizing) = sizing("outgrows", &["--shapes", "0.5", "--within", "1s"]) else {
        return;
    };
    let shape = &sizing["shapes"][0];
    let killed_with = sizing["memory"]["outgrown_bytes"].as_u64();
    assert_eq!(killed_with, shape["memory_bytes"].as_u64(), "{sizing}");
    assert_eq!(shape.get("capacity_per_s"), None, "{sizing}");
    let without = shape["without"].as_str().unwrap();
    assert!(without.starts_with("killed for memory with"), "{sizing}");
}

#[test]
fn replicas_follow_from_the_rate_that_one_sustains() {
    let Some(sizing) = sizing("one-worker", &["--shapes", "0.5,64"]) else {
        return;
    };
    let memory = &sizing["memory"];
    let bytes = |name: &str| memory[name].as_u64().unwrap();
    assert!(bytes("lived_bytes") < bytes("limit_bytes"), "{memory}");
    assert!(bytes("limit_bytes") <= 80 << 20, "{memory}");
    let shapes = sizing["shapes"].as_array().unwrap();
    assert_eq!(shapes.len(), 1, "{sizing}");
    let not_measured = sizing["not_measured"][0].as_str().unwrap();
    assert!(not_measured.starts_with("64 CPU: not measured"), "{sizing}");
    let shape = &shapes[0];
    if let Some(rate) = shape["capacity_per_s"]["point"].as_f64() {
        assert!((100.0..900.0).contains(&rate), "{shape}");
        assert!(shape["replicas"].as_u64().unwrap() >= 1, "{shape}");
        assert!(
            sizing["sentence"].as_str().unwrap().contains("replica"),
            "{sizing}"
        );
    } else {
        let why = shape["without"].as_str().unwrap();
        skipped(&format!("replicas: no rate was found, {why}"));
    }
}

#[test]
fn what_cannot_be_sized_is_said() {
    let world = World::new(&[]);
    let objective = ["--rate", "10", "--slo", "p99 <= 1s"];
    let with = |more: &[&str]| {
        let all: Vec<&str> = objective.iter().chain(more).copied().collect();
        size(&world, &all)
    };
    with(&["--shapes", "64"]).check(1, &["64 CPU: not measured", "--shapes"]);
    with(&["--cpus", "1"]).check(1, &["several CPU limits are measured", "--shapes"]);
    with(&["--env", "MODE=exits"]).check(1, &["exited with code 7"]);
    let mut command = world.command("size --get / --rate 1 --out OUT a=url:http://127.0.0.1:1");
    command.args(["--slo", "p99 <= 1s"]);
    crate::world::Ran::from(command.output().unwrap())
        .check(1, &["a service that runs already cannot be given limits"]);
}
