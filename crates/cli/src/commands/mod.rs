//! One module a command. A command reads its arguments, calls the parts and prints; it holds no
//! rule of its own about what a number means.

pub(crate) mod bench;
pub(crate) mod build;
pub(crate) mod builds;
pub(crate) mod compare;
pub(crate) mod doctor;
pub(crate) mod list;
pub(crate) mod load;
pub(crate) mod load_feed;
pub(crate) mod load_page;
pub(crate) mod load_summary;
pub(crate) mod load_url;
pub(crate) mod machine;
pub(crate) mod null_server;
pub(crate) mod plan;
pub(crate) mod record;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod rounds;
pub(crate) mod run;
pub(crate) mod schema;
pub(crate) mod verify;
pub(crate) mod wrk;

use std::collections::BTreeMap;
use std::ffi::OsString;

use bakeoff_model::plan::{self as planning, Plan, PlanOptions, UnknownName};
use bakeoff_model::suite::{NO_BACKEND, Round, Suite};
use tokio::signal::unix::{SignalKind, signal};

use crate::args::Selection;

/// Becomes the contender that the arguments name; returns only when that failed.
pub(crate) fn shim(args: &[OsString]) -> anyhow::Result<u8> {
    match bakeoff_runtime::process::shim_main(args.iter().cloned()) {
        Ok(never) => match never {},
        Err(error) => Err(error.into()),
    }
}

/// The plan, or every unknown name at once.
pub(crate) fn planned(suite: &Suite, options: &PlanOptions) -> anyhow::Result<Plan> {
    planning::plan(suite, options).map_err(unknown)
}

/// All unknown names as one error.
pub(crate) fn unknown(errors: Vec<UnknownName>) -> anyhow::Error {
    let list: Vec<String> = errors.iter().map(ToString::to_string).collect();
    anyhow::anyhow!(list.join("\n"))
}

/// Cores that this process may use.
pub(crate) fn host_cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The suite's main round, which is run unless something else is asked for.
pub(crate) fn main_round(suite: &Suite) -> Option<&Round> {
    suite.rounds.iter().find(|round| round.winner.is_none())
}

/// What the user chose, or what the round names: qualification variants and further benchmarks
/// take part only when they are asked for.
pub(crate) fn plan_options(
    suite: &Suite,
    selection: &Selection,
    benchmarks: &[String],
    profile: &str,
    runs: Option<u32>,
    seed: u64,
    round: Option<&Round>,
) -> PlanOptions {
    let or_round = |chosen: &[String], of_round: fn(&Round) -> &Vec<String>| match round {
        Some(round) if chosen.is_empty() => of_round(round).clone(),
        _ => chosen.to_vec(),
    };
    let parameters = match round {
        Some(round) if selection.contender.is_empty() => round.parameters.clone(),
        _ => BTreeMap::new(),
    };
    PlanOptions {
        profile: profile.to_owned(),
        contenders: or_round(&selection.contender, |round| &round.contenders),
        parameters,
        cases: Vec::new(),
        benchmarks: or_round(benchmarks, |round| &round.benchmarks),
        runs,
        seed,
        runtime: selection.runtime.name().to_owned(),
        backend: selection
            .backend
            .clone()
            .unwrap_or_else(|| suite.default_backend.clone()),
    }
}

/// Refuses a backend that the suite does not list.
pub(crate) fn known_backend(suite: &Suite, name: &str) -> anyhow::Result<()> {
    let mut known: Vec<String> = suite.backends.iter().map(|one| one.name.clone()).collect();
    known.push(NO_BACKEND.to_owned());
    planning::select("backend", &known, &[name.to_owned()]).map_err(unknown)?;
    Ok(())
}

/// Waits for Ctrl-C or a termination signal.
pub(crate) async fn interrupted() {
    let Ok(mut terminate) = signal(SignalKind::terminate()) else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminate.recv() => {}
    }
}
