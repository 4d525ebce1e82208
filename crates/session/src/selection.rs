//! A user's selection of a suite, and its plan.

use std::collections::BTreeMap;

use bakeoff_base::hint::hinted;
use bakeoff_model::plan::{self as planning, Plan, PlanOptions, PlannedRun, UnknownName};
use bakeoff_model::record::Cores;
use bakeoff_model::suite::conditions::{BackendName, RuntimeKind};
use bakeoff_model::suite::delay::Delay;
use bakeoff_model::suite::far_hosts::FarHosts;
use bakeoff_model::suite::{ALL_ROUNDS, Round, Suite};
use bakeoff_model::text::database_url::DatabaseUrl;
use bakeoff_places::host::topology;
use bakeoff_places::images::engine_is_elsewhere;

use crate::placement::{Placement, place};

/// Which contenders, benchmarks and profile; empty ones are the round's or the suite's.
#[derive(Debug, Clone, PartialEq)]
pub struct Selection {
    /// Globs of contenders.
    pub contenders: Vec<String>,
    /// Globs of benchmarks.
    pub benchmarks: Vec<String>,
    /// The profile [default: the round's or `quick`].
    pub profile: Option<String>,
    /// The runtime.
    pub runtime: RuntimeKind,
    /// The backend [default: the suite's default one].
    pub backend: Option<BackendName>,
    /// How long the replay backend holds its responses back instead of as the suite says.
    pub backend_delay: Option<Delay>,
    /// Repetitions instead of the profile's.
    pub runs: Option<u32>,
    /// Seed of the order of runs.
    pub seed: u64,
}

impl Selection {
    /// Returns the choices of the user, or those of the round: qualification variants and further
    /// benchmarks take part only when they are asked for.
    #[must_use]
    pub fn plan_options(&self, suite: &Suite, round: Option<&Round>) -> PlanOptions {
        let or_round = |chosen: &[String], of_round: fn(&Round) -> &Vec<String>| match round {
            Some(round) if chosen.is_empty() => of_round(round).clone(),
            _ => chosen.to_vec(),
        };
        let parameters = match round {
            Some(round) if self.contenders.is_empty() => round.parameters.clone(),
            _ => BTreeMap::new(),
        };
        let backend = self.backend.unwrap_or(suite.default_backend);
        PlanOptions {
            profile: profile(self.profile.as_ref(), round),
            contenders: or_round(&self.contenders, |round| &round.contenders),
            parameters,
            cases: Vec::new(),
            benchmarks: or_round(&self.benchmarks, |round| &round.benchmarks),
            runs: self.runs,
            seed: self.seed,
            runtime: self.runtime,
            backend,
            backend_delay: backend_delay(self.backend_delay, backend, round),
            no_turns: None,
        }
    }
}

/// The profile of a round.
pub fn profile(asked: Option<&String>, round: Option<&Round>) -> String {
    let own = round.and_then(|round| round.profile.as_ref());
    asked.or(own).map_or_else(|| QUICK.to_owned(), Clone::clone)
}

/// The delay of a round: of the replay backend only.
pub fn backend_delay(
    asked: Option<Delay>,
    backend: BackendName,
    round: Option<&Round>,
) -> Option<Delay> {
    let own = round.filter(|_| backend == BackendName::Replay);
    asked.or(own.and_then(|round| round.backend_delay))
}

/// The profile of a round that names none.
const QUICK: &str = "quick";

/// The plan.
///
/// # Errors
/// Every unknown name at once; a delay for a backend that has none.
pub fn planned(suite: &Suite, options: &PlanOptions) -> anyhow::Result<Plan> {
    if options.backend_delay.is_some() && options.backend != BackendName::Replay {
        return Err(hinted(
            format_args!(
                "the backend {} does not support an artificial delay",
                options.backend
            ),
            "a delay is for --backend replay",
        ));
    }
    planning::plan(suite, options).map_err(unknown)
}

/// All unknown names as one error; the hint of a single one is data.
#[must_use]
pub fn unknown(errors: Vec<UnknownName>) -> anyhow::Error {
    if let [one] = errors.as_slice() {
        return hinted(
            format_args!("unknown {} `{}`", one.kind, one.name),
            one.hint(),
        );
    }
    let list: Vec<String> = errors
        .iter()
        .map(|error| format!("{error}\n  hint: {}", error.hint()))
        .collect();
    anyhow::anyhow!(list.join("\n"))
}

