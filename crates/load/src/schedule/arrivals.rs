//! The times at which requests of open load are due: an ascending sequence of times since the
//! window opened. Pure and seeded, so that it can be tested without a clock and repeated exactly.

use bakeoff_model::load::{LoadPart, Pace, RecordedRequest, StepSpec};

use crate::shard::Shard;
use bakeoff_base::random::Random;

/// The open-load arrivals of a step, for one part of the load. At a stated rate they are every n-th
/// of the whole schedule, so that the parts interleave like one load generator; each part has its
/// own Poisson process, and their sum is one again.
#[derive(Debug, Clone)]
pub(crate) struct Arrivals {
    curve: Curve,
    part: LoadPart,
    /// Connections of all parts.
    connections: u64,
    /// Number of requests that the part has had.
    next: u64,
    /// Requests of all parts after which the arrivals end.
    requests_max: u64,
    /// Time after which the arrivals end, ns.
    duration_ns: u64,
    /// When the request after the last one would have been due, ns, if nothing is left.
    over_ns: Option<u64>,
}

#[derive(Debug, Clone)]
enum Curve {
    /// Distance, ns.
    Constant(f64),
    /// Mean distance and the time of the last request, ns.
    Poisson {
        mean_ns: f64,
        at_ns: f64,
        random: Random,
    },
    /// Rate per ns at the start, and its change per ns.
    Ramp { from: f64, slope: f64 },
    /// Times and requests, and how many times as fast they are.
    Recorded {
        requests: Vec<RecordedRequest>,
        speed: f64,
    },
}

/// A request that is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Due {
    /// The time, ns.
    pub(crate) at_ns: u64,
    /// The index of the request; `None` if it is the next one of its slot.
    pub(crate) request: Option<u32>,
}

impl Arrivals {
    /// Returns the arrivals of a part of a step; `None` for closed load, which has none.
    pub(crate) fn new(
        step: &StepSpec,
        recorded: &[RecordedRequest],
        part: LoadPart,
        seed: u64,
    ) -> Option<Self> {
        let connections = u64::from(step.connections);
        let duration_ns = step.duration_ns;
        let curve = match step.pace {
            Pace::Closed | Pace::Users { .. } => return None,
            Pace::Constant { rate_per_s } => Curve::Constant(1e9 / rate_per_s),
            Pace::Poisson { rate_per_s } => {
                // A part without connections has no requests; its end must be finite.
                let own = part.share_of(connections).max(1);
                Curve::Poisson {
                    mean_ns: 1e9 / rate_per_s * (connections as f64 / own as f64),
                    at_ns: 0.0,
                    random: Random::new(seed),
                }
            }
            Pace::Ramp {
                from_per_s,
                to_per_s,
            } => Curve::Ramp {
                from: from_per_s / 1e9,
                slope: (to_per_s - from_per_s) / 1e9 / duration_ns as f64,
            },
            Pace::Recorded { speed } => Curve::Recorded {
                requests: recorded.to_vec(),
                speed,
            },
        };
        Some(Self {
            curve,
            part,
            connections,
            next: 0,
            requests_max: match step.requests_max {
                0 => u64::MAX,
                bound => bound,
            },
            duration_ns,
            over_ns: None,
        })
    }
}

impl Iterator for Arrivals {
    /// A request with its time from the start of the window.
    type Item = Due;

    fn next(&mut self) -> Option<Due> {
        // Missing requests come after the last one of all.
        let number = self.part.request(self.next, self.connections);
        let number = number.unwrap_or(u64::MAX).min(self.requests_max);
        let at_ns = self.draw(number);
        match at_ns {
            Some(at_ns) if number < self.requests_max => {
                self.next += 1;
                Some(Due {
                    at_ns,
                    request: self.request(number),
                })
            }
            _ => {
                self.over_ns
                    .get_or_insert(at_ns.unwrap_or(self.duration_ns));
                None
            }
        }
    }
}

impl Arrivals {
    /// Returns which request has this number, if it is recorded.
    fn request(&self, number: u64) -> Option<u32> {
        match &self.curve {
            Curve::Recorded { requests, .. } => {
                let index = usize::try_from(number).ok()?;
                requests.get(index).map(|one| one.request)
            }
            Curve::Constant(_) | Curve::Poisson { .. } | Curve::Ramp { .. } => None,
        }
    }

