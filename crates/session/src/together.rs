//! What contenders need that are alive together, in a carousel, and whether the host has it. Pure.

use std::collections::BTreeSet;

use bakeoff_base::number::as_f64;
use bakeoff_base::text::counted;
use bakeoff_model::baseline::head_name;
use bakeoff_model::conditions::{BackendName, RuntimeKind};
use bakeoff_model::plan::{Plan, PlannedRun};
use bakeoff_model::record::Host;
use bakeoff_model::suite::Suite;

use crate::hint::hinted;

/// Share of the host's memory that frozen and thawed contenders may take together: the rest is for
/// the backend, the load generators and the kernel.
const MEMORY_SHARE: f64 = 0.9;

/// What the user should know about the carousels of a plan, a sentence each; none without one.
///
/// # Errors
/// The plan cannot be made on such a host, or with such a runtime or backend.
pub fn checked(plan: &Plan, suite: &Suite, host: &Host) -> anyhow::Result<Vec<String>> {
    let Some(largest) = largest(plan) else {
        return Ok(Vec::new());
    };
    let cannot = match plan.runtime {
        RuntimeKind::External => Some("services that run elsewhere"),
        RuntimeKind::Kubernetes => Some("Pods"),
        RuntimeKind::Process | RuntimeKind::Docker => None,
    };
    if let Some(who) = cannot {
        return Err(hinted(
            format_args!("{who} cannot be frozen, so they cannot take part in a carousel"),
            instead(suite),
        ));
    }
    if plan.backend == BackendName::Postgres {
        databases(&largest, suite)?;
    }
    let count = counted(largest.len() as u64, "contender");
    let limits: Option<u64> = largest.iter().map(|run| run.limits.memory_bytes).sum();
    let Some(limits) = limits else {
        return Ok(vec![format!(
            "carousel: {count} alive together without a limit of memory; this host \
             has {}",
            gib(host.memory_bytes)
        )]);
    };
    let sentence = format!(
        "carousel: {count} alive together, which may take {} of this host's {} of \
         memory",
        gib(limits),
        gib(host.memory_bytes)
    );
    if as_f64(limits) > MEMORY_SHARE * as_f64(host.memory_bytes) {
        let fewer = "choose fewer with --contender";
        let has_base = largest
            .iter()
            .any(|run| head_name(&run.contender).is_some());
        let hint = match has_base {
            true => format!("{fewer}, or lower `limits.memory`"),
            false => format!("{fewer}, lower `limits.memory`, or {}", instead(suite)),
        };
        return Err(hinted(format_args!("{sentence}, which does not fit"), hint));
    }
    Ok(vec![sentence])
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
fn databases(together: &[&PlannedRun], suite: &Suite) -> anyhow::Result<()> {
    let mut seen = BTreeSet::new();
    match together.iter().find(|run| !seen.insert(&run.contender)) {
        None => Ok(()),
        Some(run) => Err(hinted(
            format_args!(
                "{}: its cases share a database, so they cannot be alive together",
                run.contender
            ),
            format_args!("choose one of its parameters, or {}", instead(suite)),
        )),
    }
}

/// The way out: profiles whose contenders are alive one at a time.
fn instead(suite: &Suite) -> String {
    let whole = suite.profiles.values();
    let whole = whole.filter(|profile| profile.carousel.is_none());
    let names: Vec<String> = whole
        .map(|profile| format!("--profile {}", profile.name))
        .collect();
    match names.is_empty() {
        true => "write a profile with `ladder`".to_owned(),
        false => format!("use a profile of whole runs: {}", names.join(", ")),
    }
}

fn gib(bytes: u64) -> String {
    format!("{:.1} GiB", as_f64(bytes) / as_f64(1 << 30))
}

#[cfg(test)]
mod tests {
    use bakeoff_model::conditions::{BackendName, RuntimeKind};
    use bakeoff_model::plan::{FORMAT, Plan, PlannedRun};
    use bakeoff_model::record::Host;
    use bakeoff_model::suite::{Carousel, Limits};

    use super::checked;
    use crate::tests::fakes::{pending, suite};

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

    fn check(runs: Vec<PlannedRun>, runtime: RuntimeKind, backend: BackendName, expect: &str) {
        let plan = Plan {
            format: FORMAT,
            suite: "fake".to_owned(),
            suite_digest: String::new(),
            profile: "fake".to_owned(),
            runtime,
            backend,
            backend_delay: None,
            seed: 0,
            runs_until: None,
            runs,
        };
        let host = Host {
            memory_bytes: 2 << 30,
            ..Host::default()
        };
        let said = match checked(&plan, &suite(), &host) {
            Ok(said) => said.join("\n"),
            Err(error) => format!("error: {error}"),
        };
        assert_eq!(said, expect);
    }

    #[test]
    fn what_cannot_be_alive_together_is_refused() {
        let (process, replay) = (RuntimeKind::Process, BackendName::Replay);
        let half = Some(512 << 20);
        let whole = PlannedRun {
            carousel: None,
            ..run("a", 1, Some(4 << 30))
        };
        check(vec![whole.clone(), whole], process, replay, "");
        let three = || vec![run("a", 1, half), run("b", 1, half), run("c", 1, half)];
        let fits = "carousel: 3 contenders alive together, which may take 1.5 GiB of this \
                    host's 2.0 GiB of memory";
        check(three(), process, replay, fits);
        let mut later = three();
        later.push(run("a", 2, half));
        check(later, process, replay, fits);
        let mut four = three();
        four.push(run("d", 1, half));
        let not = "error: carousel: 4 contenders alive together, which may take 2.0 GiB of \
                   this host's 2.0 GiB of memory, which does not fit";
        check(four, process, replay, not);
        let open = "carousel: 1 contender alive together without a limit of memory; this \
                    host has 2.0 GiB";
        check(vec![run("a", 1, None)], process, replay, open);
        let external = "error: services that run elsewhere cannot be frozen, so they cannot take \
                        part in a carousel";
        check(three(), RuntimeKind::External, replay, external);
        let a_a = || vec![run("a", 1, half), run("a", 1, half)];
        let shared = "error: a: its cases share a database, so they cannot be alive together";
        check(a_a(), process, BackendName::Postgres, shared);
        check(
            a_a(),
            process,
            replay,
            "carousel: 2 contenders alive together, which may take 1.0 GiB of this host's 2.0 \
             GiB of memory",
        );
    }
}
