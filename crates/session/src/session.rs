//! One session: a plan in a results folder, started or resumed, made, and ended. It reports
//! everything to observers as events.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bakeoff_analysis::{Analysis, AnalysisInput, BaselineConclusion};
use bakeoff_base::hint::hinted;
use bakeoff_model::measure::changed::Change;
use bakeoff_model::plan::Plan;
use bakeoff_model::record::{Cores, Results};
use bakeoff_model::suite::Suite;
use bakeoff_model::suite::run_count::RunsUntil;
use bakeoff_model::text::database_url::DatabaseUrl;
use bakeoff_model::text::duration_ns;
use bakeoff_places::BoxFuture;
use bakeoff_places::abilities::memory_bytes;
use bakeoff_places::place::open;
use bakeoff_store::event::{self, Event, Observer};
use bakeoff_store::file::make_inside;
use bakeoff_store::options::SessionOptions;
use bakeoff_store::results;
use bakeoff_store::session_file::SessionFile;
use bakeoff_store::suite_folder::{self, SuiteFolder};

use crate::baseline::{Base, replacement};
use crate::contracts::PendingRun;
use crate::driver::Driver;
use crate::opening::OpenSession;
use crate::run_count::Standing;
use crate::sitting::{Sitting, SittingOver};
use crate::store::recorder::Recorder;
use crate::testbed::{Testbed, TestbedOptions};
use crate::{changes, clock, flame, pilot, remaining, selection, sequential, turn_requirements};

/// Measuring the host takes longer than several steps that are shorter than this.
const KEPT_STEP_MIN: Duration = Duration::from_secs(1);

/// How a session ended; the worst of several is the greatest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SessionOutcome {
    /// Every run of the plan was completed, and there is a comparison; with a baseline, every head
    /// is well.
    Completed,
    /// A condition on head and base holds, or is undecided and this must fail.
    ConditionHolds,
    /// Some runs failed, or contenders have no number that can be compared; with a baseline, heads.
    WithFailures,
    /// The sitting is over, and runs are left.
    Left,
    /// A signal stopped the session.
    Interrupted,
}

/// Makes the future that ends when the user wants the session to stop.
pub type Interruption = fn() -> BoxFuture<'static, ()>;

/// The observers of a session.
pub struct Audience<'a> {
    /// Sees every event, after the recorder.
    pub watcher: &'a mut dyn Observer,
    /// When the session must stop.
    pub interruption: Interruption,
    /// How much is measured now [default: all].
    pub sitting: Option<Sitting>,
}

/// A session that ended, with its records.
pub struct EndedSession {
    /// How the session ended.
    pub ended: SessionOutcome,
    /// Records of the session; `None` if it was interrupted, or its sitting is over.
    pub recorded: Option<Arc<Results>>,
}

impl EndedSession {
    fn interrupted(ended: SessionOutcome) -> Self {
        Self {
            ended,
            recorded: None,
        }
    }
}

/// Makes the remaining runs of a session. `top` is the folder to resume: the one of all rounds, or
/// this one; `later` are the plans of rounds that have not started.
pub async fn carry_out(
    top: &Path,
    open: OpenSession,
    later: &[Plan],
    audience: &mut Audience<'_>,
) -> anyhow::Result<EndedSession> {
    let OpenSession {
        folder,
        recorder,
        mut session,
        base,
        suite,
    } = open;
    let pending = remaining::pending(&session.plan, &folder)?;
    if pending.is_empty() {
        let results = results::read(&folder)?;
        return end(&folder, &session, 0, results, audience.watcher);
    }
    let mut observers = Observers {
        recorder,
        watcher: &mut *audience.watcher,
    };
    let sitting = audience.sitting.as_ref();
    let suite = match suite {
        Some(suite) => suite,
        None => suite_folder::read(&session.suite_folder)?,
    };
    let analysis = Some(suite.suite.analysis.clone());
    let published = suite.suite.published.clone();
    let played = play(
        &mut session,
        suite,
        base.as_ref(),
        &folder,
        &pending,
        &mut observers,
        sitting,
    );
    let outcome = tokio::select! {
        outcome = played => Some(outcome),
        () = (audience.interruption)() => None,
    };
    let Some(outcome) = outcome else {
        for (run, record) in observers.recorder.interrupt(&clock::now_rfc3339())? {
            event::record(observers.watcher, &run, record)?;
        }
        observers.watcher.observe(&Event::Interrupted {
            suite: session.suite_folder,
            resume: top.to_owned(),
        })?;
        return Ok(EndedSession::interrupted(SessionOutcome::Interrupted));
    };
    if outcome
        .as_ref()
        .is_err_and(|error| error.is::<SittingOver>())
    {
        observers
            .watcher
            .observe(&remaining::sitting_ended(top, &folder, session, later)?)?;
        return Ok(EndedSession::interrupted(SessionOutcome::Left));
    }
    if outcome.is_err() {
        observers.recorder.withdraw();
    }
    let made = outcome?;
    let (results, _) = results::read_session(&folder)?;
    let results = Results {
        analysis,
        published,
        ..results
    };
    end(&folder, &session, made, results, observers.watcher)
}

