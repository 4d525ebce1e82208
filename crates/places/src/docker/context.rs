//! The build context of an image: a tar archive with a Dockerfile.
//!
//! The same files give the same bytes, at any time and for any user, so that the archive's digest
//! names the image.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use tar::{Builder, EntryType, Header};

/// In the archive: the folder whose content becomes the image's root.
const ROOT: &str = "root";

/// In the archive: a tar archive that becomes the image's root.
const ARCHIVE: &str = "root.tar";

/// A build context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Context {
    pub(crate) bytes: Vec<u8>,
}

impl Context {
    /// Files on top of a base: pairs of a path on this host and an absolute path in the image.
    /// Folders are taken whole, symbolic links as such. Blocking.
    ///
    /// # Errors
    /// A file cannot be read; the message names it.
    pub fn of_files(base: &str, files: &[(PathBuf, String)]) -> io::Result<Self> {
        let mut archive = Builder::new(Vec::new());
        let dockerfile = format!("FROM {base}\nCOPY {ROOT}/ /\n");
        append_text(&mut archive, "Dockerfile", &dockerfile)?;
        append_folder(&mut archive, Path::new(ROOT))?;
        for (from, to) in files {
            let inside = Path::new(ROOT).join(to.trim_start_matches('/'));
            let parents: Vec<&Path> = inside
                .ancestors()
                .skip(1)
                .take_while(|parent| *parent != Path::new(ROOT))
                .collect();
            for parent in parents.into_iter().rev() {
                append_folder(&mut archive, parent)?;
            }
            append(&mut archive, from, &inside).map_err(|error| {
                io::Error::new(error.kind(), format!("{}: {error}", from.display()))
            })?;
        }
        let bytes = archive.into_inner()?;
        Ok(Self { bytes })
    }

    /// The image whose whole content is a tar archive, owners and modes included.
    ///
    /// # Errors
    /// None that a caller could expect: memory is written, nothing is read.
    pub fn of_archive(content: &[u8]) -> io::Result<Self> {
        let mut archive = Builder::new(Vec::new());
        let dockerfile = format!("FROM scratch\nADD {ARCHIVE} /\n");
        append_text(&mut archive, "Dockerfile", &dockerfile)?;
        let mut header = header(EntryType::Regular, 0o644);
        header.set_size(content.len() as u64);
        archive.append_data(&mut header, ARCHIVE, content)?;
        let bytes = archive.into_inner()?;
        Ok(Self { bytes })
    }

    /// SHA-256 of the context and of what it builds upon, in hexadecimal.
    #[must_use]
    pub(crate) fn digest(&self, base_id: &str) -> String {
        let mut digest = Sha256::new();
        digest.update(base_id.as_bytes());
        digest.update([0]);
        digest.update(&self.bytes);
        let digest = digest.finalize();
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Neither times nor owners of this host go into an image.
fn header(kind: EntryType, mode: u32) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_mtime(0);
    header.set_uid(0);
    header.set_gid(0);
    header.set_size(0);
    header
}

fn append_text(archive: &mut Builder<Vec<u8>>, name: &str, text: &str) -> io::Result<()> {
    let mut header = header(EntryType::Regular, 0o644);
    header.set_size(text.len() as u64);
    archive.append_data(&mut header, name, text.as_bytes())
}

fn append_folder(archive: &mut Builder<Vec<u8>>, path: &Path) -> io::Result<()> {
    archive.append_data(&mut header(EntryType::Directory, 0o755), path, io::empty())
}

fn append(archive: &mut Builder<Vec<u8>>, from: &Path, to: &Path) -> io::Result<()> {
    let data = fs::symlink_metadata(from)?;
    if data.is_symlink() {
        let target = fs::read_link(from)?;
        return archive.append_link(&mut header(EntryType::Symlink, 0o777), to, target);
    }
    if data.is_dir() {
        append_folder(archive, to)?;
        let entries = fs::read_dir(from)?.collect::<io::Result<Vec<_>>>()?;
        let mut names: Vec<_> = entries.iter().map(fs::DirEntry::file_name).collect();
        names.sort();
        for name in names {
            append(archive, &from.join(&name), &to.join(&name))?;
        }
        return Ok(());
    }
    if !data.is_file() {
        return Err(io::Error::other("neither file, folder nor symbolic link"));
    }
    let executable = data.permissions().mode() & 0o111 != 0;
    let mut header = header(EntryType::Regular, if executable { 0o755 } else { 0o644 });
    let content = fs::read(from)?;
    header.set_size(content.len() as u64);
    archive.append_data(&mut header, to, content.as_slice())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::Context;

    #[test]
    fn the_same_files_give_the_same_bytes() {
        let make = |mode: u32| {
            let dir = tempfile::tempdir().unwrap();
            let program = dir.path().join("lib/deep/program");
            fs::create_dir_all(program.parent().unwrap()).unwrap();
            fs::write(&program, "code").unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(mode)).unwrap();
            symlink("deep/program", dir.path().join("lib/link")).unwrap();
            let files = [(dir.path().join("lib"), "/app/lib".to_owned())];
            Context::of_files("scratch", &files).unwrap()
        };
        let context = make(0o700);
        assert_eq!(context, make(0o755));
        assert_ne!(context.digest("a"), make(0o644).digest("a"));
        assert_ne!(context.digest("a"), context.digest("b"));
        let mut archive = tar::Archive::new(context.bytes.as_slice());
        let entries = archive.entries().unwrap().map(|entry| {
            let entry = entry.unwrap();
            let path = entry.path().unwrap().display().to_string();
            format!("{path} {:o}", entry.header().mode().unwrap())
        });
        let expect = [
            "Dockerfile 644",
            "root 755",
            "root/app 755",
            "root/app/lib 755",
            "root/app/lib/deep 755",
            "root/app/lib/deep/program 755",
            "root/app/lib/link 777",
        ];
        assert_eq!(entries.collect::<Vec<_>>(), expect);
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let files = [("/no/such".into(), "/app/x".to_owned())];
        let error = Context::of_files("scratch", &files).unwrap_err();
        assert!(error.to_string().starts_with("/no/such: "), "{error}");
    }
}
