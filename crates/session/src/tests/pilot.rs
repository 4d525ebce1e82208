//! Sessions that decide the number of their runs after a pilot: once, and the same after a kill.

use std::cell::Cell;
use std::path::Path;

use bakeoff_model::plan::{FORMAT, Plan, PlannedRun, RunKind};
use bakeoff_model::suite::conditions::{BackendName, RuntimeKind};
use bakeoff_model::suite::run_count::{DecisionReason, RunsDecision, RunsUntil};
use bakeoff_store::event::{Event, Observer};
use bakeoff_store::session_file::SessionFile;

use super::fakes::{Fakes, GOOD, Log, locked, pending, suite};
use crate::pilot;
use crate::remaining;
use crate::run_count::Standing;
use crate::store::recorder::Recorder;

const ASKED: RunsUntil = RunsUntil {
    difference: 0.05,
    sequential: false,
    at_most: 8,
    within: None,
};

/// Two contenders, eight repetitions at most, and five cold starts of one of them.
pub(super) fn session(folder: &Path) -> SessionFile {
    let mut runs = Vec::new();
    for repetition in 1..=ASKED.at_most {
        for (contender, kind) in [("a", RunKind::Load), ("b", RunKind::Load)] {
            runs.push(run(&format!("{contender}.r{repetition}"), kind, repetition));
        }
        if repetition <= 5 {
            runs.push(run(
                &format!("start.r{repetition}"),
                RunKind::Startup,
                repetition,
            ));
        }
    }
    SessionFile {
        suite_folder: folder.to_owned(),
        skipped: Vec::new(),
        plan: Plan {
            format: FORMAT,
            suite: "fake".to_owned(),
            suite_digest: String::new(),
            profile: "fake".to_owned(),
            runtime: RuntimeKind::Process,
            backend: BackendName::None,
            backend_delay: None,
            seed: 0,
            runs_until: Some(ASKED),
            no_turns: None,
            runs,
        },
        round: None,
        qualified: Vec::new(),
        baseline: None,
        runs_decision: None,
        options: Default::default(),
    }
}

fn run(id: &str, kind: RunKind, repetition: u32) -> PlannedRun {
    PlannedRun {
        kind,
        repetition,
        ..pending(id, false).run
    }
}

fn decided(runs: u32) -> RunsDecision {
    RunsDecision {
        asked: ASKED,
        pilot: 3,
        runs,
        because: DecisionReason::Enough,
        families: Vec::new(),
    }
}

/// The recorder first, as in a session.
pub(super) struct Both<'a> {
    pub(super) recorder: Recorder,
    pub(super) log: &'a mut Log,
}

impl Observer for Both<'_> {
    fn observe(&mut self, event: &Event) -> anyhow::Result<()> {
        self.recorder.observe(event)?;
        self.log.observe(event)
    }
}

/// Goes on with the session of a folder as `run --resume` does, until it is killed at an event.
/// Returns which runs were started and what was decided, as words, and how many were made.
async fn go_on(folder: &Path, decides: u32, asked: &Cell<u32>, kill: &str) -> (String, usize) {
    let mut log = Log::default();
    let fakes = Fakes::new(GOOD, BackendName::None, &log.journal);
    let (recorder, mut session) = Recorder::open(folder).unwrap();
    let left = remaining::pending(&session.plan, folder).unwrap();
    let mut both = Both {
        recorder,
        log: &mut log,
    };
    let mut observer = Killed {
        inner: &mut both,
        at: kill,
    };
    let decide = |_: &Plan, _| {
        asked.set(asked.get() + 1);
        Ok(Standing::Decided(decided(decides)))
    };
    let suite = suite();
    let driver = fakes.driver(&suite, None);
    let made = pilot::play(&driver, &mut session, &left, &decide, &mut observer).await;
    let words = log
        .words
        .iter()
        .filter_map(|word| match word.split_once(' ') {
            Some(("run", id)) => Some(id),
            Some(("decided", _)) => Some(word.as_str()),
            _ => None,
        });
    (
        words.collect::<Vec<&str>>().join(" "),
        made.unwrap_or_default(),
    )
}

