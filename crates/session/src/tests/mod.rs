//! The session against a fake runtime, a fake load generator and tokio's virtual clock: the event
//! log is what is asserted.

mod baseline;
mod capacity;
pub(crate) mod fakes;
mod latency;
mod metrics;
mod pilot;
mod replacement;
mod turns;
mod warm_up;

use std::collections::BTreeMap;

use bakeoff_base::problem::Problem;
use bakeoff_model::measure::resource::ResourceSample;
use bakeoff_model::plan::RunKind;
use bakeoff_model::suite::conditions::BackendName;
use bakeoff_model::suite::{BackendSpec, ReplaySettings, Rows, Suite};

use fakes::{FakeBackend, GOOD, Log, Script, pending, play, play_on, play_suite, suite};

#[tokio::test(start_paused = true)]
async fn a_good_run_goes_through_every_stage() {
    let mut log = Log::default();
    play(GOOD, &[pending("one.r1", false)], &mut log)
        .await
        .unwrap();
    assert_eq!(
        log.words.join(" | "),
        "run one.r1 | begin | stage start | started | idle started | stage verify | good found | \
         idle checked | stage load | step 1 | interval 1 | step 8 | interval 8 | idle after-load | \
         good alive at the end | stage stop | good stops gracefully | completed"
    );
}

/// The host is read together with the contender, so that no slice is judged by the host times of
/// another.
#[tokio::test(start_paused = true)]
async fn a_slice_has_the_host_times_of_its_own_readings() {
    let mut log = Log::default();
    play(GOOD, &[pending("one.r1", false)], &mut log)
        .await
        .unwrap();
    assert_eq!(log.slices.len(), 2);
    for slice in &log.slices {
        let cpu_ns = |sample: &Option<ResourceSample>| sample.as_ref()?.cpu_ns();
        let after_ns = cpu_ns(&slice.contender_after).unwrap();
        let grew_ns = after_ns - cpu_ns(&slice.contender_before).unwrap();
        // The fake host worked for as long as the fake contender.
        assert_eq!(slice.host.as_ref().unwrap().wall_ns, grew_ns);
    }
}

