//! How often a table of equal contenders finds differences among them, and how often one that is
//! faster is found: the numbers in docs/method/simulations.md.
//!
//! `cargo run --release -p bakeoff-stats --example family` takes some minutes and always prints the
//! same. A session is a table of contenders with log-normal runs in shuffled blocks. Standard
//! deviations of log throughput are those of the records: 3 % for native contenders, 11 % for those
//! on the JVM. In half the sessions, half of the variance is the block's, common to all its runs:
//! drift of the host.

#![expect(clippy::print_stdout, reason = "an example prints what it found")]
#![expect(clippy::expect_used, reason = "an example may stop at any fault")]

use std::f64::consts::TAU;

use bakeoff_base::random::Random;
use bakeoff_stats::{Better, Criteria, Pairs, Sample, Verdict};

const SESSIONS: u32 = 1_000;
/// How many runs, and whether the analysis knows the blocks. What is compared in pairs is shown
/// with Welch's t too, for the price of pairing and what it brings.
const RUNS: [(u32, bool); 5] = [(3, false), (5, true), (5, false), (15, true), (15, false)];
const CONTENDERS: [usize; 2] = [8, 20];
/// Standard deviations of log throughput, dealt out in turn.
const KINDS: [(&str, &[f64]); 3] = [
    ("native", &[0.03]),
    ("JVM", &[0.11]),
    ("mixed", &[0.03, 0.11]),
];

/// One kind of session.
struct Session {
    contenders: usize,
    runs: u32,
    deviations: &'static [f64],
    /// Share of the variance that is the block's.
    block_share: f64,
    /// By how much the first contender is faster: 0.05 = 5 %.
    lead: f64,
    /// Whether the analysis knows the blocks.
    paired: bool,
}

fn main() {
    println!("Any false verdict in a session of equal contenders, % of {SESSIONS}");
    println!("| contenders | runs | compared | deviation | no block effect | half the block's |");
    println!("|--:|--:|---|---|--:|--:|");
    print_rows(&KINDS, &[(0.0, 0.0), (0.5, 0.0)], any_told_apart);
    println!("\nThe first contender found faster than the second, %, by its lead");
    println!(
        "| contenders | runs | compared | deviation | 5 % | 20 % | 5 %, half the block's | 20 %, \
         half the block's |"
    );
    println!("|--:|--:|---|---|--:|--:|--:|--:|");
    let columns = [(0.0, 0.05), (0.0, 0.2), (0.5, 0.05), (0.5, 0.2)];
    print_rows(&KINDS[..2], &columns, first_is_faster);
}

/// A row for each kind of session; a column for each share of the block and lead of the first.
fn print_rows(kinds: &[(&str, &'static [f64])], columns: &[(f64, f64)], found: fn(&Pairs) -> bool) {
    for contenders in CONTENDERS {
        for (runs, paired) in RUNS {
            for (name, deviations) in kinds {
                let cells = columns.iter().map(|(block_share, lead)| {
                    let session = Session {
                        contenders,
                        runs,
                        deviations,
                        block_share: *block_share,
                        lead: *lead,
                        paired,
                    };
                    percent(&session, found)
                });
                let cells = cells.collect::<Vec<String>>().join(" | ");
                let how = if paired { "in pairs" } else { "Welch" };
                println!("| {contenders} | {runs} | {how} | {name} | {cells} |");
            }
        }
    }
}

/// Share of sessions in which `found` holds.
fn percent(session: &Session, found: fn(&Pairs) -> bool) -> String {
    let mut random = Random::new(1979);
    let hits = (0..SESSIONS).filter(|_| found(&pairs(session, &mut random)));
    let hits = u32::try_from(hits.count()).expect("the number of sessions fits");
    format!("{:.1}", f64::from(hits) / f64::from(SESSIONS) * 100.0)
}

fn pairs(session: &Session, random: &mut Random) -> Pairs {
    let mut normal = || normal(random);
    let drift: Vec<f64> = (0..session.runs).map(|_| normal()).collect();
    let mut sample = |index: usize| {
        let deviation = session.deviations[index % session.deviations.len()];
        let level = if index == 0 {
            session.lead.ln_1p()
        } else {
            0.0
        };
        let (own, common) = (
            (1.0 - session.block_share).sqrt(),
            session.block_share.sqrt(),
        );
        let runs = (0_u32..).zip(&drift).map(|(block, drift)| {
            (
                block,
                (level + deviation * (own * normal() + common * drift)).exp(),
            )
        });
        let sample = Sample::in_blocks(runs.collect()).expect("values are finite");
        if session.paired {
            sample
        } else {
            sample.without_blocks()
        }
    };
    let samples: Vec<Sample> = (0..session.contenders).map(&mut sample).collect();
    let samples: Vec<Option<&Sample>> = samples.iter().map(Some).collect();
    Pairs::new(&samples, &Criteria::new(Better::Higher))
}

/// A standard normal number (Box and Muller, Annals of Mathematical Statistics 1958).
fn normal(random: &mut Random) -> f64 {
    let radius = (-2.0 * (1.0 - random.unit()).ln()).sqrt();
    radius * (TAU * random.unit()).cos()
}

fn any_told_apart(pairs: &Pairs) -> bool {
    let mut cells = pairs.cells().iter().flatten().flatten();
    cells.any(|found| matches!(found.verdict, Verdict::Faster | Verdict::Slower))
}

fn first_is_faster(pairs: &Pairs) -> bool {
    pairs
        .get(0, 1)
        .is_some_and(|found| found.verdict == Verdict::Faster)
}
