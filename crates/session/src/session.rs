//! One session: a plan in a results folder, begun or resumed, made, and ended. Everything that
//! it has to say goes to observers as events.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use bakeoff_analysis::{Analysis, AnalysisInput, BaselineConclusion};
use bakeoff_model::conditions::RuntimeKind;
use bakeoff_model::database_url::DatabaseUrl;
use bakeoff_model::duration_ns;
use bakeoff_model::plan::{Plan, PlanOptions};
use bakeoff_model::runs::{RunsDecision, RunsUntil};
use bakeoff_model::suite::{ALL_ROUNDS, Round, Suite};
use bakeoff_runtime::kubernetes::ClusterSettings;
use bakeoff_runtime::{BoxFuture, host};

use crate::baseline::{self, Against, Base, replacement};
use crate::clock;
use crate::contracts::{Parts, PendingRun};
use crate::driver::Driver;
use crate::event::{self, Event, Observer};
use crate::flame;
use crate::hint::hinted;
use crate::left;
use crate::pilot;
use crate::selection::{self, Selection};
use crate::sequential;
use crate::sitting::{Sitting, SittingOver};
use crate::store::recorder::Recorder;
use crate::store::results;
use crate::store::round_file::RoundFile;
use crate::store::session_file::SessionFile;
use crate::store::suite_folder;
use crate::testbed::{Testbed, TestbedOptions, abilities, builds, cluster};
use crate::together::{self, Abilities};

/// A session to begin.
#[derive(Debug, Clone)]
pub struct NewSession {
    /// Folder of the suite.
    pub suite: PathBuf,
    /// The selection of contenders, benchmarks and conditions.
    pub selection: Selection,
    /// Length of a slice when it is not the profile's.
    pub slice: Option<Duration>,
    /// The results folder; named after suite and time when absent.
    pub out: Option<PathBuf>,
    /// A round of the suite, or all of them.
    pub round: Option<String>,
    /// Draw flame graphs after the measured runs.
    pub flame_graphs: bool,
    /// The database server of the user's own that is the backend.
    pub backend_url: Option<DatabaseUrl>,
    /// The baseline of the contenders, if there is one.
    pub baseline: Option<Against>,
    /// The user's settings of the cluster, if contenders run in one.
    pub cluster: ClusterSettings,
}

impl NewSession {
    /// Checks everything that shows before anything is read.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        match self.flame_graphs {
            true => flame::check(self.selection.runtime),
            false => Ok(()),
        }
    }

    /// The round of this suite and what is measured of it, as far as that shows before anything is
    /// planned.
    ///
    /// # Errors
    /// There is no such round, it has no contenders by itself, or the options contradict each
    /// other.
    pub fn chosen(&self, suite: &Suite) -> anyhow::Result<(Option<Round>, PlanOptions)> {
        self.check()?;
        let round = match &self.round {
            Some(name) => Some(selection::round(suite, name)?),
            None if self.selection.contenders.is_empty() => selection::main_round(suite),
            None => None,
        };
        let main = round.or_else(|| selection::main_round(suite));
        let options = self.selection.plan_options(suite, main);
        if options.contenders.is_empty()
            && let Some(round) = round.filter(|round| !round.winners_of.is_empty())
        {
            return Err(hinted(
                format_args!("the round {} takes winners only", round.name),
                format_args!("--round {ALL_ROUNDS} finds them first"),
            ));
        }
        selection::backend_can_be_at(options.backend, self.backend_url.as_ref())?;
        Ok((round.cloned(), options))
    }

    /// Where the results go.
    pub(crate) fn results_folder(&self, suite: &Suite) -> PathBuf {
        self.out.clone().unwrap_or_else(|| {
            PathBuf::from("results").join(format!("{}-{}", suite.name, clock::now_compact()))
        })
    }
}

/// A session to begin, or one to go on with.
#[derive(Debug, Clone)]
pub enum Order {
    /// Measure this.
    Begin(Box<NewSession>),
    /// Make what is left in this folder; how images come to a cluster's nodes is told anew.
    Resume(PathBuf, Box<ClusterSettings>),
}

