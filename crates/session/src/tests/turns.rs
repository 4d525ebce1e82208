//! Sets: which contenders are started, which are loaded by what, and which are out.

use std::sync::Arc;
use std::time::Duration;

use bakeoff_model::load::Pace;
use bakeoff_model::record::{Outcome, Results};
use bakeoff_model::suite::Step;
use bakeoff_model::suite::conditions::BackendName;
use bakeoff_store::results::read_records;

use super::counting;
use super::fakes::{FakeBackend, Fakes, GOOD, Log, Script, locked, pending, play, play_on, suite};
use super::pilot::{Both, session};
use crate::contracts::PendingRun;
use crate::remaining;
use crate::store::recorder::Recorder;

/// The run of `contender` in a set.
pub(super) fn turns(contender: &str, repetition: u32) -> PendingRun {
    let mut pending = pending(&format!("one.{contender}.r{repetition}"), false);
    let step = |seconds, warm_up| Step {
        connections: 8,
        duration: Duration::from_secs(seconds),
        pace: Pace::Closed,
        warm_up,
        at_least: None,
    };
    pending.run.contender = contender.to_owned();
    pending.run.repetition = repetition;
    pending.run.steps = vec![step(2, true), step(3, false)];
    pending.run.in_turns = true;
    pending
}

/// The contender that is killed after this number of readings.
fn victim(name: &'static str, killed_after_samples: usize) -> Script {
    Script {
        killed_after_samples,
        victim: name,
        ..GOOD
    }
}

async fn journal(script: Script, runs: &[PendingRun]) -> Vec<String> {
    let mut log = Log::default();
    play(script, runs, &mut log).await.unwrap();
    let journal = Arc::clone(&log.journal);
    let words = journal.lock().unwrap();
    words.clone()
}

/// The records of a session of these runs as they are on the disk, by contender.
pub(super) async fn recorded(script: Script, runs: &[PendingRun]) -> Results {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path());
    session.plan.runs = runs.iter().map(|one| one.run.clone()).collect();
    let mut log = Log::default();
    let fakes = Fakes::new(script, BackendName::None, &log.journal);
    let mut both = Both {
        recorder: Recorder::create(locked(folder.path()), &session).unwrap(),
        log: &mut log,
    };
    let suite = suite();
    let driver = fakes.driver(&suite, None);
    driver.play(runs, &mut both).await.unwrap();
    let mut results = read_records(folder.path()).unwrap();
    results
        .runs
        .sort_by(|one, other| one.begin.run.id.cmp(&other.begin.run.id));
    results
}

/// The words between the one that starts with `from` and the next that starts with `to`.
fn between<'w>(words: &'w [String], from: &str, to: &str) -> &'w [String] {
    let begin = words.iter().position(|word| word.starts_with(from));
    let begin = begin.unwrap_or_else(|| panic!("no {from}: {words:?}"));
    let length = words[begin..].iter().position(|word| word.starts_with(to));
    &words[begin..begin + length.unwrap_or_else(|| panic!("no {to}: {words:?}"))]
}

fn count(words: &[String], begin: &str) -> usize {
    words.iter().filter(|word| word.starts_with(begin)).count()
}

#[tokio::test(start_paused = true)]
async fn contenders_are_started_one_after_the_other_and_loaded_by_one_load_generator() {
    let words = journal(GOOD, &[turns("a", 1), turns("b", 1)]).await;
    let mounted = |run: &str| {
        format!(
            "{run} | begin | stage start | started | idle started | stage verify | good found | \
             idle checked | stage load"
        )
    };
    let first = between(&words, "run one.a", "run one.b").join(" | ");
    assert_eq!(first, mounted("run one.a.r1"));
    let second = between(&words, "run one.b", "load").join(" | ");
    assert_eq!(second, mounted("run one.b.r1"));
    // One slice of each, then the next one; each with what the other did meanwhile.
    let step = |first: &str, slices: u32, step: u32| {
        let slices = (0..slices).map(|slice| {
            let of = |run: &str| format!(" | turns {step}.{slice} of {run} beside 2");
            of("one.a.r1") + &of("one.b.r1")
        });
        format!("{first} | step 8 | step 8{}", slices.collect::<String>())
    };
    let loaded = step("load 2", 2, 0) + &step("", 3, 1);
    let end = |name: &str| {
        format!(
            " | idle after-load | good alive at the end | stage stop | stop {name} | \
             good stops gracefully | completed"
        )
    };
    let all = loaded + &end("a") + &end("b");
    let begin = words.iter().position(|word| word == "load 2").unwrap();
    assert_eq!(words[begin..].join(" | "), all);
}

