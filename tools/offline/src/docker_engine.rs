//! A Docker engine of our own, for hosts that have none: installed from Debian, kept in the cache,
//! started and stopped by hand.
//!
//! It makes no rules in the packet filter: no port is ever published, and connection tracking
//! would cost every request over the host's loopback 10-20 %, also those that no container sees.
//! So its containers reach this host and each other, and nothing beyond.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use bakeoff_build::cache_dir;
use bakeoff_places::docker::{Engine, own_socket};
use rustix::process::{Pid, Signal, kill_process};

use crate::host::{install, program, say};

/// How long the engine may take to respond, and to stop.
const PATIENCE: Duration = Duration::from_secs(60);

/// Longest path of a socket that Linux takes, with room for the names that the engine adds.
const CACHE_PATH_MAX: usize = 60;

/// An action on the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Action {
    /// Install it if need be, start it, and print the DOCKER_HOST line.
    Start,
    /// Stop the engine that `start` started, with all its containers.
    Stop,
    /// Say which engine would be used.
    Status,
}

/// Starts, stops or names the engine.
pub(crate) fn docker_engine(action: Action) -> anyhow::Result<()> {
    let home = Home::new(&cache_dir());
    match action {
        Action::Start => home.start(),
        Action::Stop => home.stop(),
        Action::Status => {
            let engine = block_on(found(&home.cache))?;
            say(&format!("Docker {} at {}", engine.version(), engine.host()));
            Ok(())
        }
    }
}

/// The engine that sessions would use.
pub(crate) async fn found(cache: &Path) -> anyhow::Result<Engine> {
    let host = std::env::var("DOCKER_HOST").ok();
    Engine::find(host.as_deref(), cache)
        .await
        .map_err(|error| anyhow::anyhow!("{error}\nhint: {}", error.hints().join("; ")))
}

/// Runs a conversation with an engine to its end.
pub(crate) fn block_on<T>(future: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the asynchronous runtime")?
        .block_on(future)
}

/// Everything of the engine is below this folder.
struct Home {
    cache: PathBuf,
    dir: PathBuf,
}

impl Home {
    fn new(cache: &Path) -> Self {
        Self {
            cache: cache.to_owned(),
            dir: cache.join("docker"),
        }
    }

    fn host(&self) -> String {
        format!("unix://{}", own_socket(&self.cache).display())
    }

