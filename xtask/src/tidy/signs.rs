//! Countable signs of sentences that were not written in English, in Rust comments and Markdown
//! pages. `words.rs` compares how often each occurs with `xtask/words.toml`.

use std::path::Path;

use serde::Deserialize;

/// Words that refer to a noun in the comment of another item, at the start of a doc comment.
const PRONOUNS: [&str; 8] = [
    "it", "its", "that", "those", "the same", "this one", "they", "their",
];

/// Phrases in which "where" is mostly a condition and not a place.
const CONDITIONS: [&str; 7] = [
    "where it",
    "where there",
    "where that",
    "where they",
    "where this",
    "where none",
    "where nothing",
];

/// Number of "of" in a clause from which on they are a chain.
const CHAIN_MIN: usize = 3;

/// A sign that is counted.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Sign {
    /// A doc comment that opens with a pronoun.
    PronounOpening,
    /// A condition that starts with "where".
    WhereAsIf,
    /// A clause with three or more "of".
    ChainOfOf,
    /// The default of an option, as a condition.
    WhenAbsent,
}

impl Sign {
    /// Returns the subject of a finding.
    pub(super) fn subject(self) -> &'static str {
        match self {
            Self::PronounOpening => "a pronoun at the start of a doc comment",
            Self::WhereAsIf => "\"where\" as a condition (\"where it\", \"where there\")",
            Self::ChainOfOf => "a clause with three or more \"of\"",
            Self::WhenAbsent => "\"when absent\"",
        }
    }

    /// Returns the lines, from 1, with the sign in the text of a file, in small letters.
    pub(super) fn lines(self, path: &Path, text: &str) -> Vec<usize> {
        let blocks = match path.extension().and_then(|extension| extension.to_str()) {
            Some("rs") => comments(text),
            Some("md") => paragraphs(text),
            _ => Vec::new(),
        };
        let found = |block: &Block<'_>| match self {
            Self::PronounOpening => block.opening(&PRONOUNS),
            Self::WhereAsIf => block.occurrences(&CONDITIONS),
            Self::ChainOfOf => block.chains(),
            Self::WhenAbsent => block.occurrences(&["when absent"]),
        };
        blocks.iter().flat_map(found).collect()
    }
}

/// A paragraph of a comment or of a page: its words with their lines, from 1.
#[derive(Default)]
struct Block<'t> {
    opens_docs: bool,
    words: Vec<(usize, &'t str)>,
}

impl<'t> Block<'t> {
    fn add(&mut self, line: usize, text: &'t str) {
        let words = text.split_whitespace();
        self.words.extend(words.map(|word| (line, word)));
    }

    fn occurrences(&self, phrases: &[&str]) -> Vec<usize> {
        let starts = |place: usize| phrases.iter().any(|phrase| self.has(phrase, place));
        let places = (0..self.words.len()).filter(|place| starts(*place));
        places.map(|place| self.words[place].0).collect()
    }

    fn opening(&self, phrases: &[&str]) -> Vec<usize> {
        let opens = self.opens_docs && phrases.iter().any(|phrase| self.has(phrase, 0));
        let first = self.words.first().filter(|_| opens);
        first.map(|(line, _)| *line).into_iter().collect()
    }

    /// Whether a phrase is at this place.
    fn has(&self, phrase: &str, place: usize) -> bool {
        let mut words = self.words[place..].iter().map(|(_, word)| plain(word));
        phrase.split(' ').all(|wanted| words.next() == Some(wanted))
    }

    /// Returns the lines in which chains of "of" start.
    fn chains(&self) -> Vec<usize> {
        let ends = |word: &str| {
            word.trim_end_matches([')', '"', '`'])
                .ends_with(CLAUSE_ENDS)
        };
        let clauses = self.words.split_inclusive(|(_, word)| ends(word));
        let chain = |clause: &[(usize, &str)]| {
            let mut lines = clause.iter().filter(|(_, word)| plain(word) == "of");
            let first = lines.next()?.0;
            (lines.count() + 1 >= CHAIN_MIN).then_some(first)
        };
        clauses.filter_map(chain).collect()
    }
}

