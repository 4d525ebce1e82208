//! The runs that a profile asks for: a number, or enough to find a difference,
//! which is decided once, after a pilot.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::duration_ns;

/// Runs of a pilot: those that are made before the number of runs is decided.
pub const PILOT_RUNS: u32 = 3;

/// A difference up to this never gets a verdict (3 %), so no number of runs could find one.
pub const DIFFERENCE_MIN: f64 = 0.03;

/// Repetitions of a profile: of contenders that take turns, sets of fresh processes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Runs {
    /// A fixed number.
    Fixed(u32),
    /// The number that a pilot finds necessary.
    Until(RunsUntil),
}

impl Runs {
    /// The most that there may be.
    #[must_use]
    pub fn at_most(&self) -> u32 {
        match self {
            Self::Fixed(runs) => *runs,
            Self::Until(until) => until.at_most,
        }
    }

    /// Returns the decision after a pilot, if there is one.
    #[must_use]
    pub fn until(&self) -> Option<RunsUntil> {
        match self {
            Self::Fixed(_) => None,
            Self::Until(until) => Some(*until),
        }
    }
}

/// Enough runs to find a difference, within bounds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunsUntil {
    /// The difference, as a share: 0.05 = 5 %.
    pub difference: f64,
    /// The end is decided after every run instead of once: the session ends as soon as every pair
    /// of contenders is significantly different, or equivalent within the difference; with a
    /// baseline and conditions, as soon as every condition is decided.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sequential: bool,
    /// The most runs of each contender.
    pub at_most: u32,
    /// The longest time for all of them, without builds, ns.
    #[serde(
        default,
        rename = "within_ns",
        skip_serializing_if = "Option::is_none",
        with = "duration_ns::option"
    )]
    #[schemars(with = "Option<u64>")]
    pub within: Option<Duration>,
}

impl RunsUntil {
    /// Enough to decide every pair of contenders, or every condition on head and base.
    #[must_use]
    pub fn sure(at_most: u32, within: Option<Duration>) -> Self {
        Self {
            difference: DIFFERENCE_MIN,
            sequential: true,
            at_most,
            within,
        }
    }

    /// Returns the bounds with this longest time, if it is shorter.
    #[must_use]
    pub fn within_at_most(self, time: Option<Duration>) -> Self {
        Self {
            within: [self.within, time].into_iter().flatten().min(),
            ..self
        }
    }

    /// Describes a session that ends as soon as every pair is decided.
    fn sequential_sentence(&self) -> String {
        let within = self
            .within
            .map_or_else(String::new, |within| format!(" within {}", time(within)));
        format!(
            "At most {} runs of each contender{within}: the session ends as soon as every pair is \
             significantly different, or equivalent within {}.",
            self.at_most,
            percent(self.difference),
        )
    }

    /// When a session with a baseline ends, as a sentence without a full stop.
    #[must_use]
    pub fn sentence_of_baseline(&self) -> String {
        let within = self.within.map_or_else(String::new, |within| {
            format!(" and {}, but five sets in any case", time(within))
        });
        format!(
            "from the fifth set of fresh processes on, the session ends as soon as every condition \
             is decided, or without conditions every difference in throughput; at most {} \
             sets{within}",
            self.at_most
        )
    }

    /// Returns the sentence on what is going to be decided, and when.
    #[must_use]
    pub fn sentence(&self) -> String {
        if self.sequential {
            return self.sequential_sentence();
        }
        let within = self
            .within
            .map_or_else(String::new, |within| format!(", at most {}", time(within)));
        format!(
            "{PILOT_RUNS} to {} runs of each contender{within}: after {PILOT_RUNS} it is decided \
             how many find a difference of {}.",
            self.at_most,
            percent(self.difference),
        )
    }
}

/// How many runs are made, and why: decided once, after the pilot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunsDecision {
    /// The request.
    pub asked: RunsUntil,
    /// Runs of each contender that the decision rests on.
    pub pilot: u32,
    /// Runs of each contender in all, those of the pilot among them.
    pub runs: u32,
    /// Why not more.
    pub because: DecisionReason,
    /// The results of the pilot, for each benchmark and metric.
    pub families: Vec<FamilyDecision>,
}

/// Why a session ends at this number of runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DecisionReason {
    /// The runs find the difference.
    Enough,
    /// No more runs are allowed.
    AtMost,
    /// More runs would take longer than allowed.
    Within,
    /// Every pair is decided: significantly different, or equivalent.
    Decided,
    /// Every condition on head and base is decided: significantly beyond its bound, or
    /// significantly not.
    ConditionsDecided,
    /// The pilot, or the sets so far, have no two contenders to compare.
    NothingToCompare,
}

