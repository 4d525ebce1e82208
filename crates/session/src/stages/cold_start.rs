//! One cold start: a fresh instance is started, polled until it responds, and stopped. No checks
//! and no load, so that nothing but the start is in its metrics.

use bakeoff_model::load::Connections;
use bakeoff_model::record::Record;
use bakeoff_model::record::failure::{Failure, Stage};
use bakeoff_model::suite::conditions::TrafficPath;
use bakeoff_places::contracts::STOP_GRACE;
use bakeoff_store::event::{self, Observer};

use super::lifecycle;
use super::start::{stage, start, started};
use crate::contracts::{Halt, SessionDeps};
use crate::ready_case::Case;

/// Makes one run of this kind; there is no last step to report.
pub(crate) async fn make(
    parts: &SessionDeps<'_>,
    case: &Case,
    observer: &mut dyn Observer,
) -> Result<Option<Connections>, Halt> {
    let spec = case.startable()?;
    if parts.place.runtime.traffic_path() == TrafficPath::External {
        let message = "a service that runs already has no cold starts";
        return Err(Failure::new(Stage::Start, message).into());
    }
    stage(observer, case, Stage::Start)?;
    let mut instance = start(parts, spec).await?;
    let startup = started(instance.as_mut(), spec, case).await?;
    event::record(observer, case.run_id(), Record::Started(startup))?;
    stage(observer, case, Stage::Stop)?;
    let ended = instance.exited().await.is_some();
    let report = instance.stop(STOP_GRACE).await;
    let stopped = lifecycle::stopped(&report, ended, 0);
    event::record(observer, case.run_id(), Record::Check(stopped))?;
    Ok(None)
}
