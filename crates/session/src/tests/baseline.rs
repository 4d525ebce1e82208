//! Sessions of heads and bases that end as soon as their conditions are decided.

use std::cell::Cell;

use bakeoff_analysis::{Analysis, AnalysisInput, BaselineConclusion};
use bakeoff_model::load::histogram::Histogram;
use bakeoff_model::plan::Plan;
use bakeoff_model::plan::baseline::{Baseline, base_name};
use bakeoff_model::record::{Results, RunRecords};
use bakeoff_model::suite::conditions::{BackendName, RuntimeKind};
use bakeoff_model::suite::run_count::{DecisionReason, RunsUntil};
use bakeoff_model::validity::{FairnessVerdict, Finding, Reason, Validity};
use bakeoff_store::results::read_records;

use super::fakes::{Fakes, GOOD, Log, locked, suite};
use super::pilot::{Both, session};
use super::turns::turns;
use crate::sequential;
use crate::store::recorder::Recorder;

/// Requests of the base in each of its turns.
const REQUESTS: f64 = 100_000.0;

/// The throughput of head and base: the head's as a share of its base's, one share for each set in
/// turn.
struct Story {
    shares: &'static [f64],
    conditions: &'static [&'static str],
    /// How long each set takes.
    set_s: u32,
    /// Sets in which others worked on the host.
    lost: &'static [u32],
}

const STORY: Story = Story {
    shares: &[1.0],
    conditions: &["slower>5%"],
    set_s: 10,
    lost: &[],
};

impl Story {
    /// The records as if this had been measured, with a baseline.
    fn told(&self, mut results: Results) -> Results {
        for run in &mut results.runs {
            self.tell(run);
        }
        results.baseline = Some(Baseline {
            name: "main".to_owned(),
            commit: None,
            folder: None,
            fail_if: self
                .conditions
                .iter()
                .map(|one| one.parse().unwrap())
                .collect(),
            undecided_fails: false,
        });
        results
    }

    fn tell(&self, run: &mut RunRecords) {
        let set = run.begin.run.repetition;
        let share = match run.begin.run.contender.as_str() {
            "a" => self.shares[set as usize % self.shares.len()],
            _ => 1.0,
        };
        run.begin.runtime = RuntimeKind::External;
        let at = |seconds: u32| format!("2026-11-25T00:{:02}:{:02}Z", seconds / 60, seconds % 60);
        run.begin.at = at(set * self.set_s);
        run.end.as_mut().unwrap().at = at((set + 1) * self.set_s);
        for slice in &mut run.intervals {
            slice.validity = match self.lost.contains(&set) {
                false => Validity::fair(),
                true => Validity::of(vec![Reason {
                    verdict: FairnessVerdict::HostBound,
                    finding: Finding::ForeignWork { share: 0.5 },
                }]),
            };
            let load = &mut slice.load;
            for turn in &mut load.turns {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "made-up numbers are small and positive"
                )]
                let requests = (REQUESTS * share) as u64;
                turn.requests = requests;
            }
            // Each connection has one request all the time.
            load.requests = u64::from(load.connections.in_flight_max);
            load.service_time = Histogram::new();
            for _ in 0..load.requests {
                load.service_time.record(load.length_ns());
            }
        }
    }
}

