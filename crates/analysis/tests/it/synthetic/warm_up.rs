//! Made-up results: runs that warm up.

use std::time::Duration;

use bakeoff_analysis::{Analysis, AnalysisInput};
use bakeoff_model::load::Pace;
use bakeoff_model::measure::resource::{ResourceSample, ThreadGroup};
use bakeoff_model::record::{Results, RunRecords};
use bakeoff_model::suite::Step;
use bakeoff_model::suite::warmth::Warmth;

use crate::synthetic::{contender, run_of_steps};

/// A run with a warm-up until steady at 64 connections after one at 8, and a measured step. In each
/// slice compilers use this share of the CPU time, in warm-up and in measured ones.
pub(crate) fn run(
    name: &'static str,
    repetition: u32,
    rise: f64,
    [cold, warm]: [f64; 2],
) -> RunRecords {
    let step = |connections, warm_up, at_least| Step {
        connections,
        duration: Duration::from_secs(60),
        pace: Pace::Closed,
        warm_up,
        at_least,
    };
    let steps = vec![
        step(8, true, None),
        step(64, true, Some(Duration::from_secs(10))),
        step(64, false, None),
    ];
    let one = contender(name, 5000.0, 100.0);
    let mut records = run_of_steps("city-get", &one, repetition, 0, steps);
    let mut jit_ns = 0.0;
    for slice in &mut records.intervals {
        slice.warmth = (!slice.warm_up).then_some(Warmth {
            rise,
            rise_most: rise + 0.01,
            rise_least: rise - 0.01,
            jit_share: Some(warm),
            slices: 12,
            in_turns: false,
        });
        let (before, after) = (
            slice.contender_before.as_mut().unwrap(),
            slice.contender_after.as_mut().unwrap(),
        );
        let used_ns = after.cpu.unwrap().total_ns() - before.cpu.unwrap().total_ns();
        let share = if slice.warm_up { cold } else { warm };
        compile(before, jit_ns);
        jit_ns += share * f64::from(u32::try_from(used_ns).unwrap());
        compile(after, jit_ns);
    }
    records
}

/// So much was compiled by then, and half as much collected.
pub(crate) fn compile(sample: &mut ResourceSample, jit_ns: f64) {
    for (name, cpu_ns) in [("C2 CompilerThre", jit_ns), ("VM Thread", jit_ns / 2.0)] {
        let cpu_ns = whole(cpu_ns);
        let group = ThreadGroup { count: 1, cpu_ns };
        sample.threads.insert(name.to_owned(), group);
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a test"
)]
pub(crate) fn whole(value: f64) -> u64 {
    value as u64
}

pub(crate) fn results() -> Results {
    let runs = |repetition| {
        [
            run("jvm", repetition, 0.002, [0.3, 0.02]),
            run("jvm-slow", repetition, 0.04, [0.4, 0.12]),
            run("native", repetition, 0.001, [0.0, 0.0]),
        ]
    };
    Results {
        runs: (1..=3).flat_map(runs).collect(),
        ..Results::default()
    }
}

pub(crate) fn analysis(results: &Results) -> Analysis<'_> {
    Analysis::of(&AnalysisInput {
        results,
        title: "Warm",
        rounds: &[],
    })
}
