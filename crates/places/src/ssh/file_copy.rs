//! Copies of files for contenders on another host, in the folder there that goes with this process.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Seek as _, Write as _};
use std::path::{Component, Path, PathBuf};

use bakeoff_base::problem::Problem;
use sha2::{Digest as _, Sha256};
use tar::{Builder, HeaderMode};

use crate::ssh::connection::{self, quoted};
use crate::ssh::host::{SshHost, in_sh};
use crate::sweep::RunFolder;

/// The most that is copied at once, bytes.
const BYTES_MAX: u64 = 2 << 30;

impl SshHost {
    /// Copies a file or a folder. Returns its path there.
    ///
    /// # Errors
    /// It cannot be read, or there is no way or no room.
    pub async fn send_file(&self, path: &Path) -> Result<String, Problem> {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(format!("{}: it has no name", path.display()).into());
        };
        let there = self.send(folder, BTreeSet::from([name.into()])).await?;
        Ok(format!("{there}/{}", name.to_string_lossy()))
    }

    /// Copies the files and folders that a command names, as it names them, from the folder in
    /// which it starts. Returns the folder in which it starts there, and the command there: a
    /// program of this host that it names by an absolute path has another path there.
    ///
    /// # Errors
    /// One cannot be read, or there is no way or no room.
    pub async fn send_command(
        &self,
        workdir: &Path,
        command: &[String],
    ) -> Result<(String, Vec<String>), Problem> {
        let there = self.send(workdir, named(workdir, command)).await?;
        let mut command = command.to_vec();
        if let Some(program) = command.first_mut() {
            let path = PathBuf::from(&*program);
            // Data that has been sent already is that host's.
            if path.is_absolute() && !path.starts_with(self.folder()) && path.is_file() {
                *program = self.send_file(&path).await?;
            }
        }
        Ok((there, command))
    }

    /// Copies files and folders of a folder, unless they have been copied. Returns the folder
    /// there.
    async fn send(&self, folder: &Path, files: BTreeSet<PathBuf>) -> Result<String, Problem> {
        let mut sent = self.sent.lock().await;
        let scratch = RunFolder::temporary().map_err(Problem::new)?;
        let (own, archive) = (folder.to_owned(), scratch.path().join("files.tar"));
        let packing = tokio::task::spawn_blocking(move || packed(&own, &files, &archive));
        let packed = packing.await.map_err(Problem::new)?;
        let (archive, key) = packed.map_err(|error| {
            Problem::new(error).context(format_args!("{} cannot be copied", folder.display()))
        })?;
        if let Some(there) = sent.get(&key) {
            return Ok(there.clone());
        }
        let there = format!("{}/files/{key}", self.folder());
        let quoted = quoted(&there);
        let unpacking = in_sh(&format!("mkdir -p {quoted} && tar -x -f - -C {quoted}"));
        let unpacked = connection::run(self.address(), &unpacking, archive).await;
        unpacked.map_err(|problem| problem.context(self.name()))?;
        sent.insert(key, there.clone());
        Ok(there)
    }
}

/// Packs files and folders of a folder. Returns the archive, rewound, and a name that only an equal
/// one has.
fn packed(folder: &Path, files: &BTreeSet<PathBuf>, archive: &Path) -> io::Result<(File, String)> {
    let file = File::options()
        .read(true)
        .write(true)
        .create_new(true)
        .open(archive)?;
    let mut tar = Builder::new(file);
    // Without times and owners, so that the same files have the same name.
    tar.mode(HeaderMode::Deterministic);
    for relative in files {
        let path = folder.join(relative);
        match path.is_dir() {
            true => tar.append_dir_all(relative, &path)?,
            false => tar.append_path_with_name(&path, relative)?,
        }
    }
    let mut file = tar.into_inner()?;
    file.flush()?;
    let bytes = file.metadata()?.len();
    if bytes > BYTES_MAX {
        let (mib, most) = (bytes >> 20, BYTES_MAX >> 20);
        return Err(io::Error::other(format!(
            "it has {mib} MiB of what the command names, more than {most} MiB"
        )));
    }
    let mut hash = Sha256::new();
    file.rewind()?;
    io::copy(&mut file, &mut hash)?;
    file.rewind()?;
    let mut key = format!("{:x}", hash.finalize());
    key.truncate(16);
    Ok((file, key))
}

/// The files and folders below a folder that the words of a command name.
fn named(folder: &Path, command: &[String]) -> BTreeSet<PathBuf> {
    let below = command.iter().filter_map(|word| {
        let parts = Path::new(word).components();
        let mut path = PathBuf::new();
        for part in parts {
            match part {
                Component::Normal(name) => path.push(name),
                Component::CurDir => {}
                _ => return None,
            }
        }
        let is_there = fs::metadata(folder.join(&path)).is_ok();
        (is_there && !word.is_empty()).then_some(path)
    });
    below.collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::PathBuf;

    use super::{named, packed};

    #[test]
    fn a_command_names_files_of_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("conf/deep")).unwrap();
        fs::write(folder.path().join("app"), "x").unwrap();
        fs::write(folder.path().join("conf/a.toml"), "x").unwrap();
        let check = |command: &str, expect: &[&str]| {
            let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
            let expect: BTreeSet<PathBuf> = expect.iter().map(PathBuf::from).collect();
            assert_eq!(named(folder.path(), &words), expect, "{command}");
        };
        check(
            "./app --config conf/a.toml --port 1",
            &["app", "conf/a.toml"],
        );
        check("java -jar app conf", &["app", "conf"]);
        check("/bin/sh ../app conf/../app absent", &[]);
    }

    #[test]
    fn equal_files_have_one_name() {
        let folder = tempfile::tempdir().unwrap();
        let scratch = tempfile::tempdir().unwrap();
        let files = BTreeSet::from(["app".into(), "conf".into()]);
        fs::create_dir(folder.path().join("conf")).unwrap();
        let pack = |name: &str, text: &str| {
            fs::write(folder.path().join("app"), text).unwrap();
            let (_, key) = packed(folder.path(), &files, &scratch.path().join(name)).unwrap();
            key
        };
        let first = pack("1", "one");
        assert_eq!(pack("2", "one"), first);
        assert_ne!(pack("3", "two"), first);
    }
}
