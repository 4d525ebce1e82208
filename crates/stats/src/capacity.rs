//! The search for the highest rate that a service sustains, from trials that were met or missed:
//! the rate to try next, the current estimate, and when it is good enough. The search does not know
//! what a trial is, and what it has to meet.
//!
//! A Bayesian adaptive search, as in psychophysics (Watson and Pelli, "QUEST: A Bayesian Adaptive
//! Psychometric Method", Perception & Psychophysics 1983): the chance that a trial is met falls
//! with the logarithm of its rate, as a logistic curve around the capacity. The steepness is not
//! known either, and integrated out. The next trial uses the rate that the capacity is equally
//! likely to be above or below (King-Smith et al., "Efficient and Unbiased Modifications of the
//! QUEST Threshold Method", Vision Research 1994, who found that the mean or the median loses
//! little compared with looking ahead). Once the capacity is roughly known, trials alternate
//! between rates that are significantly below and above it: at the median all curves agree, so that
//! trials there do not show the steepness. Bisection would believe every trial, so a single stall
//! of the host would mislead it permanently.

use std::f64::consts::LN_2;

use bakeoff_base::number::length_as_f64;

use crate::sample::{Estimate, Interval, Sample};

/// Chance that a trial is missed at any rate: a stall of the host, a pause.
const MISSED_ANYHOW: f64 = 0.03;
/// Chance that a trial is met at any rate.
const MET_ANYHOW: f64 = 0.001;
/// Possible spreads of the curve: the logarithm of the rate over which the odds change by a factor
/// of e, all equally likely before the first trial.
const SPREADS: [f64; 6] = [0.001, 0.003, 0.01, 0.02, 0.04, 0.08];
/// Distance between capacities of the grid, as a logarithm: a quarter of a percent.
const RESOLUTION: f64 = 0.0025;
/// Minimum number of trials: fewer could all be lucky.
const TRIALS_MIN: usize = 6;
/// Distance of the quartiles, as a logarithm, at which a capacity is roughly known.
const ROUGHLY: f64 = 0.03;
/// Quantiles of the capacity that are then tried in turn.
const BELOW_AND_ABOVE: [f64; 2] = [0.1, 0.9];
/// Change of the rate from the first to the second trial in a search that starts near the capacity,
/// as a logarithm.
const NEAR: f64 = 0.1;
/// Confidence of intervals, including those of searches.
const CONFIDENCE: f64 = 0.95;
/// How often the lowest rate must be missed to conclude that the capacity is below it.
const LOWEST_MISSED: usize = 2;

/// The current knowledge about a capacity. Rates have any unit, the same everywhere.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    from_log: f64,
    to_log: f64,
    start_log: f64,
    /// Change of the rate from the first to the second trial, as a logarithm.
    step_log: f64,
    /// Logarithm of the posterior density for each capacity, from the lowest, and each spread, up
    /// to a constant.
    density_log: Vec<[f64; SPREADS.len()]>,
    /// Posterior density of each capacity over all spreads, up to a factor.
    weights: Vec<f64>,
    trials: Vec<Trial>,
}

/// A trial and its outcome.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trial {
    /// Rate of the trial.
    pub rate: f64,
    /// Whether the service met the objective.
    pub met: bool,
}

/// The conditions that end a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Enough {
    /// The 95 % credible interval reaches at most this share from its middle: 0.03 = 3 %.
    pub within: f64,
    /// Maximum number of trials.
    pub trials_at_most: usize,
}

/// Why a search is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// The interval is as narrow as requested.
    Narrow,
    /// There are no trials left.
    OutOfTrials,
    /// Even the highest rate was met.
    AboveRange,
    /// Even the lowest rate was missed.
    BelowRange,
}

