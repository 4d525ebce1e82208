//! Warm-up that ends when a contender is warm, or when its time is over.

use std::time::Duration;

use super::fakes::{GOOD, Log, Script, pending, play};
use super::turns::turns;
use crate::contracts::PendingRun;

/// Lets the first step last until the contender is warm, this number of seconds at least and 60 at
/// most.
fn until_warm(mut pending: PendingRun, at_least: u64) -> PendingRun {
    let step = &mut pending.run.steps[0];
    step.duration = Duration::from_secs(60);
    step.at_least = Some(Duration::from_secs(at_least));
    pending
}

async fn words(script: Script, runs: &[PendingRun]) -> Vec<String> {
    let mut log = Log::default();
    play(script, runs, &mut log).await.unwrap();
    log.words
}

fn count(words: &[String], word: &str) -> usize {
    words.iter().filter(|one| *one == word).count()
}

/// Slices of a second make blocks of three, and the fake plays each as one slice.
async fn blocks(script: Script, at_least: u64) -> (usize, Vec<String>) {
    let words = words(script, &[until_warm(pending("one.r1", false), at_least)]).await;
    assert_eq!(
        count(&words, "step 1"),
        1,
        "a step, however often: {words:?}"
    );
    assert_eq!(count(&words, "completed"), 1, "{words:?}");
    let blocks = count(&words, "interval 1");
    (blocks, words)
}

#[tokio::test(start_paused = true)]
async fn it_ends_as_soon_as_throughput_is_flat_but_not_before_its_time() {
    let (eight_slices, words) = blocks(GOOD, 10).await;
    assert_eq!(eight_slices, 8);
    assert!(!words.iter().any(|word| word.contains("not warm")));
    let (forty_seconds, _) = blocks(GOOD, 40).await;
    assert_eq!(forty_seconds, 14);
}

#[tokio::test(start_paused = true)]
async fn one_that_gets_faster_and_faster_is_measured_in_the_end_and_marked() {
    let script = Script { faster: 10, ..GOOD };
    let (all, words) = blocks(script, 10).await;
    assert_eq!(all, 20, "sixty seconds");
    let measured = words.iter().find(|word| word.starts_with("interval 8"));
    let measured = measured.unwrap();
    assert!(
        measured.contains("not warm: it still got faster"),
        "{measured}"
    );
}

/// Plays a set of two contenders. Returns the number of its warm-up slices, and the journal.
async fn of_set(script: Script) -> (usize, Vec<String>) {
    let runs = [until_warm(turns("a", 1), 10), until_warm(turns("b", 1), 10)];
    let words = words(script, &runs).await;
    assert_eq!(count(&words, "step 8"), 2 * 2, "a step, however often");
    assert_eq!(count(&words, "completed"), 2, "{words:?}");
    let slices = words.iter().filter(|word| word.starts_with("turns 0."));
    (slices.count(), words)
}

#[tokio::test(start_paused = true)]
async fn in_a_set_it_ends_when_all_are_warm() {
    // Blocks of three seconds of each contender, each with three slices.
    let (both, words) = of_set(GOOD).await;
    assert_eq!(both, 2 * 12, "ten seconds, and then flat");
    let measured = words.iter().filter(|word| word.starts_with("turns 1."));
    assert!(measured.clone().all(|word| !word.contains("not warm")));
    assert_eq!(measured.count(), 2 * 3);

    // One that gets faster keeps the other waiting, and is the only one that is marked.
    let script = Script { faster: 10, ..GOOD };
    let (both, words) = of_set(script).await;
    assert_eq!(both, 2 * 60, "sixty seconds");
    let marked = words
        .iter()
        .filter(|word| word.contains("not warm: it got faster by"));
    assert_eq!(marked.count(), 3, "{words:?}");
}
