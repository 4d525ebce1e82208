//! Which notes of runs are new: the next run of a contender mostly has those of the last one, with
//! other numbers.

use std::collections::BTreeSet;

use bakeoff_base::text::counted;

/// The notes that were shown in a session.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    /// Contender and benchmark, and the note without its numbers.
    shown: BTreeSet<(String, String)>,
}

impl Notes {
    /// Returns those notes of a run that none of its contender's earlier ones had; in place of the
    /// others, how many they are.
    pub(crate) fn fresh(&mut self, run: &str, notes: &[String]) -> Vec<String> {
        // All runs of a contender have the same id up to the repetition.
        let case = run.rsplit_once('.').map_or(run, |(case, _)| case);
        let mut fresh: Vec<String> = notes.to_vec();
        fresh.retain(|note| {
            let is_number = |char: char| char.is_ascii_digit() || char == '.';
            let kind = note.chars().filter(|char| !is_number(*char));
            self.shown.insert((case.to_owned(), kind.collect()))
        });
        let known = (notes.len() - fresh.len()) as u64;
        if known > 0 {
            let count = counted(known, "note");
            fresh.push(format!("and {count} as in an earlier run"));
        }
        fresh
    }
}

#[cfg(test)]
mod tests {
    use super::Notes;

    #[test]
    fn a_note_is_shown_once_for_a_contender() {
        let mut notes = Notes::default();
        let mut fresh = |run, all: &[&str]| {
            let all: Vec<String> = all.iter().map(ToString::to_string).collect();
            notes.fresh(run, &all)
        };
        assert_eq!(fresh("get.a-1.r1", &["4 %: slow"]), ["4 %: slow"]);
        assert_eq!(fresh("get.b-1.r1", &["4 %: slow"]), ["4 %: slow"]);
        assert_eq!(fresh("post.a-1.r1", &["4 %: slow"]), ["4 %: slow"]);
        let second = fresh("get.a-1.r2", &["17 %: slow", "cold"]);
        assert_eq!(second, ["cold", "and 1 note as in an earlier run"]);
        assert!(fresh("get.a-1.r3", &[]).is_empty());
    }
}