impl Search {
    /// Returns a search between two rates that starts with the trial `start`; `None` unless `0 <
    /// from <= start <= to` and `from < to`, all of them finite.
    #[must_use]
    pub fn new(from: f64, to: f64, start: f64) -> Option<Self> {
        let sensible = from > 0.0 && from <= start && start <= to && from < to && to.is_finite();
        if !sensible {
            return None;
        }
        let (from_log, to_log) = (from.ln(), to.ln());
        let mut density_log = vec![[0.0; SPREADS.len()]];
        while from_log + length_as_f64(density_log.len() - 1) * RESOLUTION < to_log {
            density_log.push([0.0; SPREADS.len()]);
        }
        Some(Self {
            from_log,
            to_log,
            start_log: start.ln(),
            step_log: LN_2,
            weights: vec![1.0; density_log.len()],
            density_log,
            trials: Vec::new(),
        })
    }

    /// Returns the search with smaller first steps, because `start` is near the capacity that other
    /// processes of the service had. They do not make any capacity more likely: each process is a
    /// separate observation.
    #[must_use]
    pub fn near(self) -> Self {
        Self {
            step_log: NEAR,
            ..self
        }
    }

    /// Returns the trials so far, in order.
    #[must_use]
    pub fn trials(&self) -> &[Trial] {
        &self.trials
    }

    /// Returns the rate to try next.
    ///
    /// Starts at `start`, and until there is one trial of each kind, tries twice the last rate that
    /// was met, or a half, an eighth, a 128th of the start if it was missed, so that services are
    /// not flooded during the search. Near the capacity, the first step is a tenth, followed by
    /// growing steps both ways. After that the search tries the median, and once the capacity is
    /// roughly known, rates below and above it in turn.
    #[must_use]
    pub fn next_rate(&self) -> f64 {
        let met = self.trials.iter().filter(|trial| trial.met).count();
        let log = match (self.trials.last(), met, self.trials.len() - met) {
            (None, ..) => self.start_log,
            (Some(last), met, 0) => last.rate.ln() + LN_2.min(self.step_log_after(met)),
            (Some(last), 0, missed) => last.rate.ln() - self.step_log_after(missed),
            _ if self.quantile_log(0.75) - self.quantile_log(0.25) > ROUGHLY => {
                self.quantile_log(0.5)
            }
            _ => self.quantile_log(BELOW_AND_ABOVE[self.trials.len() % 2]),
        };
        log.clamp(self.from_log, self.to_log).exp()
    }

    /// Returns the next step after this number of trials with the same outcome.
    fn step_log_after(&self, trials: usize) -> f64 {
        self.step_log * length_as_f64(trials - 1).exp2()
    }

    /// Adds the outcome of a trial.
    pub fn add(&mut self, trial: Trial) {
        let at = trial.rate.ln();
        let mut capacity_log = self.from_log;
        for densities in &mut self.density_log {
            for (density_log, spread) in densities.iter_mut().zip(SPREADS) {
                let met = met_chance((at - capacity_log) / spread);
                let chance = if trial.met { met } else { 1.0 - met };
                *density_log += chance.ln();
            }
            capacity_log += RESOLUTION;
        }
        let all = self.density_log.iter().flatten();
        let highest = all.copied().fold(f64::NEG_INFINITY, f64::max);
        for (weight, densities) in self.weights.iter_mut().zip(&self.density_log) {
            *weight = densities.iter().map(|log| (log - highest).exp()).sum();
        }
        self.trials.push(trial);
    }

    /// Returns the median of the capacity and its 95 % credible interval, which assumes the model;
    /// its `runs` is 1, because a search covers one process.
    #[must_use]
    pub fn capacity(&self) -> Estimate {
        Estimate {
            point: self.quantile_log(0.5).exp(),
            interval: Some(Interval {
                low: self.quantile_log(0.025).exp(),
                high: self.quantile_log(0.975).exp(),
            }),
            runs: 1,
        }
    }

