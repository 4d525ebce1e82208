//! The sides of a duel, and what can be seen of them before anything is started.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use bakeoff_base::hint::hinted;
use bakeoff_grpc::Schema;
use bakeoff_model::record::Purpose;
use bakeoff_model::suite::Limits;
use bakeoff_model::suite::cluster_settings::ClusterSettings;
use bakeoff_model::suite::conditions::RuntimeKind;
use bakeoff_model::suite::dependency::Dependency;
use bakeoff_model::suite::far_hosts::FarHosts;
use bakeoff_model::text::json_path::JsonPath;
use bakeoff_places::images::engine_is_elsewhere;
use bakeoff_places::this_host::free;
use bakeoff_store::options::SessionOptions;

use crate::service::{DuelRequest, DuelService};

/// Name of the suite, its profile and its benchmark.
pub const NAME: &str = "duel";

/// The port unless another is named.
const PORT: u16 = 8080;

/// Limits of services that are started, unless others are named: those of a small Pod.
pub const USUAL_LIMITS: Limits = Limits {
    cpus: Some(1.0),
    memory_bytes: Some(512 << 20),
};

/// A duel.
#[derive(Debug, Clone, PartialEq)]
pub struct Duel {
    /// The services, at least two.
    pub sides: Vec<DuelService>,
    /// The requests to each of them, at least one; each has another name.
    pub requests: Vec<DuelRequest>,
    /// The messages of the requests, if they are gRPC calls.
    pub grpc: Option<Schema>,
    /// Notes for the user about these before they are sent, a sentence each.
    pub notes: Vec<String>,
    /// The path of the metrics that the services count themselves; absent: these are not read.
    pub scrape: Option<String>,
    /// Parts of the bodies of JSON responses that may differ.
    pub ignored: Vec<JsonPath>,
    /// The port of services that are started [default: the port of the compose file, or 8080].
    pub port: Option<u16>,
    /// The path asked until the first valid response (200, 404 or a redirect).
    pub ready_path: String,
    /// Environment of those that are started.
    pub env: BTreeMap<String, String>,
    /// The services that they depend on; none before the compose file is read.
    pub dependencies: Vec<Dependency>,
    /// Limits of those that are started.
    pub limits: Limits,
    /// How long a service may take from its start to its first response [default:
    /// `Profile::START_TIMEOUT`].
    pub start_timeout: Option<Duration>,
    /// Where commands are started.
    pub workdir: PathBuf,
    /// The cluster in which images run as Pods [default: they run in an engine of this host].
    pub cluster: Option<ClusterSettings>,
    /// Other hosts on which parts run.
    pub hosts: FarHosts,
    /// The compose file [default: one of its usual names there].
    pub compose_file: Option<PathBuf>,
    /// Connections of closed load.
    pub connections: u32,
    /// The load before each measured step.
    pub warm_up: DuelWarmUp,
    /// Length of the measured step.
    pub duration: Duration,
    /// Repetitions, each with fresh processes.
    pub runs: DuelRuns,
    /// The responses of the sides may differ.
    pub may_differ: bool,
    /// Whether one of the services is measured twice, as a control.
    pub control: bool,
    /// Response times are compared too, in open load at one rate for all.
    pub latency: bool,
}

/// The load before a measured step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DuelWarmUp {
    /// There is none.
    Skipped,
    /// A fixed time.
    For(Duration),
    /// Until every service is warm.
    UntilWarm,
}

/// How many repetitions there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DuelRuns {
    /// A fixed number.
    Fixed(u32),
    /// Up to the number that decides every pair, within this time.
    Within(Duration),
}

/// More requests than this are counted in words.
const NAMED_MAX: usize = 3;

impl Duel {
    /// Returns the requests in words: `GET /a`, `GET /a, POST /b and 4 more`.
    #[must_use]
    pub fn asked(&self) -> String {
        let names = self.requests.iter().map(|request| request.name.as_str());
        let shown: Vec<&str> = names.take(NAMED_MAX).collect();
        match self.requests.len() - shown.len() {
            0 => shown.join(", "),
            more => format!("{} and {more} more", shown.join(", ")),
        }
    }

