//! The test bed on which contenders are put: the runtime, the built contenders, the backend, the
//! load generator. Shared by everything that starts contenders.

pub mod builds;
mod cases;
mod same_program;
#[cfg(test)]
mod tests;
mod tls;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, bail};
use bakeoff_base::hint::with_hints;
use bakeoff_base::percent;
use bakeoff_base::problem::Problem;
use bakeoff_build::BuildError;
use bakeoff_grpc::Schema;
use bakeoff_model::record::failure::{Failure, Stage};
use bakeoff_model::record::{Cores, Host};
use bakeoff_model::suite::conditions::{BackendName, RuntimeKind};
use bakeoff_model::suite::{Contender, Limits, Profile, Suite};
use bakeoff_places::contender::Ready;
use bakeoff_places::place::{Place, WantedPlace, launch, open};
use bakeoff_places::services::{Databases, Services, Setting, WantedBackend, WantedService};
use bakeoff_places::{ContainerOptions, StartSpec, Wire};
use bakeoff_store::event::{Event, Observer};
use bakeoff_store::grpc;
use bakeoff_store::options::SessionOptions;
use bakeoff_store::suite_folder::SuiteFolder;

use crate::contracts::SessionDeps;
use crate::ready_case::{self, BackendAddress};
use crate::{clock, environment};
use builds::{News, Which, build_options};

/// The purpose of a test bed.
#[derive(Debug, Clone)]
pub struct TestbedOptions {
    /// The runtime of contenders.
    pub runtime: RuntimeKind,
    /// The backend, or none.
    pub backend: BackendName,
    /// The profile.
    pub profile: String,
    /// Names of the contenders that take part.
    pub contenders: Vec<String>,
    /// Contenders are alive concurrently.
    pub side_by_side: bool,
    /// Which cores each part may use.
    pub cores: Cores,
    /// Seed of random choices.
    pub seed: u64,
    /// The options of the session.
    pub session: SessionOptions,
    /// Where logs of contenders go.
    pub logs: PathBuf,
}

/// Everything that a session needs, made ready.
pub struct Testbed {
    folder: SuiteFolder,
    options: TestbedOptions,
    place: Place,
    /// Contender -> what can be started, or why nothing can.
    ready: BTreeMap<String, Result<Ready, Failure>>,
    /// The services that contenders call.
    services: Services,
    /// The address that contenders get for the backend, when it is not the backend's own.
    redirect: Option<SocketAddr>,
    host: Host,
    /// The messages of contenders that speak gRPC.
    schema: Option<Schema>,
    /// When the sitting started, RFC 3339 in UTC.
    began: String,
}

/// Returns the place that a test bed needs.
fn wanted_place<'a>(folder: &SuiteFolder, options: &'a TestbedOptions) -> WantedPlace<'a> {
    let suite = &folder.suite;
    let mut backends = suite.backends.iter();
    let spec = backends.find(|one| one.name == options.backend);
    let data = spec.and_then(|spec| spec.data.as_ref());
    let taking_part = |one: &&Contender| options.contenders.contains(&one.name);
    let contenders = suite.contenders.iter().filter(taking_part);
    let is_started = options.session.backend_url.is_none() || !suite.dependencies.is_empty();
    WantedPlace {
        kind: options.runtime,
        cluster: &options.session.cluster,
        has_services: options.backend != BackendName::None && is_started,
        recordings: data.map(|data| folder.path.join(data)),
        side_by_side: options.side_by_side,
        hosts: &options.session.hosts,
        services: contenders.filter_map(|one| one.url.clone()).collect(),
    }
}

impl Testbed {
    /// Opens the place of the contenders, and prepares it.
    pub async fn prepare(
        folder: SuiteFolder,
        options: TestbedOptions,
        observer: &mut dyn Observer,
    ) -> anyhow::Result<Self> {
        let place = open::open(wanted_place(&folder, &options)).await?;
        Self::at(place, folder, options, observer).await
    }

    /// Sweeps what dead sessions left, builds the contenders and starts what they call.
    async fn at(
        place: Place,
        mut folder: SuiteFolder,
        options: TestbedOptions,
        observer: &mut dyn Observer,
    ) -> anyhow::Result<Self> {
        for removed in place.sweep().await? {
            observer.observe(&Event::Swept { removed })?;
        }
        if let Some(why) = place.unlimited_because.clone() {
            observer.observe(&Event::LimitsUnenforced { why })?;
        }
        place.check(&folder.suite)?;
        environment::fill(&mut folder.suite, &|name| std::env::var(name).ok())?;
        if options.backend != BackendName::None {
            let mut dependencies = folder.suite.dependencies.iter();
            dependencies.try_for_each(|one| place.services.check(one))?;
        }
        std::fs::create_dir_all(&options.logs)
            .with_context(|| format!("{}: cannot keep logs there", options.logs.display()))?;
        let mut testbed = Self {
            host: place.host.clone(),
            schema: grpc::schema(&folder.suite)?,
            folder,
            options,
            place,
            ready: BTreeMap::new(),
            services: Services::default(),
            redirect: None,
            began: clock::now_rfc3339(),
        };
        testbed.ready = testbed.build_all(observer).await?;
        testbed.start_services(observer).await?;
        Ok(testbed)
    }

