//! Whether a contender does under load what it does before: its log grows with its requests.

use std::time::Duration;

use bakeoff_model::plan::Work;
use bakeoff_model::record::{CheckRecord, Record};
use bakeoff_runtime::Instance;
use bakeoff_validity::{log_lines_due, logs_under_load};
use tokio::time::{Instant, sleep};

use super::verify;
use crate::contracts::GROUP;
use crate::event::{Event, Observer};

/// How long buffered lines may take to come out after the load.
const LOG_LIMIT: Duration = Duration::from_secs(3);
/// How often they are looked for.
const POLL: Duration = Duration::from_millis(100);

/// Counts the successful requests among the events that pass.
pub(super) struct Counting<'a> {
    observer: &'a mut dyn Observer,
    requests: u64,
}

impl<'a> Counting<'a> {
    pub(super) fn new(observer: &'a mut dyn Observer) -> Self {
        Self {
            observer,
            requests: 0,
        }
    }

    pub(super) fn requests(&self) -> u64 {
        self.requests
    }
}

impl Observer for Counting<'_> {
    fn observe(&mut self, event: &Event) -> anyhow::Result<()> {
        if let Event::Recorded { record } = event
            && let Record::Interval(interval) = record.as_ref()
        {
            self.requests += interval.load.requests;
        }
        self.observer.observe(event)
    }
}

/// The check "logs under load": the lines since `before` are as many as `requests` take. `None`
/// where the suite does not ask for it.
pub(super) async fn logs(
    instance: &dyn Instance,
    work: &Work,
    requests: u64,
    before: Option<u64>,
) -> Option<CheckRecord> {
    let begun = Instant::now();
    let due = log_lines_due(work, requests)?;
    let judged = loop {
        let after = instance.sample().await.log_lines;
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
