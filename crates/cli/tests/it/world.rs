//! A suite in a temporary folder and the binary to run on it.

use std::fs;
use std::io::Write as _;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output};

use rustix::net::{AddressFamily, SocketType, bind, getsockname, socket, sockopt};
use tempfile::TempDir;

/// A suite of misbehaving contenders with a separate port.
pub(crate) struct World {
    folder: TempDir,
    port: u16,
    /// Keeps the kernel from giving the ports to other programs.
    _reservation: Vec<OwnedFd>,
}

/// Contenders that are alive concurrently without separate networks listen on at most this number
/// of ports.
const PORTS: u16 = 8;

/// The first of [`PORTS`] neighbouring ports, and the sockets that hold them. These do not listen,
/// so that a contender, which like every server allows the reuse of its address, can.
fn reserved_ports() -> (u16, Vec<OwnedFd>) {
    loop {
        let first = reserved(0).expect("the kernel has a port left");
        let further: Option<Vec<(u16, OwnedFd)>> = (1..PORTS)
            .map(|further| reserved(first.0.checked_add(further)?))
            .collect();
        if let Some(further) = further {
            let sockets = further.into_iter().map(|(_, socket)| socket);
            return (first.0, std::iter::once(first.1).chain(sockets).collect());
        }
    }
}

/// This port, or one of the kernel's choice for 0, with the socket that holds it; `None` if it is
/// in use.
pub(crate) fn reserved(port: u16) -> Option<(u16, OwnedFd)> {
    let holder = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    // Without the reuse of addresses: two tests must not get the same port.
    bind(&holder, &SocketAddr::from(([0, 0, 0, 0], port))).ok()?;
    sockopt::set_socket_reuseaddr(&holder, true).unwrap();
    let address = SocketAddr::try_from(getsockname(&holder).unwrap()).unwrap();
    Some((address.port(), holder))
}

impl World {
    /// A suite with one contender for each mode.
    pub(crate) fn new(modes: &[&str]) -> Self {
        let (port, reservation) = reserved_ports();
        let world = Self {
            folder: TempDir::new().unwrap(),
            port,
            _reservation: reservation,
        };
        world.write("suite.toml", &suite_toml(world.port));
        world.write("checks/all.toml", CHECKS);
        fs::create_dir(world.folder.path().join("run")).unwrap();
        for mode in modes {
            let file = format!("contenders/{mode}/contender.toml");
            world.write(&file, &contender_toml(mode, world.port));
        }
        world
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("suite")
    }

    pub(crate) fn out(&self) -> PathBuf {
        self.folder.path().join("out")
    }

    /// Writes a file of the suite.
    pub(crate) fn write(&self, file: &str, text: &str) {
        let path = self.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Has each contender find its port in its own environment instead of the suite's, so that no
    /// other port can be given to it.
    pub(crate) fn hide_port(&self) {
        let port = format!("PORT = \"{}\"\n", self.port());
        let file = |file: &str| fs::read_to_string(self.path().join(file)).unwrap();
        self.write("suite.toml", &file("suite.toml").replace(&port, ""));
        for entry in fs::read_dir(self.path().join("contenders")).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let path = format!("contenders/{name}/contender.toml");
            self.write(
                &path,
                &file(&path).replace("[env]\n", &format!("[env]\n{port}")),
            );
        }
    }

    /// Replaces a text of the suite file.
    pub(crate) fn change_suite(&self, old: &str, new: &str) {
        let suite = self.read("suite/suite.toml");
        assert!(suite.contains(old), "{suite}");
        self.write("suite.toml", &suite.replace(old, new));
    }

    /// Has the profile wait only so long for a contender that will not respond.
    pub(crate) fn start_within(&self, time: &str) {
        let usual = "start-timeout = \"15s\"";
        self.change_suite(usual, &format!("start-timeout = \"{time}\""));
    }

    pub(crate) fn read(&self, file: &str) -> String {
        fs::read_to_string(self.folder.path().join(file)).unwrap()
    }

    /// The binary with arguments; `SUITE` and `OUT` stand for this world's folders.
    pub(crate) fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bakeoff"));
        for argument in arguments.split_whitespace() {
            match argument {
                "SUITE" => command.arg(self.path()),
                "OUT" => command.arg(self.out()),
                _ => command.arg(argument),
            };
        }
        // A job's own summary is not for the sessions of its tests.
        command.env_remove("GITHUB_STEP_SUMMARY");
        command.env("BAKEOFF_CACHE", self.folder.path().join("cache"));
        // Where sessions keep their temporary files, so that a test sees what remains of them.
        command.env("XDG_RUNTIME_DIR", self.folder.path().join("run"));
        command.current_dir(self.folder.path());
        command
    }

    /// Whatever a session of this process number has left: groups, temporary files, and processes
    /// that run a program of this world.
    pub(crate) fn leftovers(&self, session: u32) -> Vec<String> {
        let mut found = Vec::new();
        named(
            Path::new("/sys/fs/cgroup"),
            &format!("bakeoff-{session}-"),
            &mut found,
        );
        let entries = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten();
        found.extend(entries(&self.folder.path().join("run")).map(|entry| entry.path()));
        let ours = |program: &PathBuf| program.starts_with(self.folder.path());
        let programs = entries(Path::new("/proc")).map(|entry| entry.path().join("exe"));
        found.extend(
            programs
                .filter_map(|exe| fs::read_link(exe).ok())
                .filter(ours),
        );
        let found = found.iter().map(|path| path.display().to_string());
        found.collect()
    }

    /// Gives the world to a user without rights, with programs that this user can read.
    pub(crate) fn unprivileged(&self) -> Unprivileged {
        let is_root = rustix::process::geteuid().is_root();
        let user = Unprivileged {
            id: is_root.then_some(NOBODY),
        };
        let Some(id) = user.id else { return user };
        fs::copy(
            env!("CARGO_BIN_EXE_bakeoff"),
            self.folder.path().join("bakeoff"),
        )
        .unwrap();
        let program = self.folder.path().join("program");
        fs::copy(self::program(), &program).unwrap();
        for entry in fs::read_dir(self.path().join("contenders")).unwrap() {
            let file = entry.unwrap().path().join("contender.toml");
            let (from, to) = (self::program(), program.display().to_string());
            let text = fs::read_to_string(&file).unwrap();
            fs::write(&file, text.replace(&from.display().to_string(), &to)).unwrap();
        }
        own(self.folder.path(), id);
        user
    }

    /// Runs the binary to its end.
    pub(crate) fn run(&self, arguments: &str) -> Ran {
        Ran::from(self.command(arguments).output().unwrap())
    }
}

