//! Verdicts, ranks and laws at their edges.

use bakeoff_base::random::Random;
use bakeoff_stats::steady::change_points;
use bakeoff_stats::{
    Better, Budget, Criteria, LogRatio, Method, Pairs, Ranked, Sample, Sequential, Tie, Verdict,
    compare, compare_family, log_ratios, rank,
};

fn sample(values: &[f64]) -> Sample {
    Sample::new(values.to_vec()).unwrap()
}

#[track_caller]
fn check(first: &[f64], second: &[f64], better: Better, expected: Verdict) {
    let found = compare(&sample(first), &sample(second), &Criteria::new(better));
    assert_eq!(found.verdict, expected, "{found:?}");
}

#[test]
fn verdicts_need_certainty_and_relevance() {
    let near = [100.0, 100.2, 99.9, 100.1];
    let far = [150.0, 150.2, 149.9, 150.1];
    let wild = [60.0, 150.0, 90.0, 120.0];
    check(&far, &near, Better::Higher, Verdict::Faster);
    check(&near, &far, Better::Higher, Verdict::Slower);
    check(&near, &far, Better::Lower, Verdict::Faster);
    check(&far, &near, Better::Lower, Verdict::Slower);
    check(&near, &near, Better::Higher, Verdict::Equivalent);
    check(&wild, &near, Better::Higher, Verdict::Inconclusive);
    // Significantly different, but 2.9 % is not relevant, and 3 % may be the truth.
    check(
        &[102.7, 103.1, 102.8, 103.0],
        &near,
        Better::Higher,
        Verdict::Inconclusive,
    );
    check(
        &[101.0, 101.1, 101.0, 101.05],
        &near,
        Better::Higher,
        Verdict::Equivalent,
    );
}

/// 2.4 % apart: the 90 % interval lies within 3 %, the 95 % interval does not.
#[test]
fn equivalence_is_tested_at_five_percent() {
    let first = sample(&[101.94, 102.86, 102.0, 102.8]);
    let second = sample(&[99.75, 100.25, 100.2, 99.8]);
    let found = LogRatio::of(&first, &second).unwrap();
    let (wide, narrow) = (found.interval(0.95).unwrap(), found.interval(0.9).unwrap());
    assert!(
        wide.high > 1.03 && narrow.high < 1.03,
        "{wide:?} {narrow:?}"
    );
    for better in [Better::Higher, Better::Lower] {
        let found = compare(&first, &second, &Criteria::new(better));
        assert_eq!(found.verdict, Verdict::Equivalent, "{found:?}");
        assert_eq!(found.inverse().verdict, Verdict::Equivalent);
    }
}

/// No panic, no interval, no verdict, either way round.
#[track_caller]
fn check_no_verdict(first: &[f64], second: &[f64]) {
    let (first, second) = (sample(first), sample(second));
    for (first, second) in [(&first, &second), (&second, &first)] {
        let found = compare(first, second, &Criteria::new(Better::Higher));
        assert_eq!(
            (found.verdict, found.method, found.ratio.interval),
            (Verdict::Inconclusive, Method::None, None),
            "{found:?}"
        );
        assert_eq!((found.p_value, found.p_adjusted), (None, None));
        let point = found.ratio.point;
        assert!(
            point.is_nan() || point > 0.0 && point.is_finite(),
            "{point}"
        );
    }
}

