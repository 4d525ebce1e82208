//! The decision that a contender is warm, by the records of its warm-up.

use std::collections::BTreeMap;

use bakeoff_model::load::{CpuTime, TurnCount};
use bakeoff_model::measure::resource::{ResourceSample, ThreadGroup};
use bakeoff_model::record::IntervalRecord;
use bakeoff_model::suite::warmth::{SLICES_MIN, TIME_MIN};
use bakeoff_validity::{WarmUp, is_warm};

use crate::world::{SECOND, World};

/// A reading after `second` seconds: all CPU time, and that of a compiler thread.
pub(crate) fn sample(second: u64, cpu_ns: u64, jit_ns: u64) -> ResourceSample {
    let (count, cpu_ns_jit) = (1, jit_ns);
    ResourceSample {
        at_ns: second * SECOND,
        cpu: Some(CpuTime {
            user_ns: cpu_ns,
            system_ns: 0,
        }),
        threads: BTreeMap::from([(
            "C1 CompilerThre".to_owned(),
            ThreadGroup {
                count,
                cpu_ns: cpu_ns_jit,
            },
        )]),
        ..ResourceSample::default()
    }
}

/// Slices of a second with these requests each; in each the compiler used that share of a core.
fn warm_up(slices: &[(u64, f64)]) -> WarmUp {
    let slices: Vec<(u64, f64, u64)> = slices
        .iter()
        .map(|(requests, jit)| (*requests, *jit, requests * 10_000))
        .collect();
    with_generator(&slices)
}

/// Returns slices with the CPU time of the load generator, ns.
fn with_generator(slices: &[(u64, f64, u64)]) -> WarmUp {
    let mut warm_up = WarmUp::default();
    let (mut cpu_ns, mut jit_ns) = (0, 0);
    for (second, (requests, jit, generator_ns)) in (0..).zip(slices) {
        let mut load = World::good(8).load;
        (load.start_ns, load.end_ns) = (second * SECOND, (second + 1) * SECOND);
        load.requests = *requests;
        load.generator_cpu.user_ns = *generator_ns;
        let before = sample(second, cpu_ns, jit_ns);
        cpu_ns += SECOND;
        jit_ns += crate::world::nanoseconds(*jit);
        warm_up.add(&IntervalRecord {
            connections: 8,
            warm_up: true,
            load,
            contender_before: Some(before),
            contender_after: Some(sample(second + 1, cpu_ns, jit_ns)),
            ..IntervalRecord::default()
        });
    }
    warm_up
}

#[test]
fn warm_is_flat_and_compiled() {
    let flat = vec![(5000, 0.01); 12];
    let warmth = warm_up(&flat).warmth().unwrap();
    assert!(is_warm(&warmth), "{warmth:?}");
    assert_eq!(warmth.jit_share, Some(0.01));
    let compiling = warm_up(&[(5000, 0.2); 12]).warmth().unwrap();
    assert!(!is_warm(&compiling), "{compiling:?}");
    let rising: Vec<(u64, f64)> = (0..12).map(|second| (5000 + 25 * second, 0.0)).collect();
    let rising = warm_up(&rising).warmth().unwrap();
    assert!(!is_warm(&rising), "5 % in ten seconds: {rising:?}");
    assert!((rising.rise - 0.05).abs() < 0.002, "{rising:?}");
    // What was compiled long before does not matter.
    let mut long_ago = vec![(1000, 0.9); 20];
    long_ago.extend([(5000, 0.0); 15]);
    let warmth = warm_up(&long_ago).warmth().unwrap();
    assert!(is_warm(&warmth), "{warmth:?}");
}

