//! Times of cores: what the parts of a session used, and what neither of them had.

use bakeoff_base::number::as_f64;
use bakeoff_model::measure::resource::{CoreTime, HostTime};
use bakeoff_model::record::nodes::Nodes;

use crate::evidence::Evidence;

/// Returns the share that the hypervisor withheld.
pub(crate) fn stolen(evidence: &Evidence) -> Option<f64> {
    let host = evidence.host.core_times.known()?;
    let cores = contender_cores(evidence, host);
    Some(cores_busy(host, &cores, |core| core.stolen_ns) / as_f64(cores.len() as u64))
}

/// Returns the share that other processes used. If the contender has no separate cores, the other
/// parts' work is not foreign either.
pub(crate) fn foreign(evidence: &Evidence) -> Option<f64> {
    let host = evidence.host.core_times.known()?;
    let cores = contender_cores(evidence, host);
    let mut known = evidence.contender.cpu.known()?.share();
    let others_ns = evidence.turns.others.map_or(0, |others| others.cpu_ns);
    known += as_f64(others_ns) / as_f64(host.wall_ns.max(1));
    if let Some(nodes) = &evidence.setting.nodes {
        known += parts_beside(evidence, nodes, &nodes.contender) + own_share(host);
    } else if evidence.setting.cores.contender.is_empty() {
        known += evidence.generator_cores() + own_share(host);
        known += evidence.backend.cores();
    }
    let foreign = cores_busy(host, &cores, |core| core.busy_ns) - known;
    Some(foreign.max(0.0) / as_f64(cores.len() as u64))
}

/// Returns how many cores the session itself, or a cluster's meter, used.
fn own_share(host: &HostTime) -> f64 {
    as_f64(host.own_ns) / as_f64(host.wall_ns.max(1))
}

/// Returns the contender's cores: all, if it has no separate ones.
pub(crate) fn contender_cores(evidence: &Evidence, host: &HostTime) -> Vec<usize> {
    match evidence.setting.cores.contender.as_slice() {
        [] => host.cores.iter().map(|core| core.core).collect(),
        cores => cores.to_vec(),
    }
}

/// Returns how many cores load generators and backend used on a node.
pub(crate) fn parts_beside(evidence: &Evidence, nodes: &Nodes, node: &str) -> f64 {
    let backend = match nodes.backend_on(node) {
        true => evidence.backend.cores(),
        false => 0.0,
    };
    evidence.generator_cores() * nodes.generators_on(node) + backend
}

/// Returns how many of these cores were spent in this way.
pub(crate) fn cores_busy(host: &HostTime, cores: &[usize], spent_ns: fn(&CoreTime) -> u64) -> f64 {
    let wanted = host.cores.iter().filter(|core| cores.contains(&core.core));
    let spent_ns: u64 = wanted.map(spent_ns).sum();
    as_f64(spent_ns) / as_f64(host.wall_ns.max(1))
}
