//! Stopping early: the e-process against its formula and against a numerical integral, decisions at
//! their edges, and how often sessions of equal contenders are stopped. `examples/sequential.rs`
//! simulates the same at length.

use bakeoff_base::random::Random;
use bakeoff_stats::log_ratio::LookedAt;
use bakeoff_stats::sequential::{critical, ln_e_value, p_anytime};
use bakeoff_stats::{Budget, Decision, LogRatio, Look, Method, Sample, Sequential, SetPairs};

#[track_caller]
fn close(found: f64, expected: f64) {
    assert!(
        (found - expected).abs() <= 1e-7 * expected.abs(),
        "{found} {expected}"
    );
}

fn alone(sets: usize) -> LookedAt {
    LookedAt::without_twins(sets)
}

/// Sets with one process of each side.
fn pair(log_ratios: &[f64]) -> SetPairs {
    SetPairs::from(log_ratios)
}

/// The decisions of both budgets with these log ratios.
#[track_caller]
fn check(log_ratios: &[f64], left: Decision, spent: Decision) {
    for (budget, expected) in [(Budget::Left, left), (Budget::Spent, spent)] {
        let look = Sequential::default().look(&pair(log_ratios), budget);
        assert_eq!(look.decision, expected, "{look:?}");
        assert!((0.0..=1.0).contains(&look.p_value), "{look:?}");
    }
}

/// The given number of log ratios around a mean, that lie a deviation below and above it in turn.
fn around(mean: f64, deviation: f64, sets: usize) -> Vec<f64> {
    let signs = [deviation, -deviation].into_iter().cycle();
    signs.take(sets).map(|off| mean + off).collect()
}

#[test]
fn critical_values_are_those_of_the_formula() {
    let expected = [
        (3, 13.221_902_328_3),
        (4, 6.538_232_071_7),
        (5, 5.411_513_056_0),
        (7, 4.610_597_219_4),
        (10, 4.182_671_836_2),
        (20, 3.814_194_434_6),
    ];
    for (sets, value) in expected {
        close(critical(alone(sets), 10.0, 0.05), value);
    }
    close(critical(alone(5), 10.0, 0.015), 7.487_269_611_9);
    // Two sets can never be sure, and neither can any at no error.
    for sets in 0..3 {
        assert!(critical(alone(sets), 10.0, 0.05).is_infinite(), "{sets}");
    }
    assert!(critical(alone(10), 10.0, 0.0).is_infinite());
    // At the critical value the e-value is 1/α.
    for sets in [3, 5, 12, 200] {
        let t = critical(alone(sets), 10.0, 0.05);
        close(ln_e_value(alone(sets), t, 10.0).exp(), 20.0);
    }
}

#[test]
fn e_values_are_the_likelihood_ratio_integrated_over_the_prior() {
    // Integrated numerically: over the effect with its normal prior, and over the logarithm of the
    // deviation, once with the effect and once without.
    let expected = [
        (2, 3.0, 10.0, 1.527_525_2),
        (4, 8.0, 10.0, 33.700_952_637),
        (5, 1.0, 1.0, 0.643_987_577_5),
        (7, 5.0, 10.0, 30.473_551_959_8),
        (12, 3.0, 30.0, 1.875_733_574_2),
    ];
    for (sets, t, prior_variance, value) in expected {
        close(ln_e_value(alone(sets), t, prior_variance).exp(), value);
    }
    // However far away, three sets are worth no more than this.
    let most = 31.0;
    close(ln_e_value(alone(3), 1e9, 10.0).exp(), most);
    close(ln_e_value(alone(3), f64::INFINITY, 10.0).exp(), most);
    // What is not evidence is 1.
    for (sets, t) in [(0, 5.0), (1, 5.0), (7, f64::NAN)] {
        assert_eq!(
            ln_e_value(alone(sets), t, 10.0).to_bits(),
            0.0_f64.to_bits()
        );
    }
}

#[test]
fn more_evidence_is_never_worth_less() {
    for sets in 2..40 {
        let mut before = f64::NEG_INFINITY;
        for step in 0..200 {
            let value = ln_e_value(alone(sets), f64::from(step) / 4.0, 10.0);
            assert!(value > before, "{sets} {step}");
            before = value;
        }
    }
    for sets in 3..40 {
        // More sets need smaller t, and less error larger ones.
        assert!(critical(alone(sets + 1), 10.0, 0.05) < critical(alone(sets), 10.0, 0.05));
        assert!(critical(alone(sets), 10.0, 0.01) > critical(alone(sets), 10.0, 0.05));
    }
    let mut random = Random::new(4);
    let log_ratios: Vec<f64> = (0..40).map(|_| 0.4 + random.normal()).collect();
    let mut before = Sequential::default().look(&pair(&[]), Budget::Left);
    for sets in 1..=40 {
        let look = Sequential::default().look(&pair(&log_ratios[..sets]), Budget::Left);
        assert!(look.p_value <= before.p_value, "{look:?}");
        if let Some((now, then)) = look.interval_ln.zip(before.interval_ln) {
            assert!(now.low >= then.low && now.high <= then.high, "{look:?}");
        }
        before = look;
    }
}

