//! The start of a contender, until its first valid response.

use bakeoff_model::failure::{Failure, Stage};
use bakeoff_model::record::Startup;
use bakeoff_runtime::{Instance, ReadyError, StartError, StartSpec};

use crate::case::Case;
use crate::contracts::Parts;
use crate::event::{Event, Observer};

/// Tells observers that a run entered a stage.
pub(crate) fn stage(observer: &mut dyn Observer, case: &Case, stage: Stage) -> anyhow::Result<()> {
    observer.observe(&Event::StageBegan {
        run: case.begin.run.id.clone(),
        stage,
    })
}

/// Starts a contender, with an empty database where the backend has databases.
///
/// # Errors
/// Why the run ends here.
pub async fn start<L>(
    parts: &Parts<'_, L>,
    spec: &StartSpec,
) -> Result<Box<dyn Instance>, Failure> {
    if let Some(backend) = parts.backend {
        let prepared = backend.prepare(&spec.label).await;
        prepared.map_err(|message| Failure::new(Stage::Start, message))?;
    }
    parts.runtime.start(spec).await.map_err(|error| {
        let evidence = match &error {
            StartError::PortInUse { port, .. } => {
                format!("end whatever listens on port {port}, or use --runtime docker")
            }
            StartError::Failed { hint, .. } => hint.clone().unwrap_or_default(),
        };
        Failure::new(Stage::Start, error.to_string()).with_evidence(evidence)
    })
}

/// Waits for the first valid response.
///
/// # Errors
/// Why the run ends here.
pub async fn await_ready(
    instance: &mut dyn Instance,
    spec: &StartSpec,
) -> Result<Startup, Failure> {
    instance
        .await_ready(spec.start_timeout)
        .await
        .map_err(|error| {
            Failure::new(Stage::Ready, error.to_string()).with_evidence(ready_evidence(&error))
        })
}

/// The same for a run's own instance, with the size of what was started.
pub(crate) async fn started(
    instance: &mut dyn Instance,
    spec: &StartSpec,
    case: &Case,
) -> Result<Startup, Failure> {
    let mut startup = await_ready(instance, spec).await?;
    startup.image_bytes = instance.image_bytes().or(case.artifact_bytes);
    Ok(startup)
}

/// The hint and the last lines of the log.
fn ready_evidence(error: &ReadyError) -> String {
    let hint = error
        .hint()
        .map(|hint| format!("{hint}\n"))
        .unwrap_or_default();
    format!("{hint}{}", error.log())
}
