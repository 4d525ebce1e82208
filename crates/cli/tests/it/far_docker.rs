//! Containers of a Docker engine on another host: one that is reached over TCP, played by another
//! address of this host, and one that is reached by SSH.

use std::fs;
use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread;

use crate::ssh_server::{SSH, SshServer};
use crate::world::{Ran, World, program};

/// Switches on the tests that need a Docker engine with the base images.
const DOCKER: &str = "BAKEOFF_TEST_DOCKER";

/// The shell ends on SIGTERM, which the first process of a container ignores otherwise.
const DOCKERFILE: &str = "FROM bakeoff-base/debian:latest
COPY program /program
ENTRYPOINT [\"/bin/sh\", \"-c\", \"trap 'exit 0' TERM; /program & wait\"]
";

fn is_on(switch: &str) -> bool {
    let on = std::env::var(switch).is_ok();
    if !on {
        #[expect(clippy::print_stderr, reason = "what is skipped must be seen")]
        {
            eprintln!("SKIPPED an engine on another host: set {switch}=1");
        }
    }
    on
}

/// The socket of the engine that other tests use.
fn socket() -> String {
    let host = std::env::var("DOCKER_HOST").unwrap_or_default();
    let path = host
        .strip_prefix("unix://")
        .unwrap_or("/var/run/docker.sock");
    path.to_owned()
}

/// The engine at an address of the loopback network that is not this host's usual one.
fn over_tcp() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.2:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for client in listener.incoming() {
            let client = client.unwrap();
            let engine = UnixStream::connect(socket()).unwrap();
            let (mut to_engine, mut to_client) =
                (engine.try_clone().unwrap(), client.try_clone().unwrap());
            let (mut from_client, mut from_engine) = (client, engine);
            thread::spawn(move || {
                let _ = io::copy(&mut from_client, &mut to_engine);
                let _ = to_engine.shutdown(Shutdown::Write);
            });
            thread::spawn(move || {
                let _ = io::copy(&mut from_engine, &mut to_client);
                let _ = to_client.shutdown(Shutdown::Write);
            });
        }
    });
    address
}

/// A duel of a compose service against itself on the engine at `docker_host`; `path` is searched
/// for programs first, and `more` are further options.
fn duel(world: &World, docker_host: &str, path: &Path, more: &str) -> String {
    let port = world.port();
    let compose = format!(
        "services:\n  web:\n    build: .\n    environment: {{ MODE: good, PORT: {port} }}\n    \
         expose: [\"{port}\"]\n"
    );
    world.write("compose.yaml", &compose);
    world.write("Dockerfile", DOCKERFILE);
    fs::copy(program(), world.path().join("program")).unwrap();
    let arguments = format!(
        "duel --get /item a=compose:web b=compose:web --compose {}/compose.yaml --runs 1 \
         --duration 1s --warm-up 1s --connections 4 --memory 64MiB --out OUT --verbose {more}",
        world.path().display()
    );
    let mut command = world.command(&arguments);
    let usual = std::env::var("PATH").unwrap();
    command.env("DOCKER_HOST", docker_host);
    command.env("PATH", format!("{}:{usual}", path.display()));
    let ran = Ran::from(command.output().unwrap());
    ran.check(0, &[]);
    ran.unwrapped().stderr
}

/// Contenders took turns at an address of another host, which the records and the report name.
fn check(world: &World, stderr: &str, address: &str) {
    assert!(stderr.contains("containers of "), "{stderr}");
    for record in fs::read_dir(world.out().join("records")).unwrap() {
        let record = fs::read_to_string(record.unwrap().path()).unwrap();
        for expected in [
            r#""traffic_path":"host network""#,
            r#""round_trip_ns":"#,
            r#""user_ns":"#,
        ] {
            assert!(record.contains(expected), "{expected} is not in {record}");
        }
    }
    assert!(stderr.contains(address), "{stderr}");
    let report = fs::read_to_string(world.out().join("results.md")).unwrap();
    assert!(report.contains("### Sets"), "{report}");
}

#[test]
fn containers_of_another_host_take_turns_on_ports_of_their_own() {
    if !is_on(DOCKER) {
        return;
    }
    let world = World::new(&[]);
    let address = format!("tcp://{}", over_tcp());
    let stderr = duel(&world, &address, Path::new("/nowhere"), "");
    check(&world, &stderr, &address);
}

#[test]
fn an_engine_is_reached_by_ssh_and_nothing_of_it_is_left() {
    if !is_on(DOCKER) || !is_on(SSH) {
        return;
    }
    let world = World::new(&[]);
    let server = SshServer::start(&world);
    let address = format!("{}{}", server.address, socket());
    let load = SshServer::named(&world, "bench-c");
    let more = format!("--load-host {}", load.address);
    let stderr = duel(&world, &address, &server.programs, &more);
    check(&world, &stderr, &address);
    assert!(stderr.contains("; load generator bench-c"), "{stderr}");
    assert_eq!(world.leftovers(0), Vec::<String>::new());
    let refused = format!("ssh://root@127.0.0.1:{}", world.port() + 5);
    let mut command = world.command("duel --get / a=image:a b=image:b --out OUT-2");
    let usual = std::env::var("PATH").unwrap();
    command.env("DOCKER_HOST", &refused);
    command.env("PATH", format!("{}:{usual}", server.programs.display()));
    let ran = Ran::from(command.output().unwrap());
    ran.check(
        1,
        &["no Docker engine responds", "ssh: ", "Connection refused"],
    );
}
