//! A contender that was built, in the form that a runtime starts.

use std::path::PathBuf;

use bakeoff_model::suite::Contender;
use bakeoff_runtime::build::{self, Built, Placeholders};

/// A built contender, in the form that the runtime starts.
#[derive(Debug, Clone)]
pub(crate) struct Ready {
    pub(super) built: Built,
    pub(super) command: Vec<String>,
    /// Where the command starts; empty where an image says it.
    pub(super) workdir: PathBuf,
    pub(super) image: Option<String>,
    pub(super) image_digest: Option<String>,
    pub(super) artifact_bytes: Option<u64>,
}

/// The command of a contender as it is typed where it runs.
pub(super) fn resolve(
    contender: &Contender,
    artifact: String,
    java: Option<String>,
    jvm_options: Vec<String>,
) -> anyhow::Result<Vec<String>> {
    let values = Placeholders {
        artifact,
        java,
        jvm_options,
    };
    Ok(build::resolve(&contender.run, &values)?)
}
