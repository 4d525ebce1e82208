//! Services of the user's own against each other, without a suite: each is started once and asked,
//! and their common response becomes the expectation of a suite that is written for them. The
//! measurement is then a session like any other.

mod agreement;
pub(crate) mod compose;
mod definition;
mod deployment;
mod dry_run;
mod files;
mod near_paths;

use std::path::{Path, PathBuf};

use bakeoff_base::hint::hinted;
use bakeoff_model::plan::whole_runs;
use bakeoff_model::suite::conditions::RuntimeKind;
use bakeoff_session::opening::{NewSession, SessionRequest};
use bakeoff_session::options::SessionOptions;
use bakeoff_session::selection::Selection;
use bakeoff_session::shell_text;
use bakeoff_session::store::locked_folder::LockedFolder;
use serde_json::Value;

use crate::duel::agreement::Agreed;
use crate::duel::dry_run::DryRun;

pub use definition::{
    Duel, DuelRequest, DuelRuns, DuelService, DuelWarmUp, NAME, ServiceImage, ServiceSource,
    USUAL_LIMITS,
};
pub(crate) use files::{
    SuiteText, contender_file, dependency_table, duration_text, toml_text, write,
};
pub(crate) use near_paths::near;

/// The result of asking all sides before the measurement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agreement {
    /// The common response of the services, a line for each request.
    pub words: String,
    /// Notes for the user about copies of Deployments, a sentence each.
    pub notes: Vec<String>,
    /// The reason for measuring the services in whole runs instead of turns, as a sentence.
    pub no_turns: Option<String>,
    /// Runtime of the services.
    pub runtime: RuntimeKind,
}

/// The place of a duel's suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SuitePlace<'p> {
    /// A folder among results, which may be moved: paths in it are absolute.
    InResults(&'p Path),
    /// A folder that the user keeps: paths in it are relative inside of its repository.
    Kept(&'p Path),
}

/// Why there is nothing to measure.
#[derive(Debug)]
pub enum Unprepared {
    /// A service does not start or respond, or their responses differ though they must not.
    Services(anyhow::Error),
    /// The duel could not be tried.
    Order(anyhow::Error),
}

impl From<anyhow::Error> for Unprepared {
    fn from(error: anyhow::Error) -> Self {
        Self::Order(error)
    }
}

/// Returns the session of a suite that was written for a duel, into this folder.
#[must_use]
pub fn session(
    suite: PathBuf,
    results: LockedFolder,
    runtime: RuntimeKind,
    options: SessionOptions,
    seed: u64,
) -> SessionRequest {
    SessionRequest::Begin(Box::new(NewSession {
        suite,
        selection: Selection {
            contenders: Vec::new(),
            benchmarks: Vec::new(),
            profile: Some(NAME.to_owned()),
            runtime,
            backend: None,
            backend_delay: None,
            runs: None,
            seed,
        },
        out: None,
        locked: Some(results),
        round: None,
        baseline: None,
        options,
    }))
}

/// Starts and asks every side, and returns what they agree in for each request, and why they cannot
/// take turns.
async fn agreed(
    duel: &Duel,
    runtime: RuntimeKind,
) -> Result<(Vec<Agreed>, Option<String>), Unprepared> {
    let anything = vec![agreement::anything(); duel.requests.len()];
    let draft = files::suite(duel, runtime, &anything, None);
    let DryRun { answers, no_turns } = dry_run::play(duel, runtime, &draft).await?;
    let agreed = agreement::find(duel, &answers).map_err(Unprepared::Services)?;
    Ok((agreed, no_turns))
}

/// Starts and asks every side once, and writes nothing: whether they can be measured against each
/// other.
///
/// # Errors
/// The services are at fault, or it could not be tried.
pub(crate) async fn rehearse(duel: &Duel) -> Result<(), Unprepared> {
    let runtime = duel.check()?;
    agreed(duel, runtime).await.map(|_| ())
}

/// A duel whose sides have been started and have responded.
pub(crate) struct Asked {
    /// The duel, with images in the place of Deployments and of services of a compose file.
    pub(crate) duel: Duel,
    /// The runtime of the sides.
    pub(crate) runtime: RuntimeKind,
    notes: Vec<String>,
    agreed: Vec<Agreed>,
    no_turns: Option<String>,
}

impl Asked {
    /// Starts and asks every side once.
    pub(crate) async fn ask(duel: &Duel) -> Result<Self, Unprepared> {
        let runtime = duel.check()?;
        let file = duel.compose_file.as_deref();
        let found = compose::look_up(&duel.sides, file, &duel.workdir, duel.port).await?;
        let duel = Duel {
            sides: found.sides,
            dependencies: found.dependencies,
            port: found.port,
            ..duel.clone()
        };
        let (duel, of_deployments) = deployment::look_up(&duel).await?;
        let notes = found.notes.into_iter().chain(of_deployments).collect();
        let (agreed, no_turns) = agreed(&duel, runtime).await?;
        Ok(Self {
            duel,
            runtime,
            notes,
            agreed,
            no_turns,
        })
    }

    /// Returns the duel whose suite is kept in this folder.
    fn kept(&self, folder: &Path) -> Duel {
        let duel = &self.duel;
        let (sides, dependencies) = near(folder, &duel.workdir, &duel.sides, &duel.dependencies);
        Duel {
            sides,
            dependencies,
            ..duel.clone()
        }
    }

    /// Returns the suite of a duel like this one, with other limits or load.
    pub(crate) fn suite(&self, duel: &Duel) -> SuiteText {
        let no_turns = self.no_turns.as_deref().map(whole_runs::sentence);
        let expect = self.agreed.iter().map(|one| one.expect.clone());
        let expect: Vec<Value> = expect.collect();
        files::suite(duel, self.runtime, &expect, no_turns.as_deref())
    }
}

/// Starts and asks every side once, and writes the suite for them into a folder.
///
/// # Errors
/// The services are at fault, or the folder holds a suite already.
pub async fn prepare(duel: &Duel, place: SuitePlace<'_>) -> Result<Agreement, Unprepared> {
    let (SuitePlace::InResults(folder) | SuitePlace::Kept(folder)) = place;
    if folder.join("suite.toml").exists() {
        return Err(hinted(
            format_args!("{}: holds a suite already", folder.display()),
            format_args!(
                "run it with `bakeoff run {}`, or name another folder",
                shell_text::of_shell(folder)
            ),
        )
        .into());
    }
    let asked = Asked::ask(duel).await?;
    let suite = match place {
        SuitePlace::InResults(_) => asked.suite(&asked.duel),
        SuitePlace::Kept(folder) => asked.suite(&asked.kept(folder)),
    };
    // Found now and not by the session: its reader has never seen the files.
    files::parsed(&suite, &asked.duel.workdir)?;
    files::write(&suite, folder)?;
    Ok(Agreement {
        notes: asked.notes,
        words: agreement::sentence(&asked.duel, &asked.agreed),
        no_turns: asked.no_turns.as_deref().map(whole_runs::sentence),
        runtime: asked.runtime,
    })
}
