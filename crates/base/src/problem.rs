//! The error type for messages to users. An error that a caller branches on has a separate type,
//! and is converted once no caller branches on it any more.

use std::fmt;

use serde::{Deserialize, Serialize};

/// An error as it is shown: the event, the remedies, and the evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    message: String,
    hints: Vec<String>,
    evidence: String,
}

impl Problem {
    /// Returns a problem without hints and evidence; the message is a lower-case fragment.
    pub fn new(message: impl fmt::Display) -> Self {
        Self {
            message: message.to_string(),
            hints: Vec::new(),
            evidence: String::new(),
        }
    }

    /// Returns the problem with one more remedy.
    #[must_use]
    pub fn with_hint(mut self, hint: impl fmt::Display) -> Self {
        self.hints.push(hint.to_string());
        self
    }

    /// Returns the problem with more remedies.
    #[must_use]
    pub fn with_hints(mut self, hints: impl IntoIterator<Item = String>) -> Self {
        self.hints.extend(hints);
        self
    }

    /// Returns the problem with its evidence, for example the last lines of a log.
    #[must_use]
    pub fn with_evidence(self, evidence: impl Into<String>) -> Self {
        Self {
            evidence: evidence.into(),
            ..self
        }
    }

    /// Returns the problem with a prefix before its message: `prefix: message`.
    #[must_use]
    pub fn context(self, prefix: impl fmt::Display) -> Self {
        Self {
            message: format!("{prefix}: {}", self.message),
            ..self
        }
    }

    /// Returns the event, a lower-case fragment.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns the remedies, a lower-case fragment each.
    #[must_use]
    pub fn hints(&self) -> &[String] {
        &self.hints
    }

    /// Returns the evidence; may be empty.
    #[must_use]
    pub fn evidence(&self) -> &str {
        &self.evidence
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Problem {}

impl From<String> for Problem {
    fn from(message: String) -> Self {
        Self::new(message)
    }
}

impl From<&str> for Problem {
    fn from(message: &str) -> Self {
        Self::new(message)
    }
}

#[cfg(test)]
mod tests {
    use super::Problem;

    #[test]
    fn context_stands_before_the_message_and_keeps_the_rest() {
        let problem = Problem::new("no such file")
            .with_hint("make it")
            .with_hints(["or name another".to_owned()])
            .with_evidence("ls: nothing")
            .context("data.csv");
        assert_eq!(problem.to_string(), "data.csv: no such file");
        assert_eq!(problem.hints(), ["make it", "or name another"]);
        assert_eq!(problem.evidence(), "ls: nothing");
    }
}