/// How a session ended; the worst of several is the greatest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ended {
    /// Every run of the plan was completed; with a baseline, every head is well.
    Completed,
    /// A condition on head and base holds, or is undecided where that is to fail.
    ConditionHolds,
    /// Some runs failed; with a baseline, of heads.
    WithFailures,
    /// The sitting is over, and runs are left.
    Left,
    /// A signal stopped it.
    Interrupted,
}

/// Makes the future that ends when the user wants the session to stop.
pub type Interruption = fn() -> BoxFuture<'static, ()>;

/// Everybody who follows a session.
pub struct Audience<'a> {
    /// Sees every event, after the recorder.
    pub watcher: &'a mut dyn Observer,
    /// When the session is to stop.
    pub interruption: Interruption,
    /// How much is measured now; all where absent.
    pub sitting: Option<Sitting>,
}

/// A results folder that is open for writing, with what its session is about.
pub(crate) struct OpenSession {
    pub(crate) folder: PathBuf,
    pub(crate) recorder: Recorder,
    pub(crate) session: SessionFile,
    pub(crate) base: Option<Base>,
}

/// Makes what is left of a session. `top` is the folder to resume: the one of all rounds, or this
/// one; `later` are the plans of rounds that have not begun.
pub(crate) async fn carry_out(
    top: &Path,
    open: OpenSession,
    later: &[Plan],
    audience: &mut Audience<'_>,
) -> anyhow::Result<Ended> {
    let OpenSession {
        folder,
        recorder,
        mut session,
        base,
    } = open;
    let pending = left::pending(&session.plan, &folder)?;
    if pending.is_empty() {
        return end(&folder, &session, 0, audience.watcher);
    }
    let mut observers = Observers {
        recorder,
        watcher: &mut *audience.watcher,
    };
    let sitting = audience.sitting.as_ref();
    let played = play(
        &mut session,
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
            observers.watcher.observe(&Event::RunGoesOn { run })?;
            event::record(observers.watcher, record)?;
        }
        observers.watcher.observe(&Event::Interrupted {
            suite: session.suite_folder,
            resume: top.to_owned(),
        })?;
        return Ok(Ended::Interrupted);
    };
    if outcome
        .as_ref()
        .is_err_and(|error| error.is::<SittingOver>())
    {
        observers
            .watcher
            .observe(&left::sitting_ended(top, &folder, session, later)?)?;
        return Ok(Ended::Left);
    }
    if outcome.is_err() {
        observers.recorder.withdraw();
    }
    end(&folder, &session, outcome?, observers.watcher)
}

/// Tells observers how the session ended, judged by its records.
fn end(
    folder: &Path,
    session: &SessionFile,
    made: usize,
    watcher: &mut dyn Observer,
) -> anyhow::Result<Ended> {
    let results = Arc::new(results::read(folder)?);
    let failed = results::failed_runs(&results);
    watcher.observe(&Event::SessionEnded {
        results: folder.to_owned(),
        runs: session.plan.runs.len(),
        failed,
        made,
        recorded: Arc::clone(&results),
    })?;
    let baseline = results.baseline.as_ref();
    let analysis = baseline.map(|_| Analysis::of(&AnalysisInput::new(&results, "")));
    // A base that fails is what it was; a head that fails is what is asked about.
    Ok(match (analysis.and_then(|all| all.against_base), failed) {
        (Some(against), _) => match against.conclusion() {
            BaselineConclusion::Passed => Ended::Completed,
            BaselineConclusion::Undecided | BaselineConclusion::ConditionHolds => {
                Ended::ConditionHolds
            }
            BaselineConclusion::HeadFailed => Ended::WithFailures,
        },
        (None, 0) => Ended::Completed,
        (None, _) => Ended::WithFailures,
    })
}

