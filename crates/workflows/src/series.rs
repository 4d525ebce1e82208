//! Several sessions with one common result. The series goes on by itself or not at all: no session
//! of it is resumed alone.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use bakeoff_model::record::Results;
use bakeoff_session::opening::OpenSession;
use bakeoff_session::session::{self, Audience};
use bakeoff_store::event::{Event, Observer};

/// A signal stopped the series: it ends it as an error does, and is none.
#[derive(Debug)]
pub(crate) struct Stopped;

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("stopped by a signal")
    }
}

impl std::error::Error for Stopped {}

/// Plays a session of a series. Returns its records.
///
/// # Errors
/// The session cannot be played, or [`Stopped`].
pub(crate) async fn play(
    open: OpenSession,
    folder: &Path,
    audience: &mut Audience<'_>,
) -> anyhow::Result<Arc<Results>> {
    let mut watcher = WithoutResume(&mut *audience.watcher);
    let mut own = Audience {
        watcher: &mut watcher,
        interruption: audience.interruption,
        sitting: None,
    };
    let session = session::carry_out(folder, open, &[], &mut own).await?;
    session.recorded.ok_or_else(|| Stopped.into())
}

/// Keeps the advice to resume a session from its observer.
struct WithoutResume<'a>(&'a mut dyn Observer);

impl Observer for WithoutResume<'_> {
    fn observe(&mut self, event: &Event) -> anyhow::Result<()> {
        match event {
            Event::Interrupted { .. } => Ok(()),
            event => self.0.observe(event),
        }
    }

    fn time_passes(&mut self) {
        self.0.time_passes();
    }
}
