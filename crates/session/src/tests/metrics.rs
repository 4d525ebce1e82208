//! Metrics that contenders count themselves.

use bakeoff_model::suite::Suite;
use bakeoff_model::suite::metrics::OwnMetrics;

use super::fakes::{GOOD, Log, Script, pending, play_suite, suite};
use super::turns::turns;
use crate::contracts::PendingRun;

fn suite_with(keep: &[&str]) -> Suite {
    Suite {
        metrics: Some(OwnMetrics {
            path: "/metrics".to_owned(),
            keep: keep.iter().map(|glob| (*glob).to_owned()).collect(),
        }),
        ..suite()
    }
}

async fn played(suite: &Suite, metrics: &'static str, runs: &[PendingRun]) -> Log {
    let script = Script { metrics, ..GOOD };
    let mut log = Log::default();
    play_suite(suite, script, runs, &mut log).await.unwrap();
    log
}

/// The acts and records from the first step on.
fn under_load(log: &Log) -> Vec<String> {
    let words = log.journal.lock().unwrap();
    let under_load = words.iter().skip_while(|word| !word.starts_with("load"));
    let is_shown = |word: &&String| !word.starts_with("idle") && !word.starts_with("good");
    under_load.filter(is_shown).cloned().collect()
}

/// The notes for the reader that are about metrics.
fn own_notes(log: &Log) -> Vec<&String> {
    let notes = log.notes.iter();
    notes.filter(|note| note.starts_with("its own")).collect()
}

#[tokio::test(start_paused = true)]
async fn they_are_read_around_measured_steps_only() {
    let log = played(
        &suite_with(&[]),
        "a_total 1\nb 2\n",
        &[pending("one.r1", false)],
    )
    .await;
    let expect = [
        "load 1",
        "step 1",
        "interval 1",
        "GET /metrics",
        "step 8",
        "interval 8",
        "GET /metrics",
        "2 series of step 1",
        "stage stop",
        "stop fake",
        "completed",
    ];
    assert_eq!(under_load(&log), expect);
}

#[tokio::test(start_paused = true)]
async fn those_of_a_set_are_read_at_its_ends() {
    let runs = [turns("a", 1), turns("b", 1)];
    let log = played(&suite_with(&[]), "a_total 1\n", &runs).await;
    let words = under_load(&log);
    let shown = words.iter().filter(|word| {
        let begins = ["GET", "step", "turns 1", "1 series"];
        begins.iter().any(|begin| word.starts_with(begin))
    });
    let shown = shown.map(|word| word.split(" beside").next().unwrap_or_default());
    let shown: Vec<&str> = shown.collect();
    let expect = [
        "step 8",
        "step 8",
        "GET /metrics",
        "GET /metrics",
        "step 8",
        "step 8",
        "turns 1.0 of one.a.r1",
        "turns 1.0 of one.b.r1",
        "turns 1.1 of one.a.r1",
        "turns 1.1 of one.b.r1",
        "turns 1.2 of one.a.r1",
        "turns 1.2 of one.b.r1",
        "GET /metrics",
        "1 series of step 1",
        "GET /metrics",
        "1 series of step 1",
    ];
    assert_eq!(shown, expect, "{words:?}");
}

#[tokio::test(start_paused = true)]
async fn a_contender_without_them_is_measured_and_told_of() {
    let check = async |keep: &[&str], metrics: &'static str, expect: &str| {
        let log = played(&suite_with(keep), metrics, &[pending("one.r1", false)]).await;
        let expect = format!("its own metrics, GET /metrics: {expect}");
        assert!(log.words.contains(&expect), "{expect}: {:?}", log.words);
        assert_eq!(log.words.last().unwrap(), "completed");
        assert_eq!(own_notes(&log), [&expect]);
    };
    check(&[], "", "status 404, expected 200").await;
    check(&[], "hangs", "no response within 5 s").await;
    check(&[], "<html>", "line 1: no name of a metric").await;
    check(&[], "# nothing", "no series").await;
    check(&["c_*"], "a_total 1\n", "no series that `keep` names").await;
}

#[tokio::test(start_paused = true)]
async fn a_record_has_the_series_that_are_kept_and_not_too_many() {
    let check = async |keep: &[&str], expect: (usize, usize)| {
        let many: String = (0..130)
            .map(|index| format!("a_total{{i=\"{index}\"}} 1\nb_{index} 1\n"))
            .collect();
        let log = played(&suite_with(keep), many.leak(), &[pending("one.r1", false)]).await;
        let [record] = log.metrics.as_slice() else {
            panic!("{:?}", log.metrics);
        };
        assert_eq!((record.series.len(), record.left_out), expect, "{keep:?}");
        assert!(own_notes(&log).is_empty(), "{:?}", log.notes);
    };
    check(&[], (100, 160)).await;
    check(&["a_*"], (100, 30)).await;
    check(&["b_1?", "a"], (10, 0)).await;
    // Without the table nothing is asked.
    let log = played(&suite(), "a 1\n", &[pending("one.r1", false)]).await;
    assert!(!under_load(&log).contains(&"GET /metrics".to_owned()));
}
