//! Sets that are lost to the host are played once more, and only once.

use bakeoff_model::load::histogram::Histogram;
use bakeoff_model::record::Results;
use bakeoff_model::suite::conditions::{BackendName, RuntimeKind};
use bakeoff_model::suite::run_count::{DecisionReason, RunsDecision, RunsUntil};
use bakeoff_model::validity::{FairnessVerdict, Finding, Reason, Validity};
use bakeoff_store::results::read_records;

use super::fakes::{Fakes, GOOD, Log, locked, suite};
use super::pilot::{Both, session};
use super::turns::turns;
use crate::baseline::replacement::{lost, play_again};
use crate::contracts::PendingRun;
use crate::store::recorder::Recorder;

/// The results with others at work in every block of these repetitions; of the rest nothing is said
/// that speaks against it.
fn disturbed(mut results: Results, repetitions: &[u32]) -> Results {
    for run in &mut results.runs {
        run.begin.runtime = RuntimeKind::External;
        let is_lost = repetitions.contains(&run.begin.run.repetition);
        for slice in &mut run.intervals {
            slice.validity = Validity::fair();
            // One request is not a load: each connection always has one in flight.
            let load = &mut slice.load;
            load.requests = u64::from(load.connections.in_flight_max);
            load.service_time = Histogram::new();
            for _ in 0..load.requests {
                load.service_time.record(load.length_ns());
            }
            if is_lost {
                slice.validity = Validity::of(vec![Reason {
                    verdict: FairnessVerdict::HostBound,
                    finding: Finding::ForeignWork { share: 0.5 },
                }]);
            }
        }
    }
    results
}

fn words(lost: &[PendingRun]) -> Vec<String> {
    let each = lost
        .iter()
        .map(|one| format!("{} {}", one.run.id, one.attempt));
    each.collect()
}

#[tokio::test(start_paused = true)]
async fn a_set_without_a_block_that_counts_is_played_once_more() {
    let folder = tempfile::tempdir().unwrap();
    let runs = [turns("a", 1), turns("b", 1), turns("a", 2), turns("b", 2)];
    let mut session = session(folder.path());
    session.plan.runs = runs.iter().map(|one| one.run.clone()).collect();
    let mut log = Log::default();
    let recorder = Recorder::create(locked(folder.path()), &session).unwrap();
    let fakes = Fakes::new(GOOD, BackendName::None, &log.journal);
    let mut both = Both {
        recorder,
        log: &mut log,
    };
    let suite = suite();
    let driver = fakes.driver(&suite, None);
    driver.play(&runs, &mut both).await.unwrap();
    let read = || read_records(folder.path()).unwrap();
    let none: [&str; 0] = [];
    assert_eq!(words(&lost(&session, &disturbed(read(), &[]))), none);
    assert_eq!(
        words(&lost(&session, &disturbed(read(), &[1, 2]))),
        none,
        "all are"
    );

    let again = lost(&session, &disturbed(read(), &[2]));
    assert_eq!(words(&again), ["one.a.r2 2", "one.b.r2 2"]);
    let first = read();
    let made = play_again(&driver, &again, 4, &mut both).await.unwrap();
    assert_eq!((made, read().runs.len()), (6, 6));
    assert_eq!(
        words(&lost(&session, &disturbed(read(), &[2]))),
        none,
        "only once"
    );
    // If looking at them decided how many there are, none is added.
    session.runs_decision = Some(RunsDecision {
        asked: RunsUntil::sure(2, None),
        pilot: 2,
        runs: 2,
        because: DecisionReason::AtMost,
        families: Vec::new(),
    });
    assert_eq!(words(&lost(&session, &disturbed(first, &[2]))), none);
    assert_eq!(play_again(&driver, &[], 6, &mut both).await.unwrap(), 6);
    let told = log
        .words
        .iter()
        .filter(|word| word.starts_with("SetsReplaced { sets: 1"));
    assert_eq!(told.count(), 1, "{:?}", log.words);
}
