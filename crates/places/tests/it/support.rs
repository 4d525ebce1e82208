//! Parts that the tests share: the contender that misbehaves on demand, and a runtime to start it.

use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use bakeoff_model::suite::Limits;
use bakeoff_places::local::{ProcessOptions, ProcessRuntime};
use bakeoff_places::{ContainerOptions, Instance, Runtime, StartSpec};
use rustix::net::{AddressFamily, SocketType, bind, getsockname, socket, sockopt};

/// Patience with services that will respond.
pub(crate) const LIMIT: Duration = Duration::from_secs(15);

/// The example `contender`, which `cargo test` builds with the tests.
pub(crate) fn contender() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let path = test
        .parent()
        .unwrap()
        .parent()
        .unwrap()
        .join("examples/contender");
    assert!(
        path.is_file(),
        "{} is missing: run `cargo test --examples` first",
        path.display()
    );
    path
}

/// Returns a port that the kernel gives to no other program while the tests run: a socket holds it,
/// which does not listen, so that a server that allows the reuse of its address can.
pub(crate) fn free_port() -> u16 {
    static HELD: Mutex<Vec<OwnedFd>> = Mutex::new(Vec::new());
    let holder = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    // Without the reuse of addresses: two tests must not get the same port.
    bind(&holder, &SocketAddr::from(([0, 0, 0, 0], 0))).unwrap();
    sockopt::set_socket_reuseaddr(&holder, true).unwrap();
    let address = SocketAddr::try_from(getsockname(&holder).unwrap()).unwrap();
    HELD.lock().unwrap().push(holder);
    address.port()
}

/// A runtime with a separate folder.
pub(crate) struct Bench {
    pub(crate) base: tempfile::TempDir,
    pub(crate) runtime: ProcessRuntime,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let base = tempfile::tempdir().unwrap();
        let runtime = ProcessRuntime::new(options(base.path())).unwrap();
        Self { base, runtime }
    }

    /// A runtime that makes no groups.
    pub(crate) fn unlimited() -> Self {
        let base = tempfile::tempdir().unwrap();
        let runtime = ProcessRuntime::unlimited(options(base.path()), "by the test").unwrap();
        Self { base, runtime }
    }

    /// Whether limits are enforced here; says so when they are not.
    pub(crate) fn limits_hold(&self) -> bool {
        let enforcement = self.runtime.enforcement();
        let holds = enforcement.unlimited_because().is_none();
        if !holds {
            announce(&format!("limits are not tested: {enforcement}"));
        }
        holds
    }

    /// The specification of a command; `PORT` in it stands for the port.
    pub(crate) fn spec(&self, port: u16, command: &[&str]) -> StartSpec {
        let contender = contender().display().to_string();
        let fill = |word: &&str| {
            word.replace("PORT", &port.to_string())
                .replace("CONTENDER", &contender)
        };
        StartSpec {
            label: "test/one".to_owned(),
            arguments: Vec::new(),
            command: command.iter().map(fill).collect(),
            env: [("MARK".to_owned(), "it".to_owned())].into(),
            workdir: self.base.path().to_owned(),
            limits: Limits::default(),
            cores: Vec::new(),
            port,
            ready_path: "/".to_owned(),
            start_timeout: Duration::from_secs(15),
            image: None,
            service: None,
            container: ContainerOptions::default(),
            wire: bakeoff_places::Wire::default(),
            log_path: self.base.path().join("one.log"),
        }
    }

    pub(crate) async fn start(&self, spec: &StartSpec) -> Box<dyn Instance> {
        self.runtime.start(spec).await.unwrap()
    }
}

/// Says loudly what is not tested here.
#[expect(clippy::print_stderr, reason = "a skipped test must be seen")]
pub(crate) fn announce(text: &str) {
    eprintln!("\n******** NOT TESTED HERE ********\n{text}\n");
}

pub(crate) fn options(base: &Path) -> ProcessOptions {
    ProcessOptions {
        shim: contender(),
        shim_args: vec!["shim".into()],
        run_base: base.to_owned(),
    }
}
