//! What a search for a commit reports.

use std::path::PathBuf;

use bakeoff_analysis::WithInterval;
use schemars::JsonSchema;
use serde::Serialize;

/// Letters of a commit that people are shown.
const COMMIT_SHOWN: usize = 9;

/// A commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Commit {
    /// Hash of the commit, hexadecimal.
    pub commit: String,
    /// The first line of the commit message.
    pub title: String,
}

impl Commit {
    /// Returns the first letters of the commit's hash.
    #[must_use]
    pub fn short(&self) -> &str {
        &self.commit[..COMMIT_SHOWN.min(self.commit.len())]
    }
}

/// The outcome of a search for a commit.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Bisection {
    /// The outcome.
    pub outcome: BisectionOutcome,
    /// The outcome as sentences.
    pub sentence: String,
    /// The condition that makes a commit bad: `cpu>3%`.
    pub condition: String,
    /// The metric of the bad commit over that of the good one.
    pub change: WithInterval,
    /// The metric of the most likely commit over that of the measured one before it; absent unless
    /// it was found among several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of_commit: Option<WithInterval>,
    /// The commits that hold the change with a probability of 95 %, oldest first; none if the bad
    /// commit is not worse.
    pub candidates: Vec<Candidate>,
    /// Commits that could not be measured.
    pub skipped: Vec<SkippedCommit>,
    /// Commits after the good one.
    pub commits: usize,
    /// Commits that were built and measured, good and bad among them.
    pub measured: usize,
    /// Sessions that were played.
    pub sessions: usize,
    /// How long the search took, s.
    pub took_s: f64,
    /// The results folder of the last session. If the commit was found, this session compares it
    /// with the one before it.
    pub results: PathBuf,
}

/// How a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BisectionOutcome {
    /// One commit holds the change with a probability of 95 %.
    Found,
    /// Several do, of which no more can be measured, or the time was over.
    Several,
    /// The bad commit is significantly not as bad as the condition says.
    NotWorse,
    /// Not decided: the bad commit may or may not be as bad as the condition says.
    Undecided,
}

/// A commit that may hold the change.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Candidate {
    /// The commit.
    #[serde(flatten)]
    pub commit: Commit,
    /// The probability that the commit holds the change, 0 to 1.
    pub probability: f64,
}

/// A commit that could not be measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SkippedCommit {
    /// The commit.
    #[serde(flatten)]
    pub commit: Commit,
    /// Why.
    pub why: String,
}
