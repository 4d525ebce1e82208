//! Contenders against what they were, from outside: a repository is made, a session is run on it.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use quick_junit::Report;
use serde_json::Value;

use crate::world::{Ran, World, git_in, program, skipped};

/// Short sets of whatever the profile says.
const TURNS: &str = r#"
[profile.turns]
limits = { cpus = 1.0, memory = "64MiB" }
runs = 2
slice = "200ms"
ladder = { warm-up = [4], connections = [4], step = "600ms" }
"#;

/// A world whose suite is in a repository next to it, with one commit; `None`, with a printed note,
/// if turns are not permitted.
fn world() -> Option<World> {
    if !rustix::process::geteuid().is_root() {
        skipped("baselines: turns take root");
        return None;
    }
    let world = World::new(&["good"]);
    let suite = fs::read_to_string(world.path().join("suite.toml")).unwrap();
    let suite = suite.replace(
        "[suite]",
        "[suite]\nlifecycle = false\nlogs-requests = false",
    );
    world.write("suite.toml", &format!("{suite}{TURNS}"));
    git(&world, &["init", "--quiet"]);
    commit(&world, "The service as it was");
    Some(world)
}

fn top(world: &World) -> PathBuf {
    world.path().parent().unwrap().to_owned()
}

/// Runs the binary to its end.
fn run(world: &World, arguments: &str) -> Ran {
    world.run(arguments).unwrapped()
}

/// Returns the output of git in the world's repository.
fn git(world: &World, arguments: &[&str]) -> String {
    git_in(&top(world), arguments)
}

fn commit(world: &World, message: &str) {
    git(world, &["add", "suite"]);
    git(world, &["commit", "--quiet", "--message", message]);
}

/// Changes a text in the file of the contender.
fn change(world: &World, old: &str, new: &str) {
    let file = "contenders/good/contender.toml";
    let text = fs::read_to_string(world.path().join(file)).unwrap();
    assert!(text.contains(old), "{text}");
    world.write(file, &text.replace(old, new));
}