/// Builds, starts the backend and plays all pending runs; how many were made.
async fn play(
    session: &mut SessionFile,
    base: Option<&Base>,
    results: &Path,
    pending: &[PendingRun],
    observers: &mut Observers<'_>,
    sitting: Option<&Sitting>,
) -> anyhow::Result<usize> {
    let plan = &session.plan;
    let placement = selection::placement(plan);
    let mut folder = suite_folder::read(&session.suite_folder)?;
    let mut warnings = placement.warnings;
    warnings.extend(base.iter().flat_map(|base| base.notes.clone()));
    warnings.extend(warnings_of(session, &folder.suite)?);
    // Before anything is measured, so that a mistake in it costs nothing.
    let rules = flame::layer_rules(&session.suite_folder)?;
    if plan.runtime == RuntimeKind::Kubernetes {
        let connected = cluster::connect(&session.cluster, plan.backend).await?;
        warnings.extend(connected.notes());
    }
    observers.observe(&began(plan, pending, warnings))?;
    folder.suite.set_backend_delay(plan.backend_delay);
    unchanged(session, &folder.suite)?;
    if let Some(base) = base {
        base.join(&mut folder);
    }
    let contenders: BTreeSet<&String> = pending.iter().map(|one| &one.run.contender).collect();
    let options = TestbedOptions {
        runtime: plan.runtime,
        cluster: session.cluster.clone(),
        side_by_side: plan.has_turns(),
        backend: plan.backend,
        backend_url: session.backend_url.clone(),
        profile: plan.profile.clone(),
        contenders: contenders.iter().copied().cloned().collect(),
        cores: placement.cores,
        seed: plan.seed,
        slice: session.slice,
        logs: results.join("logs"),
    };
    let program = std::env::current_exe().context("cannot find this program's own file")?;
    let mut testbed = Testbed::prepare(folder, options, observers).await?;
    testbed.measure_generator(&program, observers).await?;
    testbed.measure_core_sharing(observers).await?;
    let generator = testbed.generator(program);
    let driver = Driver {
        parts: Parts {
            suite: testbed.suite(),
            runtime: testbed.runtime(),
            generator: generator.as_ref(),
            client: testbed.client(),
            backend: testbed.backend(),
            host_cores: testbed.host_cores(),
        },
        cases: &testbed,
        now: clock::now_rfc3339,
        former: &|run| results::capacities_before(results, run),
        sitting,
    };
    let decide = |plan: &Plan, asked: RunsUntil| decision(plan, asked, base, results);
    let mut played = pilot::play(&driver, session, pending, &decide, observers).await;
    if let (Ok(made), Some(_)) = (&played, base) {
        played = replacement::play(&driver, session, results, *made, observers).await;
    }
    if let Ok(made) = played
        && session.flame_graphs
    {
        let runs = flame::runs(&session.plan, &contenders);
        let drawn = flame::draw_all(&driver, &runs, &rules, results, observers).await;
        played = drawn.map(|()| made);
    }
    testbed.close().await;
    played
}

/// How many runs there are, as far as the records of a results folder decide it.
fn decision(
    plan: &Plan,
    asked: RunsUntil,
    base: Option<&Base>,
    results: &Path,
) -> anyhow::Result<Option<RunsDecision>> {
    let mut records = results::read_records(results)?;
    records.baseline = base.map(|base| base.baseline.clone());
    Ok(match asked.sequential {
        true => sequential::decide(plan, asked, records),
        false => Some(pilot::decide(plan, asked, &records)),
    })
}

/// Refuses a suite that is another one than when the session began.
fn unchanged(session: &SessionFile, suite: &Suite) -> anyhow::Result<()> {
    if suite.digest == session.plan.suite_digest {
        return Ok(());
    }
    let folder = session.suite_folder.display();
    Err(hinted(
        format_args!("{folder}: the suite has changed since the session began"),
        "its numbers could not be compared; begin a new session",
    ))
}

