//! The processes of a set as a terminal shows them: a line for each process and step, and the
//! ratios of all sets so far.

use std::collections::BTreeMap;
use std::time::Duration;

use bakeoff_base::number::significant;
use bakeoff_base::text::counted;
use bakeoff_model::record::IntervalRecord;
use bakeoff_store::event::ComparedPair;

use super::step_total::StepTotal;
use crate::output::text::human;

/// The processes that take turns, by run.
#[derive(Debug, Default)]
pub(crate) struct SetProgress {
    members: BTreeMap<String, Member>,
    has_begun: bool,
}

#[derive(Debug)]
struct Member {
    label: String,
    step: StepTotal,
}

impl SetProgress {
    /// A process takes part. Returns whether it is the first of its set.
    pub(crate) fn add_member(&mut self, run: &str, label: String) -> bool {
        let is_first = self.members.is_empty();
        let step = StepTotal::default();
        self.members.insert(run.to_owned(), Member { label, step });
        self.has_begun = false;
        is_first
    }

    /// Whether the load starts; true for the first call only.
    pub(crate) fn begins(&mut self) -> bool {
        !std::mem::replace(&mut self.has_begun, true)
    }

    /// Whether the run is in the set.
    pub(crate) fn has(&self, run: &str) -> bool {
        self.members.contains_key(run)
    }

    /// The label of a run of the set.
    pub(crate) fn label(&self, run: &str) -> Option<&str> {
        self.members.get(run).map(|member| &*member.label)
    }

    /// Starts a step of a process and returns the lines of the previous step.
    pub(crate) fn step_begins(&mut self, run: &str, connections: u32, open: u32) -> Vec<String> {
        let Some(member) = self.members.get_mut(run) else {
            return Vec::new();
        };
        let lines = member.lines();
        member.step = StepTotal::begin(connections, open);
        lines
    }

    /// Adds a slice of a process.
    pub(crate) fn add(&mut self, run: &str, record: &IntervalRecord) {
        if let Some(member) = self.members.get_mut(run) {
            member.step.add(record);
        }
    }

    /// The run of a process ends; the lines of its last step.
    pub(crate) fn ends(&mut self, run: &str) -> Vec<String> {
        let ended = self.members.remove(run);
        ended.map_or_else(Vec::new, |member| member.lines())
    }
}

impl Member {
    fn lines(&self) -> Vec<String> {
        match self.step.is_empty() {
            true => Vec::new(),
            false => vec![format!("  {}", self.label), self.step.text()],
        }
    }
}

/// A comparison by all sets so far: `a / b 1.204 (1.19–1.219), 3 sets · decided in about 40 s`, of
/// several pairs the first one and how many more there are.
pub(crate) fn compared(sets: u32, pairs: &[ComparedPair], left: Option<Duration>) -> String {
    let Some((first, others)) = pairs.split_first() else {
        return String::new();
    };
    let more = match others.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let sets = counted(u64::from(sets), "set");
    let left = match left {
        Some(left) => format!(" · decided in about {}", human(left)),
        None => String::new(),
    };
    format!("{}{more}, {sets}{left}", pair(first))
}

fn pair(pair: &ComparedPair) -> String {
    let (first, second, ratio) = (&pair.first, &pair.second, significant(pair.ratio));
    let interval = pair.interval.map_or_else(String::new, |[low, high]| {
        format!(" ({}–{})", significant(low), significant(high))
    });
    format!("{first} / {second} {ratio}{interval}")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bakeoff_model::load::{LoadInterval, TurnCount};
    use bakeoff_model::record::{IntervalRecord, Others};
    use bakeoff_store::event::ComparedPair;

    use super::{SetProgress, compared};

    /// A slice with two turns of 100 ms, each with `requests` requests.
    fn slice(requests: u64) -> IntervalRecord {
        let turn = |block| TurnCount {
            block,
            length_us: 100_000,
            requests,
            ..TurnCount::default()
        };
        let load = LoadInterval {
            end_ns: 1_000_000_000,
            requests: 2 * requests,
            generator_threads: 1,
            turns: [0, 1].map(turn).to_vec(),
            ..LoadInterval::default()
        };
        IntervalRecord {
            connections: 64,
            others: Some(Others::default()),
            load,
            ..IntervalRecord::default()
        }
    }

    #[test]
    fn each_has_a_line_for_each_step_below_its_name() {
        let mut set = SetProgress::default();
        for (run, is_first) in [("slow", true), ("fast", false)] {
            assert_eq!(set.add_member(run, format!("the {run}")), is_first);
            assert_eq!(set.step_begins(run, 64, 64), [""; 0], "none before it");
        }
        assert!(set.has("fast") && !set.has("other"));
        assert_eq!(set.label("fast"), Some("the fast"));
        set.add("fast", &slice(240));
        let lines = set.step_begins("fast", 128, 128);
        assert_eq!(lines[0], "  the fast");
        let cells: Vec<&str> = lines[1].split_whitespace().collect();
        assert_eq!(cells[..3], ["64", "2400", "–"], "{lines:?}");
        assert_eq!(set.ends("fast"), [""; 0], "the next step has no slice");
        assert!(!set.has("fast"));
        set.add("slow", &slice(10));
        assert_eq!(set.ends("slow").len(), 2);
    }

    #[test]
    fn pairs_are_compared_in_one_line() {
        let pair = |second: &str, interval| ComparedPair {
            first: "a".to_owned(),
            second: second.to_owned(),
            ratio: 1.2044,
            interval,
        };
        let one = pair("b", None);
        assert_eq!(compared(1, &[one], None), "a / b 1.20, 1 set");
        let several = [pair("b", Some([1.19, 1.219])), pair("c", None)];
        assert_eq!(
            compared(3, &several, Some(Duration::from_secs(40))),
            "a / b 1.20 (1.19–1.22) and 1 more, 3 sets · decided in about 40 s"
        );
        assert_eq!(compared(0, &[], None), "");
    }
}
