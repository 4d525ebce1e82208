//! Ratios compared with bounds: with a fixed number of sets, and with a number that was decided by
//! looking at the sets.

use bakeoff_base::random::Random;
use bakeoff_stats::log_ratio::LookedAt;
use bakeoff_stats::sequential::{ln_e_value, ln_e_value_above};
use bakeoff_stats::{
    Better, BoundSide, Bounded, Budget, Criteria, LogRatio, Sample, against_bounds, compare,
};

/// Sets with these ratios: a sample of them and one of ones.
fn both(ratios: &[f64]) -> (Sample, Sample) {
    let sets = |values: Vec<f64>| {
        let values = (1..).zip(values);
        Sample::of_sets(values.collect()).unwrap()
    };
    (sets(ratios.to_vec()), sets(vec![1.0; ratios.len()]))
}

#[track_caller]
fn check(ratios: &[f64], bound: f64, expect: BoundSide) {
    let (first, second) = both(ratios);
    let found = against_bounds(&[(&first, &second, bound)]);
    assert_eq!(found[0].side, expect, "{found:?}");
}

#[test]
fn a_single_ratio_is_where_its_interval_is() {
    check(&[1.10, 1.09, 1.11, 1.10, 1.10], 1.05, BoundSide::Above);
    check(&[1.06, 1.04, 1.07, 1.05, 1.06], 1.05, BoundSide::Undecided);
    check(&[1.00, 1.01, 0.99, 1.00, 1.01], 1.05, BoundSide::Below);
    check(&[1.10], 1.05, BoundSide::Undecided);
    check(&[1.10, 1.10, 1.10], 1.05, BoundSide::Undecided);
    let mut random = Random::new(7);
    let mut sides = [0; 3];
    for _ in 0..500 {
        let level = 1.0 + 0.1 * random.unit();
        let ratios: Vec<f64> = (0..5).map(|_| level + 0.04 * random.unit()).collect();
        let (first, second) = both(&ratios);
        let interval = LogRatio::of(&first, &second).unwrap().interval(0.95);
        let interval = interval.unwrap();
        let found = against_bounds(&[(&first, &second, 1.05)])[0];
        let expect = match (interval.low > 1.05, interval.high < 1.05) {
            (true, _) => BoundSide::Above,
            (_, true) => BoundSide::Below,
            _ => BoundSide::Undecided,
        };
        assert_eq!(found.side, expect, "{found:?}");
        assert_eq!(found.ratio.interval, Some(interval));
        sides[match found.side {
            BoundSide::Above => 0,
            BoundSide::Below => 1,
            BoundSide::Undecided => 2,
        }] += 1;
    }
    assert!(sides.iter().all(|count| *count > 20), "{sides:?}");
}

#[test]
fn many_in_one_family_have_to_be_further_away() {
    let (near, one) = both(&[1.078, 1.09, 1.065, 1.085, 1.07]);
    let (same, _) = both(&[1.00, 1.01, 0.99, 1.00, 1.01]);
    let alone = against_bounds(&[(&near, &one, 1.06)])[0];
    assert_eq!((alone.side, alone.alone_above), (BoundSide::Above, true));
    let mut tests = vec![(&near, &one, 1.06)];
    tests.extend([(&same, &one, 1.05); 19]);
    let among = against_bounds(&tests);
    assert_eq!(
        (among[0].side, among[0].alone_above),
        (BoundSide::Undecided, true)
    );
    assert_eq!(among[0].ratio, alone.ratio, "the interval is its own");
    assert!(among[1..].iter().all(|one| one.side == BoundSide::Below));
}

/// The chance of any false "above" among twenty ratios that lie at their bound is 2.5 %.
#[test]
fn a_family_at_its_bounds_is_rarely_above() {
    let mut random = Random::new(11);
    let sessions = 2000;
    let mut wrong = 0;
    for _ in 0..sessions {
        let pairs: Vec<(Sample, Sample)> = (0..20)
            .map(|_| {
                let ratios = (0..5).map(|_| 1.05 * (0.03 * random.normal()).exp());
                both(&ratios.collect::<Vec<f64>>())
            })
            .collect();
        let tests: Vec<(&Sample, &Sample, f64)> = pairs.iter().map(|(a, b)| (a, b, 1.05)).collect();
        let found = against_bounds(&tests);
        wrong += usize::from(found.iter().any(|one| one.side == BoundSide::Above));
    }
    // 50 are expected, with a standard deviation of 7.
    assert!((20..=80).contains(&wrong), "{wrong} of {sessions}");
}