/// A host that is half as fast in every other slice says nothing about the contender.
#[test]
fn a_disturbed_host_is_told_from_a_contender_that_gets_faster() {
    let slow_at = |second: u64| 1 + second * 7 % 11 % 2;
    let disturbed: Vec<(u64, f64, u64)> = (0..16)
        .map(|second| (8000 / slow_at(second), 0.0, 80_000_000))
        .collect();
    let warmth = with_generator(&disturbed).warmth().unwrap();
    assert!(is_warm(&warmth), "{warmth:?}");
    // The load generator's CPU time cannot hide that throughput rises significantly.
    let faster: Vec<(u64, f64, u64)> = (0..16)
        .map(|second| (5000 + 50 * second, 0.0, 80_000_000))
        .collect();
    let warmth = with_generator(&faster).warmth().unwrap();
    assert!(!is_warm(&warmth), "{warmth:?}");
    // Without it only throughput remains.
    let unknown: Vec<(u64, f64, u64)> = disturbed
        .iter()
        .map(|(requests, jit, _)| (*requests, *jit, 0))
        .collect();
    let warmth = with_generator(&unknown).warmth().unwrap();
    assert!(!is_warm(&warmth), "{warmth:?}");
}

/// As of JVMs on one core: for half a minute compilers take a third of the time, then none.
#[test]
fn what_was_before_the_last_compiling_is_not_looked_at() {
    let noisy = |second: u64| 5000 + 20 * (second * 7 % 11);
    let mut slices: Vec<(u64, f64)> = (0..30).map(|second| (noisy(second) / 3, 0.35)).collect();
    slices.extend((30..36).map(|second| (noisy(second), 0.01)));
    let warmth = warm_up(&slices).warmth().unwrap();
    assert!(!is_warm(&warmth), "six seconds: {warmth:?}");
    slices.extend((36..46).map(|second| (noisy(second), 0.01)));
    let warmth = warm_up(&slices).warmth().unwrap();
    assert!(warmth.slices <= 16, "{warmth:?}");
    assert!(warmth.rise.abs() < 0.03, "{warmth:?}");
}

#[test]
fn too_little_says_nothing() {
    assert_eq!(warm_up(&[(5000, 0.0); 9]).warmth(), None, "nine seconds");
    assert!(warm_up(&[(5000, 0.0); 10]).warmth().is_some());
    assert_eq!(SLICES_MIN as usize, bakeoff_stats::rise::POINTS_MIN);
    assert_eq!(TIME_MIN.as_secs_f64(), bakeoff_stats::rise::TIME_MIN_S);
}

/// A contender of a set: slices of a second with ten turns each, and the requests of each turn.
fn in_turns(requests: impl Fn(u64) -> u64, seconds: u64) -> WarmUp {
    let mut warm_up = WarmUp::default();
    for second in 0..seconds {
        let mut load = World::good(8).load;
        (load.start_ns, load.end_ns) = (second * SECOND, (second + 1) * SECOND);
        load.slice = u32::try_from(second).unwrap();
        let turn = |block: u64| TurnCount {
            // The step is played again every second.
            block,
            length_us: 50_000,
            requests: requests(10 * second + block),
            own_cpu_us: 50_000,
            ..TurnCount::default()
        };
        load.turns = (0..10).map(turn).collect();
        warm_up.add(&IntervalRecord {
            connections: 8,
            warm_up: true,
            load,
            ..IntervalRecord::default()
        });
    }
    warm_up
}

/// Noise of up to 20 %, which differs between contenders.
fn noisy(level: u64, turn: u64, number: u64) -> u64 {
    level + level * (turn * (7 + 4 * number) % 11) / 50
}

#[test]
fn next_to_others_it_is_warm_unless_it_gets_faster_than_they_do() {
    // The host becomes faster by half and slower again, for all of them.
    let host = |turn: u64| 1000 + 50 * (turn % 10).min(10 - turn % 10);
    let flat = |number: u64| in_turns(move |turn| noisy(host(turn), turn, number), 6);
    let (one, other, third) = (flat(0), flat(1), flat(2));
    let warmth = one.warmth_beside(&[&other, &third]).unwrap();
    assert!(is_warm(&warmth) && warmth.in_turns, "{warmth:?}");
    let rising = in_turns(|turn| noisy(host(turn) * (20 + turn) / 40, turn, 0), 6);
    let warmth = rising.warmth_beside(&[&other, &third]).unwrap();
    assert!(!is_warm(&warmth) && warmth.rise > 0.1, "{warmth:?}");
    // The others fall behind it, and are warm.
    let warmth = one.warmth_beside(&[&rising, &third]).unwrap();
    assert!(is_warm(&warmth), "{warmth:?}");
    assert_eq!(one.warmth_beside(&[]), None, "six seconds, alone");
}
