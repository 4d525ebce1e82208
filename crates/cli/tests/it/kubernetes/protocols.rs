//! Contenders that speak TLS and gRPC as Pods.

use serde_json::Value;

use super::{image, of_kind, records, run};
use crate::world::World;
use crate::{grpc, tls};

/// A contender of an image that listens on the port of its suite.
fn contender(world: &World, image: &str, env: &str) {
    let text = format!(
        "[contender]\nname = \"good\"\ndescribe = \"Speaks.\"\nlanguage = \"rust\"\n\
         [image]\nname = \"{image}\"\n[env]\n{env}\n"
    );
    world.write("contenders/good/contender.toml", &text);
}

/// All checks were good, and every request of the load had a right response.
fn are_right(records: &[Value]) {
    for check in of_kind(records, "check") {
        assert_eq!(check["outcome"], "good", "{check}");
    }
    let mut measured = 0;
    for slice in of_kind(records, "interval").filter(|slice| slice["warm_up"] != true) {
        assert!(slice["load"]["requests"].as_u64() > Some(0), "{slice}");
        let errors = slice["load"]["errors"].as_object();
        assert!(errors.is_none_or(serde_json::Map::is_empty), "{slice}");
        measured += 1;
    }
    assert!(measured > 0);
}

/// The contender's certificates are in its image; those of the clients are files of this host.
/// Without keep-alive each request has a handshake.
pub(super) fn contenders_speak_tls() {
    let world = tls::world(tls::TRUSTED);
    let closed = "\n[benchmark.transport]\nkeep-alive = false\n";
    let suite = world.read("suite/suite.toml");
    world.write("suite.toml", &format!("{suite}{closed}"));
    let folder = world.path().join("tls");
    let image = image(&tls::program(), Some(&folder), &world.path());
    let env = "CERTIFICATE = \"/recordings/localhost.pem\"\n\
               KEY = \"/recordings/localhost-key.pem\"\nCLIENT_CA = \"/recordings/ca.pem\"";
    contender(&world, &image, env);
    let ran = run(&world, "--profile tiny --out OUT");
    ran.check(0, &["checks 3/3", "report: "]);
    let records = records(&world, "out");
    are_right(&records);
    for slice in of_kind(&records, "interval") {
        let load = &slice["load"];
        assert!(
            load["connections"]["reconnects"].as_u64() > Some(0),
            "{slice}"
        );
        assert!(load["connecting_ns"].as_u64() > Some(0), "{slice}");
    }
    let results = world.read("out/results.md");
    assert!(
        results.contains("a connection for each request over TLS"),
        "{results}"
    );
}

pub(super) fn contenders_speak_grpc() {
    let world = World::new(&[]);
    let call = "path = \"/helloworld.Greeter/SayHello\"\nbody = '{\"name\": \"Jan\"}'\n\
                expect = { values = { \"$.message\" = \"Hello Jan\" } }\n";
    let suite = world.read("suite/suite.toml");
    let (head, _) = suite.split_once("[[benchmark]]").unwrap();
    let files = "lifecycle = false\n\n[suite.grpc]\nfiles = [\"hello.proto\"]\n";
    let head = head.replacen("ready-path = \"/\"\n", files, 1);
    let suite = format!(
        "{head}[[benchmark]]\nname = \"hello\"\ndescribe = \"One call.\"\n\
         [benchmark.transport]\nin-flight = 4\n[[benchmark.request]]\n{call}"
    );
    world.write("suite.toml", &suite);
    world.write("hello.proto", grpc::PROTO);
    let fails = "[[check]]\ngroup = \"hello\"\nname = \"no name\"\n\
                 path = \"/helloworld.Greeter/SayHello\"\nexpect = { grpc-status = [3] }\n";
    let check = format!("[[check]]\ngroup = \"hello\"\nname = \"Jan\"\n{call}{fails}");
    world.write("checks/all.toml", &check);
    let image = image(&grpc::program(), None, &world.path());
    contender(&world, &image, "");
    let ran = run(&world, "--profile tiny --out OUT");
    ran.check(0, &["checks 2/2", "report: "]);
    are_right(&records(&world, "out"));
    let results = world.read("out/results.md");
    assert!(results.contains("gRPC, 4 calls"), "{results}");
}
