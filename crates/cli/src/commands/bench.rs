//! The bench on which contenders are put: the runtime, the built contenders, the backend. Shared
//! by `run`, `verify`, `build` and `record`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::time::Duration;

use anyhow::{Context as _, bail};
use bakeoff_model::check::{Answer, Check};
use bakeoff_model::record::{Begin, Cores, FORMAT, Host};
use bakeoff_model::suite::{Contender, Limits, NO_BACKEND, Suite};
use bakeoff_runtime::build::{self, Built, Placeholders};
use bakeoff_runtime::process::{ProcessOptions, ProcessRuntime};
use bakeoff_runtime::{BoxFuture, Runtime, StartSpec, host, http, sweep};
use futures_util::stream::{self, StreamExt as _};

use super::builds::{BUILDS_AT_ONCE, build_options, built_event, no_start};
use super::machine::{BackendAtWork, Machine};
use crate::session::case::{self, BackendAddress, Case, NoStart};
use crate::session::event::{Event, Observer};
use crate::session::{BackendProbe, Cases, Client, PendingRun};
use crate::suite_folder::SuiteFolder;
use crate::{ceiling, clock};

/// The documents' own bound on an answer, also for checks.
const ANSWER_LIMIT: Duration = Duration::from_secs(15);

/// What a bench is for.
#[derive(Debug, Clone)]
pub(crate) struct BenchOptions {
    /// `process` or `docker`.
    pub(crate) runtime: String,
    pub(crate) backend: String,
    pub(crate) profile: String,
    /// Names of the contenders that take part.
    pub(crate) contenders: Vec<String>,
    pub(crate) cores: Cores,
    pub(crate) seed: u64,
    /// Length of a slice when it is not the profile's.
    pub(crate) slice: Option<Duration>,
    /// Where logs of contenders go.
    pub(crate) logs: PathBuf,
}

/// Everything that a session needs, made ready.
pub(crate) struct Bench {
    folder: SuiteFolder,
    options: BenchOptions,
    machine: Machine,
    /// Contender -> what can be started, or why nothing can.
    ready: BTreeMap<String, Result<Ready, NoStart>>,
    backend: Option<BackendAtWork>,
    /// Where contenders are told that the backend is, when that is not the backend itself.
    redirect: Option<SocketAddr>,
    host: Host,
}

/// A built contender, in the form that the runtime starts.
#[derive(Debug, Clone)]
pub(crate) struct Ready {
    pub(crate) built: Built,
    pub(crate) command: Vec<String>,
    pub(crate) image: Option<String>,
    pub(crate) image_digest: Option<String>,
    pub(crate) artifact_bytes: Option<u64>,
}

impl Bench {
    /// Sweeps what dead sessions left, builds the contenders and starts the backend.
    pub(crate) async fn prepare(
        folder: SuiteFolder,
        options: BenchOptions,
        observer: &mut dyn Observer,
    ) -> anyhow::Result<Self> {
        let machine = Machine::start(&options.runtime).await?;
        for removed in machine.sweep().await? {
            observer.observe(&Event::Swept { removed })?;
        }
        machine.port_is_free(&folder.suite)?;
        std::fs::create_dir_all(&options.logs)
            .with_context(|| format!("{}: cannot keep logs there", options.logs.display()))?;
        let mut bench = Self {
            folder,
            options,
            machine,
            ready: BTreeMap::new(),
            backend: None,
            redirect: None,
            host: host::describe(),
        };
        bench.ready = bench.build_all(observer).await?;
        bench.start_backend(observer).await?;
        Ok(bench)
    }

    /// Measures what the loader can do here at best; every later record has it. Where that cannot
    /// be told, it is said, and the records go without.
    pub(crate) async fn measure_loader(
        &mut self,
        program: &Path,
        observer: &mut dyn Observer,
    ) -> anyhow::Result<()> {
        let (program, cores) = (program.to_owned(), self.options.cores.clone());
        let measured = tokio::task::spawn_blocking(move || ceiling::measure(&program, &cores));
        match measured.await.context("the engine panicked")? {
            Ok(ceiling) => self.host.loader = Some(ceiling),
            Err(error) => observer.observe(&Event::CeilingUnknown {
                why: format!("{error:#}"),
            })?,
        }
        Ok(())
    }

