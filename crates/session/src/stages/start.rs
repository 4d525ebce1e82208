//! The start of a contender, until its first valid response.

use bakeoff_model::failure::{Failure, Stage};
use bakeoff_model::record::Startup;
use bakeoff_places::contracts::BackendProbe;
use bakeoff_places::{Instance, Runtime, StartSpec};

use crate::event::{Event, Observer};
use crate::ready_case::Case;

/// Reports to observers that a run entered a stage.
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
pub async fn start(
    runtime: &dyn Runtime,
    backend: Option<&dyn BackendProbe>,
    spec: &StartSpec,
) -> Result<Box<dyn Instance>, Failure> {
    if let Some(backend) = backend {
        let prepared = backend.prepare(&spec.label).await;
        prepared.map_err(|problem| Failure::of(Stage::Start, problem))?;
    }
    let started = runtime.start(spec).await;
    started.map_err(|error| Failure::of(Stage::Start, error))
}

/// Waits for the first valid response.
///
/// # Errors
/// Why the run ends here.
pub async fn await_ready(
    instance: &mut dyn Instance,
    spec: &StartSpec,
) -> Result<Startup, Failure> {
    let ready = instance.await_ready(spec.start_timeout).await;
    ready.map_err(|error| error.failure())
}

/// Waits for the first valid response of a run's own instance; returns also the size of what was
/// started.
pub(crate) async fn started(
    instance: &mut dyn Instance,
    spec: &StartSpec,
    case: &Case,
) -> Result<Startup, Failure> {
    let mut startup = await_ready(instance, spec).await?;
    startup.image_bytes = instance.image_bytes().or(case.artifact_bytes);
    Ok(startup)
}