    /// Whether and why no further trial is needed.
    #[must_use]
    pub fn ended(&self, enough: &Enough) -> Option<StopReason> {
        let is_out = self.trials.len() >= enough.trials_at_most;
        let trials_at = |log: f64| {
            let there = |trial: &&Trial| (trial.rate.ln() - log).abs() < RESOLUTION;
            self.trials.iter().filter(there).count()
        };
        let met = self.trials.iter().filter(|trial| trial.met).count();
        if met == self.trials.len() && trials_at(self.to_log) > 0 {
            return Some(StopReason::AboveRange);
        }
        if met == 0 {
            let is_below = trials_at(self.from_log) >= LOWEST_MISSED;
            let out = is_out.then_some(StopReason::OutOfTrials);
            return if is_below {
                Some(StopReason::BelowRange)
            } else {
                out
            };
        }
        let width_log = self.quantile_log(0.975) - self.quantile_log(0.025);
        let is_narrow = width_log <= 2.0 * enough.within.ln_1p();
        if is_narrow && self.trials.len() >= TRIALS_MIN {
            return Some(StopReason::Narrow);
        }
        is_out.then_some(StopReason::OutOfTrials)
    }

    /// Returns the highest rate that was met below the lowest that was missed, which is the result
    /// of going up in steps and stopping at the first failure. `None` if no rate below the lowest
    /// miss was met.
    #[must_use]
    pub fn last_before_failure(&self) -> Option<f64> {
        let missed = self.trials.iter().filter(|trial| !trial.met);
        let first = missed.map(|trial| trial.rate).fold(f64::INFINITY, f64::min);
        let met = self.trials.iter().filter(|trial| trial.met);
        let below = met.map(|trial| trial.rate).filter(|rate| *rate < first);
        below.reduce(f64::max)
    }

    /// Returns a quantile of the logarithm of the capacity, interpolated.
    fn quantile_log(&self, share: f64) -> f64 {
        let wanted = share * self.weights.iter().sum::<f64>();
        let (mut sum, mut log) = (0.0, self.from_log - RESOLUTION / 2.0);
        for weight in &self.weights {
            if sum + weight >= wanted {
                return log + RESOLUTION * (wanted - sum) / weight;
            }
            sum += weight;
            log += RESOLUTION;
        }
        log
    }
}

/// Returns the capacity over fresh processes from the results of their searches: the geometric mean
/// with Student's 95 % interval of the logarithms. It is never narrower than the intervals of the
/// searches imply, because processes that agree by luck do not show their noise. The interval of a
/// single process is that of its search. `None` without any process.
#[must_use]
pub fn over_processes(found: &[Estimate]) -> Option<Estimate> {
    if let [only] = found {
        return Some(*only);
    }
    let rates = found.iter().map(|one| one.point).collect();
    let over = Sample::new(rates)?.geometric(CONFIDENCE)?;
    let reaches = found.iter().filter_map(|one| {
        let ends = one.interval?;
        Some((ends.high / ends.low).ln() / 2.0)
    });
    let squares: f64 = reaches.map(|reach| reach.powi(2)).sum();
    let least = squares.sqrt() / length_as_f64(found.len());
    let interval = over.interval.map(|ends| Interval {
        low: ends.low.min(over.point * (-least).exp()),
        high: ends.high.max(over.point * least.exp()),
    });
    Some(Estimate { interval, ..over })
}

/// Returns the chance that a trial is met at this number of spreads above the capacity.
fn met_chance(distance: f64) -> f64 {
    let curve = 1.0 / (1.0 + distance.exp());
    MET_ANYHOW + (1.0 - MISSED_ANYHOW - MET_ANYHOW) * curve
}

#[cfg(test)]
mod tests {
    use super::{Enough, Search, StopReason, Trial, over_processes};
    use crate::sample::{Estimate, Interval};

    const ENOUGH: Enough = Enough {
        within: 0.03,
        trials_at_most: 30,
    };

    /// Searches for the capacity of a service that meets up to `capacity`, except in the trials of
    /// these indices.
    fn search(capacity: f64, stalls: &[usize]) -> (Search, StopReason) {
        let mut search = Search::new(1.0, 4000.0, 500.0).unwrap();
        loop {
            if let Some(ended) = search.ended(&ENOUGH) {
                return (search, ended);
            }
            let rate = search.next_rate();
            let stalls = stalls.contains(&search.trials().len());
            let met = rate <= capacity && !stalls;
            search.add(Trial { rate, met });
        }
    }

