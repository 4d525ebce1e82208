//! Results folders of sessions, opened: the order of a session becomes a plan in a new folder, or
//! the folder of a former one is read.

use std::path::{Path, PathBuf};

use bakeoff_base::hint::hinted;
use bakeoff_base::text::counted;
use bakeoff_model::plan::{Plan, PlanOptions};
use bakeoff_model::suite::cluster_settings::ClusterSettings;
use bakeoff_model::suite::{ALL_ROUNDS, Round, Suite};
use bakeoff_places::abilities::abilities;
use bakeoff_places::images::engine_is_elsewhere;
use bakeoff_store::options::SessionOptions;
use bakeoff_store::round_file::RoundFile;
use bakeoff_store::session_file::SessionFile;
use bakeoff_store::suite_folder::{self, SuiteFolder};

use crate::baseline::{self, Base, BaselineRequest};
use crate::selection::{self, Selection};
use crate::store::locked_folder::LockedFolder;
use crate::store::recorder::Recorder;
use crate::testbed::builds;
use crate::{clock, flame, turn_requirements};

/// A session to start.
#[derive(Debug, Clone)]
pub struct NewSession {
    /// The selection of contenders, benchmarks and conditions.
    pub selection: Selection,
    /// The results folder [default: a name of suite and time].
    pub out: Option<PathBuf>,
    /// The results folder, if it is locked already.
    pub locked: Option<LockedFolder>,
    /// A round of the suite, or all of them.
    pub round: Option<String>,
    /// The baseline of the contenders, if there is one.
    pub baseline: Option<BaselineRequest>,
    /// The options of the session.
    pub options: SessionOptions,
}

