//! The measures of the rules about turns; [`crate::measures`] has those of all others.

use std::collections::BTreeMap;

use bakeoff_base::number::as_f64;
use bakeoff_model::validity::{Finding, ThreadShare};

use crate::evidence::Evidence;
use crate::measures::Measure;
use crate::rising::RiseInTurns;

/// Maximum number of threads named in a finding: further ones are small, and a JVM has dozens.
const THREADS_NAMED_MAX: usize = 5;
/// Threads with less than this share of the CPU time outside turns are not named.
const EXPLAINED_MIN: f64 = 0.1;

/// Measures the share of the turns' time that is drain.
pub(crate) fn long_drain(evidence: &Evidence) -> Measure {
    let is_warm_up = evidence.setting.phase.is_warm_up();
    let turns = evidence.turns.used.filter(|_| !is_warm_up)?;
    let share = turns.drain_share();
    Some((share, Finding::LongDrain { share }))
}

/// Measures how much faster the contender got than the others.
pub(crate) fn rising_in_turns(evidence: &Evidence) -> Measure {
    let RiseInTurns {
        rise,
        to_generator,
        blocks,
    } = evidence.turns.rise?;
    let finding = Finding::RisingInTurns {
        rise,
        to_generator,
        blocks,
    };
    Some((rise, finding))
}

/// Measures the CPU that a contender uses during the turns of others, in cores. Its threads are
/// read at the ends of slices and not of turns, so the finding names all that used enough CPU to be
/// the cause, including those that mostly worked in its own turns.
pub(crate) fn idle_work(evidence: &Evidence) -> Measure {
    if evidence.setting.phase.is_warm_up() {
        return None;
    }
    let idle = evidence.turns.idle?;
    let contender = &evidence.contender;
    let parts = contender.parts.unwrap_or_default();
    let finding = Finding::IdleWork {
        cores: idle.share(),
        jit_share: parts.jit_share(),
        gc_share: parts.gc_share(),
        threads: largest(&contender.threads_ns, as_f64(idle.used_ns) * EXPLAINED_MIN),
    };
    (idle.wall_ns > 0).then(|| (idle.share(), finding))
}

/// Returns the threads that used most, and at least this much.
fn largest(threads_ns: &BTreeMap<String, u64>, least_ns: f64) -> Vec<ThreadShare> {
    let all_ns = as_f64(threads_ns.values().sum::<u64>().max(1));
    let used = threads_ns
        .iter()
        .map(|(name, used_ns)| (name, as_f64(*used_ns)));
    let enough = used.filter(|(_, used_ns)| *used_ns > 0.0 && *used_ns >= least_ns);
    let mut shares: Vec<ThreadShare> = enough
        .map(|(name, used_ns)| ThreadShare {
            name: name.clone(),
            share: used_ns / all_ns,
        })
        .collect();
    shares.sort_by(|a, b| b.share.total_cmp(&a.share));
    shares.truncate(THREADS_NAMED_MAX);
    shares
}
