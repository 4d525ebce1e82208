//! Lifecycle checks: how a contender starts, logs and stops.

use std::collections::BTreeMap;
use std::time::Duration;

use bakeoff_base::number::as_f64;
use bakeoff_model::measure::resource::ResourceSample;
use bakeoff_model::record::CheckRecord;
use bakeoff_model::record::failure::Failure;
use bakeoff_model::request::Body;
use bakeoff_model::request::check::{Check, CheckOutcome, Expect};
use bakeoff_model::suite::Limits;
use bakeoff_model::text::duration_ns;
use bakeoff_places::contracts::{Destination, STOP_GRACE};
use bakeoff_places::{Instance, StartSpec, StopReport};
use tokio::time::{Instant, sleep};

use super::start::{await_ready, start, start_error};
use super::verify;
use crate::contracts::{GROUP, Halt, SessionDeps};
use crate::ready_case::environment_unreachable;

/// A path that no service knows, looked for in its log.
const CANARY: &str = "/bakeoff-canary-path";
/// How often an exit or a log line is looked for.
const POLL: Duration = Duration::from_millis(20);
/// How long a log line may take to appear.
const LOG_LIMIT: Duration = Duration::from_secs(10);

/// Values known before the load.
#[derive(Debug, Clone, Copy)]
pub struct Figures {
    /// From start to first valid response, ns.
    pub startup_ns: u64,
    /// Size of the artifact, shown if there is no image.
    pub artifact_bytes: Option<u64>,
}

/// The checks that need separate instances; they come after the measured one, which must not be
/// affected by them. `each` takes the result of one.
///
/// # Errors
/// The errors of `each`, and what is not the contender's failure.
pub async fn apart(
    parts: &SessionDeps<'_>,
    spec: &StartSpec,
    mut each: impl FnMut(CheckRecord) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut starts = false;
    for (cores, cpus) in [(4, Some(4.0)), (4, spec.limits.cpus), (1, Some(1.0))] {
        let check = threads(parts, spec, cores, cpus).await?;
        starts |= !matches!(check.outcome, CheckOutcome::ConnErr { .. });
        each(check)?;
    }
    for check in must_not_start(parts, spec).await? {
        let check = if starts { check } else { shows_nothing(check) };
        each(check)?;
    }
    Ok(())
}

/// A failed start is no evidence if the contender never starts.
fn shows_nothing(check: CheckRecord) -> CheckRecord {
    let outcome = match check.outcome {
        CheckOutcome::Good => not_applicable("it does not start at all"),
        outcome => outcome,
    };
    CheckRecord { outcome, ..check }
}

/// Both "does not start" checks. They ask nothing of contenders that need no environment, which
/// are those of a suite that gives them none.
async fn must_not_start(
    parts: &SessionDeps<'_>,
    spec: &StartSpec,
) -> anyhow::Result<[CheckRecord; 2]> {
    let with = |env| StartSpec {
        env,
        ..spec.clone()
    };
    let name = "does not start without its environment";
    let without = match parts.suite.env.is_empty() {
        true => skipped(name, "the suite has no [env]"),
        false => must_exit(parts, &with(BTreeMap::new()), name).await?,
    };
    let name = "does not start with an unreachable backend";
    let unreachable = match parts.suite.env_unreachable.is_empty() {
        true => skipped(name, "the suite has no [env-unreachable]"),
        false => {
            let env = environment_unreachable(parts.suite, &spec.env);
            must_exit(parts, &with(env), name).await?
        }
    };
    Ok([without, unreachable])
}

fn skipped(name: &str, reason: &str) -> CheckRecord {
    record(name, Instant::now(), not_applicable(reason), None)
}