    /// Returns when the request of this number is due, if that is within the duration; for a
    /// Poisson process the part's next one.
    fn draw(&mut self, number: u64) -> Option<u64> {
        let index = number as f64;
        let at_ns = match &mut self.curve {
            Curve::Constant(distance_ns) => index * *distance_ns,
            Curve::Poisson {
                mean_ns,
                at_ns,
                random,
            } => {
                *at_ns += random.exponential() * *mean_ns;
                *at_ns
            }
            Curve::Ramp { from, slope } => {
                // The number of requests until t is from * t + slope * t^2 / 2; the n-th one is due
                // when this reaches n + 1/2. Written without a difference of near equals.
                let area = index + 0.5;
                let root = *from * *from + 2.0 * *slope * area;
                2.0 * area / (*from + root.max(0.0).sqrt())
            }
            Curve::Recorded { requests, speed } => {
                let index = usize::try_from(number).ok()?;
                requests.get(index)?.at_ns as f64 / *speed
            }
        };
        whole(at_ns).filter(|at_ns| *at_ns < self.duration_ns)
    }
}

/// Returns whole nanoseconds; `None` for an invalid time (a rate of 0, an exhausted ramp).
fn whole(at_ns: f64) -> Option<u64> {
    #[expect(clippy::cast_possible_truncation, reason = "bounded by the comparison")]
    (0.0..9.0e18)
        .contains(&at_ns)
        .then_some(at_ns as i64 as u64)
}

/// The arrivals that one thread sends, of those of its part. Request n belongs to connection n
/// modulo all, so that threads need not communicate and the union is exactly the whole.
#[derive(Debug, Clone)]
pub(crate) struct ThreadArrivals {
    arrivals: Arrivals,
    index: u64,
    /// Connections of the part.
    connections: u64,
    threads: u64,
    thread: u64,
    due: Option<Due>,
}

impl ThreadArrivals {
    /// Returns the share of a thread among those that own the connections of the part in turn.
    pub(crate) fn new(arrivals: Arrivals, shard: Shard) -> Self {
        let connections = arrivals.part.share_of(arrivals.connections);
        let mut share = Self {
            arrivals,
            index: 0,
            connections: connections.max(1),
            threads: u64::from(shard.threads),
            thread: u64::from(shard.thread),
            due: None,
        };
        share.advance();
        share
    }

    /// Returns the next request that is due; `None` if there is none left.
    #[inline]
    pub(crate) fn due(&self) -> Option<Due> {
        self.due
    }

    /// Returns when the request after the last one would have been due, if nothing is left, ns
    /// since the window opened, at most the duration.
    pub(crate) fn over_ns(&self) -> Option<u64> {
        self.arrivals.over_ns
    }

