//! The end of a warm-up that is measured as well.

use std::time::Duration;

use bakeoff_model::load::{Pace, TurnCount};
use bakeoff_model::record::{IntervalRecord, RunRecords, read_run};
use bakeoff_model::suite::Step;
use bakeoff_model::suite::warmth::Warmth;
use bakeoff_validity::count_warm_ends;

use crate::world::{SECOND, World};

const RUN: &str = include_str!("../../../model/tests/it/fixtures/run.jsonl");

/// A set. The warm-up has `warm_up` slices of two blocks, each counted from 0; two
/// slices of the measured step follow, whose blocks are counted on.
#[derive(Clone, Copy)]
struct Set {
    warm_up: u32,
    connections: [u32; 2],
    rise: f64,
    in_turns: bool,
}

const WARM: Set = Set {
    warm_up: 4,
    connections: [8, 8],
    rise: 0.0,
    in_turns: true,
};

fn slice(set: &Set, step: usize, number: u32) -> IntervalRecord {
    let mut load = World::good(8).load;
    (load.step, load.slice) = (step, number);
    let begin = u64::from(number) + if step == 0 { 0 } else { u64::from(set.warm_up) };
    (load.start_ns, load.end_ns) = (begin * SECOND, (begin + 1) * SECOND);
    let first = if step == 0 { 0 } else { 2 * u64::from(number) };
    let turn = |block| TurnCount {
        block,
        ..TurnCount::default()
    };
    load.turns = vec![turn(first), turn(first + 1)];
    let warmth = Warmth {
        rise: set.rise,
        rise_most: set.rise + 0.01,
        rise_least: set.rise - 0.01,
        jit_share: None,
        slices: 4,
        in_turns: set.in_turns,
    };
    IntervalRecord {
        connections: 8,
        warm_up: step == 0,
        warmth: (step == 1).then_some(warmth),
        load,
        ..IntervalRecord::default()
    }
}

fn run(set: &Set) -> RunRecords {
    let mut run = read_run(RUN).unwrap();
    let step = |connections, at_least: Option<Duration>| Step {
        connections,
        duration: Duration::from_secs(10),
        pace: Pace::Closed,
        warm_up: at_least.is_some(),
        at_least,
    };
    let [before, after] = set.connections;
    run.begin.run.steps = vec![
        step(before, Some(Duration::from_secs(1))),
        step(after, None),
    ];
    run.metrics.clear();
    let slices = (0..set.warm_up).map(|number| slice(set, 0, number));
    let slices = slices.chain((0..2).map(|number| slice(set, 1, number)));
    run.intervals = slices.collect();
    run
}

/// Slices of the measured step of the first run, in order: the second of each, its number, and
/// whether all blocks of the step have numbers that grow.
#[track_caller]
fn check(sets: &[Set], expect: &[u64]) {
    let mut runs: Vec<RunRecords> = sets.iter().map(run).collect();
    count_warm_ends(&mut runs);
    let measured = runs[0].intervals.iter().filter(|slice| !slice.warm_up);
    let measured: Vec<&IntervalRecord> = measured.collect();
    let seconds = measured.iter().map(|slice| slice.load.start_ns / SECOND);
    assert_eq!(seconds.collect::<Vec<u64>>(), expect);
    let numbers = measured.iter().map(|slice| slice.load.slice);
    assert!(numbers.eq(0..u32::try_from(expect.len()).unwrap()));
    assert!(
        measured
            .iter()
            .all(|slice| slice.load.step == 1 && slice.warmth.is_some())
    );
    let turns = measured.iter().flat_map(|slice| &slice.load.turns);
    let blocks: Vec<u64> = turns.map(|turn| turn.block).collect();
    assert!(blocks.is_sorted_by(|one, next| one < next), "{blocks:?}");
}

#[test]
fn the_last_half_of_a_warm_up_is_measured_where_all_are_warm() {
    check(&[WARM, WARM], &[2, 3, 4, 5]);
    let cold = Set { rise: 0.2, ..WARM };
    check(&[WARM, cold], &[4, 5]);
    // The contender of fewer slices died in between.
    let short = Set { warm_up: 2, ..WARM };
    check(&[WARM, short], &[3, 4, 5]);
    check(&[Set { warm_up: 1, ..WARM }; 2], &[1, 2]);
}

#[test]
fn another_load_and_whole_runs_begin_where_they_are_recorded() {
    let other = Set {
        connections: [8, 64],
        ..WARM
    };
    check(&[other, other], &[4, 5]);
    let whole = Set {
        in_turns: false,
        ..WARM
    };
    check(&[whole], &[4, 5]);
}

/// A compiler thread uses a third of the CPU time in the first six of eight slices.
#[test]
fn where_compilers_were_at_work_it_is_the_last_quarter() {
    let mut runs = vec![run(&Set { warm_up: 8, ..WARM }); 2];
    for run in &mut runs {
        let mut jit_ns = 0;
        for slice in &mut run.intervals {
            let share = if slice.load.step == 0 && slice.load.slice < 6 {
                3
            } else {
                0
            };
            let read =
                |second: u64, jit_ns: u64| crate::warm_up::sample(second, second * SECOND, jit_ns);
            let begin = slice.load.start_ns / SECOND;
            slice.contender_before = Some(read(begin, jit_ns));
            jit_ns += share * SECOND / 10;
            slice.contender_after = Some(read(begin + 1, jit_ns));
        }
    }
    count_warm_ends(&mut runs);
    let measured = runs[1].intervals.iter().filter(|slice| !slice.warm_up);
    let seconds = measured.map(|slice| slice.load.start_ns / SECOND);
    assert_eq!(seconds.collect::<Vec<u64>>(), [6, 7, 8, 9]);
}
