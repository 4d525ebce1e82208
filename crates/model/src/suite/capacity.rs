//! The search for the highest rate at which a service meets its objectives: what is asked for, and
//! what is written down of it. How the search goes on is not known here.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::slo::Slo;
use crate::load::Pace;
use crate::load::step::Step;
use crate::text::duration_ns;
use crate::text::text_enum::text_enum;

/// The question of a benchmark of kind `capacity`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Capacity {
    /// The objectives; each has its own capacity.
    pub slos: Vec<Slo>,
    /// Rates between which the capacity is searched for, requests per second [default: set by a
    /// closed load].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rates: Option<Rates>,
    /// Distances between requests.
    pub arrivals: Arrivals,
    /// Connections of each trial.
    pub connections: u32,
    /// How long a trial takes; in files in ns.
    #[serde(rename = "trial_ns", with = "duration_ns")]
    #[schemars(with = "u64")]
    pub trial: Duration,
    /// Trials of a search, at most.
    pub trials_at_most: u32,
    /// How far the interval of a search may reach from its middle, as a share: 0.03 = 3 %.
    pub within: f64,
}

/// Between which rates a capacity is looked for, requests per second.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rates {
    /// The lowest.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub from: f64,
    /// The highest.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub to: f64,
}

text_enum! {
    /// Distances between the requests of a trial.
    "arrivals" Arrivals {
        /// Equal ones.
        Constant = "constant",
        /// Exponential ones: requests come at random.
        Poisson = "poisson",
    }
}

impl Capacity {
    /// Connections of each trial, unless the benchmark says another number.
    pub const CONNECTIONS: u32 = 64;
    /// Length of a trial, unless the benchmark says another one.
    pub const TRIAL: Duration = Duration::from_secs(5);
    /// Trials of a search at most, unless the benchmark says another number.
    pub const TRIALS_AT_MOST: u32 = 20;
    /// How far the interval of a search may reach, unless the benchmark says another share.
    pub const WITHIN: f64 = 0.03;
    /// How many trials' time a rate is held to confirm it.
    const CONFIRMATION_TRIALS: u32 = 2;

    /// The closed load before the search, which sets the rate at which the search starts.
    #[must_use]
    pub fn closed_step(&self) -> Step {
        Step {
            connections: self.connections,
            duration: self.trial,
            pace: Pace::Closed,
            warm_up: true,
            at_least: None,
        }
    }

    /// A step of open load at this rate.
    #[must_use]
    pub fn step(&self, rate_per_s: f64, purpose: Purpose) -> Step {
        Step {
            connections: self.connections,
            duration: match purpose {
                Purpose::Search => self.trial,
                Purpose::Confirmation => self.confirmation(),
            },
            pace: match self.arrivals {
                Arrivals::Constant => Pace::Constant { rate_per_s },
                Arrivals::Poisson => Pace::Poisson { rate_per_s },
            },
            warm_up: false,
            at_least: None,
        }
    }

    /// How long a rate is held to confirm it.
    #[must_use]
    pub fn confirmation(&self) -> Duration {
        self.trial.saturating_mul(Self::CONFIRMATION_TRIALS)
    }

    /// Returns the rate that a fresh process confirms if `rate_per_s` was found: a little less,
    /// because at the capacity itself one trial in two fails.
    #[must_use]
    pub fn to_confirm(&self, rate_per_s: f64) -> f64 {
        rate_per_s / (1.0 + self.within)
    }

    /// The most trials of a search that starts near the capacity of former runs, if it finds it
    /// near there.
    #[must_use]
    pub fn trials_near(&self) -> u32 {
        self.trials_at_most.div_ceil(2)
    }

    /// How long a run's trials take at most, if its process is like the former ones: one of the
    /// `repetition`, from 1.
    #[must_use]
    pub fn longest(&self, repetition: u32) -> Duration {
        let (confirmations, trials) = match repetition {
            0 | 1 => (0, self.trials_at_most),
            _ => {
                let slos = u32::try_from(self.slos.len()).unwrap_or(u32::MAX);
                (slos, self.trials_near())
            }
        };
        let search = self.trial.saturating_mul(trials);
        search.saturating_add(self.confirmation().saturating_mul(confirmations))
    }
}

