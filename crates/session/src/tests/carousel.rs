//! Carousels: who is alive, who is frozen, whose turn it is, and who is out.

use std::sync::Arc;
use std::time::Duration;

use bakeoff_model::load::Pace;
use bakeoff_model::suite::{Carousel, Step};

use super::counting;
use super::fakes::{FakeBackend, GOOD, Log, Script, pending, play, play_on};
use crate::contracts::PendingRun;

/// A turn of `contender` in a carousel of two cycles.
pub(super) fn turns(contender: &str, repetition: u32) -> PendingRun {
    let mut pending = pending(&format!("one.{contender}.r{repetition}"), false);
    let step = |milliseconds, warm_up| Step {
        connections: 8,
        duration: Duration::from_millis(milliseconds),
        pace: Pace::Closed,
        warm_up,
        at_least: None,
    };
    pending.run.contender = contender.to_owned();
    pending.run.repetition = repetition;
    pending.run.steps = vec![step(2000, true), step(200, true), step(1000, false)];
    pending.run.carousel = Some(Carousel { cycles: 2 });
    pending
}

async fn journal(script: Script, runs: &[PendingRun]) -> Vec<String> {
    let mut log = Log::default();
    play(script, runs, &mut log).await.unwrap();
    let journal = Arc::clone(&log.journal);
    let words = journal.lock().unwrap();
    words.clone()
}

/// The words between the one that begins with `from` and the next that begins with `to`.
fn between<'w>(words: &'w [String], from: &str, to: &str) -> &'w [String] {
    let begin = words.iter().position(|word| word.starts_with(from));
    let begin = begin.unwrap_or_else(|| panic!("no {from}: {words:?}"));
    let length = words[begin..].iter().position(|word| word.starts_with(to));
    &words[begin..begin + length.unwrap_or_else(|| panic!("no {to}: {words:?}"))]
}

#[tokio::test(start_paused = true)]
async fn contenders_are_warmed_one_after_the_other_and_then_take_turns() {
    let words = journal(GOOD, &[turns("a", 1), turns("b", 1)]).await;
    assert_eq!(
        between(&words, "run one.a", "run one.b").join(" | "),
        "run one.a.r1 | begin | stage start | started | idle started | stage verify | good found \
         | idle checked | stage load | step 8 | interval 8 | freeze a"
    );
    // Cycle by cycle each has one turn, alone.
    let cycles = between(&words, "on ", "idle after-load");
    let first = cycles.iter().filter(|word| word.starts_with("turn 0."));
    assert_eq!(
        first.count(),
        4,
        "two contenders, what is discarded and the slice: {words:?}"
    );
    let turn = between(cycles, "thaw", "freeze").join(" | ");
    assert_eq!(
        turn[6..],
        *" | step 8 | turn 0.0 step 1 slice 0 | step 8 | turn 0.0 step 2 slice 0"
    );
    let alive: Vec<&String> = cycles
        .iter()
        .filter(|word| word.starts_with("thaw") || word.starts_with("freeze"))
        .collect();
    let (last, turns) = alive.split_last().unwrap();
    assert_eq!(turns.len(), 8, "{alive:?}");
    for pair in turns.chunks(2) {
        assert_eq!(pair[0].replace("thaw", "freeze"), *pair[1], "{alive:?}");
    }
    assert_eq!(*last, "thaw a", "to be stopped");
    let ends = words.iter().filter(|word| *word == "completed");
    assert_eq!(ends.count(), 2);
}

#[tokio::test(start_paused = true)]
async fn one_that_dies_takes_only_itself_out() {
    // Two samples before the load, two for the warm-up; it dies in its first turn.
    let script = Script {
        killed_after_samples: 5,
        victim: "b",
        ..GOOD
    };
    let words = journal(script, &[turns("a", 1), turns("b", 1), turns("c", 1)]).await;
    let failed: Vec<&String> = words
        .iter()
        .filter(|word| word.starts_with("failed"))
        .collect();
    assert_eq!(failed, ["failed load: killed for memory at 8 connections"]);
    let completed = words.iter().filter(|word| *word == "completed");
    assert_eq!(completed.count(), 2, "{words:?}");
    let turns = |cycle: &str| {
        let of_cycle = words.iter().filter(|word| word.starts_with(cycle));
        of_cycle.filter(|word| word.contains("step 2")).count()
    };
    assert_eq!(turns("turn 1."), 2, "{words:?}");
}

#[tokio::test(start_paused = true)]
async fn one_that_does_not_start_leaves_the_others_among_themselves() {
    let script = Script {
        status: 500,
        ..GOOD
    };
    let words = journal(script, &[turns("a", 1), turns("b", 1)]).await;
    let failed = words
        .iter()
        .filter(|word| word.starts_with("failed verify"));
    assert_eq!(failed.count(), 2, "{words:?}");
    assert!(!words.iter().any(|word| word.starts_with("freeze")));
}

#[tokio::test(start_paused = true)]
async fn repetitions_are_carousels_of_their_own() {
    let runs = [turns("a", 1), turns("b", 1), turns("b", 2), turns("a", 2)];
    let words = journal(GOOD, &runs).await;
    let second = words
        .iter()
        .position(|word| word == "run one.b.r2")
        .unwrap();
    let ended = words[..second].iter().filter(|word| *word == "completed");
    assert_eq!(ended.count(), 2, "the first one is over: {words:?}");
    assert_eq!(words.iter().filter(|word| *word == "completed").count(), 4);
}

#[tokio::test(start_paused = true)]
async fn what_each_stored_is_counted_before_its_warm_up_and_when_it_has_ended() {
    // Each is sent one request in the warm-up and two in each cycle; "b" forgets one of them.
    let backend = FakeBackend::finding(&[Ok("2"), Ok("2"), Ok("7"), Ok("6")]);
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
            "failed count: 5 of `store` answered with success, but 4 rows added: a success was \
             answered and not stored"
        ]
    );
}
