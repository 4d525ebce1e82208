//! One run: start, verify, load, stop. Every stage can end it; what was recorded stays.

use std::time::Duration;

use bakeoff_model::check::CheckOutcome;
use bakeoff_model::load::Connections;
use bakeoff_model::record::{CheckRecord, IdleRecord, Record, Startup};
use bakeoff_runtime::{Instance, ReadyError, StartError, StartSpec};

use super::case::Case;
use super::event::{Event, Observer};
use super::{Halt, Parts, lifecycle, measure, tell, verify};
use crate::loader::Loader;

/// How long a contender may take until its first valid answer (C3).
pub(crate) const START_LIMIT: Duration = Duration::from_secs(15);
/// How long a contender may take to stop (C3).
pub(crate) const STOP_GRACE: Duration = Duration::from_secs(15);

/// Makes one run; the connections of its last step when it is completed.
pub(crate) async fn make<L: Loader>(
    parts: &Parts<'_, L>,
    case: &Case,
    notes: &mut Vec<String>,
    observer: &mut dyn Observer,
) -> Result<Option<Connections>, Halt> {
    let run = &case.begin.run;
    let spec = case.startable()?;
    if run.lifecycle {
        stage(observer, case, "lifecycle")?;
        lifecycle::before(parts, spec, observer).await?;
    }
    stage(observer, case, "start")?;
    let mut instance = start(parts, spec).await?;
    let startup = started(instance.as_mut(), case).await?;
    let startup_ns = startup.startup_ns;
    tell(observer, Record::Started(startup))?;
    idle(parts, instance.as_ref(), "started", observer).await?;

    stage(observer, case, "verify")?;
    verified(parts, instance.as_ref(), observer).await?;
    idle(parts, instance.as_ref(), "checked", observer).await?;
    if run.lifecycle {
        let figures = lifecycle::Figures {
            startup_ns,
            artifact_bytes: case.artifact_bytes,
        };
        for check in lifecycle::observed(parts, instance.as_ref(), figures).await {
            tell(observer, Record::Check(check))?;
        }
    }

    stage(observer, case, "load")?;
    let mut last = Connections::default();
    let loaded = measure::load(parts, case, instance.as_mut(), &mut last, notes, observer).await;
    let ended = instance.exited().await;
    if ended.is_none() {
        idle(parts, instance.as_ref(), "after-load", observer).await?;
        if let Some(check) = parts.suite.checks.first() {
            let alive = verify::alive(parts.client, instance.address(), check).await;
            tell(observer, Record::Check(alive))?;
        }
    }
    stage(observer, case, "stop")?;
    let report = instance.stop(STOP_GRACE).await;
    tell(
        observer,
        Record::Check(lifecycle::stopped(&report, ended.is_some(), last.asked)),
    )?;
    loaded?;
    if let Some(exit) = ended {
        notes.push(format!("{exit} after the load"));
    }
    Ok(Some(last))
}

/// Tells observers that a run entered a stage.
pub(crate) fn stage(
    observer: &mut dyn Observer,
    case: &Case,
    stage: &'static str,
) -> anyhow::Result<()> {
    observer.observe(&Event::Stage {
        run: case.begin.run.id.clone(),
        stage,
    })
}

/// Starts a contender, or says why the run ends here.
pub(crate) async fn start<L>(
    parts: &Parts<'_, L>,
    spec: &StartSpec,
) -> Result<Box<dyn Instance>, Halt> {
    parts.runtime.start(spec).await.map_err(|error| {
        let evidence = match &error {
            StartError::PortInUse { port, .. } => {
                format!("end whatever listens on port {port}, or use --runtime docker")
            }
            StartError::Failed { hint, .. } => hint.clone().unwrap_or_default(),
        };
        Halt::Failed {
            stage: "start",
            message: error.to_string(),
            evidence,
        }
    })
}

/// Waits for the first valid answer, or says why the run ends here.
pub(crate) async fn await_ready(instance: &mut dyn Instance) -> Result<Startup, Halt> {
    instance
        .await_ready(START_LIMIT)
        .await
        .map_err(|error| Halt::Failed {
            stage: "ready",
            message: error.to_string(),
            evidence: ready_evidence(&error),
        })
}

/// The same for a run's own instance, with the size of what was started.
pub(crate) async fn started(instance: &mut dyn Instance, case: &Case) -> Result<Startup, Halt> {
    let mut startup = await_ready(instance).await?;
    startup.image_bytes = instance.image_bytes().or(case.artifact_bytes);
    Ok(startup)
}

/// The hint and the last lines of the log.
pub(crate) fn ready_evidence(error: &ReadyError) -> String {
    let hint = error
        .hint()
        .map(|hint| format!("{hint}\n"))
        .unwrap_or_default();
    format!("{hint}{}", error.log())
}

/// All functional checks. A contender that answers wrongly is not loaded and so never ranked.
async fn verified<L>(
    parts: &Parts<'_, L>,
    instance: &dyn Instance,
    observer: &mut dyn Observer,
) -> Result<(), Halt> {
    let mut failed: Vec<CheckRecord> = Vec::new();
    for check in &parts.suite.checks {
        let record = verify::check(parts.client, instance.address(), check).await;
        if record.outcome != CheckOutcome::Good {
            failed.push(record.clone());
        }
        tell(observer, Record::Check(record))?;
    }
    if failed.is_empty() {
        return Ok(());
    }
    let list: Vec<String> = failed.iter().map(describe).collect();
    Err(Halt::Failed {
        stage: "verify",
        message: format!(
            "{} of {} functional checks failed; it is not loaded",
            failed.len(),
            parts.suite.checks.len()
        ),
        evidence: list.join("\n"),
    })
}

/// One failed check as a line.
pub(crate) fn describe(record: &CheckRecord) -> String {
    let why = match &record.outcome {
        CheckOutcome::Good => "good",
        CheckOutcome::Bad { assertion } => assertion,
        CheckOutcome::ConnErr { message } => message,
        CheckOutcome::NotApplicable { reason } => reason,
    };
    format!("{}/{}: {why}", record.group, record.name)
}

/// A reading of the resources outside the load.
async fn idle<L>(
    parts: &Parts<'_, L>,
    instance: &dyn Instance,
    moment: &str,
    observer: &mut dyn Observer,
) -> anyhow::Result<()> {
    let contender = Some(instance.sample().await);
    let backend = match parts.backend {
        Some(backend) => Some(backend.sample().await),
        None => None,
    };
    tell(
        observer,
        Record::Idle(IdleRecord {
            moment: moment.to_owned(),
            contender,
            backend,
        }),
    )
}
