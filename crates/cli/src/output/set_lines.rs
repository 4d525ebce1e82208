//! The contenders of a set as a terminal shows them: a line for each step of each of them, while
//! it is played the ratio of the two that serve most, and when it ends the ratios of all sets.

use std::collections::BTreeMap;

use bakeoff_model::record::IntervalRecord;
use bakeoff_stats::Sample;

use super::running_ratios::{CONFIDENCE, Logs, SoFar, StepOf};
use super::step_total::StepTotal;

/// The contenders that take turns, by run.
#[derive(Debug, Default)]
pub(crate) struct SetProgress {
    members: BTreeMap<String, Member>,
    has_begun: bool,
    /// The measured steps that its contenders have ended, by label.
    played: BTreeMap<StepOf, BTreeMap<String, Logs>>,
    so_far: SoFar,
}

#[derive(Debug)]
struct Member {
    label: String,
    benchmark: String,
    step: StepTotal,
    logs: Logs,
}

impl SetProgress {
    /// A contender takes part.
    pub(crate) fn add_member(&mut self, run: &str, label: String, benchmark: &str) {
        let member = Member {
            label,
            benchmark: benchmark.to_owned(),
            step: StepTotal::default(),
            logs: BTreeMap::new(),
        };
        self.members.insert(run.to_owned(), member);
        self.has_begun = false;
    }

    /// Whether the load starts; true for the first call only.
    pub(crate) fn begins(&mut self) -> bool {
        !std::mem::replace(&mut self.has_begun, true)
    }

    /// Whether the run is in the set.
    pub(crate) fn has(&self, run: &str) -> bool {
        self.members.contains_key(run)
    }

    /// Starts a step of a contender and returns the lines of the previous step.
    pub(crate) fn step_begins(&mut self, run: &str, connections: u32, open: u32) -> Vec<String> {
        let Some(member) = self.members.get_mut(run) else {
            return Vec::new();
        };
        let lines = member.lines();
        let (label, played) = (member.label.clone(), member.take_played());
        member.step = StepTotal::begin(connections, open);
        self.keep(label, played);
        lines
    }

    /// Adds a slice of a contender.
    pub(crate) fn add(&mut self, run: &str, record: &IntervalRecord) {
        if let Some(member) = self.members.get_mut(run) {
            member.step.add(record);
            let turns = record.load.turns.iter();
            let rates = turns.filter_map(|turn| Some((turn.block, turn.requests_per_s()?.ln())));
            member.logs.extend(rates);
        }
    }

    fn keep(&mut self, label: String, played: Option<(StepOf, Logs)>) {
        if let Some((step, logs)) = played {
            self.played.entry(step).or_default().insert(label, logs);
        }
    }

    /// The run of a contender ends; the lines of its last step, and with the last run of a set the
    /// ratios of all sets to now.
    pub(crate) fn ends(&mut self, run: &str) -> Vec<String> {
        let Some(mut member) = self.members.remove(run) else {
            return Vec::new();
        };
        let mut lines = member.lines();
        let played = member.take_played();
        self.keep(member.label, played);
        if self.members.is_empty() {
            lines.extend(self.so_far.add(std::mem::take(&mut self.played)));
        }
        lines
    }

    /// The ratio of the two contenders that serve most in the step that is played, with its
    /// interval for these processes.
    pub(crate) fn ratio(&self) -> Option<String> {
        let mut ranked: Vec<(f64, &Member)> =
            self.members.values().map(|one| (one.mean(), one)).collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
        let [(_, first), (_, second), ..] = ranked[..] else {
            return None;
        };
        let common = first.logs.iter();
        let common = common.filter_map(|(block, log)| Some(log - second.logs.get(block)?));
        let estimate = Sample::new(common.collect())?.estimate(CONFIDENCE);
        let interval = estimate.interval?;
        let percent = 100.0 * (interval.high - interval.low) / 2.0;
        let ratio = estimate.point.exp();
        let (first, second) = (&first.label, &second.label);
        Some(format!("{first} / {second} {ratio:.3} ± {percent:.1} %"))
    }
}

