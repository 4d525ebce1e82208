//! A service that contenders call, whatever it is: the wanted one, the running one, and who starts
//! it.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use bakeoff_base::problem::Problem;
use bakeoff_model::measure::resource::ResourceSample;
use bakeoff_model::suite::ReplaySettings;
use bakeoff_model::suite::conditions::BackendName;
use bakeoff_model::suite::dependency::Dependency;
use bakeoff_model::text::database_url::DatabaseUrl;

use crate::services::Databases;
use crate::{BoxFuture, StopReport};

/// A service as a session wants it.
#[derive(Debug)]
pub enum WantedService<'a> {
    /// The backend that was chosen among those of the suite.
    Backend(WantedBackend<'a>),
    /// A program or a container that the suite describes.
    Dependency(&'a Dependency),
}

/// A backend as a session wants it.
#[derive(Debug)]
pub struct WantedBackend<'a> {
    /// The backend.
    pub name: BackendName,
    /// How the replay backend responds.
    pub settings: ReplaySettings,
    /// The user's own server, instead of one that is started.
    pub server: Option<&'a DatabaseUrl>,
    /// The data or recordings of the backend.
    pub data: Option<PathBuf>,
}

/// Where services run, and for which session.
#[derive(Debug)]
pub struct Setting<'a> {
    /// Folder of the suite, in which commands run.
    pub suite: &'a Path,
    /// The cores on which services run; empty = all.
    pub cores: &'a [usize],
    /// Where their logs go.
    pub logs: &'a Path,
}

impl WantedService<'_> {
    /// The name of the service in messages.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Backend(one) => one.name.to_string(),
            Self::Dependency(one) => one.name.clone(),
        }
    }

    /// The name with the part of the service: `backend postgres`, `dependency cache`.
    pub(super) fn title(&self) -> String {
        match self {
            Self::Backend(one) => format!("backend {}", one.name),
            Self::Dependency(one) => format!("dependency {}", one.name),
        }
    }
}

/// A running service. Dropping it kills it, as far as a drop can.
pub trait Service: Send + Sync {
    /// Returns where contenders reach the service.
    fn address(&self) -> SocketAddr;

    /// Returns its cost so far. A value that cannot be read is absent.
    fn sample(&self) -> BoxFuture<'_, ResourceSample>;

    /// Whether it had to do its work before contenders start, and has ended.
    fn is_done(&self) -> bool {
        false
    }

    /// Why it responds no more; `None` while it is alive, and if that is not known: of servers that
    /// run already, and of Pods.
    fn ended(&self) -> BoxFuture<'_, Option<Problem>> {
        Box::pin(async { None })
    }

    /// Requests that the replay backend had no recording of since the last call.
    fn unknown_requests(&self) -> BoxFuture<'_, Vec<String>> {
        Box::pin(async { Vec::new() })
    }

    /// The databases of contenders, if it is a server of such.
    fn databases(&self) -> Option<&Databases> {
        None
    }

    /// Restores the data that it had before a contender changed them: those of this contender if
    /// each contender has its own.
    ///
    /// # Errors
    /// The error message.
    fn reset<'a>(&'a self, contender: &'a str) -> BoxFuture<'a, Result<(), Problem>> {
        Box::pin(async move {
            match self.databases() {
                Some(databases) => databases.prepare(contender).await,
                None => Ok(()),
            }
        })
    }

    /// Returns the result of a query in the contender's database.
    ///
    /// # Errors
    /// It has no databases, or the query fails.
    fn query<'a>(
        &'a self,
        contender: &'a str,
        query: &'a str,
    ) -> BoxFuture<'a, Result<String, Problem>> {
        Box::pin(async move {
            let databases = self.databases().ok_or("it has no databases")?;
            databases.query(contender, query).await
        })
    }

    /// Asks it to stop, kills it if that takes too long, and removes its data. A server that runs
    /// already goes on, without what was made in it.
    fn stop(&mut self) -> BoxFuture<'_, StopReport>;
}

/// Starts services where contenders reach them.
#[async_trait(?Send)]
pub trait ServiceHost {
    /// Refuses a service that cannot run there, before anything is built.
    ///
    /// # Errors
    /// Why, and what to do.
    fn check(&self, wanted: &Dependency) -> anyhow::Result<()>;

    /// Starts a service, and fills it: contenders may call it then. `known` are the addresses of
    /// those that were started before it, by their names.
    ///
    /// # Errors
    /// It does not start or refuses its data; it has been stopped then.
    async fn start(
        &self,
        wanted: &WantedService<'_>,
        setting: &Setting<'_>,
        known: &BTreeMap<String, SocketAddr>,
    ) -> anyhow::Result<Box<dyn Service>>;
}
