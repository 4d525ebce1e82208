//! Needs of contenders that take turns, and whether the host meets them. Pure. If the contenders do
//! not fit into memory, they take turns in groups; if the host lacks anything else, the same
//! contenders are measured in whole runs, one after the other.

use std::collections::BTreeSet;

use bakeoff_base::hint::hinted;
use bakeoff_base::number::as_f64;
use bakeoff_base::problem::Problem;
use bakeoff_base::text::counted;
use bakeoff_model::plan::{Plan, PlanOptions, PlannedRun, whole_runs};
use bakeoff_model::suite::Suite;
use bakeoff_model::suite::conditions::{BackendName, RuntimeKind};
use bakeoff_places::abilities::Abilities;

use crate::selection;

/// Share of the host's memory that contenders which are alive concurrently may take in all: the
/// rest is for the backend, the load generators and the kernel.
const MEMORY_SHARE: f64 = 0.9;

/// The plan on a host of these abilities. `left_out` takes runs out of a plan that cannot be made
/// there, and says which, a line each; these lines come back.
///
/// # Errors
/// Errors of [`selection::planned`].
pub fn planned(
    suite: &Suite,
    options: &PlanOptions,
    host: &Abilities,
    left_out: impl Fn(&mut Plan) -> Vec<String>,
) -> anyhow::Result<(Plan, Vec<String>)> {
    let made = |options: &PlanOptions| {
        let mut plan = selection::planned(suite, options)?;
        let lines = left_out(&mut plan);
        anyhow::Ok((plan, lines))
    };
    let (plan, lines) = made(options)?;
    let plan = in_memory(plan, host.memory_bytes);
    match obstacle(&plan, host, suite) {
        None => Ok((plan, lines)),
        Some(obstacle) => made(&options.in_whole_runs(obstacle.to_string())),
    }
}

/// The plan in groups that fit into memory, if sets do not and such groups can be made; else as it
/// is.
#[must_use]
pub(crate) fn in_memory(plan: Plan, memory_bytes: Option<u64>) -> Plan {
    let Some(memory_bytes) = memory_bytes else {
        return plan;
    };
    let largest = largest(&plan).unwrap_or_default();
    if memory_limits(&largest).is_none_or(|limits| fits(limits, memory_bytes)) {
        return plan;
    }
    let each = largest.iter().filter_map(|run| run.limits.memory_bytes);
    let each = each.max().unwrap_or_default();
    let most = (1..largest.len()).rev();
    let most = most
        .map(|count| (count, each.saturating_mul(count as u64)))
        .find(|(_, limits)| fits(*limits, memory_bytes));
    let grouped = most.and_then(|(most, _)| plan.in_groups(most));
    grouped.unwrap_or(plan)
}

/// Whether contenders that may take this much in all can be alive concurrently.
fn fits(limits: u64, memory_bytes: u64) -> bool {
    as_f64(limits) <= MEMORY_SHARE * as_f64(memory_bytes)
}

/// Refuses what cannot be compared in turns: head and base.
///
/// # Errors
/// Why contenders of this plan cannot take turns on such a host.
pub(crate) fn must_be(plan: &Plan, host: &Abilities, suite: &Suite) -> anyhow::Result<()> {
    match obstacle(plan, host, suite) {
        None => Ok(()),
        Some(why) => {
            let message = format!("head and base are compared in turns only, and {why}");
            Err(Problem::new(message)
                .with_hints(why.hints().to_vec())
                .into())
        }
    }
}

/// Refuses a plan of head and base with a load that nothing can take turns in.
///
/// # Errors
/// The plan has such a load.
pub(crate) fn must_be_in_turns(plan: &Plan) -> anyhow::Result<()> {
    let mut loads = plan.runs.iter().filter(|run| run.kind.is_load());
    if let Some(run) = loads.find(|run| !run.in_turns) {
        return Err(hinted(
            format_args!(
                "head and base are compared in turns only, and {} has users with pauses, messages \
                 that the service sends by itself, or no closed load",
                run.benchmark
            ),
            "choose others with --benchmark",
        ));
    }
    Ok(())
}

