//! Words in the lines of a terminal.

use bakeoff_base::text::printable;

/// Narrower than this the rank, the name and the throughput of a table are still shown.
pub(in crate::render) const WIDTH_MIN: usize = 40;

/// The text without what would break a line or command the terminal, cut in the middle: the ends
/// of names distinguish variants.
pub(super) fn shorten(text: &str, width: usize) -> String {
    let characters: Vec<char> = text.chars().map(printable).collect();
    if characters.len() <= width {
        return characters.into_iter().collect();
    }
    let tail = (width - 1) / 2;
    let head = width - 1 - tail;
    let start: String = characters[..head].iter().collect();
    let end: String = characters[characters.len() - tail..].iter().collect();
    format!("{start}…{end}")
}

/// Words into lines of at most `width`, the first after `head`, the others indented by four.
pub(in crate::render) fn wrap(text: &mut String, head: &str, words: &str, width: usize) {
    let clean: String = format!("{head}{words}").chars().map(printable).collect();
    let options = textwrap::Options::new(width)
        .subsequent_indent("    ")
        .break_words(false)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    text.push_str(&textwrap::fill(&clean, options));
    text.push('\n');
}
