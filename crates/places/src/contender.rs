//! A contender that was built, in the form that a runtime starts.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use bakeoff_base::hint::hinted;
use bakeoff_build::{Built, Placeholders};
use bakeoff_model::suite::{Contender, Probe};

/// A built contender, in the form that the runtime starts.
#[derive(Debug, Clone)]
pub struct Ready {
    /// The result of the contender's build.
    pub built: Built,
    /// The command that starts the contender, as it is typed there.
    pub command: Vec<String>,
    /// The commands of the probes, in order; none if the contender cannot be started from here.
    pub probes: Vec<Vec<String>>,
    /// The folder in which the command starts; empty if the image says it.
    pub workdir: PathBuf,
    /// The image that it is started from; `None` for a process.
    pub image: Option<String>,
    /// The digest of that image, if it is known.
    pub image_digest: Option<String>,
    /// Size of its artifact, bytes; `None` if an image says it.
    pub artifact_bytes: Option<u64>,
}

impl Ready {
    /// Digest of the contender's image or artifact.
    #[must_use]
    pub fn digest(&self) -> Option<&String> {
        let artifact = self.built.artifact.as_ref();
        let digest = artifact.map(|artifact| &artifact.digest);
        self.image_digest.as_ref().or(digest)
    }
}

/// Returns the command of a contender as it is typed on its host, and the commands of its probes.
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
        bakeoff_build::resolve(&command, &values)
    };
    let probes: Result<_, _> = contender.probes.iter().map(resolved).collect();
    Ok((bakeoff_build::resolve(&contender.run, &values)?, probes?))
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

/// Size of a file or of everything in a folder.
pub(crate) fn size_bytes(path: &Path) -> Option<u64> {
    let metadata = path.metadata().ok()?;
    if !metadata.is_dir() {
        return Some(metadata.len());
    }
    let entries = std::fs::read_dir(path).ok()?;
    Some(
        entries
            .flatten()
            .filter_map(|entry| size_bytes(&entry.path()))
            .sum(),
    )
}