/// C10: what a part of the work costs alone comes before all else; without it the run goes on.
#[tokio::test(start_paused = true)]
async fn a_part_of_the_work_is_measured_alone() {
    let check = async |probe: &'static str, expect: &str| {
        let mut log = Log::default();
        let script = Script { probe, ..GOOD };
        play(script, &[pending("one.r1", false)], &mut log)
            .await
            .unwrap();
        let words = &log.words[1..5];
        assert_eq!(words.join(" | "), expect);
        assert_eq!(log.words.last().unwrap(), "completed");
    };
    check(
        "warming up\n0.04\n",
        "begin | stage probe | probe hashing 40000000 | stage start",
    )
    .await;
    check(
        "no such class\n",
        "begin | stage probe | bad hashing | stage start",
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_cold_start_is_nothing_but_a_start() {
    let check = async |script: Script, ends: &str| {
        let mut log = Log::default();
        let mut start = pending("one.r1", false);
        start.run.kind = RunKind::Startup;
        start.run.steps.clear();
        play(script, &[start], &mut log).await.unwrap();
        assert_eq!(log.words.join(" | "), ends);
    };
    check(
        GOOD,
        "run one.r1 | begin | stage start | started | stage stop | good stops gracefully | \
         completed",
    )
    .await;
    check(
        Script {
            exits_at_once: true,
            ..GOOD
        },
        "run one.r1 | begin | stage start | failed ready: fake: exited with code 7 after 0.005 s",
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn lifecycle_checks_come_after_the_load_and_all_of_them_are_recorded() {
    let mut log = Log::default();
    play(GOOD, &[pending("one.r1", true)], &mut log)
        .await
        .unwrap();
    let checks: Vec<&str> = log
        .words
        .iter()
        .map(String::as_str)
        .filter(|word| word.starts_with("good"))
        .collect();
    for name in [
        "does not start without its environment",
        "does not start with an unreachable backend",
        "start-up",
        "logs on start-up",
        "logs each request",
        "stops gracefully",
    ] {
        assert!(
            checks.contains(&format!("good {name}").as_str()),
            "{name}: {checks:?}"
        );
    }
    assert_eq!(
        log.words
            .iter()
            .filter(|word| word.contains("threads on"))
            .count(),
        3
    );
    let place = |word: &str| log.words.iter().position(|one| one == word).unwrap();
    assert!(
        place("stage stop") < place("stage lifecycle"),
        "{:?}",
        log.words
    );
    assert_eq!(log.words.last().unwrap(), "completed");
}

#[tokio::test(start_paused = true)]
async fn what_never_starts_passes_no_check_of_not_starting() {
    let mut log = Log::default();
    let never = Script {
        exits_at_once: true,
        ..GOOD
    };
    play(never, &[pending("one.r1", true)], &mut log)
        .await
        .unwrap();
    for check in [
        "it does not start at all does not start without its environment",
        "it does not start at all does not start with an unreachable backend",
    ] {
        assert!(log.words.contains(&check.to_owned()), "{:?}", log.words);
    }
}

#[tokio::test(start_paused = true)]
async fn contenders_need_not_log_requests_where_the_suite_says_so() {
    let check = async |logs_requests: bool, expect: &str| {
        let mut log = Log::default();
        let suite = Suite {
            logs_requests,
            ..suite()
        };
        let runs = [pending("one.r1", true)];
        play_suite(&suite, GOOD, &runs, &mut log).await.unwrap();
        let named = |word: &&String| word.ends_with("logs each request");
        let found: Vec<&String> = log.words.iter().filter(named).collect();
        assert_eq!(found, [expect]);
        assert_eq!(log.words.last().unwrap(), "completed");
    };
    check(true, "good logs each request").await;
    let reason = "the suite says that its contenders log no requests";
    check(false, &format!("{reason} logs each request")).await;
}

#[tokio::test(start_paused = true)]
async fn a_suite_without_environment_asks_nothing_about_it() {
    let suite = Suite {
        env: BTreeMap::new(),
        env_unreachable: BTreeMap::new(),
        ..suite()
    };
    let mut log = Log::default();
    play_suite(&suite, GOOD, &[pending("one.r1", true)], &mut log)
        .await
        .unwrap();
    for expected in [
        "the suite has no [env] does not start without its environment",
        "the suite has no [env-unreachable] does not start with an unreachable backend",
    ] {
        assert!(
            log.words.contains(&expected.to_owned()),
            "{expected}: {:?}",
            log.words
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_failed_run_is_recorded_and_the_next_one_begins() {
    let check = async |script: Script, ends: &str| {
        let mut log = Log::default();
        let runs = [pending("one.r1", false), pending("one.r2", false)];
        play(script, &runs, &mut log).await.unwrap();
        let found: Vec<_> = log
            .words
            .iter()
            .filter(|word| word.starts_with("failed"))
            .collect();
        assert_eq!(found, [ends, ends], "{:?}", log.words);
        assert!(log.words.contains(&"run one.r2".to_owned()));
    };
    check(
        Script {
            exits_at_once: true,
            ..GOOD
        },
        "failed ready: fake: exited with code 7 after 0.005 s",
    )
    .await;
    check(
        Script {
            status: 500,
            ..GOOD
        },
        "failed verify: 1 of 1 functional checks failed; it is not loaded",
    )
    .await;
    check(
        Script {
            killed_after_samples: 5,
            ..GOOD
        },
        "failed load: killed for memory at 8 connections",
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_dead_contender_is_very_bad_and_a_stubborn_one_bad() {
    let check = async |script: Script| {
        let mut log = Log::default();
        play(script, &[pending("one.r1", false)], &mut log)
            .await
            .unwrap();
        assert!(
            log.words.contains(&"bad stops gracefully".to_owned()),
            "{:?}",
            log.words
        );
    };
    check(Script {
        killed_after_samples: 5,
        ..GOOD
    })
    .await;
    check(Script {
        stubborn: true,
        ..GOOD
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_recorded_ends_the_session() {
    let mut log = Log {
        fails_at: 5,
        ..Log::default()
    };
    let runs = [pending("one.r1", false), pending("one.r2", false)];
    let error = play(GOOD, &runs, &mut log).await.unwrap_err();
    assert_eq!(error.to_string(), "no space left on device");
    assert_eq!(log.words.len(), 5);
}

#[tokio::test(start_paused = true)]
async fn a_run_whose_backend_has_ended_is_not_counted() {
    let backend = FakeBackend::ended("backend replay was ended by signal 9");
    let check = async |script: Script| {
        let mut log = Log::default();
        let runs = [pending("one.r1", false), pending("one.r2", false)];
        let played = play_on(Some(&backend), &suite(), script, &runs, &mut log).await;
        let error = played.unwrap_err();
        let what = "backend replay was ended by signal 9";
        assert_eq!(error.to_string(), what, "{:?}", log.words);
        let ended = |word: &&String| word.starts_with("failed") || *word == "completed";
        assert_eq!(log.words.iter().find(ended), None);
    };
    check(GOOD).await;
    check(Script {
        status: 500,
        ..GOOD
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_run_whose_tool_has_failed_is_not_counted() {
    let check = async |failing_tool: &'static str, expect: &str| {
        let mut log = Log::default();
        let runs = [pending("one.r1", true), pending("one.r2", false)];
        let script = Script {
            failing_tool,
            ..GOOD
        };
        let error = play(script, &runs, &mut log).await.unwrap_err();
        assert_eq!(error.to_string(), expect, "{:?}", log.words);
        let hints = error.downcast_ref::<Problem>().map(Problem::hints);
        assert!(hints.unwrap()[0].contains("--resume"), "{hints:?}");
        let ended = |word: &&String| word.starts_with("failed") || *word == "completed";
        assert_eq!(log.words.iter().find(ended), None);
    };
    let expect = "the load generator failed: it ended before its load did";
    check("load generator", expect).await;
    check("shim", "shim ended").await;
}

/// A suite that counts a row for each request of this name.
fn counting(request: &str) -> Suite {
    let rows = Rows {
        request: request.to_owned(),
        query: "SELECT 1".to_owned(),
    };
    Suite {
        backends: vec![BackendSpec {
            name: BackendName::Postgres,
            data: None,
            settings: ReplaySettings::default(),
            rows: vec![rows],
        }],
        ..suite()
    }
}

/// The end of a run whose two successes each have to add one to what the backend finds.
async fn end_of_counted_run(answers: &[Result<&str, &str>]) -> String {
    let suite = counting("store");
    let (backend, mut log) = (FakeBackend::finding(answers), Log::default());
    let runs = [pending("one.r1", false)];
    let played = play_on(Some(&backend), &suite, GOOD, &runs, &mut log).await;
    played.unwrap();
    let stop = log
        .words
        .iter()
        .position(|word| word.starts_with("stage stop"));
    log.words[stop.unwrap_or(log.words.len() - 1)..].join(" | ")
}

#[tokio::test(start_paused = true)]
async fn what_was_stored_is_compared_with_what_was_answered() {
    let check = async |answers: &[Result<&str, &str>], expect: &str| {
        assert_eq!(end_of_counted_run(answers).await, expect);
    };
    let stopped = "stage stop | good stops gracefully | stage count";
    // Rows of functional checks are there before the load and do not count.
    check(
        &[Ok("7"), Ok("9")],
        &format!("{stopped} | good one for each store | completed"),
    )
    .await;
    check(
        &[Ok("7"), Ok("8")],
        &format!(
            "{stopped} | bad one for each store | failed count: 2 of `store` succeeded, \
             but 1 row added: a success was reported and not stored"
        ),
    )
    .await;
    check(
        &[Ok("0"), Err("the server is gone")],
        &format!(
            "{stopped} | bad one for each store | failed count: rows cannot be counted: the server \
             is gone"
        ),
    )
    .await;
    check(
        &[Ok("many")],
        "failed count: rows cannot be counted: \"SELECT 1\" finds \"many\", which is not a whole \
         number",
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn nothing_is_counted_of_requests_that_the_benchmark_does_not_send() {
    let suite = counting("other");
    let (backend, mut log) = (FakeBackend::finding(&[]), Log::default());
    let runs = [pending("one.r1", false)];
    let played = play_on(Some(&backend), &suite, GOOD, &runs, &mut log).await;
    played.unwrap();
    assert_eq!(log.words.last().unwrap(), "completed");
}
