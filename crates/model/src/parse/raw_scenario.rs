//! Scenarios as people write them; a part of [`super::raw`].

use schemars::JsonSchema;
use serde::Deserialize;

use crate::request::scenario::{AfterFailure, Connect, RowOrder};
use crate::text::pattern::Pattern;

/// Makes the requests of a benchmark a scenario: each connection is a user that goes through them
/// in order, or has a user for each request in flight.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct ScenarioTable {
    /// Users send back the cookies they were given; `true` unless given.
    #[serde(default = "yes")]
    pub(crate) cookies: bool,
    /// The next step of a user whose request failed; `give-up` unless given.
    #[serde(default)]
    pub(crate) after_failure: AfterFailure,
    /// When connections are opened; `before-step` unless given.
    #[serde(default)]
    pub(crate) connect: Connect,
    /// Where variables get their values each time a user starts.
    #[serde(default)]
    pub(crate) feed: Vec<FeedTable>,
}

fn yes() -> bool {
    true
}

/// Where variables get their values.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct FeedTable {
    /// Which kind of feed.
    pub(crate) kind: FeedKind,
    /// The variable; all kinds but `csv`.
    pub(crate) variable: Option<String>,
    /// The columns that are wanted; `csv` only.
    #[serde(default)]
    #[schemars(length(min = 1))]
    pub(crate) variables: Vec<String>,
    /// The file, relative to the suite; its first line names the columns; `csv` only.
    pub(crate) file: Option<String>,
    /// Which row is next; `csv` only; `in-turn` unless given.
    pub(crate) order: Option<RowOrder>,
    /// The first or smallest number; `sequence` (1 unless given) and `random`.
    pub(crate) from: Option<u64>,
    /// The last or largest number; `sequence` (none unless given) and `random`.
    pub(crate) to: Option<u64>,
}

/// Kinds of feeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FeedKind {
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
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct ExtractTable {
    /// A JSON path.
    pub(crate) json: Option<String>,
    /// The name of a header.
    pub(crate) header: Option<String>,
    /// A regular expression; its first group counts.
    pub(crate) regex: Option<Pattern>,
}
