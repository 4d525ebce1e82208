//! A search for the capacity of one process, by all of its objectives at once: every trial says
//! something about each of them. Pure; it does not know what sends the trials, so that `run` and
//! `load` search alike.

use bakeoff_base::problem::Problem;
use bakeoff_model::load::LoadInterval;
use bakeoff_model::load::histogram::Histogram;
use bakeoff_model::record::totals::Totals;
use bakeoff_model::suite::capacity::{
    Capacity, CapacityRange, CapacityRecord, Purpose, Rates, SearchEnd, TrialOutcome, TrialRecord,
    TrialVerdict,
};
use bakeoff_model::suite::slo::{Served, Slo};
use bakeoff_stats::{Enough, Search, StopReason, Trial};
use bakeoff_validity::{JudgedSlice, disturbance};

/// Disturbed trials at the same rate after which a search is given up.
const DISTURBED_MAX: u32 = 3;
/// The range of a search, as shares of the closed-load rate: open load rarely reaches more than
/// this, and a service that meets its objectives only at a thousandth of the rate does not meet
/// them.
const RANGE: (f64, f64) = (0.001, 4.0);
/// The first trial, as a share of the closed-load rate.
const START: f64 = 0.5;

/// The measurement of a trial.
#[derive(Debug)]
pub struct Measured {
    served: Served,
    disturbance: Option<String>,
}

impl Measured {
    /// Sums the slices of a step of open load.
    #[must_use]
    pub fn of(slices: &[(JudgedSlice, &LoadInterval)]) -> Self {
        let loads = || slices.iter().map(|(_, load)| *load);
        let totals: Totals = loads().collect();
        let times = loads().flat_map(|load| [load.stated_times(), &load.censored]);
        Self {
            served: Served {
                successes: totals.requests,
                failures: totals.failed(),
                times: Histogram::sum(times),
            },
            disturbance: disturbance(slices),
        }
    }

    fn verdict(&self, slo: &Slo) -> TrialVerdict {
        let met = slo.judge(&self.served);
        let outcome = match (met.all, &self.disturbance) {
            (true, _) => TrialOutcome::Met,
            (false, None) => TrialOutcome::Missed,
            (false, Some(_)) => TrialOutcome::Disturbed,
        };
        let is_disturbed = outcome == TrialOutcome::Disturbed;
        TrialVerdict {
            slo: slo.clone(),
            outcome,
            found: met.found,
            disturbance: self.disturbance.clone().filter(|_| is_disturbed),
            capacity: None,
        }
    }
}

/// The search of one process.
#[derive(Debug)]
pub struct CapacitySearch {
    /// How far the interval of a search may reach, as a share.
    within: f64,
    /// Trials at most, over all objectives; and if the capacity is near that of former runs.
    trials_at_most: [usize; 2],
    /// One for each objective.
    tracks: Vec<Track>,
    /// Steps before the first trial.
    steps: usize,
    /// Trials so far, confirmations too.
    trials: usize,
    /// Trials of the search so far, disturbed ones too.
    searched: usize,
    /// Trials of the search that counted for an objective.
    turn: usize,
}

/// The search by one objective.
#[derive(Debug)]
struct Track {
    slo: Slo,
    search: Search,
    /// Former runs found a capacity.
    has_former: bool,
    /// Disturbed trials since the last one that counts, and what disturbed the last of them.
    disturbed: u32,
    disturbance: Option<String>,
}

impl CapacitySearch {
    /// A search that starts after this number of `steps`, the last of which was closed load and got
    /// `closed_per_s`; at the rate `to_confirm` of each objective that has one.
    ///
    /// # Errors
    /// The closed load got nothing, or nothing that the stated rates have room for: a sentence.
    pub fn new(
        capacity: &Capacity,
        steps: usize,
        closed_per_s: f64,
        to_confirm: &[(Slo, f64)],
    ) -> Result<Self, Problem> {
        if closed_per_s <= 0.0 {
            return Err("no request of the closed load before the search succeeded".into());
        }
        let rates = capacity.rates.unwrap_or(Rates {
            from: closed_per_s * RANGE.0,
            to: closed_per_s * RANGE.1,
        });
        let track = |slo: &Slo| -> Result<Track, Problem> {
            let former = to_confirm.iter().find(|(of, _)| of == slo);
            let start = former.map_or(closed_per_s * START, |(_, rate)| *rate);
            let start = start.max(rates.from).min(rates.to);
            let search = Search::new(rates.from, rates.to, start);
            let why = || format!("nothing lies between {}/s and {}/s", rates.from, rates.to);
            let search = search.ok_or_else(why)?;
            Ok(Track {
                slo: slo.clone(),
                search: match former {
                    Some(_) => search.near(),
                    None => search,
                },
                has_former: former.is_some(),
                disturbed: 0,
                disturbance: None,
            })
        };
        let tracks: Result<Vec<Track>, Problem> = capacity.slos.iter().map(track).collect();
        Ok(Self {
            within: capacity.within,
            trials_at_most: [capacity.trials_at_most, capacity.trials_near()]
                .map(|trials| usize::try_from(trials).unwrap_or(usize::MAX)),
            tracks: tracks?,
            steps,
            trials: 0,
            searched: 0,
            turn: 0,
        })
    }

