//! Reports in a real browser: `crates/report/browser/check.mjs` opens them in headless Chromium.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};

use crate::chores::{Chores, command, works};

/// Names a browser that is none of [`BROWSERS`].
const BROWSER: &str = "BAKEOFF_BROWSER";
/// Where distributions put Chromium and its relatives, which one protocol drives.
const BROWSERS: [&str; 4] = [
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome",
    "/usr/bin/google-chrome-stable",
];
const FOLDER: &str = "crates/report/browser";

/// Opens pages: no console error, every chart drawn, nothing serious found by axe-core. Without a
/// browser that is said, now and at the end.
pub(crate) fn open(chores: &mut Chores<'_>, name: &str, pages: &[PathBuf]) -> anyhow::Result<()> {
    ensure!(!pages.is_empty(), "{name}: there is no report to open");
    let Some(browser) = browser() else {
        let hint = format!("install Chromium, or name a browser in {BROWSER}");
        chores.note(format!(
            "NOT TESTED IN A BROWSER: {name}: no browser; {hint}"
        ));
        return Ok(());
    };
    if let Err(error) = modules(chores.root()) {
        chores.note(format!("NOT TESTED IN A BROWSER: {name}: {error:#}"));
        return Ok(());
    }
    chores.step(name, |chores| {
        let pages: Vec<String> = pages
            .iter()
            .map(|page| page.display().to_string())
            .collect();
        let line = format!("node {FOLDER}/check.mjs {browser} {}", pages.join(" "));
        command(chores.root(), &line, &[])
    })
}

/// The pages of all reports below a folder of results.
pub(crate) fn reports(results: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut pages = Vec::new();
    let entries = fs::read_dir(results).with_context(|| results.display().to_string())?;
    for folder in entries.flatten().map(|entry| entry.path()) {
        let page = folder.join("index.html");
        if folder.ends_with("report") && page.is_file() {
            pages.push(page);
        } else if folder.is_dir() {
            pages.extend(reports(&folder)?);
        }
    }
    pages.sort();
    Ok(pages)
}

fn browser() -> Option<String> {
    let is_there = |path: &String| works(path, &["--version"]);
    let named = env::var(BROWSER).ok().filter(is_there);
    named.or_else(|| BROWSERS.map(str::to_owned).into_iter().find(is_there))
}

/// Installs what drives the browser, in the versions of its lock file.
fn modules(root: &Path) -> anyhow::Result<()> {
    let folder = root.join(FOLDER);
    let read = |path: &Path| fs::read(path).ok();
    let (wanted, installed) = (
        folder.join("package-lock.json"),
        folder.join("node_modules/lock"),
    );
    if read(&wanted) == read(&installed) {
        return Ok(());
    }
    ensure!(works("npm", &["--version"]), "npm is missing");
    command(
        root,
        &format!("npm ci --ignore-scripts --prefix {FOLDER}"),
        &[],
    )?;
    fs::copy(&wanted, &installed).with_context(|| installed.display().to_string())?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::reports;

    #[test]
    fn reports_of_rounds_are_found_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        for place in ["report", "main/report", "main/logs"] {
            let place = folder.path().join(place);
            fs::create_dir_all(&place).unwrap();
            fs::write(place.join("index.html"), "").unwrap();
        }
        let found = reports(folder.path()).unwrap();
        let expected = ["main/report/index.html", "report/index.html"];
        assert_eq!(found, expected.map(|page| folder.path().join(page)));
    }
}
