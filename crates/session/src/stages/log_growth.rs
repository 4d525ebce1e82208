//! The check that a contender logs under load as before it: its log grows with its requests.

use std::time::Duration;

use bakeoff_model::plan::Work;
use bakeoff_model::record::CheckRecord;
use bakeoff_places::Instance;
use bakeoff_validity::{log_lines_due, logs_under_load};
use tokio::time::{Instant, sleep};

use super::verify;
use crate::contracts::GROUP;

/// How long buffered lines may take to come out after the load.
const LOG_LIMIT: Duration = Duration::from_secs(3);
/// Pause between two looks at the log.
const POLL: Duration = Duration::from_millis(100);

/// The requests since the load started, and how long the log was then.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Logged {
    /// Successful requests.
    pub(crate) requests: u64,
    /// Log lines before the first of these requests; `None` if lines are not counted.
    pub(crate) before: Option<u64>,
}

/// The check "logs under load": the number of lines since the load started matches its requests.
/// `None` if the suite does not ask for it.
pub(super) async fn logs(
    instance: &dyn Instance,
    work: &Work,
    logged: Logged,
) -> Option<CheckRecord> {
    let Logged { requests, before } = logged;
    let begun = Instant::now();
    let due = log_lines_due(work, requests)?;
    let judged = loop {
        let after = instance.sample().await.resources.log_lines;
        let grown = before
            .zip(after)
            .map(|(before, after)| after.saturating_sub(before));
        let is_enough = grown.is_none_or(|lines| bakeoff_base::number::as_f64(lines) >= due);
        if is_enough || begun.elapsed() >= LOG_LIMIT {
            break logs_under_load(work, requests, before, after);
        }
        sleep(POLL).await;
    };
    let (outcome, value) = judged?;
    Some(CheckRecord {
        group: GROUP.to_owned(),
        name: "logs under load".to_owned(),
        outcome,
        duration_ns: verify::elapsed_ns(begun),
        value,
    })
}