    fn file(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    fn start(&self) -> anyhow::Result<()> {
        let own = std::env::var("DOCKER_HOST").is_ok_and(|host| host == self.host());
        let engine = block_on(found(&self.cache));
        match engine {
            Ok(engine) => {
                say(&format!("Docker {} is already running", engine.version()));
                say(&format!("export DOCKER_HOST='{}'", engine.host()));
                return Ok(());
            }
            // An engine that the user named is theirs to start, unless it is this one.
            Err(error) if std::env::var_os("DOCKER_HOST").is_some() && !own => return Err(error),
            Err(_) => {}
        }
        self.prepare()?;
        // Half an engine may be left of one that broke down.
        self.end_all()?;
        let containerd = self.containerd()?;
        for driver in ["overlay2", "vfs"] {
            let started = self.dockerd(driver)?;
            match self.await_answer(started, driver) {
                Ok(engine) => {
                    say(&format!(
                        "Docker {} started with {driver}",
                        engine.version()
                    ));
                    say(&format!("export DOCKER_HOST='{}'", engine.host()));
                    return Ok(());
                }
                Err(error) => say(&format!("{error:#}")),
            }
        }
        end(containerd, "containerd")?;
        bail!(
            "dockerd does not start: see {}",
            self.file("dockerd.log").display()
        )
    }

    /// Installs what is missing and makes the folders.
    fn prepare(&self) -> anyhow::Result<()> {
        ensure!(
            rustix::process::geteuid().is_root(),
            "starting a Docker engine takes root; start the system's, and set DOCKER_HOST"
        );
        let length = self.dir.as_os_str().len();
        ensure!(
            length <= CACHE_PATH_MAX,
            "{}: too long for sockets ({length} > {CACHE_PATH_MAX}); set BAKEOFF_CACHE",
            self.dir.display()
        );
        if program("dockerd").is_none() {
            install(&["docker.io"])?;
        }
        fs::create_dir_all(&self.dir).with_context(|| format!("cannot make {}", self.dir.display()))
    }

    /// Starts a containerd of our own: the one of the system may belong to another program, and may
    /// end at any time.
    fn containerd(&self) -> anyhow::Result<Pid> {
        let config = self.file("containerd.toml");
        let text = format!(
            "version = 2\nroot = {:?}\nstate = {:?}\n\
             disabled_plugins = [\"io.containerd.grpc.v1.cri\"]\n[grpc]\naddress = {:?}\n",
            self.file("containerd"),
            self.file("run/containerd"),
            self.file("containerd.sock"),
        );
        fs::write(&config, text).with_context(|| format!("cannot write {}", config.display()))?;
        let mut command = Command::new("containerd");
        command.arg("--config").arg(&config);
        let pid = self.daemon("containerd", command)?;
        let began = Instant::now();
        while !self.file("containerd.sock").exists() && began.elapsed() < PATIENCE {
            thread::sleep(Duration::from_millis(50));
        }
        Ok(pid)
    }

    fn dockerd(&self, driver: &str) -> anyhow::Result<Pid> {
        let option = |name: &str, path: PathBuf| format!("--{name}={}", path.display());
        let mut command = Command::new("dockerd");
        command
            .arg(format!("--host={}", self.host()))
            .arg(option("data-root", self.file("data")))
            .arg(option("exec-root", self.file("run/docker")))
            .arg(option("pidfile", self.file("dockerd-self.pid")))
            .arg(option("containerd", self.file("containerd.sock")))
            .arg(format!("--storage-driver={driver}"))
            .args(["--iptables=false", "--ip6tables=false", "--ip-masq=false"])
            .args(["--userland-proxy=false", "--bridge=none"]);
        self.daemon("dockerd", command)
    }

    /// Starts a program that outlives us, with a log and a note of its process number.
    fn daemon(&self, name: &str, mut command: Command) -> anyhow::Result<Pid> {
        use std::os::unix::process::CommandExt as _;

        let log = File::create(self.file(&format!("{name}.log")))?;
        let child = command
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .current_dir("/")
            .process_group(0)
            .spawn()
            .with_context(|| format!("cannot start {name}"))?;
        let pid = Pid::from_child(&child);
        fs::write(self.note(name), pid.as_raw_nonzero().to_string())?;
        // A child that ended and was not waited for would still count as alive.
        thread::spawn(move || {
            let mut child = child;
            child.wait()
        });
        Ok(pid)
    }

    fn note(&self, name: &str) -> PathBuf {
        self.file(&format!("{name}.pid"))
    }

    fn await_answer(&self, pid: Pid, driver: &str) -> anyhow::Result<Engine> {
        let began = Instant::now();
        let mut reason = String::new();
        while began.elapsed() < PATIENCE {
            if !lives(pid) {
                bail!("dockerd ended with the storage driver {driver}");
            }
            let host = self.host();
            match block_on(async { Ok(Engine::connect(&host).await) })? {
                Ok(engine) => return Ok(engine),
                Err(error) => reason = error.to_string(),
            }
            thread::sleep(Duration::from_millis(100));
        }
        end(pid, "dockerd")?;
        bail!("dockerd does not respond with the storage driver {driver}: {reason}")
    }

    /// Stops exactly what `start` started.
    fn stop(&self) -> anyhow::Result<()> {
        say(if self.end_all()? {
            "stopped"
        } else {
            "no engine of ours is running"
        });
        Ok(())
    }

    /// Whether anything was there to be ended.
    fn end_all(&self) -> anyhow::Result<bool> {
        let mut stopped = false;
        for name in ["dockerd", "containerd"] {
            if let Some(pid) = self.running(name) {
                end(pid, name)?;
                stopped = true;
            }
            let _ = fs::remove_file(self.note(name));
        }
        for name in ["docker.sock", "containerd.sock"] {
            let _ = fs::remove_file(self.file(name));
        }
        Ok(stopped)
    }

    /// The process of a note, if it is still that program with our folder in its command line.
    fn running(&self, name: &str) -> Option<Pid> {
        let number: i32 = fs::read_to_string(self.note(name))
            .ok()?
            .trim()
            .parse()
            .ok()?;
        let command = fs::read(format!("/proc/{number}/cmdline")).ok()?;
        let command = String::from_utf8_lossy(&command).into_owned();
        let dir = self.dir.to_str()?;
        (command.contains(name) && command.contains(dir))
            .then(|| Pid::from_raw(number))
            .flatten()
    }
}

/// Whether a process runs. One that ended stays listed if nothing waits for the orphans of a host,
/// and is then marked Z after its name.
fn lives(pid: Pid) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}

/// Asks a process to end, and kills it when it does not.
fn end(pid: Pid, name: &str) -> anyhow::Result<()> {
    for signal in [Signal::TERM, Signal::KILL] {
        let _ = kill_process(pid, signal);
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            if !lives(pid) {
                return Ok(());
            }
            thread::sleep(Duration::from_millis(50));
        }
    }
    bail!("{name} (process {}) does not end", pid.as_raw_nonzero())
}
