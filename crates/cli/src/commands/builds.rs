//! Builds of contenders as commands see them: which can be built here, where, how many at once, and
//! what came of one.

use std::path::Path;

use bakeoff_model::suite::Suite;
use bakeoff_runtime::build::{self, BuildError, BuildOptions};

use super::bench::Ready;
use crate::session::case::NoStart;
use crate::session::event::Event;

/// Builds that run at the same time: compilers use all cores for most of a build, and one core
/// while they link or fetch.
pub(crate) const BUILDS_AT_ONCE: usize = 2;

/// Where and how contenders of a suite are built.
pub(crate) fn build_options(suite: &Suite) -> BuildOptions {
    BuildOptions {
        cache: build::cache_dir(),
        suite: suite.name.clone(),
        limit: build::BUILD_LIMIT,
    }
}

pub(super) fn built_event(name: &str, built: &Result<Ready, NoStart>) -> Event {
    match built {
        Ok(ready) => Event::Built {
            contender: name.to_owned(),
            fresh: ready.built.fresh,
            version: ready.built.version.clone(),
        },
        Err(why) => Event::BuildFailed {
            contender: name.to_owned(),
            message: why.message.clone(),
            evidence: why.evidence.clone(),
        },
    }
}

pub(super) fn no_start(error: &BuildError) -> NoStart {
    let evidence = match error {
        BuildError::Missing { .. } => String::new(),
        BuildError::Failed {
            command,
            last_lines,
            hint,
            ..
        } => {
            let hint = hint
                .as_ref()
                .map(|hint| format!("\n{hint}"))
                .unwrap_or_default();
            format!("{command}\n{last_lines}{hint}")
        }
    };
    NoStart {
        message: error.to_string(),
        evidence,
    }
}

/// The contenders whose toolchains are here, and for each other one the line that says why not.
pub(crate) fn buildable(suite: &Suite, names: &[String]) -> (Vec<String>, Vec<(String, String)>) {
    let mut here = Vec::new();
    let mut skipped = Vec::new();
    for contender in suite
        .contenders
        .iter()
        .filter(|one| names.contains(&one.name))
    {
        match build::toolchains(contender) {
            Ok(_) => here.push(contender.name.clone()),
            Err(missing) => {
                skipped.push((
                    contender.name.clone(),
                    format!("{missing}: {}", missing.how),
                ));
            }
        }
    }
    (here, skipped)
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
