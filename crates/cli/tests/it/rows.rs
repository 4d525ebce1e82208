//! Sessions whose contenders store rows in a real PostgreSQL, or say so. Switched on by
//! `BAKEOFF_TEST_POSTGRES=1`, because PostgreSQL has to be installed.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::{IpAddr, Ipv4Addr};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use bakeoff_model::suite::Limits;
use bakeoff_places::local::{ProcessOptions, ProcessRuntime};
use bakeoff_places::services::{
    self, Backend, BackendKind, BackendOptions, Databases, Service as _,
};
use tempfile::TempDir;

use crate::world::{Ran, World, skipped};

/// A session of two runs.
const SESSION: &str = "run SUITE --profile tiny --runs 2 --benchmark store --json --out OUT";

const STORING: &str = r#"
[[backend]]
name = "postgres"
data = "data"
[[backend.rows]]
request = "store"
query = "SELECT count(*) FROM items"

[[benchmark]]
name = "store"
[[benchmark.request]]
name = "store"
path = "/store"
"#;

/// PostgreSQL's own `psql`: what is on the PATH may be Debian's wrapper, which is slow.
fn psql() -> PathBuf {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    let mut programs = versions.flatten().map(|one| one.path().join("bin/psql"));
    let found = programs.find(|program| program.is_file());
    found.unwrap_or_else(|| PathBuf::from("psql"))
}

/// A world of contenders that store, with a database for each.
fn storing(modes: &[&str]) -> World {
    let world = World::new(modes);
    // The server runs as another user than root; tests may run as root.
    let everybody = fs::Permissions::from_mode(0o755);
    fs::set_permissions(world.out().parent().unwrap(), everybody).unwrap();
    let suite = fs::read_to_string(world.path().join("suite.toml")).unwrap();
    let login = "{backend.user}:{backend.password}";
    let server = "{backend.host}:{backend.port}";
    let database = format!("postgres://{login}@{server}/{{backend.database}}");
    let env = format!(
        "DATABASE_URL = \"{database}\"\nPSQL = \"{}\"\n[env-unreachable]",
        psql().display()
    );
    let suite = suite.replace("[env-unreachable]", &env) + STORING;
    world.write("suite.toml", &suite);
    let schema = "CREATE TABLE items (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY)";
    world.write("data/schema.sql", schema);
    world
}

/// A server that runs already, as the user's own.
struct Server {
    /// Runs the server, with all that it needs.
    runtime: tokio::runtime::Runtime,
    backend: Backend,
    _process: ProcessRuntime,
    _folder: TempDir,
}

impl Server {
    fn start() -> Self {
        let folder = TempDir::new().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(folder.path().join("schema.sql"), "SELECT 1").unwrap();
        let process = ProcessRuntime::new(ProcessOptions {
            shim: env!("CARGO_BIN_EXE_bakeoff").into(),
            shim_args: vec!["shim".into()],
            run_base: folder.path().join("run"),
        });
        let (process, runtime) = (process.unwrap(), tokio::runtime::Runtime::new().unwrap());
        let options = BackendOptions {
            kind: BackendKind::Postgres,
            listen: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: None,
            cores: Vec::new(),
            limits: Limits::default(),
            data: folder.path().to_owned(),
            log_path: folder.path().join("log"),
        };
        let backend = runtime
            .block_on(services::start(&process, &options))
            .unwrap();
        runtime.block_on(held(&backend).prepare("admin")).unwrap();
        let server = Self {
            runtime,
            backend,
            _process: process,
            _folder: folder,
        };
        server.query("DROP DATABASE bakeoff__template");
        server.query("CREATE ROLE ann LOGIN CREATEDB PASSWORD 'secret'");
        server
    }

    fn query(&self, statement: &str) -> String {
        let answer = self
            .runtime
            .block_on(held(&self.backend).query("admin", statement));
        answer.unwrap()
    }

    /// Names of the databases that ann has.
    fn databases(&self) -> String {
        self.query(
            "SELECT string_agg(datname, ' ' ORDER BY datname) FROM pg_database \
             WHERE pg_get_userbyid(datdba) = 'ann'",
        )
    }
}