    async fn build_all(
        &self,
        observer: &mut dyn Observer,
    ) -> anyhow::Result<BTreeMap<String, Result<Ready, NoStart>>> {
        let contenders: Vec<Contender> = self
            .options
            .contenders
            .iter()
            .map(|name| {
                let found = self.contender(name).cloned();
                found.with_context(|| {
                    format!("{name}: it was planned, and the suite no longer has it")
                })
            })
            .collect::<anyhow::Result<_>>()?;
        let mut ready = BTreeMap::new();
        let builds = contenders.iter().map(|contender| self.build_one(contender));
        let mut builds = pin!(stream::iter(builds).buffered(BUILDS_AT_ONCE));
        for name in contenders.iter().map(|contender| contender.name.clone()) {
            observer.observe(&Event::Building {
                contender: name.clone(),
            })?;
            let Some(one) = builds.next().await else {
                break;
            };
            observer.observe(&built_event(&name, &one))?;
            ready.insert(name, one);
        }
        Ok(ready)
    }

    async fn build_one(&self, contender: &Contender) -> Result<Ready, NoStart> {
        let folder = self.folder.contender_folder(&contender.folder);
        let built = build::build(contender, &folder, &build_options(self.suite()))
            .await
            .map_err(|error| no_start(&error))?;
        let options = self.jvm_options();
        let failed = |error: &anyhow::Error| NoStart {
            message: format!("{}: {error:#}", contender.name),
            evidence: String::new(),
        };
        self.machine
            .make_ready(&self.suite().name, contender, built, options)
            .await
            .map_err(|error| failed(&error))
    }

    async fn start_backend(&mut self, observer: &mut dyn Observer) -> anyhow::Result<()> {
        let name = self.options.backend.clone();
        if name == NO_BACKEND {
            return Ok(());
        }
        observer.observe(&Event::BackendStarting { name: name.clone() })?;
        let spec = self
            .suite()
            .backends
            .iter()
            .find(|backend| backend.name == name);
        let Some(spec) = spec else {
            bail!("unknown backend {name}")
        };
        let data = spec.data.as_ref().map(|data| self.folder.path.join(data));
        let backend = self
            .machine
            .start_backend(
                &name,
                &self.folder.path,
                data,
                &self.options.cores.backend,
                &self.options.logs,
            )
            .await
            .with_context(|| format!("backend {name} does not start"))?;
        let address = backend.address();
        observer.observe(&Event::BackendReady {
            name,
            address: address.to_string(),
        })?;
        self.backend = Some(backend);
        Ok(())
    }

    /// Size of a contender's artifact where there is no image.
    pub(crate) fn artifact_bytes(&self, contender: &str) -> Option<u64> {
        self.ready.get(contender)?.as_ref().ok()?.artifact_bytes
    }

    pub(crate) fn suite(&self) -> &Suite {
        &self.folder.suite
    }

    pub(crate) fn runtime(&self) -> &dyn Runtime {
        self.machine.runtime()
    }

    pub(crate) fn backend(&self) -> Option<&dyn BackendProbe> {
        self.backend
            .as_ref()
            .map(|backend| backend as &dyn BackendProbe)
    }

