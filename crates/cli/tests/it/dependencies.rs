//! Suites whose contenders call programs that the suite has besides a backend, or instead of one.

use std::fs;

use serde_json::Value;

use crate::world::{World, program, skipped};

/// A suite whose contenders ask the dependency `store`, which another one depends on.
fn world(store: &str) -> World {
    let world = World::new(&["good"]);
    let program = program();
    let program = program.display();
    let dependencies = format!(
        r#"
[[dependency]]
name = "store"
{store}
env = {{ MODE = "good", PORT = "{{port}}" }}
setup = ["sh", "-c", "echo filled $DEPENDENCY_HOST $DEPENDENCY_PORT >>notes"]
reset = ["sh", "-c", "echo reset >>notes"]

[[dependency]]
name = "second"
command = ["{program}"]
env = {{ MODE = "good", PORT = "{{port}}", FIRST = "{{dependency.store.port}}" }}
ready-path = "/health"
setup = ["sh", "-c", "echo second >>notes"]

[env]
BACKEND = "{{dependency.store.host}}:{{dependency.store.port}}"
"#
    );
    let suite = world.read("suite/suite.toml");
    world.write("suite.toml", &suite.replacen("\n[env]\n", &dependencies, 1));
    world
}

#[test]
fn dependencies_are_filled_reset_metered_and_gone() {
    let world = world(&format!("command = [\"{}\"]", program().display()));
    let mut command = world.command("run SUITE --profile tiny --out OUT");
    let session = command
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let process = session.id();
    let ran = crate::world::Ran::from(session.wait_with_output().unwrap());
    ran.check(0, &["backend dependencies"]);
    let notes = world.read("suite/notes");
    let notes: Vec<&str> = notes.lines().collect();
    assert!(notes[0].starts_with("filled "), "{notes:?}");
    assert_eq!(notes[1], "second");
    assert!(notes.len() > 2, "{notes:?}");
    assert!(notes[2..].iter().all(|note| *note == "reset"), "{notes:?}");
    let file = world.out().join("records/item.good.r1.a1.jsonl");
    let records = fs::read_to_string(file).unwrap();
    let cpu = records.lines().filter_map(|line| {
        let record: Value = serde_json::from_str(line).unwrap();
        let cpu = record["backend_after"]["cpu"].as_object()?;
        // The kernel may count all of a short time as user or as system time.
        Some(cpu.values().filter_map(Value::as_u64).sum::<u64>())
    });
    assert!(cpu.max() > Some(0), "{records}");
    let logs = world.out().join("logs");
    for name in ["store", "second"] {
        assert!(
            logs.join(format!("dependency-{name}.log")).is_file(),
            "{name}"
        );
    }
    assert_eq!(world.leftovers(process), Vec::<String>::new());
}

#[test]
fn a_dependency_that_ends_ends_the_session_and_no_contender_is_blamed() {
    // Once: the next session's lives.
    let dies = "test -e died || (touch died; sleep 2; kill -9 $$) & exec";
    let world = world(&format!(
        "command = [\"sh\", \"-c\", \"{dies} {}\"]",
        program().display()
    ));
    let ran = world.run("run SUITE --profile tiny --runs 5 --out OUT");
    ran.check(1, &["dependency store was ended by signal 9", "--resume"]);
    let resumed = world.run("run SUITE --resume OUT");
    resumed.check(0, &["attempt 2", "report: "]);
    let records = fs::read_dir(world.out().join("records")).unwrap();
    for entry in records.flatten() {
        let text = fs::read_to_string(entry.path()).unwrap();
        assert!(!text.contains("\"outcome\":\"failed\""), "{text}");
    }
}

#[test]
fn a_dependency_that_does_not_start_says_why() {
    let ended = world("command = [\"sh\", \"-c\", \"echo no disk; exit 3\"]");
    ended.run("run SUITE --profile tiny --out OUT").check(
        1,
        &[
            "dependency store does not start",
            "exited with code 3 after",
            "no disk",
        ],
    );
    let container = world("image = \"store:1\"\nport = 4000");
    container.run("run SUITE --profile tiny --out OUT").check(
        1,
        &[
            "dependency store: it is a container",
            "use --runtime docker",
        ],
    );
    let command = format!("command = [\"{}\"]", program().display());
    let failing = world(&command);
    let suite = failing.read("suite/suite.toml");
    failing.write(
        "suite.toml",
        &suite.replacen("echo second", "echo full; exit 4", 1),
    );
    failing.run("run SUITE --profile tiny --out OUT").check(
        1,
        &["dependency second does not start", "exit status: 4", "full"],
    );
}

/// Switches on the tests that need a Docker engine with the base images.
const SWITCH: &str = "BAKEOFF_TEST_DOCKER";

const COMPOSE: &str = r#"
services:
  web:
    build: .
    environment: { MODE: good, PORT: 8080, BACKEND: "store:9000" }
    expose: ["8080"]
    depends_on: [store]
  store:
    build: .
    environment: { MODE: good, PORT: 9000 }
    expose: ["9000"]
    volumes: ["./data:/data", "kept:/kept"]
