//! Services of the user's own against each other, without a suite.

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::world::{Ran, World, program};

/// As short as it gets.
const SHORT: &str = "--get /item --runs 2 --duration 300ms --warm-up 200ms --connections 2";

/// A side that is a service which behaves so.
fn side(name: &str, mode: &str) -> String {
    format!("{name}=env 'MODE={mode}' {}", program().display())
}

/// `bakeoff duel` of these sides on the port of the world.
fn duel(world: &World, sides: &[&str], options: &str) -> Ran {
    let mut command = world.command(&format!("duel --out OUT --port {}", world.port()));
    command.args(sides).args(options.split_whitespace());
    Ran::from(command.output().unwrap())
}

/// A service that runs already; it ends with this value.
struct Running(Child, String);

impl Running {
    fn start(body_bytes: usize) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bakeoff"));
        command.args(["null-server", "--until-input-ends", "--body-bytes"]);
        command.arg(body_bytes.to_string());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        let address = line.split_whitespace().last().unwrap();
        let url = format!("http://{address}");
        Self(child, url)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

#[test]
fn two_services_end_in_a_sentence_and_a_report() {
    let world = World::new(&[]);
    let (a, b) = (side("one", "good"), side("other", "good"));
    let ran = duel(&world, &[&a, &b], SHORT);
    ran.check(
        0,
        &[
            "asking each twice: GET /item",
            "all responses are equal: 200,",
        ],
    );
    let (answer, report) = ran.stdout.trim_end().rsplit_once("\nreport: ").unwrap();
    assert!(answer.lines().count() <= 12, "{answer}");
    assert!(answer.lines().all(|line| line.chars().count() <= 80));
    let (sentence, rest) = answer.split_once(".\n").unwrap();
    for name in ["one", "other"] {
        assert!(sentence.contains(name), "{sentence}");
    }
    assert!(rest.contains("2 sets · control: "), "{rest}");
    let said = ran.stderr.lines().count();
    assert!(said <= 12, "{said} lines:\n{}", ran.stderr);
    assert!(report.ends_with("out/report/index.html"), "{report}");
    let page = world.read("out/report/index.html");
    assert!(page.contains("<title>duel: one and other</title>") && page.contains("GET /item"));
    // The suite is like any other, and the session can be resumed in it, with the result.
    let ended = world.run("run out/suite --resume OUT");
    ended.check(0, &["nothing is left to run", sentence]);
    duel(&world, &[&a, &b], SHORT).check(1, &["holds a session already", "--resume"]);
    let contender = world.read("out/suite/contenders/one/contender.toml");
    assert!(contender.contains("MODE=good"), "{contender}");
    let plan = world.run("plan out/suite --profile duel");
    plan.check(0, &["one", "other"]);
}

#[test]
fn requests_of_several_sources_are_one_load() {
    let world = World::new(&[]);
    let (a, b) = (side("one", "good"), side("other", "good"));
    let file = world.out().with_file_name("shop.http");
    std::fs::write(&file, "### stored\nPOST http://shop.example/item\n").unwrap();
    let port = world.port();
    let mut command = world.command(&format!("duel --out OUT --port {port} {SHORT}"));
    command.arg("--writes").arg("--requests").arg(&file);
    let summary = world.out().with_file_name("job.md");
    command.env("GITHUB_STEP_SUMMARY", &summary);
    command.args([&a, &b, "--curl", "curl -sS http://shop.example/item"]);
    let ran = Ran::from(command.output().unwrap());
    ran.check(
        0,
        &[
            "asking each twice: GET /item, GET /item (2), stored",
            "stored: all responses are equal: 200,",
            "GET /item (2): all responses are equal: 200,",
        ],
    );
    let summary = std::fs::read_to_string(summary).unwrap();
    assert!(summary.starts_with("### duel: one and other"), "{summary}");
    let suite = world.read("out/suite/suite.toml");
    assert_eq!(suite.matches("[[benchmark.request]]").count(), 3, "{suite}");
    let checks = world.read("out/suite/checks/duel.toml");
    assert!(checks.contains("name = \"stored\""), "{checks}");
    let requests = world.read("out/requests.csv");
    for name in ["GET /item (2)", "stored"] {
        assert!(requests.contains(name), "{name} is missing in:\n{requests}");
    }
}

#[test]
fn credentials_are_named_and_only_their_user_can_read_them() {
    let world = World::new(&[]);
    let (a, b) = (side("one", "good"), side("other", "good"));
    let mode = |file: &str| {
        let found = std::fs::metadata(world.out().join("suite").join(file)).unwrap();
        found.permissions().mode() & 0o777
    };
    let files = [
        "suite.toml",
        "checks/duel.toml",
        "contenders/one/contender.toml",
    ];
    let options = format!("{SHORT} -H authorization:Basic_x --env DATABASE_URL=http://a:b@c");
    let ran = duel(&world, &[&a, &b], &options).unwrapped();
    let note = "note: what looks like a credential (DATABASE_URL, authorization) is in these files";
    ran.check(0, &[note, "read: checks/duel.toml, suite.toml;"]);
    assert_eq!(
        files.map(mode),
        [0o600, 0o600, mode("contenders/other/contender.toml")]
    );
    std::fs::remove_dir_all(world.out()).unwrap();
    let ran = duel(&world, &[&a, &b], &format!("{SHORT} -H accept:text/json"));
    assert!(!ran.check(0, &[]).stderr.contains("credential"), "{ran:#?}");
    assert_eq!(files.map(mode), [mode(files[2]); 3]);
}

#[test]
fn what_varies_in_json_can_be_left_out() {
    let world = World::new(&[]);
    let (a, b) = (side("one", "numbered"), side("other", "numbered"));
    duel(&world, &[&a, &b], SHORT).check(2, &["responds to GET /item differently", "--ignore"]);
    let ran = duel(&world, &[&a, &b], &format!("{SHORT} --ignore $.number"));
    ran.check(0, &["all responses are equal except for $.number: 200,"]);
}

/// On loopback alone, or on a port that they choose, services are not reached in turns.
#[test]
fn services_that_cannot_be_reached_in_turns_are_measured_in_whole_runs() {
    let world = World::new(&[]);
    let port = world.port();
    let bakeoff = env!("CARGO_BIN_EXE_bakeoff");
    let side = |name: &str| format!("{name}={bakeoff} null-server --listen 127.0.0.1:{port}");
    let (a, b) = (side("one"), side("other"));
    let ran = duel(&world, &[&a, &b], SHORT);
    ran.check(0, &["one", "other", "report: "]);
    let said: Vec<&str> = ran.stderr.split_whitespace().collect();
    let expect = format!("one: it listens on 127.0.0.1:{port}, not on 0.0.0.0:");
    let said = said.join(" ");
    assert!(said.contains(&expect), "{said}");
    assert!(said.contains("whole runs one after the other instead of turns"));
    assert!(world.read("out/results.md").contains(&expect));
    let suite = world.read("out/suite/suite.toml");
    assert!(suite.contains("whole-runs = true"), "{suite}");
}

#[test]
fn services_that_answer_differently_are_measured_only_with_leave() {
    let world = World::new(&[]);
    let (a, b) = (side("right", "good"), side("wrong", "wrong-body"));
    let ran = duel(&world, &[&a, &b], SHORT);
    ran.check(
        2,
        &[
            "right and wrong respond to GET /item differently, first at byte",
            "right  200,",
            "wrong  200,",
            "--differ",
        ],
    );
    assert!(
        !world.out().exists(),
        "nothing remains of a session that never started"
    );
    let ran = duel(&world, &[&a, &b], &format!("{SHORT} --differ --quiet"));
    ran.check(0, &["right", "wrong", "report: "]);
    assert!(ran.stderr.is_empty(), "{}", ran.stderr);
}

#[test]
fn a_path_that_is_not_there_is_not_measured() {
    let world = World::new(&[]);
    let (a, b) = (side("a", "good"), side("b", "good"));
    let options = SHORT.replace("/item", "/nowhere");
    duel(&world, &[&a, &b], &options).check(2, &["a responds to GET /nowhere with 404", "path"]);
}

#[test]
fn a_service_that_ends_is_shown_with_its_log() {
    let world = World::new(&[]);
    let (good, dies) = (side("good", "good"), side("dies", "exits"));
    let ran = duel(&world, &[&good, &dies], SHORT);
    ran.check(2, &["dies: exited with code 7", "giving up on purpose"]);
    assert!(!world.out().exists(), "{ran:#?}");
}

#[test]
fn a_service_without_a_rank_is_no_result() {
    let world = World::new(&[]);
    let (good, fails) = (side("good", "good"), side("fails", "overloaded"));
    duel(&world, &[&good, &fails], SHORT).check(2, &["They cannot be compared: "]);
    world.run("rank OUT").check(2, &["fails"]);
}

#[test]
fn a_suite_can_be_kept() {
    let world = World::new(&[]);
    let (a, b) = (side("a", "good"), side("b", "good"));
    let options = format!("{SHORT} --save kept --json -X get --memory 256m");
    let ran = duel(&world, &[&a, &b], &options);
    ran.check(0, &["\"event\":\"session-ended\""]);
    let events = ran.stdout.lines();
    let events: Vec<Value> = events
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let verdict = events.iter().find(|event| event["event"] == "verdict");
    let verdict = &verdict.unwrap()["verdict"];
    assert_eq!(verdict["contenders"].as_array().unwrap().len(), 2);
    assert_eq!(verdict["comparisons"][0]["metric"], "requests-per-s");
    // Of two sets a busy host may void one, and one alone gives no reasons.
    let reasons = verdict["reasons"].as_array().unwrap();
    let total = |reason: &Value| reason["parts"][0]["name"] == "CPU, µs";
    assert!(reasons.iter().all(total), "{reasons:?}");
    assert!(verdict["sentence"].as_str().unwrap().ends_with('.'));
    let lines = ran.stdout.lines();
    assert!(lines.count() > 10, "{}", ran.stdout);
    assert!(ran.stdout.lines().all(|line| line.starts_with('{')));
    let verified = world.run("verify kept --profile duel");
    verified.check(0, &["a: functional 1/1\n", "b: functional 1/1\n"]);
    std::fs::remove_dir_all(world.out()).unwrap();
    let again = duel(&world, &[&a, &b], &format!("{SHORT} --save kept"));
    again.check(1, &["kept: holds a suite already", "bakeoff run kept"]);
}

#[test]
fn services_that_run_already_are_checked_and_loaded_and_not_metered() {
    let world = World::new(&[]);
    let (one, two) = (Running::start(5), Running::start(5));
    let (a, b) = (format!("a=url:{}", one.1), format!("b=url:{}", two.1));
    let ran = duel(&world, &[&a, &b], SHORT);
    ran.check(0, &["all responses are equal: 200, 5 bytes"]);
    assert!(!ran.stderr.contains("started in"), "{}", ran.stderr);
    let page = world.read("out/report/index.html");
    assert!(page.contains("external"));
    world
        .run("verify out/suite --profile duel --runtime external")
        .check(0, &["a: functional 1/1"]);
    std::fs::remove_dir_all(world.out()).unwrap();
    let limited = duel(&world, &[&a, &b], "--get / --cpus 2");
    limited.check(1, &["cannot be given limits", "--cpus"]);
    let third = Running::start(6);
    let c = format!("c=url:{}", third.1);
    duel(&world, &[&a, &c], SHORT).check(2, &["a  200, 5 bytes", "c  200, 6 bytes"]);
}

#[test]
fn what_cannot_be_measured_is_said_before_anything_begins() {
    let world = World::new(&[]);
    let good = side("good", "good");
    let check = |sides: &[&str], options: &str, texts: &[&str]| {
        let mut ran = duel(&world, sides, options);
        // Clap may break lines anywhere.
        ran.stderr = ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        ran.check(1, texts);
        assert!(!world.out().exists(), "{ran:#?}");
    };
    check(&[&good], SHORT, &["2"]);
    check(
        &[&good, "./server"],
        SHORT,
        &["no `=` in it", "go=./server"],
    );
    check(
        &[&good, &good],
        SHORT,
        &["two services are called good", "good-2="],
    );
    check(
        &[&good, "a=url:http://127.0.0.1:1"],
        SHORT,
        &["is a command and a is a URL"],
    );
    check(
        &[&good, &side("b", "good")],
        "--get item",
        &["--get", "begin with `/`"],
    );
    check(
        &["gone=no-such-program --port 1", &good],
        SHORT,
        &["gone: cannot execute no-such-program", "install it"],
    );
    check(
        &["gone=./no-such-program", &good],
        SHORT,
        &[
            "gone: cannot execute ./no-such-program",
            "is the path right?",
        ],
    );
    check(
        &[
            "a=url:http://127.0.0.1:1",
            "b=url:http://no.such.host.invalid",
        ],
        &SHORT.replace("--get /item", "--get /item --cpus 1"),
        &["cannot be given limits"],
    );
    let listener = TcpListener::bind(("0.0.0.0", world.port())).unwrap();
    check(
        &[&good, &side("b", "good")],
        SHORT,
        &["already in use", "--port"],
    );
    drop(listener);
    let mut command = world.command("duel --out OUT --get / a=image:x b=image:y");
    command.env("DOCKER_HOST", "unix:///nowhere/docker.sock");
    Ran::from(command.output().unwrap()).check(1, &["/nowhere/docker.sock", "hint:"]);
}

#[test]
fn what_of_a_compose_file_cannot_be_started_is_said() {
    let world = World::new(&[]);
    let compose = "services:\n  web: { image: a }\n  needy: { image: b, depends_on: [db] }\n";
    std::fs::write(world.out().with_file_name("compose.yaml"), compose).unwrap();
    let needy = ["a=compose:web", "b=compose:needy"];
    let texts = [
        "b: ",
        "compose.yaml: no service db; it has web, needy",
        "NAME=url:URL",
    ];
    duel(&world, &needy, SHORT).check(1, &texts);
    let kinds = "good is a command and a is a service of a compose file";
    let good = side("good", "good");
    duel(&world, &[&good, "a=compose:web"], SHORT).check(1, &[kinds]);
    let nowhere = format!("{SHORT} --compose nowhere.yaml");
    duel(&world, &needy, &nowhere).check(1, &["nowhere.yaml"]);
    assert!(!world.out().exists());
}
