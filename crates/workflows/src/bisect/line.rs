//! A line of commits, oldest first, and the files of each.

use std::path::{Path, PathBuf};

use bakeoff_base::hint::hinted;
use bakeoff_session::revision::{self, Tree, git, output};
use bakeoff_store::event::bisection::Commit;
use bakeoff_store::options::Revisions;

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

    /// Returns the name of a commit in tables.
    pub(super) fn name(&self, position: usize) -> String {
        match position {
            0 => "good".to_owned(),
            _ if position == self.last() => "bad".to_owned(),
            _ => self.commits[position].short().to_owned(),
        }
    }

    /// Returns the change from a commit to a later one.
    pub(super) fn change(&self, earlier: usize, later: usize) -> Revisions {
        Revisions {
            repository: self.top.clone(),
            from: self.commits[earlier].commit.clone(),
            to: Some(self.commits[later].commit.clone()),
        }
    }

    /// Writes the files of a commit.
    pub(super) fn tree(&self, position: usize) -> anyhow::Result<Tree> {
        let commit = self.commits[position].commit.clone();
        Tree::of_commit(commit, &self.top, &self.folder)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use bakeoff_session::revision::{git, output};
    use tempfile::TempDir;

    use super::Line;

    fn run(folder: &Path, arguments: &[&str]) -> String {
        let author = ["-c", "user.name=test", "-c", "user.email=test@localhost"];
        let all: Vec<&str> = author.iter().chain(arguments).copied().collect();
        output(git(folder, &all)).unwrap().unwrap()
    }

    /// Two commits, a branch of two merged into a third one, and a fourth.
    fn repository() -> TempDir {
        let folder = TempDir::new().unwrap();
        let path = folder.path();
        let commit = |title: &str| {
            run(
                path,
                &["commit", "--quiet", "--allow-empty", "--message", title],
            );
        };
        run(path, &["init", "--quiet", "--initial-branch", "main"]);
        commit("One");
        commit("Two");
        run(path, &["checkout", "--quiet", "-b", "side"]);
        commit("Side one");
        commit("Side two");
        run(path, &["checkout", "--quiet", "main"]);
        run(
            path,
            &["merge", "--quiet", "--no-ff", "--message", "Three", "side"],
        );
        commit("Four");
        folder
    }

    #[test]
    fn of_a_merge_only_the_merge_itself_is_in_the_line() {
        let repository = repository();
        let line = Line::find("HEAD~3", "main", repository.path()).unwrap();
        let titles = (0..=line.last()).map(|position| line.commit(position).title);
        assert_eq!(titles.collect::<Vec<_>>(), ["One", "Two", "Three", "Four"]);
        let middle = line.commit(1).short().to_owned();
        assert_eq!(
            [line.name(0), line.name(1), line.name(3)],
            ["good".to_owned(), middle, "bad".to_owned()]
        );
    }

    #[test]
    fn what_is_no_line_is_refused() {
        let repository = repository();
        let refused = |good: &str, bad: &str| {
            let error = Line::find(good, bad, repository.path()).unwrap_err();
            error.to_string()
        };
        let not_before = "is not an ancestor of";
        assert!(refused("main", "HEAD~1").contains(not_before));
        assert!(refused("main", "main").contains(not_before));
        assert!(refused("HEAD~1", "side").contains(not_before));
        assert!(refused("nowhere", "main").contains("unknown revision nowhere"));
        assert!(refused("HEAD~1", "nowhere").contains("unknown revision nowhere"));
    }
}
