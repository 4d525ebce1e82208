//! The commit that made a service worse, from outside: a repository is made, and searched.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::world::{Ran, World, git_in, program};

/// As short as it gets.
const SHORT: &str = "--get /item --duration 300ms --warm-up 200ms --connections 2";

/// Rounds of work for a request: enough that it is the service whose speed is measured, and five
/// times as many.
const WORK: u32 = 40_000;
const MUCH_WORK: u32 = 200_000;

/// A repository of a service, and where its results go.
struct Repository {
    world: World,
}

impl Repository {
    fn new() -> Self {
        let world = World::new(&[]);
        let repository = Self { world };
        fs::create_dir_all(repository.folder()).unwrap();
        repository.git(&["init", "--quiet"]);
        let script = format!(
            "exec env MODE=good BURN=$(cat burn) {}\n",
            program().display()
        );
        fs::write(repository.folder().join("service.sh"), script).unwrap();
        repository
    }

    fn folder(&self) -> PathBuf {
        self.world.out().with_file_name("shop")
    }

    fn git(&self, arguments: &[&str]) -> String {
        git_in(&self.folder(), arguments)
    }

    /// Commits a service that does so much work; one that is broken does not build.
    fn commit(&self, title: &str, burn: u32, is_broken: bool) {
        let folder = self.folder();
        fs::write(folder.join("burn"), burn.to_string()).unwrap();
        fs::write(folder.join("broken"), u32::from(is_broken).to_string()).unwrap();
        fs::write(folder.join("title"), title).unwrap();
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", title]);
    }

    fn bisect(&self, range: &str, options: &str) -> Ran {
        let port = self.world.port();
        let options = format!("bisect {range} --out OUT --port {port} {SHORT} {options}");
        let mut command = self.world.command(&options);
        command.current_dir(self.folder());
        command.args(["--command", "sh service.sh"]);
        command.args([
            "--build",
            "grep -q 0 broken || { echo no semicolon; exit 1; }",
        ]);
        let ran = Ran::from(command.output().unwrap());
        match options.contains("--json") {
            true => ran,
            false => ran.unwrapped(),
        }
    }

    /// Files of commits that are still there.
    fn trees(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.world.out().with_file_name("cache").join("trees"));
        let entries = entries.unwrap().map(|entry| entry.unwrap().path());
        entries.collect()
    }
}

#[test]
fn the_commit_that_made_a_service_slower_is_found() {
    let repository = Repository::new();
    for commit in 0..10 {
        let burn = if commit < 6 { WORK } else { MUCH_WORK };
        repository.commit(&format!("Change {commit}"), burn, commit == 5);
    }
    // The last but one commit is the one that does not build, so two are in question.
    let ran = repository.bisect("HEAD~9..", "--fail-if cpu>20% --at-once 3");
    ran.check(
        0,
        &[
            "9 commits later",
            "one of 9 commits holds the change",
            "Change 5",
            "Change 6",
            "The change is in one of 2 commits of 9 with a probability of 95 %",
            "skipped: ",
            "no semicolon",
        ],
    );
    assert_eq!(repository.trees(), [""; 0].map(PathBuf::from));
    assert_eq!(repository.git(&["status", "--porcelain"]), "");
}

#[test]
fn one_commit_is_named_and_measured_against_the_one_before_it() {
    let repository = Repository::new();
    for commit in 0..6 {
        let burn = if commit < 4 { WORK } else { MUCH_WORK };
        repository.commit(&format!("Change {commit}"), burn, false);
    }
    let ran = repository.bisect("HEAD~5..", "--fail-if slower>20% --json");
    ran.check(0, &["\"event\":\"bisection-confirms\""]);
    let last: Value = serde_json::from_str(ran.stdout.lines().last().unwrap()).unwrap();
    let found = &last["bisection"];
    assert_eq!(last["event"], "bisection-ended", "{last}");
    assert_eq!(found["outcome"], "found", "{last}");
    assert_eq!(found["candidates"][0]["title"], "Change 4", "{last}");
    // It serves fewer requests than the commit before it, significantly.
    assert!(found["of_commit"]["high"].as_f64().unwrap() < 1.0, "{last}");
    let sentence = found["sentence"].as_str().unwrap();
    assert!(sentence.contains("than the commit before it"), "{sentence}");
}

#[test]
fn commits_that_are_alike_are_not_searched() {
    let repository = Repository::new();
    for commit in 0..3 {
        repository.commit(&format!("Change {commit}"), WORK, false);
    }
    let ran = repository.bisect("HEAD~2..", "--fail-if cpu>100% --within 10s");
    ran.check(
        0,
        &["significantly not cpu>100%, so no commit is looked for."],
    );
    assert!(!ran.stdout.contains("measuring:"), "{}", ran.stdout);
}

#[test]
fn what_cannot_be_searched_is_refused() {
    let repository = Repository::new();
    repository.commit("First", 0, false);
    repository.commit("Second", 0, true);
    for (range, options, text) in [
        ("HEAD~1..HEAD", "--fail-if errors>1%", "write slower>5%"),
        ("HEAD~1..HEAD", "", "both ends of the line must build"),
        ("HEAD~1", "", "write GOOD..BAD"),
    ] {
        repository.bisect(range, options).check(1, &[text]);
    }
    assert_eq!(repository.trees(), [""; 0].map(PathBuf::from));
}