    #[test]
    fn a_service_without_noise_is_found_in_a_few_trials() {
        for capacity in [3.0, 70.0, 499.0, 501.0, 777.0, 1500.0, 3900.0] {
            let (search, ended) = search(capacity, &[]);
            let found = search.capacity();
            assert_eq!(ended, StopReason::Narrow, "{capacity}");
            assert!(
                found.interval.unwrap().contains(capacity),
                "{capacity}: {found:?}"
            );
            assert!(
                (found.point / capacity - 1.0).abs() < 0.03,
                "{capacity}: {found:?}"
            );
            let trials = search.trials().len();
            assert!(trials <= 16, "{capacity}: {trials} trials");
            let last = search.last_before_failure().unwrap();
            assert!(last <= capacity, "{capacity}: {last}");
        }
    }

    #[test]
    fn one_stall_does_not_mislead_for_good() {
        for stall in 0..8 {
            let (search, ended) = search(777.0, &[stall]);
            let found = search.capacity();
            assert_eq!(ended, StopReason::Narrow, "{stall}");
            assert!(
                found.interval.unwrap().contains(777.0),
                "{stall}: {found:?}"
            );
        }
    }

    #[test]
    fn what_lies_beyond_the_range_is_said_to() {
        let ended = |capacity| search(capacity, &[]).1;
        assert_eq!(ended(5000.0), StopReason::AboveRange);
        assert_eq!(ended(0.5), StopReason::BelowRange);
        let (search, _) = search(0.5, &[]);
        assert_eq!(search.last_before_failure(), None);
        let rates: Vec<f64> = search.trials().iter().map(|trial| trial.rate).collect();
        assert!(rates.len() <= 6, "{rates:?}");
    }

    #[test]
    fn a_search_near_the_capacity_needs_few_trials() {
        for capacity in [300.0, 450.0, 480.0, 500.0, 530.0, 800.0] {
            let mut search = Search::new(1.0, 4000.0, 500.0).unwrap().near();
            for _ in 0..6 {
                let rate = search.next_rate();
                let met = rate <= capacity;
                search.add(Trial { rate, met });
            }
            let found = search.capacity();
            assert!(
                (found.point / capacity - 1.0).abs() < 0.05,
                "{capacity}: {found:?}"
            );
        }
    }

    #[test]
    fn processes_are_one_sample_of_logarithms() {
        let of = |point: f64, share: f64| Estimate {
            point,
            interval: Some(Interval {
                low: point / share,
                high: point * share,
            }),
            runs: 1,
        };
        assert_eq!(over_processes(&[]), None);
        assert_eq!(over_processes(&[of(7.0, 2.0)]), Some(of(7.0, 2.0)));
        // SciPy: exp(t.interval(0.95, 2, mean(x), sem(x))) of x = log([80, 100, 125]).
        let found = over_processes(&[of(80.0, 1.01), of(100.0, 1.01), of(125.0, 1.01)]).unwrap();
        let ends = found.interval.unwrap();
        assert_eq!(found.runs, 3);
        let near = |value: f64, expect: f64| (value / expect - 1.0).abs() < 1e-6;
        assert!(near(found.point, 100.0), "{found:?}");
        assert!(
            near(ends.high, 174.075_567) && near(ends.low, 57.446_316),
            "{ends:?}"
        );
        // Equal ones: 4 searches halve the interval of one.
        let ends = over_processes(&[of(100.0, 1.21); 4])
            .unwrap()
            .interval
            .unwrap();
        assert!(
            near(ends.high, 110.0) && near(ends.low, 100.0 / 1.1),
            "{ends:?}"
        );
    }

    #[test]
    fn a_range_is_a_range() {
        for (from, to, start) in [
            (0.0, 10.0, 1.0),
            (1.0, 10.0, 11.0),
            (5.0, 10.0, 1.0),
            (1.0, 1.0, 1.0),
            (1.0, f64::INFINITY, 2.0),
            (f64::NAN, 10.0, 2.0),
        ] {
            assert_eq!(Search::new(from, to, start), None, "{from} {to} {start}");
        }
    }
}
