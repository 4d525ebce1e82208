//! The contenders of a set as a terminal shows them: a line for each step of each of them, and
//! while it is played the ratio of the two that serve most.

use std::collections::BTreeMap;

use bakeoff_model::record::IntervalRecord;
use bakeoff_stats::Sample;

use super::step_total::StepTotal;

/// Confidence of the interval.
const CONFIDENCE: f64 = 0.95;

/// The contenders that take turns, by run.
#[derive(Debug, Default)]
pub(crate) struct SetProgress {
    members: BTreeMap<String, Member>,
    has_begun: bool,
}

#[derive(Debug)]
struct Member {
    label: String,
    step: StepTotal,
    /// Logarithms of the throughput in the turns of the step, by block.
    logs: BTreeMap<u64, f64>,
}

impl SetProgress {
    /// A contender takes part.
    pub(crate) fn add_member(&mut self, run: &str, label: String) {
        let member = Member {
            label,
            step: StepTotal::default(),
            logs: BTreeMap::new(),
        };
        self.members.insert(run.to_owned(), member);
        self.has_begun = false;
    }

    /// Whether the load begins that is asked about for the first time.
    pub(crate) fn begins(&mut self) -> bool {
        !std::mem::replace(&mut self.has_begun, true)
    }

    /// Whether the run is in the set.
    pub(crate) fn has(&self, run: &str) -> bool {
        self.members.contains_key(run)
    }

    /// A step of a contender begins; the lines of the one before.
    pub(crate) fn step_begins(&mut self, run: &str, connections: u32, open: u32) -> Vec<String> {
        let Some(member) = self.members.get_mut(run) else {
            return Vec::new();
        };
        let lines = member.lines();
        member.step = StepTotal::begin(connections, open);
        member.logs.clear();
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

    /// The run of a contender ends; the lines of its last step.
    pub(crate) fn ends(&mut self, run: &str) -> Vec<String> {
        let member = self.members.remove(run);
        member.map_or_else(Vec::new, |member| member.lines())
    }

    /// The ratio of the two contenders that serve most in the step that is played, with its interval
    /// for these processes.
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
