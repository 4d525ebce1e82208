//! Lines of Markdown that people write: at most as long as those of code. What `bakeoff` renders
//! into `results.md` has a line for each paragraph.

use std::fs;
use std::path::Path;

use anyhow::Context as _;

use super::lengths::LINE_COLUMNS_MAX;
use super::source;

/// Rendered by `bakeoff`.
const RENDERED: &str = "results.md";

/// Folders of suites with what contenders were verified with: a change there counts for each.
const VERIFIED: &str = "data";

pub(super) fn check(root: &Path) -> anyhow::Result<Vec<String>> {
    let mut findings = Vec::new();
    for path in source::tracked_once(root, "*.md")? {
        let name = path.display();
        if path.ends_with(RENDERED) || path.iter().any(|part| part == VERIFIED) {
            continue;
        }
        let text = fs::read_to_string(root.join(&path));
        let text = text.with_context(|| format!("cannot read {name}"))?;
        let long = long_lines(&text).into_iter();
        findings.extend(long.map(|(line, columns)| format!("{name}:{line}: {columns} columns")));
    }
    Ok(findings)
}

/// Returns number and columns of the lines that are too long and can be shorter: tables, code,
/// headings and what has no space in it cannot.
fn long_lines(text: &str) -> Vec<(usize, usize)> {
    let mut is_code = false;
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let words = line.trim_start();
        is_code ^= words.starts_with("```");
        let is_whole = is_code || words.starts_with(['|', '#']) || words.starts_with("![");
        let columns = line.chars().count();
        if columns > LINE_COLUMNS_MAX && !is_whole && words.contains(' ') {
            found.push((index + 1, columns));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::long_lines;

    #[test]
    fn only_what_can_be_wrapped_must_be() {
        let long = "word ".repeat(30);
        let text = format!(
            "{long}\n| {long} |\n# {long}\n```\n{long}\n```\n  {long}\n![{long}](a.png)\n{}\n",
            "a".repeat(120)
        );
        assert_eq!(long_lines(&text), [(1, 150), (7, 152)]);
    }
}
