//! Paths in the files of a suite that the user keeps. They are relative if the suite and what they
//! lead to belong to one repository: a revision of it, which is written to another place, then
//! starts its own files. An absolute path would lead head and base of `--baseline` to the same
//! program. Outside of a repository a suite is kept with the folder that it lies in.

use std::path::{Path, PathBuf};

use bakeoff_model::suite::dependency::Dependency;
use bakeoff_model::suite::volume::Volume;

use crate::service::{DuelService, ServiceSource};

/// Stands for the folder of each contender: all of them are as deep in the suite.
const CONTENDER: &str = "contenders/any";

/// Returns services and dependencies with the paths that the files of a suite in the folder `suite`
/// have; `workdir` is where commands start.
pub(crate) fn near(
    suite: &Path,
    workdir: &Path,
    sides: &[DuelService],
    dependencies: &[Dependency],
) -> (Vec<DuelService>, Vec<Dependency>) {
    let suite = canonical(suite);
    let of_contenders = suite.join(CONTENDER);
    let sides = sides.iter().cloned().map(|mut side| {
        let workdir = side.workdir.as_deref().unwrap_or(workdir);
        side.workdir = Some(seen_from(&of_contenders, workdir));
        if let ServiceSource::Image(image) = &mut side.service {
            near_volumes(&of_contenders, &mut image.volumes);
        }
        side
    });
    let dependencies = dependencies.iter().cloned().map(|mut dependency| {
        near_volumes(&suite, &mut dependency.volumes);
        dependency
    });
    (sides.collect(), dependencies.collect())
}

fn near_volumes(folder: &Path, volumes: &mut [Volume]) {
    for volume in volumes {
        let source = seen_from(folder, Path::new(&volume.source));
        volume.source = source.display().to_string();
    }
}

/// The path as files in `folder` name it.
fn seen_from(folder: &Path, path: &Path) -> PathBuf {
    let path = canonical(path);
    let is_near = match (repository(folder), repository(&path)) {
        (None, None) => folder.starts_with(&path),
        (of_folder, of_path) => of_folder == of_path,
    };
    let relative = pathdiff::diff_paths(&path, folder);
    relative.filter(|_| is_near).unwrap_or(path)
}

/// Top of the repository that a path is in. One inside of another is no part of its revisions.
fn repository(path: &Path) -> Option<&Path> {
    path.ancestors().find(|one| one.join(".git").exists())
}

/// The path without links, as far as it exists: a suite's folder does not before it is written.
fn canonical(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let found = path.ancestors().find_map(|there| {
        let mut found = there.canonicalize().ok()?;
        // To join nothing would add a slash.
        found.extend(path.strip_prefix(there).ok()?);
        Some(found)
    });
    found.unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use tempfile::TempDir;

    use super::{CONTENDER, canonical, seen_from};

    /// Where files of a contender of the suite in `suite` find `path`; both are below a folder that
    /// has these repositories.
    #[track_caller]
    fn check(repositories: &[&str], suite: &str, path: &str, expect: Option<&str>) {
        let top = TempDir::new().unwrap();
        let top = canonical(top.path());
        for one in repositories {
            fs::create_dir_all(top.join(one).join(".git")).unwrap();
        }
        fs::create_dir_all(top.join(path)).unwrap();
        let contender = canonical(&top.join(suite)).join(CONTENDER);
        let found = seen_from(&contender, &top.join(path));
        let absolute = canonical(&top.join(path));
        assert_eq!(found, expect.map_or(absolute.as_path(), Path::new));
    }

    #[test]
    fn what_is_in_the_same_repository_or_around_the_suite_is_relative() {
        check(&["shop"], "shop/bench", "shop", Some("../../.."));
        check(&["shop"], "shop/bench", "shop/api", Some("../../../api"));
        check(&["shop"], "shop/bench", "shop/bench", Some("../.."));
        check(&[], "shop/bench", "shop", Some("../../.."));
    }

    #[test]
    fn a_path_ends_without_a_slash() {
        let top = TempDir::new().unwrap();
        let found = canonical(&top.path().join(""));
        assert!(!found.display().to_string().ends_with('/'), "{found:?}");
    }

    #[test]
    fn what_no_revision_of_the_suite_has_is_absolute() {
        check(&["shop"], "shop/bench", "other", None);
        check(&["shop"], "shop/bench", "", None);
        check(&["shop", "shop/lib"], "shop/bench", "shop/lib", None);
        check(&["other"], "shop/bench", "other", None);
        check(&[], "bench", "shop", None);
    }
}
