//! One run: start, verify, load, stop. Every stage can end it; what was recorded stays.

use bakeoff_model::load::Connections;
use bakeoff_model::measure::resource::GcLog;
use bakeoff_model::record::failure::{Failure, Stage};
use bakeoff_model::record::{CheckRecord, IdleRecord, Moment, Record};
use bakeoff_model::request::check::CheckOutcome;
use bakeoff_model::suite::conditions::TrafficPath;
use bakeoff_places::Instance;
use bakeoff_places::contracts::{Destination, STOP_GRACE};
use bakeoff_places::meter::gc_log;
use bakeoff_store::event::{self, Observer};

use super::log_growth::{self, Logged};
use super::measure::{Account, LoadDriver, RunContext};
use super::row_count::{self, Counted};
use super::start::{stage, start, started};
use super::{lifecycle, probe, verify};
use crate::contracts::{Halt, SessionDeps};
use crate::ready_case::Case;

/// Makes one run; the connections of its last step when it is completed.
pub(crate) async fn make(
    parts: &SessionDeps<'_>,
    case: &Case,
    notes: &mut Vec<String>,
    observer: &mut dyn Observer,
) -> Result<Option<Connections>, Halt> {
    let mut instance = verified(parts, case, observer).await?;
    let counted = row_count::before(parts, case).await?;
    stage(observer, case, Stage::Load)?;
    let mut on = RunContext {
        parts,
        case,
        instance: instance.as_mut(),
    };
    let mut loading = LoadDriver::begin(std::slice::from_ref(&on)).await?;
    let loaded = play_all(&mut loading, &mut on, observer).await;
    let account = loading.close(0);
    finish(&mut on, account, counted, loaded, notes, observer).await
}

/// Loads the contender through all steps.
async fn play_all(
    loading: &mut LoadDriver,
    on: &mut RunContext<'_>,
    observer: &mut dyn Observer,
) -> Result<(), Halt> {
    while loading.has_next() {
        loading.play_alone(on, observer).await?;
    }
    loading.end().await
}

/// Starts the contender and checks that it is one: what is not loaded cannot be ranked.
pub(crate) async fn verified(
    parts: &SessionDeps<'_>,
    case: &Case,
    observer: &mut dyn Observer,
) -> Result<Box<dyn Instance>, Halt> {
    let run = &case.begin.run;
    let spec = case.startable()?;
    probe::measure(parts, case, observer).await?;
    stage(observer, case, Stage::Start)?;
    let mut instance = start(parts, spec).await?;
    let startup = started(instance.as_mut(), spec, case).await?;
    let startup_ns = startup.startup_ns;
    if is_ours(parts) {
        event::record(observer, case.run_id(), Record::Started(startup))?;
    }
    let on = RunContext {
        parts,
        case,
        instance: instance.as_mut(),
    };
    idle(&on, Moment::Started, None, observer).await?;

    stage(observer, case, Stage::Verify)?;
    checked(&on, observer).await?;
    idle(&on, Moment::Checked, None, observer).await?;
    if run.lifecycle {
        let figures = lifecycle::Figures {
            startup_ns,
            artifact_bytes: case.artifact_bytes,
        };
        for check in lifecycle::observed(parts, on.instance, figures).await {
            event::record(observer, case.run_id(), Record::Check(check))?;
        }
    }
    Ok(instance)
}

/// Makes the slow lifecycle checks, if they belong to the run: after everything else, whatever its
/// outcome, because a run that they precede is not like the others.
pub(crate) async fn checked_apart(
    parts: &SessionDeps<'_>,
    case: &Case,
    observer: &mut dyn Observer,
) -> anyhow::Result<()> {
    match case.startable() {
        Ok(spec) if case.begin.run.lifecycle => {
            stage(observer, case, Stage::Lifecycle)?;
            let each = |check| event::record(observer, case.run_id(), Record::Check(check));
            lifecycle::apart(parts, spec, each).await
        }
        _ => Ok(()),
    }
}