#[test]
fn decisions_need_sets_and_their_spread() {
    use Decision::{Different, Equivalent, GoOn, Undecided};
    check(&[], GoOn, Undecided);
    check(&[0.5], GoOn, Undecided);
    // Two sets are never sure early; at the end they are what Student's t makes of them.
    check(&[0.5, 0.52], GoOn, Different);
    check(&[0.5, 0.7], GoOn, Undecided);
    // Four of five sets, however clear.
    check(&around(0.5, 0.001, 4), GoOn, Different);
    check(&around(0.5, 0.001, 5), Different, Different);
    check(&around(-0.5, 0.001, 5), Different, Different);
    check(&around(0.0, 0.001, 5), Equivalent, Equivalent);
    check(&around(0.0, 0.5, 5), GoOn, Undecided);
    // Clear only with the error of the last look.
    check(&around(0.5, 0.3, 8), GoOn, Different);
    check(&around(0.0, 0.02, 8), GoOn, Equivalent);
}

#[test]
fn sets_without_spread_or_number_say_nothing() {
    use Decision::{GoOn, Undecided};
    check(&[0.0; 9], GoOn, Undecided);
    check(&[0.3; 9], GoOn, Undecided);
    for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        check(&[0.3, 0.31, 0.3, odd, 0.3, 0.31], GoOn, Undecided);
    }
    check(&[f64::MAX, -f64::MAX, f64::MAX, 0.0, 1.0], GoOn, Undecided);
    let look = Sequential::default().look(&pair(&[0.3; 9]), Budget::Spent);
    assert_eq!(
        (look.interval_ln, look.p_value.to_bits()),
        (None, 1.0_f64.to_bits())
    );
}

#[test]
fn a_difference_within_the_margin_is_said_to_be_both() {
    let look = Sequential::default().look(&pair(&around(0.01, 0.000_5, 6)), Budget::Left);
    assert_eq!(
        (look.decision, look.is_within_margin),
        (Decision::Different, true)
    );
    let look = Sequential::default().look(&pair(&around(0.1, 0.000_5, 6)), Budget::Left);
    assert_eq!(
        (look.decision, look.is_within_margin),
        (Decision::Different, false)
    );
    // A wider margin takes in what a narrow one does not.
    let wide = Sequential {
        margin_ln: 0.2,
        ..Sequential::default()
    };
    assert!(
        wide.look(&pair(&around(0.1, 0.000_5, 6)), Budget::Left)
            .is_within_margin
    );
}

#[test]
fn sets_that_contradict_each_other_decide_nothing() {
    let mut log_ratios = around(1.0, 0.01, 6);
    log_ratios.extend(around(-1.0, 0.01, 20));
    check(&log_ratios, Decision::GoOn, Decision::Undecided);
    let look = Sequential::default().look(&pair(&log_ratios), Budget::Spent);
    assert_eq!(look.interval_ln, None);
}

#[test]
fn with_no_share_for_stopping_early_it_is_one_t_test() {
    let mut random = Random::new(8);
    let late = Sequential {
        early_share: 0.0,
        ..Sequential::default()
    };
    for _ in 0..50 {
        let log_ratios: Vec<f64> = (0..9).map(|_| 0.05 + 0.1 * random.normal()).collect();
        let left = late.look(&pair(&log_ratios), Budget::Left);
        assert_eq!((left.decision, left.interval_ln), (Decision::GoOn, None));
        let sets = |values: Vec<f64>| Sample::of_sets((1..).zip(values).collect()).unwrap();
        let ratios = sets(log_ratios.iter().map(|log| log.exp()).collect());
        let student = LogRatio::of(&ratios, &sets(vec![1.0; 9])).unwrap();
        let look = late.look(&pair(&log_ratios), Budget::Spent);
        close(look.p_value, student.p_equal());
        let (found, expected) = (look.interval_ln.unwrap(), student.interval(0.95).unwrap());
        close(found.low.exp(), expected.low);
        close(found.high.exp(), expected.high);
    }
    // The other way round it is the e-process, also at the end.
    let early = Sequential {
        early_share: 1.0,
        ..Sequential::default()
    };
    let log_ratios = around(0.5, 0.3, 8);
    let looks =
        [Budget::Left, Budget::Spent].map(|budget| early.look(&pair(&log_ratios), budget).p_value);
    close(looks[0], p_anytime(&pair(&log_ratios), 10.0, 5));
    close(looks[1], looks[0]);
}

