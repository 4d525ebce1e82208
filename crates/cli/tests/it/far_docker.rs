//! Containers of a Docker engine on another host: one that is reached over TCP, played by another
//! address of this host, and one that is reached by SSH.

use std::fs;
use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::world::{Ran, World, program};

/// Switches on the tests that need a Docker engine with the base images.
const DOCKER: &str = "BAKEOFF_TEST_DOCKER";

/// Switches on the one that needs a server of SSH, too.
const SSH: &str = "BAKEOFF_TEST_SSH";

const SSHD: &str = "/usr/sbin/sshd";

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

/// A duel of a service of a compose file against itself on the engine of `docker_host`; `path` is
/// searched for programs first.
fn duel(world: &World, docker_host: &str, path: &Path) -> String {
    let port = world.port();
    let compose = format!(
        "services:\n  web:\n    build: .\n    environment: {{ MODE: good, PORT: {port} }}\n    \
         expose: [\"{port}\"]\n"
    );
    world.write("compose.yaml", &compose);
    world.write("Dockerfile", DOCKERFILE);
    fs::copy(program(), world.path().join("program")).unwrap();
    let arguments = format!(
        "duel --get /item a=compose:web b=compose:web --compose {}/compose.yaml --runs 2 \
         --duration 1s --warm-up 1s --connections 4 --memory 64MiB --out OUT",
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
    let stderr = duel(&world, &address, Path::new("/nowhere"));
    check(&world, &stderr, &address);
}

#[test]
fn an_engine_is_reached_by_ssh_and_nothing_of_it_is_left() {
    if !is_on(DOCKER) || !is_on(SSH) {
        return;
    }
    let world = World::new(&[]);
    let server = SshServer::start(&world);
    let address = format!("ssh://root@127.0.0.1:{}{}", server.port, socket());
    let stderr = duel(&world, &address, &server.programs);
    check(&world, &stderr, &address);
    assert_eq!(world.leftovers(0), Vec::<String>::new());
    let refused = format!("ssh://root@127.0.0.1:{}", server.port + 1);
    let mut command = world.command("duel --get / a=image:a b=image:b --out OUT-2");
    let usual = std::env::var("PATH").unwrap();
    command.env("DOCKER_HOST", &refused);
    command.env("PATH", format!("{}:{usual}", server.programs.display()));
    let ran = Ran::from(command.output().unwrap());
    ran.check(
        1,
        &["no Docker engine answers", "ssh: ", "Connection refused"],
    );
}

/// A server of SSH on the loopback interface with keys of its own, and a folder with an `ssh` that
/// knows them.
struct SshServer {
    port: u16,
    programs: PathBuf,
    server: Child,
}

impl SshServer {
    fn start(world: &World) -> Self {
        let folder = world.path().join("ssh");
        let file = |name: &str| folder.join(name).display().to_string();
        for key in ["host", "user"] {
            world.write(&format!("ssh/{key}"), "");
            fs::remove_file(folder.join(key)).unwrap();
            let made = Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-f", &file(key)])
                .status();
            assert!(made.unwrap().success());
        }
        // What sshd wants of its host besides.
        fs::create_dir_all("/run/sshd").unwrap();
        let port = world.port() + 6;
        let settings = format!(
            "ListenAddress 127.0.0.1\nPort {port}\nHostKey {}\nAuthorizedKeysFile {}\n\
             StrictModes no\nUsePAM no\nPidFile none\nPermitRootLogin prohibit-password\n\
             PasswordAuthentication no\nKbdInteractiveAuthentication no\n\
             MaxStartups 10:100:10\n",
            file("host"),
            file("user.pub")
        );
        world.write("ssh/sshd_config", &settings);
        let client = format!(
            "#!/bin/sh\nexec /usr/bin/ssh -F none -o IdentityFile={} -o IdentitiesOnly=yes \
             -o UserKnownHostsFile={} -o StrictHostKeyChecking=accept-new \"$@\"\n",
            file("user"),
            file("known_hosts")
        );
        world.write("ssh/bin/ssh", &client);
        let programs = folder.join("bin");
        fs::set_permissions(programs.join("ssh"), fs::Permissions::from_mode(0o755)).unwrap();
        let log = fs::File::create(folder.join("log")).unwrap();
        let server = Command::new(SSHD)
            .args(["-D", "-e", "-f", &file("sshd_config")])
            .stdin(Stdio::null())
            .stderr(log)
            .spawn();
        let server = server.unwrap_or_else(|error| panic!("{SSHD}: {error}"));
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(
                begun.elapsed() < Duration::from_secs(10),
                "{SSHD} is silent"
            );
            thread::sleep(Duration::from_millis(20));
        }
        Self {
            port,
            programs,
            server,
        }
    }
}

impl Drop for SshServer {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
