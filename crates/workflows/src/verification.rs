//! Checks without load: the lifecycle and functional checks of one contender, or the functional
//! ones of a service that runs already.

use std::collections::BTreeMap;
use std::path::PathBuf;

use bakeoff_grpc::Schema;
use bakeoff_model::plan;
use bakeoff_model::record::CheckRecord;
use bakeoff_model::request::check::CheckOutcome;
use bakeoff_model::suite::{Contender, Limits, Profile, Suite};
use bakeoff_model::text::service_url::ServiceUrl;
use bakeoff_places::client::HttpClient;
use bakeoff_places::contracts::{Destination, STOP_GRACE};
use bakeoff_places::external::External;
use bakeoff_places::{ContainerOptions, Runtime as _, StartSpec, Wire};
use bakeoff_session::contracts::{GROUP, Halt};
use bakeoff_session::selection;
use bakeoff_session::stages::lifecycle::{self, Figures};
use bakeoff_session::stages::start::{await_ready, start};
use bakeoff_session::stages::verify;
use bakeoff_session::testbed::Testbed;
use bakeoff_store::grpc;
use serde::Serialize;

/// Which checks are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// Groups of functional checks.
    groups: Vec<String>,
    lifecycle: bool,
}

impl Wanted {
    /// The checks of these groups; all without any.
    ///
    /// # Errors
    /// Every group that the suite does not have.
    pub fn new(suite: &Suite, groups: &[String]) -> anyhow::Result<Self> {
        let mut known: Vec<String> = Vec::new();
        for check in &suite.checks {
            if !known.contains(&check.group) {
                known.push(check.group.clone());
            }
        }
        if suite.lifecycle {
            known.push(GROUP.to_owned());
        }
        let groups = plan::select("group", &known, groups).map_err(selection::unknown)?;
        let lifecycle = groups.iter().any(|group| group == GROUP);
        Ok(Self { groups, lifecycle })
    }
}

/// The result of one contender.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verified {
    /// The contender, or the URL of the service.
    pub contender: String,
    /// The checks that were made.
    pub checks: Vec<CheckRecord>,
    /// Why not all checks could be made.
    pub failure: Option<String>,
}

impl Verified {
    /// Whether every check could be made and none was bad.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.failure.is_none() && !self.checks.iter().any(is_bad)
    }
}

/// Whether a check speaks against its contender.
#[must_use]
pub fn is_bad(check: &CheckRecord) -> bool {
    !matches!(
        check.outcome,
        CheckOutcome::Good | CheckOutcome::NotApplicable { .. }
    )
}

/// Checks a service that was started elsewhere; its life is not ours to check.
///
/// # Errors
/// The URL is none, or names no host.
pub async fn external(suite: &Suite, wanted: &Wanted, url: &str) -> anyhow::Result<Verified> {
    let service = ServiceUrl::new(url)?;
    let client = HttpClient {
        prefix: service.prefix().to_owned(),
    };
    let schema = grpc::schema(suite)?;
    let spec = external_spec(suite, url, service, schema);
    let mut instance = External.start(&spec).await?;
    if let Err(halt) = await_ready(instance.as_mut(), &spec).await {
        let failure = halt.failed_start();
        return Ok(Verified {
            contender: url.to_owned(),
            checks: Vec::new(),
            failure: Some(format!("{failure}\n{}", failure.details())),
        });
    }
    let to = Destination::of(instance.as_ref());
    let mut checks = Vec::new();
    for check in suite
        .checks
        .iter()
        .filter(|check| wanted.groups.contains(&check.group))
    {
        checks.push(verify::check(&client, &to, check).await);
    }
    Ok(Verified {
        contender: url.to_owned(),
        checks,
        failure: None,
    })
}

/// A start of something that runs already: only its label and its ready path matter.
fn external_spec(
    suite: &Suite,
    url: &str,
    service: ServiceUrl,
    schema: Option<Schema>,
) -> StartSpec {
    StartSpec {
        label: url.to_owned(),
        arguments: Vec::new(),
        command: Vec::new(),
        env: BTreeMap::new(),
        workdir: PathBuf::new(),
        limits: Limits::default(),
        cores: Vec::new(),
        port: suite.port,
        ready_path: suite.ready_path.clone(),
        start_timeout: Profile::START_TIMEOUT,
        image: None,
        service: Some(service),
        container: ContainerOptions::default(),
        wire: Wire {
            tls: None,
            grpc: schema,
        },
        log_path: PathBuf::new(),
    }
}

/// All wanted checks of one contender.
pub async fn contender(
    testbed: &Testbed,
    contender: &Contender,
    wanted: &Wanted,
    limits: Limits,
) -> Verified {
    let mut checks = Vec::new();
    let log_name = contender.name.replace('/', "_");
    let spec = testbed.start_spec(contender, &first_parameters(contender), limits, &log_name);
    let outcome = match spec {
        Ok(spec) => check_one(testbed, &spec, wanted, &mut checks).await,
        Err(failure) => Err(failure.into()),
    };
    let mut failures: Vec<String> = Vec::new();
    match outcome {
        Ok(()) => {}
        Err(Halt::Failed(failure)) => failures.push(format!("{failure}\n{}", failure.details())),
        Err(Halt::Fatal(error)) => failures.push(format!("{error:#}")),
    }
    let unknown = testbed.deps().services.unknown_requests().await;
    if !unknown.is_empty() {
        let list = unknown.join("\n");
        failures.push(format!("the replay backend had no recording of:\n{list}"));
    }
    Verified {
        contender: contender.name.clone(),
        checks,
        failure: (!failures.is_empty()).then(|| failures.join("\n")),
    }
}

/// The first value of each parameter.
pub(crate) fn first_parameters(contender: &Contender) -> BTreeMap<String, String> {
    let first = |(name, values): (&String, &Vec<String>)| {
        values.first().map(|value| (name.clone(), value.clone()))
    };
    contender.matrix.iter().filter_map(first).collect()
}

async fn check_one(
    testbed: &Testbed,
    spec: &StartSpec,
    wanted: &Wanted,
    checks: &mut Vec<CheckRecord>,
) -> Result<(), Halt> {
    let parts = testbed.deps();
    let client = &*parts.place.client;
    if wanted.lifecycle {
        let keep = |check| {
            checks.push(check);
            Ok(())
        };
        lifecycle::apart(&parts, spec, keep).await?;
    }
    let mut instance = start(&parts, spec).await?;
    let startup = await_ready(instance.as_mut(), spec).await?;
    let to = Destination::of(instance.as_ref());
    for check in parts
        .suite
        .checks
        .iter()
        .filter(|one| wanted.groups.contains(&one.group))
    {
        checks.push(verify::check(client, &to, check).await);
    }
    if wanted.lifecycle {
        let artifact_bytes = testbed.artifact_bytes(&spec.label);
        let figures = Figures {
            startup_ns: startup.startup_ns,
            artifact_bytes,
        };
        checks.extend(lifecycle::observed(&parts, instance.as_ref(), figures).await);
        if let Some(check) = parts.suite.checks.last() {
            checks.push(verify::alive(client, &to, check).await);
        }
    }
    let died = instance.exited().await.is_some();
    let report = instance.stop(STOP_GRACE).await;
    if wanted.lifecycle {
        checks.push(lifecycle::stopped(&report, died, 0));
    }
    Ok(())
}