text_enum! {
    /// The purpose of a trial.
    "purpose" Purpose {
        /// To find the capacity of its own process.
        Search = "search",
        /// To hold what former runs found, for longer.
        Confirmation = "confirmation",
    }
}

text_enum! {
    /// The outcome of a trial.
    "outcome" TrialOutcome {
        /// The objective was met.
        Met = "met",
        /// The objective was not met.
        Missed = "missed",
        /// The objective was not met, perhaps through the fault of something else than the service:
        /// nothing follows from it.
        Disturbed = "disturbed",
    }
}

/// A trial and its outcome, after its slices.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrialRecord {
    /// The step that its slices name: trials follow the planned steps.
    pub step: usize,
    /// Purpose of the trial.
    pub purpose: Purpose,
    /// Requests per second that were due.
    pub rate_per_s: f64,
    /// A verdict for each objective of the trial.
    pub verdicts: Vec<TrialVerdict>,
}

/// The outcome of a trial for one objective.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrialVerdict {
    /// The objective.
    pub slo: Slo,
    /// Whether it was met.
    pub outcome: TrialOutcome,
    /// The measured values: `p99 48.2 ms, errors 0 %`.
    pub found: String,
    /// Another possible reason than the service; of `disturbed` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disturbance: Option<String>,
    /// The capacity as it is known after this trial, requests per second; of searches only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<CapacityRange>,
}

/// A capacity with its 95 % credible interval, requests per second.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapacityRange {
    /// The median.
    pub rate_per_s: f64,
    /// The lower end.
    pub low_per_s: f64,
    /// The upper end.
    pub high_per_s: f64,
}

text_enum! {
    /// Why a search ended.
    "end of a search" SearchEnd {
        /// The interval is as narrow as was asked for.
        Narrow = "narrow",
        /// The search had no trials left.
        OutOfTrials = "out-of-trials",
        /// Even the highest rate was met.
        AboveRange = "above-range",
        /// Even the lowest rate was missed.
        BelowRange = "below-range",
        /// Trials at the same rate failed again and again, and not by the service's fault alone.
        Disturbed = "disturbed",
    }
}

/// The result of the search of a run for one objective.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapacityRecord {
    /// The objective.
    pub slo: Slo,
    /// Why the search ended.
    pub ended: SearchEnd,
    /// The capacity; absent if the search ended at an end of its range, or disturbed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<CapacityRange>,
    /// The highest rate that was met below the lowest that was missed; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_before_failure_per_s: Option<f64>,
    /// Trials that count.
    pub trials: u32,
    /// The disturbance; of `disturbed` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disturbance: Option<String>,
}

impl CapacityRecord {
    /// The rate that the process met if the search went up to it and found no capacity, requests
    /// per second.
    #[must_use]
    pub fn at_least_per_s(&self) -> Option<f64> {
        let met = self.last_before_failure_per_s;
        met.filter(|_| self.capacity.is_none())
    }

    /// Returns why there is no capacity, a lower-case fragment; `None` if there is one.
    #[must_use]
    pub fn without(&self) -> Option<String> {
        if self.capacity.is_some() {
            return None;
        }
        let at_least = self.at_least_per_s();
        let at_least = at_least.map(|rate| format!(", at least {rate:.0}/s"));
        let at_least = at_least.unwrap_or_default();
        Some(match self.ended {
            SearchEnd::AboveRange => format!("met even at the highest rate{at_least}"),
            SearchEnd::BelowRange => "missed even at the lowest rate".to_owned(),
            SearchEnd::Narrow | SearchEnd::OutOfTrials => "no trial was met".to_owned(),
            SearchEnd::Disturbed => {
                let why = self.disturbance.as_deref().unwrap_or("disturbed");
                format!("the search was given up{at_least}: {why}")
            }
        })
    }
}
