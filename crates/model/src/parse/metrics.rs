//! The metrics that contenders count themselves, as `suite.toml` says it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::source::{KeyPath, Reading};
use crate::suite::metrics::OwnMetrics;

/// Metrics that contenders count themselves, in the text format of Prometheus or OpenMetrics.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct MetricsTable {
    /// The path on the contender's port, asked before and after each measured step.
    #[schemars(extend("x-text" = "path"))]
    pub scrape: String,
    /// Names of metrics or globs of them that are recorded; all unless given.
    #[schemars(length(min = 1))]
    pub keep: Option<Vec<String>>,
}

/// The settings at `metrics`.
pub(super) fn metrics(reading: &mut Reading<'_>, table: MetricsTable, is_grpc: bool) -> OwnMetrics {
    let place = KeyPath::root().key("metrics");
    if is_grpc {
        let message = "contenders that speak gRPC have no metrics to read on their port";
        reading.complain(&place, message, Some("leave `[metrics]` out".to_owned()));
    }
    let keep = table.keep.unwrap_or_default();
    for (index, glob) in keep.iter().enumerate().filter(|(_, glob)| !can_match(glob)) {
        let place = place.key("keep").index(index);
        let message = format!("`{place}`: no metric can be called {glob:?}");
        let hint =
            "names have letters, digits, `_` and `:`, no labels; `*` is any text, `?` a character";
        reading.complain(&place, &message, Some(hint.to_owned()));
    }
    OwnMetrics {
        path: table.scrape,
        keep,
    }
}

/// Whether any name of a metric can fit a glob.
fn can_match(glob: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "_:*?".contains(c);
    let begins_well = !glob.starts_with(|c: char| c.is_ascii_digit());
    !glob.is_empty() && begins_well && glob.chars().all(is_allowed)
}
