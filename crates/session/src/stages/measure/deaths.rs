//! Contenders, backends and dependencies that end while contenders are loaded: the load on what has
//! ended is over.

use std::time::Duration;

use bakeoff_base::text::counted;
use bakeoff_model::failure::{Failure, Stage};
use bakeoff_model::load::{LoadEvent, StepCommand};
use bakeoff_runtime::Instance;

use super::{LoadDriver, RunContext};
use crate::contracts::Halt;

/// How often the session looks whether contenders still live while they are loaded.
const LOOK: Duration = Duration::from_millis(100);

impl LoadDriver {
    pub(super) fn all_lost(&self) -> bool {
        self.accounts.iter().all(|account| account.lost.is_some())
    }

    /// The next event of the load generator; `None` if the last contender has ended before, and
    /// with it the load. One that ends while others live is left out from then on.
    pub(super) async fn event_or_death(
        &mut self,
        on: &mut [RunContext<'_>],
    ) -> Result<Option<LoadEvent>, Halt> {
        loop {
            // What is dropped here has taken nothing: the next call goes on where it was.
            if let Ok(event) = tokio::time::timeout(LOOK, self.event()).await {
                return event.map(Some);
            }
            self.look_for_deaths(on).await?;
            if self.all_lost() {
                return Ok(None);
            }
        }
    }

    /// Loses the contenders that have ended, and ends the load on them. The end of the backend ends
    /// all.
    pub(super) async fn look_for_deaths(&mut self, on: &mut [RunContext<'_>]) -> Result<(), Halt> {
        if let Some(first) = on.first() {
            first.parts.backend_lives().await?;
        }
        let mut ended = Vec::new();
        for (side, (one, account)) in (0..).zip(on.iter_mut().zip(&mut self.accounts)) {
            if account.lost.is_none() {
                account.lost = death(one.instance, account.last.asked).await;
                ended.extend(account.lost.is_some().then_some(side));
            }
        }
        if !self.all_lost() {
            for side in ended {
                self.tell(StepCommand::Leave(side)).await?;
            }
        }
        Ok(())
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