    pub(crate) fn contender(&self, name: &str) -> Option<&Contender> {
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
    pub(crate) fn start_spec(
        &self,
        contender: &Contender,
        parameters: &BTreeMap<String, String>,
        limits: Limits,
        log_name: &str,
    ) -> Result<StartSpec, NoStart> {
        let missing = || NoStart {
            message: "it was not built".to_owned(),
            evidence: String::new(),
        };
        let ready = self
            .ready
            .get(&contender.name)
            .cloned()
            .unwrap_or_else(|| Err(missing()))?;
        let backend = self.backend_address();
        Ok(StartSpec {
            label: contender.name.clone(),
            command: ready.command,
            env: case::environment(self.suite(), contender, parameters, &backend),
            workdir: match ready.image {
                // Where images keep the artifact.
                Some(_) => PathBuf::from("/app"),
                None => ready.built.workdir,
            },
            limits,
            cores: self.options.cores.contender.clone(),
            port: self.suite().port,
            ready_path: self.suite().ready_path.clone(),
            image: ready.image,
            log_path: self.options.logs.join(format!("{log_name}.log")),
        })
    }

    fn backend_address(&self) -> BackendAddress {
        self.redirect
            .or_else(|| self.backend_socket())
            .map(|address| BackendAddress {
                host: address.ip().to_string(),
                port: address.port(),
            })
            .unwrap_or_default()
    }

    /// Where contenders reach the backend.
    pub(crate) fn backend_socket(&self) -> Option<SocketAddr> {
        self.backend.as_ref().map(BackendAtWork::address)
    }

    /// Has contenders that are started from now on call something else than the backend.
    pub(crate) fn redirect_contenders(&mut self, to: SocketAddr) {
        self.redirect = Some(to);
    }

    /// Stops the backend and gives everything back.
    pub(crate) async fn close(self) {
        if let Some(backend) = self.backend {
            backend.stop().await;
        }
    }
}

impl Cases for Bench {
    fn case(&self, pending: &PendingRun) -> Case {
        let run = &pending.run;
        let suite = self.suite();
        let log_name = format!("{}.a{}", run.id, pending.attempt);
        let contender = self.contender(&run.contender);
        let ready = self
            .ready
            .get(&run.contender)
            .and_then(|ready| ready.as_ref().ok());
        let start = match contender {
            Some(contender) => self.start_spec(contender, &run.parameters, run.limits, &log_name),
            None => Err(NoStart {
                message: format!("the suite no longer has {}", run.contender),
                evidence: String::new(),
            }),
        };
        let begin = Begin {
            format: FORMAT,
            run: run.clone(),
            attempt: pending.attempt,
            suite: suite.name.clone(),
            suite_digest: suite.digest.clone(),
            profile: self.options.profile.clone(),
            runtime: self.options.runtime.clone(),
            backend: self.options.backend.clone(),
            at: clock::now_rfc3339(),
            describe: contender.map(|c| c.describe.clone()).unwrap_or_default(),
            language: contender.map(|c| c.language.clone()).unwrap_or_default(),
            note: contender.and_then(|c| c.note.clone()),
            version: ready.and_then(|ready| ready.built.version.clone()),
            artifact_digest: ready.map(|ready| {
                ready
                    .image_digest
                    .as_ref()
                    .unwrap_or(&ready.built.digest)
                    .clone()
            }),
            enforcement: self.runtime().enforcement(),
            traffic_path: self.runtime().traffic_path(),
            cores: self.options.cores.clone(),
            host: self.host_with(ready),
        };
        let benchmark = suite
            .benchmarks
            .iter()
            .find(|one| one.name == run.benchmark);
        let slice = suite
            .profiles
            .get(&self.options.profile)
            .map(|profile| profile.slice);
        Case {
            begin,
            start,
            requests: benchmark
                .map(|one| one.requests.clone())
                .unwrap_or_default(),
            scenario: benchmark.and_then(|one| one.scenario.clone()),
            slice: self
                .options
                .slice
                .or(slice)
                .unwrap_or(Duration::from_secs(1)),
            seed: self.options.seed,
            artifact_bytes: ready.and_then(|ready| ready.artifact_bytes),
        }
    }
}

impl Bench {
    /// The host with the versions of what takes part in a run.
    fn host_with(&self, ready: Option<&Ready>) -> Host {
        let mut host = self.host.clone();
        host.versions
            .insert("bakeoff".to_owned(), env!("CARGO_PKG_VERSION").to_owned());
        host.versions.extend(self.machine.versions());
        if let Some(ready) = ready {
            host.versions.extend(ready.built.toolchains.clone());
        }
        host
    }
}

/// The runtime of local processes, entering their cgroups through this very binary.
pub(crate) fn process_runtime() -> anyhow::Result<ProcessRuntime> {
    let shim = std::env::current_exe().context("cannot find this program's own file")?;
    let shim_args = vec![OsString::from("shim")];
    let options = ProcessOptions {
        shim,
        shim_args,
        run_base: sweep::run_base(),
    };
    ProcessRuntime::new(options).context("cannot make a folder for temporary files")
}

/// The command of a contender as it is typed where it runs.
pub(crate) fn resolve(
    contender: &Contender,
    artifact: String,
    java: Option<String>,
    jvm_options: Vec<String>,
) -> anyhow::Result<Vec<String>> {
    let values = Placeholders {
        artifact,
        java,
        jvm_options,
    };
    Ok(build::resolve(&contender.run, &values)?)
}

/// Asks real services.
pub(crate) struct HttpClient {
    /// What goes before every path; empty for contenders that we started.
    pub(crate) prefix: String,
}

impl Client for HttpClient {
    fn ask<'a>(
        &'a self,
        to: SocketAddr,
        check: &'a Check,
    ) -> BoxFuture<'a, Result<Answer, String>> {
        Box::pin(async move {
            let path = format!("{}{}", self.prefix, check.path);
            let body = check.body.as_bytes();
            http::ask(to, &check.method, &path, &check.headers, body, ANSWER_LIMIT)
                .await
                .map_err(|error| error.to_string())
        })
    }
}