#[test]
fn a_family_is_decided_by_holm_and_its_intervals_by_bonferroni() {
    let sequential = Sequential::default();
    let (clear, middling, equal) = (
        around(0.5, 0.01, 7),
        around(0.5, 0.1, 7),
        around(0.0, 0.1, 7),
    );
    let pairs = [&middling[..], &equal, &clear, &[]].map(pair);
    let looks = sequential.look_family(&pairs, Budget::Left);
    let decisions: Vec<Decision> = looks.iter().map(|look| look.decision).collect();
    use Decision::{Different, GoOn};
    assert_eq!(decisions, [Different, GoOn, Different, GoOn]);
    // The smallest p-value times four, the next times three.
    close(looks[2].p_adjusted, 4.0 * looks[2].p_value);
    close(looks[0].p_adjusted, 3.0 * looks[0].p_value);
    let alone = sequential.look(&pair(&middling), Budget::Left);
    close(alone.p_value, looks[0].p_value);
    let (own, common) = (alone.interval_ln.unwrap(), looks[0].interval_ln.unwrap());
    assert!(common.low < own.low && common.high > own.high);
    assert!(sequential.look_family(&[], Budget::Spent).is_empty());
    let single = sequential.look_family(&[pair(&middling)], Budget::Spent);
    assert_eq!(single, [sequential.look(&pair(&middling), Budget::Spent)]);
}

/// The number of sets after which the session stops, and its last look; the budget is for all these
/// sets.
fn stopped(sequential: &Sequential, log_ratios: &[f64]) -> (usize, Look) {
    let looks = (1..=log_ratios.len()).map(|sets| {
        let budget = match sets < log_ratios.len() {
            true => Budget::Left,
            false => Budget::Spent,
        };
        (sets, sequential.look(&pair(&log_ratios[..sets]), budget))
    });
    let mut looks = looks.skip_while(|(_, look)| look.decision == Decision::GoOn);
    looks.next().unwrap()
}

#[test]
fn equal_contenders_are_told_apart_no_more_often_than_stated() {
    const SESSIONS: u32 = 2_000;
    const SETS_MAX: usize = 20;
    let mut random = Random::new(2310);
    let (mut early, mut all, mut covered) = (0, 0, 0);
    for _ in 0..SESSIONS {
        let log_ratios: Vec<f64> = (0..SETS_MAX).map(|_| 0.05 * random.normal()).collect();
        let (sets, look) = stopped(&Sequential::default(), &log_ratios);
        let different = u32::from(look.decision == Decision::Different);
        all += different;
        early += different * u32::from(sets < SETS_MAX);
        covered += u32::from(look.interval_ln.unwrap().contains(0.0));
    }
    // What is stated, and three standard errors of these sessions.
    let at_most = |share: f64| {
        let sessions = f64::from(SESSIONS);
        sessions * share + 3.0 * (sessions * share * (1.0 - share)).sqrt()
    };
    assert!(f64::from(early) <= at_most(0.3 * 0.05), "{early}");
    assert!(f64::from(all) <= at_most(0.05), "{all}");
    assert!(f64::from(SESSIONS - covered) <= at_most(0.05), "{covered}");
    // And not so seldom that sessions find nothing.
    assert!(f64::from(all) >= 0.025 * f64::from(SESSIONS), "{all}");
}

#[test]
fn large_differences_stop_the_session_early() {
    let mut random = Random::new(3722);
    let mut sets: Vec<usize> = Vec::new();
    for _ in 0..200 {
        let log_ratios: Vec<f64> = (0..20).map(|_| 0.2 + 0.05 * random.normal()).collect();
        let (decided, look) = stopped(&Sequential::default(), &log_ratios);
        assert_eq!(look.decision, Decision::Different);
        sets.push(decided);
    }
    sets.sort_unstable();
    // Four deviations: half of the sessions stop at the first look that may stop them.
    assert_eq!(sets[100], 5);
    assert!(sets[195] <= 8, "{sets:?}");
}

