//! Every side before the measurement: started under its limits, asked twice, stopped; and, where
//! the sides are processes, started once more as one that takes turns.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use bakeoff_base::hint::hinted;
use bakeoff_base::problem::Problem;
use bakeoff_model::record::Cores;
use bakeoff_model::request::check::Check;
use bakeoff_model::suite::conditions::{RuntimeKind, TrafficPath};
use bakeoff_places::contracts::{Client, Destination, STOP_GRACE};
use bakeoff_places::sweep::RunFolder;
use bakeoff_places::{Instance, ReadyError, StartError, StartSpec};
use bakeoff_session::stages::verify;
use bakeoff_session::testbed::{Testbed, TestbedOptions};
use bakeoff_store::event::NullObserver;
use bakeoff_store::suite_folder::SuiteFolder;

use crate::duel::Unprepared;
use crate::duel::agreement::Answers;
use crate::duel::definition::{Duel, NAME};

/// Lines of a log that a message shows.
const LOG_LINES: usize = 10;

/// A side that takes turns becomes ready within this multiple of the time that it took alone, or
/// within [`READY_AT_LEAST`].
const READY_FACTOR: u32 = 3;
const READY_AT_LEAST: Duration = Duration::from_secs(2);

/// The result of a dry run of all sides.
pub(super) struct DryRun {
    /// The responses of every side, in their order, by request.
    pub(super) answers: Vec<Vec<Answers>>,
    /// Why the sides cannot take turns, as a clause.
    pub(super) no_turns: Option<String>,
}

/// Starts every side, and sends it the requests.
pub(super) async fn play(
    duel: &Duel,
    runtime: RuntimeKind,
    suite: SuiteFolder,
) -> Result<DryRun, Unprepared> {
    let logs = RunFolder::temporary().map_err(anyhow::Error::from)?;
    let testbed = testbed(duel, runtime, suite.clone(), &logs, false).await?;
    let mut answers = vec![Vec::new(); duel.requests.len()];
    let mut slowest = Duration::ZERO;
    for side in &duel.sides {
        let (of_side, took) = ask_side(duel, &testbed, &side.name).await?;
        let by_request = answers.iter_mut().zip(of_side);
        by_request.for_each(|(all, one)| all.push(one));
        slowest = slowest.max(took);
    }
    testbed.close().await;
    let no_turns = match runtime {
        RuntimeKind::Process => {
            let testbed = self::testbed(duel, runtime, suite, &logs, true).await?;
            let limit = READY_AT_LEAST.max(slowest * READY_FACTOR);
            let no_turns = no_turns(duel, &testbed, limit).await?;
            testbed.close().await;
            no_turns
        }
        RuntimeKind::Docker | RuntimeKind::Kubernetes | RuntimeKind::External => None,
    };
    Ok(DryRun { answers, no_turns })
}

async fn testbed(
    duel: &Duel,
    runtime: RuntimeKind,
    suite: SuiteFolder,
    logs: &RunFolder,
    side_by_side: bool,
) -> anyhow::Result<Testbed> {
    let options = TestbedOptions {
        runtime,
        side_by_side,
        backend: suite.suite.default_backend,
        profile: NAME.to_owned(),
        contenders: duel.sides.iter().map(|side| side.name.clone()).collect(),
        cores: Cores::default(),
        seed: 0,
        session: duel.options(),
        logs: logs.path().to_owned(),
    };
    // Messages that the session will report anyway are not reported twice.
    Testbed::prepare(suite, options, &mut NullObserver).await
}

/// Why the sides cannot take turns: one that does not become ready in the way of a set.
async fn no_turns(
    duel: &Duel,
    testbed: &Testbed,
    limit: Duration,
) -> Result<Option<String>, Unprepared> {
    for (place, side) in duel.sides.iter().enumerate() {
        let spec = start_spec(duel, testbed, &side.name)?;
        // A place after the first: a side that ignores PORT must not pass by chance.
        let spec = testbed.beside_others(spec, place + 1);
        let mut instance = match testbed.deps().place.runtime.start(&spec).await {
            Ok(instance) => instance,
            // Its separate port, which whole runs do not need.
            Err(error @ StartError::PortInUse { .. }) => return Ok(Some(error.to_string())),
            Err(error) => return Err(not_started(error).into()),
        };
        let ready = instance.await_ready(limit).await;
        instance.stop(STOP_GRACE).await;
        if let Err(error) = ready {
            return Ok(Some(unreachable_in_turns(&error)));
        }
    }
    Ok(None)
}

