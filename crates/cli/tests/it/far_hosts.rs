//! Contenders and load on other hosts, which are reached by SSH: one that is played in a network of
//! its own, and one by another name of this host.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::ssh_server::{FarNetwork, SSH, SshServer};
use crate::world::{Ran, Service, World, program, skipped};
use crate::{equal_work, tls};

/// How long what a session left on another host may take to go.
const GOING: Duration = Duration::from_secs(20);

fn is_on() -> bool {
    let on = std::env::var(SSH).is_ok();
    if !on {
        skipped(&format!("other hosts: set {SSH}=1"));
    }
    on
}

/// The host of contenders and that of the load generator.
struct Hosts {
    contenders: SshServer,
    load: SshServer,
    network: FarNetwork,
}

impl Hosts {
    fn start(world: &World) -> Self {
        let network = FarNetwork::make();
        Self {
            contenders: SshServer::in_network(world, "bench-b", &network),
            load: SshServer::named(world, "bench-c"),
            network,
        }
    }

    /// A command that finds the `ssh` which knows both.
    fn command(&self, world: &World, arguments: &str) -> Command {
        let mut command = world.command(arguments);
        let (own, usual) = (self.load.programs.display(), std::env::var("PATH").unwrap());
        command.env("PATH", format!("{own}:{usual}"));
        command.env_remove("DOCKER_HOST");
        command
    }

    fn duel(&self, world: &World, more: &str) -> Command {
        for name in ["one", "two"] {
            fs::copy(program(), world.out().with_file_name(name)).unwrap();
        }
        let arguments = format!(
            "duel a=./one b=./two --env MODE=good --get /item --port {} --connections 4 \
             --memory 64MiB --contender-host {} --load-host {} --out OUT {more}",
            world.port(),
            self.contenders.address,
            self.load.address
        );
        self.command(world, &arguments)
    }
}

/// Folders and processes that a session left on the other hosts, which are played by this one, and
/// its ways there.
fn left_there(session: u32) -> Vec<String> {
    let of_session = format!("bakeoff-{session}-far-");
    let folder = std::env::temp_dir();
    let entries = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries(&folder).map(|entry| entry.path().display().to_string());
    let processes = entries(Path::new("/proc")).map(|entry| entry.path().join("cmdline"));
    let processes = processes.filter_map(|file| fs::read_to_string(file).ok());
    let found = folders.chain(processes);
    found.filter(|one| one.contains(&of_session)).collect()
}

/// Asserts that the session's processes on the other host end right after it.
fn nothing_is_left_there(session: u32) {
    let begun = Instant::now();
    loop {
        let left = left_there(session);
        if left.is_empty() {
            return;
        }
        assert!(begun.elapsed() < GOING, "{left:?}");
        thread::sleep(Duration::from_millis(50));
    }
}

fn ended(child: Child) -> Ran {
    Ran::from(child.wait_with_output().unwrap())
}

