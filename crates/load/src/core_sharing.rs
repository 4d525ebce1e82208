//! Measures whether the load generator's cores and the contender's are hyper-threads of the same
//! physical cores, because virtual machines often do not show it.
//!
//! A thread on each core of the contender counts how often it gets through a loop that needs
//! nothing but registers and the multiplier. It does so in windows in which the load generator's
//! cores are idle and in windows in which they run the same loop. A physical core has one
//! multiplier or two for all of its hyper-threads, so a sibling halves the count; a separate core
//! takes a few per cent of the turbo clock at most.

use std::fs;
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, Scope};
use std::time::{Duration, Instant};

use bakeoff_base::number::{as_f64, length_as_f64};
use bakeoff_model::measure::core_sharing::CoreSharing;

use crate::error::LoadError;
use crate::limits::pin;

/// Pairs of a window with idle and one with working cores of the load generator.
const PAIRS: usize = 20;
/// Length of a window. All of them take one second.
const WINDOW: Duration = Duration::from_millis(25);
/// Independent chains of multiplications: more than a multiplier has in flight.
const CHAINS: usize = 8;
/// Multiplications of each chain between two looks at the clock.
const ROUNDS: u32 = 1000;
/// Factor and summand of the generator of Knuth's MMIX: any odd numbers would do.
const FACTOR: u64 = 6_364_136_223_846_793_005;
const SUMMAND: u64 = 1_442_695_040_888_963_407;

/// The speeds of a core in the two windows of a pair: others idle, others working.
type Pair = [f64; 2];

/// The report of a thread: its number and its speed in a window, or why it cannot work.
type Reported = Result<(usize, f64), LoadError>;

/// Measures for one second how much slower the contender's cores are while the load generator's
/// work. With several contender cores the result is for the one that loses the most.
/// Blocks; the calling thread is not pinned.
///
/// # Errors
/// There is no core on one of the sides, or a thread cannot be started on one of the cores.
pub fn core_sharing(contender: &[usize], generator: &[usize]) -> Result<CoreSharing, LoadError> {
    let pairs = measure(contender, generator)?;
    let each = contender.iter().zip(&pairs);
    let each = each.map(|(core, pairs)| summary(*core, generator, pairs));
    let most = each.max_by(|one, other| one.slowdown.total_cmp(&other.slowdown));
    most.ok_or_else(no_cores)
}

fn no_cores() -> LoadError {
    LoadError::Spec {
        message: "contender and load generator have no separate cores".to_owned(),
    }
}

/// Returns the pairs of each of the contender's cores.
fn measure(contender: &[usize], generator: &[usize]) -> Result<Vec<Vec<Pair>>, LoadError> {
    if contender.is_empty() || generator.is_empty() {
        return Err(no_cores());
    }
    let window = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let (report, reports) = channel();
        let mut timers = Vec::new();
        for (index, core) in contender.iter().enumerate() {
            let work = move |_: usize| (index, speed_over(WINDOW));
            timers.push(start(scope, *core, report.clone(), work)?);
        }
        let mut workers = Vec::new();
        for core in generator {
            // Uses a separate channel, because it is not awaited in each window.
            let (report, pinned) = channel();
            let work = |number| (0, work_while(|| window.load(Ordering::Relaxed) == number));
            workers.push(start(scope, *core, report, work)?);
            take(&pinned)?;
        }
        drop(report);
        for _ in contender {
            take(&reports)?;
        }
        let speeds = play(&window, &timers, &workers, &reports);
        // Ends the work of the last window, also if it failed.
        window.store(usize::MAX, Ordering::Relaxed);
        speeds
    })
}

/// Plays all windows, one after the other.
fn play(
    window: &AtomicUsize,
    timers: &[Sender<usize>],
    workers: &[Sender<usize>],
    reports: &Receiver<Reported>,
) -> Result<Vec<Vec<Pair>>, LoadError> {
    let mut pairs = vec![vec![[0.0; 2]; PAIRS]; timers.len()];
    for number in 0..2 * PAIRS {
        let (pair, working) = (number / 2, is_working(number));
        window.store(number, Ordering::Relaxed);
        if working {
            order(workers, number);
        }
        order(timers, number);
        for _ in timers {
            let (core, speed) = take(reports)?;
            pairs[core][pair][usize::from(working)] = speed;
        }
    }
    Ok(pairs)
}

/// Whether the load generator's cores work in a window: in the second of the first pair, the first
/// of the second pair, and so on, so that drift in the host's speed favours neither.
fn is_working(window: usize) -> bool {
    matches!(window % 4, 1 | 2)
}

/// Starts a thread on a core. It reports once when it is pinned, and then does its work for each
/// window that it receives, until the sender of orders is gone.
fn start<'scope>(
    scope: &'scope Scope<'scope, '_>,
    core: usize,
    report: Sender<Reported>,
    work: impl Fn(usize) -> (usize, f64) + Send + 'scope,
) -> Result<Sender<usize>, LoadError> {
    let (order, orders) = channel::<usize>();
    let body = move || {
        let pinned = pin(&[core]).map(|_| (0, 0.0));
        let can_work = pinned.is_ok();
        if report.send(pinned).is_err() || !can_work {
            return;
        }
        for window in orders {
            // A receiver that is gone does not need it.
            let _ = report.send(Ok(work(window)));
        }
    };
    let started = Builder::new().spawn_scoped(scope, body);
    started.map_err(|source| LoadError::System {
        what: format!("cannot start a thread for core {core}"),
        source,
    })?;
    Ok(order)
}

