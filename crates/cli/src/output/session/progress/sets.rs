//! Progress of contenders that take turns.

use std::io::Write;
use std::time::Duration;

use bakeoff_base::text::counted;
use bakeoff_store::event::{ComparedPair, Event};

use super::Progress;
use crate::output::session::set_lines;
use crate::output::session::shown::Shown;
use crate::output::text::human;

impl<W: Write> Progress<W> {
    /// The live line of a set: the comparison so far, what is done, and the time that is left.
    pub(super) fn live_set(&mut self, doing: &str) {
        let left = self.time_left();
        let text = match self.compared.as_str() {
            "" => format!("{doing} · {left}"),
            compared => format!("{compared} · {doing} · {left}"),
        };
        self.live_line(&text);
    }

    /// How many sets there are, and what they say.
    pub(super) fn sets(&mut self, event: &Event) {
        match event {
            Event::RunsDecided {
                decision,
                runs,
                expected_ns,
                ..
            } => {
                self.pace.decided(Duration::from_nanos(*expected_ns));
                // If nothing is left to make, the table that follows says so.
                if *runs > 0 {
                    self.decided(decision);
                }
            }
            Event::SetsCompared {
                sets,
                pairs,
                left_ns,
                in_time,
            } => {
                let left = Duration::from_nanos(*left_ns);
                self.pace.decided(left);
                self.sets_compared((*sets, pairs), in_time.then_some(left));
            }
            Event::SetsReplaced { sets, expected_ns } => {
                self.sets_replaced(*sets, Duration::from_nanos(*expected_ns));
            }
            _ => {}
        }
    }

    pub(super) fn sets_compared(
        &mut self,
        (sets, pairs): (u32, &[ComparedPair]),
        left: Option<Duration>,
    ) {
        self.compared = set_lines::compared(sets, pairs, None);
        let text = set_lines::compared(sets, pairs, left);
        match self.live && self.shown == Shown::Sets {
            true => self.live_line(&text),
            false => self.line(&text),
        }
    }

    /// `a: ` if the lines above do not say whose run it is.
    pub(super) fn whose(&self, run: &str) -> String {
        let label = self.set.label(run).filter(|_| self.is_brief);
        label.map_or_else(String::new, |label| format!("{label}: "))
    }

    pub(super) fn sets_replaced(&mut self, sets: usize, expected: Duration) {
        self.pace.decided(expected);
        let (counted, time) = (counted(sets as u64, "set"), human(expected));
        self.line(&format!(
            "\n{counted} had no valid block: repeating, about {time}"
        ));
    }

    /// Says how many notes were not shown.
    pub(super) fn session_ends(&mut self) {
        self.live_line("");
        let notes = std::mem::take(&mut self.hidden_notes);
        if notes > 0 {
            let notes = counted(notes as u64, "note");
            self.line(&format!(
                "{notes} on the runs: in the report, or with --verbose"
            ));
        }
    }
}
