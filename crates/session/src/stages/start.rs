//! The start of a contender, until its first valid response.

use bakeoff_model::record::Startup;
use bakeoff_model::record::failure::{Failure, Stage};
use bakeoff_places::{Instance, ReadyError, StartError, StartSpec};
use bakeoff_store::event::{Event, Observer};

use crate::contracts::{Halt, SessionDeps};
use crate::ready_case::Case;

/// Reports to observers that a run entered a stage.
pub(crate) fn stage(observer: &mut dyn Observer, case: &Case, stage: Stage) -> anyhow::Result<()> {
    observer.observe(&Event::StageBegan {
        run: case.begin.run.id.clone(),
        stage,
    })
}

/// Starts a contender, after what it calls has been brought back to its first state.
///
/// # Errors
/// Why the run ends here.
pub async fn start(parts: &SessionDeps<'_>, spec: &StartSpec) -> Result<Box<dyn Instance>, Halt> {
    let reset = parts.services.reset(&spec.label).await;
    reset.map_err(|problem| Failure::of(Stage::Start, problem))?;
    let started = parts.place.runtime.start(spec).await;
    started.map_err(start_error)
}

/// Why the run ends whose contender was not started.
pub(super) fn start_error(error: StartError) -> Halt {
    match error {
        StartError::Host(problem) => Halt::of_tool(problem),
        error => Failure::of(Stage::Start, error).into(),
    }
}

/// Waits for the first valid response.
///
/// # Errors
/// Why the run ends here.
pub async fn await_ready(instance: &mut dyn Instance, spec: &StartSpec) -> Result<Startup, Halt> {
    let ready = instance.await_ready(spec.start_timeout).await;
    ready.map_err(|error| match error {
        ReadyError::NotExecuted(problem) => Halt::of_tool(problem),
        error => error.failure().into(),
    })
}

/// Waits for the first valid response of a run's own instance; returns also the size of what was
/// started.
pub(crate) async fn started(
    instance: &mut dyn Instance,
    spec: &StartSpec,
    case: &Case,
) -> Result<Startup, Halt> {
    let mut startup = await_ready(instance, spec).await?;
    startup.image_bytes = instance.image_bytes().or(case.artifact_bytes);
    Ok(startup)
}
