//! Whether contenders can take turns on this host: several are alive concurrently then.

use bakeoff_model::conditions::RuntimeKind;
use bakeoff_runtime::host;
use bakeoff_runtime::process::ProcessRuntime;

use super::this_host::process_options;
use crate::together::Abilities;

/// Returns the abilities of this host and this runtime for turns, tried where that is possible.
#[must_use]
pub fn abilities(runtime: RuntimeKind) -> Abilities {
    Abilities {
        concurrent: concurrent(runtime),
        memory_bytes: host::describe().memory_bytes,
    }
}

fn concurrent(runtime: RuntimeKind) -> Result<(), String> {
    match runtime {
        // They listen on the same port.
        RuntimeKind::Process => match process_options() {
            Ok(options) => ProcessRuntime::can_be_side_by_side(options),
            Err(error) => Err(format!("{error:#}")),
        },
        // Each has an address of its own.
        RuntimeKind::Docker | RuntimeKind::External => Ok(()),
        RuntimeKind::Kubernetes => {
            Err("load generators in Pods load one contender at a time".to_owned())
        }
    }
}