/// Returns the obstacle that keeps the contenders of a plan from taking turns, if there is one and
/// they should.
#[must_use]
pub fn obstacle(plan: &Plan, host: &Abilities, suite: &Suite) -> Option<Problem> {
    let largest = largest(plan)?;
    let can_have_ports = matches!(plan.runtime, RuntimeKind::Process | RuntimeKind::Docker);
    let has_own_ports = can_have_ports && finds_port(suite);
    if let (Err(why), false) = (&host.concurrent, has_own_ports) {
        let hint = match plan.runtime {
            RuntimeKind::Process => {
                "run it as root, use --runtime docker, or have the suite name its port in `PORT` \
                 `env`"
            }
            RuntimeKind::Kubernetes => "use one load generator, without --load-pods",
            RuntimeKind::Docker => {
                "have the suite name its port in `PORT` of `env`, or use an engine of this host"
            }
            RuntimeKind::External => "use --runtime process or --runtime docker",
        };
        return Some(why.clone().with_hint(hint));
    }
    if let Some(why) = shared_database(plan) {
        return Some(Problem::new(why).with_hint("choose one of its parameters"));
    }
    let memory_bytes = host.memory_bytes?;
    too_large(&largest, memory_bytes, "this host's")
}

/// Returns the obstacle that contenders which are alive concurrently do not fit into memory.
fn too_large(largest: &[&PlannedRun], memory_bytes: u64, whose: &str) -> Option<Problem> {
    let limits = memory_limits(largest)?;
    (!fits(limits, memory_bytes)).then(|| {
        let why = format!(
            "{} alive concurrently may take {}, which does not fit into {whose} {} of memory",
            counted(largest.len() as u64, "contender"),
            gib(limits),
            gib(memory_bytes)
        );
        Problem::new(why).with_hint("choose fewer with --contender, or lower `limits.memory`")
    })
}

/// Refuses contenders that take turns and do not fit into the memory of their node.
///
/// # Errors
/// The contenders do not fit.
pub(crate) fn must_fit(plan: &Plan, node: &str, memory_bytes: Option<u64>) -> anyhow::Result<()> {
    let whose = format!("the node {node}'s");
    let obstacle = largest(plan)
        .zip(memory_bytes)
        .and_then(|(largest, memory_bytes)| too_large(&largest, memory_bytes, &whose));
    match obstacle {
        None => Ok(()),
        Some(obstacle) => Err(obstacle.into()),
    }
}

/// The variable in which contenders find the port on which they listen.
pub(crate) const PORT: &str = "PORT";

/// Whether contenders find their port in [`PORT`]: then each can have a separate one.
fn finds_port(suite: &Suite) -> bool {
    suite.env.get(PORT) == Some(&suite.port.to_string())
}

/// Returns a note for the user about the turns of a plan, or about their absence.
#[must_use]
pub fn note(plan: &Plan, memory_bytes: Option<u64>) -> Option<String> {
    if let Some(why) = &plan.no_turns {
        return Some(whole_runs::sentence(why));
    }
    let largest = largest(plan)?;
    let first = largest.iter().filter(|run| !run.twin).count();
    let contenders = counted(first as u64, "contender");
    let count = match largest.len() == first {
        true => contenders,
        false => format!("{} processes of {contenders}", largest.len()),
    };
    let limits = memory_limits(&largest).map(gib);
    let Some(memory_bytes) = memory_bytes else {
        return Some(match limits {
            Some(limits) => {
                format!("turns: {count} alive concurrently on one node, which may take {limits}")
            }
            None => format!("turns: {count} alive concurrently on one node"),
        });
    };
    if let Some(groups) = groups_note(plan, &largest, memory_bytes) {
        return Some(groups);
    }
    let memory = gib(memory_bytes);
    Some(match limits {
        Some(limits) => format!(
            "turns: {count} alive concurrently, which may take {limits} of this host's {memory} \
             of memory"
        ),
        None => format!(
            "turns: {count} alive concurrently without a limit of memory; this host has {memory}"
        ),
    })
}