/// Ends a run after its load, however that ended: a last look, the stop, and what was `counted`
/// before it once more.
pub(crate) async fn finish(
    on: &mut RunContext<'_>,
    mut account: Account,
    counted: Option<Counted<'_>>,
    loaded: Result<(), Halt>,
    notes: &mut Vec<String>,
    observer: &mut dyn Observer,
) -> Result<Option<Connections>, Halt> {
    let (parts, case) = (on.parts, on.case);
    let (last, logged) = (account.last, account.logged);
    let requests = std::mem::take(&mut account.requests);
    notes.extend(account.notes(case));
    let ended = on.instance.exited().await;
    if ended.is_none() {
        after_load(on, logged, observer).await?;
    }
    stage(observer, case, Stage::Stop)?;
    let report = on.instance.stop(STOP_GRACE).await;
    if is_ours(parts) {
        let stopped = lifecycle::stopped(&report, ended.is_some(), last.asked);
        event::record(observer, case.run_id(), Record::Check(stopped))?;
    }
    loaded?;
    row_count::after(counted, &requests, case, observer).await?;
    if let Some(exit) = ended {
        notes.push(format!("{exit} after the load"));
    }
    Ok(Some(last))
}

/// The last looks at a contender that is alive after the load: its log, the last reading with what
/// it wrote down itself, and the check "alive at the end".
async fn after_load(
    on: &RunContext<'_>,
    logged: Logged,
    observer: &mut dyn Observer,
) -> anyhow::Result<()> {
    let (parts, case, instance) = (on.parts, on.case, &*on.instance);
    let logs = log_growth::logs(instance, &case.begin.run.work, logged).await;
    let gc_log = case.gc_log.as_ref().and_then(|path| instance.file(path));
    let gc = gc_log.map(|text| gc_log::parse(&text));
    idle(on, Moment::AfterLoad, gc, observer).await?;
    if let Some(check) = logs {
        event::record(observer, case.run_id(), Record::Check(check))?;
    }
    let Some(check) = verify::telling(&parts.suite.checks) else {
        return Ok(());
    };
    let alive = verify::alive(&*parts.place.client, &Destination::of(instance), check).await;
    event::record(observer, case.run_id(), Record::Check(alive))
}

/// Whether the contender's life is in our hands.
fn is_ours(parts: &SessionDeps<'_>) -> bool {
    parts.place.runtime.traffic_path() != TrafficPath::External
}

/// All functional checks. A contender with wrong responses is not loaded and so never ranked.
async fn checked(on: &RunContext<'_>, observer: &mut dyn Observer) -> Result<(), Halt> {
    let (parts, to) = (on.parts, Destination::of(&*on.instance));
    let mut failed: Vec<CheckRecord> = Vec::new();
    for check in &parts.suite.checks {
        let record = verify::check(&*parts.place.client, &to, check).await;
        if record.outcome != CheckOutcome::Good {
            failed.push(record.clone());
        }
        event::record(observer, on.case.run_id(), Record::Check(record))?;
    }
    if failed.is_empty() {
        return Ok(());
    }
    let list: Vec<String> = failed.iter().map(describe).collect();
    let message = format!(
        "{} of {} functional checks failed; it is not loaded",
        failed.len(),
        parts.suite.checks.len()
    );
    let failure = Failure::new(Stage::Verify, message).with_evidence(list.join("\n"));
    Err(failure.into())
}

/// One failed check as a line.
#[must_use]
pub fn describe(record: &CheckRecord) -> String {
    let why = match &record.outcome {
        CheckOutcome::Good => "good",
        CheckOutcome::Bad { assertion } => assertion,
        CheckOutcome::ConnErr { message } => message,
        CheckOutcome::NotApplicable { reason } => reason,
    };
    format!("{}/{}: {why}", record.group, record.name)
}

/// Records a reading of the resources outside the load.
async fn idle(
    on: &RunContext<'_>,
    moment: Moment,
    gc: Option<GcLog>,
    observer: &mut dyn Observer,
) -> anyhow::Result<()> {
    let contender = on.instance.sample().await.resources;
    let backend = on.parts.services.sample().await;
    let idle = Record::Idle(IdleRecord {
        moment,
        contender: Some(contender),
        backend,
        gc,
    });
    event::record(observer, on.case.run_id(), idle)
}
