//! One line about builds: the current one, its time so far, and the number that follow.

use std::time::{Duration, Instant};

use bakeoff_store::event::Event;

use crate::output::text::{human, last_lines, wrapped};

/// The builds that are at work.
#[derive(Debug, Default)]
pub(super) struct Builds {
    /// Each with its position, from 0, and when it started.
    at_work: Vec<(usize, String, Instant)>,
    /// How many of all contenders have been started or were up to date.
    seen: usize,
    contenders: usize,
}

impl Builds {
    /// Takes the start or the end of a build: lines for a person, at its start only if lines cannot
    /// be overwritten.
    pub(super) fn take(&mut self, event: &Event, live: bool, now: Instant) -> Vec<String> {
        match event {
            Event::Building {
                contender,
                index,
                contenders,
            } => {
                self.begin(*index, *contenders, contender, now);
                let line = format!("{contender} ({} of {contenders}): building", index + 1);
                if live { Vec::new() } else { vec![line] }
            }
            Event::Built {
                contender,
                index,
                contenders,
                took_ns,
                fresh,
                version,
            } => {
                self.end(*index);
                let state = match fresh {
                    true => format!("built in {}", human(Duration::from_nanos(*took_ns))),
                    false => "up to date".to_owned(),
                };
                let head = format!("{contender} ({} of {contenders}): {state}", index + 1);
                let version = version.iter().flat_map(|version| {
                    let lines: Vec<&str> = version.lines().map(str::trim).collect();
                    wrapped(&lines.join(", "), 76)
                });
                let version = version.map(|line| format!("  {line}"));
                [head].into_iter().chain(version).collect()
            }
            Event::BuildFailed {
                index,
                contenders,
                took_ns,
                failure,
                ..
            } => {
                self.end(*index);
                let (number, took) = (index + 1, human(Duration::from_nanos(*took_ns)));
                let message = &failure.message;
                let head = format!("FAILED {message} ({number} of {contenders}, after {took})");
                let details = failure.details();
                let details = last_lines(&details, 8).into_iter();
                let details = details.map(|line| format!("    {line}"));
                [head].into_iter().chain(details).collect()
            }
            _ => Vec::new(),
        }
    }

    pub(super) fn begin(&mut self, index: usize, contenders: usize, contender: &str, now: Instant) {
        self.at_work.push((index, contender.to_owned(), now));
        self.seen = self.seen.max(index + 1);
        self.contenders = contenders;
    }

    pub(super) fn end(&mut self, index: usize) {
        self.at_work.retain(|(one, _, _)| *one != index);
        self.seen = self.seen.max(index + 1);
    }

    /// Returns the builds at work with their times, and the number of builds left; nothing if none
    /// is at work.
    pub(super) fn text(&self, now: Instant) -> Option<String> {
        let each = self.at_work.iter().map(|(index, contender, begun)| {
            let (number, of) = (index + 1, self.contenders);
            format!("{contender} ({number} of {of}) {}", human(now - *begun))
        });
        let each = each.collect::<Vec<_>>().join(", ");
        let left = match self.contenders.saturating_sub(self.seen) {
            0 => String::new(),
            left => format!(" · {left} to come"),
        };
        (!self.at_work.is_empty()).then(|| format!("building {each}{left}"))
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::Builds;

    #[test]
    fn a_terminal_shows_what_is_building_for_how_long_and_what_is_left() {
        let begun = Instant::now();
        let mut builds = Builds::default();
        assert_eq!(builds.text(begun), None);
        builds.begin(0, 4, "one", begun);
        builds.begin(1, 4, "two", begun + Duration::from_secs(5));
        let now = begun + Duration::from_secs(75);
        assert_eq!(
            builds.text(now).unwrap(),
            "building one (1 of 4) 1 min 15 s, two (2 of 4) 1 min 10 s · 2 to come"
        );
        builds.end(0);
        builds.begin(3, 4, "four", now);
        let text = "building two (2 of 4) 1 min 10 s, four (4 of 4) 0 s";
        assert_eq!(builds.text(now).unwrap(), text);
    }
}