/// Returns how sets are divided, and why; `None` if they are not.
fn groups_note(plan: &Plan, largest: &[&PlannedRun], memory_bytes: u64) -> Option<String> {
    let (groups, common) = plan.groups()?;
    let first = largest.first()?;
    let of_set = plan.runs.iter().filter(|run| {
        run.in_turns && run.benchmark == first.benchmark && run.repetition == first.repetition
    });
    let mut all: Vec<&PlannedRun> = of_set.collect();
    all.sort_by_key(|run| run.process_label());
    all.dedup_by_key(|run| run.process_label());
    Some(format!(
        "turns: {groups} groups of at most {}, each with {common}, because {} alive concurrently \
         may take {}, which does not fit into this host's {} of memory; a group may take {}. \
         Contenders of different groups are compared through {common}, without response times",
        counted(largest.len() as u64, "contender"),
        all.len(),
        gib(memory_limits(&all)?),
        gib(memory_bytes),
        gib(memory_limits(largest)?),
    ))
}

/// Returns the memory that contenders may take together; `None` if one has no limit.
fn memory_limits(together: &[&PlannedRun]) -> Option<u64> {
    together.iter().map(|run| run.limits.memory_bytes).sum()
}

/// The runs of the set with most contenders.
fn largest(plan: &Plan) -> Option<Vec<&PlannedRun>> {
    let beside = |run: &PlannedRun| -> Vec<&PlannedRun> {
        let others = plan.runs.iter();
        others.filter(|other| run.is_beside(other)).collect()
    };
    let groups = plan.runs.iter().map(beside);
    let largest = groups.max_by_key(Vec::len)?;
    (!largest.is_empty()).then_some(largest)
}

/// Each contender has one database, which is emptied when a case of it starts.
fn shared_database(plan: &Plan) -> Option<String> {
    let mut seen = BTreeSet::new();
    let mut runs = plan.runs.iter().filter(|run| run.in_turns);
    let place = |run: &PlannedRun| (run.benchmark.clone(), run.repetition, run.group);
    let second = runs.find(|run| !seen.insert((place(run), &run.contender)));
    let second = second.filter(|_| plan.backend == BackendName::Postgres)?;
    Some(format!(
        "the cases of {} share a database",
        second.contender
    ))
}

fn gib(bytes: u64) -> String {
    format!("{:.1} GiB", as_f64(bytes) / as_f64(1 << 30))
}

#[cfg(test)]
mod tests {
    use bakeoff_model::plan::{FORMAT, Plan, PlannedRun};
    use bakeoff_model::suite::Limits;
    use bakeoff_model::suite::conditions::{BackendName, RuntimeKind};

    use bakeoff_places::abilities::Abilities;

    use super::{in_memory, must_be, must_fit, note};
    use crate::tests::fakes::{pending, suite};

    fn run(contender: &str, repetition: u32, memory_bytes: Option<u64>) -> PlannedRun {
        PlannedRun {
            contender: contender.to_owned(),
            repetition,
            capacity: None,
            step_order: Vec::new(),
            in_turns: true,
            limits: Limits {
                cpus: None,
                memory_bytes,
            },
            ..pending("one.r1", false).run
        }
    }

    fn plan(runs: Vec<PlannedRun>, runtime: RuntimeKind, backend: BackendName) -> Plan {
        Plan {
            format: FORMAT,
            suite: "fake".to_owned(),
            suite_digest: String::new(),
            profile: "fake".to_owned(),
            runtime,
            backend,
            backend_delay: None,
            seed: 0,
            runs_until: None,
            no_turns: None,
            runs,
        }
    }

    #[track_caller]
    fn check(plan: &Plan, concurrent: Result<(), &str>, expect: &str) {
        let host = Abilities {
            concurrent: concurrent.map_err(Into::into),
            memory_bytes: Some(2 << 30),
        };
        let said = match must_be(plan, &host, &suite()) {
            Ok(()) => note(plan, host.memory_bytes).unwrap_or_default(),
            Err(error) => format!("error: {error}"),
        };
        assert_eq!(said, expect);
    }