/// `one: it listens on 127.0.0.1:8080, not on 0.0.0.0:8080`.
fn unreachable_in_turns(error: &ReadyError) -> String {
    match error {
        ReadyError::NoListener {
            label,
            hint: Some(hint),
            ..
        } => format!("{label}: {hint}"),
        other => other.to_string(),
    }
}

fn start_spec(duel: &Duel, testbed: &Testbed, name: &str) -> anyhow::Result<StartSpec> {
    let contender = testbed.contender(name).expect("the suite has every side");
    let spec = testbed.start_spec(contender, &BTreeMap::new(), duel.limits, name);
    spec.map_err(failed)
}

/// Returns the responses of a side to each request, and how long it took to become ready.
async fn ask_side(
    duel: &Duel,
    testbed: &Testbed,
    name: &str,
) -> Result<(Vec<Answers>, Duration), Unprepared> {
    let spec = start_spec(duel, testbed, name)?;
    let started = testbed.deps().place.runtime.start(&spec).await;
    let mut instance = started.map_err(not_started)?;
    let asked = Instant::now();
    let ready = instance.await_ready(spec.start_timeout).await;
    let took = asked.elapsed();
    let ready = ready.map_err(|error| not_ready(duel, testbed, error));
    ready.map_err(Unprepared::Services)?;
    let answers = ask_all(testbed, instance.as_ref(), name).await;
    instance.stop(STOP_GRACE).await;
    let answers = answers.map_err(Unprepared::Services)?;
    Ok((answers, took))
}

/// A command that names no program is a slip in it: a duel builds nothing.
fn not_started(error: StartError) -> anyhow::Error {
    match &error {
        StartError::NoProgram { program, .. } if program.contains('/') => hinted(
            error,
            "is the path right? It is looked for from this folder",
        ),
        _ => failed(error),
    }
}

/// Returns the responses of a side to each request; the first that is missing ends it.
async fn ask_all(
    testbed: &Testbed,
    instance: &dyn Instance,
    name: &str,
) -> anyhow::Result<Vec<Answers>> {
    let client = &*testbed.deps().place.client;
    let mut answers = Vec::new();
    // The suite has a check for each request, in their order.
    for check in &testbed.suite().checks {
        answers.push(ask_twice(check, client, instance, name).await?);
    }
    Ok(answers)
}

async fn ask_twice(
    check: &Check,
    client: &dyn Client,
    instance: &dyn Instance,
    name: &str,
) -> anyhow::Result<Answers> {
    let to = Destination::of(instance);
    let unanswered = |why: Problem| {
        let what = format!("{name}: no response to {}", check.name);
        failed(why.context(what).with_evidence(instance.logs()))
    };
    let first = verify::ask(client, &to, check).await;
    let first = first.map_err(unanswered)?;
    let second = verify::ask(client, &to, check).await;
    Ok(Answers {
        name: name.to_owned(),
        first,
        second: second.map_err(unanswered)?,
    })
}

/// A service that runs and does not become ready mostly listens elsewhere, or has no such path.
fn not_ready(duel: &Duel, testbed: &Testbed, error: ReadyError) -> anyhow::Error {
    let (port, path) = (duel.port(), &duel.ready_path);
    let is_ours = testbed.deps().place.runtime.traffic_path() != TrafficPath::External;
    let hint = match &error {
        ReadyError::NoListener { .. } if is_ours => Some(format!(
            "it finds the port {port} in PORT; --port names another, and --start-timeout gives it \
             more time"
        )),
        ReadyError::NoAnswer { .. } if duel.grpc.is_some() => Some(format!(
            "it must respond to a call of {path}, without TLS; --ready names another method"
        )),
        ReadyError::NoAnswer { .. } => Some(format!(
            "it must respond to GET {path} with 200, 404 or a redirect; --ready names another \
             path, and --start-timeout gives it more time"
        )),
        _ => None,
    };
    failed(Problem::from(error).with_hints(hint))
}

/// The problem with the end of its log, and with its hints as one.
fn failed(problem: impl Into<Problem>) -> anyhow::Error {
    let problem = problem.into();
    let log: Vec<&str> = problem.evidence().lines().collect();
    let log = log[log.len().saturating_sub(LOG_LINES)..].iter();
    let log: String = log.map(|line| format!("\n    {line}")).collect();
    let message = format!("{problem}{log}");
    match problem.hints().is_empty() {
        true => anyhow::Error::msg(message),
        false => hinted(message, problem.hints().join("; ")),
    }
}
