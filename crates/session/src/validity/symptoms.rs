//! What figures of a step betray about how they came about: waits with a known cause, connections
//! that are not kept, connections that starve. Pure. A symptom is a note for the reader, not a
//! verdict; what makes a number unfair is [`crate::validity`]'s business.

use bakeoff_model::histogram::Histogram;
use bakeoff_model::load::{LoadInterval, MinMax};
use bakeoff_model::resource::Throttling;

/// A wait that the kernel causes, not the service: its name and where its times lie, ms.
struct Wait {
    cause: &'static str,
    from_ms: u64,
    to_ms: u64,
}

/// Linux delays an acknowledgement by 40 ms (`TCP_DELACK_MIN`) and repeats what was lost after at
/// least 200 ms (`TCP_RTO_MIN`).
const WAITS: [Wait; 2] = [
    Wait {
        cause: "delayed acknowledgements: a side that writes an answer in pieces without \
                TCP_NODELAY waits 40 ms",
        from_ms: 39,
        to_ms: 46,
    },
    Wait {
        cause: "retransmissions: a lost packet is sent again after 200 ms",
        from_ms: 198,
        to_ms: 216,
    },
];

/// Share of the times that a wait must have to be named.
const WAIT_SHARE_MIN: f64 = 0.005;
/// How much more crowded it must be than its surroundings of the same width.
const WAIT_CROWD_MIN: f64 = 4.0;
/// Period in which the kernel deals out a cgroup's quota, ns.
const PERIOD_NS: f64 = 1e8;
/// Share of the time that the contender must have been stalled for its quota: less does not show
/// in the 99th percentile.
const THROTTLED_MIN: f64 = 0.01;
/// Connections made anew per request above which they are not kept.
const RECONNECTS_MIN: f64 = 0.01;
/// Requests per connection below which fairness says nothing.
const FAIR_REQUESTS_MIN: u64 = 50;
/// How far connections may be apart.
const FAIR_RATIO_MAX: f64 = 2.0;

/// A step's figures that symptoms show in.
#[derive(Debug, Default)]
pub struct Figures {
    times: Histogram,
    requests: u64,
    reconnects: u64,
    per_connection: Option<MinMax>,
    throttling: Throttling,
}

impl Figures {
    /// Adds a slice; `before` and `after` are the contender's throttling, where it is known.
    pub fn add(
        &mut self,
        load: &LoadInterval,
        before: Option<Throttling>,
        after: Option<Throttling>,
    ) {
        self.times.merge(&load.service_time);
        self.requests += load.requests;
        self.reconnects += load.connections.reconnects;
        self.per_connection = load.requests_per_connection.or(self.per_connection);
        if let (Some(before), Some(after)) = (before, after) {
            let sum = &mut self.throttling;
            sum.periods += after.periods.saturating_sub(before.periods);
            sum.throttled_periods += after
                .throttled_periods
                .saturating_sub(before.throttled_periods);
            sum.throttled_ns += after.throttled_ns.saturating_sub(before.throttled_ns);
        }
    }

    /// Every symptom, a lower-case fragment each. `keep_alive` says that connections were to be
    /// kept.
    pub fn symptoms(&self, keep_alive: bool) -> Vec<String> {
        let waits = WAITS.iter().filter_map(|wait| self.wait(wait));
        let kept = self.unkept().filter(|_| keep_alive);
        waits
            .chain(self.throttled())
            .chain(kept)
            .chain(self.unfair())
            .collect()
    }

    fn wait(&self, wait: &Wait) -> Option<String> {
        const MS: u64 = 1_000_000;
        let width = wait.to_ms - wait.from_ms;
        let within = |from_ms: u64| {
            let (from, to) = (from_ms * MS, (from_ms + width) * MS - 1);
            as_f64(self.times.count_between(from, to))
        };
        let found = within(wait.from_ms);
        let around = within(wait.from_ms - width).max(within(wait.to_ms));
        let share = found / as_f64(self.times.count().max(1));
        (share >= WAIT_SHARE_MIN && found >= WAIT_CROWD_MIN * around.max(1.0)).then(|| {
            format!(
                "{:.1} % of the times are {} to {} ms, as of {}",
                share * 100.0,
                wait.from_ms,
                wait.to_ms,
                wait.cause
            )
        })
    }

    /// Who has used up the quota of a period waits for the next one.
    fn throttled(&self) -> Option<String> {
        let Throttling {
            periods,
            throttled_periods,
            throttled_ns,
        } = self.throttling;
        let share = as_f64(throttled_ns) / (as_f64(periods.max(1)) * PERIOD_NS);
        (share >= THROTTLED_MIN).then(|| {
            format!(
                "the CPU quota stalled the contender in {throttled_periods} of {periods} periods \
                 of 100 ms, {:.0} ms each, and so the slowest answers",
                as_f64(throttled_ns) / as_f64(throttled_periods.max(1)) / 1e6
            )
        })
    }

    fn unkept(&self) -> Option<String> {
        let share = as_f64(self.reconnects) / as_f64(self.requests.max(1));
        (share >= RECONNECTS_MIN && self.requests > 0).then(|| {
            format!(
                "keep-alive is not honoured: {} connections were made anew for {} requests",
                self.reconnects, self.requests
            )
        })
    }

    fn unfair(&self) -> Option<String> {
        let MinMax { min, max } = self.per_connection?;
        let apart = as_f64(max) > FAIR_RATIO_MAX * as_f64(min);
        (apart && max >= FAIR_REQUESTS_MIN).then(|| {
            format!("connections are not served alike: {min} requests on one, {max} on another")
        })
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts and times of a step stay below 2^53"
)]
fn as_f64(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use bakeoff_model::load::MinMax;
    use bakeoff_model::resource::Throttling;

    use super::Figures;

    const MS: u64 = 1_000_000;

    /// Figures with so many times of so many milliseconds.
    fn figures(times: &[(u64, u64)]) -> Figures {
        let mut figures = Figures::default();
        for &(count, ms) in times {
            figures.requests += count;
            for _ in 0..count {
                figures.times.record(ms * MS + MS / 2);
            }
        }
        figures
    }

    fn check(figures: &Figures, expect: &[&str]) {
        let found = figures.symptoms(true);
        assert_eq!(found.len(), expect.len(), "{found:?}");
        for (found, expect) in found.iter().zip(expect) {
            assert!(found.contains(expect), "{found}");
        }
    }

    #[test]
    fn waits_with_a_known_cause_are_named() {
        check(
            &figures(&[(900, 2), (100, 40)]),
            &["delayed acknowledgements"],
        );
        check(&figures(&[(900, 2), (30, 203)]), &["retransmissions"]);
        check(&figures(&[(900, 2), (3, 40)]), &[]);
        let spread: Vec<(u64, u64)> = (0..100).map(|ms| (10, ms)).collect();
        check(&figures(&spread), &[]);
    }

    #[test]
    fn what_connections_and_quotas_show_is_named() {
        let mut figures = figures(&[(1000, 2)]);
        figures.throttling = Throttling {
            periods: 100,
            throttled_periods: 50,
            throttled_ns: 50 * 25 * MS,
        };
        figures.reconnects = 500;
        figures.per_connection = Some(MinMax { min: 10, max: 90 });
        check(
            &figures,
            &[
                "50 of 100 periods of 100 ms, 25 ms each",
                "keep-alive",
                "not served alike",
            ],
        );
        assert_eq!(figures.symptoms(false).len(), 2);
        figures.throttling.throttled_ns = 50 * MS;
        assert_eq!(figures.symptoms(false).len(), 1);
    }
}
