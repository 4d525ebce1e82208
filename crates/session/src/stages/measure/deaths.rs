//! Contenders, backends and dependencies that end while contenders are loaded: the load on what has
//! ended is over.

use std::time::Duration;

use bakeoff_base::text::counted;
use bakeoff_model::load::{LoadEvent, StepCommand};
use bakeoff_model::record::failure::{Failure, Stage};
use bakeoff_places::Instance;

use super::{LoadDriver, RunContext};
use crate::contracts::Halt;

/// How long the load generator may take to end a step whose contenders have all ended.
const PATIENCE: Duration = Duration::from_secs(3);

/// How often the session looks whether contenders still live while they are loaded.
const LOOK: Duration = Duration::from_millis(100);

impl LoadDriver {
    pub(super) fn all_lost(&self) -> bool {
        self.accounts.iter().all(|account| account.lost.is_some())
    }

    /// The next event of the load generator; `None` if all contenders have ended and it does not
    /// say that the step has, too. One that ends while others live is left out from then on.
    pub(super) async fn event_or_death(
        &mut self,
        on: &mut [RunContext<'_>],
    ) -> Result<Option<LoadEvent>, Halt> {
        let mut patience = PATIENCE;
        loop {
            // A call that is dropped has taken no event: the next one gets it.
            if let Ok(event) = tokio::time::timeout(LOOK, self.event()).await {
                return event.map(Some);
            }
            for side in self.look_for_deaths(on).await? {
                self.accounts[side].has_open_slice = true;
            }
            if self.all_lost() {
                patience = patience.saturating_sub(LOOK);
            }
            if patience.is_zero() {
                return Ok(None);
            }
        }
    }

    /// Loses the contenders that have ended, ends the load on them, and returns which they are. The
    /// end of the backend ends all.
    pub(super) async fn look_for_deaths(
        &mut self,
        on: &mut [RunContext<'_>],
    ) -> Result<Vec<usize>, Halt> {
        if let Some(first) = on.first() {
            first.parts.services_run().await?;
        }
        let mut ended = Vec::new();
        for (side, (one, account)) in on.iter_mut().zip(&mut self.accounts).enumerate() {
            if account.lost.is_none() {
                account.lost = death(one.instance, account.last.asked).await;
                ended.extend(account.lost.is_some().then_some(side));
            }
        }
        for side in &ended {
            let side = u32::try_from(*side).unwrap_or(u32::MAX);
            // A load generator that cannot be told has ended, with its last step or as its next
            // event says.
            let _ = self.generator.tell(StepCommand::Leave(side)).await;
        }
        Ok(ended)
    }
}

/// How a contender ended under load; `None` while it lives.
async fn death(instance: &mut dyn Instance, connections: u32) -> Option<Failure> {
    let exit = instance.exited().await?;
    let at = counted(connections.into(), "connection");
    let message = if let Some(why) = instance.ended_because() {
        format!("{why}, at {at}")
    } else if exit.oom_killed {
        format!("killed for memory at {at}")
    } else {
        format!("{exit} at {at}")
    };
    let log = instance.log_path().file_name();
    let log = log.map(|name| format!("all of its log is logs/{}", name.to_string_lossy()));
    let failure = Failure::new(Stage::Load, message)
        .with_oom_killed(exit.oom_killed)
        .with_evidence(instance.logs())
        .with_hints(log);
    Some(failure)
}