/// The user that owns nothing on any Linux.
const NOBODY: u32 = 65534;

/// A user without rights: another one if the tests are run as root.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unprivileged {
    id: Option<u32>,
}

impl Unprivileged {
    /// [`World::command`] of this user.
    pub(crate) fn command(self, world: &World, arguments: &str) -> Command {
        let command = world.command(arguments);
        let Some(id) = self.id else { return command };
        let mut own = Command::new(world.folder.path().join("bakeoff"));
        own.args(command.get_args());
        own.envs(
            command
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
        own.env("HOME", world.folder.path());
        own.current_dir(world.folder.path()).uid(id).gid(id);
        own
    }
}

/// Makes a user the owner of a folder and of everything below it.
fn own(path: &Path, id: u32) {
    chown(path, Some(id), Some(id)).unwrap();
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        own(&entry.path(), id);
    }
}

/// Output and status of a command.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            status: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Ran {
    /// Returns the output with all lines joined: line breaks do not matter.
    pub(crate) fn unwrapped(&self) -> Self {
        let joined = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        Self {
            status: self.status,
            stdout: joined(&self.stdout),
            stderr: joined(&self.stderr),
        }
    }

    /// Asserts the status and that every text appears. A session on a host on which much else runs
    /// may find no number that counts, and ends with 2 then.
    #[track_caller]
    pub(crate) fn check(&self, status: i32, texts: &[&str]) -> &Self {
        let lost = [
            "no valid number: ",
            "no block of its sets counts",
            "void: the control",
            "host-bound",
            "the effective concurrency was",
            // A far host that does not answer in time.
            "not to be judged: could not be read: TCP counters",
        ];
        let stdout = self.unwrapped().stdout;
        let is_lost =
            (status, self.status) == (0, 2) && lost.iter().any(|text| stdout.contains(text));
        assert!(self.status == status || is_lost, "not {status}: {self:#?}");
        if is_lost {
            skipped("a session with numbers: other work on this host left none that counts");
        }
        for text in texts {
            let found = self.stderr.contains(text) || self.stdout.contains(text);
            assert!(found, "{text:?} is missing in {self:#?}");
        }
        assert!(!self.stderr.contains("panicked"), "{self:#?}");
        self
    }
}

/// Folders at or below one whose names start like this.
fn named(folder: &Path, prefix: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            if entry.file_name().to_string_lossy().starts_with(prefix) {
                found.push(entry.path());
            }
            named(&entry.path(), prefix, found);
        }
    }
}

/// The compiled example that all contenders of the world are.
pub(crate) fn program() -> PathBuf {
    let binary = Path::new(env!("CARGO_BIN_EXE_bakeoff"));
    binary
        .parent()
        .unwrap()
        .join("examples")
        .join("misbehaving-contender")
}

fn suite_toml(port: u16) -> String {
    format!(
        r#"
[suite]
name = "world"
analysis = "Nothing."
port = {port}
ready-path = "/"


[env]
PORT = "{port}"

[env-unreachable]
BACKEND_DEAD = "yes"

[profile.tiny]
describe = "As short as it gets."
limits = {{ cpus = 1.0, memory = "64MiB" }}
runs = 1
# Some contenders never respond.
start-timeout = "15s"
slice = "200ms"
ladder = {{ warm-up = [1], connections = [2, 4], step = "400ms" }}

[[benchmark]]
name = "item"
describe = "One item."

[[benchmark.request]]
path = "/item"
expect = {{ status = [200], values = {{ "$.name" = "Plzeň" }} }}
"#
    )
}

const CHECKS: &str = r#"
[[check]]
group = "get"
name = "item"
path = "/item"
expect = { status = [200], values = { "$.name" = "Plzeň" } }

[[check]]
group = "get"
name = "without id"
path = "/item?id="
expect = { status = [400], json = true, has = ["$.message"] }

[[check]]
group = "missing"
name = "unknown path"
path = "/nowhere"
expect = { status = [404], json = true, has = ["$.message"] }
"#;

fn contender_toml(mode: &str, port: u16) -> String {
    let program = program();
    let program = program.display();
    format!(
        r#"
[contender]
name = "{mode}"
describe = "Behaves as its name says on port {port}."
language = "rust"
needs = []
build = ["cp", "{program}", "contender"]
artifact = "contender"
run = ["{{artifact}}"]

[image]
base = "debian"

[env]
MODE = "{mode}"
"#
    )
}

/// Says what is not tested here, past the capture of what passing tests print.
pub(crate) fn skipped(text: &str) {
    // A terminal that is gone fails no test.
    let _ = writeln!(std::io::stderr(), "SKIPPED {text}");
}

/// Returns the output of git in a folder.
pub(crate) fn git_in(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder);
    command.args(["-c", "user.name=test", "-c", "user.email=test@localhost"]);
    let output = command.args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// A service that ends with the test.
pub(crate) struct Service(pub(crate) Child);

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
