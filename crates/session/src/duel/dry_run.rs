//! Every side once, before the measurement: started under its limits, asked twice, stopped.

use std::collections::BTreeMap;

use bakeoff_model::check::Expect;
use bakeoff_model::conditions::{BackendName, RuntimeKind, TrafficPath};
use bakeoff_model::failure::{Failure, Stage};
use bakeoff_model::record::Cores;
use bakeoff_runtime::kubernetes::ClusterSettings;
use bakeoff_runtime::sweep::RunFolder;
use bakeoff_runtime::{Instance, ReadyError, StartError};

use super::Unprepared;
use super::agreement::Answers;
use super::files::{self, SuiteText};
use super::order::{Duel, NAME};
use crate::contracts::STOP_GRACE;
use crate::event::Unheard;
use crate::hint::hinted;
use crate::stages::verify::{self, Destination};
use crate::testbed::client::HttpClient;
use crate::testbed::{Testbed, TestbedOptions};

/// Lines of a log that a message shows.
const LOG_LINES: usize = 10;

/// What every side answers, in their order.
pub(super) async fn answers(
    duel: &Duel,
    runtime: RuntimeKind,
    draft: &SuiteText,
) -> Result<Vec<Answers>, Unprepared> {
    let logs = RunFolder::temporary().map_err(anyhow::Error::from)?;
    let options = TestbedOptions {
        runtime,
        cluster: ClusterSettings::default(),
        side_by_side: false,
        backend: BackendName::None,
        backend_url: None,
        profile: NAME.to_owned(),
        contenders: duel.sides.iter().map(|side| side.name.clone()).collect(),
        cores: Cores::default(),
        seed: 0,
        slice: None,
        logs: logs.path().to_owned(),
    };
    let folder = files::parsed(draft, &duel.workdir)?;
    // What the session will tell anyway is not told twice.
    let testbed = Testbed::prepare(folder, options, &mut Unheard).await?;
    let mut answers = Vec::new();
    for side in &duel.sides {
        answers.push(ask_side(duel, &testbed, &side.name).await?);
    }
    testbed.close().await;
    Ok(answers)
}

async fn ask_side(duel: &Duel, testbed: &Testbed, name: &str) -> Result<Answers, Unprepared> {
    let contender = testbed.contender(name).expect("the suite has every side");
    let spec = testbed.start_spec(contender, &BTreeMap::new(), duel.limits, name);
    let spec = spec.map_err(|failure| failed(&failure))?;
    let started = testbed.runtime().start(&spec).await;
    let mut instance = started.map_err(|error| not_started(&error))?;
    let ready = instance.await_ready(spec.start_timeout).await;
    let ready = ready.map_err(|error| not_ready(duel, testbed, &error));
    ready.map_err(Unprepared::Services)?;
    let answers = ask_twice(duel, instance.as_ref(), name).await;
    instance.stop(STOP_GRACE).await;
    answers.map_err(Unprepared::Services)
}

/// A command that names no program is a slip in it: a duel builds nothing.
fn not_started(error: &StartError) -> anyhow::Error {
    match error {
        StartError::NoProgram { program, .. } if program.contains('/') => hinted(
            error,
            "is the path right? It is looked for from this folder",
        ),
        _ => failed(&error.failure()),
    }
}

async fn ask_twice(duel: &Duel, instance: &dyn Instance, name: &str) -> anyhow::Result<Answers> {
    let client = HttpClient {
        prefix: String::new(),
    };
    let to = Destination::of(instance);
    let check = duel.request.check(Expect::default());
    let unanswered = |why: String| {
        let words = duel.request.words();
        failed(
            &Failure::new(
                Stage::Verify,
                format!("{name}: no answer to {words}: {why}"),
            )
            .with_evidence(instance.logs()),
        )
    };
    let first = verify::ask(&client, &to, &check).await;
    let first = first.map_err(unanswered)?;
    let second = verify::ask(&client, &to, &check).await;
    Ok(Answers {
        name: name.to_owned(),
        first,
        second: second.map_err(unanswered)?,
    })
}

/// A service that runs and does not become ready mostly listens elsewhere, or has no such path.
fn not_ready(duel: &Duel, testbed: &Testbed, error: &ReadyError) -> anyhow::Error {
    let mut failure = error.failure();
    let (port, path) = (duel.port(), &duel.ready_path);
    let is_ours = testbed.runtime().traffic_path() != TrafficPath::External;
    match error {
        ReadyError::NoListener { .. } if is_ours => failure.hints.push(format!(
            "it finds the port {port} in PORT; --port names another"
        )),
        ReadyError::NoAnswer { .. } => failure.hints.push(format!(
            "it must answer GET {path} with 200 or 404; --ready names another path"
        )),
        _ => {}
    }
    failed(&failure)
}

/// The failure with the end of its log, and with its hints as one.
fn failed(failure: &Failure) -> anyhow::Error {
    let log: Vec<&str> = failure.evidence.lines().collect();
    let log = log[log.len().saturating_sub(LOG_LINES)..].iter();
    let log: String = log.map(|line| format!("\n    {line}")).collect();
    let message = format!("{}{log}", failure.message);
    match failure.hints.is_empty() {
        true => anyhow::Error::msg(message),
        false => hinted(message, failure.hints.join("; ")),
    }
}