/// The names of a suite's contenders that the globs choose; all without globs.
///
/// # Errors
/// Every glob that matches nothing.
pub fn contenders(suite: &Suite, globs: &[String]) -> anyhow::Result<Vec<String>> {
    let names: Vec<String> = suite
        .contenders
        .iter()
        .map(|one| one.name.clone())
        .collect();
    planning::select("contender", &names, globs).map_err(unknown)
}

/// The suite's main round, which is run unless something else is asked for: the first that picks no
/// winner and is in no group.
#[must_use]
pub fn main_round(suite: &Suite) -> Option<&Round> {
    let mut rounds = suite.rounds.iter();
    rounds.find(|round| round.winner.is_none() && round.group.is_none())
}

/// The round of a name.
///
/// # Errors
/// The suite has no such round.
pub fn round<'s>(suite: &'s Suite, name: &str) -> anyhow::Result<&'s Round> {
    let known: Vec<String> = suite
        .rounds
        .iter()
        .map(|round| round.name.clone())
        .collect();
    let found = suite.rounds.iter().find(|round| round.name == name);
    found.ok_or_else(|| {
        let name = name.to_owned();
        let kind = "round";
        unknown(vec![UnknownName { kind, name, known }])
    })
}

/// All rounds as they are run: those that pick winners first, each group in the order of the suite,
/// because a round only takes winners of earlier ones.
#[must_use]
pub fn rounds_in_order(suite: &Suite) -> Vec<&Round> {
    let (mut order, others): (Vec<&Round>, Vec<&Round>) = suite
        .rounds
        .iter()
        .partition(|round| round.winner.is_some());
    order.extend(others);
    order
}

/// The rounds that a name stands for, in the same order: all of them, or those of a group. Empty if
/// it is the name of a single round, or of nothing.
#[must_use]
pub fn several_rounds<'s>(suite: &'s Suite, name: &str) -> Vec<&'s Round> {
    let mut rounds = rounds_in_order(suite);
    let is_round = suite.rounds.iter().any(|round| round.name == name);
    let chosen = |round: &&Round| round.group.as_deref() == Some(name) && !is_round;
    rounds.retain(|round| name == ALL_ROUNDS || chosen(round));
    rounds
}

/// The backend of this name, or the suite's default one.
///
/// # Errors
/// The suite does not list it.
pub fn backend(suite: &Suite, name: Option<BackendName>) -> anyhow::Result<BackendName> {
    let name = name.unwrap_or(suite.default_backend);
    suite
        .has_backend(name)
        .map_err(|error| unknown(vec![error]))?;
    Ok(name)
}

/// Whether a backend can be a server that runs already.
///
/// # Errors
/// The backend is one that bakeoff has to start.
pub fn backend_can_be_at(backend: BackendName, url: Option<&DatabaseUrl>) -> anyhow::Result<()> {
    match url {
        Some(url) if backend != BackendName::Postgres => Err(hinted(
            format_args!("{url} cannot be the backend {backend}"),
            "--backend-url is for --backend postgres",
        )),
        _ => Ok(()),
    }
}

/// Where the parts of a plan run on this host.
#[must_use]
pub fn placement(plan: &Plan, hosts: &FarHosts) -> Placement {
    let is_elsewhere = match plan.runtime {
        RuntimeKind::Kubernetes => true,
        RuntimeKind::Docker => engine_is_elsewhere(),
        RuntimeKind::Process => hosts.contender.is_some(),
        RuntimeKind::External => hosts.load.is_some(),
    };
    if is_elsewhere {
        // Nodes are what divides the parts there.
        return Placement {
            cores: Cores::default(),
            warnings: Vec::new(),
        };
    }
    let by_cpus = |one: &&PlannedRun, other: &&PlannedRun| {
        let cpus = |run: &PlannedRun| run.limits.cpus.unwrap_or(f64::INFINITY);
        cpus(one).total_cmp(&cpus(other))
    };
    let largest = plan.runs.iter().max_by(by_cpus);
    let limits = largest.map(|run| run.limits).unwrap_or_default();
    place(
        &topology::read(),
        &limits,
        plan.backend != BackendName::None,
    )
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use bakeoff_store::suite_folder;

    use super::main_round;

    #[test]
    fn the_main_round_of_each_suite_is_run_if_none_is_asked_for() {
        for name in ["bootzooka", "locations", "tapir"] {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suites");
            let read = suite_folder::read(&folder.join(name)).unwrap();
            assert_eq!(main_round(&read.suite).unwrap().name, "main", "{name}");
        }
    }
}