    /// The step of the next trial, among all steps.
    #[must_use]
    pub fn next_step(&self) -> usize {
        self.steps + self.trials
    }

    /// The rate of the next trial of the search; `None` when all of it is over.
    #[must_use]
    pub fn next_rate(&self) -> Option<f64> {
        let is_open = |track: &&Track| self.ended(track).is_none();
        let open: Vec<&Track> = self.tracks.iter().filter(is_open).collect();
        // In turn, so that the first one does not take all trials; the same one again while it is
        // disturbed.
        let track = open.get(self.turn % open.len().max(1))?;
        Some(track.search.next_rate())
    }

    /// Takes a trial at the rate that was asked for.
    pub fn take(&mut self, rate_per_s: f64, measured: &Measured) -> TrialRecord {
        let step = self.next_step();
        self.trials += 1;
        self.searched += 1;
        let tracks = self.tracks.iter_mut();
        let verdicts = tracks.map(|track| track.take(rate_per_s, measured));
        let verdicts: Vec<TrialVerdict> = verdicts.collect();
        let counts = |verdict: &TrialVerdict| verdict.outcome != TrialOutcome::Disturbed;
        self.turn += usize::from(verdicts.iter().any(counts));
        TrialRecord {
            step,
            purpose: Purpose::Search,
            rate_per_s,
            verdicts,
        }
    }

    /// Takes a trial that held what former runs found for an objective, the first of its search.
    pub fn confirm(&mut self, slo: &Slo, rate_per_s: f64, measured: &Measured) -> TrialRecord {
        let step = self.next_step();
        self.trials += 1;
        let track = self.tracks.iter_mut().find(|track| track.slo == *slo);
        let verdict = match track {
            Some(track) => track.take(rate_per_s, measured),
            None => measured.verdict(slo),
        };
        TrialRecord {
            step,
            purpose: Purpose::Confirmation,
            rate_per_s,
            verdicts: vec![TrialVerdict {
                capacity: None,
                ..verdict
            }],
        }
    }

    /// Returns the result for each objective.
    #[must_use]
    pub fn found(&self) -> Vec<CapacityRecord> {
        let found = self.tracks.iter().map(|track| {
            let ended = self.ended(track).unwrap_or(SearchEnd::OutOfTrials);
            let is_disturbed = ended == SearchEnd::Disturbed;
            let disturbance = track.disturbance.clone().filter(|_| is_disturbed);
            let met = track.search.trials().iter().any(|trial| trial.met);
            let has_capacity = matches!(ended, SearchEnd::Narrow | SearchEnd::OutOfTrials) && met;
            CapacityRecord {
                slo: track.slo.clone(),
                ended,
                capacity: has_capacity.then(|| track.capacity()),
                last_before_failure_per_s: track.search.last_before_failure(),
                trials: u32::try_from(track.search.trials().len()).unwrap_or(u32::MAX),
                disturbance,
            }
        });
        found.collect()
    }

    fn ended(&self, track: &Track) -> Option<SearchEnd> {
        if track.disturbed >= DISTURBED_MAX {
            return Some(SearchEnd::Disturbed);
        }
        // A process that is not like the former ones is searched for as long as any.
        let [trials, trials_near] = self.trials_at_most;
        let is_near = track.has_former && track.steps_to_a_change() <= trials_near / 2;
        let enough = Enough {
            within: self.within,
            trials_at_most: if is_near { trials_near } else { trials },
        };
        let ended = track.search.ended(&enough).map(|ended| match ended {
            StopReason::Narrow => SearchEnd::Narrow,
            StopReason::OutOfTrials => SearchEnd::OutOfTrials,
            StopReason::AboveRange => SearchEnd::AboveRange,
            StopReason::BelowRange => SearchEnd::BelowRange,
        });
        let is_out = self.searched >= enough.trials_at_most;
        ended.or(is_out.then_some(SearchEnd::OutOfTrials))
    }
}

impl Track {
    /// The number of trials before the first one with another outcome than theirs.
    fn steps_to_a_change(&self) -> usize {
        let trials = self.search.trials();
        let like_first = |trial: &&Trial| trials[0].met == trial.met;
        trials.iter().take_while(like_first).count()
    }

    fn take(&mut self, rate: f64, measured: &Measured) -> TrialVerdict {
        let mut verdict = measured.verdict(&self.slo);
        match verdict.outcome {
            TrialOutcome::Disturbed => {
                self.disturbed += 1;
                self.disturbance.clone_from(&verdict.disturbance);
            }
            outcome => {
                self.disturbed = 0;
                let met = outcome == TrialOutcome::Met;
                self.search.add(Trial { rate, met });
            }
        }
        verdict.capacity = Some(self.capacity());
        verdict
    }