#[tokio::test(start_paused = true)]
async fn each_is_loaded_as_long_as_the_steps_say() {
    let runs = [turns("a", 1), turns("b", 1), turns("c", 1)];
    for run in recorded(GOOD, &runs).await.runs {
        let seconds = |step: usize| {
            let slices = run.intervals.iter();
            let slices = slices.filter(|slice| slice.load.step == step);
            slices.map(|slice| slice.load.length_ns()).sum::<u64>() / 1_000_000
        };
        // Turns of a sixth of three seconds have whole milliseconds.
        assert_eq!(
            (seconds(0), seconds(1)),
            (2000, 3000),
            "{}",
            run.begin.run.id
        );
    }
}

#[tokio::test(start_paused = true)]
async fn each_run_has_its_own_slices_in_its_own_file() {
    let results = recorded(GOOD, &[turns("a", 1), turns("b", 1)]).await;
    for (side, run) in (0..).zip(&results.runs) {
        let sides: Vec<u32> = run.intervals.iter().map(|slice| slice.load.side).collect();
        assert_eq!(sides, [side; 5], "{}", run.begin.run.id);
        let measured = run.intervals.iter().filter(|slice| !slice.warm_up);
        let turns = measured.flat_map(|slice| &slice.load.turns);
        let blocks: Vec<u64> = turns.map(|turn| turn.block).collect();
        assert_eq!(blocks, [0, 1, 2, 3, 4, 5]);
        let cpu_ns: Vec<u64> = run
            .intervals
            .iter()
            .map(|slice| slice.others.unwrap().cpu_ns)
            .collect();
        assert_eq!(cpu_ns, [1000; 5], "that of the other between two readings");
    }
}

#[tokio::test(start_paused = true)]
async fn one_that_dies_takes_only_itself_out() {
    // Two samples before the load, one for its log, and one at each boundary of a slice, so it is
    // dead after the first measured slice.
    let runs = [turns("a", 1), turns("b", 1), turns("c", 1)];
    let words = journal(victim("b", 7), &runs).await;
    let failed: Vec<&String> = words
        .iter()
        .filter(|word| word.starts_with("failed"))
        .collect();
    assert_eq!(failed, ["failed load: killed for memory at 8 connections"]);
    assert_eq!(count(&words, "completed"), 2, "{words:?}");
    assert_eq!(count(&words, "stop "), 3, "{words:?}");
    assert_eq!(count(&words, "load 3"), 1, "no other load generator");

    let results = recorded(victim("b", 7), &runs).await;
    let slices: Vec<usize> = results.runs.iter().map(|run| run.intervals.len()).collect();
    assert_eq!(slices, [5, 3, 5], "its own up to its death");
    let ends = results
        .runs
        .iter()
        .map(|run| &run.end.as_ref().unwrap().outcome);
    let completed: Vec<bool> = ends.map(|end| *end == Outcome::Completed).collect();
    assert_eq!(completed, [true, false, true]);
}

