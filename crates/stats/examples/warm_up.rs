//! The share of warm-ups whose end is found wrongly: flat series that are never called flat, rising
//! ones that are. `cargo run --release -p bakeoff-stats --example warm_up`;
//! docs/method/simulations.md has the table.

#![expect(clippy::print_stdout, reason = "an example that prints a table")]

use bakeoff_base::random::Random;
use bakeoff_stats::{Point, rise};

/// Simulated warm-ups for each cell.
const WARM_UPS: u32 = 1000;
/// Length of a slice, s.
const SLICE_S: f64 = 1.25;
/// Slices between two questions.
const BLOCK: usize = 2;
/// Slices of the longest warm-up: 120 s.
const SLICES: usize = 96;

/// Log of the level at a time, s.
type Curve = fn(f64) -> f64;

/// The simulated curves, and what of each is an error.
const CURVES: [(&str, Curve); 3] = [
    ("flat", |_| 0.0),
    ("rising", |at_s| 1.03_f64.ln() * at_s / 10.0),
    ("saturating", |at_s| (1.0 - 0.5 * (-at_s / 15.0).exp()).ln()),
];

/// One warm-up: when it was called warm, s, and the level by then as a share of the last one.
fn warm_up(curve: Curve, noise: f64, kept: f64, random: &mut Random) -> Option<(f64, f64)> {
    let mut series = Vec::new();
    let (mut from_s, mut noise_now) = (0.0, noise * random.normal());
    while series.len() < SLICES {
        for _ in 0..BLOCK {
            let level = curve(from_s + SLICE_S / 2.0);
            series.push(Point {
                from_s,
                to_s: from_s + SLICE_S,
                value: (level + noise_now).exp(),
            });
            from_s += SLICE_S;
            // So that the noise is as strong as without memory.
            let new = noise * (1.0 - kept * kept).sqrt() * random.normal();
            noise_now = kept * noise_now + new;
        }
        if rise(&series).is_some_and(|found| found.is_flat()) {
            return Some((from_s, (curve(from_s) - curve(120.0)).exp()));
        }
    }
    None
}

fn main() {
    println!(
        "| noise | flat, never warm | flat, median | rising, called warm | \
         saturating, never warm | median | level by then |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|");
    for (kept, words) in [(0.0, ""), (0.5, ", drifting")] {
        for noise in [0.01, 0.02, 0.04, 0.08, 0.12] {
            let mut random = Random::new(17);
            let mut cells = Vec::new();
            for (name, curve) in CURVES {
                let ends = (0..WARM_UPS).map(|_| warm_up(curve, noise, kept, &mut random));
                let ends: Vec<Option<(f64, f64)>> = ends.collect();
                let mut warm: Vec<(f64, f64)> = ends.iter().flatten().copied().collect();
                warm.sort_by(|a, b| a.0.total_cmp(&b.0));
                let percent =
                    |count: usize| format!("{:.1} %", count as f64 / f64::from(WARM_UPS) * 100.0);
                let median = warm.get(warm.len() / 2);
                let median_s = median.map_or("–".to_owned(), |(at_s, _)| format!("{at_s:.0} s"));
                match name {
                    "rising" => cells.push(percent(warm.len())),
                    _ => cells.extend([percent(ends.len() - warm.len()), median_s]),
                }
                if name == "saturating" {
                    warm.sort_by(|a, b| a.1.total_cmp(&b.1));
                    let level = warm.get(warm.len() / 20);
                    cells.push(level.map_or("–".to_owned(), |(_, level)| {
                        format!("{:.1} %", level * 100.0)
                    }));
                }
            }
            println!("| {:.0} %{words} | {} |", noise * 100.0, cells.join(" | "));
        }
    }
}
