//! Words that depend on numbers, and control characters of terminals.

/// Returns a count with its noun: `1 thread`, `2 threads`, `0 threads`. For nouns that take an `s`.
#[must_use]
pub fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", plural(count))
}

/// Returns the ending of a noun after this count: nothing after 1, else `s`.
#[must_use]
pub const fn plural(count: u64) -> &'static str {
    if count == 1 { "" } else { "s" }
}

/// Replaces a control character by a blank: a contender may have sent or logged it, and it must not
/// reach the terminal.
#[must_use]
pub const fn printable(character: char) -> char {
    if matches!(character, '\0'..='\x1f' | '\x7f'..='\u{9f}') {
        ' '
    } else {
        character
    }
}

/// Returns the lines of a text with no other control characters than their ends.
#[must_use]
pub fn printable_lines(text: &str) -> String {
    let of_line = |character: char| match character {
        '\n' => character,
        other => printable(other),
    };
    text.chars().map(of_line).collect()
}

#[cfg(test)]
mod tests {
    use super::{counted, printable, printable_lines};

    #[test]
    fn a_terminal_is_not_commanded() {
        let all = (0..=0x2ff).filter_map(char::from_u32);
        for character in all {
            let is_printable = printable(character) == character;
            assert_eq!(is_printable, !character.is_control(), "{character:?}");
        }
        assert_eq!(printable_lines("a\x1b[2J\r\nb\u{9b}"), "a [2J \nb ");
    }

    #[test]
    fn only_one_is_singular() {
        assert_eq!(counted(0, "run"), "0 runs");
        assert_eq!(counted(1, "run"), "1 run");
        assert_eq!(counted(2, "run"), "2 runs");
    }
}
