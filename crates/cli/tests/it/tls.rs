//! Contenders that speak TLS: they are awaited, checked and loaded over it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};

use crate::world::{Ran, Service, World};

pub(crate) fn program() -> PathBuf {
    let binary = Path::new(env!("CARGO_BIN_EXE_bakeoff"));
    binary.with_file_name("examples").join("tls-contender")
}

/// Writes an authority, a certificate of `localhost`, and one of a client, all signed by it.
fn write_certificates(world: &World) {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    world.write("tls/ca.pem", &params.self_signed(&key).unwrap().pem());
    let issuer = Issuer::new(params, key);
    for name in ["localhost", "client"] {
        let own = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        let certificate = params.signed_by(&own, &issuer).unwrap();
        world.write(&format!("tls/{name}.pem"), &certificate.pem());
        world.write(&format!("tls/{name}-key.pem"), &own.serialize_pem());
    }
}

/// A suite of one contender that asks clients for a certificate.
pub(crate) fn world(tls: &str) -> World {
    let world = World::new(&["good"]);
    write_certificates(&world);
    let suite = world.read("suite/suite.toml");
    let table = format!("ready-path = \"/\"\nlifecycle = false\n\n[suite.tls]\n{tls}\n");
    world.write(
        "suite.toml",
        &suite.replacen("ready-path = \"/\"\n", &table, 1),
    );
    let file = "contenders/good/contender.toml";
    let contender = world.read(&format!("suite/{file}"));
    let old = crate::world::program().display().to_string();
    let folder = world.path().join("tls");
    let folder = folder.display();
    let env = format!(
        "[env]\nCERTIFICATE = \"{folder}/localhost.pem\"\nKEY = \"{folder}/localhost-key.pem\"\n\
         CLIENT_CA = \"{folder}/ca.pem\"\n"
    );
    let contender = contender.replace(&old, &program().display().to_string());
    world.write(file, &contender.replacen("[env]\n", &env, 1));
    world
}

/// Both sides show a certificate of the suite's own authority.
pub(crate) const TRUSTED: &str =
    "ca = \"tls/ca.pem\"\ncertificate = \"tls/client.pem\"\nkey = \"tls/client-key.pem\"";

#[test]
fn contenders_are_awaited_checked_and_loaded_over_tls() {
    let world = world(TRUSTED);
    world
        .run("run SUITE --profile tiny --out OUT")
        .check(0, &[]);
    assert!(world.read("out/results.md").contains("HTTP/1.1 over TLS"));
    let records = fs::read_to_string(world.out().join("records/item.good.r1.a1.jsonl")).unwrap();
    assert!(records.contains("\"outcome\":\"completed\""), "{records}");
    let failed = records
        .lines()
        .find(|line| line.contains("\"outcome\":\"bad\""));
    assert_eq!(failed, None);
}

#[test]
fn a_certificate_that_is_not_trusted_is_named() {
    let own = world("certificate = \"tls/client.pem\"\nkey = \"tls/client-key.pem\"");
    own.run("run SUITE --profile tiny --out OUT")
        .check(2, &["a TLS handshake that fails", "certificate"]);
    let missing = world("ca = \"tls/nowhere.pem\"");
    missing
        .run("run SUITE --profile tiny --out OUT")
        .check(2, &["tls/nowhere.pem"]);
}

#[test]
fn a_url_over_tls_is_loaded_with_a_certificate() {
    let world = world(TRUSTED);
    let folder = world.path().join("tls");
    let file = |name: &str| folder.join(name).display().to_string();
    let port = world.port().to_string();
    let mut command = Command::new(program());
    command.env("PORT", &port).stdout(Stdio::null());
    command
        .env("CERTIFICATE", file("localhost.pem"))
        .env("KEY", file("localhost-key.pem"));
    let service = command.env("CLIENT_CA", file("ca.pem")).spawn().unwrap();
    let _service = Service(service);
    let url = format!("https://localhost:{port}/item");
    let load = |more: &[&str]| {
        let mut command = world.command("load -c 2 -d 300ms -t 1");
        Ran::from(command.arg(&url).args(more).output().unwrap())
    };
    let (ca, certificate, key) = (file("ca.pem"), file("client.pem"), file("client-key.pem"));
    let trusted = ["--cacert", &ca, "--cert", &certificate, "--key", &key];
    load(&trusted).check(0, &["requests"]);
    load(&[&trusted[..], &["--tls-resume", "--no-keep-alive"]].concat()).check(0, &["requests"]);
    load(&["--cacert", &ca]).check(2, &["tls"]);
}