    #[test]
    fn what_cannot_be_alive_concurrently_is_known() {
        let (process, replay) = (RuntimeKind::Process, BackendName::Replay);
        let half = Some(512 << 20);
        let whole = PlannedRun {
            in_turns: false,
            ..run("a", 1, Some(4 << 30))
        };
        let whole = plan(vec![whole.clone(), whole], process, replay);
        check(&whole, Ok(()), "");
        check(&whole, Err("nothing can be concurrent"), "");
        let three = || vec![run("a", 1, half), run("b", 1, half), run("c", 1, half)];
        let fits = "turns: 3 contenders alive concurrently, which may take 1.5 GiB of this \
                    host's 2.0 GiB of memory";
        check(&plan(three(), process, replay), Ok(()), fits);
        let mut later = three();
        later.push(run("a", 2, half));
        check(&plan(later, process, replay), Ok(()), fits);
        let mut four = three();
        four.push(run("d", 1, half));
        let not = "error: head and base are compared in turns only, and 4 contenders alive \
                   concurrently may take 2.0 GiB, which does not fit into this host's 2.0 GiB of \
                   memory";
        check(&plan(four, process, replay), Ok(()), not);
        let open = "turns: 1 contender alive concurrently without a limit of memory; this \
                    host has 2.0 GiB";
        check(
            &plan(vec![run("a", 1, None)], process, replay),
            Ok(()),
            open,
        );
        let pods = "error: head and base are compared in turns only, and Pods have one turn";
        let in_cluster = plan(three(), RuntimeKind::Kubernetes, replay);
        check(&in_cluster, Err("Pods have one turn"), pods);
        let note = note(&in_cluster, None).unwrap();
        let expect = "turns: 3 contenders alive concurrently on one node, which may take 1.5 GiB";
        assert_eq!(note, expect);
        must_fit(&in_cluster, "a", Some(2 << 30)).unwrap();
        let error = must_fit(&in_cluster, "a", Some(1 << 30)).unwrap_err();
        let expect = "3 contenders alive concurrently may take 1.5 GiB, which does not fit into \
                      the node a's 1.0 GiB of memory";
        assert_eq!(error.to_string(), expect);
        let a_a = || vec![run("a", 1, half), run("a", 1, half)];
        let shared = "error: head and base are compared in turns only, and the cases of a \
                      share a database";
        check(&plan(a_a(), process, BackendName::Postgres), Ok(()), shared);
        let two = "turns: 2 contenders alive concurrently, which may take 1.0 GiB of this host's \
                   2.0 GiB of memory";
        check(&plan(a_a(), process, replay), Ok(()), two);
    }

    #[test]
    fn what_does_not_fit_takes_turns_in_groups() {
        let named = |names: [&str; 4], memory_bytes: u64| {
            let run = |name: &str| PlannedRun {
                id: format!("one.{name}.r1"),
                ..run(name, 1, Some(memory_bytes))
            };
            let runs = names.map(run).to_vec();
            let made = plan(runs, RuntimeKind::Process, BackendName::Replay);
            in_memory(made, Some(2 << 30))
        };
        let groups = "turns: 2 groups of at most 3 contenders, each with a, because 4 alive \
                      concurrently may take 2.0 GiB, which does not fit into this host's 2.0 GiB \
                      of memory; a group may take 1.5 GiB. Contenders of different groups are \
                      compared through a, without response times";
        let names = ["d", "c", "b", "a"];
        check(&named(names, 512 << 20), Ok(()), groups);
        let whole = "turns: 4 contenders alive concurrently, which may take 1.8 GiB of this \
                     host's 2.0 GiB of memory";
        check(&named(names, 460 << 20), Ok(()), whole);
        // A base and its head are together.
        let pairs = named(["a", "a@base", "b", "b@base"], 512 << 20);
        let groups = groups.replace("each with a,", "each with a@base,");
        let groups = groups.replace("through a,", "through a@base,");
        check(&pairs, Ok(()), &groups);
        let not = |count: &str, memory: &str| {
            format!(
                "error: head and base are compared in turns only, and {count} contenders alive \
                 concurrently may take {memory}, which does not fit into this host's 2.0 GiB of \
                 memory"
            )
        };
        check(&named(names, 1 << 30), Ok(()), &not("4", "4.0 GiB"));
    }

    #[test]
    fn whole_runs_say_why() {
        let whole = Plan {
            no_turns: Some("Pods have one turn".to_owned()),
            ..plan(Vec::new(), RuntimeKind::Kubernetes, BackendName::Replay)
        };
        let expect = "Pods have one turn: whole runs one after the other instead of turns";
        check(&whole, Ok(()), expect);
    }
}