/// Reports to observers how the session ended, judged by its records.
fn end(
    folder: &Path,
    session: &SessionFile,
    made: usize,
    results: Results,
    watcher: &mut dyn Observer,
) -> anyhow::Result<EndedSession> {
    let results = Arc::new(results);
    let failed = results::failed_runs(&results);
    watcher.observe(&Event::SessionEnded {
        results: folder.to_owned(),
        runs: session.plan.runs.len(),
        failed,
        made,
        recorded: Arc::clone(&results),
    })?;
    let analysis = Analysis::of(&AnalysisInput::new(&results, ""));
    // A base that fails is what it was; a head that fails is what is asked about.
    let ended = match &analysis.against_base {
        Some(against) => match against.conclusion() {
            BaselineConclusion::Passed => SessionOutcome::Completed,
            BaselineConclusion::Undecided | BaselineConclusion::ConditionHolds => {
                SessionOutcome::ConditionHolds
            }
            BaselineConclusion::HeadFailed => SessionOutcome::WithFailures,
        },
        None if failed == 0 && analysis.is_answered() => SessionOutcome::Completed,
        None => SessionOutcome::WithFailures,
    };
    Ok(EndedSession {
        ended,
        recorded: Some(results),
    })
}

/// Builds, starts the backend and plays all pending runs; how many were made.
async fn play(
    session: &mut SessionFile,
    mut folder: SuiteFolder,
    base: Option<&Base>,
    results: &Path,
    pending: &[PendingRun],
    observers: &mut Observers<'_>,
    sitting: Option<&Sitting>,
) -> anyhow::Result<usize> {
    let plan = &session.plan;
    let placement = selection::placement(plan, &session.options.hosts);
    let mut warnings = placement.warnings;
    warnings.extend(base.iter().flat_map(|base| base.notes.clone()));
    warnings.extend(warnings_of(session, &folder.suite)?);
    // Before anything is measured, so that a mistake in it costs nothing.
    let rules = flame::layer_rules(&session.suite_folder)?;
    let changes = changes_of(&session.options, base)?;
    if let Some(elsewhere) =
        open::elsewhere(plan, &session.options.hosts, &session.options.cluster).await?
    {
        turn_requirements::must_fit(plan, &elsewhere.node, elsewhere.memory_bytes)?;
        warnings.extend(elsewhere.notes);
    }
    observers.observe(&began(plan, pending, warnings))?;
    folder.suite.set_backend_delay(plan.backend_delay);
    unchanged(session, &folder.suite)?;
    if let Some(base) = base {
        base.join(&mut folder);
    }
    let contenders: BTreeSet<&String> = pending.iter().map(|one| &one.run.contender).collect();
    let options = testbed_options(session, &contenders, placement.cores, results)?;
    let mut testbed = Testbed::prepare(folder, options, observers).await?;
    let same = remaining::same_builds(results, pending, |name| testbed.digest(name));
    let compared = same.and_then(|()| match base {
        Some(base) => base.leave_out_unchanged(&testbed, session, observers),
        None => Ok(()),
    });
    if let Err(error) = compared {
        testbed.close().await;
        return Err(error);
    }
    let pending = still_planned(&session.plan, pending);
    if !is_for_trying(&session.plan) {
        testbed.measure_generator(observers).await?;
        testbed.measure_core_sharing(observers).await?;
    }
    let driver = Driver {
        parts: testbed.deps(),
        cases: &testbed,
        now: clock::now_rfc3339,
        former: &|run| results::capacities_before(results, run),
        sitting,
    };
    let decide = |plan: &Plan, asked: RunsUntil| decision(plan, asked, base, results);
    let mut played = pilot::play(&driver, session, &pending, &decide, observers).await;
    if let (Ok(made), Some(_)) = (&played, base) {
        played = replacement::play(&driver, session, results, *made, observers).await;
    }
    if let Ok(made) = played
        && session.options.flame_graphs
    {
        let runs = flame::runs(&session.plan, &contenders, &changes);
        let reading = flame::Reading {
            rules: &rules,
            changes: &changes,
        };
        let drawn = flame::draw_all(&driver, &runs, &reading, results, observers).await;
        played = drawn.map(|()| made);
    }
    testbed.close().await;
    played
}

