//! Every number that SciPy can also compute. `fixtures/make.py` made the file.

use bakeoff_stats::distribution::{
    chi_squared_quantile, normal_cdf, student_cdf, student_quantile,
};
use bakeoff_stats::{Exactness, Interval, LogRatio, Method, Sample, Threshold};
use serde_json::Value;

fn fixture() -> Value {
    serde_json::from_str(include_str!("../fixtures/scipy.json")).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value
        .as_array()
        .unwrap()
        .iter()
        .map(|number| number.as_f64().unwrap())
        .collect()
}

fn sample(value: &Value) -> Sample {
    Sample::new(numbers(value)).unwrap()
}

/// Equal to `digits` significant digits (absolutely so around 0).
#[track_caller]
fn close(found: f64, expected: f64, digits: i32) {
    let slack = 10_f64.powi(-digits) * expected.abs().max(1e-9);
    assert!(
        (found - expected).abs() <= slack,
        "found {found}, expected {expected}"
    );
}

#[track_caller]
fn close_ends(found: Option<Interval>, expected: &Value, digits: i32) {
    let (found, expected) = (found.unwrap(), numbers(expected));
    close(found.low, expected[0], digits);
    close(found.high, expected[1], digits);
}

#[test]
fn samples_are_described_as_scipy_does() {
    for case in fixture()["describe"].as_array().unwrap() {
        let sample = sample(&case["values"]);
        close(sample.mean(), case["mean"].as_f64().unwrap(), 12);
        close(sample.median(), case["median"].as_f64().unwrap(), 12);
        close(
            sample.deviation().unwrap(),
            case["deviation"].as_f64().unwrap(),
            10,
        );
        close(
            sample.variation().unwrap(),
            case["variation"].as_f64().unwrap(),
            10,
        );
        close_ends(sample.estimate(0.95).interval, &case["interval"], 9);
        for pair in case["quantiles"].as_array().unwrap() {
            let pair = numbers(pair);
            close(sample.quantile(pair[0]), pair[1], 12);
        }
    }
}

#[test]
fn the_distribution_is_that_of_scipy() {
    let fixture = fixture();
    for triple in fixture["student_cdf"].as_array().unwrap() {
        let triple = numbers(triple);
        close(student_cdf(triple[0], triple[1]), triple[2], 10);
    }
    for three in fixture["quantiles"].as_array().unwrap() {
        let three = numbers(three);
        close(student_quantile(three[0], three[1]), three[2], 9);
    }
}

#[test]
fn the_distributions_behind_the_planner_are_those_of_scipy() {
    let fixture = fixture();
    for three in fixture["chi_squared"].as_array().unwrap() {
        let three = numbers(three);
        close(chi_squared_quantile(three[0], three[1]), three[2], 9);
    }
    for pair in fixture["normal"].as_array().unwrap() {
        let pair = numbers(pair);
        // To ten digits of the whole, as probabilities are used.
        assert!((normal_cdf(pair[0]) - pair[1]).abs() < 1e-12, "{pair:?}");
    }
}

#[test]
fn power_is_that_of_the_noncentral_t_distribution() {
    for case in fixture()["power"].as_array().unwrap() {
        let case = numbers(case);
        let [difference, error, freedom, level, alone, relevant] = case[..] else {
            panic!("six numbers: {case:?}");
        };
        let test = Exactness { error, freedom };
        for (relevance, expected) in [(0.0, alone), (0.03, relevant)] {
            let found = test.power(difference, &Threshold { level, relevance });
            assert!((found - expected).abs() < 1e-4, "{found} {case:?}");
        }
    }
    // power.t.test(n = 20, delta = 1, sd = 1) of R, from its manual page: 0.8689528.
    let test = Exactness {
        error: (2.0_f64 / 20.0).sqrt(),
        freedom: 38.0,
    };
    let threshold = Threshold {
        level: 0.05,
        relevance: 0.0,
    };
    close(test.power(1_f64.exp() - 1.0, &threshold), 0.868_952_8, 5);
    // power.t.test(power = .90, delta = 1) of R: 22.02110 in each of two groups.
    let test = Exactness {
        error: (2.0_f64 / 22.021_10).sqrt(),
        freedom: 2.0 * (22.021_10 - 1.0),
    };
    close(test.power(1_f64.exp() - 1.0, &threshold), 0.9, 5);
}

#[track_caller]
fn check_comparison(found: Option<LogRatio>, expected: &Value, method: Method) {
    let found = found.unwrap();
    assert_eq!(found.method, method);
    close(found.point(), expected["ratio"].as_f64().unwrap(), 12);
    close_ends(found.interval(0.95), &expected["interval"], 9);
    close(found.p_equal(), expected["p_value"].as_f64().unwrap(), 8);
    let different = found.p_different(0.03);
    close(different, expected["p_different"].as_f64().unwrap(), 8);
}

#[test]
fn comparisons_are_those_of_scipy() {
    let mut paired = 0;
    for case in fixture()["compare"].as_array().unwrap() {
        let (first, second) = (sample(&case["first"]), sample(&case["second"]));
        check_comparison(LogRatio::of(&first, &second), &case["welch"], Method::Welch);
        if !case["paired"].is_null() {
            paired += 1;
            let blocks = |sample: &Sample| {
                let values = sample.values().iter().copied();
                Sample::in_blocks((1..).zip(values).collect()).unwrap()
            };
            let found = LogRatio::of(&blocks(&first), &blocks(&second));
            check_comparison(found, &case["paired"], Method::Paired);
        }
    }
    assert!(paired >= 3, "{paired}");
}