#[tokio::test(start_paused = true)]
async fn the_load_on_one_that_dies_ends_within_a_slice() {
    let silent = |victim: Script| Script {
        silent_load: true,
        ..victim
    };
    // It is dead after the reading at the start of the first step; the load generator goes on when
    // it hears that.
    let runs = [turns("a", 1), turns("b", 1)];
    let words = journal(silent(victim("b", 3)), &runs).await;
    assert_eq!(count(&words, "failed load: killed for memory at 8"), 1);
    assert_eq!(count(&words, "completed"), 1, "{words:?}");
    // Of those that are dead the slice that was running is recorded, and no further one.
    let words = journal(silent(victim("", 3)), &runs).await;
    assert_eq!(count(&words, "failed load: killed for memory at 8"), 2);
    assert_eq!(count(&words, "turns "), 2, "{words:?}");
}

#[tokio::test(start_paused = true)]
async fn one_that_died_in_the_warm_up_is_not_spoken_of_any_more() {
    let runs = [turns("a", 1), turns("b", 1), turns("c", 1)];
    let words = journal(victim("b", 5), &runs).await;
    let failed = words
        .iter()
        .position(|word| word.starts_with("failed load"));
    let (before, after) = words.split_at(failed.unwrap());
    assert_eq!(count(before, "step 8"), 3);
    assert_eq!(count(after, "step 8"), 2, "{after:?}");
    assert_eq!(count(after, "turns 1."), 2 * 3);
    assert!(
        !after.iter().any(|word| word.contains("one.b")),
        "{after:?}"
    );
    assert_eq!(count(after, "completed"), 2);
}

#[tokio::test(start_paused = true)]
async fn the_load_ends_when_all_have_died() {
    let words = journal(victim("", 7), &[turns("a", 1), turns("b", 1)]).await;
    assert_eq!(count(&words, "failed load: killed for memory"), 2);
    assert_eq!(count(&words, "turns 1."), 2, "{words:?}");
    assert_eq!(count(&words, "stop "), 2);
}

#[tokio::test(start_paused = true)]
async fn one_that_does_not_start_leaves_the_others_among_themselves() {
    let script = Script {
        exits_at_once: true,
        victim: "b",
        ..GOOD
    };
    let runs = [turns("a", 1), turns("b", 1), turns("c", 1)];
    let words = journal(script, &runs).await;
    assert_eq!(count(&words, "failed ready: fake: exited with code 7"), 1);
    assert_eq!(count(&words, "load 2"), 1, "{words:?}");
    assert_eq!(count(&words, "completed"), 2, "{words:?}");
    let results = recorded(script, &runs).await;
    let slices: Vec<usize> = results.runs.iter().map(|run| run.intervals.len()).collect();
    assert_eq!(slices, [5, 0, 5]);
    let sides = results.runs.iter().filter_map(|run| run.intervals.first());
    assert_eq!(sides.map(|one| one.load.side).collect::<Vec<_>>(), [0, 1]);

    let none = Script {
        status: 500,
        ..GOOD
    };
    let words = journal(none, &runs).await;
    assert_eq!(count(&words, "failed verify"), 3, "{words:?}");
    assert_eq!(count(&words, "load "), 0, "there is nothing to load");
}

/// The records of the contender that is left go to its own file, although the run that started last
/// is another one.
#[tokio::test(start_paused = true)]
async fn the_only_one_that_is_left_is_loaded_alone() {
    let script = Script {
        exits_at_once: true,
        victim: "b",
        ..GOOD
    };
    let results = recorded(script, &[turns("a", 1), turns("b", 1)]).await;
    let slices: Vec<usize> = results.runs.iter().map(|run| run.intervals.len()).collect();
    assert_eq!(slices, [2, 0], "a slice of each step");
    let only = &results.runs[0];
    assert!(only.intervals.iter().all(|slice| slice.others.is_none()));
    assert_eq!(only.end.as_ref().unwrap().outcome, Outcome::Completed);
    let other = &results.runs[1].end.as_ref().unwrap().outcome;
    assert!(matches!(other, Outcome::Failed(_)), "{other:?}");
}

