//! Words that the texts of this project do without, in code, comments, messages and pages. The list
//! `xtask/words.toml` has how often each still occurs: it must not occur more often, and where it
//! occurs less often the list follows.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde::Deserialize;

use super::source;

/// The list, relative to the root.
const LIST: &str = "xtask/words.toml";

/// What is read. Quotations are their authors' own, and records are what was written then.
const PATTERNS: [&str; 4] = ["*.rs", "*.md", "*.toml", "*.sh"];
const LEFT_OUT: [&str; 3] = ["published.toml", LIST, "records/"];

/// Lines that a finding names.
const NAMED_MAX: usize = 5;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    word: Vec<Word>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Word {
    /// The word, or several with one space between, in small letters.
    text: String,
    /// How often it occurs today.
    count: usize,
    /// What to write instead.
    instead: String,
}

/// Words that occur more often, or less often, than the list says.
pub(super) fn check(root: &Path) -> anyhow::Result<Vec<String>> {
    let list =
        fs::read_to_string(root.join(LIST)).with_context(|| format!("cannot read {LIST}"))?;
    let list: List = toml::from_str(&list).context(LIST)?;
    let mut texts = BTreeMap::new();
    for pattern in PATTERNS {
        for path in source::tracked(root, pattern)? {
            let name = path.display().to_string();
            let is_read =
                |left_out: &&str| !name.ends_with(*left_out) && !name.starts_with(*left_out);
            if LEFT_OUT.iter().all(is_read) {
                let text = fs::read_to_string(root.join(&path));
                let text = text.with_context(|| format!("cannot read {name}"))?;
                texts.insert(path, text.to_lowercase());
            }
        }
    }
    Ok(list
        .word
        .iter()
        .filter_map(|word| finding(word, &texts))
        .collect())
}

fn finding(word: &Word, texts: &BTreeMap<PathBuf, String>) -> Option<String> {
    let places: Vec<String> = texts
        .iter()
        .flat_map(|(path, text)| {
            let lines = occurrences(&word.text, text).into_iter();
            lines.map(move |line| format!("{}:{line}", path.display()))
        })
        .collect();
    let Word {
        text,
        count,
        instead,
    } = word;
    match places.len() {
        found if found > *count => {
            let shown = places.iter().take(NAMED_MAX).cloned().collect::<Vec<_>>();
            let more = if found > NAMED_MAX { ", ..." } else { "" };
            Some(format!(
                "\"{text}\" occurs {found} times, {LIST} allows {count}; write {instead}: {}{more}",
                shown.join(", ")
            ))
        }
        found if found < *count => Some(format!(
            "\"{text}\" occurs {found} times only: lower its count in {LIST} from {count}"
        )),
        _ => None,
    }
}

/// The lines, from 1, in which the words occur as whole words, also across the end of a line and
/// the signs of a comment.
fn occurrences(words: &str, text: &str) -> Vec<usize> {
    let wanted: Vec<&str> = words.split(' ').collect();
    let mut found = Vec::new();
    let all: Vec<(usize, &str)> = text
        .lines()
        .enumerate()
        .flat_map(|(index, line)| {
            let words = line.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-');
            let words = words.filter(|word| !word.is_empty());
            words.map(move |word| (index + 1, word))
        })
        .collect();
    for run in all.windows(wanted.len()) {
        if run.iter().map(|(_, word)| *word).eq(wanted.iter().copied()) {
            found.push(run[0].0);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::occurrences;

    #[test]
    fn words_are_found_whole_and_across_lines() {
        let text = "blue-ish blue's\n/// a red\n/// house; red  house\nfired house";
        assert_eq!(occurrences("red house", text), [2, 3]);
        assert_eq!(occurrences("blue", text), [1]);
        assert!(occurrences("red", "fired").is_empty());
    }
}