#[test]
fn what_shows_nothing_has_no_verdict() {
    let usual = [100.0, 101.0, 99.0, 100.5];
    // Single runs.
    check_no_verdict(&[300.0], &usual);
    check_no_verdict(&[300.0], &[100.0]);
    // No logarithm.
    check_no_verdict(&[0.0; 12], &usual);
    check_no_verdict(&[0.0; 12], &[0.0; 12]);
    check_no_verdict(&[-100.0, -101.0, -99.0], &usual);
    check_no_verdict(&[100.0, 0.0, 101.0, 102.0], &usual);
    // No spread: equal to the last digit, or but for it.
    check_no_verdict(&[200.0, 200.0], &[100.0, 100.0]);
    check_no_verdict(&[0.1 + 0.2, 0.3], &[0.1, 0.1]);
    // A ratio beyond all numbers.
    check_no_verdict(&[1e300, 2e300], &[1e-300, 2e-300]);
    check_no_verdict(
        &[f64::MAX, f64::MAX],
        &[f64::MIN_POSITIVE, f64::MIN_POSITIVE],
    );
    let mixed = [Some(&sample(&[1.0])), None, Some(&sample(&[0.0, 1.0]))].map(|one| one.cloned());
    let mixed = mixed.each_ref().map(Option::as_ref);
    let pairs = Pairs::new(&mixed, &Criteria::new(Better::Lower));
    assert!(pairs.get(0, 1).is_none() && pairs.get(0, 0).is_none() && pairs.get(3, 0).is_none());
    assert_eq!(pairs.get(2, 0).unwrap().verdict, Verdict::Inconclusive);
}

#[test]
fn intervals_are_finite_or_absent() {
    let widest = compare(
        &sample(&[1e-150, 1e150]),
        &sample(&[1e-150, 1e150]),
        &Criteria::new(Better::Higher),
    );
    assert_eq!(widest.ratio.interval, None, "{widest:?}");
    assert_eq!(widest.verdict, Verdict::Inconclusive);
    let estimate = sample(&[f64::MAX, f64::MAX, -f64::MAX]).estimate(0.95);
    assert!(
        estimate.point.is_finite() && estimate.interval.is_none(),
        "{estimate:?}"
    );
    assert!(sample(&[f64::MAX, f64::MAX]).mean().is_finite());
    assert!(sample(&[3.0]).estimate(0.95).interval.is_none());
}

#[test]
fn samples_hold_finite_values_only() {
    assert!(Sample::new(vec![]).is_none());
    assert!(Sample::new(vec![1.0, f64::NAN]).is_none());
    assert!(Sample::new(vec![f64::INFINITY]).is_none());
    assert!(Sample::in_blocks(vec![(1, f64::NEG_INFINITY)]).is_none());
}

/// Six repetitions with a common drift of 30 %, in which the first is 5 % above the second.
#[test]
fn pairs_take_out_what_a_block_did_to_both() {
    let drift = [100.0, 130.0, 110.0, 125.0, 104.0, 119.0];
    let noise = [1.001, 0.999, 1.002, 1.0, 0.998, 1.001];
    let first = drift
        .iter()
        .zip(noise)
        .map(|(level, noise)| 1.05 * level * noise);
    let block =
        |values: Vec<f64>, from: u32| Sample::in_blocks((from..).zip(values).collect()).unwrap();
    let (first, second) = (first.collect::<Vec<f64>>(), drift.to_vec());
    let criteria = Criteria::new(Better::Higher);
    let paired = compare(
        &block(first.clone(), 1),
        &block(second.clone(), 1),
        &criteria,
    );
    assert_eq!(
        (paired.method, paired.verdict),
        (Method::Paired, Verdict::Faster)
    );
    assert_eq!(paired.ratio.runs, 6);
    let other_session = block(second.clone(), 1).without_blocks();
    let welch = compare(&block(first.clone(), 1), &other_session, &criteria);
    assert_eq!(
        (welch.method, welch.verdict),
        (Method::Welch, Verdict::Inconclusive)
    );
    // Blocks 3 to 6 are common: too few.
    let few = compare(
        &block(first.clone(), 1),
        &block(second.clone(), 3),
        &criteria,
    );
    assert_eq!(few.method, Method::Welch);
    // Blocks 2 to 6 are common: only they count.
    let shifted = compare(&block(first, 1), &block(second, 2), &criteria);
    assert_eq!((shifted.method, shifted.ratio.runs), (Method::Paired, 5));
}