fn piped(mut command: Command) -> Child {
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// The first records of all runs.
fn begins(world: &World) -> Vec<Value> {
    let records = fs::read_dir(world.out().join("records")).unwrap();
    let first = records.map(|record| {
        let text = fs::read_to_string(record.unwrap().path()).unwrap();
        serde_json::from_str(text.lines().next().unwrap()).unwrap()
    });
    first.collect()
}

#[test]
fn processes_of_another_host_are_loaded_from_a_third() {
    if !is_on() {
        return;
    }
    let world = World::new(&[]);
    let hosts = Hosts::start(&world);
    let session = piped(hosts.duel(&world, "--runs 2 --duration 1s --warm-up 1s"));
    let id = session.id();
    let ran = ended(session);
    nothing_is_left_there(id);
    ran.check(0, &[]);
    let said = ran.unwrapped();
    said.check(0, &["contender bench-b; load generator bench-c"]);
    let begins = begins(&world);
    // Two processes of each in two sets.
    assert_eq!(begins.len(), 8, "{begins:#?}");
    for begin in begins {
        let nodes = &begin["nodes"];
        assert_eq!(nodes["contender"], "bench-b", "{begin:#}");
        assert_eq!(nodes["generators"][0], "bench-c", "{begin:#}");
        for host in ["bench-b", "bench-c"] {
            // Both have the clock of this host.
            let clock = &nodes["clocks"][host];
            let (ahead, error) = (clock["ahead_ns"].as_i64(), clock["error_ns"].as_i64());
            let (ahead, error) = (ahead.unwrap(), error.unwrap());
            assert!(ahead.abs() <= error + 1_000_000, "{clock}");
        }
        let round_trip_ns = begin["host"]["round_trip_ns"].as_u64().unwrap();
        assert!((1..1_000_000_000).contains(&round_trip_ns), "{begin:#}");
        assert_eq!(begin["traffic_path"], "host network", "{begin:#}");
        assert!(begin["host"]["generator"].is_object(), "{begin:#}");
    }
    let record = fs::read_dir(world.out().join("records")).unwrap().next();
    let record = fs::read_to_string(record.unwrap().unwrap().path()).unwrap();
    assert!(record.contains(r#""user_ns":"#), "{record}");
    assert_eq!(world.leftovers(0), Vec::<String>::new());
}

#[test]
fn contenders_of_a_suite_are_built_here_and_run_on_another_host() {
    if !is_on() {
        return;
    }
    // Each request takes one to the backend, which runs here and is counted here.
    let world = equal_work::suite(&["good"]);
    let hosts = Hosts::start(&world);
    let arguments = format!(
        "run SUITE --profile tiny --contender-host {} --load-host {} --out OUT",
        hosts.contenders.address, hosts.load.address
    );
    let session = piped(hosts.command(&world, &arguments));
    let id = session.id();
    let ran = ended(session);
    nothing_is_left_there(id);
    ran.check(0, &[]);
    let said = ran.unwrapped();
    said.check(0, &["contender bench-b; load generator bench-c; backend "]);
    // Its output was read there in time.
    assert!(!said.stderr.contains("FAILED"), "{said:#?}");
    for begin in begins(&world) {
        assert!(begin["artifact_digest"].is_string(), "{begin:#}");
    }
    let records = world.read("out/records/item.good.r1.a1.jsonl");
    let counts = records.lines().filter_map(|line| {
        let record: Value = serde_json::from_str(line).unwrap();
        record["backend_after"]["requests"].as_u64()
    });
    assert!(counts.max() > Some(0), "{records}");
    assert!(!records.contains("unequal work"), "{records}");
    // The last start of the run was without a backend.
    let log = world.read("out/logs/item.good.r1.a1.log");
    assert!(log.contains("the backend does not respond"), "{log}");
}

#[test]
fn contenders_and_load_of_other_hosts_speak_tls() {
    if !is_on() {
        return;
    }
    // The certificates of the client are files of this host.
    let world = tls::world(tls::TRUSTED);
    let hosts = Hosts::start(&world);
    let arguments = format!(
        "run SUITE --profile tiny --contender-host {} --load-host {} --out OUT",
        hosts.contenders.address, hosts.load.address
    );
    let session = piped(hosts.command(&world, &arguments));
    let id = session.id();
    let ran = ended(session);
    // The folders there go before the hosts do: ending these would end the removal.
    nothing_is_left_there(id);
    ran.check(0, &["checks 3/3"]);
    assert!(world.read("out/results.md").contains("HTTP/1.1 over TLS"));
    let records = world.read("out/records/item.good.r1.a1.jsonl");
    assert!(records.contains("\"outcome\":\"completed\""), "{records}");
}

#[test]
fn a_session_that_is_killed_leaves_nothing_on_other_hosts() {
    if !is_on() {
        return;
    }
    let world = World::new(&[]);
    let hosts = Hosts::start(&world);
    let more = "--runs 1 --duration 60s --warm-up 1s --json";
    let mut session = piped(hosts.duel(&world, more));
    let mut lines = BufReader::new(session.stdout.take().unwrap()).lines();
    let is_step = |line: &String| line.contains(r#""event":"step-began""#);
    let loaded = lines.any(|line| is_step(&line.unwrap()));
    assert!(loaded, "{:#?}", ended(session));
    assert!(!left_there(session.id()).is_empty());
    session.kill().unwrap();
    session.wait().unwrap();
    nothing_is_left_there(session.id());
}

#[test]
fn services_that_run_already_are_loaded_from_another_host() {
    if !is_on() {
        return;
    }
    let world = World::new(&[]);
    let hosts = Hosts::start(&world);
    let start = |port: u16| {
        let mut command = hosts.network.command(&program());
        command.env("MODE", "good").env("PORT", port.to_string());
        Service(command.stdout(Stdio::null()).spawn().unwrap())
    };
    let (one, two) = (world.port(), world.port() + 1);
    let _services = [start(one), start(two)];
    let at = &hosts.network.address;
    let arguments = |at: &str| {
        format!(
            "duel a=url:http://{at}:{one} b=url:http://{at}:{two} --get /item --runs 2 \
             --duration 1s --warm-up 1s --connections 4 --load-host {} --out OUT",
            hosts.load.address
        )
    };
    let ran = Ran::from(hosts.command(&world, &arguments(at)).output().unwrap());
    ran.check(0, &[]);
    ran.unwrapped().check(0, &["load from bench-c (ssh://"]);
    for begin in begins(&world) {
        assert_eq!(begin["nodes"]["contender"], at.as_str(), "{begin:#}");
        assert_eq!(begin["nodes"]["generators"][0], "bench-c", "{begin:#}");
        assert!(
            begin["host"]["round_trip_ns"].as_u64().is_some(),
            "{begin:#}"
        );
    }
    fs::remove_dir_all(world.out()).unwrap();
    let refused = hosts.command(&world, &arguments("127.0.0.1")).output();
    let refused = Ran::from(refused.unwrap()).unwrapped();
    refused.check(1, &["is an address of this host that only it reaches"]);
}

#[test]
fn hosts_that_cannot_run_a_part_are_refused_with_a_remedy() {
    let world = World::new(&["good"]);
    let check = |arguments: &str, status: i32, texts: &[&str]| {
        let mut command = world.command(arguments);
        command.env_remove("DOCKER_HOST");
        let ran = Ran::from(command.output().unwrap()).unwrapped();
        ran.check(status, texts);
    };
    let run = |more: &str| format!("run SUITE --profile tiny --out OUT {more}");
    check(
        &run("--load-host ssh://c"),
        1,
        &[
            "contenders are processes of this host",
            "hint: --contender-host ssh://HOST",
        ],
    );
    check(
        &run("--runtime docker --contender-host ssh://b"),
        1,
        &[
            "requires --runtime process",
            "hint: name the host of the Docker engine by DOCKER_HOST=ssh://b",
        ],
    );
    check(
        &run("--contender-host ssh://b --profile-cpu"),
        1,
        &["flame graphs need contenders on this host"],
    );
    check(
        "record SUITE --contender-host ssh://b",
        1,
        &["recordings are made with processes of this host"],
    );
    check(
        &run("--load-host bench-c"),
        1,
        &["write it as ssh://[USER@]HOST[:PORT]"],
    );
    assert!(!world.out().exists());
    // Nothing listens at the ports that the world has reserved.
    let nowhere = format!("--contender-host ssh://root@127.0.0.1:{}", world.port());
    check(
        &run(&nowhere),
        1,
        &[
            "ssh: connect to host 127.0.0.1",
            "true` must work without a question",
        ],
    );
}
