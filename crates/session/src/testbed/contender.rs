//! A contender that was built, in the form that a runtime starts.

use std::path::PathBuf;

use anyhow::anyhow;
use bakeoff_model::suite::{Contender, Probe};
use bakeoff_runtime::build::{self, Built, Placeholders};

use crate::hint::hinted;

/// A built contender, in the form that the runtime starts.
#[derive(Debug, Clone)]
pub(crate) struct Ready {
    pub(super) built: Built,
    pub(super) command: Vec<String>,
    /// The commands of its probes, in their order; none where it cannot be started from here.
    pub(super) probes: Vec<Vec<String>>,
    /// Where the command starts; empty where an image says it.
    pub(super) workdir: PathBuf,
    pub(super) image: Option<String>,
    pub(super) image_digest: Option<String>,
    pub(super) artifact_bytes: Option<u64>,
}

impl Ready {
    /// Digest of its image or artifact.
    pub(super) fn digest(&self) -> Option<&String> {
        let artifact = self.built.artifact.as_ref();
        let digest = artifact.map(|artifact| &artifact.digest);
        self.image_digest.as_ref().or(digest)
    }
}

/// The command of a contender as it is typed where it runs, and those of its probes.
pub(super) fn resolve(
    contender: &Contender,
    artifact: String,
    java: Option<String>,
    jvm_options: Vec<String>,
) -> anyhow::Result<(Vec<String>, Vec<Vec<String>>)> {
    let values = Placeholders {
        artifact,
        java,
        jvm_options,
    };
    let resolved = |probe: &Probe| {
        let operations = probe.operations.to_string();
        let fill = |argument: &String| argument.replace("{operations}", &operations);
        let command: Vec<String> = probe.command.iter().map(fill).collect();
        build::resolve(&command, &values)
    };
    let probes: Result<_, _> = contender.probes.iter().map(resolved).collect();
    Ok((build::resolve(&contender.run, &values)?, probes?))
}

/// Refuses a contender that no process can be.
pub(super) fn has_command(contender: &Contender) -> anyhow::Result<()> {
    if !contender.run.is_empty() {
        return Ok(());
    }
    let message = "it has no command, so it cannot be --runtime process";
    Err(match contender.url {
        Some(_) => hinted(message, "it runs already: use --runtime external"),
        None => anyhow!(message),
    })
}
