//! Why something ended before its time: a build, a start, a check, a load. One type for all of
//! them, so that nobody has to read sentences to know where it happened.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A stage of a run.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// The contender is built and made startable.
    Build,
    /// Lifecycle checks, with instances of their own.
    Lifecycle,
    /// The contender is started.
    Start,
    /// Its first valid response is awaited.
    Ready,
    /// Functional checks.
    Verify,
    /// The steps of the load.
    Load,
    /// The contender is stopped.
    Stop,
}

impl Stage {
    /// The name as it is in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Build => "build",
            Self::Lifecycle => "lifecycle",
            Self::Start => "start",
            Self::Ready => "ready",
            Self::Verify => "verify",
            Self::Load => "load",
            Self::Stop => "stop",
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Where something failed, why, and what shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    /// The stage that failed.
    pub stage: Stage,
    /// What happened, a lower-case fragment.
    pub message: String,
    /// Last lines of a log, failing checks, what to do about it; may be empty.
    pub evidence: String,
}

impl Failure {
    /// A failure without evidence.
    pub fn new(stage: Stage, message: impl Into<String>) -> Self {
        Self {
            stage,
            message: message.into(),
            evidence: String::new(),
        }
    }

    /// The same failure with evidence.
    #[must_use]
    pub fn with_evidence(self, evidence: impl Into<String>) -> Self {
        Self {
            evidence: evidence.into(),
            ..self
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.stage, self.message)
    }
}

impl std::error::Error for Failure {}