/// The rule for both "does not start" checks: exit within the start timeout, with a status other
/// than zero.
async fn must_exit(
    parts: &SessionDeps<'_>,
    spec: &StartSpec,
    name: &str,
) -> anyhow::Result<CheckRecord> {
    let begun = Instant::now();
    let mut instance = match parts.place.runtime.start(spec).await {
        Ok(instance) => instance,
        Err(error) => {
            let outcome = unreachable(start_error(error))?;
            return Ok(record(name, begun, outcome, None));
        }
    };
    let exit = loop {
        if let Some(exit) = instance.exited().await {
            break Some(exit);
        }
        if begun.elapsed() >= spec.start_timeout {
            break None;
        }
        sleep(POLL).await;
    };
    let took = begun.elapsed().as_secs_f64();
    instance.stop(Duration::ZERO).await;
    let bad = |assertion: String| CheckOutcome::Bad { assertion };
    let outcome = match exit {
        None => bad(format!(
            "still running after {} s",
            spec.start_timeout.as_secs()
        )),
        Some(exit) if exit.code == Some(0) => bad("exited with code 0".to_owned()),
        Some(exit) if exit.oom_killed => bad(exit.to_string()),
        Some(_) => CheckOutcome::Good,
    };
    Ok(record(name, begun, outcome, Some(format!("{took:.1} s"))))
}

/// Threads of a fresh instance on this number of cores with such a quota.
async fn threads(
    parts: &SessionDeps<'_>,
    base: &StartSpec,
    cores: usize,
    cpus: Option<f64>,
) -> anyhow::Result<CheckRecord> {
    let begun = Instant::now();
    let usable = cores.min(parts.place.host_cores);
    let quota = cpus.map_or_else(|| "no quota".to_owned(), |cpus| format!("quota {cpus}"));
    let name = format!(
        "threads on {cores} cpu{}, {quota}",
        if cores == 1 { "" } else { "s" }
    );
    let limits = Limits {
        cpus,
        memory_bytes: base.limits.memory_bytes,
    };
    let spec = StartSpec {
        limits,
        cores: (0..usable).collect(),
        ..base.clone()
    };
    let mut instance = match start(parts, &spec).await {
        Ok(instance) => instance,
        Err(halt) => return Ok(record(&name, begun, unreachable(halt)?, None)),
    };
    let ready = await_ready(instance.as_mut(), &spec).await;
    let outcome = match ready {
        Ok(_) => CheckOutcome::Good,
        Err(halt) => unreachable(halt)?,
    };
    // One request may still create threads lazily, so a few are asked before counting.
    let to = Destination::of(instance.as_ref());
    for check in parts.suite.checks.iter().take(3) {
        verify::check(&*parts.place.client, &to, check).await;
    }
    let sample = instance.sample().await.resources;
    instance.stop(STOP_GRACE).await;
    let shortened = if usable < cores {
        format!(" (on {usable} cpus)")
    } else {
        String::new()
    };
    let value = thread_list(&sample).map(|list| format!("{list}{shortened}"));
    let outcome = match (&outcome, &value) {
        (CheckOutcome::Good, None) => not_applicable("threads cannot be seen from here"),
        _ => outcome,
    };
    Ok(record(&name, begun, outcome, value))
}

/// "4 x worker, 1 x main"; `None` if threads cannot be seen.
fn thread_list(sample: &ResourceSample) -> Option<String> {
    let list: Vec<String> = sample
        .threads
        .iter()
        .map(|(name, group)| format!("{} x {name}", group.count))
        .collect();
    (!list.is_empty()).then(|| list.join(", "))
}

/// The checks that look at the measured instance.
pub async fn observed(
    parts: &SessionDeps<'_>,
    instance: &dyn Instance,
    figures: Figures,
) -> Vec<CheckRecord> {
    let begun = Instant::now();
    let seconds = Duration::from_nanos(figures.startup_ns).as_secs_f64();
    let startup = record(
        "start-up",
        begun,
        CheckOutcome::Good,
        Some(format!("{seconds:.4} s")),
    );
    let size = match (instance.image_bytes(), figures.artifact_bytes) {
        (Some(bytes), _) => record("image size", begun, CheckOutcome::Good, Some(mib(bytes))),
        (None, bytes) => record(
            "image size",
            begun,
            not_applicable("it runs as a process, without an image"),
            bytes.map(|bytes| format!("artifact {}", mib(bytes))),
        ),
    };
    let port = parts.suite.port.to_string();
    let logs_port = logged(instance, "logs on start-up", &port, begun).await;
    let logs_requests = logs_requests(parts, instance).await;
    vec![startup, size, logs_port, logs_requests]
}

