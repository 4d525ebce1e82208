//! Reasons for an early end: a build, a start, a check, a load. One type for all of them, so that
//! no reader has to parse sentences to know the stage.

use std::fmt;

use bakeoff_base::problem::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::text_enum::text_enum;

text_enum! {
    /// A stage of a run.
    "stage" Stage {
        /// The contender is built and made startable.
        Build = "build",
        /// A part of the work of its requests is measured alone.
        Probe = "probe",
        /// Lifecycle checks, with separate instances.
        Lifecycle = "lifecycle",
        /// The contender is started.
        Start = "start",
        /// The contender's first valid response is awaited.
        Ready = "ready",
        /// Functional checks.
        Verify = "verify",
        /// The steps of the load.
        Load = "load",
        /// The contender is stopped.
        Stop = "stop",
        /// The stored rows are counted.
        Count = "count",
    }
}

/// Where something failed, why, and what shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    /// The stage that failed.
    pub stage: Stage,
    /// The event, a lower-case fragment.
    pub message: String,
    /// Last lines of a log, failing checks; may be empty.
    pub evidence: String,
    /// Remedies, a lower-case fragment each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<String>,
    /// Whether the kernel killed the contender because its memory limit was reached.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub oom_killed: bool,
}

impl Failure {
    /// A failure without evidence and hints.
    pub fn new(stage: Stage, message: impl Into<String>) -> Self {
        Self {
            stage,
            message: message.into(),
            evidence: String::new(),
            hints: Vec::new(),
            oom_killed: false,
        }
    }

    /// A problem, and the stage in which it came up.
    pub fn of(stage: Stage, problem: impl Into<Problem>) -> Self {
        let problem = problem.into();
        Self {
            evidence: problem.evidence().to_owned(),
            hints: problem.hints().to_vec(),
            ..Self::new(stage, problem.message())
        }
    }

    /// Returns the failure with the kernel's out-of-memory killer as its cause, or not.
    #[must_use]
    pub fn with_oom_killed(self, oom_killed: bool) -> Self {
        Self { oom_killed, ..self }
    }

    /// Returns the failure with evidence.
    #[must_use]
    pub fn with_evidence(self, evidence: impl Into<String>) -> Self {
        Self {
            evidence: evidence.into(),
            ..self
        }
    }

    /// Returns the failure with hints on what to do about it.
    #[must_use]
    pub fn with_hints(self, hints: impl IntoIterator<Item = String>) -> Self {
        Self {
            hints: hints.into_iter().collect(),
            ..self
        }
    }

    /// Hints and evidence as the text below the message; empty without either.
    #[must_use]
    pub fn details(&self) -> String {
        let hints = self.hints.iter().map(|hint| format!("hint: {hint}"));
        let evidence = Some(self.evidence.clone()).filter(|text| !text.trim().is_empty());
        hints.chain(evidence).collect::<Vec<String>>().join("\n")
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.stage, self.message)
    }
}

impl std::error::Error for Failure {}

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Self {
        Self::new(failure.message)
            .with_hints(failure.hints)
            .with_evidence(failure.evidence)
    }
}

#[cfg(test)]
mod tests {
    use super::{Failure, Stage};

    #[test]
    fn details_are_hints_and_evidence() {
        let failure = Failure::new(Stage::Ready, "not ready after 15 s");
        assert_eq!(failure.details(), "");
        let failure = failure
            .with_evidence("panicked")
            .with_hints(["listen on 0.0.0.0".to_owned()]);
        assert_eq!(failure.details(), "hint: listen on 0.0.0.0\npanicked");
        assert_eq!(failure.to_string(), "ready: not ready after 15 s");
    }

    #[test]
    fn failures_of_older_records_have_no_hints() {
        let text = r#"{"stage":"load","message":"killed for memory","evidence":""}"#;
        let failure: Failure = serde_json::from_str(text).unwrap();
        assert_eq!(failure, Failure::new(Stage::Load, "killed for memory"));
        assert_eq!(serde_json::to_string(&failure).unwrap(), text);
    }
}
