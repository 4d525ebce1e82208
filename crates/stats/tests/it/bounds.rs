//! Ratios held against bounds.

use bakeoff_base::random::Random;
use bakeoff_stats::{LogRatio, Sample, Side, against_bounds};

/// Sets with these ratios: a sample of them and one of ones.
fn both(ratios: &[f64]) -> (Sample, Sample) {
    let sets = |values: Vec<f64>| {
        let values = (1..).zip(values);
        Sample::of_sets(values.collect()).unwrap()
    };
    (sets(ratios.to_vec()), sets(vec![1.0; ratios.len()]))
}

#[track_caller]
fn check(ratios: &[f64], bound: f64, expect: Side) {
    let (first, second) = both(ratios);
    let found = against_bounds(&[(&first, &second, bound)]);
    assert_eq!(found[0].side, expect, "{found:?}");
}

#[test]
fn a_single_ratio_is_where_its_interval_is() {
    check(&[1.10, 1.09, 1.11, 1.10, 1.10], 1.05, Side::Above);
    check(&[1.06, 1.04, 1.07, 1.05, 1.06], 1.05, Side::Undecided);
    check(&[1.00, 1.01, 0.99, 1.00, 1.01], 1.05, Side::Below);
    check(&[1.10], 1.05, Side::Undecided);
    check(&[1.10, 1.10, 1.10], 1.05, Side::Undecided);
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
            (true, _) => Side::Above,
            (_, true) => Side::Below,
            _ => Side::Undecided,
        };
        assert_eq!(found.side, expect, "{found:?}");
        assert_eq!(found.ratio.interval, Some(interval));
        sides[match found.side {
            Side::Above => 0,
            Side::Below => 1,
            Side::Undecided => 2,
        }] += 1;
    }
    assert!(sides.iter().all(|count| *count > 20), "{sides:?}");
}

#[test]
fn many_in_one_family_have_to_be_further_away() {
    let (near, one) = both(&[1.078, 1.09, 1.065, 1.085, 1.07]);
    let (same, _) = both(&[1.00, 1.01, 0.99, 1.00, 1.01]);
    let alone = against_bounds(&[(&near, &one, 1.06)])[0];
    assert_eq!((alone.side, alone.alone_above), (Side::Above, true));
    let mut tests = vec![(&near, &one, 1.06)];
    tests.extend([(&same, &one, 1.05); 19]);
    let among = against_bounds(&tests);
    assert_eq!(
        (among[0].side, among[0].alone_above),
        (Side::Undecided, true)
    );
    assert_eq!(among[0].ratio, alone.ratio, "the interval is its own");
    assert!(among[1..].iter().all(|one| one.side == Side::Below));
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
        wrong += usize::from(found.iter().any(|one| one.side == Side::Above));
    }
    // 50 are expected, with a standard deviation of 7.
    assert!((20..=80).contains(&wrong), "{wrong} of {sessions}");
}