#[test]
fn a_table_is_one_family() {
    let one = sample(&[100.0, 103.0, 97.5, 100.5]);
    let other = sample(&[104.5, 107.5, 102.5, 105.5]);
    let criteria = Criteria::new(Better::Higher);
    assert_eq!(compare(&other, &one, &criteria).verdict, Verdict::Faster);
    // The same two among eight of the same level, among which such a pair is a matter of chance.
    let mut all = vec![Some(&one); 7];
    all.push(Some(&other));
    let pairs = Pairs::new(&all, &criteria);
    let found = pairs.get(7, 0).unwrap();
    assert_eq!(found.verdict, Verdict::Inconclusive, "{found:?}");
    assert!(found.p_adjusted > found.p_value);
    // Its interval is of this comparison alone.
    let interval = found.ratio.interval.unwrap();
    assert!(interval.low > 1.0, "{found:?}");
    let back = pairs.get(0, 7).unwrap().ratio.interval.unwrap();
    assert_eq!(
        (interval.low, interval.high),
        (1.0 / back.high, 1.0 / back.low)
    );
}

fn ranks(samples: &[Sample], better: Better) -> Vec<Ranked> {
    let criteria = Criteria::new(better);
    let samples: Vec<&Sample> = samples.iter().collect();
    let all: Vec<Option<&Sample>> = samples.iter().copied().map(Some).collect();
    rank(&samples, &Pairs::new(&all, &criteria), &criteria)
}