#[tokio::test(start_paused = true)]
async fn repetitions_are_sets_of_their_own() {
    let runs = [turns("a", 1), turns("b", 1), turns("b", 2), turns("a", 2)];
    let words = journal(GOOD, &runs).await;
    let second = words
        .iter()
        .position(|word| word == "run one.b.r2")
        .unwrap();
    assert_eq!(
        count(&words[..second], "completed"),
        2,
        "the first one is over: {words:?}"
    );
    assert_eq!(count(&words, "completed"), 4);
    assert_eq!(count(&words, "load 2"), 2);
}

/// Three contenders of which two are alive concurrently: each group is a separate set.
fn in_groups(repetition: u32) -> Vec<PendingRun> {
    let folder = tempfile::tempdir().unwrap();
    let mut plan = session(folder.path()).plan;
    let runs = ["c", "a", "b"].map(|name| turns(name, repetition).run);
    plan.runs = runs.to_vec();
    let runs = plan.in_groups(2).unwrap().runs;
    let pending = runs.into_iter().map(|run| PendingRun { run, attempt: 1 });
    pending.collect()
}

#[tokio::test(start_paused = true)]
async fn groups_of_a_repetition_follow_each_other() {
    let words = journal(GOOD, &in_groups(1)).await;
    let runs: Vec<&String> = words
        .iter()
        .filter(|word| word.starts_with("run "))
        .collect();
    let expect = [
        "run one.c.r1.g2",
        "run one.a.r1.g2",
        "run one.a.r1.g1",
        "run one.b.r1.g1",
    ];
    assert_eq!(runs, expect.iter().collect::<Vec<_>>());
    let second = words.iter().position(|word| word == expect[2]).unwrap();
    let (first, second) = words.split_at(second);
    for (group, own, other) in [(first, "c", "b"), (second, "b", "c")] {
        assert_eq!(count(group, "load 2"), 1, "{group:?}");
        assert_eq!(count(group, "completed"), 2, "{group:?}");
        for name in ["a", own] {
            assert_eq!(count(group, &format!("stop {name}")), 1, "{group:?}");
        }
        assert_eq!(count(group, &format!("stop {other}")), 0, "{group:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_group_that_was_not_finished_is_made_again_without_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let runs = in_groups(1);
    let mut session = session(folder.path());
    session.plan.runs = runs.iter().map(|one| one.run.clone()).collect();
    let mut log = Log::default();
    let fakes = Fakes::new(GOOD, BackendName::None, &log.journal);
    let mut both = Both {
        recorder: Recorder::create(locked(folder.path()), &session).unwrap(),
        log: &mut log,
    };
    let suite = suite();
    let driver = fakes.driver(&suite, None);
    driver.play(&runs[..2], &mut both).await.unwrap();
    let left = remaining::pending(&session.plan, folder.path()).unwrap();
    let ids: Vec<&str> = left.iter().map(|one| one.run.id.as_str()).collect();
    assert_eq!(ids, ["one.a.r1.g1", "one.b.r1.g1"]);
}

#[tokio::test(start_paused = true)]
async fn what_each_stored_is_counted_before_its_load_and_when_it_has_ended() {
    // Each responds to two requests in each of five slices; "b" forgets one of them.
    let backend = FakeBackend::finding(&[Ok("2"), Ok("2"), Ok("12"), Ok("11")]);
    let (suite, mut log) = (counting("store"), Log::default());
    let runs = [turns("a", 1), turns("b", 1)];
    let played = play_on(Some(&backend), &suite, GOOD, &runs, &mut log).await;
    played.unwrap();
    let ends: Vec<&String> = log
        .words
        .iter()
        .filter(|word| word.starts_with("completed") || word.starts_with("failed"))
        .collect();
    assert_eq!(
        ends,
        [
            "completed",
            "failed count: 10 of `store` succeeded, but 9 rows added: a success was \
             reported and not stored"
        ]
    );
}
