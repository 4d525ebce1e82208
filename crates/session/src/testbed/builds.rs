//! Builds of contenders: which can be built here, where, how many at once, and
//! what came of one.

use std::path::Path;

use bakeoff_model::failure::Failure;
use bakeoff_model::suite::Suite;
use bakeoff_runtime::build::{self, BuildOptions};

use super::contender::Ready;
use crate::event::Event;
use crate::hint::hinted;

/// Builds that run at the same time: compilers use all cores for most of a build, and one core
/// while they link or fetch.
pub const BUILDS_AT_ONCE: usize = 2;

/// Where and how contenders of a suite are built.
#[must_use]
pub fn build_options(suite: &Suite) -> BuildOptions {
    BuildOptions {
        cache: build::cache_dir(),
        suite: suite.name.clone(),
        limit: build::BUILD_LIMIT,
    }
}

/// What came of a build; nothing where there was nothing to build.
pub(super) fn built_event(name: &str, built: &Result<Ready, Failure>) -> Option<Event> {
    match built {
        Ok(ready) if ready.built.is_nothing() => None,
        Ok(ready) => Some(Event::Built {
            contender: name.to_owned(),
            fresh: ready.built.fresh,
            version: ready.built.version.clone(),
        }),
        Err(failure) => Some(Event::BuildFailed {
            contender: name.to_owned(),
            failure: failure.clone(),
        }),
    }
}

/// The contenders whose toolchains are here, and for each other one the line that says why not.
#[must_use]
pub fn buildable(suite: &Suite, names: &[String]) -> (Vec<String>, Vec<(String, String)>) {
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

/// What to say when nothing can be built; one line says why for each contender.
#[must_use]
pub fn none_here(why: &[String]) -> anyhow::Error {
    hinted("no contender can be built on this machine", why.join("; "))
}

/// Size of a file or of everything in a folder.
pub(super) fn size_bytes(path: &Path) -> Option<u64> {
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
