//! Whether a number is fair: a verdict and the reasons for it, each with its evidence as numbers.
//!
//! Only the vocabulary is here; `bakeoff-validity` holds the rules by which reasons are found.

mod finding;
mod sentences;

use std::fmt;

use bakeoff_base::problem::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use finding::{Finding, RequiredReading, ThreadShare};

/// The conclusion that a number allows, from best to worst: the worst reason decides. A broken load
/// comes before a bottleneck, and the load generator before the backend and the host, because a
/// starved generator also makes the others look idle. What is known to be bound by something else
/// is worse than what is merely not known.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum FairnessVerdict {
    /// Nothing speaks against the number.
    #[default]
    Fair,
    /// The number may be compared, with a mark: something disturbed it a little.
    Degraded,
    /// A reading that a rule needs could not be made.
    Unknown,
    /// The host was the bottleneck: shared cores, steal, work of others.
    HostBound,
    /// The backend was the bottleneck.
    BackendBound,
    /// The load generator was the bottleneck.
    GeneratorBound,
    /// The load was not what was asked for, or too much of it failed.
    Invalid,
}

impl FairnessVerdict {
    /// The verdict as files and people write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Fair => "fair",
            Self::Degraded => "degraded",
            Self::Unknown => "unknown",
            Self::HostBound => "host-bound",
            Self::BackendBound => "backend-bound",
            Self::GeneratorBound => "generator-bound",
            Self::Invalid => "invalid",
        }
    }

    /// Whether the number stands in the fair ranking: fair ones, and degraded ones with a mark.
    #[must_use]
    pub fn ranks(self) -> bool {
        matches!(self, Self::Fair | Self::Degraded)
    }

    /// Whether the number is a lower bound of what the contender can do.
    #[must_use]
    pub fn is_bound(self) -> bool {
        matches!(
            self,
            Self::HostBound | Self::BackendBound | Self::GeneratorBound
        )
    }
}

impl fmt::Display for FairnessVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Whether a number is fair, and everything that was found. Without reasons it is fair.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Written", into = "Written")]
pub struct Validity {
    reasons: Vec<Reason>,
}

impl Validity {
    /// Nothing speaks against the number.
    #[must_use]
    pub fn fair() -> Self {
        Self::default()
    }

    /// A validity with these reasons, the worst first.
    #[must_use]
    pub fn of(mut reasons: Vec<Reason>) -> Self {
        reasons.sort_by_key(|reason| std::cmp::Reverse(reason.verdict));
        Self { reasons }
    }

    /// A verdict that is recorded in words.
    #[must_use]
    pub fn recorded(verdict: FairnessVerdict, evidence: &str) -> Self {
        let evidence = evidence.to_owned();
        Self::of(vec![Reason {
            verdict,
            finding: Finding::Recorded { evidence },
        }])
    }

    /// The verdict of its worst reason.
    #[must_use]
    pub fn verdict(&self) -> FairnessVerdict {
        self.reasons
            .first()
            .map_or(FairnessVerdict::Fair, |reason| reason.verdict)
    }

    /// Whether nothing speaks against the number; there may be diagnostics.
    #[must_use]
    pub fn is_fair(&self) -> bool {
        self.verdict() == FairnessVerdict::Fair
    }

    /// All reasons, the worst first. One whose verdict is fair is a diagnostic.
    #[must_use]
    pub fn reasons(&self) -> &[Reason] {
        &self.reasons
    }

    /// The verdict as files and people write it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.verdict().name()
    }

    /// Returns what remains if failed requests speak against no number, because the number counts
    /// only those that succeeded.
    #[must_use]
    pub fn despite_failures(&self) -> Self {
        let reasons = self.reasons.iter();
        let others = reasons.filter(|reason| !reason.finding.is_of_failures());
        Self::of(others.cloned().collect())
    }

    /// Returns the evidence against the number, a lower-case fragment; empty when it is fair.
    #[must_use]
    pub fn evidence(&self) -> String {
        self.warnings().collect::<Vec<_>>().join("; ")
    }

    /// Returns the evidence against the number, a lower-case fragment each, the worst first.
    pub fn warnings(&self) -> impl Iterator<Item = String> + '_ {
        let against = |reason: &&Reason| reason.verdict > FairnessVerdict::Fair;
        let against = self.reasons.iter().filter(against);
        against.map(|reason| reason.finding.to_string())
    }

    /// Diagnostics that do not speak against the number, a lower-case fragment each.
    pub fn diagnostics(&self) -> impl Iterator<Item = String> + '_ {
        let diagnostics = |reason: &&Reason| reason.verdict == FairnessVerdict::Fair;
        self.reasons
            .iter()
            .filter(diagnostics)
            .map(|reason| reason.finding.to_string())
    }
}

/// The verdict, and what speaks against the number.
impl fmt::Display for Validity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.evidence() {
            evidence if evidence.is_empty() => f.write_str(self.name()),
            evidence => write_judged(f, self.verdict(), &evidence),
        }
    }
}

