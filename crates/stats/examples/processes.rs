//! The capacity of a few fresh processes: the numbers in docs/method/simulations.md.
//!
//! `cargo run --release -p bakeoff-stats --example processes` takes three minutes and always prints
//! the same. In the first part a process has a value, with an error of 1 by what it says of itself;
//! the variances of processes are in its square. In the second part every process is searched.

#![expect(clippy::print_stdout, reason = "an example prints what it found")]
#![expect(clippy::expect_used, reason = "an example may stop at any fault")]

use bakeoff_base::number::length_as_f64;
use bakeoff_base::random::Random;
use bakeoff_stats::{Enough, Estimate, Interval, Search, Trial, over_processes};

#[path = "shared/differ.rs"]
mod differ;

use differ::Differ;

const SESSIONS: u32 = 20_000;
const SEARCHED_SESSIONS: u32 = 1_000;

/// Intervals that hold the truth, and their widths.
#[derive(Default)]
struct Tally {
    held: u32,
    all: u32,
    reach_ln: f64,
}

impl Tally {
    fn add(&mut self, truth_ln: f64, processes: &[Estimate]) {
        let found = over_processes(processes).and_then(|found| found.interval);
        let ends = found.expect("there are two processes or more");
        self.held += u32::from(ends.contains(truth_ln.exp()));
        self.all += 1;
        self.reach_ln += (ends.high / ends.low).ln() / 2.0;
    }

    fn held(&self) -> String {
        format!(
            "{:.1} %",
            f64::from(self.held) / f64::from(self.all) * 100.0
        )
    }

    fn reach_ln(&self) -> f64 {
        self.reach_ln / f64::from(self.all)
    }
}

fn main() {
    print_values();
    print_searched();
}

fn print_values() {
    println!("\n| processes differ | variance | three | five | eight | five to three | eight |");
    println!("|:--|--:|--:|--:|--:|--:|--:|");
    let kinds = [
        Differ::Normal,
        Differ::HeavyTails,
        Differ::TwoModes,
        Differ::Skewed,
    ];
    for differ in kinds {
        for variance in [0.0, 1.0, 4.0, 16.0] {
            let [three, five, eight] =
                [3, 5, 8].map(|number| tally_values(differ, variance, number));
            println!(
                "| {} | {variance} | {} | {} | {} | {:.2} | {:.2} |",
                differ.name(),
                three.held(),
                five.held(),
                eight.held(),
                five.reach_ln() / three.reach_ln(),
                eight.reach_ln() / three.reach_ln(),
            );
        }
    }
}

/// Processes whose own interval is right: 1.96 to both sides.
fn tally_values(differ: Differ, variance: f64, processes: usize) -> Tally {
    let mut random = Random::new(2026);
    let mut tally = Tally::default();
    for _ in 0..SESSIONS {
        let own = |_| {
            let log = variance.sqrt() * differ.draw(&mut random) + random.normal();
            Estimate {
                point: log.exp(),
                interval: Some(Interval {
                    low: (log - 1.96).exp(),
                    high: (log + 1.96).exp(),
                }),
                runs: 1,
            }
        };
        let found: Vec<Estimate> = (0..processes).map(own).collect();
        tally.add(0.0, &found);
    }
    tally
}

/// How the processes of a service are searched.
#[derive(Clone, Copy)]
struct Design {
    name: &'static str,
    processes: usize,
    /// Trials at most: of the first process, and of each other one.
    trials: [usize; 2],
    /// Later processes begin where earlier ones ended.
    near: bool,
}

const fn design(name: &'static str, processes: usize, trials: [usize; 2], near: bool) -> Design {
    Design {
        name,
        processes,
        trials,
        near,
    }
}

const DESIGNS: [Design; 4] = [
    design("three from half, 12", 3, [12, 12], false),
    design("five near, 12 and 6", 5, [12, 6], true),
    design("three from half, 20", 3, [20, 20], false),
    design("three near, 20 and 10", 3, [20, 10], true),
];

/// Standard deviations of logarithms: between processes, and of the capacity from trial to trial;
/// then the spread of the curve.
const HOSTS: [(Differ, [f64; 3]); 7] = [
    (Differ::Normal, [0.0, 0.0, 0.003]),
    (Differ::Normal, [0.02, 0.0, 0.01]),
    (Differ::Normal, [0.05, 0.05, 0.01]),
    (Differ::Normal, [0.02, 0.15, 0.01]),
    (Differ::Normal, [0.15, 0.05, 0.01]),
    (Differ::TwoModes, [0.10, 0.03, 0.01]),
    (Differ::Skewed, [0.10, 0.03, 0.01]),
];

fn print_searched() {
    println!(
        "\n| processes differ | by | from trial to trial | design | covered | reach | trials |"
    );
    println!("|:--|--:|--:|:--|--:|--:|--:|");
    for (differ, deviations) in HOSTS {
        for design in DESIGNS {
            let mut random = Random::new(1983);
            let mut tally = Tally::default();
            let mut trials = 0;
            for _ in 0..SEARCHED_SESSIONS {
                let truth_ln = (1000.0 / 3.0 * 3_f64.powf(random.unit())).ln();
                let mut service = Service {
                    truth_ln,
                    differ,
                    deviations,
                    random: &mut random,
                };
                let searches = design.searches(&mut service);
                trials += searches.iter().map(|one| one.trials().len()).sum::<usize>();
                let found: Vec<Estimate> = searches.iter().map(Search::capacity).collect();
                tally.add(truth_ln, &found);
            }
            println!(
                "| {} | {:.0} % | {:.0} % | {} | {} | {:.1} % | {:.1} |",
                differ.name(),
                deviations[0] * 100.0,
                deviations[1] * 100.0,
                design.name,
                tally.held(),
                tally.reach_ln().exp_m1() * 100.0,
                length_as_f64(trials) / f64::from(SEARCHED_SESSIONS),
            );
        }
    }
}

struct Service<'r> {
    truth_ln: f64,
    differ: Differ,
    deviations: [f64; 3],
    random: &'r mut Random,
}

impl Service<'_> {
    /// Searches a fresh process. One trial in fifty stalls.
    fn search(&mut self, mut search: Search, trials_at_most: usize) -> Search {
        let [between, noise, spread] = self.deviations;
        let own = self.truth_ln + between * self.differ.draw(self.random);
        let enough = Enough {
            within: 0.03,
            trials_at_most,
        };
        while search.ended(&enough).is_none() {
            let rate = search.next_rate();
            let capacity = own + noise * self.random.normal();
            let chance = 1.0 / (1.0 + ((rate.ln() - capacity) / spread).exp());
            let met = self.random.unit() < chance && self.random.unit() >= 0.02;
            search.add(Trial { rate, met });
        }
        search
    }
}

impl Design {
    fn searches(&self, service: &mut Service<'_>) -> Vec<Search> {
        let mut searches: Vec<Search> = Vec::new();
        for process in 0..self.processes {
            let logs = searches.iter().map(|former| former.capacity().point.ln());
            let former = (logs.sum::<f64>() / length_as_f64(process)).exp();
            let search = match process > 0 && self.near {
                true => Search::new(100.0, 4000.0, former / 1.03).map(Search::near),
                false => Search::new(100.0, 4000.0, 500.0),
            };
            let search = search.expect("it is a range");
            let trials = self.trials[usize::from(process > 0)];
            searches.push(service.search(search, trials));
        }
        searches
    }
}
