//! Searches for a capacity: trials after the warm-up, and confirmations in later runs.

use std::time::Duration;

use bakeoff_model::plan::RunKind;
use bakeoff_model::suite::capacity::{Arrivals, Capacity};

use super::fakes::{CAPACITY, GOOD, Log, pending, play};
use crate::contracts::PendingRun;

fn run(repetition: u32) -> PendingRun {
    let capacity = Capacity {
        slos: vec!["p99 <= 50ms".parse().unwrap()],
        rates: None,
        arrivals: Arrivals::Constant,
        connections: 8,
        trial: Duration::from_secs(1),
        trials_at_most: 20,
        within: 0.03,
    };
    let mut pending = pending(&format!("capacity.fake.r{repetition}"), false);
    pending.run.kind = RunKind::Capacity;
    pending.run.repetition = repetition;
    pending.run.steps = vec![capacity.closed_step()];
    pending.run.capacity = Some(capacity);
    pending
}

#[tokio::test(start_paused = true)]
async fn trials_follow_the_warm_up_and_later_runs_confirm() {
    let mut log = Log::default();
    play(GOOD, &[run(1), run(2)], &mut log).await.unwrap();
    let runs: Vec<&[String]> = log.words.split(|word| word == "completed").collect();
    let [first, second, []] = runs.as_slice() else {
        panic!("two runs complete: {:?}", log.words);
    };
    let begin = [
        "step 8",
        "interval 8",
        "step 8",
        "interval 8",
        "search 1 0.50 met",
    ];
    let position = first.iter().position(|word| word == "stage load").unwrap();
    assert_eq!(first[position + 1..][..begin.len()], begin);
    let begin = [
        "confirmation 1 2.33 met",
        "step 8",
        "interval 8",
        "search 2 2.58 missed",
    ];
    let position = second.iter().position(|word| word == begin[0]).unwrap();
    assert_eq!(second[position..][..begin.len()], begin);
    for words in [first, second] {
        let found = words.iter().find_map(|word| word.strip_prefix("narrow "));
        let found: f64 = found.unwrap().parse().unwrap();
        assert!((found / CAPACITY - 1.0).abs() < 0.03, "{words:?}");
        let confirmations = words.iter().filter(|word| word.starts_with("confirmation"));
        assert_eq!(confirmations.count(), usize::from(words == second));
    }
}
