//! Scenarios as people write them; a part of [`super::raw`].

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::request::scenario::{AfterFailure, Connect, RowOrder};
use crate::text::pattern::Pattern;

/// Makes the requests of a benchmark a scenario: each connection is a user that goes through them
/// in order, or has a user for each request in flight.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ScenarioTable {
    /// Users send back the cookies they were given; `true` unless given.
    #[serde(default = "yes")]
    pub cookies: bool,
    /// The next step of a user whose request failed; `give-up` unless given.
    #[serde(default)]
    pub after_failure: AfterFailure,
    /// When connections are opened; `before-step` unless given.
    #[serde(default)]
    pub connect: Connect,
    /// Where variables get their values each time a user starts.
    #[serde(default)]
    pub feed: Vec<FeedTable>,
}

fn yes() -> bool {
    true
}

/// Where variables get their values.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct FeedTable {
    /// Which kind of feed.
    pub kind: FeedKind,
    /// The variable; all kinds but `csv`.
    pub variable: Option<String>,
    /// The columns that are wanted; `csv` only.
    #[serde(default)]
    #[schemars(length(min = 1))]
    pub variables: Vec<String>,
    /// The file, relative to the suite; its first line names the columns; `csv` only.
    pub file: Option<String>,
    /// Which row is next; `csv` only; `in-turn` unless given.
    pub order: Option<RowOrder>,
    /// The first or smallest number; `sequence` (1 unless given) and `random`.
    pub from: Option<u64>,
    /// The last or largest number; `sequence` (none unless given) and `random`.
    pub to: Option<u64>,
}

/// Kinds of feeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FeedKind {
    /// Rows of a table.
    Csv,
    /// Whole numbers one after the other.
    Sequence,
    /// Whole numbers, each as likely as the others.
    Random,
    /// A text that no user of any load has had before.
    Unique,
}

/// Where in a response a variable gets its value; one of the three.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ExtractTable {
    /// A JSON path.
    pub json: Option<String>,
    /// The name of a header.
    pub header: Option<String>,
    /// A regular expression; its first group counts.
    pub regex: Option<Pattern>,
}
