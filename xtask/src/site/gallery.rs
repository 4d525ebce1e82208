//! Pages of the committed records: their charts as drawings, and their whole reports.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};

use super::links;
use crate::chores::command;
use crate::workspace::built;

/// The charts of a record that are on its page, by the end of their file.
const SHOWN: [&str; 6] = [
    "-peaks.svg",
    "-throughput.svg",
    "-p99.svg",
    "-cpu-per-request.svg",
    "-startup.svg",
    "-capacity.svg",
];

/// The gallery as written.
pub(super) struct Gallery {
    /// Lines of the summary.
    pub(super) summary: String,
    /// The copy of the records, with their reports.
    records: PathBuf,
    /// Results folders, relative to it.
    folders: Vec<PathBuf>,
}

/// Writes a page for each suite with records and one for each results folder.
pub(super) fn write(root: &Path, folder: &Path, sources: &Path) -> anyhow::Result<Gallery> {
    // Rendering writes next to the records, so it is done on a copy. Records name their suite by
    // the way to it, which must lead there from the copy as well.
    let work = folder.join("work");
    let records = work.join("records");
    copy(&root.join("records"), &records)?;
    std::os::unix::fs::symlink(root.join("suites"), work.join("suites"))?;
    let mut gallery = Gallery {
        summary: String::new(),
        records: records.clone(),
        folders: Vec::new(),
    };
    for suite in folders(&records)? {
        let name = name(&suite);
        if !root.join("suites").join(&name).is_dir() {
            continue;
        }
        let text = fs::read_to_string(suite.join("README.md")).unwrap_or_default();
        let page = sources.join("gallery").join(&name);
        fs::create_dir_all(&page)?;
        let original = root.join("records").join(&name).join("README.md");
        let text = links::kept_inside(&text, &original, &root.join("docs"));
        fs::write(page.join("index.md"), text)?;
        gallery
            .summary
            .push_str(&format!("  - [{name}](gallery/{name}/index.md)\n"));
        for results in results(&suite)? {
            gallery.add(&results, &name, sources)?;
        }
        gallery.articles(&suite, &name, sources)?;
    }
    ensure!(!gallery.folders.is_empty(), "there are no records");
    Ok(gallery)
}

impl Gallery {
    /// Renders a results folder, and writes its page.
    fn add(&mut self, results: &Path, suite: &str, sources: &Path) -> anyhow::Result<()> {
        let own = results.strip_prefix(&self.records)?.to_owned();
        let title = own.strip_prefix(suite)?.display().to_string();
        let page = title.replace('/', "-");
        let figures = sources.join("gallery").join(suite).join(&page);
        let line = format!(
            "{} report {} --svg {}",
            built("bakeoff")?.display(),
            results.display(),
            figures.display()
        );
        command(&self.records, &line, &[])?;
        let mut text = format!(
            "# {suite}: {title}\n\n[The whole report](../../records/{}/report/index.html), \
             `records/{0}` in the repository.\n",
            own.display()
        );
        let mut drawn: Vec<String> = fs::read_dir(&figures)?
            .flatten()
            .map(|entry| name(&entry.path()))
            .collect();
        drawn.sort();
        for end in SHOWN {
            for file in drawn.iter().filter(|file| file.ends_with(end)) {
                let alt = file.trim_end_matches(".svg").replace('-', " ");
                text.push_str(&format!("\n![{alt}]({page}/{file})\n"));
            }
        }
        fs::write(
            sources
                .join("gallery")
                .join(suite)
                .join(format!("{page}.md")),
            text,
        )?;
        let line = format!("    - [{title}](gallery/{suite}/{page}.md)\n");
        self.summary.push_str(&line);
        self.folders.push(own);
        Ok(())
    }

    /// Writes the pages of published sources, by all records of a suite.
    fn articles(&mut self, suite: &Path, name: &str, sources: &Path) -> anyhow::Result<()> {
        let all = results(suite)?;
        if all.is_empty() {
            return Ok(());
        }
        let mut folders: Vec<PathBuf> = folders(suite)?;
        folders.retain(|folder| all.iter().any(|one| one.starts_with(folder)));
        let folders: Vec<String> = folders
            .iter()
            .map(|folder| folder.display().to_string())
            .collect();
        let pages = sources.join("gallery").join(name).join("articles");
        let line = format!(
            "{} report {} --articles {}",
            built("bakeoff")?.display(),
            folders.join(" "),
            pages.display()
        );
        command(&self.records, &line, &[])?;
        let entries = fs::read_dir(&pages)?;
        let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        files.retain(|file| file.extension().is_some_and(|end| end == "md"));
        files.sort();
        for file in files {
            let text = fs::read_to_string(&file)?;
            let title = text
                .lines()
                .next()
                .unwrap_or_default()
                .trim_start_matches("# ");
            let file = file.strip_prefix(sources)?.display().to_string();
            self.summary.push_str(&format!("    - [{title}]({file})\n"));
        }
        Ok(())
    }

    /// Puts the reports into the site; returns those that are opened in a browser: the last one of
    /// each suite, which is its main one if there are rounds.
    pub(super) fn reports(&self, book: &Path) -> anyhow::Result<Vec<PathBuf>> {
        let mut opened: Vec<(PathBuf, PathBuf)> = Vec::new();
        for folder in &self.folders {
            let target = book.join("records").join(folder).join("report");
            copy(&self.records.join(folder).join("report"), &target)?;
            let suite: PathBuf = folder.iter().take(1).collect();
            let is_main = folder.ends_with("main");
            match opened.iter_mut().find(|(other, _)| *other == suite) {
                Some(found) if is_main => found.1 = target.join("index.html"),
                Some(_) => {}
                None => opened.push((suite, target.join("index.html"))),
            }
        }
        Ok(opened.into_iter().map(|(_, page)| page).collect())
    }
}

/// Folders with records below a suite's.
fn results(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    if folder.join("session.json").is_file() {
        return Ok(vec![folder.to_owned()]);
    }
    let mut found = Vec::new();
    for inner in folders(folder)? {
        found.extend(results(&inner)?);
    }
    Ok(found)
}

fn folders(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut folders: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    folders.retain(|path| path.is_dir());
    folders.sort();
    Ok(folders)
}

fn name(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(to).with_context(|| to.display().to_string())?;
    for entry in fs::read_dir(from)
        .with_context(|| from.display().to_string())?
        .flatten()
    {
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &target)?;
        } else {
            fs::copy(&path, &target)?;
        }
    }
    Ok(())
}