impl NewSession {
    /// Checks everything that shows before anything is read.
    pub fn check(&self) -> anyhow::Result<()> {
        let (runtime, hosts) = (self.selection.runtime, &self.options.hosts);
        hosts.check(runtime, engine_is_elsewhere())?;
        match self.options.flame_graphs {
            true => flame::check(runtime, hosts),
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
        selection::backend_can_be_at(options.backend, self.options.backend_url.as_ref())?;
        Ok((round.cloned(), options))
    }

    /// Where the results go.
    pub fn results_folder(&self, suite: &Suite) -> PathBuf {
        self.out.clone().unwrap_or_else(|| {
            PathBuf::from("results").join(format!("{}-{}", suite.name, clock::now_compact()))
        })
    }
}

/// A request to start a session, or to resume one.
#[derive(Debug, Clone)]
pub enum SessionRequest {
    /// Measure this of the suite in a folder.
    Begin(PathBuf, Box<NewSession>),
    /// Make the remaining runs of a results folder.
    Resume {
        /// Folder of the suite. The one that the results folder names is not trusted, and not used.
        suite: PathBuf,
        /// The results folder.
        folder: PathBuf,
        /// How images get to a cluster's nodes, which is given anew.
        cluster: Box<ClusterSettings>,
    },
}

/// A results folder that is open for writing, with what its session is about.
pub struct OpenSession {
    /// The results folder.
    pub folder: PathBuf,
    pub(crate) recorder: Recorder,
    pub(crate) session: SessionFile,
    pub(crate) base: Option<Base>,
    /// The suite, if it has been read.
    pub(crate) suite: Option<SuiteFolder>,
}

impl OpenSession {
    /// Opens a session without a base, of a suite that has been read.
    #[must_use]
    pub fn of_suite(recorder: Recorder, session: SessionFile, suite: SuiteFolder) -> Self {
        Self {
            folder: recorder.folder().to_owned(),
            recorder,
            session,
            base: None,
            suite: Some(suite),
        }
    }
}

/// The results folder, new or to be resumed, with its session.
pub fn open(order: &SessionRequest) -> anyhow::Result<OpenSession> {
    match order {
        SessionRequest::Begin(suite, new) => begin(suite_folder::read(suite)?, new),
        SessionRequest::Resume {
            suite,
            folder,
            cluster,
        } => resume(suite, folder, cluster),
    }
}

fn resume(suite: &Path, folder: &Path, cluster: &ClusterSettings) -> anyhow::Result<OpenSession> {
    let (recorder, mut session) = Recorder::open(folder)?;
    suite.clone_into(&mut session.suite_folder);
    session.options.cluster.take_local(cluster);
    let base = session.baseline.clone();
    let base = base.map(|baseline| Base::of(baseline, &session.suite_folder));
    Ok(OpenSession {
        folder: folder.to_owned(),
        recorder,
        base: base.transpose()?,
        session,
        suite: None,
    })
}

/// Refuses a time limit in which the least number of sets cannot be made.
fn has_time(plan: &Plan) -> anyhow::Result<()> {
    let until = plan.runs_until.filter(|until| until.sequential);
    let Some(within) = until.and_then(|until| until.within) else {
        return Ok(());
    };
    let shortest = plan.shortest();
    if shortest <= within {
        return Ok(());
    }
    let sets = plan.certain().map(|run| run.repetition).max().unwrap_or(1);
    // Rounded up, so that the hint is enough.
    let [within, shortest] = [within, shortest].map(|time| time.as_millis().div_ceil(1000));
    Err(hinted(
        format_args!(
            "{within} s are too short: {} take {shortest} s at least, without the starts of the \
             contenders",
            counted(u64::from(sets), "set")
        ),
        format_args!("--within {}s, or shorter steps", shortest * 2),
    ))
}

/// Plans a session of a suite, in a new results folder.
///
/// # Errors
/// The suite lacks what is wanted of it, or this host cannot do it.
pub fn begin(mut suite_folder: SuiteFolder, new: &NewSession) -> anyhow::Result<OpenSession> {
    let (hosts, cluster) = (&new.options.hosts, &new.options.cluster);
    let host = &abilities(new.selection.runtime, hosts, cluster);
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
            let plan = turn_requirements::in_memory(plan, host.memory_bytes);
            turn_requirements::must_be(&plan, host, suite)?;
            turn_requirements::must_be_in_turns(&plan)?;
            plan
        }
        None => {
            let left_out = |plan: &mut Plan| without_unbuildable(suite, plan);
            let (plan, unbuildable) = turn_requirements::planned(suite, &options, host, left_out)?;
            skipped.extend(unbuildable);
            plan
        }
    };
    if plan.runs.is_empty() {
        return Err(builds::none_here(&skipped));
    }
    has_time(&plan)?;
    skipped.extend(round.as_ref().and_then(without_winners));
    let session = SessionFile {
        skipped,
        plan,
        round: round.map(|round| RoundFile::of(suite, &round, &new.selection.benchmarks)),
        qualified: Vec::new(),
        baseline: base.as_ref().map(|base| base.baseline.clone()),
        runs_decision: None,
        options: new.options.clone(),
        suite_folder: suite_folder.path.clone(),
    };
    let locked = match &new.locked {
        Some(locked) => locked.clone(),
        None => LockedFolder::make(&new.results_folder(suite))?,
    };
    let folder = locked.path().to_owned();
    let recorder = Recorder::create(locked, &session)?;
    Ok(OpenSession {
        folder,
        recorder,
        session,
        // If there is a base, its contenders have been paired with those of the suite.
        suite: base.is_none().then_some(suite_folder),
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
pub fn without_unbuildable(suite: &Suite, plan: &mut Plan) -> Vec<String> {
    let names: Vec<String> = plan.runs.iter().map(|run| run.contender.clone()).collect();
    let (here, skipped) = builds::buildable(suite, &names);
    plan.runs.retain(|run| here.contains(&run.contender));
    let line = |(name, why): (String, String)| format!("{name}: {why}");
    skipped.into_iter().map(line).collect()
}
