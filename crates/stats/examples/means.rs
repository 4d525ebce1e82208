//! The interval of one metric over a few runs: the numbers in docs/method/simulations.md.
//!
//! `cargo run --release -p bakeoff-stats --example means` takes seconds and always prints the same.

#![expect(clippy::print_stdout, reason = "an example prints what it found")]
#![expect(clippy::expect_used, reason = "an example may stop at any fault")]

use bakeoff_base::number::length_as_f64 as count;
use bakeoff_base::random::Random;
use bakeoff_stats::Sample;
use bakeoff_stats::distribution::student_quantile;

const SAMPLES: u32 = 20_000;

fn main() {
    println!("| runs are | vary by | runs | additive | below 0 | by factors |");
    println!("|:--|--:|--:|--:|--:|--:|");
    for (name, deviations) in [
        ("normal", [0.05, 0.15, 0.3, 0.5]),
        ("log-normal", [0.05, 0.15, 0.5, 1.0]),
    ] {
        for deviation in deviations {
            for runs in [3, 5, 10] {
                print_row(name, deviation, runs);
            }
        }
    }
}

fn print_row(name: &str, deviation: f64, runs: usize) {
    let mut random = Random::new(2026);
    let is_log = name == "log-normal";
    let truth = if is_log {
        (deviation * deviation / 2.0).exp()
    } else {
        1.0
    };
    let (mut additive, mut below, mut factors) = (0, 0, 0);
    for _ in 0..SAMPLES {
        let sample = positive(runs, || match is_log {
            true => (deviation * random.normal()).exp(),
            false => 1.0 + deviation * random.normal(),
        });
        let spread = sample.deviation().expect("there are some runs");
        let reach = student_quantile(0.975, count(runs - 1)) * spread / count(runs).sqrt();
        additive += u32::from((sample.mean() - truth).abs() <= reach);
        below += u32::from(reach > sample.mean());
        let ends = sample.estimate(0.95).interval.expect("there are some runs");
        factors += u32::from(ends.contains(truth));
    }
    let percent = |times: u32| format!("{:.1} %", f64::from(times) / f64::from(SAMPLES) * 100.0);
    println!(
        "| {name} | {:.0} % | {runs} | {} | {} | {} |",
        deviation * 100.0,
        percent(additive),
        percent(below),
        percent(factors)
    );
}

/// A sample of positive values.
fn positive(runs: usize, mut draw: impl FnMut() -> f64) -> Sample {
    loop {
        let values: Vec<f64> = (0..runs).map(|_| draw()).collect();
        if values.iter().all(|value| *value > 0.0) {
            return Sample::new(values).expect("numbers");
        }
    }
}
