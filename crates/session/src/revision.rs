//! The files of a revision, without touching the repository: git writes them from its objects into
//! a folder of ours, with an index of ours. A worktree would leave an entry in the repository when
//! a session is killed, and a clone has neither the filters of a repository nor, if that is
//! shallow, all of its commits.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;
use bakeoff_base::hint::hinted;
use bakeoff_base::problem::Problem;
use bakeoff_base::text::counted;
use bakeoff_places::sweep::{RunFolder, trees_folder};
use bakeoff_store::options::Revisions;

/// Variables that name a repository to git, as in hooks: ours is the suite's.
const OF_HOOKS: [&str; 4] = ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"];

/// The files of a commit; they go with this value, or with the next session's sweep.
#[derive(Debug)]
pub struct Tree {
    /// The commit, hexadecimal.
    pub(crate) commit: String,
    folder: RunFolder,
    /// Top of the repository's own files.
    top: PathBuf,
    /// The folder that is wanted, as seen from there.
    inside: PathBuf,
}

impl Tree {
    /// The files of the revision of that name in the repository that has this suite.
    pub(crate) fn of(revision: &str, suite: &Path) -> anyhow::Result<Self> {
        let top = repository(revision, suite)?;
        Self::of_commit(commit(revision, suite)?, &top, suite)
    }

    /// Writes the files of a commit of the repository at `top`, which contains `folder`.
    pub fn of_commit(commit: String, top: &Path, folder: &Path) -> anyhow::Result<Self> {
        let inside = folder.strip_prefix(top).unwrap_or(Path::new(""));
        let base = trees_folder();
        let folder = RunFolder::make(&base)
            .with_context(|| format!("{}: no folder can be made there", base.display()))?;
        let tree = Self {
            commit,
            inside: inside.to_owned(),
            folder,
            top: top.to_owned(),
        };
        tree.write()?;
        Ok(tree)
    }

    /// Returns the path of `folder` among these files.
    pub fn inside(&self) -> PathBuf {
        self.files().join(&self.inside)
    }

    /// Returns the change from these files to the repository's own ones.
    pub(crate) fn revisions(&self) -> Revisions {
        Revisions {
            repository: self.top.clone(),
            from: self.commit.clone(),
            to: None,
        }
    }

    fn files(&self) -> PathBuf {
        self.folder.path().join("files")
    }

    /// Whether the commit has a file that is at this path among the repository's own files.
    pub(crate) fn has(&self, path: &Path) -> bool {
        let path = path.canonicalize();
        let inside = path.as_ref().map(|path| path.strip_prefix(&self.top));
        matches!(inside, Ok(Ok(inside)) if self.files().join(inside).is_file())
    }

    /// Whether the repository's own files are those of the commit. Files that it does not know are
    /// not looked at: they are outputs more often than sources.
    pub(crate) fn is_unchanged(&self) -> bool {
        let changed = output(git(&self.top, &["diff", "--name-only", &self.commit, "--"]));
        matches!(changed, Ok(Ok(names)) if names.is_empty())
    }

    fn write(&self) -> anyhow::Result<()> {
        let files = self.files();
        fs::create_dir(&files)?;
        let index = self.folder.path().join("index");
        let prefix = format!("--prefix={}/", files.display());
        let commands: [&[&str]; 2] = [
            &["read-tree", "--no-sparse-checkout", &self.commit],
            &["checkout-index", "--all", &prefix],
        ];
        for arguments in commands {
            let mut command = git(&self.top, arguments);
            command.env("GIT_INDEX_FILE", &index);
            output(command)?.map_err(|said| {
                let short = &self.commit;
                said.context(format_args!("git cannot write the files of {short}"))
            })?;
        }
        Ok(())
    }

    /// Returns notes for the user about head and base.
    pub(crate) fn notes(&self, words: &str) -> anyhow::Result<Vec<String>> {
        let inside = match self.inside.as_os_str().is_empty() {
            true => Path::new("."),
            false => &self.inside,
        };
        let mut status = git(&self.top, &["status", "--porcelain", "--"]);
        status.arg(inside);
        let status = output(status)?.unwrap_or_default();
        let changes = status.lines().count() as u64;
        let now = output(git(&self.top, &["rev-parse", "--verify", "HEAD^{commit}"]))?;
        let is_now = now.is_ok_and(|now| now == self.commit);
        let changed = match changes {
            0 => "all of it committed".to_owned(),
            some => format!("{} included", counted(some, "uncommitted change")),
        };
        let mut notes = vec![format!(
            "baseline {words}; head is the suite's folder as it is, {changed}"
        )];
        if is_now && changes == 0 {
            notes.push("base and head are the same commit: they cannot differ".to_owned());
        }
        Ok(notes)
    }
}

/// Top of the repository that a folder is in.
pub fn repository(revision: &str, folder: &Path) -> anyhow::Result<PathBuf> {
    let found = output(git(folder, &["rev-parse", "--show-toplevel"]))?;
    let top = found.map_err(|said| {
        let folder = folder.display();
        let hint = "name the folder that holds the suite as it was, with its suite.toml, or make \
                    the folder part of a repository";
        match said.message().contains("not a git repository") {
            true => hinted(
                format_args!(
                    "{revision}: no folder of that name has a suite.toml, and {folder} is in no \
                     git repository of which it could be a revision"
                ),
                hint,
            ),
            false => hinted(
                format_args!("{revision}: git cannot read {folder}: {said}"),
                hint,
            ),
        }
    })?;
    // As the folder's own path, so that one is a part of the other.
    Ok(Path::new(&top).canonicalize()?)
}

/// The commit that a revision is.
pub fn commit(revision: &str, folder: &Path) -> anyhow::Result<String> {
    let name = format!("{revision}^{{commit}}");
    let arguments = [
        "rev-parse",
        "--verify",
        "--quiet",
        "--end-of-options",
        name.as_str(),
    ];
    let found = output(git(folder, &arguments))?;
    found.map_err(|_| {
        let folder = folder.display();
        hinted(
            format_args!(
                "unknown revision {revision}: the repository of {folder} has no such commit, and \
                 no folder of that name has a suite.toml"
            ),
            "fetch it (`git fetch origin main`, then origin/main); clones for continuous \
             integration are often shallow (`fetch-depth: 0`)",
        )
    })
}

/// Returns a command of git in a folder, without the variables that name another repository.
pub fn git(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).args(arguments);
    for name in OF_HOOKS {
        command.env_remove(name);
    }
    command.env("LC_ALL", "C");
    command
}

/// Returns the output of git, or its complaint.
pub fn output(mut command: Command) -> anyhow::Result<Result<String, Problem>> {
    let output = command.output().map_err(|error| match error.kind() {
        ErrorKind::NotFound => hinted(
            "a revision is named, and git is not installed",
            "install it; a baseline may also be the folder that holds the suite as it was",
        ),
        _ => anyhow::Error::new(error).context("cannot start git"),
    })?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_owned();
    Ok(match output.status.success() {
        true => Ok(text(&output.stdout)),
        false => Err(text(&output.stderr).into()),
    })
}
