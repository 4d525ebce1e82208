//! The accuracy of the search for a capacity: the numbers in docs/method/simulations.md.
//!
//! `cargo run --release -p bakeoff-stats --example capacity` takes a minute and always prints the
//! same. Each row is 1,000 searches that start, as in a session, at half of what a closed load
//! gets. In the first part the chance that a trial is met is a logistic curve, as the search
//! supposes. In the second part it is a queue that knows nothing of the search: one worker,
//! exponential service times of 1 ms on average and requests at random. Its capacity is the rate at
//! which half of a great many trials are met. In the long run the 99th percentile of the time in
//! such a queue is ln(100) / (1000 - rate) seconds; the rate at which this is the bound is printed
//! too.

#![expect(clippy::print_stdout, reason = "an example prints what it found")]
#![expect(clippy::expect_used, reason = "an example may stop at any fault")]

use bakeoff_base::random::Random;
use bakeoff_stats::{Enough, Sample, Search, Trial};

const SEARCHES: u32 = 1_000;
const TRIALS_AT_MOST: [usize; 2] = [12, 20];
const WITHIN: f64 = 0.03;
/// Service of the queue, seconds.
const SERVICE_S: f64 = 0.001;
/// Length of a trial, seconds.
const TRIAL_S: f64 = 5.0;
/// Trials that are averaged to find the capacity of the queue.
const EVEN_TRIALS: u32 = 5_000;

fn main() {
    println!("| service | trials at most | covered | median error | 95 % of errors | trials |");
    println!("|---|--:|--:|--:|--:|--:|");
    for trials_at_most in TRIALS_AT_MOST {
        for (spread, stalls) in [(0.002, 0.0), (0.002, 0.05), (0.01, 0.0), (0.03, 0.0)] {
            let name = format!("curve of {} %, {} % stalls", spread * 100.0, stalls * 100.0);
            let mut random = Random::new(1983);
            print_row(&name, trials_at_most, || {
                // Anywhere between a third and all of what a closed load gets.
                let capacity = 1000.0 / 3.0 * 3_f64.powf(random.unit());
                (capacity, curve(capacity, spread, stalls, random.bits()))
            });
        }
        for bound_ms in [10.0, 50.0] {
            let name = format!("queue, p99 <= {bound_ms} ms");
            let mut random = Random::new(1994);
            let long_run = 1.0 / SERVICE_S - 100_f64.ln() / (bound_ms / 1e3);
            let capacity = even_rate(long_run, &mut queue(bound_ms / 1e3, 1951));
            let name = format!("{name} ({capacity:.0}/s, long run {long_run:.0}/s)");
            print_row(&name, trials_at_most, || {
                (capacity, queue(bound_ms / 1e3, random.bits()))
            });
        }
    }
}

/// Whether a trial at a rate is met.
type Service = Box<dyn FnMut(f64) -> bool>;

fn curve(capacity: f64, spread: f64, stalls: f64, seed: u64) -> Service {
    let mut random = Random::new(seed);
    Box::new(move |rate: f64| {
        let chance = 1.0 / (1.0 + ((rate / capacity).ln() / spread).exp());
        random.unit() < chance && random.unit() >= stalls
    })
}

/// Whether 99 of 100 requests spend less than `bound_s` in a queue that is empty at first.
fn queue(bound_s: f64, seed: u64) -> Service {
    let mut random = Random::new(seed);
    Box::new(move |rate: f64| {
        let (mut at_s, mut free_s, mut late, mut all) = (0.0, 0.0_f64, 0.0, 0.0);
        loop {
            at_s += random.exponential() / rate;
            if at_s > TRIAL_S {
                return late <= 0.01 * all;
            }
            free_s = free_s.max(at_s) + random.exponential() * SERVICE_S;
            all += 1.0;
            late += if free_s - at_s > bound_s { 1.0 } else { 0.0 };
        }
    })
}

/// The rate at which half of the trials are met, near `start`: by small steps up after one that is
/// met and down after one that is missed, averaged (Robbins and Monro, Annals of Mathematical
/// Statistics 1951; Polyak and Juditsky, SIAM Journal on Control and Optimization 1992).
fn even_rate(start: f64, service: &mut Service) -> f64 {
    let (mut log, mut sum) = (start.ln(), 0.0);
    for step in 1..=2 * EVEN_TRIALS {
        let reach = 0.05 * f64::from(step).powf(-0.6);
        log += if service(log.exp()) { reach } else { -reach };
        sum += if step > EVEN_TRIALS { log } else { 0.0 };
    }
    (sum / f64::from(EVEN_TRIALS)).exp()
}

fn print_row(name: &str, trials_at_most: usize, mut next: impl FnMut() -> (f64, Service)) {
    let enough = Enough {
        within: WITHIN,
        trials_at_most,
    };
    let (mut covered, mut errors, mut trials) = (0, Vec::new(), Vec::new());
    for _ in 0..SEARCHES {
        let (capacity, mut service) = next();
        let search = searched(&enough, &mut service);
        let found = search.capacity();
        let interval = found.interval.expect("a search always has one");
        covered += u32::from(interval.contains(capacity));
        errors.push((found.point / capacity - 1.0).abs() * 100.0);
        trials.push(bakeoff_base::number::length_as_f64(search.trials().len()));
    }
    let errors = Sample::new(errors).expect("errors are finite");
    let trials = Sample::new(trials).expect("numbers of trials are finite");
    println!(
        "| {name} | {trials_at_most} | {:.1} % | {:.2} % | {:.2} % | {:.1} |",
        f64::from(covered) / f64::from(SEARCHES) * 100.0,
        errors.median(),
        errors.quantile(0.95),
        trials.mean(),
    );
}

fn searched(enough: &Enough, service: &mut Service) -> Search {
    let mut search = Search::new(10.0, 4000.0, 500.0).expect("it is a range");
    while search.ended(enough).is_none() {
        let rate = search.next_rate();
        search.add(Trial {
            rate,
            met: service(rate),
        });
    }
    search
}
