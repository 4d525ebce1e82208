//! Commands that play several sessions for one result.

use std::io::Write as _;
use std::path::Path;

use anyhow::Context as _;
use bakeoff_session::session::{Audience, SessionOutcome};
use bakeoff_session::store::locked_folder::LockedFolder;
use bakeoff_session::store::recorder::refuse_session;

use super::run::status;
use super::signals::interrupted;
use crate::args::linux::OutputArgs;
use crate::output::session;

/// Plays the sessions below this folder of results, and names the folder if a signal stops them.
/// Returns the exit status.
pub(super) fn play(
    args: &OutputArgs,
    results: &Path,
    sessions: impl AsyncFnOnce(&mut Audience<'_>) -> anyhow::Result<SessionOutcome>,
) -> anyhow::Result<u8> {
    // Its sessions lock their own folders; their names are those of this series.
    let _locked = LockedFolder::make(results)?;
    refuse_session(results)?;
    let runtime = tokio::runtime::Runtime::new().context("cannot start the async runtime")?;
    runtime.block_on(async {
        let mut watcher = session::watcher(args)?;
        let mut audience = Audience {
            watcher: &mut *watcher,
            interruption: || Box::pin(interrupted()),
            sitting: None,
        };
        let ended = sessions(&mut audience).await?;
        if ended == SessionOutcome::Interrupted && !args.quiet {
            let folder = results.display();
            // A closed terminal is not a reason to fail.
            let _ = writeln!(
                std::io::stderr(),
                "interrupted; what was measured is in {folder}"
            );
        }
        Ok(status(ended))
    })
}