/// The check "logs each request", of suites whose contenders do so.
async fn logs_requests(parts: &SessionDeps<'_>, instance: &dyn Instance) -> CheckRecord {
    let name = "logs each request";
    let begun = Instant::now();
    if !parts.suite.logs_requests {
        let outcome = not_applicable("the suite says that its contenders log no requests");
        return record(name, begun, outcome, None);
    }
    let canary = Check {
        group: GROUP.to_owned(),
        name: "canary".to_owned(),
        method: "GET".to_owned(),
        path: CANARY.to_owned(),
        headers: Vec::new(),
        body: Body::default(),
        expect: Expect::default(),
    };
    match parts
        .place
        .client
        .ask(&Destination::of(instance), &canary)
        .await
    {
        Ok(_) => logged(instance, name, CANARY, begun).await,
        Err(problem) => record(
            name,
            begun,
            CheckOutcome::ConnErr {
                message: problem.to_string(),
            },
            None,
        ),
    }
}

/// Whether the output names something, with a little patience for buffered logs.
async fn logged(instance: &dyn Instance, name: &str, what: &str, begun: Instant) -> CheckRecord {
    let limit = Instant::now() + LOG_LIMIT;
    loop {
        if instance.logs().contains(what) {
            return record(name, begun, CheckOutcome::Good, None);
        }
        if Instant::now() >= limit {
            let assertion = format!("{what} does not appear in its output");
            return record(name, begun, CheckOutcome::Bad { assertion }, None);
        }
        sleep(POLL).await;
    }
}

/// A contender that is killed sooner was not waited for.
const AT_ONCE: Duration = Duration::from_secs(1);

/// The check "stops gracefully".
#[must_use]
pub fn stopped(report: &StopReport, died_before: bool, connections: u32) -> CheckRecord {
    let took = report.took.as_secs_f64();
    let (outcome, value) = if died_before {
        let assertion = format!("died after {connections} connections: {}", report.exit);
        (CheckOutcome::Bad { assertion }, "very bad".to_owned())
    } else if report.graceful {
        (CheckOutcome::Good, format!("in {took:.1} s"))
    } else {
        // Killed at once: in a container a signal without a handler changes nothing.
        let assertion = match report.took < AT_ONCE {
            true => "it has no handler for SIGTERM, so it was killed".to_owned(),
            false => format!("still running {took:.0} s after it was asked to stop"),
        };
        (
            CheckOutcome::Bad { assertion },
            format!("killed after {took:.0} s"),
        )
    };
    CheckRecord {
        group: GROUP.to_owned(),
        name: "stops gracefully".to_owned(),
        outcome,
        duration_ns: duration_ns::whole(report.took),
        value: Some(value),
    }
}

fn record(name: &str, begun: Instant, outcome: CheckOutcome, value: Option<String>) -> CheckRecord {
    let duration_ns = verify::elapsed_ns(begun);
    CheckRecord {
        group: GROUP.to_owned(),
        name: name.to_owned(),
        outcome,
        duration_ns,
        value,
    }
}

fn not_applicable(reason: &str) -> CheckOutcome {
    CheckOutcome::NotApplicable {
        reason: reason.to_owned(),
    }
}

/// The outcome of a check whose contender did not start; an error if that is not its failure.
fn unreachable(halt: Halt) -> anyhow::Result<CheckOutcome> {
    match halt {
        Halt::Failed(Failure { message, .. }) => Ok(CheckOutcome::ConnErr { message }),
        Halt::Fatal(error) => Err(error),
    }
}

fn mib(bytes: u64) -> String {
    format!("{:.1} MiB", as_f64(bytes) / 1_048_576.0)
}
