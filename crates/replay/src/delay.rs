//! The delays of the replay backend, and a timer fine enough for them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use bakeoff_base::random::{Random, SharedRandom};
use bakeoff_model::suite::delay::Delay;
use tokio::sync::oneshot;

/// Longest exponential delay in means: beyond it lies one in 10^8, which would only be a hang.
const MEANS_MAX: f64 = 18.0;

/// Longest log-normal delay, in standard deviations of the logarithm.
const DEVIATIONS_MAX: f64 = 5.6;

/// Draws delays and waits for them.
#[derive(Debug)]
pub(crate) struct Delayer {
    delay: Delay,
    random: SharedRandom,
    /// The timer thread; `None` without delay, because no thread is needed then.
    timer: Option<Sender<Alarm>>,
}

impl Delayer {
    pub(crate) fn new(delay: Delay, seed: u64) -> Self {
        let timer = (delay != Delay::None).then(|| {
            let (sender, receiver) = channel();
            thread::spawn(move || ring(&receiver));
            sender
        });
        Self {
            delay,
            random: SharedRandom::new(seed),
            timer,
        }
    }

    /// Draws a delay and waits until it is over, counted from `since`.
    pub(crate) async fn hold(&self, since: Instant, recorded_us: &[u64]) {
        let Some(timer) = &self.timer else { return };
        let delay = draw(self.delay, &mut self.random.split(), recorded_us);
        if delay.is_zero() {
            return;
        }
        let (bell, rung) = oneshot::channel();
        let alarm = Alarm {
            at: since + delay,
            bell,
        };
        if timer.send(alarm).is_ok() {
            // The thread only ends with the sender, so a wake-up comes.
            let _ = rung.await;
        }
    }
}

fn draw(delay: Delay, random: &mut Random, recorded_us: &[u64]) -> Duration {
    match delay {
        Delay::None => Duration::ZERO,
        Delay::Constant(time) => time,
        Delay::Recorded => {
            let chosen = random.below(recorded_us.len());
            Duration::from_micros(recorded_us.get(chosen).copied().unwrap_or(0))
        }
        Delay::Exponential { mean } => mean.mul_f64(random.exponential().min(MEANS_MAX)),
        Delay::LogNormal { median, sigma } => {
            let deviations = random.normal().min(DEVIATIONS_MAX);
            median.mul_f64((sigma * deviations).exp())
        }
    }
}

/// A task to be woken.
#[derive(Debug)]
struct Alarm {
    at: Instant,
    bell: oneshot::Sender<()>,
}

impl PartialEq for Alarm {
    fn eq(&self, other: &Self) -> bool {
        self.at == other.at
    }
}

impl Eq for Alarm {}

impl PartialOrd for Alarm {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Alarm {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.at.cmp(&other.at)
    }
}

/// Wakes all waiting responses in time. Runs in a separate thread, because tokio's timer has whole
/// milliseconds and a backend responds in tenths of one.
fn ring(alarms: &Receiver<Alarm>) {
    let mut waiting: BinaryHeap<Reverse<Alarm>> = BinaryHeap::new();
    loop {
        let now = Instant::now();
        while waiting.peek().is_some_and(|first| first.0.at <= now) {
            if let Some(Reverse(alarm)) = waiting.pop() {
                // A client that hung up in the meantime need not be woken.
                let _ = alarm.bell.send(());
            }
        }
        let next = match waiting.peek() {
            Some(first) => alarms.recv_timeout(first.0.at.saturating_duration_since(now)),
            None => alarms.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match next {
            Ok(alarm) => waiting.push(Reverse(alarm)),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use bakeoff_base::random::Random;

    use super::{Delay, Delayer, draw};

    #[test]
    fn draws_follow_their_distribution() {
        let mut random = Random::new(1);
        let mean = Duration::from_millis(10);
        let draws = 100_000_u32;
        let sum: Duration = (0..draws)
            .map(|_| draw(Delay::Exponential { mean }, &mut random, &[]))
            .sum();
        // The standard error of the mean is 0.3 %; the seed is fixed.
        assert!(
            (9_900..10_100).contains(&(sum / draws).as_micros()),
            "{sum:?}"
        );
        let seen: std::collections::BTreeSet<Duration> = (0..1000)
            .map(|_| draw(Delay::Recorded, &mut random, &[1, 2, 3]))
            .collect();
        assert_eq!(seen.len(), 3);
        assert_eq!(draw(Delay::Recorded, &mut random, &[]), Duration::ZERO);
    }

    #[test]
    fn a_log_normal_delay_has_its_quantiles() {
        let mut random = Random::new(1);
        let median = Duration::from_millis(10);
        let delay = Delay::LogNormal { median, sigma: 0.5 };
        let mut draws: Vec<u128> = (0..10_001)
            .map(|_| draw(delay, &mut random, &[]).as_micros())
            .collect();
        draws.sort_unstable();
        // p97.7 is two deviations up: e times the median. The standard errors are below 2 %.
        assert!((9_700..10_300).contains(&draws[5_000]), "{}", draws[5_000]);
        assert!((26_000..28_500).contains(&draws[9_772]), "{}", draws[9_772]);
    }

    #[tokio::test]
    async fn a_hold_ends_not_too_early() {
        let delayer = Delayer::new(Delay::Constant(Duration::from_micros(1500)), 1);
        let began = Instant::now();
        tokio::join!(delayer.hold(began, &[]), delayer.hold(began, &[]));
        assert!(began.elapsed() >= Duration::from_micros(1500));
    }
}
