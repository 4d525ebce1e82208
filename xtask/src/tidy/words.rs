//! Words and signs of sentences that the texts of this project do without, in code, comments,
//! messages and pages. The list `xtask/words.toml` has how often each still occurs: it must not
//! occur more often, and if it occurs less often, the count must be lowered.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde::Deserialize;

use super::signs::Sign;
use super::source;

/// The list, relative to the root.
const LIST: &str = "xtask/words.toml";

/// The patterns of the files that are read. Quotations are their authors' own, and records are what
/// was written then.
const PATTERNS: [&str; 4] = ["*.rs", "*.md", "*.toml", "*.sh"];
const LEFT_OUT: [&str; 3] = ["published.toml", LIST, "records/"];

/// Lines that a finding names.
const NAMED_MAX: usize = 5;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    word: Vec<Word>,
    sign: Vec<CountedSign>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Word {
    /// The word, or several with one space between, in small letters.
    text: String,
    /// How often it occurs today.
    count: usize,
    /// The replacement.
    instead: String,
    /// Whether only lines of doc comments count that begin with the word.
    #[serde(default)]
    opens_docs: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CountedSign {
    kind: Sign,
    /// How often it occurs today.
    count: usize,
    /// The better sentence.
    instead: String,
}

/// The texts of all files that are read, in small letters.
type Texts = BTreeMap<PathBuf, String>;

/// Words and signs that occur more often, or less often, than the list says.
pub(super) fn check(root: &Path) -> anyhow::Result<Vec<String>> {
    let list =
        fs::read_to_string(root.join(LIST)).with_context(|| format!("cannot read {LIST}"))?;
    let list: List = toml::from_str(&list).context(LIST)?;
    let mut texts = BTreeMap::new();
    for pattern in PATTERNS {
        for path in source::tracked_once(root, pattern)? {
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
    let words = list.word.iter().filter_map(|word| of_word(word, &texts));
    let signs = list.sign.iter().filter_map(|sign| of_sign(sign, &texts));
    Ok(words.chain(signs).collect())
}

fn of_word(word: &Word, texts: &Texts) -> Option<String> {
    let at = match word.opens_docs {
        true => " at the start of docs",
        false => "",
    };
    let subject = format!("\"{}\" occurs{at}", word.text);
    let lines = |_: &Path, text: &str| match word.opens_docs {
        true => openings(&word.text, text),
        false => occurrences(&word.text, text),
    };
    let found = places(texts, lines);
    finding(&subject, word.count, &word.instead, &found)
}

fn of_sign(sign: &CountedSign, texts: &Texts) -> Option<String> {
    let found = places(texts, |path, text| sign.kind.lines(path, text));
    let subject = format!("{} occurs", sign.kind.subject());
    finding(&subject, sign.count, &sign.instead, &found)
}

/// Returns `file:line` of all lines that a function finds in the texts.
fn places(texts: &Texts, lines: impl Fn(&Path, &str) -> Vec<usize>) -> Vec<String> {
    let of_file = |(path, text): (&PathBuf, &String)| {
        let found = lines(path, text).into_iter();
        let places = found.map(|line| format!("{}:{line}", path.display()));
        places.collect::<Vec<_>>()
    };
    texts.iter().flat_map(of_file).collect()
}

/// Returns the finding for a subject that occurs at these places; `None` if their number is the
/// count of the list.
fn finding(subject: &str, count: usize, instead: &str, places: &[String]) -> Option<String> {
    match places.len() {
        found if found > count => {
            let shown = places.iter().take(NAMED_MAX).cloned().collect::<Vec<_>>();
            let more = if found > NAMED_MAX { ", ..." } else { "" };
            Some(format!(
                "{subject} {found} times, {LIST} allows {count}; write {instead}: {}{more}",
                shown.join(", ")
            ))
        }
        found if found < count => Some(format!(
            "{subject} {found} times only: lower its count in {LIST} from {count}"
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

/// The lines, from 1, of doc comments that begin with a word.
fn openings(word: &str, text: &str) -> Vec<usize> {
    let begins = |line: &str| {
        let words = line.trim_start().strip_prefix("/// ");
        words.is_some_and(|words| words.split(' ').next() == Some(word))
    };
    let lines = (1..).zip(text.lines());
    lines
        .filter(|(_, line)| begins(line))
        .map(|(number, _)| number)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{finding, occurrences, openings};

    #[test]
    fn counts_may_only_fall() {
        let places = ["a.rs:1".to_owned(), "b.md:2".to_owned()];
        let found = |count| finding("it occurs", count, "that", &places);
        let more = "it occurs 2 times, xtask/words.toml allows 1; write that: a.rs:1, b.md:2";
        assert_eq!(found(1).unwrap(), more);
        let fewer = "it occurs 2 times only: lower its count in xtask/words.toml from 3";
        assert_eq!(found(3).unwrap(), fewer);
        assert_eq!(found(2), None);
    }

    #[test]
    fn openings_are_those_of_doc_comments() {
        let text = "/// what it is\n// what else\n    /// what for, and\n/// whatever what\n";
        assert_eq!(openings("what", text), [1, 3]);
    }

    #[test]
    fn words_are_found_whole_and_across_lines() {
        let text = "blue-ish blue's\n/// a red\n/// house; red  house\nfired house";
        assert_eq!(occurrences("red house", text), [2, 3]);
        assert_eq!(occurrences("blue", text), [1]);
        assert!(occurrences("red", "fired").is_empty());
    }
}