/// Returns what changed between the sources of the contenders, if their stacks will be sampled:
/// between the revisions that are named, or since the commit of the baseline.
fn changes_of(options: &SessionOptions, base: Option<&Base>) -> anyhow::Result<Vec<Change>> {
    let of_base = base.and_then(Base::revisions);
    match options.revisions.as_ref().or(of_base.as_ref()) {
        Some(revisions) if options.flame_graphs => changes::between(revisions),
        _ => Ok(Vec::new()),
    }
}

/// Returns whether all steps are so short that measuring the host would take longer: such a session
/// tries a suite, and its numbers are not meant to be kept.
fn is_for_trying(plan: &Plan) -> bool {
    let mut steps = plan.runs.iter().flat_map(|run| &run.steps);
    steps.all(|step| step.duration < KEPT_STEP_MIN)
}

/// The test bed that a session needs for these contenders.
fn testbed_options(
    session: &SessionFile,
    contenders: &BTreeSet<&String>,
    cores: Cores,
    results: &Path,
) -> anyhow::Result<TestbedOptions> {
    let plan = &session.plan;
    Ok(TestbedOptions {
        runtime: plan.runtime,
        side_by_side: plan.has_turns(),
        backend: plan.backend,
        profile: plan.profile.clone(),
        contenders: contenders.iter().copied().cloned().collect(),
        cores,
        seed: plan.seed,
        session: session.options.clone(),
        logs: make_inside(results, "logs")?,
    })
}

/// The runs that are left when contenders were taken out of the plan.
fn still_planned(plan: &Plan, pending: &[PendingRun]) -> Vec<PendingRun> {
    let is_left = |one: &&PendingRun| plan.runs.contains(&one.run);
    pending.iter().filter(is_left).cloned().collect()
}

/// How many runs there are, as far as the records of a results folder decide it.
fn decision(
    plan: &Plan,
    asked: RunsUntil,
    base: Option<&Base>,
    results: &Path,
) -> anyhow::Result<Standing> {
    let mut records = results::read_records(results)?;
    records.baseline = base.map(|base| base.baseline.clone());
    Ok(match asked.sequential {
        true => sequential::decide(plan, asked, records),
        false => Standing::Decided(pilot::decide(plan, asked, &records)),
    })
}

/// Refuses a suite that is another one than when the session started.
fn unchanged(session: &SessionFile, suite: &Suite) -> anyhow::Result<()> {
    if suite.digest == session.plan.suite_digest {
        return Ok(());
    }
    let folder = session.suite_folder.display();
    Err(hinted(
        format_args!("{folder}: the suite has changed since the session started"),
        "its numbers could not be compared; start a new session",
    ))
}

/// Returns warnings for the user before it starts, besides where its parts are placed.
fn warnings_of(session: &SessionFile, suite: &Suite) -> anyhow::Result<Vec<String>> {
    let memory_bytes = memory_bytes(session.plan.runtime, &session.options.hosts);
    let together = turn_requirements::note(&session.plan, memory_bytes);
    let mut warnings: Vec<String> = together.into_iter().collect();
    let skipped = session.skipped.iter();
    warnings.extend(skipped.map(|skipped| format!("skipped: {skipped}")));
    if session.options.flame_graphs {
        warnings.extend(flame::not_to_be_had(&session.plan, suite));
    }
    warnings.extend(session.options.backend_url.as_ref().map(not_metered));
    Ok(warnings)
}

fn began(plan: &Plan, pending: &[PendingRun], warnings: Vec<String>) -> Event {
    let left = Plan {
        runs: pending.iter().map(|one| one.run.clone()).collect(),
        ..plan.clone()
    };
    let (expected, shortest) = (left.expected(), left.shortest());
    Event::SessionBegan {
        runs: pending.len(),
        runs_certain: left.certain().count(),
        finished_before: plan.runs.len() - pending.len(),
        expected_ns: duration_ns::whole(expected),
        shortest_ns: duration_ns::whole(shortest),
        warnings,
    }
}

/// Returns a note on what is not known of a server of the user's own.
fn not_metered(url: &DatabaseUrl) -> String {
    format!(
        "the backend is a server that runs already, {}: its CPU, memory and connections are not \
         metered, and whether it was the bottleneck is not known",
        url.place()
    )
}

/// The recorder first, so that what a person sees is on the disk.
struct Observers<'a> {
    recorder: Recorder,
    watcher: &'a mut dyn Observer,
}

impl Observer for Observers<'_> {
    fn observe(&mut self, event: &Event) -> anyhow::Result<()> {
        self.recorder.observe(event)?;
        self.watcher.observe(event)
    }

    fn time_passes(&mut self) {
        self.watcher.time_passes();
    }
}
