//! The host's ability to run contenders in turns: several are alive concurrently then.

use bakeoff_base::problem::Problem;
use bakeoff_model::conditions::RuntimeKind;
use bakeoff_runtime::host;
use bakeoff_runtime::process::ProcessRuntime;

use super::images::engine_is_elsewhere;
use super::this_host::process_options;
use crate::options::SessionOptions;
use crate::turn_requirements::Abilities;

/// Returns the abilities of this host, or of a cluster, and of a runtime for turns; tried where
/// that is possible. Clusters and other hosts are not queried: their memory is not known before a
/// session starts.
#[must_use]
pub fn abilities(runtime: RuntimeKind, options: &SessionOptions) -> Abilities {
    Abilities {
        concurrent: concurrent(runtime, options),
        memory_bytes: memory_bytes(runtime, options),
    }
}

/// Returns the memory of the host on which contenders run; `None` where that is not this one.
pub(crate) fn memory_bytes(runtime: RuntimeKind, options: &SessionOptions) -> Option<u64> {
    match runtime {
        RuntimeKind::Kubernetes => None,
        RuntimeKind::Docker if engine_is_elsewhere() => None,
        RuntimeKind::Process if options.hosts.contender.is_some() => None,
        _ => Some(host::describe().memory_bytes),
    }
}

fn concurrent(runtime: RuntimeKind, options: &SessionOptions) -> Result<(), Problem> {
    match runtime {
        RuntimeKind::Process if options.hosts.contender.is_some() => {
            Err("processes of another host share its network".into())
        }
        // They listen on the same port.
        RuntimeKind::Process => match process_options() {
            Ok(options) => ProcessRuntime::can_be_side_by_side(options),
            Err(error) => Err(format!("{error:#}").into()),
        },
        RuntimeKind::Kubernetes if options.cluster.load_pods() > 1 => {
            Err("several load generators load one contender at a time".into())
        }
        RuntimeKind::Docker if engine_is_elsewhere() => {
            Err("containers of another host share its network".into())
        }
        // Each has a separate address.
        RuntimeKind::Docker | RuntimeKind::Kubernetes | RuntimeKind::External => Ok(()),
    }
}
