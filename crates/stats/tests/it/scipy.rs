//! Every number that SciPy can also compute. `fixtures/make.py` made the file.

use bakeoff_stats::bootstrap::ratio_interval;
use bakeoff_stats::compare::welch_interval;
use bakeoff_stats::distribution::{normal_cdf, normal_quantile, student_cdf, student_quantile};
use bakeoff_stats::permutation::p_value;
use bakeoff_stats::{Better, Criteria, Interval, Sample, compare};
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
fn distributions_are_those_of_scipy() {
    let fixture = fixture();
    for pair in fixture["normal_cdf"].as_array().unwrap() {
        let pair = numbers(pair);
        close(normal_cdf(pair[0]), pair[1], 10);
    }
    for triple in fixture["student_cdf"].as_array().unwrap() {
        let triple = numbers(triple);
        close(student_cdf(triple[0], triple[1]), triple[2], 10);
    }
    for four in fixture["quantiles"].as_array().unwrap() {
        let four = numbers(four);
        close(student_quantile(four[0], four[1]), four[2], 9);
        close(normal_quantile(four[0]), four[3], 9);
    }
}

#[test]
fn comparisons_are_those_of_scipy() {
    for case in fixture()["compare"].as_array().unwrap() {
        let (first, second) = (sample(&case["first"]), sample(&case["second"]));
        let found = compare(&first, &second, &Criteria::new(Better::Higher));
        close(found.ratio.point, case["ratio"].as_f64().unwrap(), 12);
        close_ends(welch_interval(&first, &second, 0.95), &case["welch"], 9);
        if let Some(expected) = case["p_value"].as_f64() {
            close(p_value(&first, &second, 1), expected, 12);
        }
        if !case["bootstrap"].is_null() {
            // Both resample at random: the ends agree to a small part of the width only.
            let found = ratio_interval(&first, &second, 0.95, 1).unwrap();
            let expected = numbers(&case["bootstrap"]);
            let slack = 0.04 * (expected[1] - expected[0]);
            assert!(
                (found.low - expected[0]).abs() < slack,
                "{found:?} {expected:?}"
            );
            assert!(
                (found.high - expected[1]).abs() < slack,
                "{found:?} {expected:?}"
            );
        }
    }
}
