//! Searches among simulated services: how often the interval holds the true capacity, and how far
//! the estimate is from it. Seeded; `examples/capacity.rs` does the same at length.

use bakeoff_base::random::Random;
use bakeoff_stats::{Enough, Sample, Search, Trial};

/// Searches that a check is made of.
const SEARCHES: u32 = 60;

/// Share of searches that cover the truth, and the median error, of services whose chance to meet
/// a trial falls like this and which stall now and then.
fn searches(spread: f64, stalls: f64) -> (f64, f64) {
    let enough = Enough {
        within: 0.03,
        trials_at_most: 20,
    };
    let mut random = Random::new(1983);
    let (mut covered, mut errors) = (0, Vec::new());
    for _ in 0..SEARCHES {
        let capacity = 300.0 * 3_f64.powf(random.unit());
        let mut search = Search::new(200.0, 1200.0, 450.0).unwrap();
        while search.ended(&enough).is_none() {
            let rate = search.next_rate();
            let chance = 1.0 / (1.0 + ((rate / capacity).ln() / spread).exp());
            let met = random.unit() < chance && random.unit() >= stalls;
            search.add(Trial { rate, met });
        }
        let found = search.capacity();
        covered += u32::from(found.interval.unwrap().contains(capacity));
        errors.push((found.point / capacity - 1.0).abs());
    }
    let errors = Sample::new(errors).unwrap();
    (f64::from(covered) / f64::from(SEARCHES), errors.median())
}

#[test]
fn intervals_of_a_search_hold_the_capacity() {
    for (spread, stalls) in [(0.002, 0.0), (0.002, 0.05), (0.01, 0.02), (0.03, 0.0)] {
        let (covered, error) = searches(spread, stalls);
        // 60 searches at 90 % have fewer than 83 % in one of twenty simulations.
        assert!(
            covered >= 0.83,
            "spread {spread}, stalls {stalls}: {covered}"
        );
        assert!(error < 0.03, "spread {spread}, stalls {stalls}: {error}");
    }
}
