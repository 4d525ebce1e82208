//! The description of a contender besides its artifact: version, toolchains, and the folder in
//! which it runs. This is all that is known of installed programs, images and services that run
//! already.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use bakeoff_model::suite::Contender;

use crate::toolchain::Toolchain;
use crate::{Artifact, Built, Placeholders, inherited, resolve};

/// How long a version command may take.
const VERSION_LIMIT: Duration = Duration::from_secs(30);

/// Longest version text that is kept, letters.
const VERSION_MAX: usize = 2000;

/// Whether a contender needs no copy of its folder: nothing is built, and it runs elsewhere.
pub(super) fn nothing_of_its_folder(contender: &Contender) -> bool {
    let elsewhere = contender.workdir.is_some() || contender.run.is_empty();
    contender.build.is_empty() && contender.artifact.is_none() && elsewhere
}

/// Such a contender.
pub(super) async fn unbuilt(
    contender: &Contender,
    folder: &Path,
    tools: &BTreeMap<String, Toolchain>,
) -> Built {
    let workdir = workdir(contender, folder).unwrap_or_default();
    Built {
        input: None,
        version: version(contender, &workdir, None, tools).await,
        artifact: None,
        workdir,
        toolchains: receipts(tools),
        log_path: PathBuf::new(),
        fresh: false,
    }
}

/// Where a contender wants to run, if it says so.
pub(super) fn workdir(contender: &Contender, folder: &Path) -> Option<PathBuf> {
    let workdir = contender.workdir.as_ref()?;
    Some(folder.join(workdir))
}

/// Versions of the toolchains. What is not the contender's own choice is named where its compiler
/// is.
pub(super) fn receipts(tools: &BTreeMap<String, Toolchain>) -> BTreeMap<String, String> {
    let versions = tools
        .iter()
        .filter_map(|(name, tool)| Some((name.clone(), tool.version.clone()?)));
    let settings = inherited().into_iter().map(|(name, value)| {
        let setting = format!("{name}={value}");
        (name, setting)
    });
    versions.chain(settings).collect()
}

/// Returns the output of the version command; an unknown version is not an error.
pub(super) async fn version(
    contender: &Contender,
    workdir: &Path,
    artifact: Option<&Artifact>,
    tools: &BTreeMap<String, Toolchain>,
) -> Option<String> {
    let jdk = contender
        .jdk
        .and_then(|major| tools.get(&format!("jdk-{major}")));
    let java = jdk.map(|jdk| jdk.path.join("bin/java").display().to_string());
    let artifact = artifact.map(|artifact| artifact.path.display().to_string());
    let values = Placeholders {
        artifact: artifact.unwrap_or_default(),
        java,
        jvm_options: Vec::new(),
    };
    let command = resolve(&contender.version, &values).ok()?;
    let (program, args) = command.split_first()?;
    let mut command = tokio::process::Command::new(program);
    command
        .args(args)
        .current_dir(workdir)
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let output = tokio::time::timeout(VERSION_LIMIT, command.output())
        .await
        .ok()?
        .ok()?;
    if !output.status.success() {
        return None;
    }
    let text: String = String::from_utf8_lossy(&output.stdout)
        .trim()
        .chars()
        .take(VERSION_MAX)
        .collect();
    (!text.is_empty()).then_some(text)
}
