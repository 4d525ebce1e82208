//! Servers of SSH that play other hosts, with separate keys: by another name of this host, or in a
//! separate network.

use std::fs;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::world::World;

/// Switches on the tests that need a server of SSH.
pub(crate) const SSH: &str = "BAKEOFF_TEST_SSH";

const SSHD: &str = "/usr/sbin/sshd";

/// The port of servers in separate networks.
const PORT: u16 = 2222;

/// A server, and a folder with an `ssh` that knows its keys.
pub(crate) struct SshServer {
    /// `ssh://USER@HOST:PORT`.
    pub(crate) address: String,
    pub(crate) programs: PathBuf,
    server: Child,
}

impl SshServer {
    /// Starts one on the loopback interface.
    pub(crate) fn start(world: &World) -> Self {
        let place = ("127.0.0.1", world.port() + 6);
        Self::begin(world, "loopback", place, &[SSHD])
    }

    /// Starts one on the loopback interface, as a host of this name.
    pub(crate) fn named(world: &World, name: &str) -> Self {
        let place = ("127.0.0.1", world.port() + 7);
        let script = as_host(name);
        Self::begin(
            world,
            name,
            place,
            &["unshare", "--uts", "sh", "-c", &script, SSHD],
        )
    }

    /// Starts one in a separate network, as a host of this name.
    pub(crate) fn in_network(world: &World, name: &str, network: &FarNetwork) -> Self {
        let (script, entered) = (as_host(name), format!("--net=/run/netns/{}", network.name));
        let words = [
            "nsenter", &entered, "unshare", "--uts", "sh", "-c", &script, SSHD,
        ];
        Self::begin(world, name, (&network.address, PORT), &words)
    }

    fn begin(world: &World, name: &str, (address, port): (&str, u16), words: &[&str]) -> Self {
        let folder = world.path().join("ssh");
        let file = |name: &str| folder.join(name).display().to_string();
        for key in ["host", "user"] {
            make_key(&folder, key);
        }
        // Other requirements of sshd.
        fs::create_dir_all("/run/sshd").unwrap();
        let settings = format!(
            "ListenAddress {address}\nPort {port}\nHostKey {}\nAuthorizedKeysFile {}\n\
             StrictModes no\nUsePAM no\nPidFile none\nPermitRootLogin prohibit-password\n\
             PasswordAuthentication no\nKbdInteractiveAuthentication no\n\
             MaxStartups 10:100:10\n",
            file("host"),
            file("user.pub")
        );
        world.write(&format!("ssh/{name}.conf"), &settings);
        let client = format!(
            "#!/bin/sh\nexec /usr/bin/ssh -F none -o IdentityFile={} -o IdentitiesOnly=yes \
             -o UserKnownHostsFile={} -o StrictHostKeyChecking=accept-new \"$@\"\n",
            file("user"),
            file("known_hosts")
        );
        world.write("ssh/bin/ssh", &client);
        let programs = folder.join("bin");
        fs::set_permissions(programs.join("ssh"), fs::Permissions::from_mode(0o755)).unwrap();
        let log = fs::File::create(folder.join(format!("{name}.log"))).unwrap();
        let server = Command::new(words[0])
            .args(&words[1..])
            .args(["-D", "-e", "-f", &file(&format!("{name}.conf"))])
            .stdin(Stdio::null())
            .stderr(log)
            .spawn();
        let server = server.unwrap_or_else(|error| panic!("{}: {error}", words[0]));
        let begun = Instant::now();
        while TcpStream::connect((address, port)).is_err() {
            let waited = begun.elapsed() < Duration::from_secs(10);
            assert!(waited, "{words:?} is silent");
            thread::sleep(Duration::from_millis(20));
        }
        Self {
            address: format!("ssh://root@{address}:{port}"),
            programs,
            server,
        }
    }
}

/// A command of a shell that becomes its arguments on a host of this name.
fn as_host(name: &str) -> String {
    format!("hostname {name} && exec \"$0\" \"$@\"")
}

fn make_key(folder: &Path, name: &str) {
    if folder.join(name).exists() {
        return;
    }
    fs::create_dir_all(folder).unwrap();
    let file = folder.join(name).display().to_string();
    let made = Command::new("ssh-keygen")
        .args(["-q", "-t", "ed25519", "-N", "", "-f", &file])
        .status();
    assert!(made.unwrap().success());
}

impl Drop for SshServer {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// A network with one address, which this host reaches over a pair of devices.
pub(crate) struct FarNetwork {
    pub(crate) name: String,
    pub(crate) address: String,
}

impl FarNetwork {
    /// Makes one; of the tests of this process each has another.
    pub(crate) fn make() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let (number, process) = (COUNT.fetch_add(1, Ordering::Relaxed), std::process::id());
        let name = format!("fh{process}n{number}");
        let (third, first) = (process % 250, 4 * (number % 60));
        let at = |last: u32| format!("198.19.{third}.{}", first + last);
        let network = Self {
            name: name.clone(),
            address: at(2),
        };
        let (here, there) = (format!("{name}a"), format!("{name}b"));
        let (own, theirs) = (format!("{}/30", at(1)), format!("{}/30", at(2)));
        ip(&["netns", "add", &name]);
        ip(&[
            "link", "add", &here, "type", "veth", "peer", "name", &there, "netns", &name,
        ]);
        ip(&["addr", "add", &own, "dev", &here]);
        ip(&["link", "set", &here, "up"]);
        ip(&["-n", &name, "addr", "add", &theirs, "dev", &there]);
        ip(&["-n", &name, "link", "set", &there, "up"]);
        ip(&["-n", &name, "link", "set", "lo", "up"]);
        network
    }

    /// Returns the words of a command that runs in it.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new("nsenter");
        command.arg(format!("--net=/run/netns/{}", self.name));
        command.arg(program);
        command
    }
}

fn ip(words: &[&str]) {
    let done = Command::new("ip").args(words).status();
    assert!(done.unwrap().success(), "ip {words:?}");
}

impl Drop for FarNetwork {
    fn drop(&mut self) {
        // What a server made for each connection outlives it, and would wait for a peer for long.
        let inside = Command::new("ip")
            .args(["netns", "pids", &self.name])
            .output();
        let inside = String::from_utf8(inside.unwrap().stdout).unwrap();
        for process in inside.split_whitespace() {
            let mut command = Command::new("kill");
            command.args(["-KILL", process]).stderr(Stdio::null());
            let _ = command.status();
        }
        ip(&["netns", "del", &self.name]);
        let _ = Command::new("ip")
            .args(["link", "del", &format!("{}a", self.name)])
            .stderr(Stdio::null())
            .status();
    }
}
