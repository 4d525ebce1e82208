//! Containers of a real engine: limits, clock, hints, stops, leftovers. Switched on by
//! `BAKEOFF_TEST_DOCKER=1`; `cargo offline docker-engine start` provides an engine.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use bakeoff_base::problem::Problem;
use bakeoff_build::cache_dir;
use bakeoff_model::suite::Limits;
use bakeoff_model::suite::conditions::{Enforcement, TrafficPath};
use bakeoff_places::docker::{DockerRuntime, Engine, ImageError, ImageSpec, java_in_image};
use bakeoff_places::{ContainerOptions, Instance, ReadyError, Runtime, StartError, StartSpec};

use crate::support::{LIMIT, contender, free_port};

/// Switches these tests on.
const SWITCH: &str = "BAKEOFF_TEST_DOCKER";

/// Every container has its own address, so one port does for all.
const PORT: u16 = 8080;

const SERVE: [&str; 4] = ["/app/contender", "serve", "0.0.0.0", "8080"];

/// The contender of `fixtures/contender.c`, compiled once.
fn program() -> PathBuf {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    let make = || {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("docker");
        std::fs::create_dir_all(&folder).unwrap();
        let program = folder.join("contender");
        // Tests of another process may be making it at the same time.
        let draft = folder.join(format!("draft-{}", std::process::id()));
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/fixtures/contender.c");
        let status = Command::new("cc")
            .args(["-static", "-O1", "-o"])
            .args([draft.as_os_str(), source.as_ref()])
            .status()
            .unwrap();
        assert!(status.success(), "cc: {status}");
        std::fs::rename(&draft, &program).unwrap();
        program
    };
    MADE.get_or_init(make).clone()
}

async fn engine() -> Engine {
    let host = std::env::var("DOCKER_HOST").ok();
    Engine::find(host.as_deref(), &cache_dir()).await.unwrap()
}

/// Says once what is not tested here, past the capture of what passing tests print.
fn skip(text: &str) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    if SAID.lock().unwrap().insert(text.to_owned()) {
        let _ = writeln!(
            std::io::stderr(),
            "\n******** NOT TESTED HERE ********\n{text}\n"
        );
    }
}

/// A runtime with an image; `None`, loudly, when these tests are off.
struct Bench {
    runtime: DockerRuntime,
    image: String,
    folder: tempfile::TempDir,
}

impl Bench {
    async fn new() -> Option<Self> {
        Self::on("scratch").await
    }

    async fn on(base: &str) -> Option<Self> {
        if std::env::var(SWITCH).as_deref() != Ok("1") {
            skip(&format!(
                "containers: set {SWITCH}=1 where there is a Docker engine"
            ));
            return None;
        }
        let engine = engine().await;
        let spec = image_spec(base);
        let image = match engine.assemble(&spec).await {
            Err(error @ ImageError::NoBase { .. }) => {
                skip(&error.to_string());
                return None;
            }
            outcome => outcome.unwrap(),
        };
        Some(Self {
            runtime: DockerRuntime::new(engine),
            image: image.reference,
            folder: tempfile::tempdir().unwrap(),
        })
    }

    fn spec(&self, command: &[&str]) -> StartSpec {
        StartSpec {
            label: "test/one".to_owned(),
            arguments: Vec::new(),
            command: command.iter().map(|word| (*word).to_owned()).collect(),
            env: BTreeMap::from([("MARK".to_owned(), "it".to_owned())]),
            workdir: "/app".into(),
            limits: Limits::default(),
            cores: Vec::new(),
            port: PORT,
            ready_path: "/".to_owned(),
            start_timeout: Duration::from_secs(15),
            image: Some(self.image.clone()),
            service: None,
            container: ContainerOptions::default(),
            wire: bakeoff_places::Wire::default(),
            log_path: self.folder.path().join("one.log"),
        }
    }

    async fn start(&self, spec: &StartSpec) -> Box<dyn Instance> {
        self.runtime.start(spec).await.unwrap()
    }
}

fn image_spec(base: &str) -> ImageSpec {
    ImageSpec {
        suite: "test".to_owned(),
        contender: format!("c/{base}"),
        base: base.to_owned(),
        // On Debian the usual kind of program, linked to its C library.
        artifact: if base == "debian" {
            contender()
        } else {
            program()
        },
    }
}

#[tokio::test]
async fn a_container_is_sampled_with_its_network_and_image() {
    let Some(bench) = Bench::new().await else {
        return;
    };
    assert_eq!(bench.runtime.enforcement(), Enforcement::Docker);
    assert_eq!(bench.runtime.traffic_path(), TrafficPath::ContainerAddress);
    let mut instance = bench.start(&bench.spec(&SERVE)).await;
    instance.await_ready(LIMIT).await.unwrap();
    let sample = instance.sample().await.resources;
    assert!(sample.context_switches.is_some());
    assert!(
        sample
            .network
            .is_some_and(|network| network.received_bytes > 0)
    );
    assert_eq!(
        sample.threads.get("contender").map(|group| group.count),
        Some(1)
    );
    assert!(instance.image_bytes().is_some_and(|bytes| bytes > 100_000));
    instance.stop(LIMIT).await;
}

