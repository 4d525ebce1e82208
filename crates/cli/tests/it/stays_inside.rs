//! Load stays on this host: a service ends while it is loaded, in a network whose default route
//! leads out, and nothing goes there. Needs root.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use bakeoff_model::load::{LoadSpec, StepSpec, Target};
use bakeoff_model::request::RequestSpec;

use crate::turns;
use crate::world::{Ran, World, program};

/// A separate network with a way out: a pair of devices, `up0` and `up1`, and a default route
/// over the first one.
struct Outside(String);

impl Outside {
    fn make() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let outside = Self(format!("out{}n{number}", std::process::id()));
        ip(&["netns", "add", &outside.0]);
        for words in [
            "link set lo up",
            "link add up0 type veth peer name up1",
            "addr add 192.0.2.1/24 dev up0",
            // Without the packets of IPv6 that a device sends when it is switched on, and without
            // questions for an address: each packet is one that was to leave.
            "link set up0 addrgenmode none",
            "link set up1 addrgenmode none",
            "link set up0 up",
            "link set up1 up",
            "neigh add 192.0.2.9 lladdr 02:00:00:00:00:09 dev up0",
            "route add default via 192.0.2.9 dev up0",
        ] {
            let words = words.split(' ');
            let all: Vec<&str> = ["-n", &outside.0].into_iter().chain(words).collect();
            ip(&all);
        }
        outside
    }

    /// Returns the command that runs `command` inside.
    fn inside(&self, command: &Command) -> Command {
        let mut inside = Command::new("nsenter");
        inside.arg(format!("--net=/run/netns/{}", self.0));
        inside.arg(command.get_program()).args(command.get_args());
        inside.current_dir(command.get_current_dir().unwrap_or(Path::new("/")));
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => inside.env(name, value),
                None => inside.env_remove(name),
            };
        }
        inside
    }

    /// Returns the output of a program that runs inside.
    fn said(&self, program: &str, words: &[&str]) -> String {
        let mut command = Command::new(program);
        let output = self.inside(command.args(words)).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    /// Packets that were sent by the device that leads out.
    fn sent(&self) -> u64 {
        let devices = self.said("cat", &["/proc/net/dev"]);
        let own = devices
            .lines()
            .find_map(|line| line.trim().strip_prefix("up0:"));
        let sent = own.and_then(|counts| counts.split_whitespace().nth(9));
        sent.unwrap().parse().unwrap()
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        ip(&["netns", "del", &self.0]);
    }
}

fn ip(words: &[&str]) {
    let done = Command::new("ip").args(words).status();
    assert!(done.unwrap().success(), "ip {words:?}");
}

/// A duel in which the second service ends by `script` while it is loaded; `said` is the reason.
fn check(script: &str, options: &str, said: &str) {
    if turns::world().is_none() {
        return;
    }
    let (world, outside) = (World::new(&[]), Outside::make());
    let program = program();
    let ends = script.replace("PROGRAM", &program.display().to_string());
    let mut duel = world.command(&format!("duel --out OUT --port {}", world.port()));
    duel.arg(format!("good=env MODE=good {}", program.display()));
    duel.arg(format!("ends=sh -c '{ends}'"));
    duel.args("--get /item --runs 1 --duration 2s --warm-up 1s --connections 8".split(' '));
    duel.args(options.split_whitespace());
    let ran = Ran::from(outside.inside(&duel).output().unwrap());
    ran.unwrapped().check(2, &[said]);
    assert_eq!(outside.sent(), 0, "packets left the host: {ran:#?}");
    let routes = outside.said("ip", &["route"]);
    assert!(!routes.contains("unreachable"), "{routes}");
}

#[test]
fn the_load_on_a_service_that_exits_stays_here() {
    check(
        "timeout 3 env MODE=good PROGRAM",
        "",
        "exited with code 124",
    );
}

#[test]
fn the_load_on_a_service_that_is_killed_stays_here() {
    let script = "(sleep 3; kill -9 $$) & MODE=good exec PROGRAM";
    check(script, "", "was ended by signal 9");
}

#[test]
fn the_load_on_a_service_that_is_killed_for_memory_stays_here() {
    let script = "MODE=outgrows exec PROGRAM";
    check(script, "--memory 64m", "killed for memory");
}

#[test]
fn the_load_on_a_service_whose_network_goes_stays_here() {
    let script = "(sleep 3; ip link del eth0) & MODE=good exec PROGRAM";
    check(script, "", "alive at the end failed: no response");
}

#[test]
fn a_load_generator_that_is_bound_to_a_device_sends_nothing_by_another() {
    if turns::world().is_none() {
        return;
    }
    let (world, outside) = (World::new(&[]), Outside::make());
    // Nothing has this address, so that the only way to it is the default route.
    let sent = |device: Option<&str>| {
        let spec = LoadSpec {
            target: Target {
                address: "198.18.0.9:80".to_owned(),
                device: device.map(str::to_owned),
                ..Target::default()
            },
            requests: vec![RequestSpec {
                method: "GET".to_owned(),
                path: "/".to_owned(),
                weight: 1,
                ..RequestSpec::default()
            }],
            steps: vec![StepSpec {
                connections: 2,
                duration_ns: 200_000_000,
                ..StepSpec::default()
            }],
            timeout_connect_ns: 100_000_000,
            timeout_answer_ns: 100_000_000,
            ..LoadSpec::default()
        };
        let mut load = outside.inside(&world.command("load -"));
        load.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut load = load.stderr(Stdio::piped()).spawn().unwrap();
        let line = format!("{}\n", serde_json::to_string(&spec).unwrap());
        load.stdin
            .take()
            .unwrap()
            .write_all(line.as_bytes())
            .unwrap();
        let before = outside.sent();
        Ran::from(load.wait_with_output().unwrap()).check(0, &["\"requests\":0"]);
        outside.sent() - before
    };
    assert_eq!(sent(Some("lo")), 0);
    assert_eq!(sent(Some("bko1x1")), 0, "a device that is gone");
    assert!(sent(None) > 0, "or the test sees nothing");
}
