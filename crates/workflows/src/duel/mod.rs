//! Services of the user's own against each other, without a suite: each is started once and asked,
//! and their common response becomes the expectation of a suite that is made for them. The
//! measurement is then a session of this suite like any other.

mod agreement;
pub(crate) mod compose;
mod credentials;
mod definition;
mod deployment;
mod dry_run;
mod suite;
#[cfg(test)]
mod tests;

use std::path::Path;

use bakeoff_base::hint::hinted;
use bakeoff_model::parse::files::SuiteFiles;
use bakeoff_model::plan::whole_runs;
use bakeoff_model::request::check::Expect;
use bakeoff_model::suite::conditions::RuntimeKind;
use bakeoff_session::opening::{self, NewSession, OpenSession};
use bakeoff_session::selection::Selection;
use bakeoff_session::session::{self, Audience, SessionOutcome};
use bakeoff_session::store::locked_folder::LockedFolder;
use bakeoff_store::event::Event;
use bakeoff_store::options::SessionOptions;
use bakeoff_store::shell_text;
use bakeoff_store::suite_folder::SuiteFolder;

use crate::duel::agreement::Agreed;
use crate::duel::credentials::Credentials;
use crate::duel::dry_run::DryRun;
use crate::service::near_paths::near;

pub use definition::{Duel, DuelRuns, DuelWarmUp, NAME, USUAL_LIMITS};
pub(crate) use suite::MadeSuite;

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

/// A duel whose sides have been started and have responded, with its suite.
pub struct Prepared {
    /// The common response of the services, a line for each request.
    pub words: String,
    /// Notes for the user about the services, a sentence each.
    pub notes: Vec<String>,
    /// The reason for measuring the services in whole runs instead of turns, as a sentence.
    pub no_turns: Option<String>,
    runtime: RuntimeKind,
    suite: SuiteFolder,
}

/// Starts and asks every side once, and makes the suite for them in a folder.
///
/// # Errors
/// The services are at fault, or the folder holds a suite already.
pub async fn prepare(duel: &Duel, place: SuitePlace<'_>) -> Result<Prepared, Unprepared> {
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
    let asked = ask(duel).await?;
    let files = match place {
        SuitePlace::InResults(_) => asked.files(&asked.duel),
        SuitePlace::Kept(folder) => asked.files(&asked.kept(folder)),
    };
    let credentials = asked.credentials();
    Ok(Prepared {
        suite: MadeSuite::new(files, duel.grpc.as_ref())?.written(folder, credentials.files())?,
        words: agreement::sentence(&asked.duel, &asked.agreed),
        notes: asked
            .notes
            .into_iter()
            .chain(credentials.note(folder))
            .collect(),
        no_turns: asked.no_turns,
        runtime: asked.runtime,
    })
}

impl Prepared {
    /// Opens the session of the duel in a results folder.
    pub(crate) fn open(
        self,
        results: LockedFolder,
        options: SessionOptions,
        seed: u64,
    ) -> anyhow::Result<OpenSession> {
        open(self.suite, self.runtime, results, options, seed)
    }

    /// Measures the services, into a results folder.
    ///
    /// # Errors
    /// The session cannot be made at all; failed runs are not an error.
    pub async fn measure(
        self,
        results: LockedFolder,
        options: SessionOptions,
        seed: u64,
        audience: &mut Audience<'_>,
    ) -> anyhow::Result<SessionOutcome> {
        audience.watcher.observe(&Event::stream_start())?;
        let folder = results.path().to_owned();
        let open = self.open(results, options, seed)?;
        let session = session::carry_out(&folder, open, &[], audience).await?;
        Ok(session.ended)
    }
}

/// Opens a session of a suite that was made for services.
pub(crate) fn open(
    suite: SuiteFolder,
    runtime: RuntimeKind,
    results: LockedFolder,
    options: SessionOptions,
    seed: u64,
) -> anyhow::Result<OpenSession> {
    let new = NewSession {
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
    };
    opening::begin(suite, &new)
}

/// A duel whose sides have been started and have responded.
pub(crate) struct Asked {
    /// The duel, with images in the place of Deployments and compose services.
    pub(crate) duel: Duel,
    /// The runtime of the sides.
    pub(crate) runtime: RuntimeKind,
    notes: Vec<String>,
    agreed: Vec<Agreed>,
    no_turns: Option<String>,
}

/// Starts and asks every side once, and writes nothing.
///
/// # Errors
/// The services are at fault, or it could not be tried.
pub(crate) async fn ask(duel: &Duel) -> Result<Asked, Unprepared> {
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
    let anything = vec![Expect::default(); duel.requests.len()];
    let draft = suite::files(&duel, runtime, &anything, None);
    let draft = MadeSuite::new(draft, duel.grpc.as_ref())?.unwritten(&duel.workdir);
    let DryRun { answers, no_turns } = dry_run::play(&duel, runtime, draft).await?;
    Ok(Asked {
        agreed: agreement::find(&duel, &answers).map_err(Unprepared::Services)?,
        no_turns: no_turns.as_deref().map(whole_runs::sentence),
        notes: found.notes.into_iter().chain(of_deployments).collect(),
        duel,
        runtime,
    })
}

impl Asked {
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

    /// Returns what looks like a credential in the files of its suite.
    pub(crate) fn credentials(&self) -> Credentials {
        Credentials::of(&self.duel)
    }

    /// Returns the files of the suite of a duel like this one, with other limits or load.
    pub(crate) fn files(&self, duel: &Duel) -> SuiteFiles {
        let expect = self.agreed.iter().map(|one| one.expect.clone());
        let expect: Vec<Expect> = expect.collect();
        suite::files(duel, self.runtime, &expect, self.no_turns.as_deref())
    }
}