/// The results of the pilot for one benchmark by one metric, whose comparisons are one family.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FamilyDecision {
    /// The benchmark.
    pub benchmark: String,
    /// The metric.
    pub metric: String,
    /// Comparisons of the family: all pairs.
    pub comparisons: usize,
    /// The two contenders that need most runs.
    pub pair: [String; 2],
    /// Standard deviation of their log ratios over the runs of the pilot: 0.03 = 3 %. Absent if the
    /// pilot does not show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deviation: Option<f64>,
    /// Runs with which the difference of the pair is found; absent if more are needed than there
    /// may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needed: Option<u32>,
    /// Probability that the decided number of runs finds a difference of the pair that is as large
    /// as was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power: Option<f64>,
    /// The difference that the decided number of runs finds in four of five sessions, as a share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detectable: Option<f64>,
}

impl RunsDecision {
    /// Returns the family in which only the largest differences are found; `None` if nothing can be
    /// compared.
    #[must_use]
    pub fn worst(&self) -> Option<&FamilyDecision> {
        let size = |family: &FamilyDecision| family.detectable.unwrap_or(f64::INFINITY);
        let mut families = self.families.iter();
        let first = families.next()?;
        Some(
            families.fold(first, |worst, next| match size(next) > size(worst) {
                true => next,
                false => worst,
            }),
        )
    }

    /// The decision, what it rests on and the least that it can find, as sentences.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let worst = self.worst().map(|worst| worst.sentence(self));
        [self.sentence()].into_iter().chain(worst).collect()
    }

    /// Returns the decision, with what it can find in one benchmark by each metric, as sentences.
    #[must_use]
    pub fn sentences_of(&self, benchmark: &str) -> Vec<String> {
        let families = self.families.iter();
        let families = families.filter(|family| family.benchmark == benchmark);
        let families = families.map(|family| family.sentence(self));
        [self.sentence()].into_iter().chain(families).collect()
    }

    fn sentence(&self) -> String {
        let (runs, asked) = (self.runs, percent(self.asked.difference));
        let why = match self.because {
            DecisionReason::Decided => {
                format!("every pair is significantly different, or equivalent within {asked}")
            }
            DecisionReason::ConditionsDecided => "every condition is decided".to_owned(),
            DecisionReason::AtMost if self.asked.sequential => {
                "the most that there may be".to_owned()
            }
            DecisionReason::Within if self.asked.sequential => {
                "as many as the time allows".to_owned()
            }
            DecisionReason::Enough => {
                format!("by the pilot that is enough to find a difference of {asked}")
            }
            DecisionReason::AtMost => {
                format!("the most that the profile allows; {asked} would need more")
            }
            DecisionReason::Within => {
                format!("as many as the time allows; {asked} would need more")
            }
            DecisionReason::NothingToCompare if self.asked.sequential => {
                "no two contenders are left to compare".to_owned()
            }
            DecisionReason::NothingToCompare => {
                "those of the pilot, which has no two contenders to compare".to_owned()
            }
        };
        let valid = match self.asked.sequential {
            true => " Intervals and verdicts are valid at whichever run the session ends.",
            false => "",
        };
        format!("{runs} runs of each contender: {why}.{valid}")
    }
}

impl FamilyDecision {
    /// Returns the result of the pair that needs most runs.
    fn sentence(&self, decision: &RunsDecision) -> String {
        let ([a, b], pilot) = (&self.pair, decision.pilot);
        let (metric, benchmark) = (&self.metric, &self.benchmark);
        let found = self.deviation.zip(self.detectable).zip(self.power);
        let Some(((deviation, detectable), power)) = found else {
            return format!(
                "The pilot does not show how much {a} and {b} spread by {metric} of {benchmark}."
            );
        };
        format!(
            "By {metric} of {benchmark}, four of five such sessions find a difference of {} \
             between any two, and {:.0} % of them one of {}: in the pilot of {pilot} runs, \
             the ratio of {a} and {b}, which need most, had a standard deviation of {}.",
            percent(detectable),
            power * 100.0,
            percent(decision.asked.difference),
            percent(deviation),
        )
    }
}

/// `2 h`, `90 min`, `45 s`.
fn time(duration: Duration) -> String {
    match duration.as_secs() {
        seconds if seconds % 3600 == 0 => format!("{} h", seconds / 3600),
        seconds if seconds % 60 == 0 => format!("{} min", seconds / 60),
        seconds => format!("{seconds} s"),
    }
}

/// `5 %`, `7.3 %`, `25 %`.
fn percent(share: f64) -> String {
    let value = share * 100.0;
    let digits = usize::from(value < 10.0);
    let text = format!("{value:.digits$}");
    format!("{} %", text.strip_suffix(".0").unwrap_or(&text))
}
