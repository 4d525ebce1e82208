//! The host's ability to run contenders in turns: several are alive concurrently then.

use bakeoff_base::problem::Problem;
use bakeoff_model::suite::cluster_settings::ClusterSettings;
use bakeoff_model::suite::conditions::RuntimeKind;
use bakeoff_model::suite::far_hosts::FarHosts;

use crate::host;
use crate::images::engine_is_elsewhere;
use crate::local::ProcessRuntime;
use crate::this_host::process_options;

/// The abilities of a host and a runtime for turns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Abilities {
    /// Whether several contenders can be alive concurrently; otherwise why not, as a clause.
    pub concurrent: Result<(), Problem>,
    /// Memory of the host; `None` if it is not known yet.
    pub memory_bytes: Option<u64>,
}

/// Returns the abilities of a runtime for turns, on this host or in a cluster. On this host they
/// are tried. Clusters and other hosts are not queried: their memory is not known before a session
/// starts.
#[must_use]
pub fn abilities(runtime: RuntimeKind, hosts: &FarHosts, cluster: &ClusterSettings) -> Abilities {
    Abilities {
        concurrent: concurrent(runtime, hosts, cluster),
        memory_bytes: memory_bytes(runtime, hosts),
    }
}

/// Returns the memory of the contenders' host; `None` if it is not this one.
pub fn memory_bytes(runtime: RuntimeKind, hosts: &FarHosts) -> Option<u64> {
    match runtime {
        RuntimeKind::Kubernetes => None,
        RuntimeKind::Docker if engine_is_elsewhere() => None,
        RuntimeKind::Process if hosts.contender.is_some() => None,
        _ => Some(host::describe().memory_bytes),
    }
}

fn concurrent(
    runtime: RuntimeKind,
    hosts: &FarHosts,
    cluster: &ClusterSettings,
) -> Result<(), Problem> {
    match runtime {
        RuntimeKind::Process if hosts.contender.is_some() => {
            Err("processes of another host share its network".into())
        }
        // They listen on the same port.
        RuntimeKind::Process => match process_options() {
            Ok(options) => ProcessRuntime::can_be_side_by_side(options),
            Err(error) => Err(format!("{error:#}").into()),
        },
        RuntimeKind::Kubernetes if cluster.load_pods() > 1 => {
            Err("several load generators load one contender at a time".into())
        }
        RuntimeKind::Docker if engine_is_elsewhere() => {
            Err("containers of another host share its network".into())
        }
        // Each has a separate address.
        RuntimeKind::Docker | RuntimeKind::Kubernetes | RuntimeKind::External => Ok(()),
    }
}