#[test]
fn one_sided_e_values_are_the_likelihood_ratio_integrated_over_half_of_the_prior() {
    // Integrated numerically, over the effects above 0 and the logarithm of the deviation.
    let expected = [
        (5, 1.0, 1.0, 1.054_062_525),
        (5, -1.0, 1.0, 0.233_912_630),
        (7, 2.0, 10.0, 1.324_792_501),
        (4, 3.0, 10.0, 4.274_513_231),
    ];
    for (sets, t, prior_variance, value) in expected {
        let found = ln_e_value_above(LookedAt::without_twins(sets), t, prior_variance).exp();
        assert!((found / value - 1.0).abs() < 1e-4, "{found} {value}");
    }
    for sets in 2..30 {
        let mut before = f64::NEG_INFINITY;
        for step in -80..80 {
            let t = f64::from(step) / 4.0;
            let found = ln_e_value_above(LookedAt::without_twins(sets), t, 10.0);
            assert!(found > before, "{sets} {t}");
            before = found;
            let both =
                found.exp() + ln_e_value_above(LookedAt::without_twins(sets), -t, 10.0).exp();
            let twice = 2.0 * ln_e_value(LookedAt::without_twins(sets), t, 10.0).exp();
            assert!((both / twice - 1.0).abs() < 1e-9, "{both} {twice}");
        }
    }
    for (sets, t) in [(0, 5.0), (1, 5.0), (7, f64::NAN)] {
        assert_eq!(
            ln_e_value_above(LookedAt::without_twins(sets), t, 10.0).to_bits(),
            0
        );
    }
    assert!(ln_e_value_above(LookedAt::without_twins(3), f64::INFINITY, 10.0).is_finite());
}

/// The ratios of one session, whose sets come one after the other, against 1.05.
fn looked(ratios: &[f64], budget: Budget) -> Bounded {
    let (first, second) = both(ratios);
    let (first, second) = (first.looked_at(budget), second.looked_at(budget));
    against_bounds(&[(&first, &second, 1.05)])[0]
}

/// The look at which a session with at most these sets ends, and the side of its bound.
fn stopped(ratios: &[f64]) -> (usize, BoundSide) {
    let looks = (1..ratios.len()).map(|sets| (sets, looked(&ratios[..sets], Budget::Left)));
    let early = looks.map(|(sets, found)| (sets, found.side));
    early
        .into_iter()
        .find(|(_, side)| *side != BoundSide::Undecided)
        .unwrap_or_else(|| (ratios.len(), looked(ratios, Budget::Spent).side))
}

/// Sessions of at most twelve sets whose true ratio is this: how many end above and below their
/// bound, and their sets in all.
fn simulated(sessions: u32, truth: f64, noise: f64, seed: u64) -> (u32, u32, usize) {
    let mut random = Random::new(seed);
    let (mut above, mut below, mut played) = (0, 0, 0);
    for _ in 0..sessions {
        let ratios: Vec<f64> = (0..12)
            .map(|_| truth * (noise * random.normal()).exp())
            .collect();
        let (sets, side) = stopped(&ratios);
        above += u32::from(side == BoundSide::Above);
        below += u32::from(side == BoundSide::Below);
        played += sets;
    }
    (above, below, played)
}

/// The value of 2.5 % of these sessions, and three standard errors.
fn at_most(sessions: u32) -> f64 {
    let sessions = f64::from(sessions);
    sessions * 0.025 + 3.0 * (sessions * 0.025 * 0.975).sqrt()
}

#[test]
fn looks_at_a_ratio_at_its_bound_are_rarely_above() {
    const SESSIONS: u32 = 4000;
    let (above, below, _) = simulated(SESSIONS, 1.05, 0.02, 51);
    assert!(f64::from(above) <= at_most(SESSIONS), "{above}");
    assert!(f64::from(below) <= at_most(SESSIONS), "{below}");
    // And not so seldom that sessions find nothing.
    assert!(f64::from(above) >= 0.012 * f64::from(SESSIONS), "{above}");
    // What is below its bound is above it more seldom still.
    let (above, _, _) = simulated(SESSIONS, 1.04, 0.02, 52);
    assert!(f64::from(above) <= 0.01 * f64::from(SESSIONS), "{above}");
}

