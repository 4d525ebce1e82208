//! Made-up results: heads and bases.

use bakeoff_analysis::{Analysis, AnalysisInput};
use bakeoff_model::plan::baseline::Baseline;
use bakeoff_model::record::Results;
use bakeoff_model::suite::run_count::{DecisionReason, RunsDecision, RunsUntil};

use crate::synthetic::turns::{self, Slice, Way};

/// Sets of four blocks in which the head takes `dearer` times the CPU of its base for each
/// request. Each process is its own by up to half a percent.
pub(crate) fn session(sets: u32, dearer: f64, conditions: &[&str]) -> Results {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "made-up numbers are small and positive"
    )]
    let slices = |cpu_us: f64, set: u32| -> Vec<Slice> {
        let own = 1.0 + 0.005 * f64::from(set % 3) - 0.002 * f64::from(set % 2);
        let of_block = |block: u32| {
            let cpu_us = cpu_us * own * (1.0 + 0.01 * f64::from(block % 2));
            let requests = 1e6 / cpu_us;
            (requests as u64, (requests.floor() * cpu_us * 1000.0) as u64)
        };
        (0..4).map(of_block).collect()
    };
    let mut played = Vec::new();
    for set in 1..=sets {
        played.push(("shop", set, slices(200.0 * dearer, set)));
        played.push(("shop@base", set, slices(200.0, set + 1)));
    }
    let mut results = turns::results(&played, Way::Turns);
    for run in &mut results.runs {
        // The head is slower in turns by as much as it is dearer, and in open load by a fifth.
        let is_head = run.begin.run.contender == "shop";
        let own = u64::from(run.begin.run.repetition) * 10_000;
        turns::add_open_load(run, if is_head { 1_200_000 } else { 1_000_000 } + own);
    }
    results.baseline = Some(Baseline {
        name: "main".to_owned(),
        commit: Some("1a2b3c4d5e6f".to_owned()),
        folder: None,
        fail_if: conditions.iter().map(|one| one.parse().unwrap()).collect(),
        undecided_fails: false,
    });
    results.skipped = vec!["new: not in the baseline main (1a2b3c4d5)".to_owned()];
    results
}

pub(crate) fn analyse(results: &Results) -> Analysis<'_> {
    Analysis::of(&AnalysisInput::new(results, "Synthetic"))
}

/// Makes the results those of a session that looked at its sets to decide how many there are.
pub(crate) fn sequential(mut results: Results, sets: u32, because: DecisionReason) -> Results {
    results.runs_decision = Some(RunsDecision {
        asked: RunsUntil::sure(60, None),
        pilot: sets,
        runs: sets,
        because,
        families: Vec::new(),
    });
    results
}