    /// Measures what the load generator can do here at best; every later record has it. If that
    /// cannot be measured, an event says so, and the records go without.
    pub async fn measure_generator(&mut self, observer: &mut dyn Observer) -> anyhow::Result<()> {
        let measured = self.place.generator.ceiling(&self.options.cores).await;
        match measured {
            Ok(ceiling) => self.host.generator = Some(ceiling),
            Err(error) => observer.observe(&Event::CeilingUnknown {
                why: format!("{error:#}"),
            })?,
        }
        Ok(())
    }

    /// Measures whether load generator and contender have separate physical cores; every later
    /// record has it. This is measured only if they are pinned to different cores of this host. If
    /// it cannot be measured, an event says so, and the records go without.
    pub async fn measure_core_sharing(
        &mut self,
        observer: &mut dyn Observer,
    ) -> anyhow::Result<()> {
        let cores = self.options.cores.clone();
        if !self.place.pins_cores || cores.contender.is_empty() || cores.generator.is_empty() {
            return Ok(());
        }
        let measuring = move || bakeoff_load::core_sharing(&cores.contender, &cores.generator);
        let measured = tokio::task::spawn_blocking(measuring).await;
        match measured.context("the measurement of the cores panicked")? {
            Ok(sharing) => self.host.core_sharing = Some(sharing),
            Err(error) => observer.observe(&Event::CoreSharingUnknown {
                why: error.to_string(),
            })?,
        }
        Ok(())
    }

    async fn build_all(
        &self,
        observer: &mut dyn Observer,
    ) -> anyhow::Result<BTreeMap<String, Result<Ready, Failure>>> {
        let contenders: Vec<&Contender> = self
            .options
            .contenders
            .iter()
            .map(|name| {
                let found = self.contender(name);
                found.with_context(|| {
                    format!("{name}: it was planned, and the suite no longer has it")
                })
            })
            .collect::<anyhow::Result<_>>()?;
        let which = |index: usize| Which {
            contender: &contenders[index].name,
            index,
            contenders: contenders.len(),
        };
        let mut ready = BTreeMap::new();
        let tell = |news| match news {
            News::Began(index) => observer.observe(&which(index).building()),
            News::Ended(index, one, took) => {
                let (which, one) = (which(index), one?);
                if let Some(event) = which.built(&one, took) {
                    observer.observe(&event)?;
                }
                ready.insert(which.contender.to_owned(), one);
                Ok(())
            }
            News::TimePasses => {
                observer.time_passes();
                Ok(())
            }
        };
        let build = async |contender: &&Contender, begun: &(dyn Fn() + Sync)| {
            self.build_one(contender, begun).await
        };
        builds::build_all(&contenders, build, tell).await?;
        Ok(ready)
    }

    /// Builds a contender and makes it startable, or returns why that is not possible.
    ///
    /// # Errors
    /// The cache cannot be used: that says nothing about the contender.
    async fn build_one(
        &self,
        contender: &Contender,
        begun: &(dyn Fn() + Sync),
    ) -> anyhow::Result<Result<Ready, Failure>> {
        let folder = self.folder.contender_folder(contender);
        let options = build_options(self.suite());
        let built = bakeoff_build::build_and_tell(contender, &folder, &options, begun).await;
        let built = match built {
            Ok(built) => built,
            Err(BuildError::Cache(problem)) => return Err(with_hints(problem)),
            Err(error) => return Ok(Err(Failure::of(Stage::Build, error))),
        };
        let options = self.jvm_options();
        let installer = &self.place.installer;
        let installing = installer.install(&self.suite().name, contender, built, options);
        Ok(installing.await.map_err(|error| {
            let hints = error.downcast_ref::<Problem>().map(Problem::hints);
            let message = format!("{}: {error:#}", contender.name);
            Failure::new(Stage::Build, message)
                .with_hints(hints.unwrap_or_default().iter().cloned())
        }))
    }

    /// Starts the dependencies and the backend.
    async fn start_services(&mut self, observer: &mut dyn Observer) -> anyhow::Result<()> {
        let wanted = self.wanted_services()?;
        let setting = Setting {
            suite: &self.folder.path,
            cores: &self.options.cores.backend,
            logs: &self.options.logs,
        };
        let mut services = Services::default();
        for one in &wanted {
            let name = one.name();
            observer.observe(&Event::BackendStarting { name: name.clone() })?;
            let starting = services.start(&*self.place.services, one, &setting);
            let address = starting.await?.to_string();
            observer.observe(&Event::BackendReady { name, address })?;
        }
        if let Some(databases) = services.databases()
            && let Some(version) = databases.version().await
        {
            let name = self.options.backend.to_string();
            self.host.versions.insert(name, version);
        }
        self.services = services;
        Ok(())
    }

