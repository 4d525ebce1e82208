//! One cold start: a fresh instance is started, asked until it answers, and stopped. No checks and
//! no load, so that nothing but the start is in its figures.

use bakeoff_model::load::Connections;
use bakeoff_model::record::Record;

use super::case::Case;
use super::event::Observer;
use super::run::{STOP_GRACE, stage, start, started};
use super::{Halt, Parts, lifecycle, tell};

/// Makes one run of this kind; there is no last step to tell of.
pub(crate) async fn make<L>(
    parts: &Parts<'_, L>,
    case: &Case,
    observer: &mut dyn Observer,
) -> Result<Option<Connections>, Halt> {
    let spec = case.startable()?;
    stage(observer, case, "start")?;
    let mut instance = start(parts, spec).await?;
    let startup = started(instance.as_mut(), case).await?;
    tell(observer, Record::Started(startup))?;
    stage(observer, case, "stop")?;
    let ended = instance.exited().await.is_some();
    let report = instance.stop(STOP_GRACE).await;
    let stopped = lifecycle::stopped(&report, ended, 0);
    tell(observer, Record::Check(stopped))?;
    Ok(None)
}
