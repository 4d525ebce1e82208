//! The documentation site: `docs/`, a reference made of the JSON Schemas, and a gallery made of the
//! committed records, by mdBook into `target/site/book`.

mod gallery;
mod links;
mod reference;
mod texts;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::chores::{Chores, command, works};
use crate::{browser, workspace};

/// Without its server and watcher, which only authors need.
const MDBOOK: &str = "cargo install mdbook --version 0.4.52 --locked --debug \
                      --no-default-features --features search --target-dir target/tools";

/// The command that installs mdBook, if it is missing.
pub(crate) fn installing() -> Option<&'static str> {
    (!has_mdbook()).then_some(MDBOOK)
}

fn has_mdbook() -> bool {
    works("mdbook", &["--version"])
}

/// Builds the site and checks its links; then opens the reports in it in a browser.
pub(crate) fn site(chores: &mut Chores<'_>) -> anyhow::Result<()> {
    if !has_mdbook()
        && let Err(error) = chores.run("mdBook installed", MDBOOK)
    {
        chores.note(format!("NOT BUILT: the documentation site: {error:#}"));
        return Ok(());
    }
    let folder = chores.root().join("target/site");
    let pages = chores.step("documentation site", |chores| build(chores.root(), &folder))?;
    chores.step("links of the site", |_| links::check(&folder.join("book")))?;
    browser::open(chores, "records in a browser", &pages)
}

/// Writes the site; returns the reports that are opened in a browser.
fn build(root: &Path, folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    let sources = folder.join("docs");
    copied(&root.join("docs"), &sources)?;
    let reference = reference::write(&root.join("docs/schema"), &sources)?;
    let gallery = gallery::write(root, folder, &sources)?;
    let summary = sources.join("SUMMARY.md");
    let text = fs::read_to_string(&summary)?;
    let text = text.replace("<!-- reference -->\n", &reference);
    let text = text.replace("<!-- gallery -->\n", &gallery.summary);
    fs::write(&summary, &text)?;
    command(
        root,
        &format!(
            "mdbook build {} --dest-dir {}",
            sources.display(),
            folder.join("book").display()
        ),
        &[],
    )?;
    texts::write(&sources, &text, &folder.join("book"))?;
    gallery.reports(&folder.join("book"))
}

/// Copies a folder; links in its pages that lead out of it are shown as paths of the repository.
fn copied(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(to).with_context(|| to.display().to_string())?;
    for entry in fs::read_dir(from)?.flatten() {
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copied(&path, &target)?;
        } else if path.extension().is_some_and(|end| end == "md") {
            let text = fs::read_to_string(&path)?;
            let docs = workspace::root().join("docs");
            fs::write(target, links::kept_inside(&text, &path, &docs))?;
        } else {
            fs::copy(&path, &target)?;
        }
    }
    Ok(())
}