/// Plays at most twelve sets within two minutes: how many were played, why no more, and what the
/// report makes of them.
async fn play(story: &Story) -> (usize, DecisionReason, BaselineConclusion) {
    let folder = tempfile::tempdir().unwrap();
    let base = base_name("a");
    let runs = (1..=12).flat_map(|set| [turns("a", set), turns(&base, set)]);
    let mut runs: Vec<_> = runs.collect();
    for (order, one) in runs.iter_mut().enumerate() {
        one.run.order = order;
    }
    let mut session = session(folder.path());
    session.plan.runs = runs.iter().map(|one| one.run.clone()).collect();
    let within = std::time::Duration::from_secs(120);
    let asked = RunsUntil::sure(12, Some(within));
    session.plan.runs_until = Some(asked);
    let mut log = Log::default();
    let recorder = Recorder::create(locked(folder.path()), &session).unwrap();
    let fakes = Fakes::new(GOOD, BackendName::None, &log.journal);
    let mut both = Both {
        recorder,
        log: &mut log,
    };
    let suite = suite();
    let driver = fakes.driver(&suite, None);
    let looks = Cell::new(0);
    let decide = |plan: &Plan| {
        looks.set(looks.get() + 1);
        let results = story.told(read_records(folder.path())?);
        Ok(sequential::decide(plan, asked, results))
    };
    let made = sequential::play(&driver, &mut session, &runs, &decide, &mut both).await;
    let sets = made.unwrap() / 2;
    assert_eq!(looks.get(), sets, "one look at each set");
    let decision = session.runs_decision.unwrap();
    assert_eq!(decision.runs as usize, sets);
    let mut results = story.told(read_records(folder.path()).unwrap());
    results.runs_decision = Some(decision.clone());
    let against = Analysis::of(&AnalysisInput::new(&results, "")).against_base;
    let against = against.unwrap();
    // A session ends early by the same verdict as in its report.
    let is_early = matches!(decision.because, Decided | ConditionsDecided);
    assert!(against.is_decided() || !is_early, "{against:#?}");
    (sets, decision.because, against.conclusion())
}

#[track_caller]
fn check(
    found: (usize, DecisionReason, BaselineConclusion),
    sets: usize,
    because: DecisionReason,
    conclusion: BaselineConclusion,
) {
    assert_eq!(found, (sets, because, conclusion));
}

use BaselineConclusion::{ConditionHolds, Passed};
use DecisionReason::{AtMost, ConditionsDecided, Decided, Within};

const SLOWER: &[f64] = &[0.80, 0.81, 0.79];
const EQUAL: &[f64] = &[1.0, 1.003, 0.997];
const SPREAD: &[f64] = &[0.85, 1.05];

#[tokio::test(start_paused = true)]
async fn a_clear_slowdown_ends_its_session_at_the_fifth_set() {
    let story = Story {
        shares: SLOWER,
        ..STORY
    };
    check(play(&story).await, 5, ConditionsDecided, ConditionHolds);
}

#[tokio::test(start_paused = true)]
async fn equal_ones_end_when_they_are_below_the_bound() {
    let story = Story {
        shares: EQUAL,
        ..STORY
    };
    check(play(&story).await, 5, ConditionsDecided, Passed);
    // A ratio that is far enough from 1 does not decide a condition: the bound is near.
    let near = Story {
        shares: &[0.953, 0.948, 0.951, 0.949],
        ..STORY
    };
    check(play(&near).await, 12, Within, Passed);
    let without = Story {
        conditions: &[],
        ..near
    };
    check(play(&without).await, 5, Decided, Passed);
    // A share of failures is not a ratio, and is known after one set.
    let of_errors = Story {
        conditions: &["errors>1%"],
        ..STORY
    };
    check(play(&of_errors).await, 5, ConditionsDecided, Passed);
}

#[tokio::test(start_paused = true)]
async fn the_time_ends_what_is_undecided_but_not_before_the_fifth_set() {
    let spread = |set_s| Story {
        shares: SPREAD,
        set_s,
        ..STORY
    };
    check(play(&spread(10)).await, 12, Within, Passed);
    check(play(&spread(1)).await, 12, AtMost, Passed);
    check(play(&spread(100)).await, 5, Within, Passed);
}

#[tokio::test(start_paused = true)]
async fn a_lost_set_is_one_fewer_to_judge_by() {
    let story = Story {
        shares: SLOWER,
        lost: &[2],
        ..STORY
    };
    check(play(&story).await, 6, ConditionsDecided, ConditionHolds);
}
