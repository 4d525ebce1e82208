//! Links: those of pages that lead out of the site, and whether those inside lead anywhere.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context as _, bail};

/// The text of a page without links to files of the repository that are not on the site: these are
/// named by their paths. `page` is where the text stands, `docs` the folder that becomes the site.
pub(super) fn kept_inside(text: &str, page: &Path, docs: &Path) -> String {
    let root = docs.parent().unwrap_or(docs);
    let folder = page.parent().unwrap_or(root);
    let mut kept = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("](") {
        let (before, after) = rest.split_at(at + 2);
        let Some(end) = after.find(')') else {
            break;
        };
        let address = &after[..end];
        let leads = normal(&folder.join(address.split('#').next().unwrap_or_default()));
        let is_outside = !address.contains(':')
            && !address.starts_with('#')
            && (!leads.starts_with(docs) || !page.starts_with(docs));
        match (is_outside, before.rfind('[')) {
            (true, Some(open)) => {
                let path = leads.strip_prefix(root).unwrap_or(&leads);
                kept.push_str(&before[..open]);
                kept.push_str(&format!("{} (`{}`)", &before[open + 1..at], path.display()));
            }
            _ => kept.push_str(&rest[..at + 2 + end + 1]),
        }
        rest = &after[end + 1..];
    }
    kept.push_str(rest);
    kept
}

/// Without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                normal.pop();
            }
            Component::CurDir => {}
            other => normal.push(other),
        }
    }
    normal
}

/// Every address on every page leads to a file of the site, and to a part of it if it names one.
/// Addresses on other hosts are not tried: whether they respond says nothing about us.
pub(super) fn check(site: &Path) -> anyhow::Result<()> {
    let mut pages = BTreeMap::new();
    read(site, &mut pages)?;
    let mut dead = Vec::new();
    for (page, text) in &pages {
        // What reports lead to is tried in a browser.
        if page.iter().any(|part| part == "report") {
            continue;
        }
        for address in attributes(text, &["href", "src"]) {
            if !leads(site, page, &address, &pages) {
                let page = page.strip_prefix(site).unwrap_or(page);
                dead.push(format!("{}: {address}", page.display()));
            }
        }
    }
    if !dead.is_empty() {
        bail!("links that lead nowhere:\n  {}", dead.join("\n  "));
    }
    Ok(())
}

fn leads(site: &Path, page: &Path, address: &str, pages: &BTreeMap<PathBuf, String>) -> bool {
    if address.contains(':') || address.starts_with("//") {
        return true;
    }
    let (file, part) = address.split_once('#').unwrap_or((address, ""));
    let file = file.split('?').next().unwrap_or_default();
    let target = match file {
        "" => page.to_owned(),
        file => match file.strip_prefix('/') {
            Some(file) => site.join(file),
            None => normal(&page.parent().unwrap_or(site).join(file)),
        },
    };
    let target = if target.is_dir() {
        target.join("index.html")
    } else {
        target
    };
    if part.is_empty() || !pages.contains_key(&target) {
        return target.is_file();
    }
    let ids: BTreeSet<String> = attributes(&pages[&target], &["id", "name"]).collect();
    ids.contains(part)
}

fn read(folder: &Path, pages: &mut BTreeMap<PathBuf, String>) -> anyhow::Result<()> {
    for entry in fs::read_dir(folder)
        .with_context(|| folder.display().to_string())?
        .flatten()
    {
        let path = entry.path();
        if path.is_dir() {
            read(&path, pages)?;
        } else if path.extension().is_some_and(|end| end == "html") {
            pages.insert(path.clone(), fs::read_to_string(&path)?);
        }
    }
    Ok(())
}

/// The values of attributes of these names.
fn attributes<'t>(text: &'t str, names: &'t [&str]) -> impl Iterator<Item = String> + use<'t> {
    names.iter().flat_map(move |name| {
        let parts = text
            .split(&*format!(" {name}=\""))
            .map(str::to_owned)
            .collect::<Vec<_>>();
        let values = parts.into_iter().skip(1);
        values.filter_map(|part| Some(part.split_once('"')?.0.replace("&amp;", "&")))
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::{check, kept_inside};

    #[test]
    fn links_out_of_the_site_become_paths() {
        let text = "[a](b.md#c), [x](../benches/README.md) and [y](https://e.org).";
        let kept = kept_inside(text, Path::new("/r/docs/p.md"), Path::new("/r/docs"));
        assert_eq!(
            kept,
            "[a](b.md#c), x (`benches/README.md`) and [y](https://e.org)."
        );
    }

    #[test]
    fn a_dead_link_and_a_dead_part_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write(
            "a.html",
            "<a href=\"b.html#here\">x</a> <a href=\"https://e.org\">x</a>",
        );
        write("b.html", "<h1 id=\"here\">x</h1>");
        check(folder.path()).unwrap();
        write(
            "c.html",
            "<a href=\"b.html#gone\">x</a> <img src=\"none.svg\">",
        );
        let error = check(folder.path()).unwrap_err().to_string();
        assert!(error.contains("c.html: b.html#gone"), "{error}");
        assert!(error.contains("c.html: none.svg"), "{error}");
    }
}
