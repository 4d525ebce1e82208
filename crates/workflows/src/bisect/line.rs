//! A line of commits, oldest first, and the files of each.

use std::path::{Path, PathBuf};

use bakeoff_base::hint::hinted;
use bakeoff_session::event::bisection::Commit;
use bakeoff_session::revision::{self, Tree, git, output};

/// The commits from one revision to another: position 0 is the good one, the last is the bad one.
#[derive(Debug)]
pub(super) struct Line {
    commits: Vec<Commit>,
    /// Top of the repository.
    top: PathBuf,
    /// The folder of it in which commits are built, absolute.
    folder: PathBuf,
}

impl Line {
    /// Finds the commits after `good` up to `bad`, of merges only the merge itself.
    pub(super) fn find(good: &str, bad: &str, folder: &Path) -> anyhow::Result<Self> {
        let folder = folder.canonicalize()?;
        let top = revision::repository(good, &folder)?;
        let (from, to) = (
            revision::commit(good, &folder)?,
            revision::commit(bad, &folder)?,
        );
        let is_before = git(&folder, &["merge-base", "--is-ancestor", &from, &to]);
        if from == to || output(is_before)?.is_err() {
            return Err(hinted(
                format_args!("{good}..{bad}: {good} is not an ancestor of {bad}"),
                "name the older commit first; of branches, the commit where they part is \
                 `git merge-base GOOD BAD`",
            ));
        }
        let range = format!("{from}..{to}");
        let format = "--format=%H %s";
        let listed = git(
            &folder,
            &["log", "--first-parent", "--reverse", format, &range],
        );
        let listed =
            output(listed)?.map_err(|said| said.context(format_args!("git log {range}")))?;
        let title = git(&folder, &["log", "-1", format, &from]);
        let title = output(title)?.map_err(|said| said.context(format_args!("git log {from}")))?;
        let commits = title.lines().chain(listed.lines()).map(|line| {
            let (commit, title) = line.split_once(' ').unwrap_or((line, ""));
            Commit {
                commit: commit.to_owned(),
                title: title.to_owned(),
            }
        });
        Ok(Self {
            commits: commits.collect(),
            top,
            folder,
        })
    }

    /// The position of the bad commit: how many there are after the good one.
    pub(super) fn last(&self) -> usize {
        self.commits.len() - 1
    }

    pub(super) fn commit(&self, position: usize) -> Commit {
        self.commits[position].clone()
    }

    /// Returns its name in tables.
    pub(super) fn name(&self, position: usize) -> String {
        match position {
            0 => "good".to_owned(),
            _ if position == self.last() => "bad".to_owned(),
            _ => self.commits[position].short().to_owned(),
        }
    }

    /// Writes the files of a commit.
    pub(super) fn tree(&self, position: usize) -> anyhow::Result<Tree> {
        let commit = self.commits[position].commit.clone();
        Tree::of_commit(commit, &self.top, &self.folder)
    }
}