/// The user's own server as the backend, killed session and resumption included.
#[test]
fn a_session_on_a_server_that_runs_already_leaves_nothing_there() {
    if !switched_on("a session on the user's own PostgreSQL") {
        return;
    }
    let (world, mut server) = (storing(&["good"]), Server::start());
    let place = server.backend.address();
    let url = format!("--backend-url postgres://ann:secret@{place}");
    let mut session = until_load(&world, &format!("{SESSION} {url}"));
    session.kill().unwrap();
    session.wait().unwrap();
    let ours = "bakeoff__session bakeoff__template bakeoff_good";
    assert_eq!(server.databases(), ours, "where is its data?");

    let resume = "run SUITE --resume OUT";
    world.run(resume).check(
        1,
        &["it asks for a password, and none was given", "PGPASSWORD"],
    );
    let resumed = world.command(resume).env("PGPASSWORD", "secret").output();
    let resumed = Ran::from(resumed.unwrap());
    resumed.check(0, &["report: "]);
    assert_eq!(server.databases(), "", "something was left there");
    let results = world.read("out/results.md");
    assert!(
        results.contains(&format!("postgres at {place}")),
        "{results}"
    );
    let plan = world.read("out/session.json");
    assert!(plan.contains("postgres://ann@"), "{plan}");
    for file in [
        "out/session.json",
        "out/results.csv",
        "out/report/index.html",
    ] {
        assert!(
            !world.read(file).contains("secret"),
            "the password is in {file}"
        );
    }
    world.run(&format!("run SUITE --backend none {url}")).check(
        1,
        &[
            "cannot be the backend none",
            "--backend-url is for --backend postgres",
        ],
    );
    server.runtime.block_on(server.backend.stop());
}

fn switched_on(what: &str) -> bool {
    let on = std::env::var_os("BAKEOFF_TEST_POSTGRES").is_some();
    if !on {
        skipped(&format!("{what}: set BAKEOFF_TEST_POSTGRES=1"));
    }
    on
}

/// Processes whose command line has a text and this world's folder in it.
fn processes(world: &World, text: &str) -> Vec<u32> {
    let folder = world.out().parent().unwrap().display().to_string();
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let ours = |pid: &u32| {
        let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let command = String::from_utf8_lossy(&command);
        command.contains(&folder) && command.contains(text)
    };
    pids.filter(ours).collect()
}

fn kill(pid: u32) {
    let pid = pid.to_string();
    let sent = Command::new("kill").args(["-KILL", &pid]).status();
    assert!(sent.unwrap().success());
}

/// Starts a session and lets it go on until its first load.
fn until_load(world: &World, arguments: &str) -> Child {
    let mut command = world.command(arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let came = lines.any(|line| line.unwrap().contains("\"event\":\"step-began\""));
    assert!(came, "the session ended before the load");
    // The rest of its output must be read, or it would wait for a reader.
    std::thread::spawn(move || lines.for_each(drop));
    child
}

#[test]
fn a_contender_that_does_not_store_what_it_says_is_caught() {
    if !switched_on("rows in a real PostgreSQL") {
        return;
    }
    let world = storing(&["good", "forgets"]);
    world
        .run("run SUITE --profile tiny --benchmark store --out OUT")
        .check(
            2,
            &[
                "FAILED at count",
                "of `store` succeeded",
                "a success was reported and not stored",
                "1 of 2 runs failed",
            ],
        );
    let results = world.read("out/results.md");
    let unranked = results
        .lines()
        .find(|line| line.starts_with("- **forgets**"));
    assert!(
        unranked.is_some_and(|line| line.contains("check rows/one for each store failed")),
        "{results}"
    );
    let row = |line: &&str| line.starts_with("| 1 | good |");
    assert_eq!(results.lines().filter(row).count(), 1, "{results}");
}

#[test]
fn a_session_that_is_killed_leaves_no_server_to_the_next() {
    if !switched_on("a killed session with a real PostgreSQL") {
        return;
    }
    let world = storing(&["good"]);
    let mut session = until_load(&world, SESSION);
    session.kill().unwrap();
    session.wait().unwrap();
    world.run("run SUITE --resume OUT").check(0, &["report: "]);
    assert_eq!(processes(&world, "postgres"), [0; 0]);
    assert_eq!(world.leftovers(session.id()), [""; 0]);
}

#[test]
fn a_server_that_is_killed_ends_the_session_and_says_so() {
    if !switched_on("a killed PostgreSQL") {
        return;
    }
    let world = storing(&["good"]);
    let session = until_load(&world, SESSION);
    let servers = processes(&world, "/data");
    assert!(!servers.is_empty(), "no server is there to be killed");
    servers.into_iter().for_each(kill);
    let ended = Ran::from(session.wait_with_output().unwrap());
    ended.check(1, &["backend postgres was ended by signal 9", "--resume"]);
    assert_eq!(processes(&world, "postgres"), [0; 0]);
    let resumed = world.run("run SUITE --resume OUT");
    resumed.check(0, &["attempt 2", "report: "]);
}

#[test]
fn a_contender_that_is_killed_fails_its_run_only() {
    if !switched_on("a killed contender with a real PostgreSQL") {
        return;
    }
    let world = storing(&["good"]);
    let session = until_load(&world, SESSION);
    let contenders = processes(&world, "/contender");
    contenders.into_iter().for_each(kill);
    let ended = Ran::from(session.wait_with_output().unwrap());
    ended.check(2, &[]);
    let results = world.read("out/results.md");
    assert!(
        results.contains("run 1: load: was ended by signal 9 at "),
        "{results}"
    );
    assert!(!results.contains("run 2: "), "{results}");
}

/// The databases of contenders that a server holds.
fn held(server: &Backend) -> &Databases {
    server.databases().expect("it is a PostgreSQL")
}