/// Ends the session right after an event of this name was kept.
struct Killed<'a, 'b> {
    inner: &'a mut Both<'b>,
    at: &'a str,
}

impl Observer for Killed<'_, '_> {
    fn observe(&mut self, event: &Event) -> anyhow::Result<()> {
        self.inner.observe(event)?;
        match self.inner.log.words.last() {
            Some(last) if last == self.at => anyhow::bail!("killed"),
            _ => Ok(()),
        }
    }
}

fn begun() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    Recorder::create(locked(folder.path()), &session(folder.path())).unwrap();
    folder
}

const PILOT: &str = "a.r1 b.r1 start.r1 a.r2 b.r2 start.r2 a.r3 b.r3 start.r3";

#[tokio::test(start_paused = true)]
async fn what_the_pilot_asks_for_is_made_and_no_more() {
    let check = async |decides: u32, rest: &str| {
        let (folder, asked) = (begun(), Cell::new(0));
        let (words, made) = go_on(folder.path(), decides, &asked, "").await;
        assert_eq!(words, format!("{PILOT} decided {decides}, {rest}"));
        assert_eq!((asked.get(), made), (1, words.split(' ').count() - 4));
        let (_, stored) = Recorder::open(folder.path()).unwrap();
        assert_eq!(stored.runs_decision, Some(decided(decides)));
        assert_eq!(
            (stored.plan.runs.len(), stored.plan.runs_until),
            (made, None)
        );
        assert_eq!(
            go_on(folder.path(), 8, &asked, "").await,
            (String::new(), 0)
        );
    };
    // Cold starts have a separate number.
    check(3, "2 left start.r4 start.r5").await;
    check(5, "6 left a.r4 b.r4 start.r4 a.r5 b.r5 start.r5").await;
    let all = "12 left a.r4 b.r4 start.r4 a.r5 b.r5 start.r5 a.r6 b.r6 a.r7 b.r7 a.r8 b.r8";
    check(8, all).await;
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_killed_in_its_pilot_decides_after_all_of_it() {
    let (folder, asked) = (begun(), Cell::new(0));
    let (words, _) = go_on(folder.path(), 8, &asked, "run b.r2").await;
    assert_eq!(words, "a.r1 b.r1 start.r1 a.r2 b.r2");
    let (words, made) = go_on(folder.path(), 4, &asked, "").await;
    let rest = "b.r2 start.r2 a.r3 b.r3 start.r3 decided 4, 4 left a.r4 b.r4 start.r4 start.r5";
    assert_eq!((words.as_str(), made, asked.get()), (rest, 9, 1));
}

#[tokio::test(start_paused = true)]
async fn what_was_decided_before_a_kill_stays_decided() {
    // Right after the decision, and in the runs that it left.
    for (kill, before) in [
        ("decided 4, 4 left", "decided 4, 4 left"),
        ("run b.r4", "decided 4, 4 left a.r4 b.r4"),
    ] {
        let (folder, asked) = (begun(), Cell::new(0));
        let (words, _) = go_on(folder.path(), 4, &asked, kill).await;
        assert_eq!(words, format!("{PILOT} {before}"));
        let (words, _) = go_on(folder.path(), 8, &asked, "").await;
        let rest = match before.ends_with("b.r4") {
            true => "b.r4 start.r4 start.r5",
            false => "a.r4 b.r4 start.r4 start.r5",
        };
        assert_eq!((words.as_str(), asked.get()), (rest, 1));
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_killed_before_its_decision_is_kept_decides_again() {
    let (folder, asked) = (begun(), Cell::new(0));
    let (words, _) = go_on(folder.path(), 8, &asked, "completed").await;
    assert_eq!(words, "a.r1");
    let path = folder.path().join(SessionFile::NAME);
    let before = std::fs::read_to_string(&path).unwrap();
    go_on(folder.path(), 3, &asked, "decided 3, 2 left").await;
    // The file is either the one before the decision or the one with it.
    std::fs::write(&path, before).unwrap();
    let (words, made) = go_on(folder.path(), 3, &asked, "").await;
    assert_eq!(words, "decided 3, 2 left start.r4 start.r5");
    assert_eq!((made, asked.get()), (2, 2));
}
