//! Whether contenders can take turns: several are alive concurrently then.

use bakeoff_base::problem::Problem;
use bakeoff_model::conditions::RuntimeKind;
use bakeoff_runtime::host;
use bakeoff_runtime::kubernetes::ClusterSettings;
use bakeoff_runtime::process::ProcessRuntime;

use super::images::engine_is_elsewhere;
use super::this_host::process_options;
use crate::together::Abilities;

/// Returns the abilities of this host, or of a cluster, and of a runtime for turns; tried where
/// that is possible. Clusters and other hosts are not asked: their memory is not known before a
/// session begins.
#[must_use]
pub fn abilities(runtime: RuntimeKind, cluster: &ClusterSettings) -> Abilities {
    Abilities {
        concurrent: concurrent(runtime, cluster),
        memory_bytes: memory_bytes(runtime),
    }
}

/// Returns the memory of the host on which contenders run; `None` where that is not this one.
pub(crate) fn memory_bytes(runtime: RuntimeKind) -> Option<u64> {
    match runtime {
        RuntimeKind::Kubernetes => None,
        RuntimeKind::Docker if engine_is_elsewhere() => None,
        _ => Some(host::describe().memory_bytes),
    }
}

fn concurrent(runtime: RuntimeKind, cluster: &ClusterSettings) -> Result<(), Problem> {
    match runtime {
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
        // Each has an address of its own.
        RuntimeKind::Docker | RuntimeKind::Kubernetes | RuntimeKind::External => Ok(()),
    }
}