    fn capacity(&self) -> CapacityRange {
        let found = self.search.capacity();
        let ends = found
            .interval
            .map_or((found.point, found.point), |ends| (ends.low, ends.high));
        CapacityRange {
            rate_per_s: found.point,
            low_per_s: ends.0,
            high_per_s: ends.1,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bakeoff_model::load::histogram::Histogram;
    use bakeoff_model::suite::capacity::{Arrivals, Capacity, SearchEnd, TrialOutcome};
    use bakeoff_model::suite::slo::Served;

    use super::{CapacitySearch, Measured};

    fn capacity(slos: &[&str]) -> Capacity {
        Capacity {
            slos: slos.iter().map(|text| text.parse().unwrap()).collect(),
            rates: None,
            arrivals: Arrivals::Constant,
            connections: 64,
            trial: Duration::from_secs(5),
            trials_at_most: 20,
            within: 0.03,
        }
    }

    /// A service whose times grow with the rate: 1 ms for each 100 requests per second.
    fn measured(rate_per_s: f64, disturbance: Option<&str>) -> Measured {
        let mut times = Histogram::new();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "small"
        )]
        times.record((rate_per_s * 1e4) as u64);
        Measured {
            served: Served {
                successes: 1,
                failures: 0,
                times: Some(times),
            },
            disturbance: disturbance.map(str::to_owned),
        }
    }

    #[test]
    fn each_objective_has_a_capacity_of_its_own() {
        let asked = capacity(&["p99 <= 10ms", "p99 <= 4ms", "p99 <= 1us"]);
        let mut search = CapacitySearch::new(&asked, 3, 2000.0, &[]).unwrap();
        let mut trials = 0;
        while let Some(rate) = search.next_rate() {
            assert_eq!(search.next_step(), 3 + trials);
            let record = search.take(rate, &measured(rate, None));
            assert_eq!(record.verdicts.len(), 3);
            trials += 1;
        }
        let found = search.found();
        for (found, truth) in found.iter().zip([1000.0, 400.0]) {
            let range = found.capacity.unwrap();
            assert!((range.rate_per_s / truth - 1.0).abs() < 0.03, "{found:?}");
            assert!(
                found.last_before_failure_per_s.unwrap() <= truth * 1.001,
                "{found:?}"
            );
        }
        assert_eq!(found[2].ended, SearchEnd::BelowRange);
        let without = found[2].without().unwrap();
        assert_eq!(without, "missed even at the lowest rate");
        assert!(trials <= 20, "all objectives share {trials} trials");
    }

    #[test]
    fn a_search_begins_where_former_runs_ended() {
        let asked = capacity(&["p99 <= 10ms"]);
        let slo = asked.slos[0].clone();
        // As it was, a little faster and slower, and not at all as it was.
        for (former, trials) in [(1000.0, 10), (900.0, 10), (1100.0, 10), (30.0, 20)] {
            let rate = asked.to_confirm(former);
            let to_confirm = [(slo.clone(), rate)];
            let mut search = CapacitySearch::new(&asked, 1, 2500.0, &to_confirm).unwrap();
            search.confirm(&slo, rate, &measured(rate, None));
            while let Some(rate) = search.next_rate() {
                search.take(rate, &measured(rate, None));
            }
            let found = &search.found()[0];
            let range = found.capacity.unwrap();
            assert!((range.rate_per_s / 1000.0 - 1.0).abs() < 0.03, "{found:?}");
            assert!(found.trials <= trials, "{former}: {found:?}");
        }
        // A disturbed confirmation says nothing: the search begins there all the same.
        let mut search = CapacitySearch::new(&asked, 1, 2500.0, &[(slo.clone(), 990.0)]).unwrap();
        search.confirm(&slo, 2000.0, &measured(2000.0, Some("host-bound: steal")));
        assert!((search.next_rate().unwrap() - 990.0).abs() < 1e-6);
    }

    #[test]
    fn what_disturbs_a_trial_is_not_the_services_failure() {
        let asked = capacity(&["p99 <= 10ms"]);
        let mut search = CapacitySearch::new(&asked, 1, 2500.0, &[]).unwrap();
        let first = search.next_rate().unwrap();
        let record = search.take(first, &measured(first, Some("host-bound: steal")));
        assert_eq!(record.verdicts[0].outcome, TrialOutcome::Disturbed);
        assert_eq!(search.next_rate(), Some(first), "the same rate again");
        // One that is met in spite of it counts.
        let record = search.take(900.0, &measured(900.0, Some("host-bound: steal")));
        assert_eq!(record.verdicts[0].outcome, TrialOutcome::Met);
        for _ in 0..3 {
            search.take(1100.0, &measured(1100.0, Some("host-bound: steal")));
        }
        assert_eq!(search.next_rate(), None);
        let found = &search.found()[0];
        assert_eq!((found.ended, found.capacity), (SearchEnd::Disturbed, None));
        assert_eq!(
            found.without().unwrap(),
            "the search was given up, at least 900/s: host-bound: steal"
        );
    }

    #[test]
    fn nothing_served_is_nothing_to_begin_with() {
        let why = CapacitySearch::new(&capacity(&["p99 <= 10ms"]), 1, 0.0, &[]).unwrap_err();
        assert!(
            why.message().contains("no request of the closed load"),
            "{why}"
        );
    }
}