    /// Advances to the request after the next one.
    pub(crate) fn advance(&mut self) {
        loop {
            self.due = self.arrivals.next();
            let owner = self.index % self.connections % self.threads;
            self.index += 1;
            if self.due.is_none() || owner == self.thread {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use bakeoff_model::load::{LoadPart, LoadSpec, Pace, RecordedRequest, StepSpec};
    use proptest::prelude::*;

    use super::{Arrivals, Due, ThreadArrivals};
    use crate::shard::Shard;

    const SECOND: u64 = 1_000_000_000;

    fn step(pace: Pace, connections: u32, seconds: u64, requests_max: u64) -> StepSpec {
        StepSpec {
            connections,
            duration_ns: seconds * SECOND,
            pace,
            warm_up: false,
            requests_max,
            close_after: false,
            ..StepSpec::default()
        }
    }

    fn arrivals(pace: Pace, seconds: u64, seed: u64) -> Arrivals {
        Arrivals::new(&step(pace, 1, seconds, 0), &[], LoadPart::WHOLE, seed).unwrap()
    }

    fn times(arrivals: impl Iterator<Item = Due>) -> Vec<u64> {
        arrivals.map(|due| due.at_ns).collect()
    }

    /// Kolmogorov-Smirnov distance of the distances between requests to the exponential
    /// distribution, times the square root of their number.
    fn ks_exponential(times: &[u64], rate_per_s: f64) -> f64 {
        let mut last = 0;
        let mut distances = Vec::new();
        for &at in times {
            distances.push((at - last) as f64 / 1e9);
            last = at;
        }
        distances.sort_by(f64::total_cmp);
        let n = distances.len() as f64;
        let mut largest = 0.0_f64;
        for (index, distance) in distances.iter().enumerate() {
            let truth = 1.0 - (-rate_per_s * distance).exp();
            let below = (truth - index as f64 / n).abs();
            let above = ((index + 1) as f64 / n - truth).abs();
            largest = largest.max(below).max(above);
        }
        largest * n.sqrt()
    }

    #[test]
    fn poisson_distances_fit_the_exponential_distribution() {
        // 1.95 is the critical value at 0.1 % (asymptotic Kolmogorov distribution).
        for seed in 0..20 {
            let rate_per_s = 20_000.0;
            let times = times(arrivals(Pace::Poisson { rate_per_s }, 5, seed));
            let expected = rate_per_s * 5.0;
            assert!((times.len() as f64 - expected).abs() < 4.0 * expected.sqrt());
            let distance = ks_exponential(&times, rate_per_s);
            assert!(distance < 1.95, "seed {seed}: {distance}");
        }
    }

    #[test]
    fn the_test_of_fit_tells_other_distances_apart() {
        let rate_per_s = 20_000.0;
        let times = times(arrivals(Pace::Constant { rate_per_s }, 5, 0));
        assert!(ks_exponential(&times, 20_000.0) > 10.0);
    }

    #[test]
    fn constant_and_ramp_offer_what_was_specified() {
        let constant = times(arrivals(Pace::Constant { rate_per_s: 1000.0 }, 2, 0));
        assert_eq!(constant.len(), 2000);
        assert_eq!(constant[1500], 1_500_000_000);
        for (from_per_s, to_per_s) in [(0.0, 1000.0), (1000.0, 0.0), (300.0, 700.0)] {
            let pace = Pace::Ramp {
                from_per_s,
                to_per_s,
            };
            let ramp = times(arrivals(pace, 10, 0));
            assert_eq!(ramp.len(), 5000, "{pace:?}");
            assert!(ramp.is_sorted(), "{pace:?}");
            let half = ramp.partition_point(|&at| at < 5 * SECOND) as f64;
            let truth = 5.0 * (from_per_s + (from_per_s + to_per_s) / 2.0) / 2.0;
            assert!(
                (half - truth).abs() <= 1.0,
                "{pace:?}: {half} instead of {truth}"
            );
        }
    }

    #[test]
    fn the_shares_of_all_threads_are_the_schedule() {
        let pace = Pace::Poisson { rate_per_s: 500.0 };
        for (connections, threads) in [(1, 1), (3, 2), (7, 3), (2, 2), (64, 5)] {
            let mut found = Vec::new();
            for thread in 0..threads {
                let step = step(pace, connections, 4, 0);
                let shard = Shard {
                    thread,
                    threads,
                    part: LoadPart::WHOLE,
                };
                let all = Arrivals::new(&step, &[], LoadPart::WHOLE, 7).unwrap();
                let mut share = ThreadArrivals::new(all, shard);
                while let Some(due) = share.due() {
                    found.push(due.at_ns);
                    share.advance();
                }
            }
            found.sort_unstable();
            assert_eq!(found, times(arrivals(pace, 4, 7)));
        }
    }

    #[test]
    fn recorded_requests_are_due_at_their_times_in_all_parts_together() {
        let recorded = [(0, 1), (0, 0), (3, 2), (3, 1), (9, 0)];
        let recorded = recorded.map(|(at_s, request)| RecordedRequest {
            at_ns: at_s * SECOND,
            request,
        });
        let step = step(Pace::Recorded { speed: 2.0 }, 3, 4, 0);
        let mut all: Vec<Due> = Vec::new();
        for index in 0..2 {
            let part = LoadPart { index, of: 2 };
            all.extend(Arrivals::new(&step, &recorded, part, 0).unwrap());
        }
        all.sort_unstable();
        let due = |at_ns: u64, request: u32| Due {
            at_ns,
            request: Some(request),
        };
        let half = 3 * SECOND / 2;
        // The last one is due after the end.
        assert_eq!(all, [due(0, 0), due(0, 1), due(half, 1), due(half, 2)]);
    }

    #[test]
    fn nothing_is_due_at_a_rate_of_0() {
        let ramp = Pace::Ramp {
            from_per_s: 0.0,
            to_per_s: 0.0,
        };
        assert_eq!(arrivals(ramp, 1, 0).count(), 0);
        assert_eq!(arrivals(Pace::Poisson { rate_per_s: 0.0 }, 1, 0).count(), 0);
        let pace = Pace::Constant { rate_per_s: 1e6 };
        let bounded = Arrivals::new(&step(pace, 1, 1, 10), &[], LoadPart::WHOLE, 0).unwrap();
        assert_eq!(bounded.count(), 10);
    }

    /// The arrivals of each part, and when the last of them are over.
    fn of_parts(step: &StepSpec, of: u32) -> Vec<(Vec<u64>, u64)> {
        let whole = LoadSpec {
            seed: 7,
            ..LoadSpec::default()
        };
        let parts = whole.parts(of).into_iter().map(|spec| {
            let mut arrivals = Arrivals::new(step, &[], spec.own_part(), spec.seed).unwrap();
            let times = times(arrivals.by_ref());
            (times, arrivals.over_ns.unwrap())
        });
        parts.collect()
    }

    #[test]
    fn a_part_of_a_poisson_process_is_one_at_its_share_of_the_rate() {
        let rate_per_s = 20_000.0;
        let step = step(Pace::Poisson { rate_per_s }, 5, 5, 0);
        let parts = of_parts(&step, 3);
        let mut all: Vec<u64> = Vec::new();
        for ((times, _), share) in parts.into_iter().zip([0.4, 0.4, 0.2]) {
            let distance = ks_exponential(&times, rate_per_s * share);
            assert!(distance < 1.95, "{distance}");
            all.extend(times);
        }
        all.sort_unstable();
        let distance = ks_exponential(&all, rate_per_s);
        assert!(distance < 1.95, "together: {distance}");
    }

    #[test]
    fn a_part_without_connections_has_no_requests_and_an_end() {
        for (pace, requests_max, over_s) in [
            (Pace::Constant { rate_per_s: 10.0 }, 0, 4..=4),
            (Pace::Constant { rate_per_s: 10.0 }, 10, 1..=1),
            (Pace::Poisson { rate_per_s: 10.0 }, 10, 0..=3),
        ] {
            let step = step(pace, 2, 4, requests_max);
            let (times, over_ns) = of_parts(&step, 3).remove(2);
            assert!(times.is_empty(), "{pace:?}");
            assert!(over_s.contains(&(over_ns / SECOND)), "{pace:?}: {over_ns}");
        }
    }

    proptest! {
        #[test]
        fn the_arrivals_of_all_parts_are_the_schedule(
            of in 1_u32..40,
            connections in 1_u32..60,
            rate_per_s in 0.0..3_000.0_f64,
            to_per_s in 0.0..3_000.0_f64,
            is_ramp in any::<bool>(),
            requests_max in prop_oneof![Just(0_u64), 1_u64..5_000],
        ) {
            let pace = match is_ramp {
                true => Pace::Ramp { from_per_s: rate_per_s, to_per_s },
                false => Pace::Constant { rate_per_s },
            };
            let step = step(pace, connections, 2, requests_max);
            let whole = of_parts(&step, 1).remove(0);
            let mut all = Vec::new();
            for (times, over_ns) in of_parts(&step, of) {
                prop_assert!(times.is_sorted());
                prop_assert_eq!(over_ns, whole.1);
                all.extend(times);
            }
            all.sort_unstable();
            prop_assert_eq!(all, whole.0);
        }

        #[test]
        fn bounded_poisson_processes_have_exactly_their_requests(
            of in 1_u32..40,
            connections in 1_u32..60,
            requests_max in 1_u64..2_000,
        ) {
            let step = step(Pace::Poisson { rate_per_s: 1e5 }, connections, 2, requests_max);
            let count: usize = of_parts(&step, of).iter().map(|(times, _)| times.len()).sum();
            prop_assert_eq!(count as u64, requests_max);
        }
    }
}
