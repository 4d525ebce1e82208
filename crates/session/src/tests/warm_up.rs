//! Warm-up that ends when a contender is warm, or when its time is over.

use std::time::Duration;

use super::carousel::turns;
use super::fakes::{GOOD, Log, Script, pending, play};
use crate::contracts::PendingRun;

/// Lets the first step last until the contender is warm, so many seconds at least and 60 at most.
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

#[tokio::test(start_paused = true)]
async fn in_a_carousel_it_comes_before_the_first_freeze() {
    let runs = [until_warm(turns("a", 1), 10), until_warm(turns("b", 1), 40)];
    let words = words(GOOD, &runs).await;
    // The warm-up has no turn; slices of turns say whose it is.
    assert_eq!(count(&words, "interval 8"), 8 + 14, "{words:?}");
    let turns = words.iter().filter(|word| word.starts_with("turn "));
    assert_eq!(turns.count(), 8);
    assert_eq!(count(&words, "completed"), 2);
}
