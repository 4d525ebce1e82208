//! The new notes of a run: most have been shown for an earlier run, with other numbers.

use std::collections::BTreeSet;

const WARM_UP: &str = "warm-up, ";

/// The notes that were shown in a session.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    /// The notes without their numbers.
    shown: BTreeSet<String>,
}

impl Notes {
    /// Returns the notes of a run whose kind has not been shown yet; in place of the others, their
    /// number. A note on measured time stands for that on the warm-up before it.
    pub(crate) fn fresh(&mut self, notes: &[String]) -> Vec<String> {
        let mut fresh = self.new_kinds(notes);
        let known = notes.len() - fresh.len();
        if known > 0 {
            fresh.push(format!("{known} more of kinds shown above"));
        }
        fresh
    }

    /// Returns the notes of a run whose kind was not there yet.
    pub(crate) fn new_kinds(&mut self, notes: &[String]) -> Vec<String> {
        let mut fresh: Vec<String> = notes.to_vec();
        fresh.sort_by_key(|note| note.starts_with(WARM_UP));
        fresh.retain(|note| {
            let note = note.strip_prefix(WARM_UP).unwrap_or(note);
            let is_number = |char: char| char.is_ascii_digit() || char == '.';
            let kind = note.chars().filter(|char| !is_number(*char));
            self.shown.insert(kind.collect())
        });
        fresh
    }
}

#[cfg(test)]
mod tests {
    use super::Notes;

    #[test]
    fn a_note_is_shown_once() {
        let mut notes = Notes::default();
        let mut fresh = |all: &[&str]| {
            let all: Vec<String> = all.iter().map(ToString::to_string).collect();
            notes.fresh(&all)
        };
        let first = [
            "warm-up, 64 connections: slow by 3 %",
            "64 connections: slow by 4 %",
        ];
        let more = "1 more of kinds shown above";
        assert_eq!(fresh(&first), [first[1], more]);
        assert_eq!(
            fresh(&["128 connections: slow by 17 %", "cold"]),
            ["cold", more]
        );
        assert_eq!(
            fresh(&["warm-up, 64 connections: hot"]),
            ["warm-up, 64 connections: hot"]
        );
        assert!(fresh(&[]).is_empty());
    }
}