impl Member {
    /// The turns of a measured step that has ended; the member has none then.
    fn take_played(&mut self) -> Option<(StepOf, Logs)> {
        let logs = std::mem::take(&mut self.logs);
        let connections = self.step.measured_at().filter(|_| !logs.is_empty())?;
        Some(((self.benchmark.clone(), connections), logs))
    }

    fn mean(&self) -> f64 {
        let sum: f64 = self.logs.values().sum();
        match self.logs.len() {
            0 => f64::NEG_INFINITY,
            turns => sum / bakeoff_base::number::length_as_f64(turns),
        }
    }

    fn lines(&self) -> Vec<String> {
        match self.step.is_empty() {
            true => Vec::new(),
            false => vec![format!("  {}", self.label), self.step.text()],
        }
    }
}

#[cfg(test)]
mod tests {
    use bakeoff_model::load::{LoadInterval, TurnCount};
    use bakeoff_model::record::{IntervalRecord, Others};

    use super::SetProgress;

    /// A slice with a turn of 100 ms in each of these blocks, with this number of requests.
    fn slice(turns: &[(u64, u64)]) -> IntervalRecord {
        let turn = |(block, requests): &(u64, u64)| TurnCount {
            block: *block,
            length_us: 100_000,
            requests: *requests,
            ..TurnCount::default()
        };
        let load = LoadInterval {
            end_ns: 1_000_000_000,
            requests: turns.iter().map(|(_, requests)| requests).sum(),
            generator_threads: 1,
            turns: turns.iter().map(turn).collect(),
            ..LoadInterval::default()
        };
        IntervalRecord {
            connections: 64,
            others: Some(Others::default()),
            load,
            ..IntervalRecord::default()
        }
    }

    fn set() -> SetProgress {
        let mut set = SetProgress::default();
        for run in ["slow", "fast", "mean"] {
            set.add_member(run, format!("the {run}"), "work");
            assert_eq!(set.step_begins(run, 64, 64), [""; 0], "none before it");
        }
        set
    }

    #[test]
    fn the_two_that_serve_most_are_compared_by_blocks() {
        let mut set = set();
        assert_eq!(set.ratio(), None, "nothing was measured");
        set.add("fast", &slice(&[(0, 240), (1, 120), (2, 200)]));
        set.add("mean", &slice(&[(0, 200), (1, 100)]));
        set.add("slow", &slice(&[(0, 20), (1, 10)]));
        // The host was half as fast in the second block, which is in no ratio, and so is a block
        // that the other has not played yet.
        assert_eq!(set.ratio().unwrap(), "the fast / the mean 1.200 ± 0.0 %");
        for run in ["slow", "fast", "mean"] {
            set.step_begins(run, 128, 128);
        }
        assert_eq!(set.ratio(), None, "nothing was measured of this step");
    }

    #[test]
    fn each_has_a_line_for_each_step_below_its_name() {
        let mut set = set();
        assert!(set.has("fast") && !set.has("other"));
        set.add("fast", &slice(&[(0, 240), (1, 240)]));
        let lines = set.step_begins("fast", 128, 128);
        assert_eq!(lines[0], "  the fast");
        let cells: Vec<&str> = lines[1].split_whitespace().collect();
        assert_eq!(cells[..3], ["64", "2400", "–"], "{lines:?}");
        assert_eq!(set.ends("fast"), [""; 0], "the next step has no slice");
        assert!(!set.has("fast"));
        set.add("slow", &slice(&[(0, 10)]));
        assert_eq!(set.ends("slow").len(), 2);
        // The last one brings the ratios of the set.
        set.add("mean", &slice(&[(0, 20), (1, 20)]));
        let lines = set.ends("mean");
        assert_eq!(lines.len(), 5, "{lines:?}");
        assert_eq!(
            lines[3],
            "    the fast / the mean 12.0 (1 set, no interval)"
        );
        assert_eq!(
            lines[4],
            "    the fast / the slow 24.0 (1 set, no interval)"
        );
    }
}
