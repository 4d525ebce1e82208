//! The sources of a contender: their digest, and their copy outside of the clone.
//!
//! Builds run in a copy so that a clone stays clean and may be read-only, and so that variants
//! with different build settings do not undo each other's work.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::{fs, io};

use sha2::{Digest, Sha256};

/// Folders that builds in place leave behind; never sources.
const OUTPUTS: [&str; 5] = ["target", "node_modules", ".git", ".gradle", ".bsp"];

/// The files below a folder, relative, in a fixed order. Links are followed.
pub(crate) fn files(folder: &Path) -> io::Result<BTreeSet<PathBuf>> {
    let mut found = BTreeSet::new();
    collect(folder, Path::new(""), &mut found)?;
    Ok(found)
}

fn collect(folder: &Path, inside: &Path, found: &mut BTreeSet<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder.join(inside))? {
        let entry = entry?;
        let relative = inside.join(entry.file_name());
        let top = inside.as_os_str().is_empty();
        if top && OUTPUTS.iter().any(|name| entry.file_name() == *name) {
            continue;
        }
        let data = fs::metadata(entry.path())?;
        if data.is_dir() {
            collect(folder, &relative, found)?;
        } else if data.is_file() {
            found.insert(relative);
        }
    }
    Ok(())
}

/// Copies the sources to `to`: only what differs, so that the build tool's own notion of what is
/// up to date stays true. Files of the last copy (`before`) that are gone are removed; what the
/// build made is left alone.
pub(crate) fn copy(
    from: &Path,
    to: &Path,
    sources: &BTreeSet<PathBuf>,
    before: &BTreeSet<PathBuf>,
) -> io::Result<()> {
    for relative in before.difference(sources) {
        match fs::remove_file(to.join(relative)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    for relative in sources {
        let (source, target) = (from.join(relative), to.join(relative));
        let bytes = fs::read(&source)?;
        let mode = fs::metadata(&source)?.permissions().mode();
        let same = fs::read(&target).is_ok_and(|old| old == bytes);
        if !same {
            if let Some(folder) = target.parent() {
                fs::create_dir_all(folder)?;
            }
            fs::write(&target, bytes)?;
        }
        // A clone may be read-only; its copy must not be, or the next change could not be made.
        fs::set_permissions(&target, fs::Permissions::from_mode(mode | 0o600))?;
    }
    Ok(())
}

/// SHA-256 over names, executable bits and contents, as `sha256:HEX`.
pub(crate) fn digest(folder: &Path, sources: &BTreeSet<PathBuf>) -> io::Result<String> {
    let mut hash = Sha256::new();
    for relative in sources {
        let path = folder.join(relative);
        let bytes = fs::read(&path)?;
        let executable = fs::metadata(&path)?.permissions().mode() & 0o111 != 0;
        part(&mut hash, relative.as_os_str().as_encoded_bytes());
        part(&mut hash, &[u8::from(executable)]);
        part(&mut hash, &bytes);
    }
    Ok(format!("sha256:{:x}", hash.finalize()))
}

/// SHA-256 of an artifact: a file's bytes, or a folder as [`digest`] does it.
pub(crate) fn artifact_digest(path: &Path) -> io::Result<String> {
    if path.is_dir() {
        return digest(path, &files(path)?);
    }
    let mut hash = Sha256::new();
    io::copy(&mut fs::File::open(path)?, &mut hash)?;
    Ok(format!("sha256:{:x}", hash.finalize()))
}

/// SHA-256 over texts and a table, as `sha256:HEX`.
pub(crate) fn digest_of(texts: &[&str], table: &BTreeMap<String, String>) -> String {
    let mut hash = Sha256::new();
    for text in texts {
        part(&mut hash, text.as_bytes());
    }
    for (name, value) in table {
        part(&mut hash, name.as_bytes());
        part(&mut hash, value.as_bytes());
    }
    format!("sha256:{:x}", hash.finalize())
}

/// Lengths keep `ab` + `c` apart from `a` + `bc`.
fn part(hash: &mut Sha256, bytes: &[u8]) {
    hash.update((bytes.len() as u64).to_le_bytes());
    hash.update(bytes);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::{copy, digest, files};

    fn write(folder: &Path, name: &str, text: &str) {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn a_copy_follows_its_source_and_keeps_what_was_built() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        write(from.path(), "src/main.rs", "one");
        write(
            from.path(),
            "src/target/kept.rs",
            "below the top it is a source",
        );
        write(from.path(), "old.rs", "old");
        write(from.path(), "target/in-place", "no source");
        let first = files(from.path()).unwrap();
        let names: Vec<_> = first.iter().map(|path| path.to_str().unwrap()).collect();
        assert_eq!(names, ["old.rs", "src/main.rs", "src/target/kept.rs"]);
        copy(from.path(), to.path(), &first, &BTreeSet::new()).unwrap();
        write(to.path(), "target/built", "output");
        let mtime = |name: &str| {
            fs::metadata(to.path().join(name))
                .unwrap()
                .modified()
                .unwrap()
        };
        let untouched = mtime("src/target/kept.rs");
        let before = digest(from.path(), &first).unwrap();

        fs::remove_file(from.path().join("old.rs")).unwrap();
        write(from.path(), "src/main.rs", "two");
        let second = files(from.path()).unwrap();
        copy(from.path(), to.path(), &second, &first).unwrap();
        assert!(!to.path().join("old.rs").exists() && to.path().join("target/built").exists());
        assert_eq!(
            fs::read_to_string(to.path().join("src/main.rs")).unwrap(),
            "two"
        );
        assert_eq!(mtime("src/target/kept.rs"), untouched);
        assert_ne!(digest(from.path(), &second).unwrap(), before);
        assert_eq!(
            digest(from.path(), &second).unwrap(),
            digest(to.path(), &second).unwrap(),
            "the copy is true"
        );
        assert!(files(Path::new("/nowhere")).is_err());
        let _: &BTreeSet<PathBuf> = &second;
    }
}