volumes: { kept: {} }
"#;

/// Each key that is not given to the contender or its dependency ends one of them.
const SETTINGS: &str = r#"
services:
  web:
    build: .
    entrypoint:
      - /bin/sh
      - -ec
      - |
        test "$$(id -u):$$(id -g)" = 1000:1001
        test "$$(cat /run/secrets/token)" = secret
        test "$$(ulimit -n)" = 5000
        touch /tmp/there
        if touch /not-there; then exit 1; fi
        exec /program
    user: 1000:1001
    read_only: true
    tmpfs: [/tmp]
    ulimits: { nofile: 5000 }
    secrets: [token]
    environment: { MODE: good, PORT: 8080, BACKEND: "database:9000" }
    ports: ["53:53/udp", "8080"]
    depends_on:
      filled: { condition: service_completed_successfully }
      store: { condition: service_healthy }
  filled:
    build: .
    entrypoint: ["/bin/sh", "-c", "exit ${CODE:-0}"]
    depends_on: { store: { condition: service_healthy } }
  store:
    build: .
    container_name: database
    entrypoint: ["/bin/sh", "-c", "(sleep 1; touch /ready) & exec /program"]
    environment: { MODE: good, PORT: 9000 }
    healthcheck:
      test: ls ${READY:-/ready}
      interval: 200ms
      retries: 15
secrets: { token: { file: ./token.txt } }
"#;

const DOCKERFILE: &str = "FROM bakeoff-base/debian:latest
COPY program /program
ENTRYPOINT [\"/program\"]
";

/// A service of the compose file, and an image that is started like it, reach another service of
/// that file by its name.
#[test]
fn services_of_a_compose_file_come_with_those_that_they_depend_on() {
    if std::env::var(SWITCH).is_err() {
        skipped(&format!("services of a compose file: set {SWITCH}=1"));
        return;
    }
    let world = World::new(&[]);
    world.write("compose.yaml", COMPOSE);
    world.write("Dockerfile", DOCKERFILE);
    world.write("data/one", "1");
    fs::copy(program(), world.path().join("program")).unwrap();
    let saved = world.out().with_file_name("saved");
    let arguments = format!(
        "duel --get /item a=compose:web b=image:bakeoff-compose/web:latest \
         --compose {}/compose.yaml --runs 1 \
         --duration 1s --warm-up 1s --connections 4 --memory 64MiB --out OUT --save {}",
        world.path().display(),
        saved.display()
    );
    world.run(&arguments).check(0, &[]);
    let suite = fs::read_to_string(saved.join("suite.toml")).unwrap();
    assert!(suite.contains("[[dependency]]\n"), "{suite}");
    assert!(suite.contains("/data:/data\""), "{suite}");
    assert!(suite.contains("empty-volumes = [\"/kept\"]"), "{suite}");
    let log = world.out().join("logs/dependency-store.log");
    let log = fs::read_to_string(log).unwrap();
    assert!(
        log.lines().filter(|line| *line == "/documents/1").count() > 4,
        "{log}"
    );
}

/// A service, and those that it depends on, have the settings of their containers, and it starts
/// when they are healthy or have completed.
#[test]
fn services_of_a_compose_file_have_their_settings() {
    if std::env::var(SWITCH).is_err() {
        skipped(&format!("settings of a compose file: set {SWITCH}=1"));
        return;
    }
    let world = World::new(&[]);
    world.write("compose.yaml", SETTINGS);
    world.write("Dockerfile", DOCKERFILE);
    world.write("token.txt", "secret");
    fs::copy(program(), world.path().join("program")).unwrap();
    let duel = |variable: Option<(&str, &str)>, out: &str| {
        let out = world.out().with_file_name(out);
        let mut command = world.command(&format!(
            "duel --get /item a=compose:web b=compose:web --compose {}/compose.yaml --runs 1 \
             --duration 1s --warm-up 1s --connections 4 --memory 64MiB --out {} --save {}-saved",
            world.path().display(),
            out.display(),
            out.display()
        ));
        command.envs(variable);
        crate::world::Ran::from(command.output().unwrap())
    };
    duel(None, "good").check(0, &[]);
    let file = "good-saved/contenders/a/contender.toml";
    let kept = fs::read_to_string(world.out().with_file_name(file)).unwrap();
    for text in [
        "read-only = true",
        "user = \"1000:1001\"",
        ":/run/secrets/token\"",
    ] {
        assert!(kept.contains(text), "{kept}");
    }
    duel(Some(("READY", "/gone")), "unhealthy").check(
        1,
        &[
            "dependency store does not start",
            "it is unhealthy; the last output of its check: ls: ",
            "/gone",
        ],
    );
    duel(Some(("CODE", "3")), "incomplete").check(
        1,
        &[
            "dependency filled does not start",
            "it exited with code 3, and had to end with code 0",
        ],
    );
}
