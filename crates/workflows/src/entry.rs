//! The entry point: starts or resumes a session, or all rounds of a suite.

use bakeoff_session::opening::{self, SessionRequest};
use bakeoff_session::session::{self, Audience, SessionOutcome};
use bakeoff_store::event::Event;

use crate::rounds;

/// Starts or resumes a session, or several rounds.
///
/// # Errors
/// The session cannot be made at all; failed runs are not an error.
pub async fn run(
    order: &SessionRequest,
    audience: &mut Audience<'_>,
) -> anyhow::Result<SessionOutcome> {
    audience.watcher.observe(&Event::stream_start())?;
    if rounds::are_wanted(order)? {
        return rounds::run_all(order, audience).await;
    }
    let open = opening::open(order)?;
    let top = open.folder.clone();
    let session = session::carry_out(&top, open, &[], audience).await?;
    Ok(session.ended)
}