/// Looks by Student's t, which assumes a fixed number of sets: they err too often.
#[test]
fn looks_as_if_the_number_of_sets_were_fixed_are_above_too_often() {
    const SESSIONS: u32 = 2000;
    let mut random = Random::new(53);
    let mut above = 0;
    for _ in 0..SESSIONS {
        let ratios = (0..12).map(|_| 1.05 * (0.02 * random.normal()).exp());
        let ratios: Vec<f64> = ratios.collect();
        let side = |sets: usize| {
            let (first, second) = both(&ratios[..sets]);
            against_bounds(&[(&first, &second, 1.05)])[0].side
        };
        let first = (5..=12)
            .map(side)
            .find(|side| *side != BoundSide::Undecided);
        above += u32::from(first == Some(BoundSide::Above));
    }
    assert!(f64::from(above) > 1.5 * at_most(SESSIONS), "{above}");
}

#[test]
fn clear_ratios_end_their_sessions_early() {
    const SESSIONS: u32 = 300;
    // Six and five deviations beyond the bound.
    let (above, _, sets) = simulated(SESSIONS, 1.18, 0.02, 54);
    assert_eq!(above, SESSIONS);
    assert!(sets < 6 * SESSIONS as usize, "{sets}");
    let (_, below, sets) = simulated(SESSIONS, 1.0, 0.01, 55);
    assert_eq!(below, SESSIONS);
    assert!(sets < 6 * SESSIONS as usize, "{sets}");
    // One and a half are found by most of the sessions, at their end at the latest.
    let (above, _, _) = simulated(SESSIONS, 1.05 * 1.03, 0.02, 56);
    assert!(above > SESSIONS * 4 / 5, "{above}");
}

#[test]
fn a_family_that_is_looked_at_is_rarely_above_its_bounds() {
    const SESSIONS: u32 = 1000;
    let mut random = Random::new(57);
    let mut wrong = 0;
    for _ in 0..SESSIONS {
        let ratios: Vec<Vec<f64>> = (0..4)
            .map(|_| {
                let ratios = (0..12).map(|_| 1.05 * (0.02 * random.normal()).exp());
                ratios.collect()
            })
            .collect();
        let any_above = (5..=12).any(|sets| {
            let budget = if sets < 12 {
                Budget::Left
            } else {
                Budget::Spent
            };
            let samples = ratios.iter().map(|ratios| {
                let (first, second) = both(&ratios[..sets]);
                (first.looked_at(budget), second.looked_at(budget))
            });
            let samples: Vec<(Sample, Sample)> = samples.collect();
            let tests: Vec<(&Sample, &Sample, f64)> =
                samples.iter().map(|(a, b)| (a, b, 1.05)).collect();
            let found = against_bounds(&tests);
            found.iter().any(|one| one.side == BoundSide::Above)
        });
        wrong += u32::from(any_above);
    }
    assert!(f64::from(wrong) <= at_most(SESSIONS), "{wrong}");
}

#[test]
fn samples_that_were_looked_at_have_the_interval_of_all_looks() {
    let ratios = [1.10, 1.09, 1.11, 1.10, 1.105, 1.10];
    let fixed = {
        let (first, second) = both(&ratios);
        against_bounds(&[(&first, &second, 1.05)])[0]
    };
    for budget in [Budget::Left, Budget::Spent] {
        let found = looked(&ratios, budget);
        assert_eq!(found.side, BoundSide::Above, "{found:?}");
        let (first, second) = both(&ratios);
        let (first, second) = (first.looked_at(budget), second.looked_at(budget));
        let compared = compare(&first, &second, &Criteria::new(Better::Lower));
        assert_eq!(found.ratio, compared.ratio);
        let (own, wider) = (fixed.ratio.interval.unwrap(), found.ratio.interval.unwrap());
        assert!(wider.low < own.low && wider.high > own.high);
    }
    // Four sets are decided at the end of the budget only, however clear they are.
    assert_eq!(
        looked(&ratios[..4], Budget::Left).side,
        BoundSide::Undecided
    );
    assert_eq!(looked(&ratios[..4], Budget::Spent).side, BoundSide::Above);
    // Sets that contradict each other decide nothing.
    let mut contradicting = vec![1.30, 1.31, 1.30, 1.29, 1.30, 1.31];
    contradicting.extend([0.80, 0.81, 0.80, 0.79].into_iter().cycle().take(40));
    let found = looked(&contradicting, Budget::Spent);
    assert_eq!(
        (found.side, found.alone_above, found.ratio.interval),
        (BoundSide::Undecided, false, None)
    );
}
