//! Results of sessions whose number of runs is decided after a pilot: the numbers in
//! docs/method/simulations.md.
//!
//! `cargo run --release -p bakeoff-stats --example planner` takes some minutes and always prints
//! the same. A session is a table of contenders with log-normal runs in shuffled blocks; the first
//! contender is slower by what is asked for, or not at all. Standard deviations of log throughput
//! are those of the records: 3 % for native contenders, 11 % for those on the JVM, and 1 %.

#![expect(clippy::print_stdout, reason = "an example prints what it found")]
#![expect(clippy::expect_used, reason = "an example may stop at any fault")]

use std::f64::consts::TAU;

use bakeoff_base::random::Random;
use bakeoff_stats::{Better, Criteria, Pairs, PilotPair, Sample, Threshold, Verdict, runs_needed};

const SESSIONS: u32 = 1_000;
const PILOT: u32 = 3;

/// One kind of session.
struct Kind {
    contenders: usize,
    deviation: f64,
    /// Share of the variance that is the block's.
    block_share: f64,
    /// The difference that is asked for, and how much slower the first one is: 0.05 = 5 %.
    until: f64,
    at_most: u32,
}

/// Over all sessions of a kind.
#[derive(Default)]
struct Tally {
    runs: u32,
    cut: u32,
    /// Any of equal contenders differed significantly from any other.
    wrong: u32,
    /// The first was found slower than the second.
    found: u32,
}

fn main() {
    println!(
        "| contenders | deviation | of the block | until | at most | runs, mean | \
         at most reached | any false | found |"
    );
    println!("|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    let noise = [
        (0.01, 0.05, 30),
        (0.03, 0.05, 30),
        (0.03, 0.05, 100),
        (0.11, 0.2, 30),
    ];
    for contenders in [2, 4, 8] {
        for (deviation, until, at_most) in noise {
            for block_share in [0.0, 0.5] {
                print_row(&Kind {
                    contenders,
                    deviation,
                    block_share,
                    until,
                    at_most,
                });
            }
        }
    }
}

fn print_row(kind: &Kind) {
    let mut random = Random::new(2013);
    let mut tally = Tally::default();
    for _ in 0..SESSIONS {
        tally.add(kind, &session(kind, &mut random));
    }
    let percent = |count: u32| f64::from(count) / f64::from(SESSIONS) * 100.0;
    println!(
        "| {} | {:.0} % | {:.0} % | {:.0} % | {} | {:.1} | {:.1} % | {:.1} % | {:.1} % |",
        kind.contenders,
        kind.deviation * 100.0,
        kind.block_share * 100.0,
        kind.until * 100.0,
        kind.at_most,
        f64::from(tally.runs) / f64::from(SESSIONS),
        percent(tally.cut),
        percent(tally.wrong),
        percent(tally.found),
    );
}

/// Log throughput of equal contenders, in all runs that there may be.
fn session(kind: &Kind, random: &mut Random) -> Vec<Vec<f64>> {
    let own = kind.deviation * (1.0 - kind.block_share).sqrt();
    let common = kind.deviation * kind.block_share.sqrt();
    let drift: Vec<f64> = (0..kind.at_most).map(|_| common * normal(random)).collect();
    let contenders = 0..kind.contenders;
    contenders
        .map(|_| {
            drift
                .iter()
                .map(|block| block + own * normal(random))
                .collect()
        })
        .collect()
}

impl Tally {
    fn add(&mut self, kind: &Kind, logs: &[Vec<f64>]) {
        // The ratios' spread, and with it the decision, does not depend on which side is slower.
        let runs = decided(kind, &samples(logs, PILOT, 0.0));
        self.runs += runs.unwrap_or(kind.at_most);
        self.cut += u32::from(runs.is_none());
        let runs = runs.unwrap_or(kind.at_most);
        let pairs = |slower: f64| {
            let samples = samples(logs, runs, slower);
            let samples: Vec<Option<&Sample>> = samples.iter().map(Some).collect();
            Pairs::new(&samples, &Criteria::new(Better::Higher))
        };
        let equal = pairs(0.0);
        let mut cells = equal.cells().iter().flatten().flatten();
        let told_apart = |verdict| matches!(verdict, Verdict::Faster | Verdict::Slower);
        self.wrong += u32::from(cells.any(|found| told_apart(found.verdict)));
        let slower = pairs(kind.until);
        let found = slower.get(0, 1).map(|found| found.verdict);
        self.found += u32::from(found == Some(Verdict::Slower));
    }
}

fn samples(logs: &[Vec<f64>], runs: u32, slower: f64) -> Vec<Sample> {
    let sample = |(place, logs): (usize, &Vec<f64>)| {
        let level = if place == 0 { -slower.ln_1p() } else { 0.0 };
        let values = (0..runs)
            .zip(logs)
            .map(|(block, log)| (block, (level + log).exp()));
        Sample::in_blocks(values.collect()).expect("values are finite")
    };
    logs.iter().enumerate().map(sample).collect()
}

/// Returns the runs that every pair needs; `None` if that is more than allowed.
fn decided(kind: &Kind, pilot: &[Sample]) -> Option<u32> {
    let threshold = Threshold::of_family(pilot.len() * (pilot.len() - 1) / 2);
    let mut runs = PILOT;
    for (place, first) in pilot.iter().enumerate() {
        for second in &pilot[place + 1..] {
            let pair = PilotPair::of(first, second);
            runs = runs_needed(&pair, kind.until, &threshold, (runs, kind.at_most))?;
        }
    }
    Some(runs)
}

/// A standard normal number (Box and Muller, Annals of Mathematical Statistics 1958).
fn normal(random: &mut Random) -> f64 {
    let radius = (-2.0 * (1.0 - random.unit()).ln()).sqrt();
    radius * (TAU * random.unit()).cos()
}