/// The last character of a clause.
const CLAUSE_ENDS: [char; 5] = ['.', '!', '?', ';', ':'];

/// Returns a word without punctuation.
fn plain(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric())
}

/// Returns the paragraphs of the comments that have a line for themselves.
fn comments(text: &str) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let mut before = None;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim_start();
        let sign = ["///", "//!", "//"]
            .into_iter()
            .find(|sign| line.starts_with(sign));
        let words = sign.map_or("", |sign| &line[sign.len()..]);
        if sign != before || starts_item(words) || words.trim().is_empty() {
            let opens_docs = sign == Some("///") && before != sign;
            blocks.push(Block {
                opens_docs,
                ..Block::default()
            });
        }
        if let Some(block) = blocks.last_mut() {
            block.add(number, words);
        }
        before = sign;
    }
    blocks
}

/// Returns the paragraphs, items and rows of tables of a page, without code.
fn paragraphs(text: &str) -> Vec<Block<'_>> {
    let mut blocks = vec![Block::default()];
    let mut is_code = false;
    for (number, line) in (1..).zip(text.lines()) {
        let fence = line.trim_start().starts_with("```");
        is_code ^= fence;
        if fence || line.trim().is_empty() || starts_item(line) {
            blocks.push(Block::default());
        }
        if let Some(block) = blocks.last_mut().filter(|_| !is_code && !fence) {
            block.add(number, line);
        }
    }
    blocks
}

/// Whether a line starts an item of a list, a row of a table or a heading.
fn starts_item(line: &str) -> bool {
    line.trim_start().starts_with(['-', '|', '#'])
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::Sign;

    fn check(sign: Sign, file: &str, text: &str, lines: &[usize]) {
        let found = sign.lines(Path::new(file), &text.to_lowercase());
        assert_eq!(found, lines, "{text}");
    }

    #[test]
    fn pronouns_count_at_the_start_of_doc_comments() {
        let text = "/// Its own one.\n/// That of it.\nfn a() {}\n// It is none.\n//! They.\n    \
                    /// The same\n    /// of the head.\n/// The\n/// same.\n/// Itself.\n";
        check(Sign::PronounOpening, "a.rs", text, &[1, 6]);
        check(
            Sign::PronounOpening,
            "a.rs",
            "/// The\n/// same of it.\n",
            &[1],
        );
        check(Sign::PronounOpening, "a.md", "Its page.\n", &[]);
    }

    #[test]
    fn where_is_a_condition_before_some_words() {
        let text = "/// `None` where\n/// it is (where there is) none.\n\"where it\";\n/// Where.\n\
                    \n/// it.\n/// The place where all is.\n";
        check(Sign::WhereAsIf, "a.rs", text, &[1, 2]);
        let text = "Where nothing is,\n\n```sh\nwhere it\n```\n- where\n- it\n\n| where this |\n";
        check(Sign::WhereAsIf, "a.md", text, &[1, 9]);
    }

    #[test]
    fn chains_of_of_are_within_a_clause() {
        let text = "A of b of\nc of d. E of f of g; of h.\n\nOf i of j\n- of k.\n";
        check(Sign::ChainOfOf, "a.md", text, &[1]);
        check(
            Sign::ChainOfOf,
            "a.rs",
            "let a; // of of of\n// of (of) often of\n",
            &[2],
        );
    }

    #[test]
    fn defaults_are_not_conditions() {
        check(
            Sign::WhenAbsent,
            "a.rs",
            "/// 8080 when\n/// absent.\nf(\"when absent\");\n",
            &[1],
        );
        check(Sign::WhenAbsent, "a.toml", "# when absent\n", &[]);
    }
}
