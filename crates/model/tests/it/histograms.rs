//! Histograms keep what was counted, through text and merging.

use bakeoff_model::load::histogram::{HIGHEST_NS, Histogram};
use proptest::prelude::{ProptestConfig, any, prop_assert, prop_assert_eq, proptest};

fn of(times: &[u64]) -> Histogram {
    let mut histogram = Histogram::new();
    for time in times {
        histogram.record(*time);
    }
    histogram
}

#[test]
fn an_empty_one_has_no_figures() {
    let empty = Histogram::new();
    assert_eq!(empty.count(), 0);
    assert_eq!(empty.quantile_ns(0.5), None);
    assert_eq!(empty.mean_ns(), None);
    assert_eq!(Histogram::decode(&empty.encode()).unwrap(), empty);
}

#[test]
fn longer_times_are_recorded_as_the_longest() {
    let histogram = of(&[0, u64::MAX]);
    assert_eq!(histogram.count(), 2);
    assert_eq!(histogram.min_ns(), Some(1));
    assert!(histogram.max_ns().unwrap() >= HIGHEST_NS);
}

#[test]
fn what_is_no_histogram_is_refused() {
    let truncated = &of(&[5]).encode()[..8];
    for text in ["", "%", "AAAA", truncated] {
        assert!(Histogram::decode(text).is_err(), "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 32,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn text_loses_nothing(times in proptest::collection::vec(1..HIGHEST_NS, 0..50)) {
        let histogram = of(&times);
        let read = Histogram::decode(&histogram.encode()).unwrap();
        prop_assert_eq!(&read, &histogram);
        for quantile in [0.0, 0.5, 0.99, 1.0] {
            prop_assert_eq!(read.quantile_ns(quantile), histogram.quantile_ns(quantile));
        }
        let figures = |h: &Histogram| (h.min_ns(), h.max_ns(), h.mean_ns(), h.deviation_ns());
        prop_assert_eq!(figures(&read), figures(&histogram));
        let mut more = (read, histogram);
        more.0.record(77);
        more.1.record(77);
        prop_assert_eq!(more.0.encode(), more.1.encode());
    }

    #[test]
    fn merging_is_counting_together(
        left in proptest::collection::vec(any::<u32>(), 0..30),
        right in proptest::collection::vec(any::<u32>(), 0..30),
    ) {
        let wide = |times: &[u32]| times.iter().map(|time| u64::from(*time)).collect::<Vec<u64>>();
        let mut merged = of(&wide(&left));
        merged.merge(&of(&wide(&right)));
        let together = of(&[wide(&left), wide(&right)].concat());
        let buckets = |histogram: &Histogram| histogram.buckets().collect::<Vec<_>>();
        prop_assert_eq!(buckets(&merged), buckets(&together));
    }

    #[test]
    fn quantiles_are_right_to_three_digits(time in 1..HIGHEST_NS) {
        let found = of(&[time]).quantile_ns(0.5).unwrap();
        prop_assert!(found.abs_diff(time) as f64 <= time as f64 / 1000.0 + 1.0, "{found} {time}");
    }
}

#[test]
fn coarse_times_keep_their_sum_and_take_less_room() {
    let mut fine = Histogram::new();
    for time in 0..20_000_u64 {
        fine.record(100_000 + time * time * 7919 % 740_000);
    }
    let coarse = fine.coarse();
    assert_eq!(coarse.count(), fine.count());
    let (mean, other) = (coarse.mean_ns().unwrap(), fine.mean_ns().unwrap());
    assert!((mean / other - 1.0).abs() < 0.002, "{mean} {other}");
    let (low, high) = (fine.quantile_ns(0.45), fine.quantile_ns(0.55));
    assert!((low..=high).contains(&coarse.quantile_ns(0.5)));
    let (large, small) = (fine.encode().len(), coarse.encode().len());
    assert!(small * 5 < large, "{small} {large}");
    // What is read again is the same, and what is coarse stays as it is.
    assert_eq!(Histogram::decode(&coarse.encode()), Ok(coarse.clone()));
    assert_eq!(coarse.coarse(), coarse);
    assert_eq!(Histogram::new().coarse().count(), 0);
}