/// One thing that was found, and what it means for the number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reason {
    /// Verdict of the finding; `fair` for a diagnostic.
    pub verdict: FairnessVerdict,
    /// The finding.
    #[serde(flatten)]
    pub finding: Finding,
}

/// The verdict and what was found; of a diagnostic what was found alone.
impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.verdict {
            FairnessVerdict::Fair => self.finding.fmt(f),
            verdict => write_judged(f, verdict, &self.finding.to_string()),
        }
    }
}

/// `host-bound: evidence`. Evidence that begins with the verdict (`host-bound in 20 % of the time`)
/// does not repeat it.
fn write_judged(
    f: &mut fmt::Formatter<'_>,
    verdict: FairnessVerdict,
    evidence: &str,
) -> fmt::Result {
    match evidence.starts_with(verdict.name()) {
        true => f.write_str(evidence),
        false => write!(f, "{verdict}: {evidence}"),
    }
}

/// A validity as files hold it.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Validity")]
struct Written {
    /// The verdict of the worst reason.
    validity: FairnessVerdict,
    /// The findings, the worst first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    reasons: Vec<Reason>,
}

impl From<Validity> for Written {
    fn from(validity: Validity) -> Self {
        Self {
            validity: validity.verdict(),
            reasons: validity.reasons,
        }
    }
}

impl TryFrom<Written> for Validity {
    type Error = Problem;

    fn try_from(written: Written) -> Result<Self, Problem> {
        let validity = Self::of(written.reasons);
        match validity.verdict() {
            verdict if verdict == written.validity => Ok(validity),
            verdict => Err(format!(
                "validity is {}, but the worst reason says {verdict}",
                written.validity
            )
            .into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{FairnessVerdict, Finding, Reason, Validity};
    use crate::load::ErrorClass;

    fn reason(verdict: FairnessVerdict, finding: Finding) -> Reason {
        Reason { verdict, finding }
    }

    #[test]
    fn the_worst_reason_decides() {
        let diagnostic = reason(
            FairnessVerdict::Fair,
            Finding::Retransmissions { resent: 1, sent: 9 },
        );
        let steal = reason(FairnessVerdict::HostBound, Finding::Steal { share: 0.123 });
        let missing = reason(
            FairnessVerdict::Unknown,
            Finding::Unreadable { figures: vec![] },
        );
        assert!(Validity::of(vec![diagnostic.clone()]).is_fair());
        let validity = Validity::of(vec![diagnostic, missing, steal]);
        assert_eq!(validity.verdict(), FairnessVerdict::HostBound);
        assert!(
            validity
                .to_string()
                .starts_with("host-bound: 12 % of the contender's cores was stolen")
        );
        assert_eq!(validity.diagnostics().count(), 1);
    }

    #[test]
    fn files_hold_what_was_judged() {
        let check = |text: &str, sentence: &str| {
            let validity: Validity = serde_json::from_str(text).unwrap();
            assert_eq!(validity.to_string(), sentence);
            assert_eq!(serde_json::to_string(&validity).unwrap(), text);
        };
        check(r#"{"validity":"fair"}"#, "fair");
        let recorded = Validity::recorded(FairnessVerdict::HostBound, "a sentence");
        check(
            &serde_json::to_string(&recorded).unwrap(),
            "host-bound: a sentence",
        );
        let errors = Finding::Errors {
            failed: 30,
            ended: 100,
            classes: BTreeMap::from([(ErrorClass::Reset, 29), (ErrorClass::Local, 1)]),
        };
        let validity = Validity::of(vec![reason(FairnessVerdict::Invalid, errors)]);
        check(
            &serde_json::to_string(&validity).unwrap(),
            "invalid: 30 % of the requests failed (29 reset, 1 local of 100)",
        );
        let reasons = r#"[{"verdict":"invalid","reason":"no-success","failed":1}]"#;
        let lie = format!(r#"{{"validity":"fair","reasons":{reasons}}}"#);
        assert!(serde_json::from_str::<Validity>(&lie).is_err());
    }

    #[test]
    fn idle_work_names_threads_where_they_were_read() {
        let check = |threads: &str, words: &str| {
            let text = format!(
                r#"{{"reason":"idle-work","cores":0.03,"jit_share":0.5,"gc_share":0.1{threads}}}"#
            );
            let finding: Finding = serde_json::from_str(&text).unwrap();
            assert_eq!(serde_json::to_string(&finding).unwrap(), text);
            let used = "it used 3.0 % of a core while others had their turns";
            assert_eq!(finding.to_string(), format!("{used}{words}"));
        };
        // As where threads were not read.
        check(
            "",
            " (of all its CPU time, compilers took 50 % and garbage collectors 10 %)",
        );
        check(
            r#","threads":[{"name":"worker","share":0.5},{"name":"C2 CompilerThre","share":0.4}]"#,
            "; threads that can have done it, with their shares of its CPU time: `worker` 50 %, \
             `C2 CompilerThre` 40 %",
        );
    }
}
