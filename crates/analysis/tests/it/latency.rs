//! Records of contenders that took turns and were then loaded at one rate.

use bakeoff_analysis::{Analysis, AnalysisInput};

use crate::synthetic::latency::{Open, check, held, results};

#[test]
fn too_few_requests_beyond_a_percentile_are_a_dash() {
    let sets = |requests: u64| {
        let times = [[1.0, 1.3], [1.1, 1.45], [0.9, 1.18]];
        times.map(|both| both.map(|time_ms| Some(held(time_ms, requests))))
    };
    let half = "two serves half of the requests in 1.31 times the time of one (95 %: 1.29–1.33, \
                3 sets), at 4000 requests/s each: slower";
    check(
        &sets(4900),
        [[Some(1.0), None], [Some(1.31), None]],
        &[half],
    );
    let results = results(&sets(4900));
    let analysis = Analysis::of(&AnalysisInput::new(&results, "t"));
    assert_eq!(analysis.loads[0].summary.tables[0].p99_matrix, None);
    check(&sets(90), [[None, None]; 2], &[]);
    check(&[[None, None]; 3], [[None, None]; 2], &[]);
}

#[test]
fn a_rate_that_was_not_held_is_a_dash() {
    let missed = Open {
        offered: 24_000,
        ..held(1.0, 12_000)
    };
    let good = held(1.0, 12_000);
    let sets = [[Some(good), Some(good)], [Some(good), Some(missed)]];
    check(&sets, [[Some(1.0), Some(10.0)], [None, None]], &[]);
}