#[track_caller]
fn check_ranks(samples: &[Sample], expected: &[(usize, Option<usize>, Tie)]) {
    let found: Vec<(usize, Option<usize>, Tie)> = ranks(samples, Better::Higher)
        .iter()
        .map(|ranked| (ranked.index, ranked.rank, ranked.tie))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn ranks_have_ties() {
    check_ranks(
        &[
            sample(&[50.0, 50.5, 49.5]),
            sample(&[100.0, 104.0, 96.0]),
            sample(&[99.0, 97.0, 101.0]),
            sample(&[10.0, 10.1, 9.9]),
        ],
        &[
            (1, Some(1), Tie::Unknown),
            (2, Some(1), Tie::Unknown),
            (0, Some(3), Tie::Alone),
            (3, Some(4), Tie::Alone),
        ],
    );
    let (level, near) = ([100.0, 100.2, 99.9, 100.1], [100.0, 99.9, 100.1, 99.7]);
    check_ranks(
        &[sample(&level), sample(&near)],
        &[(0, Some(1), Tie::Equivalent), (1, Some(1), Tie::Equivalent)],
    );
    check_ranks(
        &[sample(&level), sample(&near), sample(&[60.0, 135.0, 90.0])],
        &[
            (0, Some(1), Tie::Unknown),
            (1, Some(1), Tie::Unknown),
            (2, Some(1), Tie::Unknown),
        ],
    );
    // The last may be as fast as the first for all that its runs show.
    check_ranks(
        &[
            sample(&level),
            sample(&[50.0, 50.1, 49.9, 50.0]),
            sample(&[10.0, 30.0, 90.0]),
        ],
        &[
            (0, Some(1), Tie::Unknown),
            (1, Some(2), Tie::Alone),
            (2, Some(1), Tie::Unknown),
        ],
    );
}

#[test]
fn what_shows_nothing_is_tied_or_has_no_rank() {
    check_ranks(
        &[sample(&[1.0]), sample(&[2.0])],
        &[(1, Some(1), Tie::Unknown), (0, Some(1), Tie::Unknown)],
    );
    check_ranks(
        &[
            sample(&[0.0, 0.0]),
            sample(&[2.0, 2.1]),
            sample(&[0.0, 9.0]),
        ],
        &[
            (1, Some(1), Tie::Alone),
            (2, None, Tie::Alone),
            (0, None, Tie::Alone),
        ],
    );
    assert_eq!(ranks(&[sample(&[0.0])], Better::Lower)[0].rank, None);
    assert!(ranks(&[], Better::Lower).is_empty());
}

#[test]
fn changes_are_found_where_they_are() {
    let mut series = vec![100.0, 101.0, 99.0, 100.0, 101.0, 100.0];
    series.extend([200.0, 201.0, 199.0, 200.0, 202.0]);
    series.extend([150.0, 151.0, 149.0, 150.0]);
    assert_eq!(change_points(&series), [6, 11]);
    assert!(change_points(&[1.0; 50]).is_empty());
    assert!(change_points(&[0.0; 50]).is_empty());
    assert!(change_points(&[]).is_empty());
}

#[test]
fn the_random_sequence_never_changes() {
    let mut random = Random::new(42);
    // The published test vector of SplitMix64 for this seed.
    assert_eq!(random.bits(), 13_679_457_532_755_275_413);
    assert_eq!(random.bits(), 2_949_826_092_126_892_291);
    let mut random = Random::new(1);
    let mut counts = [0; 6];
    for _ in 0..6000 {
        counts[random.below(6)] += 1;
    }
    assert!(
        counts.iter().all(|count| (900..1100).contains(count)),
        "{counts:?}"
    );
    assert_eq!(random.below(0), 0);
}

fn sets(values: &[(u32, f64)]) -> Sample {
    Sample::of_sets(values.to_vec()).unwrap()
}

/// Of a host that is four times as fast in the second set.
#[test]
fn sets_are_compared_with_those_in_common_only() {
    let criteria = Criteria::new(Better::Higher);
    let first = sets(&[(1, 105.0), (2, 424.0), (3, 206.0)]);
    let found = compare(&first, &sets(&[(1, 100.0)]), &criteria);
    assert_eq!((found.method, found.ratio.runs), (Method::None, 1));
    assert!((found.ratio.point - 1.05).abs() < 1e-12, "{found:?}");
    assert_eq!(found.verdict, Verdict::Inconclusive);
    let found = compare(&first, &sets(&[(2, 400.0), (3, 200.0)]), &criteria);
    assert_eq!((found.method, found.ratio.runs), (Method::Paired, 2));
    assert!((found.ratio.point - (1.06_f64 * 1.03).sqrt()).abs() < 1e-12);
    assert!(found.ratio.interval.is_some());
    let found = compare(&first, &sets(&[(4, 100.0)]), &criteria);
    assert!(
        found.ratio.point.is_nan() && found.ratio.runs == 0,
        "{found:?}"
    );
    // Without a spread there is a ratio and no interval.
    let same = sets(&[(1, 52.5), (2, 212.0), (3, 103.0)]);
    let found = compare(&first, &same, &criteria);
    assert_eq!((found.method, found.ratio.runs), (Method::None, 3));
    assert!((found.ratio.point - 2.0).abs() < 1e-12, "{found:?}");
}

#[test]
fn sittings_that_differ_are_the_observations() {
    let criteria = Criteria::new(Better::Higher);
    let base: Vec<(u32, f64)> = (1..=6).map(|set| (set, 100.0)).collect();
    let found = |values: [f64; 6]| {
        let sitting = |set: u32| (set, u32::from(set > 3));
        let of_sets = (1..=6).map(sitting).collect();
        let first: Vec<(u32, f64)> = (1..).zip(values).collect();
        compare(
            &sets(&first).in_sittings(&of_sets),
            &sets(&base).in_sittings(&of_sets),
            &criteria,
        )
    };
    // The second sitting has the ratios of the first one, by its sets.
    let alike = found([110.0, 111.0, 112.0, 112.0, 110.0, 111.0]);
    assert_eq!((alike.method, alike.ratio.runs), (Method::Paired, 6));
    assert_eq!(alike.verdict, Verdict::Faster);
    // Three sets each say 1.06 and 1.11: the truth at a third hour is not known.
    let apart = found([106.0, 105.9, 106.1, 111.0, 110.9, 111.1]);
    assert_eq!((apart.method, apart.ratio.runs), (Method::Sittings, 6));
    assert!((apart.ratio.point - (1.06_f64 * 1.11).sqrt()).abs() < 1e-4);
    let interval = apart.ratio.interval.unwrap();
    // 12.706 standard errors of two means that are 4.6 % apart.
    let reach = 12.706 * (1.11_f64 / 1.06).ln() / 2.0;
    assert!((interval.high.ln() - apart.ratio.point.ln() - reach).abs() < 1e-3);
    assert_eq!(apart.verdict, Verdict::Inconclusive);
}

#[test]
fn a_family_of_pairs_is_corrected_as_one() {
    let one = sample(&[100.0, 101.0, 99.0, 100.5]);
    let other = sample(&[104.0, 105.0, 103.0, 104.5]);
    let criteria = Criteria::new(Better::Higher);
    let alone = compare(&other, &one, &criteria);
    let single = sample(&[100.0]);
    let family = compare_family(&[
        (&other, &one, criteria),
        (&single, &one, criteria),
        (&one, &other, criteria),
    ]);
    let [first, without, third] = family.as_slice() else {
        panic!("three pairs");
    };
    assert_eq!(alone.verdict, Verdict::Faster);
    assert_eq!(
        (first.verdict, third.verdict),
        (Verdict::Faster, Verdict::Slower)
    );
    // The pair without a p-value is not part of the family: the others count for two.
    assert_eq!(first.p_adjusted, alone.p_value.map(|p| 2.0 * p));
    assert_eq!(
        (without.verdict, without.p_value),
        (Verdict::Inconclusive, None)
    );
}

#[test]
fn void_pairs_keep_their_numbers() {
    let samples = [
        sample(&[100.0, 101.0, 99.0]),
        sample(&[200.0, 201.0, 199.0]),
    ];
    let samples: Vec<Option<&Sample>> = samples.iter().map(Some).collect();
    let criteria = Criteria::new(Better::Higher);
    let pairs = Pairs::new(&samples, &criteria);
    let void = pairs.clone().void();
    let (was, is) = (pairs.get(0, 1).unwrap(), void.get(0, 1).unwrap());
    assert_eq!((was.verdict, is.verdict), (Verdict::Slower, Verdict::Void));
    assert_eq!(was.ratio, is.ratio);
    let samples: Vec<&Sample> = samples.into_iter().flatten().collect();
    let ranked = rank(&samples, &void, &criteria);
    assert!(
        ranked
            .iter()
            .all(|one| one.rank == Some(1) && one.tie == Tie::Unknown)
    );
}

#[test]
fn samples_that_were_looked_at_have_intervals_that_hold_at_every_look() {
    let sample = |logs: &[f64]| {
        let values = (1..).zip(logs.iter().map(|log| log.exp()));
        Sample::of_sets(values.collect()).unwrap()
    };
    let logs = [0.020, 0.021, 0.019, 0.022, 0.018, 0.020];
    let (first, second) = (sample(&logs), sample(&[0.0; 6]));
    let criteria = Criteria::new(Better::Higher);
    let fixed = compare(&first, &second, &criteria);
    // Two per cent are less than what a number of sets that is fixed may call a difference.
    assert_eq!(fixed.verdict, Verdict::Equivalent);
    for budget in [Budget::Left, Budget::Spent] {
        let looked = |sample: &Sample| sample.clone().looked_at(budget);
        let found = compare(&looked(&first), &looked(&second), &criteria);
        let look = Sequential::default().look(&log_ratios(&first, &second), budget);
        let interval = look.interval_ln.unwrap();
        let (low, high) = (interval.low.exp(), interval.high.exp());
        let ratio = found.ratio.interval.unwrap();
        assert_eq!((ratio.low, ratio.high), (low, high));
        assert_eq!(found.p_value, Some(look.p_value));
        assert_eq!(found.verdict, Verdict::Faster);
        let wider = fixed.ratio.interval.unwrap();
        assert!(low < wider.low && high > wider.high);
    }
    // What was seen before the last look has the error of early looks alone.
    let seen = |sample: &Sample| sample.clone().looked_at(Budget::Spent).up_to(4).unwrap();
    let found = compare(&seen(&first), &seen(&second), &criteria);
    assert_eq!(found.ratio.interval, None, "before the fifth set");
    // One that was looked at differently is compared as a fixed number is.
    let mixed = compare(&first.clone().looked_at(Budget::Left), &second, &criteria);
    assert_eq!(mixed.verdict, fixed.verdict);
}
