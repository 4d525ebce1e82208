//! A session with a baseline: every contender as it is, the head, against what it was, the base.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use bakeoff_base::problem::Problem;
use serde::{Deserialize, Serialize};

use crate::text::bound::{self, BoundText, Sign};
use crate::text::text_enum::text_enum;
use crate::text::units::duration;

/// The ending of names of contenders that are built from the baseline. No name in a suite's files
/// has an `@`.
const BASE: &str = "@base";

/// Letters of a commit that people are shown.
const COMMIT_SHOWN: usize = 9;

/// The contender as it was.
#[must_use]
pub fn base_name(contender: &str) -> String {
    format!("{contender}{BASE}")
}

/// The contender that this one is the base of; `None` for any other contender.
#[must_use]
pub fn head_name(contender: &str) -> Option<&str> {
    contender.strip_suffix(BASE)
}

/// The baseline of a session, and the conditions under which it fails.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    /// Name of the baseline as the user gave it: a folder, or a revision.
    pub name: String,
    /// The commit of a revision, hexadecimal; absent for a folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The folder; absent for a revision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<PathBuf>,
    /// The session has failed when one of these holds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fail_if: Vec<Condition>,
    /// The session has failed also when one of these is undecided.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undecided_fails: bool,
}

impl Baseline {
    /// Returns the baseline in words: `main (1a2b3c4d5)`, or the folder.
    #[must_use]
    pub fn describe(&self) -> String {
        match &self.commit {
            Some(commit) if !commit.starts_with(&self.name) => {
                let short: String = commit.chars().take(COMMIT_SHOWN).collect();
                format!("{} ({short})", self.name)
            }
            _ => self.name.clone(),
        }
    }
}

text_enum! {
    /// The subject of a condition.
    "figure" ConditionMetric {
        /// Requests per second, of which fewer are worse.
        Slower = "slower",
        /// CPU time per request.
        Cpu = "cpu",
        /// Highest memory.
        Memory = "memory",
        /// Median of the times.
        P50 = "p50",
        /// 99th percentile of the times.
        P99 = "p99",
        /// Failed requests of the head, as a share of all; compared with nothing.
        Errors = "errors",
    }
}

/// When a session with a baseline has failed: `slower>5%`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Condition {
    /// Metric of the condition.
    pub figure: ConditionMetric,
    /// The bound as it was written, percent.
    pub percent: f64,
}

impl Condition {
    /// The bound. Of what should be low that of head over base, 1.05 for 5 % more; of requests per
    /// second that of base over head, 1 / 0.95 for 5 % fewer; of errors the share, 0.05.
    #[must_use]
    pub fn bound(&self) -> f64 {
        let share = self.percent / 100.0;
        match self.figure {
            ConditionMetric::Errors => share,
            ConditionMetric::Slower => 1.0 / (1.0 - share),
            ConditionMetric::Cpu
            | ConditionMetric::Memory
            | ConditionMetric::P50
            | ConditionMetric::P99 => 1.0 + share,
        }
    }
}

impl FromStr for Condition {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        let examples = "write slower>5%, cpu>5%, memory>10%, p50>10%, p99>20% or errors>0.1%";
        let Some(BoundText { name, limit, .. }) =
            BoundText::split(text).filter(|bound| bound.sign == Sign::Above)
        else {
            return Err(format!("not a condition: {examples}").into());
        };
        let figure: ConditionMetric = name
            .parse()
            .map_err(|_| format!("nothing is called {name:?}: {examples}"))?;
        let Some(percent) = limit.strip_suffix('%') else {
            return Err(match duration(limit) {
                Ok(_) => format!(
                    "{limit} is a bound by itself, which only `bakeoff load --fail-if` takes; a \
                     head is compared with its base: {name}>20% for 20 % more"
                )
                .into(),
                Err(_) => format!("not in percent: write {name}>{limit}%").into(),
            });
        };
        let percent = bound::number(percent).ok_or_else(|| format!("no bound: {examples}"))?;
        let part_of_all = matches!(figure, ConditionMetric::Errors | ConditionMetric::Slower);
        if part_of_all && percent >= 100.0 {
            return Err("cannot be: no more than all requests can be lost".into());
        }
        Ok(Self { figure, percent })
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}>{}%", self.figure, self.percent)
    }
}

impl TryFrom<String> for Condition {
    type Error = Problem;

    fn try_from(text: String) -> Result<Self, Problem> {
        text.parse()
    }
}

impl From<Condition> for String {
    fn from(condition: Condition) -> Self {
        condition.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::{Baseline, Condition, ConditionMetric, base_name, head_name};
    use crate::parse::is_name;

    #[test]
    fn conditions_are_read_and_written() {
        let check = |text: &str, figure, bound: f64, written: &str| {
            let condition: Condition = text.parse().unwrap();
            assert_eq!(condition.figure, figure, "{text}");
            assert!((condition.bound() - bound).abs() < 1e-12, "{text}");
            assert_eq!(condition.to_string(), written);
            let json = serde_json::to_string(&condition).unwrap();
            assert_eq!(json, format!("{written:?}"));
            assert_eq!(serde_json::from_str::<Condition>(&json).unwrap(), condition);
        };
        check(
            "slower>5%",
            ConditionMetric::Slower,
            1.0 / 0.95,
            "slower>5%",
        );
        check(" cpu > 2.5 % ", ConditionMetric::Cpu, 1.025, "cpu>2.5%");
        check("memory>0%", ConditionMetric::Memory, 1.0, "memory>0%");
        check("p50>100%", ConditionMetric::P50, 2.0, "p50>100%");
        check("p99>20%", ConditionMetric::P99, 1.2, "p99>20%");
        check("errors>0.1%", ConditionMetric::Errors, 0.001, "errors>0.1%");
    }

    #[test]
    fn what_is_no_condition_is_refused_with_one_that_is() {
        let check = |text: &str, expect: &str| {
            let problem = text.parse::<Condition>().unwrap_err();
            assert!(problem.message().contains(expect), "{text}: {problem}");
        };
        check("", "not a condition: write slower>5%");
        check("slower<5%", "not a condition");
        check("speed>5%", "nothing is called \"speed\"");
        check("slower>5", "write slower>5%");
        check("p99>50ms", "50ms is a bound by itself");
        check("p99>50ms", "p99>20% for 20 % more");
        check("slower>x%", "no bound");
        check("slower>-1%", "no bound");
        check("slower>inf%", "no bound");
        check("errors>500%", "no more than all requests");
        check("slower>100%", "no more than all requests");
    }

    #[test]
    fn a_base_has_a_name_that_no_suite_can_give() {
        let name = base_name("http4k-3/jetty");
        assert_eq!(name, "http4k-3/jetty@base");
        assert_eq!(head_name(&name), Some("http4k-3/jetty"));
        assert_eq!(head_name("http4k-3/jetty"), None);
        assert!(!is_name("shop@base"));
    }

    #[test]
    fn a_commit_is_named_once() {
        let baseline = |name: &str, commit: Option<&str>| Baseline {
            name: name.to_owned(),
            commit: commit.map(str::to_owned),
            folder: None,
            fail_if: Vec::new(),
            undecided_fails: false,
        };
        let hash = "1a2b3c4d5e6f";
        assert_eq!(baseline("main", Some(hash)).describe(), "main (1a2b3c4d5)");
        assert_eq!(baseline("1a2b3c4", Some(hash)).describe(), "1a2b3c4");
        assert_eq!(baseline("../old", None).describe(), "../old");
    }
}
