//! Files and folders of results: written whole, without following links, and read; their error
//! messages.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use bakeoff_base::hint::hinted;
use tempfile::Builder;

/// Turns an error of the file system into a sentence that says what to do.
#[must_use]
pub fn explain(path: &Path, error: &std::io::Error) -> anyhow::Error {
    let hint = match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "free some space, then go on with --resume; every finished line is kept"
        }
        ErrorKind::PermissionDenied
        | ErrorKind::ReadOnlyFilesystem
        | ErrorKind::NotADirectory
        | ErrorKind::AlreadyExists => "choose a writable folder with --out",
        _ => "every line written before is kept; go on with --resume",
    };
    hinted(
        format_args!("{}: cannot write results: {error}", path.display()),
        hint,
    )
}

/// Writes a file so that a reader sees either nothing or all of it. A link of its name is replaced
/// and not followed: results can come from anywhere.
///
/// # Errors
/// The file system's error, with a hint.
pub fn write_whole(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let folder = path.parent().filter(|parent| *parent != Path::new(""));
    let mut partial = Builder::new();
    partial.suffix(".partial");
    // With the rights of every new file; a temporary file has those of its user alone.
    #[cfg(unix)]
    partial.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let made = partial.tempfile_in(folder.unwrap_or(Path::new(".")));
    let written = made.and_then(|mut file| {
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        file.persist(path).map_err(|error| error.error)
    });
    written.map(drop).map_err(|error| explain(path, &error))
}

/// Makes a folder in a results folder, unless it is there. Results can come from anywhere, and
/// their links must not choose what is overwritten: neither the folder nor an entry of it may be a
/// link.
///
/// # Errors
/// There is a link, or the file system's error, each with a hint.
pub fn make_inside(results: &Path, name: &str) -> anyhow::Result<PathBuf> {
    let folder = results.join(name);
    refuse_link(&folder)?;
    let failed = |error: std::io::Error| explain(&folder, &error);
    fs::create_dir_all(&folder).map_err(failed)?;
    for entry in fs::read_dir(&folder).map_err(failed)? {
        refuse_link(&entry.map_err(failed)?.path())?;
    }
    Ok(folder)
}

/// Refuses a link in the place of a folder or file of results.
pub(crate) fn refuse_link(path: &Path) -> anyhow::Result<()> {
    match path.is_symlink() {
        false => Ok(()),
        true => Err(hinted(
            format_args!(
                "{}: a link, through which results are not written",
                path.display()
            ),
            "remove it, or copy what it names to its place",
        )),
    }
}

/// Whether a text names something in a folder, and nothing above or below it.
#[must_use]
pub fn is_plain_name(text: &str) -> bool {
    Path::new(text).file_name() == Some(OsStr::new(text))
}

/// Opens a file of a results folder. What a link names is not of the results, and a pipe need not
/// end.
pub(crate) fn open_regular(path: &Path) -> std::io::Result<File> {
    match path.symlink_metadata()?.is_file() {
        true => File::open(path),
        false => Err(std::io::Error::other("not a regular file")),
    }
}

/// Reads such a file as text.
pub(crate) fn read_regular(path: &Path) -> std::io::Result<String> {
    std::io::read_to_string(open_regular(path)?)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::{is_plain_name, make_inside, read_regular, write_whole};

    #[test]
    fn links_are_replaced_and_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("victim"), "mine").unwrap();
        for name in ["results.csv", "results.partial"] {
            symlink(path("victim"), path(name)).unwrap();
        }
        write_whole(&path("results.csv"), b"text").unwrap();
        assert_eq!(read_regular(&path("results.csv")).unwrap(), "text");
        assert_eq!(read_regular(&path("victim")).unwrap(), "mine");
        let error = read_regular(&path("results.partial")).unwrap_err();
        assert_eq!(error.to_string(), "not a regular file");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
    }

    #[test]
    fn folders_are_made_where_no_link_is() {
        let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let logs = make_inside(folder.path(), "logs").unwrap();
        assert_eq!(make_inside(folder.path(), "logs").unwrap(), logs);
        symlink(other.path().join("x"), logs.join("one.log")).unwrap();
        symlink(other.path(), folder.path().join("report")).unwrap();
        for (name, link) in [("logs", "logs/one.log"), ("report", "report")] {
            let error = make_inside(folder.path(), name).unwrap_err().to_string();
            let start = format!("{}: a link", folder.path().join(link).display());
            assert!(error.starts_with(&start), "{error}");
        }
    }

    #[test]
    fn names_are_of_one_folder() {
        for name in ["main", "a.b", "get.x[y=1].r1"] {
            assert!(is_plain_name(name), "{name}");
        }
        for name in ["", ".", "..", "../a", "a/b", "/a", "a/", "/"] {
            assert!(!is_plain_name(name), "{name}");
        }
    }
}