/// Returns warnings for the user before it begins, besides where its parts are placed.
fn warnings_of(session: &SessionFile, suite: &Suite) -> anyhow::Result<Vec<String>> {
    let together = together::note(&session.plan, host::describe().memory_bytes);
    let mut warnings: Vec<String> = together.into_iter().collect();
    let skipped = session.skipped.iter();
    warnings.extend(skipped.map(|skipped| format!("skipped: {skipped}")));
    if session.flame_graphs {
        warnings.extend(flame::not_to_be_had(&session.plan, suite));
    }
    warnings.extend(session.backend_url.as_ref().map(not_metered));
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

/// The results folder, new or to be resumed, with its session.
pub(crate) async fn open(order: &Order) -> anyhow::Result<OpenSession> {
    match order {
        Order::Begin(new) => begin(new, &abilities(new.selection.runtime)),
        Order::Resume(folder, cluster) => resume(folder, cluster),
    }
}

fn resume(folder: &Path, cluster: &ClusterSettings) -> anyhow::Result<OpenSession> {
    let (recorder, mut session) = Recorder::open(folder)?;
    session.cluster.take_local(cluster);
    let base = session.baseline.clone();
    let base = base.map(|baseline| Base::of(baseline, &session.suite_folder));
    Ok(OpenSession {
        folder: folder.to_owned(),
        recorder,
        base: base.transpose()?,
        session,
    })
}

fn begin(new: &NewSession, host: &Abilities) -> anyhow::Result<OpenSession> {
    let mut suite_folder = suite_folder::read(&new.suite)?;
    let (round, mut options) = new.chosen(&suite_folder.suite)?;
    let wanted = new.baseline.as_ref();
    let base = wanted.map(|wanted| Base::find(wanted, &suite_folder.path));
    let mut base = base.transpose()?;
    let mut skipped = match &mut base {
        Some(base) => base.pair(&mut suite_folder, &mut options)?,
        None => Vec::new(),
    };
    let suite = &suite_folder.suite;
    let plan = match &base {
        Some(_) => {
            let mut plan = selection::planned(suite, &options)?;
            skipped.extend(without_unbuildable(suite, &mut plan));
            skipped.extend(baseline::without_partner(&mut plan));
            let plan = together::in_memory(plan, host.memory_bytes);
            together::must_be(&plan, host, suite)?;
            together::must_be_in_turns(&plan)?;
            plan
        }
        None => {
            let left_out = |plan: &mut Plan| without_unbuildable(suite, plan);
            let (plan, unbuildable) = together::planned(suite, &options, host, left_out)?;
            skipped.extend(unbuildable);
            plan
        }
    };
    if plan.runs.is_empty() {
        return Err(builds::none_here(&skipped));
    }
    let folder = new.results_folder(suite);
    skipped.extend(round.as_ref().and_then(without_winners));
    let session = SessionFile {
        skipped,
        slice: new.slice,
        flame_graphs: new.flame_graphs,
        plan,
        round: round.map(|round| RoundFile::of(suite, &round, &new.selection.benchmarks)),
        qualified: Vec::new(),
        backend_url: new.backend_url.clone(),
        baseline: base.as_ref().map(|base| base.baseline.clone()),
        runs_decision: None,
        cluster: new.cluster.clone(),
        suite_folder: suite_folder.path,
    };
    let recorder = Recorder::create(&folder, &session)?;
    Ok(OpenSession {
        folder,
        recorder,
        session,
        base,
    })
}

/// Returns a note on the winners that a round misses when it is run by itself.
fn without_winners(round: &Round) -> Option<String> {
    let names = round.winners_of.join(", ");
    (!names.is_empty())
        .then(|| format!("the winners of the rounds {names}: only --round {ALL_ROUNDS} finds them"))
}

/// Takes the contenders out of a plan that cannot be built here; each with a line that says why.
pub(crate) fn without_unbuildable(suite: &Suite, plan: &mut Plan) -> Vec<String> {
    let names: Vec<String> = plan.runs.iter().map(|run| run.contender.clone()).collect();
    let (here, skipped) = builds::buildable(suite, &names);
    plan.runs.retain(|run| here.contains(&run.contender));
    let line = |(name, why): (String, String)| format!("{name}: {why}");
    skipped.into_iter().map(line).collect()
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