fn order(threads: &[Sender<usize>], window: usize) {
    for thread in threads {
        // A thread that has exited is missed when its report is due.
        let _ = thread.send(window);
    }
}

fn take(reports: &Receiver<Reported>) -> Reported {
    let gone = || LoadError::Spec {
        message: "a thread that measured a core ended too early".to_owned(),
    };
    reports.recv().unwrap_or_else(|_| Err(gone()))
}

/// Runs the loop for a time and returns its iterations per second of CPU time: work of others on
/// the core says nothing about its siblings.
fn speed_over(time: Duration) -> f64 {
    let (began, waited) = (Instant::now(), waited());
    let blocks = work_while(|| began.elapsed() < time);
    let waited = self::waited().saturating_sub(waited);
    blocks / began.elapsed().saturating_sub(waited).as_secs_f64()
}

/// Returns how long the calling thread has waited for its core, which another thread had; zero if
/// the kernel does not report it. Time that a hypervisor took is not included, and so slows the
/// loop down.
fn waited() -> Duration {
    let times = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let waited = times.split_whitespace().nth(1);
    Duration::from_nanos(waited.and_then(|ns| ns.parse().ok()).unwrap_or_default())
}

/// Runs the loop while `goes_on` returns `true` and returns the number of iterations.
fn work_while(goes_on: impl Fn() -> bool) -> f64 {
    let mut blocks = 0;
    let mut chains = black_box([1u64; CHAINS]);
    while goes_on() {
        for _ in 0..ROUNDS {
            for chain in &mut chains {
                *chain = chain.wrapping_mul(FACTOR).wrapping_add(SUMMAND);
            }
        }
        blocks += 1;
    }
    black_box(chains);
    as_f64(blocks)
}

/// Returns the slowdown of one core: one minus the ratio of its speeds, by the median of the pairs.
fn summary(core: usize, generator: &[usize], pairs: &[Pair]) -> CoreSharing {
    let slowdowns = pairs.iter().map(|[idle, working]| 1.0 - working / idle);
    let mut slowdowns: Vec<f64> = slowdowns.filter(|slowdown| slowdown.is_finite()).collect();
    slowdowns.sort_by(f64::total_cmp);
    CoreSharing {
        contender: core,
        generator: generator.to_vec(),
        slowdown: quantile(&slowdowns, 2),
        quartiles: [quantile(&slowdowns, 1), quantile(&slowdowns, 3)],
    }
}

/// Returns a quartile of sorted values, 1 to 3, interpolated between two of them; 0 for an empty
/// list.
fn quantile(sorted: &[f64], quarters: usize) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else {
        return 0.0;
    };
    let below = last * quarters / 4;
    let beyond = length_as_f64(last * quarters % 4) / 4.0;
    let above = (below + 1).min(last);
    sorted[below] + (sorted[above] - sorted[below]) * beyond
}

#[cfg(test)]
mod tests {
    use super::{LoadError, PAIRS, core_sharing, is_working, quantile, summary};

    fn check(pairs: &[[f64; 2]], slowdown: f64, quartiles: [f64; 2]) {
        let found = summary(3, &[4, 5], pairs);
        assert_eq!((found.contender, &found.generator[..]), (3, &[4, 5][..]));
        let near = |one: f64, other: f64| (one - other).abs() < 1e-12;
        assert!(near(found.slowdown, slowdown), "{found:?}");
        let [lower, upper] = found.quartiles;
        assert!(
            near(lower, quartiles[0]) && near(upper, quartiles[1]),
            "{found:?}"
        );
    }

    #[test]
    fn the_slowdown_is_the_median_of_pairs() {
        check(&[[100.0, 60.0]], 0.4, [0.4, 0.4]);
        // A pair in which something else took the core moves nothing.
        check(
            &[
                [100.0, 99.0],
                [200.0, 196.0],
                [10.0, 100.0],
                [100.0, 97.0],
                [100.0, 1.0],
            ],
            0.02,
            [0.01, 0.03],
        );
        check(&[[100.0, 100.0], [100.0, 50.0]], 0.25, [0.125, 0.375]);
        // A window without any iteration means nothing.
        check(&[[0.0, 0.0]], 0.0, [0.0, 0.0]);
    }

    #[test]
    fn quartiles_lie_between_values() {
        assert!((quantile(&[1.0, 2.0, 3.0], 2) - 2.0).abs() < 1e-12);
        assert!((quantile(&[1.0, 2.0], 3) - 1.75).abs() < 1e-12);
        assert!(quantile(&[], 1).abs() < 1e-12);
    }

    #[test]
    fn each_pair_has_a_window_of_either_kind() {
        let mut idle_first = 0;
        for pair in 0..PAIRS {
            let kinds = [is_working(2 * pair), is_working(2 * pair + 1)];
            assert_ne!(kinds[0], kinds[1]);
            idle_first += usize::from(!kinds[0]);
        }
        assert_eq!(idle_first * 2, PAIRS);
    }

    #[test]
    fn cores_that_cannot_be_used_are_refused() {
        assert!(matches!(
            core_sharing(&[0], &[]),
            Err(LoadError::Spec { .. })
        ));
        assert!(matches!(
            core_sharing(&[], &[0]),
            Err(LoadError::Spec { .. })
        ));
        for absent in [1000, 1_000_000] {
            assert!(matches!(
                core_sharing(&[0], &[absent]),
                Err(LoadError::System { .. })
            ));
            assert!(matches!(
                core_sharing(&[absent], &[0]),
                Err(LoadError::System { .. })
            ));
        }
    }
}