    /// Returns the options for sessions of the duel's suite.
    #[must_use]
    pub fn options(&self) -> SessionOptions {
        SessionOptions {
            purpose: Purpose::Duel,
            cluster: self.cluster.clone().unwrap_or_default(),
            hosts: self.hosts.clone(),
            ..SessionOptions::default()
        }
    }

    /// Where those that are started listen.
    pub(super) fn port(&self) -> u16 {
        self.port.unwrap_or(PORT)
    }

    /// Returns the runtime of all sides.
    ///
    /// # Errors
    /// The services are of different kinds, so that they would not have the same conditions.
    pub fn runtime(&self) -> anyhow::Result<RuntimeKind> {
        let first = &self.sides[0];
        let runtime_of = |side: &DuelService| side.service.runtime(self.cluster.is_some());
        let runtime = runtime_of(first);
        let other = self.sides.iter().find(|side| runtime_of(side) != runtime);
        let Some(other) = other else {
            if self.cluster.is_some() && runtime != RuntimeKind::Kubernetes {
                let (name, kind) = (&first.name, first.service.kind());
                return Err(hinted(
                    format_args!("{name} is {kind}, which no cluster runs"),
                    "name images (NAME=image:IMAGE) or Deployments \
                     (NAME=deployment:NAMESPACE/NAME)",
                ));
            }
            return Ok(runtime);
        };
        let (one, two) = (first.service.kind(), other.service.kind());
        Err(hinted(
            format_args!("{} is {one} and {} is {two}", first.name, other.name),
            "under different conditions no comparison is fair; make all of them commands, images \
             (NAME=image:IMAGE), Deployments with images, or URLs (NAME=url:URL)",
        ))
    }

    /// Returns the runtime of all sides, and checks whether they go together.
    ///
    /// # Errors
    /// Two have one name, or they are of different kinds, or cannot have these limits.
    pub fn validate(&self) -> anyhow::Result<RuntimeKind> {
        let mut names = BTreeSet::new();
        if let Some(second) = self.sides.iter().find(|side| !names.insert(&side.name)) {
            let name = &second.name;
            return Err(hinted(
                format_args!("two services are called {name}"),
                format_args!("give one of them another name: {name}-2={}", second.text),
            ));
        }
        let runtime = self.runtime()?;
        if runtime == RuntimeKind::External {
            let limited = self.limits != Limits::default();
            if limited || !self.env.is_empty() {
                return Err(hinted(
                    "services that run already cannot be given limits or an environment",
                    "omit --cpus, --memory and --env, or name commands instead of URLs",
                ));
            }
        }
        Ok(runtime)
    }

    /// Validates the definition, and checks that the port is free if it must be.
    pub(super) fn check(&self) -> anyhow::Result<RuntimeKind> {
        let runtime = self.validate()?;
        self.hosts.check(runtime, engine_is_elsewhere())?;
        if runtime == RuntimeKind::Process && self.hosts.contender.is_none() {
            free(
                NAME,
                self.port(),
                "end what listens there, or name another port with --port; the services must \
                 listen on it, one after the other, and find it in PORT",
            )?;
        }
        Ok(runtime)
    }
}

/// Returns the port of all sides so far, of which `name` is one that listens on `own`.
///
/// # Errors
/// Another one listens on another port.
pub(super) fn common_port(
    name: &str,
    own: Option<u16>,
    of_others: Option<u16>,
) -> anyhow::Result<Option<u16>> {
    if let (Some(own), Some(other)) = (own, of_others)
        && own != other
    {
        return Err(hinted(
            format_args!("{name} listens on port {own}, another one on {other}"),
            "all must listen on one port; --port names it, where they find it in PORT",
        ));
    }
    Ok(of_others.or(own))
}
