//! What contenders need that are alive together, in a carousel, and whether the host has it. Pure.
//! Where it has not, the same contenders are measured in whole runs in turn.

use std::collections::BTreeSet;

use bakeoff_base::number::as_f64;
use bakeoff_base::text::counted;
use bakeoff_model::conditions::{BackendName, RuntimeKind};
use bakeoff_model::plan::{Plan, PlanOptions, PlannedRun, whole_runs};
use bakeoff_model::suite::Suite;

use crate::hint::hinted;
use crate::selection;

/// Share of the host's memory that frozen and thawed contenders may take together: the rest is for
/// the backend, the load generators and the kernel.
const MEMORY_SHARE: f64 = 0.9;

/// What carousels take of a host and a runtime.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Abilities {
    /// Whether the runtime freezes contenders; otherwise why not, as a clause.
    pub freezing: Result<(), String>,
    /// Memory of the host.
    pub memory_bytes: u64,
}

/// Why the contenders of a plan cannot be alive together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Obstacle {
    /// As a clause.
    pub why: String,
    /// What would remove it.
    pub hint: &'static str,
}

/// The plan on a host of these abilities. `left_out` takes runs out of a plan that cannot be made
/// there, and says which, a line each; these lines come back.
///
/// # Errors
/// Those of [`selection::planned`].
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
    match obstacle(&plan, host) {
        None => Ok((plan, lines)),
        Some(Obstacle { why, .. }) => made(&options.in_whole_runs(why)),
    }
}

/// Of a runtime that freezes nothing, on no host, why not: a clause.
#[must_use]
pub fn never_frozen(runtime: RuntimeKind) -> Option<&'static str> {
    match runtime {
        RuntimeKind::Process | RuntimeKind::Docker => None,
        RuntimeKind::Kubernetes => Some("Pods cannot be frozen"),
        RuntimeKind::External => Some("services that run elsewhere cannot be frozen"),
    }
}

/// Refuses what cannot be compared in carousels: head and base.
///
/// # Errors
/// Why contenders of this plan cannot be alive together on such a host.
pub(crate) fn must_be(plan: &Plan, host: &Abilities) -> anyhow::Result<()> {
    match obstacle(plan, host) {
        None => Ok(()),
        Some(Obstacle { why, hint }) => Err(hinted(
            format_args!("head and base are compared in carousels only, and {why}"),
            hint,
        )),
    }
}

/// What keeps the contenders of a plan from being alive together, if anything does and they are.
#[must_use]
pub fn obstacle(plan: &Plan, host: &Abilities) -> Option<Obstacle> {
    let largest = largest(plan)?;
    if let Err(why) = &host.freezing {
        let hint = match plan.runtime {
            RuntimeKind::Process => "run it as root, or use --runtime docker",
            RuntimeKind::Docker => "use --runtime process as root, or an engine of root's",
            RuntimeKind::Kubernetes | RuntimeKind::External => "use --runtime process or docker",
        };
        let why = why.clone();
        return Some(Obstacle { why, hint });
    }
    if let Some(why) = shared_database(plan, &largest) {
        let hint = "choose one of its parameters";
        return Some(Obstacle { why, hint });
    }
    let limits = memory_limits(&largest)?;
    (as_f64(limits) > MEMORY_SHARE * as_f64(host.memory_bytes)).then(|| Obstacle {
        why: format!(
            "{} alive together may take {}, which does not fit into this host's {} of memory",
            counted(largest.len() as u64, "contender"),
            gib(limits),
            gib(host.memory_bytes)
        ),
        hint: "choose fewer with --contender, or lower `limits.memory`",
    })
}

/// What the user should know about the carousels of a plan, or about their absence.
#[must_use]
pub fn note(plan: &Plan, memory_bytes: u64) -> Option<String> {
    if let Some(why) = &plan.no_carousels {
        return Some(whole_runs::sentence(why));
    }
    let largest = largest(plan)?;
    let count = counted(largest.len() as u64, "contender");
    let memory = gib(memory_bytes);
    Some(match memory_limits(&largest) {
        Some(limits) => format!(
            "carousel: {count} alive together, which may take {} of this host's {memory} of \
             memory",
            gib(limits)
        ),
        None => format!(
            "carousel: {count} alive together without a limit of memory; this host has {memory}"
        ),
    })
}