/// Sets with two processes of each side, by the log of each; ratios are taken of the means.
fn twins(sets: &[[f64; 4]]) -> SetPairs {
    let mean = |one: f64, other: f64| f64::midpoint(one, other);
    let ratios = sets.iter().map(|[a, b, c, d]| mean(*a, *b) - mean(*c, *d));
    let gaps = [
        sets.iter().map(|set| set[0] - set[1]).collect(),
        sets.iter().map(|set| set[2] - set[3]).collect(),
    ];
    SetPairs::with_twins(ratios.collect(), gaps)
}

#[test]
fn two_processes_of_each_service_know_their_noise() {
    // The mean squares of the gaps are 0.01 and 0.0025, so a ratio has the variance 0.003125 by 3 *
    // 12.5^2 / (10^2 + 2.5^2) = 4.411764706 degrees of freedom; the ratios 0.2, 0.3, 0.25 have
    // 0.0025 by two.
    let sets = twins(&[
        [0.35, 0.25, 0.125, 0.075],
        [0.45, 0.35, 0.075, 0.125],
        [0.30, 0.40, 0.125, 0.075],
    ]);
    let found = LogRatio::of_sets(&sets).unwrap();
    assert_eq!(found.method, Method::Twins);
    close(found.exactness().freedom, 6.411_764_705_882);
    let variance: f64 = (2.0 * 0.0025 + 4.411_764_705_882 * 0.003_125) / 6.411_764_705_882;
    close(found.exactness().error, (variance / 3.0).sqrt());
    close(found.point().ln(), 0.25);
    // Gaps of some of the sets count for nothing.
    let lopsided = SetPairs::with_twins(vec![0.1, 0.2], [vec![0.1], vec![0.1, 0.2]]);
    assert_eq!(lopsided, pair(&[0.1, 0.2]));
}

#[test]
fn ratios_that_vary_more_than_processes_decide_alone() {
    let quiet = [0.001, -0.001, 0.001, -0.001];
    let moved = |ratio: f64| [ratio + quiet[0], ratio + quiet[1], quiet[2], quiet[3]];
    let sets = twins(&[moved(0.1), moved(0.3), moved(0.2)]);
    let decides_alone = |found: Option<LogRatio>, sets: f64| {
        let found = found.unwrap();
        assert_eq!(found.method, Method::Paired);
        close(found.exactness().freedom, sets - 1.0);
    };
    decides_alone(LogRatio::of_sets(&sets), 3.0);
    // Processes that are equal to the last digit show no noise.
    let equal = twins(&[[0.2, 0.2, 0.1, 0.1], [0.3, 0.3, 0.1, 0.1]]);
    decides_alone(LogRatio::of_sets(&equal), 2.0);
}

#[test]
fn a_clear_difference_of_twins_needs_two_sets() {
    let set = |ratio: f64, gap: f64| [ratio + gap, ratio - gap, gap, -gap];
    let clear = twins(&[set(1.1, 0.02), set(1.11, -0.02)]);
    let looks = |sets: &SetPairs| Sequential::default().look(sets, Budget::Left).decision;
    assert_eq!(looks(&clear), Decision::Different);
    assert_eq!(looks(&clear.up_to(1)), Decision::GoOn);
    let equal = twins(&[set(0.001, 0.002), set(0.0, -0.001), set(-0.001, 0.002)]);
    assert_eq!(looks(&equal), Decision::Equivalent);
}

#[test]
fn equal_services_with_twins_are_told_apart_no_more_often_than_stated() {
    const SESSIONS: u32 = 2_000;
    const SETS_MAX: usize = 12;
    let mut random = Random::new(2026);
    let (mut all, mut covered) = (0, 0);
    for _ in 0..SESSIONS {
        // The processes of the first vary twice as much.
        let mut set = |_| {
            let mut draw = |deviation: f64| deviation * random.normal();
            [draw(0.1), draw(0.1), draw(0.05), draw(0.05)]
        };
        let sets: Vec<[f64; 4]> = (0..SETS_MAX).map(&mut set).collect();
        let sets = twins(&sets);
        let looks = (1..=SETS_MAX).map(|number| {
            let budget = if number < SETS_MAX {
                Budget::Left
            } else {
                Budget::Spent
            };
            Sequential::default().look(&sets.up_to(number), budget)
        });
        let mut looks = looks.skip_while(|look| look.decision == Decision::GoOn);
        let look = looks.next().unwrap();
        all += u32::from(look.decision == Decision::Different);
        covered += u32::from(look.interval_ln.unwrap().contains(0.0));
    }
    let most = f64::from(SESSIONS) * 0.05;
    assert!(f64::from(all) <= most, "{all}");
    assert!(f64::from(SESSIONS - covered) <= most, "{covered}");
    assert!(all > SESSIONS / 100, "{all}");
}
