//! What every place promises of a contender: started, ready, sampled, held to its limits, stopped,
//! and left alone by a sweep. One test of each kind of place runs the same cases.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use bakeoff_base::problem::Problem;
use bakeoff_build::cache_dir;
use bakeoff_model::measure::resource::ResourceSample;
use bakeoff_model::suite::Limits;
use bakeoff_places::docker::{DockerRuntime, Engine, ImageSpec};
use bakeoff_places::local::{ProcessOptions, ProcessRuntime};
use bakeoff_places::ssh::{SshHost, SshRuntime};
use bakeoff_places::{ContainerOptions, Instance, ReadyError, Runtime, StartSpec, Wire};
use tempfile::TempDir;

use crate::ssh_server::{SSH, SshServer};
use crate::world::{World, reserved, skipped};

const BAKEOFF: &str = env!("CARGO_BIN_EXE_bakeoff");
/// Patience with everything that happens soon.
const LIMIT: Duration = Duration::from_secs(30);
/// Names the server of SSH to the test in a process that has the `ssh` which knows its keys.
const ADDRESS: &str = "BAKEOFF_TEST_CONTRACT_SSH";
const OVER_SSH: &str = "contract::processes_of_another_host";

/// A place, and how it is told what to start.
pub(crate) struct Contract {
    pub(crate) runtime: Arc<dyn Runtime>,
    /// The image of the contender.
    pub(crate) image: Option<String>,
    /// The contender [default: the entry point of the image].
    pub(crate) program: Option<PathBuf>,
    pub(crate) port: u16,
    pub(crate) folder: TempDir,
}

impl Contract {
    /// Runs all cases.
    pub(crate) async fn holds(&self) {
        self.a_good_contender_is_timed_sampled_and_stopped().await;
        self.the_cpu_quota_is_enforced().await;
        self.too_much_memory_is_named().await;
        self.whoever_does_not_stop_is_killed().await;
        self.what_cannot_start_is_named().await;
        self.runtime.end().await.unwrap();
    }

    async fn a_good_contender_is_timed_sampled_and_stopped(&self) {
        let mut instance = self.ready("serve", &[], Limits::default()).await;
        let sample = instance.sample().await.resources;
        let memory = sample.memory.unwrap();
        assert!(memory.peak_bytes >= memory.now_bytes, "{memory:?}");
        assert!(sample.cpu.is_some(), "{sample:?}");
        assert_eq!(instance.exited().await, None);
        // Whatever else was removed: another test's session may have been killed.
        self.runtime.sweep().await.unwrap();
        assert_eq!(instance.exited().await, None, "a sweep ended it");
        let started = Instant::now();
        while !instance.logs().contains("listening on 0.0.0.0") {
            assert!(started.elapsed() < LIMIT, "no log: {:?}", instance.logs());
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let report = instance.stop(LIMIT).await;
        assert!(report.graceful && !report.killed, "{report:?}");
        assert_eq!(report.exit.code, Some(0));
        let again = instance.stop(LIMIT).await;
        assert_eq!((again.graceful, again.exit), (false, report.exit));
    }

    async fn the_cpu_quota_is_enforced(&self) {
        let limits = Limits {
            cpus: Some(0.5),
            memory_bytes: None,
        };
        let mut instance = self.ready("burn", &["2"], limits).await;
        throttled(instance.as_ref(), 0.5).await;
        instance.stop(LIMIT).await;
    }

    async fn too_much_memory_is_named(&self) {
        let limits = Limits {
            cpus: None,
            memory_bytes: Some(64 << 20),
        };
        let mut instance = self.start(&["eat", "256"], limits).await;
        let error = instance.await_ready(LIMIT).await.unwrap_err();
        let ReadyError::Exited { exit, .. } = &error else {
            panic!("{error}");
        };
        assert!(exit.oom_killed, "{error}");
        assert!(error.to_string().contains("out of memory"), "{error}");
        let hints = Problem::from(error);
        assert_eq!(
            hints.hints(),
            ["it needs more memory than its limit allows"]
        );
        let report = instance.stop(LIMIT).await;
        assert!(report.exit.oom_killed && !report.graceful, "{report:?}");
    }

    async fn whoever_does_not_stop_is_killed(&self) {
        let mut instance = self.ready("deaf", &[], Limits::default()).await;
        let report = instance.stop(Duration::from_secs(1)).await;
        assert!(report.killed && !report.graceful, "{report:?}");
        assert!(!report.exit.oom_killed, "{report:?}");
    }

    async fn what_cannot_start_is_named(&self) {
        let mut spec = self.spec(&[], Limits::default());
        spec.command = vec!["/no-such-program".to_owned()];
        let said = match self.runtime.start(&spec).await {
            Err(error) => error.to_string(),
            Ok(mut instance) => {
                let error = instance.await_ready(LIMIT).await.unwrap_err();
                instance.stop(LIMIT).await;
                error.to_string()
            }
        };
        assert!(said.starts_with("contract: "), "{said}");
        // Of a Pod, the code alone is known.
        let named = self.program.is_none() || said.contains("/no-such-program");
        assert!(named, "{said}");
    }

    /// Starts a contender in this mode and waits until it responds.
    async fn ready(&self, mode: &str, more: &[&str], limits: Limits) -> Box<dyn Instance> {
        let port = self.port.to_string();
        let words = [&[mode, "0.0.0.0", port.as_str()], more].concat();
        let mut instance = self.start(&words, limits).await;
        let startup = instance.await_ready(LIMIT).await.unwrap();
        let moments = [
            startup.created_ns,
            startup.executed_ns,
            startup.listened_ns,
            startup.answered_ns,
        ];
        assert!(moments[0] > 0 && moments.is_sorted(), "{startup:?}");
        let took = startup.answered_ns - startup.executed_ns;
        assert_eq!(startup.startup_ns, took);
        instance
    }

    async fn start(&self, words: &[&str], limits: Limits) -> Box<dyn Instance> {
        self.runtime.start(&self.spec(words, limits)).await.unwrap()
    }

    fn spec(&self, words: &[&str], limits: Limits) -> StartSpec {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let (command, arguments) = match &self.program {
            Some(program) => (
                [vec![program.display().to_string()], words].concat(),
                Vec::new(),
            ),
            None => (Vec::new(), words),
        };
        StartSpec {
            label: "contract".to_owned(),
            command,
            arguments,
            env: BTreeMap::new(),
            workdir: match &self.image {
                None => self.folder.path().to_owned(),
                Some(_) => PathBuf::new(),
            },
            limits,
            cores: Vec::new(),
            port: self.port,
            ready_path: "/".to_owned(),
            start_timeout: LIMIT,
            image: self.image.clone(),
            service: None,
            container: ContainerOptions::default(),
            wire: Wire::default(),
            log_path: self.folder.path().join("contract.log"),
        }
    }
}

/// Waits until a contender under a quota of CPU cores was throttled in some periods, and asserts
/// that it used no more than the quota meanwhile.
async fn throttled(instance: &dyn Instance, quota: f64) {
    const PERIODS: u64 = 5;
    const PERIOD: Duration = Duration::from_millis(100);
    let periods = |sample: &ResourceSample| sample.throttling.unwrap().throttled_periods;
    let before = instance.sample().await.resources;
    let started = Instant::now();
    let after = loop {
        tokio::time::sleep(PERIOD).await;
        let now = instance.sample().await.resources;
        if periods(&now) >= periods(&before) + PERIODS {
            break now;
        }
        assert!(started.elapsed() < LIMIT, "not throttled: {now:?}");
    };
    let cpu_ns = |sample: &ResourceSample| sample.cpu.unwrap().total_ns();
    let used = Duration::from_nanos(cpu_ns(&after) - cpu_ns(&before));
    let passed = Duration::from_nanos(after.at_ns - before.at_ns);
    // The first and the last period are whole ones, also if the readings are inside of them. A
    // lower bound would be a statement about a busy machine.
    assert!(
        used <= (passed + 2 * PERIOD).mul_f64(quota),
        "{used:?} in {passed:?}"
    );
}

/// The contender, linked statically, so that it runs in every place.
pub(crate) fn contender() -> PathBuf {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    let make = || {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let (made, draft) = (
            folder.join("contract-contender"),
            folder.join(format!("contract-contender-{}", std::process::id())),
        );
        let source = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../places/tests/it/fixtures/contender.c"
        );
        let mut compiler = Command::new("cc");
        compiler.args(["-static", "-O1", "-o"]);
        compiler.args([draft.as_os_str(), source.as_ref()]);
        assert!(compiler.status().unwrap().success());
        std::fs::rename(&draft, &made).unwrap();
        made
    };
    MADE.get_or_init(make).clone()
}

