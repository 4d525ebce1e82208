//! The ratios of contenders over all sets of processes that a session has played.

use std::collections::BTreeMap;

use bakeoff_base::number::{length_as_f64, significant};
use bakeoff_base::text::counted;
use bakeoff_stats::{Estimate, Sample};

/// Confidence of intervals.
pub(super) const CONFIDENCE: f64 = 0.95;
/// How many contenders the first one is compared with.
const OTHERS_MAX: usize = 5;

/// Logarithms of the throughput in the turns of a step, by block.
pub(crate) type Logs = BTreeMap<u64, f64>;

/// A step of a benchmark: its name, and the number of connections.
pub(crate) type StepOf = (String, u32);

/// The ratios of each set of processes, by step.
#[derive(Debug, Default)]
pub(crate) struct SoFar {
    steps: BTreeMap<StepOf, Step>,
}

#[derive(Debug, Default)]
struct Step {
    /// Mean logarithm of the throughput of each contender in each set.
    rates: BTreeMap<String, Vec<f64>>,
    /// Logarithm of the ratio of the first to the second in each set, by label.
    ratios: BTreeMap<(String, String), Vec<f64>>,
}

impl SoFar {
    /// Adds a set; lines on the ratios of all sets to now, at the step at which the fastest
    /// contender serves most. None where there are no two contenders to compare.
    pub(crate) fn add(&mut self, played: BTreeMap<StepOf, BTreeMap<String, Logs>>) -> Vec<String> {
        let steps: Vec<StepOf> = played.keys().cloned().collect();
        for (step, set) in played {
            self.steps.entry(step).or_default().add(&set);
        }
        let found = steps.iter().filter_map(|step| {
            let ranked = self.steps[step].ranked();
            Some((ranked.first()?.0, step, ranked))
        });
        let best = found.max_by(|a, b| a.0.total_cmp(&b.0));
        best.map_or_else(Vec::new, |(_, step, ranked)| {
            let labels: Vec<&str> = ranked.iter().map(|(_, label)| *label).collect();
            self.steps[step].lines(step.1, &labels)
        })
    }
}

impl Step {
    fn add(&mut self, set: &BTreeMap<String, Logs>) {
        for (label, logs) in set {
            if let Some(mean) = mean(logs.values().copied()) {
                self.rates.entry(label.clone()).or_default().push(mean);
            }
            let others = set.iter().filter(|(other, _)| *other != label);
            for (other, of_other) in others {
                let common = logs.iter();
                let common = common.filter_map(|(block, log)| Some(log - of_other.get(block)?));
                if let Some(ratio) = mean(common) {
                    let pair = (label.clone(), other.clone());
                    self.ratios.entry(pair).or_default().push(ratio);
                }
            }
        }
    }

    /// Mean logarithm of the throughput and label of each contender, the fastest first.
    fn ranked(&self) -> Vec<(f64, &str)> {
        let rates = self.rates.iter();
        let means = rates.filter_map(|(label, logs)| Some((mean(logs.iter().copied())?, &**label)));
        let mut ranked: Vec<(f64, &str)> = means.collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
        ranked
    }

    fn lines(&self, connections: u32, ranked: &[&str]) -> Vec<String> {
        let Some((first, others)) = ranked.split_first() else {
            return Vec::new();
        };
        let line = |other: &&str| {
            let pair = ((*first).to_owned(), (*other).to_owned());
            let ratios = Sample::new(self.ratios.get(&pair)?.clone())?;
            let text = ratio_text(&ratios.estimate(CONFIDENCE));
            Some(format!("    {first} / {other} {text}"))
        };
        let lines: Vec<String> = others.iter().filter_map(line).collect();
        if lines.is_empty() {
            return Vec::new();
        }
        let title = format!("\n  so far, at {connections} connections:");
        let left = lines.len().saturating_sub(OTHERS_MAX);
        let more = (left > 0).then(|| format!("    and {}", counted(left as u64, "slower one")));
        let shown = lines.into_iter().take(OTHERS_MAX);
        [title].into_iter().chain(shown).chain(more).collect()
    }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.collect();
    let sum: f64 = values.iter().sum();
    (!values.is_empty()).then(|| sum / length_as_f64(values.len()))
}

/// `1.204 (95 %: 1.19 to 1.219, 3 sets)`.
fn ratio_text(logs: &Estimate) -> String {
    let point = significant(logs.point.exp());
    let sets = counted(logs.runs as u64, "set");
    match logs.interval {
        None => format!("{point} ({sets}, no interval)"),
        Some(ends) => {
            let (low, high) = (significant(ends.low.exp()), significant(ends.high.exp()));
            format!("{point} (95 %: {low} to {high}, {sets})")
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{Logs, SoFar, StepOf};

    /// A set of a step, with the throughput of each contender in each block.
    fn set(connections: u32, rates: &[(&str, &[f64])]) -> (StepOf, BTreeMap<String, Logs>) {
        let logs = |rates: &[f64]| (0..).zip(rates.iter().map(|rate| rate.ln())).collect();
        let contenders = rates.iter();
        let contenders = contenders.map(|(label, rates)| ((*label).to_owned(), logs(rates)));
        (("work".to_owned(), connections), contenders.collect())
    }

    #[test]
    fn the_fastest_is_compared_with_each_other_at_its_best_step() {
        let mut so_far = SoFar::default();
        let first = [
            set(8, &[("a", &[100.0, 50.0]), ("b", &[80.0, 40.0])]),
            set(64, &[("a", &[200.0, 100.0]), ("b", &[100.0, 50.0])]),
        ];
        assert_eq!(
            so_far.add(BTreeMap::from(first)),
            [
                "\n  so far, at 64 connections:",
                "    a / b 2.00 (1 set, no interval)"
            ]
        );
        let second = [set(64, &[("a", &[300.0]), ("b", &[100.0, 7.0])])];
        // The mean of the logarithms of 2 and 3, and 12.706 standard errors.
        assert_eq!(
            so_far.add(BTreeMap::from(second))[1],
            "    a / b 2.45 (95 %: 0.186 to 32.2, 2 sets)"
        );
    }

    #[test]
    fn one_contender_has_no_ratio_and_many_are_cut() {
        let mut so_far = SoFar::default();
        assert_eq!(so_far.add(BTreeMap::new()), [""; 0]);
        let alone = [set(8, &[("a", &[100.0]), ("b", &[])])];
        assert_eq!(so_far.add(BTreeMap::from(alone)), [""; 0]);
        let many = ["1", "2", "3", "4", "5", "6", "7", "8"].map(|one| (one, &[9.0][..]));
        let lines = so_far.add(BTreeMap::from([set(16, &many)]));
        assert_eq!(lines.len(), 7, "{lines:?}");
        assert_eq!(lines[6], "    and 2 slower ones");
    }
}
