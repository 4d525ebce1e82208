//! Whether a contender did all of the work that a suite requires besides its responses, over a
//! whole run. Requests to the backend are a rule of [`crate::RULES`].

use bakeoff_base::number::as_f64;
use bakeoff_model::plan::Work;
use bakeoff_model::request::check::CheckOutcome;

/// Share of the due lines below which a contender does not log each request. Lines are counted over
/// the whole run and a moment after it, so that buffers are flushed; the rest allows for a last
/// block of each thread.
const LOG_LINES_SHARE_MIN: f64 = 0.99;

/// Returns the log lines that are due for this number of successful requests; `None` if the suite
/// requires none, or nothing succeeded.
#[must_use]
pub fn log_lines_due(work: &Work, requests: u64) -> Option<f64> {
    let due = work.log_lines_min? * as_f64(requests) * LOG_LINES_SHARE_MIN;
    (due > 0.0).then_some(due)
}

/// Whether the log grew over the load by the lines that are due for `requests` successful requests,
/// with the growth in words. `before` and `after` are its lines, if they are counted; `None` if
/// none are due.
#[must_use]
pub fn logs_under_load(
    work: &Work,
    requests: u64,
    before: Option<u64>,
    after: Option<u64>,
) -> Option<(CheckOutcome, Option<String>)> {
    let due = log_lines_due(work, requests)?;
    let (Some(before), Some(after)) = (before, after) else {
        let reason = "the lines of its log are not counted here".to_owned();
        return Some((CheckOutcome::NotApplicable { reason }, None));
    };
    let lines = after.saturating_sub(before);
    let value = format!("{lines} lines for {requests} requests");
    let outcome = match as_f64(lines) < due {
        false => CheckOutcome::Good,
        true => CheckOutcome::Bad {
            assertion: format!(
                "under load it wrote {lines} lines for {requests} successful requests, each of \
                 which takes {} at least",
                work.log_lines_min.unwrap_or_default()
            ),
        },
    };
    Some((outcome, Some(value)))
}
