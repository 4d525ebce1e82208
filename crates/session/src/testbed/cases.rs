//! Parts of a run: how its contender is started, and its first record.

use std::time::Duration;

use bakeoff_model::plan::PlannedRun;
use bakeoff_model::record::failure::{Failure, Stage};
use bakeoff_model::record::{Begin, FORMAT, Host};
use bakeoff_model::suite::{Benchmark, Contender, ProbedRequest};
use bakeoff_model::text::database_url::DatabaseUrl;
use bakeoff_places::StartSpec;
use bakeoff_places::contender::Ready;
use bakeoff_places::place::Ports;

use super::Testbed;
use crate::clock;
use crate::contracts::{Cases, PendingRun};
use crate::ready_case::{self, Case, ReadyProbe};
use crate::turn_requirements::PORT;

impl Cases for Testbed {
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
            Some(contender) => self.start_in_set(run, contender, &log_name),
            None => Err(Failure::new(
                Stage::Build,
                format!("the suite no longer has {}", run.contender),
            )),
        };
        let benchmark = suite
            .benchmarks
            .iter()
            .find(|one| one.name == run.benchmark);
        let slice = suite
            .profiles
            .get(&self.options.profile)
            .map(|profile| profile.slice);
        let is_first = run.repetition == 1;
        let probes = match (contender, benchmark, &start) {
            (Some(contender), Some(benchmark), Ok(spec)) if is_first => {
                self.probes(contender, benchmark, spec, &log_name)
            }
            _ => Vec::new(),
        };
        let asks = |ready: &Ready| ready_case::asks_for_gc_log(&ready.command);
        Case {
            begin: self.begin(pending, contender, ready),
            start,
            requests: benchmark
                .map(|one| one.requests.clone())
                .unwrap_or_default(),
            scenario: benchmark.and_then(|one| one.scenario.clone()),
            slice: self
                .options
                .session
                .slice
                .or(slice)
                .unwrap_or(Duration::from_secs(1)),
            seed: self.options.seed,
            artifact_bytes: ready.and_then(|ready| ready.artifact_bytes),
            gc_log: ready.is_some_and(asks).then(|| self.gc_log(&log_name)),
            probes,
        }
    }
}

/// More contenders than this are not alive concurrently on separate ports.
const PORTS: usize = 64;

impl Testbed {
    /// Digest of a contender's image or artifact.
    pub(crate) fn digest(&self, contender: &str) -> Option<&String> {
        self.ready.get(contender)?.as_ref().ok()?.digest()
    }

    /// How the contender of a run is started.
    fn start_in_set(
        &self,
        run: &PlannedRun,
        contender: &Contender,
        log_name: &str,
    ) -> Result<StartSpec, Failure> {
        let spec = self.start_spec(contender, &run.parameters.variables, run.limits, log_name)?;
        // The runs of a set follow each other in the plan.
        Ok(match run.in_turns {
            true => self.beside_others(spec, run.order),
            false => spec,
        })
    }

    /// Changes a start for a set, in which other contenders are alive concurrently: if they share a
    /// network, each has a separate port, by its place in the set.
    pub fn beside_others(&self, mut spec: StartSpec, place: usize) -> StartSpec {
        spec.container.takes_turns = true;
        if self.place.ports != Ports::OfEach {
            let place = u16::try_from(place % PORTS).unwrap_or_default();
            spec.port = spec.port.saturating_add(place);
            spec.env.insert(PORT.to_owned(), spec.port.to_string());
        }
        spec
    }

    /// The first record of a run.
    fn begin(
        &self,
        pending: &PendingRun,
        contender: Option<&Contender>,
        ready: Option<&Ready>,
    ) -> Begin {
        let (run, suite) = (&pending.run, self.suite());
        Begin {
            format: FORMAT,
            run: run.clone(),
            attempt: pending.attempt,
            suite: suite.name.clone(),
            suite_digest: suite.digest.clone(),
            profile: self.options.profile.clone(),
            runtime: self.options.runtime,
            backend: self.options.backend,
            backend_settings: suite.backend_settings(self.options.backend),
            backend_at: self
                .options
                .session
                .backend_url
                .as_ref()
                .map(DatabaseUrl::place),
            at: clock::now_rfc3339(),
            sitting: Some(self.began.clone()),
            describe: contender.map(|c| c.describe.clone()).unwrap_or_default(),
            language: contender.map(|c| c.language.clone()).unwrap_or_default(),
            note: contender.and_then(|c| c.note.clone()),
            baseline: contender.and_then(|c| c.baseline.clone()),
            version: ready.and_then(|ready| ready.built.version.clone()),
            artifact_digest: ready.and_then(Ready::digest).cloned(),
            enforcement: self.place.runtime.enforcement(),
            traffic_path: self.place.runtime.traffic_path(),
            cores: self.options.cores.clone(),
            nodes: self.place.nodes.clone(),
            host: self.host_with(ready),
            not_recorded: Vec::new(),
        }
    }

    /// Returns the probes of a contender for the work of a benchmark's requests.
    fn probes(
        &self,
        contender: &Contender,
        benchmark: &Benchmark,
        spec: &StartSpec,
        log_name: &str,
    ) -> Vec<ReadyProbe> {
        let Some(Ok(ready)) = self.ready.get(&contender.name) else {
            return Vec::new();
        };
        let of_request = |probed: &ProbedRequest| {
            let mut own = contender.probes.iter().zip(&ready.probes);
            let (probe, command) = own.find(|(probe, _)| probe.name == probed.probe)?;
            let mut command = command.clone();
            let log_name = format!("{log_name}.{}", probe.name);
            ready_case::fill_gc_log(&mut command, &self.gc_log(&log_name));
            Some(ReadyProbe {
                name: probe.name.clone(),
                request: probed.request.clone(),
                operations: probe.operations,
                start: StartSpec {
                    command,
                    log_path: self.options.logs.join(format!("{log_name}.log")),
                    ..spec.clone()
                },
            })
        };
        benchmark.probes.iter().filter_map(of_request).collect()
    }

    /// The host with the versions of what takes part in a run.
    fn host_with(&self, ready: Option<&Ready>) -> Host {
        let mut host = self.host.clone();
        host.versions
            .insert("bakeoff".to_owned(), env!("CARGO_PKG_VERSION").to_owned());
        host.versions.extend(self.place.versions.clone());
        if let Some(ready) = ready {
            host.versions.extend(ready.built.toolchains.clone());
        }
        host
    }
}