/// Files of revisions that are still there.
fn trees(world: &World) -> Vec<PathBuf> {
    let entries = fs::read_dir(top(world).join("cache/trees")).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

fn junit(world: &World) -> Report {
    Report::deserialize_from_str(&world.read("out/ci/junit.xml")).unwrap()
}

#[test]
fn a_head_that_fails_more_requests_than_allowed_is_caught_also_after_a_kill() {
    let Some(world) = world() else { return };
    change(&world, "MODE = \"good\"", "MODE = \"fails-rarely\"");
    let arguments = "run SUITE --profile turns --baseline HEAD --fail-if errors>0.05% --out OUT";
    let mut child = world
        .command(&format!("{arguments} --json"))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let came = lines.any(|line| line.unwrap().contains("\"turns\":["));
    assert!(came, "no turns");
    assert_eq!(trees(&world).len(), 1);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(trees(&world).len(), 1, "nothing was there to remove it");

    run(&world, "run SUITE --resume OUT").check(
        3,
        &[
            "baseline HEAD (",
            "head is the suite's folder as it is, 1 uncommitted change included",
            "swept: folder ",
            "good@base",
            "errors>0.05%: good: ",
            "failed: the condition holds",
            "out/ci/summary.md",
        ],
    );
    assert_eq!(trees(&world), [""; 0].map(PathBuf::from));
    assert_eq!(git(&world, &["worktree", "list"]).lines().count(), 1);
    let status = git(&world, &["status", "--porcelain", "--untracked-files=no"]);
    assert_eq!(status.trim(), "M suite/contenders/good/contender.toml");

    let report = junit(&world);
    assert_eq!((report.tests, report.failures), (2, 1));
    let summary = world.read("out/ci/summary.md");
    assert!(
        summary.contains("**failed: the condition holds**"),
        "{summary}"
    );
    for file in ["bigger-is-better", "smaller-is-better"] {
        let text = world.read(&format!("out/ci/{file}.json"));
        let entries: Value = serde_json::from_str(&text).unwrap();
        assert!(entries.is_array(), "{text}");
    }
    fs::remove_dir_all(world.out().join("ci")).unwrap();
    world.run("report OUT").check(0, &["index.html"]);
    assert_eq!(world.read("out/ci/summary.md"), summary);
    run(&world, "run SUITE --resume OUT").check(
        3,
        &["nothing is left to run", "failed: the condition holds"],
    );
}

/// The service is a script next to the suites that `init` and `duel --save` write, in two commits:
/// as it was, and with five times the work.
#[test]
fn written_suites_find_the_service_of_each_commit() {
    if !rustix::process::geteuid().is_root() {
        return skipped("baselines of written suites: turns take root");
    }
    let world = World::new(&[]);
    let (port, program) = (world.port(), program().display().to_string());
    let write = |file: &str, text: &str| fs::write(top(&world).join(file), text).unwrap();
    let service = |words: &str, burn: u32| {
        let text = format!("# {words}\nMODE=good BURN={burn} exec {program}\n");
        write("serve.sh", &text);
    };
    let commit = |message: &str| {
        git(&world, &["add", "serve.sh", "bench", "kept"]);
        git(&world, &["commit", "--quiet", "--message", message]);
    };
    service("As it was.", 30_000);
    write("shop.http", "GET http://shop.example/item\n");
    git(&world, &["init", "--quiet", "--initial-branch", "main"]);
    let side = |name: &str| format!("{name}=sh serve.sh");
    let mut init = world.command(&format!("init bench --requests shop.http --port {port}"));
    let init = init.args([side("shop"), side("same")]).output();
    Ran::from(init.unwrap()).check(0, &["bakeoff run bench"]);
    let suite = world.read("bench/suite.toml");
    write("bench/suite.toml", &format!("{suite}{TURNS}"));
    let duel = "duel --get /item --runs 1 --duration 600ms --warm-up 300ms --connections 4 \
                --save kept --out OUT --quiet --port";
    let mut duel = world.command(&format!("{duel} {port}"));
    let duel = duel.args([side("shop"), side("same")]).output().unwrap();
    assert!(world.read("kept/suite.toml").contains("PORT"), "{duel:?}");
    commit("As it was");
    service("With more work.", 150_000);
    commit("More work");
    let run_it = |suite: &str, options: &str| {
        let _ = fs::remove_dir_all(world.out());
        let options = format!("--contender shop --out OUT {options}");
        run(&world, &format!("run {suite} {options}"))
    };
    // Both find what each commit starts, and the work of one of them is compared.
    let equal = "--runs 1 --fail-if errors>1% --baseline HEAD";
    for suite in ["bench --profile turns", "kept --profile duel"] {
        run_it(suite, equal).check(
            2,
            &[
                "nothing to compare: shop starts the same files on both sides",
                "base and head are the same program",
                "name a revision before the change",
            ],
        );
        assert!(!world.out().exists());
    }
    let passed = run_it("kept --profile duel", &format!("{equal}~1"));
    passed.check(0, &["passed: ", "shop@base"]);
    let worse = "--runs 3 --fail-if cpu>50% --baseline HEAD~1";
    let ran = run_it("bench --profile turns", worse);
    if ran.stdout.contains("undecided") {
        return skipped("a condition that holds: other work voided the sets of this session");
    }
    ran.check(
        3,
        &[
            "more CPU per request than its base",
            "failed: the condition holds",
        ],
    );
}

#[test]
fn what_is_one_program_on_both_sides_is_left_out_or_refused() {
    let Some(world) = world() else { return };
    let file = "contenders/good/contender.toml";
    let text = fs::read_to_string(world.path().join(file)).unwrap();
    let other = text.replace("name = \"good\"", "name = \"other\"");
    world.write("contenders/other/contender.toml", &other);
    commit(&world, "Two contenders");
    let arguments = "run SUITE --profile turns --runs 1 --baseline HEAD --fail-if errors>1%";
    run(&world, &format!("{arguments} --out OUT")).check(
        2,
        &[
            "nothing to compare: good has the same sources on both sides; other has the same",
            "hint: name a revision before the change with --baseline",
        ],
    );
    assert!(!world.out().exists());
    change(&world, "[env]", "[env]\nBURN = \"1\"");
    let left_out =
        "nothing to compare, base and head are the same program: it has the same sources";
    run(&world, &format!("{arguments} --out OUT")).check(
        0,
        &[
            &format!("other: skipped: {left_out}"),
            "passed: the condition does not hold",
        ],
    );
    let session: Value = serde_json::from_str(&world.read("out/session.json")).unwrap();
    assert_eq!(session["plan"]["runs"].as_array().unwrap().len(), 2);
    let summary = world.read("out/ci/summary.md");
    assert!(summary.contains(left_out), "{summary}");

    // One folder, and one file, of both sides.
    git(
        &world,
        &["rm", "-r", "--quiet", "--force", "suite/contenders/other"],
    );
    let service = |workdir: &str, run: &str| {
        format!(
            "[contender]\nname = \"good\"\ndescribe = \"A script.\"\nworkdir = \"{workdir}\"\n\
             run = [\"sh\", \"{run}\"]\n"
        )
    };
    let script = format!("MODE=good exec {}\n", program().display());
    world.write("serve.sh", &script);
    let folder = world.path().canonicalize().unwrap();
    let folder = folder.display().to_string();
    let absolute = format!("{folder}/serve.sh");
    let cases = [
        (
            folder.as_str(),
            "serve.sh",
            "in the same folder",
            "give `workdir` relative to the suite",
        ),
        ("../..", &absolute, "the same file", "relative to `workdir`"),
    ];
    for (workdir, script, same, hint) in cases {
        world.write(file, &service(workdir, script));
        commit(&world, "Another definition");
        let ran = run(&world, &format!("{arguments} --out refused"));
        let expect = format!("good starts {same} on both sides ({folder}");
        ran.check(2, &[&expect, "so base and head are the same program", hint]);
    }
}

#[test]
fn what_has_not_changed_passes_in_a_folder_and_with_more_steps_than_one() {
    let Some(world) = world() else { return };
    let suite = fs::read_to_string(world.path().join("suite.toml")).unwrap();
    let one = "connections = [4], step = \"600ms\"";
    assert!(suite.contains(one), "{suite}");
    let two = "connections = [2, 4], step = \"600ms\"";
    world.write("suite.toml", &suite.replace(one, two));
    let copied = Command::new("cp")
        .arg("-r")
        .args([world.path(), top(&world).join("before")])
        .status();
    assert!(copied.unwrap().success());
    // With the same sources it would be the same program.
    change(&world, "Behaves as its name says", "Does as its name says");
    let new = fs::read_to_string(world.path().join("contenders/good/contender.toml")).unwrap();
    let new = new.replace("name = \"good\"", "name = \"new\"");
    world.write("contenders/new/contender.toml", &new);
    // Its steps become one of ten seconds after a warm-up, so one set is enough to wait for.
    let arguments = "run SUITE --profile turns --baseline before --runs 1 --fail-if errors>1% \
                     --out OUT";
    run(&world, arguments).check(
        0,
        &[
            "the profile turns: base and head take turns, 4s each with closed load over 4 \
             connections, after 600ms of warm-up",
            "skipped: new: not in the baseline before",
            "passed: the condition does not hold",
            "Against the baseline before",
        ],
    );
    assert_eq!(junit(&world).failures, 0);
    let plan: Value = serde_json::from_str(&world.read("out/session.json")).unwrap();
    assert_eq!(plan["baseline"]["folder"], "../before");
    assert_eq!(plan["plan"]["runs"].as_array().unwrap().len(), 2);
}

#[test]
fn a_head_that_is_wrong_fails_and_a_base_that_was_wrong_does_not() {
    let Some(world) = world() else { return };
    change(&world, "MODE = \"good\"", "MODE = \"wrong-body\"");
    let arguments = "run SUITE --profile turns --baseline HEAD --fail-if slower>5%";
    run(&world, &format!("{arguments} --out OUT")).check(
        2,
        &[
            "FAILED: item: good: check get/item failed",
            "failed: good is wrong or was not measured",
        ],
    );
    assert_eq!(junit(&world).failures, 1);
    commit(&world, "A mistake");
    change(&world, "MODE = \"wrong-body\"", "MODE = \"good\"");
    fs::remove_dir_all(world.out()).unwrap();
    run(&world, &format!("{arguments} --out OUT")).check(
        0,
        &[
            "not compared: item: good",
            "good@base: check get/item failed",
            "passed: the condition is undecided",
        ],
    );
    assert_eq!(junit(&world).failures, 0);
    let strict = run(
        &world,
        &format!("{arguments} --undecided fail --out strict"),
    );
    strict.check(
        3,
        &["failed: 1 of 1 conditions undecided (--undecided fail)"],
    );
}

/// Asserts the messages for options with which nothing can start.
#[track_caller]
fn check(world: &World, options: &str, texts: &[&str]) {
    let arguments = format!("run SUITE --profile turns --out OUT {options}");
    let ran = run(world, &arguments);
    ran.check(1, texts);
    assert!(!world.out().exists(), "{ran:#?}");
}

#[test]
fn options_that_mean_nothing_are_refused() {
    let Some(world) = world() else { return };
    check(
        &world,
        "--baseline mian",
        &[
            "unknown revision mian",
            "no such commit",
            "git fetch",
            "fetch-depth: 0",
        ],
    );
    check(&world, "--baseline -x", &["unexpected argument"]);
    check(&world, "--baseline=-x", &["unknown revision -x"]);
    check(&world, "--fail-if slower>5%", &["--baseline"]);
    check(
        &world,
        "--baseline HEAD --fail-if faster>5%",
        &["nothing is called \"faster\"", "slower>5%"],
    );
    check(
        &world,
        "--baseline HEAD --runs 1 --fail-if slower>5%",
        &["cannot be found to hold in 1 set", "--runs 5"],
    );
    check(
        &world,
        "--baseline HEAD --runtime external",
        &["services that run elsewhere have no baseline"],
    );
    check(
        &world,
        "--baseline HEAD --contender godo",
        &["did you mean `good`?"],
    );
    check(
        &world,
        "--baseline HEAD --round main",
        &["--baseline", "--round", "cannot be used with"],
    );
    assert_eq!(trees(&world), [""; 0].map(PathBuf::from));
}

#[test]
fn what_is_not_in_both_is_said_before_anything_begins() {
    let Some(world) = world() else { return };
    fs::rename(
        world.path().join("contenders/good"),
        top(&world).join("kept"),
    )
    .unwrap();
    let file = fs::read_to_string(top(&world).join("kept/contender.toml")).unwrap();
    world.write(
        "contenders/better/contender.toml",
        &file.replace("name = \"good\"", "name = \"better\""),
    );
    check(
        &world,
        "--baseline HEAD",
        &[
            "no contender is in both the suite and the baseline HEAD (",
            "better: not in the baseline",
            "good: only in the baseline",
        ],
    );
    git(&world, &["rm", "-r", "--quiet", "--cached", "suite"]);
    fs::write(top(&world).join("README.md"), "No suite.").unwrap();
    git(&world, &["add", "README.md"]);
    git(&world, &["commit", "--quiet", "--message", "No suite yet"]);
    check(
        &world,
        "--baseline HEAD",
        &[
            "the baseline HEAD (",
            "has no such suite: no suite.toml there",
        ],
    );
    fs::remove_dir_all(top(&world).join(".git")).unwrap();
    check(
        &world,
        "--baseline main",
        &[
            "in no git repository of which it could be a revision",
            "name the folder",
        ],
    );
    let mut command = world.command("run SUITE --profile turns --baseline main --out OUT");
    command.env("PATH", Path::new("/nowhere"));
    Ran::from(command.output().unwrap()).check(1, &["git is not installed"]);
    assert_eq!(trees(&world), [""; 0].map(PathBuf::from));
}

/// Head and base are compared in turns only: without them there is no session, and no folder.
#[test]
fn what_cannot_be_alive_concurrently_is_not_compared_with_a_baseline() {
    let world = World::new(&["good"]);
    world.hide_port();
    let user = world.unprivileged();
    let baseline = "run SUITE --profile tiny --baseline suite --out OUT";
    let without_root = Ran::from(user.command(&world, baseline).output().unwrap());
    let only = "head and base are compared in turns only, and";
    without_root.check(
        1,
        &[&format!(
            "{only} without root contenders have no separate networks"
        )],
    );
    world
        .run(&format!("{baseline} --runtime kubernetes --load-pods 2"))
        .check(
            1,
            &[
                &format!("{only} several load generators load one contender at a time"),
                "without --load-pods",
            ],
        );
    assert!(!world.out().exists());
}
