//! Whether contenders can be alive together on this host: one thawed and the others frozen.

use bakeoff_model::conditions::RuntimeKind;
use bakeoff_runtime::host;
use bakeoff_runtime::process::ProcessRuntime;

use super::images::find_engine;
use super::runtimes::process_options;
use crate::together::{Abilities, never_frozen};

/// What this host and this runtime can do for carousels, tried where that is possible.
pub async fn abilities(runtime: RuntimeKind) -> Abilities {
    Abilities {
        freezing: freezing(runtime).await,
        memory_bytes: host::describe().memory_bytes,
    }
}

async fn freezing(runtime: RuntimeKind) -> Result<(), String> {
    if let Some(why) = never_frozen(runtime) {
        return Err(why.to_owned());
    }
    match runtime {
        RuntimeKind::Process => match process_options() {
            Ok(options) => ProcessRuntime::can_freeze(options),
            Err(error) => Err(format!("{error:#}")),
        },
        RuntimeKind::Docker => match find_engine().await {
            Ok(engine) => engine.can_pause(),
            // That there is none is said when one is needed.
            Err(_) => Ok(()),
        },
        RuntimeKind::Kubernetes | RuntimeKind::External => Ok(()),
    }
}