/// What contenders may take together; `None` where one has no limit.
fn memory_limits(together: &[&PlannedRun]) -> Option<u64> {
    together.iter().map(|run| run.limits.memory_bytes).sum()
}

/// The runs of the carousel with most contenders.
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
fn shared_database(plan: &Plan, together: &[&PlannedRun]) -> Option<String> {
    let mut seen = BTreeSet::new();
    let mut runs = together.iter();
    let second = runs.find(|run| !seen.insert(&run.contender));
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
    use bakeoff_model::conditions::{BackendName, RuntimeKind};
    use bakeoff_model::plan::{FORMAT, Plan, PlannedRun};
    use bakeoff_model::suite::{Carousel, Limits};

    use super::{Abilities, must_be, note};
    use crate::tests::fakes::pending;

    fn run(contender: &str, repetition: u32, memory_bytes: Option<u64>) -> PlannedRun {
        PlannedRun {
            contender: contender.to_owned(),
            repetition,
            capacity: None,
            step_order: Vec::new(),
            carousel: Some(Carousel { cycles: 3 }),
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
            no_carousels: None,
            runs,
        }
    }

    #[track_caller]
    fn check(plan: &Plan, freezing: Result<(), &str>, expect: &str) {
        let host = Abilities {
            freezing: freezing.map_err(str::to_owned),
            memory_bytes: 2 << 30,
        };
        let said = match must_be(plan, &host) {
            Ok(()) => note(plan, host.memory_bytes).unwrap_or_default(),
            Err(error) => format!("error: {error}"),
        };
        assert_eq!(said, expect);
    }

    #[test]
    fn what_cannot_be_alive_together_is_known() {
        let (process, replay) = (RuntimeKind::Process, BackendName::Replay);
        let half = Some(512 << 20);
        let whole = PlannedRun {
            carousel: None,
            ..run("a", 1, Some(4 << 30))
        };
        let whole = plan(vec![whole.clone(), whole], process, replay);
        check(&whole, Ok(()), "");
        check(&whole, Err("nothing can be frozen"), "");
        let three = || vec![run("a", 1, half), run("b", 1, half), run("c", 1, half)];
        let fits = "carousel: 3 contenders alive together, which may take 1.5 GiB of this \
                    host's 2.0 GiB of memory";
        check(&plan(three(), process, replay), Ok(()), fits);
        let mut later = three();
        later.push(run("a", 2, half));
        check(&plan(later, process, replay), Ok(()), fits);
        let mut four = three();
        four.push(run("d", 1, half));
        let not = "error: head and base are compared in carousels only, and 4 contenders alive \
                   together may take 2.0 GiB, which does not fit into this host's 2.0 GiB of \
                   memory";
        check(&plan(four, process, replay), Ok(()), not);
        let open = "carousel: 1 contender alive together without a limit of memory; this \
                    host has 2.0 GiB";
        check(
            &plan(vec![run("a", 1, None)], process, replay),
            Ok(()),
            open,
        );
        let pods = "error: head and base are compared in carousels only, and Pods cannot be frozen";
        let in_cluster = plan(three(), RuntimeKind::Kubernetes, replay);
        check(&in_cluster, Err("Pods cannot be frozen"), pods);
        let a_a = || vec![run("a", 1, half), run("a", 1, half)];
        let shared = "error: head and base are compared in carousels only, and the cases of a \
                      share a database";
        check(&plan(a_a(), process, BackendName::Postgres), Ok(()), shared);
        let two = "carousel: 2 contenders alive together, which may take 1.0 GiB of this host's \
                   2.0 GiB of memory";
        check(&plan(a_a(), process, replay), Ok(()), two);
    }

    #[test]
    fn whole_runs_say_why() {
        let whole = Plan {
            no_carousels: Some("Pods cannot be frozen".to_owned()),
            ..plan(Vec::new(), RuntimeKind::Kubernetes, BackendName::Replay)
        };
        let expect = "Pods cannot be frozen: whole runs in turn instead of a carousel";
        check(&whole, Ok(()), expect);
    }
}
