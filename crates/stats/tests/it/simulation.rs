//! Known truths: how often intervals hold the true ratio, how often equal contenders are
//! distinguished. Seeded, so that these are checks of the method and not of luck.

use std::f64::consts::TAU;

use bakeoff_base::random::Random;
use bakeoff_stats::{
    Better, Criteria, LogRatio, Pairs, Point, Sample, SteadyState, Verdict, compare, rise,
    steady_state,
};

/// A standard normal number (Box and Muller, Annals of Mathematical Statistics 1958).
fn normal(random: &mut Random) -> f64 {
    let radius = (-2.0 * (1.0 - random.unit()).ln()).sqrt();
    radius * (TAU * random.unit()).cos()
}

fn sample(random: &mut Random, mean: f64, variation: f64, runs: usize) -> Sample {
    let values = (0..runs)
        .map(|_| mean * (1.0 + variation * normal(random)))
        .collect();
    Sample::new(values).unwrap()
}

/// Share of `trials` in which the 95 % interval holds the true ratio 2.
fn coverage(runs: usize, trials: u32) -> f64 {
    let mut random = Random::new(7);
    let mut held = 0;
    for _ in 0..trials {
        let first = sample(&mut random, 2000.0, 0.05, runs);
        let second = sample(&mut random, 1000.0, 0.025, runs);
        let interval = LogRatio::of(&first, &second).unwrap().interval(0.95);
        held += u32::from(interval.unwrap().contains(2.0));
    }
    f64::from(held) / f64::from(trials)
}

#[test]
fn intervals_of_few_runs_hold_what_they_promise() {
    for runs in [2, 3, 4, 6, 10, 20] {
        let found = coverage(runs, 2000);
        assert!((0.93..=0.995).contains(&found), "{runs} runs: {found}");
    }
}

#[test]
fn equal_contenders_are_seldom_distinguished() {
    let mut random = Random::new(11);
    let criteria = Criteria::new(Better::Higher);
    let mut wrong = 0;
    for _ in 0..2000 {
        let first = sample(&mut random, 1000.0, 0.05, 4);
        let second = sample(&mut random, 1000.0, 0.05, 4);
        let verdict = compare(&first, &second, &criteria).verdict;
        wrong += u32::from(matches!(verdict, Verdict::Faster | Verdict::Slower));
    }
    assert!(wrong <= 110, "{wrong} of 2000 at 95 %");
}

/// Share of 200 tables of eight equal contenders, half with 3 % and half with 11 % variation, in
/// which some pair differs significantly. `examples/family.rs` does the same at length.
fn family_error(runs: u32, blocks: bool) -> f64 {
    const TABLES: u32 = 200;
    let mut random = Random::new(13);
    let criteria = Criteria::new(Better::Higher);
    let mut wrong = 0;
    for _ in 0..TABLES {
        let drift: Vec<f64> = (0..runs).map(|_| 0.03 * normal(&mut random)).collect();
        let mut one = |variation: f64| {
            let value = |run: u32, random: &mut Random| {
                (drift[run as usize] + variation * normal(random)).exp()
            };
            let values = (0..runs).map(|run| (run, value(run, &mut random)));
            let sample = Sample::in_blocks(values.collect()).unwrap();
            if blocks {
                sample
            } else {
                sample.without_blocks()
            }
        };
        let all: Vec<Sample> = (0..8).map(|index| one([0.03, 0.11][index % 2])).collect();
        let all: Vec<Option<&Sample>> = all.iter().map(Some).collect();
        let pairs = Pairs::new(&all, &criteria);
        let told_apart = |verdict| matches!(verdict, Verdict::Faster | Verdict::Slower);
        let mut cells = pairs.cells().iter().flatten().flatten();
        wrong += u32::from(cells.any(|found| told_apart(found.verdict)));
    }
    f64::from(wrong) / f64::from(TABLES)
}

#[test]
fn a_table_of_equal_contenders_seldom_tells_any_apart() {
    for (runs, blocks) in [(3, false), (5, false), (5, true), (10, true)] {
        let found = family_error(runs, blocks);
        // 200 tables at 5 % have more than 16 in one of twenty simulations.
        assert!(found <= 0.08, "{runs} runs, blocks {blocks}: {found}");
    }
}

/// A warm-up curve from `cold` to 1000 over `warm_up` points, then level, with 2 % noise.
fn warming(cold: f64, warm_up: usize, points: usize, random: &mut Random) -> Vec<f64> {
    let mut series = Vec::new();
    for index in 0..points {
        #[expect(clippy::cast_precision_loss, reason = "small counts")]
        let share = (index as f64 / warm_up.max(1) as f64).min(1.0);
        let level = cold + (1000.0 - cold) * share;
        series.push(level * (1.0 + 0.02 * normal(random)));
    }
    series
}

#[test]
fn warm_up_ends_where_it_was_made_to_end() {
    let mut random = Random::new(3);
    for (cold, warm_up, low, high) in [(1000.0, 0, 0, 0), (300.0, 20, 17, 24), (500.0, 8, 6, 12)] {
        let series = warming(cold, warm_up, 80, &mut random);
        let Some(SteadyState::Steady { from_index }) = steady_state(&series, 0.03) else {
            panic!("not steady: {series:?}");
        };
        assert!(
            (low..=high).contains(&from_index),
            "{cold} {warm_up}: {from_index}"
        );
    }
}

#[test]
fn a_series_that_goes_on_rising_is_never_steady() {
    let mut random = Random::new(5);
    let series = warming(200.0, 80, 80, &mut random);
    assert_eq!(steady_state(&series, 0.03), Some(SteadyState::NeverSteady));
}

#[test]
fn steadiness_needs_points() {
    assert_eq!(steady_state(&[1.0; 7], 0.03), None);
    assert_eq!(
        steady_state(&[1.0; 8], 0.03),
        Some(SteadyState::Steady { from_index: 0 })
    );
    assert_eq!(steady_state(&[f64::NAN; 9], 0.03), None);
}

/// How many of the warm-ups of 120 s are called warm at some time, with 4 % noise around a
/// level that rises by this share in ten seconds. `examples/warm_up.rs` does the same at length.
fn called_warm(rises: f64, warm_ups: u32) -> u32 {
    let mut random = Random::new(19);
    let mut called = 0;
    for _ in 0..warm_ups {
        let points = (0..96).map(|slice| {
            let from_s = 1.25 * f64::from(slice);
            Point {
                from_s,
                to_s: from_s + 1.25,
                value: (rises.ln_1p() * from_s / 10.0 + 0.04 * normal(&mut random)).exp(),
            }
        });
        let points: Vec<Point> = points.collect();
        let mut ends = (8..=96).step_by(2);
        let is_flat = |end| rise(&points[..end]).is_some_and(|found| found.is_flat());
        called += u32::from(ends.any(is_flat));
    }
    called
}

#[test]
fn a_flat_warm_up_ends_and_one_that_rises_seldom_does() {
    assert_eq!(called_warm(0.0, 40), 40);
    let wrong = called_warm(0.03, 60);
    assert!(wrong <= 3, "{wrong} of 60");
}
