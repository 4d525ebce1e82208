//! Texts for a terminal: widths, wrapping, durations, plurals.

use std::time::Duration;

use bakeoff_base::text::{printable, printable_lines};
use bakeoff_model::plan::ChosenCase;
use bakeoff_model::record::Qualification;
use textwrap::{Options, WordSeparator, WordSplitter};

/// Columns if the output is not a terminal.
const COLUMNS: usize = 80;

/// Columns of the terminal behind standard output.
pub(crate) fn columns() -> usize {
    terminal_size::terminal_size_of(std::io::stdout())
        .map_or(COLUMNS, |(width, _)| usize::from(width.0).max(COLUMNS))
}

/// Breaks a text between words so that no line is wider than `columns`; words that are wider are
/// broken, and control characters are blanks.
pub(crate) fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let options = Options::new(columns)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation);
    let words: Vec<&str> = text.split_whitespace().collect();
    let text: String = words.join(" ").chars().map(printable).collect();
    let lines = textwrap::wrap(&text, options);
    lines.into_iter().map(String::from).collect()
}

/// A duration as a person says it.
pub(crate) fn human(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

/// A number of runs that is known within bounds: `12 runs`, `12 to 120 runs`.
pub(crate) fn runs(fewest: usize, most: usize) -> String {
    match fewest == most {
        true => format!("{most} runs"),
        false => format!("{fewest} to {most} runs"),
    }
}

/// A time that is known within bounds: `about 20 min 0 s`, `20 min 0 s to 1 h 5 min`.
pub(crate) fn between(shortest: Duration, longest: Duration) -> String {
    let (from, to) = (human(shortest), human(longest));
    match from == to {
        true => format!("about {to}"),
        false => format!("{from} to {to}"),
    }
}

/// The last lines of a text, without empty ones.
pub(crate) fn last_lines(text: &str, count: usize) -> Vec<&str> {
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    lines[lines.len().saturating_sub(count)..].to_vec()
}

/// The winner of a round and why.
pub(crate) fn winner(qualification: &Qualification) -> String {
    let winner = qualification.winner.as_ref().map(ChosenCase::label);
    let round = &qualification.round;
    let mut text = match winner {
        Some(winner) => format!(
            "round {round}: the winner is {winner} by {} on {}",
            qualification.rule, qualification.benchmark
        ),
        None => format!("round {round}: no winner"),
    };
    for reason in &qualification.reasons {
        text.push_str(&format!("\n  {reason}"));
    }
    printable_lines(&text)
}