/// The output, once a text has come: the engine hands it on when it likes.
async fn log_with(instance: &dyn Instance, text: &str) -> String {
    for _ in 0..500 {
        let log = instance.logs();
        if log.contains(text) {
            return log;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("no {text:?} in {:?}", instance.logs());
}

#[tokio::test]
async fn the_address_is_not_published() {
    let Some(bench) = Bench::new().await else {
        return;
    };
    // A port on which nothing on this host listens, so that a response there could only be ours.
    let free = TcpListener::bind("0.0.0.0:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let mut spec = bench.spec(&["/app/contender", "serve", "0.0.0.0", &port.to_string()]);
    spec.port = port;
    let mut instance = bench.start(&spec).await;
    instance.await_ready(LIMIT).await.unwrap();
    assert!(TcpStream::connect(instance.address()).is_ok());
    let gateway = bench.runtime.gateway().await.unwrap();
    for ip in ["127.0.0.1".parse().unwrap(), gateway] {
        let outcome = TcpStream::connect(SocketAddr::new(ip, port));
        assert!(outcome.is_err(), "{ip}:{port} is published");
    }
    instance.stop(LIMIT).await;
}

#[tokio::test]
async fn containers_reach_a_backend_on_this_host() {
    let Some(bench) = Bench::new().await else {
        return;
    };
    let gateway = bench.runtime.gateway().await.unwrap();
    let backend = TcpListener::bind(SocketAddr::new(gateway, 0)).unwrap();
    let port = backend.local_addr().unwrap().port().to_string();
    let answering = std::thread::spawn(move || {
        let (mut stream, _) = backend.accept().unwrap();
        stream.write_all(b"hello").unwrap();
    });
    let spec = bench.spec(&["/app/contender", "fetch", &gateway.to_string(), &port]);
    let mut instance = bench.start(&spec).await;
    match instance.await_ready(LIMIT).await.unwrap_err() {
        ReadyError::Exited { exit, log, .. } => {
            assert_eq!((exit.code, log.as_str()), (Some(0), "fetched hello"));
        }
        other => panic!("{other:?}"),
    }
    answering.join().unwrap();
}

#[tokio::test]
async fn a_contender_gets_its_environment_only() {
    let Some(bench) = Bench::new().await else {
        return;
    };
    let mut instance = bench
        .start(&bench.spec(&["/app/contender", "env", "0.0.0.0", "8080"]))
        .await;
    instance.await_ready(LIMIT).await.unwrap();
    let log = log_with(instance.as_ref(), "listening").await;
    let pairs = log
        .lines()
        .take_while(|line| !line.starts_with("listening"));
    let names: Vec<&str> = pairs
        .filter_map(|pair| Some(pair.split_once('=')?.0))
        .collect();
    assert!(names.contains(&"MARK"), "{names:?}");
    // Variables that every engine sets in every container.
    let engines = ["HOME", "HOSTNAME", "MARK", "PATH", "container", "TERM"];
    assert!(names.iter().all(|name| engines.contains(name)), "{names:?}");
    instance.stop(LIMIT).await;
}

#[tokio::test]
async fn without_limits_the_same_memory_is_fine() {
    let Some(bench) = Bench::new().await else {
        return;
    };
    let mut instance = bench
        .start(&bench.spec(&["/app/contender", "eat", "256"]))
        .await;
    match instance.await_ready(LIMIT).await.unwrap_err() {
        ReadyError::Exited { exit, log, .. } => {
            assert_eq!((exit.code, exit.oom_killed), (Some(3), false));
            assert_eq!(log, "ate 256 MiB");
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_deaf_contender_is_killed_without_being_waited_for() {
    let Some(bench) = Bench::new().await else {
        return;
    };
    let spec = bench.spec(&["/app/contender", "deaf", "0.0.0.0", "8080"]);
    let mut instance = bench.start(&spec).await;
    instance.await_ready(LIMIT).await.unwrap();
    let patience = Duration::from_secs(3600);
    let report = instance.stop(patience).await;
    assert!(report.killed && !report.graceful, "{report:?}");
    assert!(report.took < patience, "{report:?}");
    assert_eq!(
        (report.exit.signal, report.exit.oom_killed),
        (Some(9), false)
    );
}

#[tokio::test]
async fn a_contender_that_listens_on_loopback_gets_a_hint() {
    let Some(bench) = Bench::new().await else {
        return;
    };
    let spec = bench.spec(&["/app/contender", "serve", "127.0.0.1", "8080"]);
    let mut instance = bench.start(&spec).await;
    let error = instance
        .await_ready(Duration::from_secs(1))
        .await
        .unwrap_err();
    let problem = Problem::from(error);
    let hint = &problem.hints()[0];
    assert!(
        hint.contains("127.0.0.1:8080") && hint.ends_with("not on 0.0.0.0:8080"),
        "{hint}"
    );
    instance.stop(LIMIT).await;
}

#[tokio::test]
async fn what_cannot_be_started_is_said() {
    let Some(bench) = Bench::new().await else {
        return;
    };
    let missing = bench.runtime.start(&bench.spec(&["/app/no-such"])).await;
    let Err(StartError::Failed(problem)) = missing else {
        panic!("it started");
    };
    assert!(problem.message().contains("/app/no-such"), "{problem}");
    let mut spec = bench.spec(&SERVE);
    spec.image = Some("bakeoff/no-such:1".to_owned());
    let Err(error) = bench.runtime.start(&spec).await else {
        panic!("it started");
    };
    assert_eq!(
        error.to_string(),
        "test/one: there is no image bakeoff/no-such:1"
    );
}

#[tokio::test]
async fn the_same_artifact_gives_the_same_image() {
    let Some(bench) = Bench::new().await else {
        return;
    };
    let engine = bench.runtime.engine();
    let first = engine.assemble(&image_spec("scratch")).await.unwrap();
    let again = engine.assemble(&image_spec("scratch")).await.unwrap();
    assert_eq!((&first.id, &first.reference), (&again.id, &bench.image));
    assert_eq!(first.labels["bakeoff.contender"], "c/scratch");
    let dynamic = ImageSpec {
        artifact: "/bin/sh".into(),
        ..image_spec("scratch")
    };
    let refused = engine.assemble(&dynamic).await.unwrap_err().to_string();
    assert!(
        refused.starts_with("c/scratch: /app/sh is linked dynamically: it wants /lib"),
        "{refused}"
    );
    let missing = engine.assemble(&image_spec("jre-3")).await.unwrap_err();
    assert!(matches!(missing, ImageError::NoBase { .. }));
    assert_eq!(
        missing.to_string(),
        "c/jre-3: base image bakeoff-base/jre-3:latest is missing: \
         give an image with Java at /opt/jre this name: `docker tag IMAGE bakeoff-base/jre-3`"
    );
}

#[tokio::test]
async fn usual_programs_run_on_debian() {
    let Some(bench) = Bench::on("debian").await else {
        return;
    };
    let mut instance = bench
        .start(&bench.spec(&["/app/contender", "serve", "0.0.0.0:8080"]))
        .await;
    instance.await_ready(LIMIT).await.unwrap();
    let engine = bench.runtime.engine();
    let shell = ["/bin/sh", "-c", "ls /app; exit $0"].map(str::to_owned);
    let output = engine
        .output(&bench.image, &[&shell[..], &["0".to_owned()]].concat())
        .await;
    assert_eq!(output.as_deref(), Ok("contender\n"));
    let output = engine
        .output(&bench.image, &[&shell[..], &["4".to_owned()]].concat())
        .await;
    let error = output.unwrap_err();
    assert!(
        error.message().ends_with("exited with code 4: contender"),
        "{error}"
    );
    instance.stop(LIMIT).await;
}

#[tokio::test]
async fn a_jvm_shows_its_counters() {
    let Some(bench) = Bench::on("jre-25").await else {
        return;
    };
    let java = java_in_image();
    let mut spec = bench.spec(&[&java, "-m", "jdk.httpserver", "-b", "0.0.0.0", "-p", "8080"]);
    spec.limits = Limits {
        cpus: Some(1.5),
        memory_bytes: Some(256 << 20),
    };
    let mut instance = bench.start(&spec).await;
    instance.await_ready(LIMIT).await.unwrap();
    let sample = instance.sample().await.resources;
    let jvm = sample.jvm.unwrap();
    assert!(
        jvm.heap_capacity_bytes >= jvm.heap_used_bytes && jvm.jit_ns > 0,
        "{jvm:?}"
    );
    assert!(sample.threads.len() > 3, "{:?}", sample.threads);
    instance.stop(LIMIT).await;
}

/// Carries the engine's API over TCP, as an engine on another host would offer it.
async fn over_tcp(engine: &Engine, address: &str) -> SocketAddr {
    let socket = engine.host().strip_prefix("unix://").unwrap().to_owned();
    let listener = tokio::net::TcpListener::bind(address).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let mut engine = tokio::net::UnixStream::connect(&socket).await.unwrap();
            tokio::spawn(
                async move { tokio::io::copy_bidirectional(&mut client, &mut engine).await },
            );
        }
    });
    address
}

// The proxy must go on while a drop waits for the engine.
#[tokio::test(flavor = "multi_thread")]
async fn an_engine_elsewhere_is_used_over_its_host_network() {
    let Some(bench) = Bench::new().await else {
        return;
    };
    if !bench.runtime.engine().host().starts_with("unix://") {
        skip("an engine elsewhere: the one of DOCKER_HOST has no socket to be played with");
        return;
    }
    // Another address of this host: for all that the runtime knows, another host.
    let elsewhere = over_tcp(bench.runtime.engine(), "127.0.0.2:0").await;
    let engine = Engine::connect(&format!("tcp://{elsewhere}"))
        .await
        .unwrap();
    let runtime = DockerRuntime::new(engine);
    assert_eq!(runtime.traffic_path(), TrafficPath::HostNetwork);
    assert_eq!(runtime.gateway().await.unwrap().to_string(), "127.0.0.1");
    let round_trip_ns = runtime.engine().far_host().unwrap().host.round_trip_ns;
    assert!(round_trip_ns.is_some_and(|time| time > 0));
    let port = free_port();
    let mut spec = bench.spec(&["/app/contender", "serve", "127.0.0.2", &port.to_string()]);
    spec.port = port;
    let mut instance = runtime.start(&spec).await.unwrap();
    assert_eq!(instance.address().to_string(), format!("127.0.0.2:{port}"));
    let startup = instance.await_ready(LIMIT).await.unwrap();
    assert_eq!(startup.executed_ns, startup.created_ns);
    // The metrics of the API; threads only the host itself can list.
    let sample = instance.sample().await.resources;
    assert!(
        sample.cpu.is_some_and(|cpu| cpu.total_ns() > 0),
        "{sample:?}"
    );
    assert!(sample.memory.is_some_and(|memory| memory.now_bytes > 0));
    assert!(sample.threads.is_empty());
    let report = instance.stop(LIMIT).await;
    assert_eq!((report.graceful, report.exit.code), (true, Some(0)));
}

/// Names of the containers and networks of a session.
async fn left(pid: u32) -> Vec<String> {
    let docker = bollard::Docker::connect_with_host(engine().await.host()).unwrap();
    let filters = [("label".to_owned(), vec![format!("bakeoff.session={pid}")])];
    let containers = bollard::query_parameters::ListContainersOptions {
        all: true,
        filters: Some(filters.clone().into()),
        ..Default::default()
    };
    let networks = bollard::query_parameters::ListNetworksOptions {
        filters: Some(filters.into()),
    };
    let containers = docker.list_containers(Some(containers)).await.unwrap();
    let networks = docker.list_networks(Some(networks)).await.unwrap();
    let containers = containers.into_iter().filter_map(|found| found.id);
    containers
        .chain(networks.into_iter().filter_map(|found| found.name))
        .collect()
}

#[tokio::test]
async fn what_a_killed_session_left_is_swept() {
    let Some(bench) = Bench::new().await else {
        return;
    };
    let mut session = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "docker::session_to_be_killed",
            "--ignored",
            "--nocapture",
        ])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(session.stdout.take().unwrap());
    let ready = output
        .lines()
        .map_while(Result::ok)
        .any(|line| line.contains("session is ready"));
    assert!(ready, "the session did not get ready");
    let pid = session.id();
    assert_eq!(left(pid).await.len(), 2);
    let alive = bench.runtime.sweep().await.unwrap();
    let owned = format!("bakeoff-{pid}-");
    assert!(!alive.iter().any(|line| line.contains(&owned)), "{alive:?}");
    session.kill().unwrap();
    session.wait().unwrap();
    // What it removed is not ours to say: another test or session may sweep at the same time.
    bench.runtime.sweep().await.unwrap();
    assert_eq!(left(pid).await, Vec::<String>::new());
}

#[tokio::test]
#[ignore = "it is the session that another test kills"]
#[expect(clippy::print_stdout, reason = "the other test waits for this line")]
async fn session_to_be_killed() {
    let Some(bench) = Bench::new().await else {
        return;
    };
    let mut instance = bench.start(&bench.spec(&SERVE)).await;
    instance.await_ready(LIMIT).await.unwrap();
    println!("session is ready");
    tokio::time::sleep(Duration::from_secs(60)).await;
}

#[tokio::test]
async fn what_is_dropped_is_removed() {
    let Some(bench) = Bench::new().await else {
        return;
    };
    let instance = bench.start(&bench.spec(&SERVE)).await;
    let address = instance.address();
    drop(instance);
    let outcome = TcpStream::connect_timeout(&address, Duration::from_millis(500));
    assert!(outcome.is_err(), "{address} still responds");
}
