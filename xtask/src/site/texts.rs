//! Pages as plain text for programs that read them: the Markdown of each page next to it, and
//! `llms.txt`, which lists them (<https://llmstxt.org>).

use std::fs;
use std::path::Path;

use anyhow::Context as _;

/// Copies the pages that the summary names, and writes their list.
pub(super) fn write(sources: &Path, summary: &str, book: &Path) -> anyhow::Result<()> {
    let index = fs::read_to_string(sources.join("index.md"))?;
    let about = index.split("\n\n").nth(1).unwrap_or_default();
    let about = about.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut list = format!("# bakeoff\n\n> {about}\n\n## Pages\n\n");
    for (title, page) in pages(summary) {
        let (from, to) = (sources.join(page), book.join(page));
        fs::copy(&from, &to).with_context(|| from.display().to_string())?;
        list.push_str(&format!("- [{title}]({page})\n"));
    }
    fs::write(book.join("llms.txt"), list).context("llms.txt")
}

/// Returns title and file of each page of a summary.
fn pages(summary: &str) -> impl Iterator<Item = (&str, &str)> {
    summary.lines().filter_map(|line| {
        let (_, rest) = line.split_once('[')?;
        let (title, rest) = rest.split_once("](")?;
        let (page, _) = rest.split_once(')')?;
        page.ends_with(".md").then_some((title, page))
    })
}

#[cfg(test)]
mod tests {
    use super::pages;

    #[test]
    fn pages_of_a_summary_are_found() {
        let summary = "# Summary\n\n[One](a.md)\n- [Two](b/c.md)\n- [Out](https://e.org)\n";
        let found: Vec<_> = pages(summary).collect();
        assert_eq!(found, [("One", "a.md"), ("Two", "b/c.md")]);
    }
}