    /// Returns what contenders call, in the order of the starts.
    fn wanted_services(&self) -> anyhow::Result<Vec<WantedService<'_>>> {
        let (name, suite) = (self.options.backend, self.suite());
        if name == BackendName::None {
            return Ok(Vec::new());
        }
        let dependencies = suite.dependencies.iter();
        let mut wanted: Vec<_> = dependencies.map(WantedService::Dependency).collect();
        if name == BackendName::Dependencies && !wanted.is_empty() {
            return Ok(wanted);
        }
        let Some(spec) = suite.backends.iter().find(|backend| backend.name == name) else {
            bail!("unknown backend {name}")
        };
        wanted.push(WantedService::Backend(WantedBackend {
            name,
            settings: spec.settings,
            server: self.options.session.backend_url.as_ref(),
            data: spec.data.as_ref().map(|data| self.folder.path.join(data)),
        }));
        Ok(wanted)
    }

    /// Returns the size of a contender's artifact; `None` if it has none or is not built.
    pub fn artifact_bytes(&self, contender: &str) -> Option<u64> {
        self.ready.get(contender)?.as_ref().ok()?.artifact_bytes
    }

    /// The suite.
    #[must_use]
    pub fn suite(&self) -> &Suite {
        &self.folder.suite
    }

    /// Returns what a session works with.
    #[must_use]
    pub fn deps(&self) -> SessionDeps<'_> {
        SessionDeps {
            suite: self.suite(),
            place: &self.place,
            services: &self.services,
        }
    }

    /// A contender of the suite.
    #[must_use]
    pub fn contender(&self, name: &str) -> Option<&Contender> {
        self.suite()
            .contenders
            .iter()
            .find(|contender| contender.name == name)
    }

    fn jvm_options(&self) -> Vec<String> {
        let profile = self.suite().profiles.get(&self.options.profile);
        profile
            .map(|profile| profile.jvm_options.clone())
            .unwrap_or_default()
    }

    /// How a contender is started, or why it cannot be.
    pub fn start_spec(
        &self,
        contender: &Contender,
        variables: &BTreeMap<String, String>,
        limits: Limits,
        log_name: &str,
    ) -> Result<StartSpec, Failure> {
        let missing = || Failure::new(Stage::Build, "it was not built");
        let ready = self
            .ready
            .get(&contender.name)
            .cloned()
            .unwrap_or_else(|| Err(missing()))?;
        let backend = self.backend_address();
        let mut command = ready.command;
        ready_case::fill_gc_log(&mut command, &self.gc_log(log_name));
        Ok(StartSpec {
            label: contender.name.clone(),
            command,
            arguments: contender.image_arguments.clone(),
            env: ready_case::environment(self.suite(), contender, variables, &backend),
            workdir: ready.workdir,
            limits,
            cores: self.options.cores.contender.clone(),
            port: self.suite().port,
            ready_path: self.suite().ready_path.clone(),
            start_timeout: self.start_timeout(),
            image: ready.image,
            service: contender.url.clone(),
            wire: Wire {
                tls: tls::of(&self.folder, contender, self.options.runtime),
                grpc: self.schema.clone(),
            },
            container: ContainerOptions {
                alias: None,
                volumes: launch::absolute(
                    &self.folder.contender_folder(contender),
                    &contender.image_volumes,
                ),
                settings: contender.container.clone(),
                healthcheck: None,
                takes_turns: false,
            },
            log_path: self.options.logs.join(format!("{log_name}.log")),
        })
    }

    /// Where a JVM writes its log of garbage collections: next to the contender's own log, or in
    /// the container, with which it goes.
    fn gc_log(&self, log_name: &str) -> PathBuf {
        if let Some(inside) = self.place.gc_log {
            return inside.to_owned();
        }
        let logs = std::path::absolute(&self.options.logs);
        let logs = logs.unwrap_or_else(|_| self.options.logs.clone());
        logs.join(format!("{log_name}.gc.log"))
    }

    fn start_timeout(&self) -> Duration {
        let profile = self.suite().profiles.get(&self.options.profile);
        profile.map_or(Profile::START_TIMEOUT, |profile| profile.start_timeout)
    }

    fn backend_address(&self) -> BackendAddress {
        let dependencies = self.services.dependencies();
        let Some(address) = self.redirect.or_else(|| self.backend_socket()) else {
            return BackendAddress {
                dependencies,
                ..BackendAddress::default()
            };
        };
        let databases = self.services.databases();
        let (user, password) = databases.map(Databases::login).unwrap_or_default();
        BackendAddress {
            host: address.ip().to_string(),
            port: address.port(),
            user: percent::component(user),
            password: percent::component(password),
            dependencies,
        }
    }

    /// Where contenders reach the backend.
    pub fn backend_socket(&self) -> Option<SocketAddr> {
        self.services.backend()
    }

    /// Lets contenders that are started from now on call something else than the backend.
    pub fn redirect_contenders(&mut self, to: SocketAddr) {
        self.redirect = Some(to);
    }

    /// Stops what contenders call and gives everything back.
    pub async fn close(mut self) {
        self.services.stop().await;
        // Things that cannot be removed now are left to the sweep of the next session.
        let _ = self.place.close().await;
    }
}