#[tokio::test]
async fn processes_of_this_host() {
    let folder = TempDir::new().unwrap();
    let options = ProcessOptions {
        shim: BAKEOFF.into(),
        shim_args: vec!["shim".into()],
        run_base: folder.path().to_owned(),
    };
    let runtime = ProcessRuntime::new(options).unwrap();
    let (port, _held) = reserved(0).unwrap();
    if let Some(why) = runtime.enforcement().unlimited_because() {
        return skipped(&format!("processes under limits: {why}"));
    }
    let contract = Contract {
        runtime: Arc::new(runtime),
        image: None,
        program: Some(contender()),
        port,
        folder,
    };
    contract.holds().await;
}

#[tokio::test]
async fn containers() {
    const SWITCH: &str = "BAKEOFF_TEST_DOCKER";
    if std::env::var_os(SWITCH).is_none() {
        return skipped(&format!("containers: set {SWITCH}=1"));
    }
    let host = std::env::var("DOCKER_HOST").ok();
    let engine = Engine::find(host.as_deref(), &cache_dir()).await.unwrap();
    let image = ImageSpec {
        suite: "test".to_owned(),
        contender: "contract".to_owned(),
        base: "scratch".to_owned(),
        artifact: contender(),
    };
    let image = engine.assemble(&image).await.unwrap().reference;
    let contract = Contract {
        runtime: Arc::new(DockerRuntime::new(engine)),
        image: Some(image),
        program: Some("/app/contract-contender".into()),
        port: 8080,
        folder: TempDir::new().unwrap(),
    };
    contract.holds().await;
}

#[tokio::test]
async fn processes_of_another_host() {
    if let Ok(address) = std::env::var(ADDRESS) {
        let (port, _held) = reserved(0).unwrap();
        let host = SshHost::open(&address.parse().unwrap(), Path::new(BAKEOFF)).await;
        let contract = Contract {
            runtime: Arc::new(SshRuntime::begin(host.unwrap()).await.unwrap()),
            image: None,
            program: Some(contender()),
            port,
            folder: TempDir::new().unwrap(),
        };
        return contract.holds().await;
    }
    if std::env::var_os(SSH).is_none() {
        return skipped(&format!("processes of another host: set {SSH}=1"));
    }
    let world = World::new(&[]);
    let server = SshServer::named(&world, "bench-d");
    let path = std::env::var("PATH").unwrap();
    let same = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", OVER_SSH, "--nocapture"])
        .env(ADDRESS, &server.address)
        .env("PATH", format!("{}:{path}", server.programs.display()))
        .output()
        .unwrap();
    assert!(same.status.success(), "{same:?}");
    let said = String::from_utf8_lossy(&same.stdout).into_owned();
    assert!(said.contains("1 passed"), "{said}");
}
