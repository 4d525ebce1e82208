//! Made-up results: groups of contenders.

use bakeoff_base::random::Random;
use bakeoff_model::record::Results;

use crate::synthetic::turns::{Slice, Way, results};

pub(crate) const COMMON: &str = "synthetic-common";

pub(crate) const FIRST: &str = "synthetic-first";

pub(crate) const SECOND: &str = "synthetic-second";

pub(crate) const OTHER: &str = "synthetic-other";

pub(crate) const BLOCKS: u32 = 20;

/// Two groups of three: the group, the contender, its peak, and its CPU per request, us.
pub(crate) const PLAYED: [(u32, &str, f64, f64); 6] = [
    (1, COMMON, 4000.0, 120.0),
    (1, FIRST, 5250.0, 105.0),
    (1, OTHER, 3000.0, 150.0),
    (2, COMMON, 4000.0, 120.0),
    (2, SECOND, 5000.0, 100.0),
    (2, "synthetic-last", 2000.0, 200.0),
];

/// The speed of the host in the second group of a set, the first one being 1.
pub(crate) const SLOWER: f64 = 0.7;

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "made-up numbers are small and positive"
)]
pub(crate) fn slice(requests: f64, cpu_us: f64) -> Slice {
    let requests = requests as u64;
    (requests, requests * (cpu_us * 1000.0) as u64 / 1000 * 1000)
}

/// The given number of sets; processes differ by up to half a percent.
pub(crate) fn sets(repetitions: u32) -> Results {
    let mut random = Random::new(11);
    let mut played = Vec::new();
    let mut groups = Vec::new();
    for repetition in 1..=repetitions {
        for (group, name, peak, cpu_us) in PLAYED {
            let own = 1.0 + 0.01 * (random.unit() - 0.5);
            let speed = if group == 2 { SLOWER } else { 1.0 };
            let mut turn = |_| {
                let noise = 1.0 + 0.04 * (random.unit() - 0.5);
                slice(peak * own * speed * noise, cpu_us / speed / own)
            };
            played.push((name, repetition, (0..BLOCKS).map(&mut turn).collect()));
            groups.push(group);
        }
    }
    let mut made = results(&played, Way::Turns);
    for (run, group) in made.runs.iter_mut().zip(groups) {
        run.begin.run.group = Some(group);
        run.begin.run.id.push_str(&format!(".g{group}"));
    }
    made
}
