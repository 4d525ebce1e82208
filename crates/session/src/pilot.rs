//! A pilot: the first runs of each contender, after which the number of runs is decided. That is
//! decided once, from the spread of the runs and the time that they took, never from which
//! contender leads; and it is on the disk before the next run starts, so that a resumed session has
//! the same number.

use std::time::Duration;

use bakeoff_analysis::{Analysis, AnalysisInput, Family};
use bakeoff_base::number::length_as_f64 as count;
use bakeoff_model::plan::{Plan, PlannedRun};
use bakeoff_model::record::{Results, RunRecords};
use bakeoff_model::suite::run_count::{
    DecisionReason, FamilyDecision, PILOT_RUNS, RunsDecision, RunsUntil,
};
use bakeoff_stats::{PilotPair, Threshold, runs_needed};
use bakeoff_store::event::Observer;
use bakeoff_store::session_file::SessionFile;

use crate::contracts::PendingRun;
use crate::driver::{Driver, RunRange};
use crate::run_count::{Decide, Standing, decided, taken};
use crate::sequential;

/// Plays the remaining runs of a session: all at once, or with a pilot its runs, then the decision,
/// then the runs that remain. Returns the number of runs that were made.
pub(crate) async fn play(
    driver: &Driver<'_>,
    session: &mut SessionFile,
    pending: &[PendingRun],
    decide: Decide<'_>,
    observer: &mut dyn Observer,
) -> anyhow::Result<usize> {
    let Some(asked) = session.plan.runs_until else {
        driver.play(pending, observer).await?;
        return Ok(pending.len());
    };
    if asked.sequential {
        let decide = |plan: &Plan| decide(plan, asked);
        return sequential::play(driver, session, pending, &decide, observer).await;
    }
    // Cold starts beyond the pilot's repetitions are certain too, and wait for their place.
    let of_pilot = |one: &&PendingRun| one.run.repetition <= PILOT_RUNS;
    let (pilot, rest): (Vec<&PendingRun>, Vec<&PendingRun>) = pending.iter().partition(of_pilot);
    let pilot: Vec<PendingRun> = pilot.into_iter().cloned().collect();
    let part = RunRange {
        before: 0,
        runs: pending.len(),
    };
    driver.play_part(&pilot, &part, observer).await?;
    let mut left: Vec<PendingRun> = rest.into_iter().cloned().collect();
    let Standing::Decided(decision) = decide(&session.plan, asked)? else {
        return Ok(pilot.len());
    };
    left.retain(|one| one.run.is_in(&decision));
    observer.observe(&decided(&decision, &left))?;
    session.decide(&decision);
    let part = RunRange {
        before: pilot.len(),
        runs: pilot.len() + left.len(),
    };
    driver.play_part(&left, &part, observer).await?;
    Ok(part.runs)
}

/// Decides from the records of a pilot.
pub(crate) fn decide(plan: &Plan, asked: RunsUntil, results: &Results) -> RunsDecision {
    let analysis = Analysis::of(&AnalysisInput::new(results, ""));
    let affordable = asked
        .within
        .map(|within| affordable(plan, &results.runs, within));
    decision(asked, affordable, &analysis.families())
}

/// The smallest number of runs that finds the difference of every pair, as far as it is allowed and
/// affordable.
fn decision(asked: RunsUntil, affordable: Option<u32>, families: &[Family<'_>]) -> RunsDecision {
    let families: Vec<Compared<'_>> = families.iter().map(Compared::new).collect();
    let needed: Vec<Option<u32>> = families.iter().map(|one| one.needed(&asked)).collect();
    let most = affordable.map_or(asked.at_most, |runs| runs.clamp(PILOT_RUNS, asked.at_most));
    let enough = needed.iter().copied().collect::<Option<Vec<u32>>>();
    let enough = enough.map(|all| all.into_iter().max().unwrap_or(PILOT_RUNS));
    let (runs, because) = match enough {
        Some(_) if families.is_empty() => (PILOT_RUNS, DecisionReason::NothingToCompare),
        Some(runs) if runs <= most => (runs, DecisionReason::Enough),
        _ if most < asked.at_most => (most, DecisionReason::Within),
        _ => (most, DecisionReason::AtMost),
    };
    let families = families.iter().zip(needed);
    RunsDecision {
        asked,
        pilot: PILOT_RUNS,
        runs,
        because,
        families: families
            .filter_map(|(family, needed)| family.decided(&asked, runs, needed))
            .collect(),
    }
}

/// All pairs of a family, as the pilot has them.
struct Compared<'a> {
    family: &'a Family<'a>,
    threshold: Threshold,
    pairs: Vec<([&'a str; 2], PilotPair)>,
}

impl<'a> Compared<'a> {
    fn new(family: &'a Family<'a>) -> Self {
        let mut pairs = Vec::new();
        for (place, (one, first)) in family.samples.iter().enumerate() {
            for (other, second) in &family.samples[place + 1..] {
                pairs.push(([*one, *other], PilotPair::of(first, second)));
            }
        }
        Self {
            family,
            threshold: Threshold::of_family(pairs.len()),
            pairs,
        }
    }

    /// Returns the number of runs with which the difference of every pair is found; `None` if there
    /// may not be as many.
    fn needed(&self, asked: &RunsUntil) -> Option<u32> {
        let mut runs = PILOT_RUNS;
        for (_, pair) in &self.pairs {
            let range = (runs, asked.at_most);
            runs = runs_needed(pair, asked.difference, &self.threshold, range)?;
        }
        Some(runs)
    }

    /// Returns the decision as it is written down; `None` if no pair can ever get a verdict.
    fn decided(&self, asked: &RunsUntil, runs: u32, needed: Option<u32>) -> Option<FamilyDecision> {
        let of = |pair: &PilotPair| match pair {
            PilotPair::Known(spread) => Some(spread.exactness(runs)),
            PilotPair::Unknown | PilotPair::WithoutSpread => None,
        };
        // Nothing is worse than not to know.
        let power = |pair: &PilotPair| {
            let found = of(pair).map(|one| one.power(asked.difference, &self.threshold));
            found.unwrap_or(-1.0)
        };
        let spreads = self.pairs.iter();
        let spreads = spreads.filter(|(_, pair)| *pair != PilotPair::WithoutSpread);
        let powers = spreads.map(|(labels, pair)| (labels, pair, power(pair)));
        let (labels, pair, power) = powers.min_by(|a, b| a.2.total_cmp(&b.2))?;
        let exactness = of(pair);
        Some(FamilyDecision {
            benchmark: self.family.benchmark.to_owned(),
            metric: self.family.metric.clone(),
            comparisons: self.pairs.len(),
            pair: labels.map(str::to_owned),
            deviation: match pair {
                PilotPair::Known(spread) => Some(spread.deviation()),
                PilotPair::Unknown | PilotPair::WithoutSpread => None,
            },
            needed,
            power: exactness.map(|_| power),
            detectable: exactness.map(|one| one.detectable(&self.threshold)),
        })
    }
}

/// Runs of each contender for which there is time, by what those of the pilot took. Its first
/// repetition has the slow checks in it, so further ones are expected to take what the others did.
fn affordable(plan: &Plan, runs: &[RunRecords], within: Duration) -> u32 {
    let made = |run: &PlannedRun| run.repetition <= PILOT_RUNS;
    let spent = taken(runs, |run| made(run));
    let later = |run: &PlannedRun| made(run) && run.repetition > 1 && run.is_decided();
    let later = taken(runs, later);
    let block = later / (PILOT_RUNS - 1);
    let starts = plan.runs.iter().filter(|run| !run.is_decided());
    let (begun, to_come): (Vec<_>, Vec<_>) = starts.partition(|run| made(run));
    let of_starts = taken(runs, |run| made(run) && !run.is_decided());
    let to_come = of_starts.mul_f64(count(to_come.len()) / count(begun.len().max(1)));
    let left = within.saturating_sub(spent + to_come);
    let blocks = left.as_nanos() / block.as_nanos().max(1);
    PILOT_RUNS.saturating_add(u32::try_from(blocks).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bakeoff_analysis::Family;
    use bakeoff_model::plan::{FORMAT, Plan, RunKind};
    use bakeoff_model::record::{EndRecord, Outcome, RunRecords};
    use bakeoff_model::suite::conditions::{BackendName, RuntimeKind};
    use bakeoff_model::suite::run_count::{
        DIFFERENCE_MIN, DecisionReason, RunsDecision, RunsUntil,
    };
    use bakeoff_stats::Sample;
    use bakeoff_stats::power::RELEVANCE;

    use super::{affordable, decision};
    use crate::tests::fakes::{case, pending};

    const ASKED: RunsUntil = RunsUntil {
        difference: 0.05,
        sequential: false,
        at_most: 30,
        within: None,
    };

    /// Decides about two contenders whose log ratios in the pilot are -d, 0 and d.
    fn decided(deviation: f64, affordable: Option<u32>) -> RunsDecision {
        let first = [-deviation, 0.0, deviation].map(|log| 1000.0 * log.exp());
        let sample = |values: [f64; 3]| Sample::in_blocks((1..).zip(values).collect()).unwrap();
        let (first, second) = (sample(first), sample([1000.0; 3]));
        let family = Family {
            benchmark: "get",
            metric: "requests per second".to_owned(),
            is_throughput: true,
            samples: vec![("a", &first), ("b", &second)],
        };
        decision(ASKED, affordable, &[family])
    }

    #[track_caller]
    fn check(deviation: f64, affordable: Option<u32>, expect: (u32, DecisionReason), says: &str) {
        let found = decided(deviation, affordable);
        assert_eq!((found.runs, found.because), expect);
        let text = found.sentences().join(" ");
        assert!(text.starts_with(says), "{text}");
    }

    #[test]
    fn as_many_runs_as_find_the_difference() {
        let enough = "18 runs of each contender: by the pilot that is enough to find a difference \
                      of 5 %. By requests per second of get, four of five such sessions find a \
                      difference of 4.9 % between any two, and 82 % of them one of \
                      5 %: in the pilot of 3 runs, the ratio of a and b, which need most, had a \
                      standard deviation of 4 %.";
        check(0.04, Some(40), (18, DecisionReason::Enough), enough);
        let most = "30 runs of each contender: the most that the profile allows; 5 % would need \
                    more. By requests per second of get, four of five such sessions find a \
                    difference of 7";
        check(0.08, None, (30, DecisionReason::AtMost), most);
        let time = "6 runs of each contender: as many as the time allows; 5 % would need more.";
        check(0.04, Some(6), (6, DecisionReason::Within), time);
        check(0.04, Some(1), (3, DecisionReason::Within), "3 runs");
        // Of what time allows beyond what is needed, nothing is used.
        check(0.001, Some(6), (3, DecisionReason::Enough), "3 runs");
    }

    #[test]
    fn the_family_that_needs_most_runs_decides() {
        let sample = |values: &[f64]| {
            let values = (1..).zip(values.iter().copied());
            Sample::in_blocks(values.collect()).unwrap()
        };
        let (calm, wild) = (sample(&[1.0, 1.001, 1.002]), sample(&[1.0, 1.02, 1.04]));
        let (still, short) = (sample(&[5.0, 5.0, 5.0]), sample(&[7.0]));
        let family = |metric: &str, samples| Family {
            benchmark: "get",
            metric: metric.to_owned(),
            is_throughput: true,
            samples,
        };
        let same = || family("rate", vec![("a", &still), ("b", &still)]);
        let calm = family("requests", vec![("a", &calm), ("b", &still)]);
        let wild = family("CPU", vec![("a", &wild), ("b", &still), ("c", &still)]);
        let found = decision(ASKED, None, &[same(), calm, wild]);
        let needed: Vec<_> = found.families.iter().map(|one| one.needed).collect();
        assert_eq!(needed, [Some(3), Some(found.runs)]);
        assert_eq!(found.worst().unwrap().comparisons, 3);
        let unknown = family("requests", vec![("a", &short), ("b", &still)]);
        let found = decision(ASKED, None, &[unknown]);
        assert_eq!((found.runs, found.because), (30, DecisionReason::AtMost));
        assert!(found.sentences()[1].contains("does not show"), "{found:?}");
        let found = decision(ASKED, None, &[]);
        assert_eq!(
            (found.runs, found.because),
            (3, DecisionReason::NothingToCompare)
        );
        let found = decision(ASKED, None, &[same()]);
        assert_eq!((found.runs, found.because), (3, DecisionReason::Enough));
    }

    #[test]
    fn what_is_asked_for_can_get_a_verdict() {
        assert!((DIFFERENCE_MIN - RELEVANCE).abs() < 1e-12);
    }

    /// A run that took this number of seconds.
    fn record(id: &str, repetition: u32, from_s: u64, seconds: u64) -> RunRecords {
        let at = |second: u64| format!("2026-11-23T10:{:02}:{:02}Z", second / 60, second % 60);
        let mut begin = case(&pending(id, false)).begin;
        begin.run.repetition = repetition;
        begin.at = at(from_s);
        RunRecords {
            begin,
            startup: None,
            probes: Vec::new(),
            checks: Vec::new(),
            idle: Vec::new(),
            intervals: Vec::new(),
            fleets: Vec::new(),
            metrics: Vec::new(),
            trials: Vec::new(),
            capacities: Vec::new(),
            end: Some(EndRecord {
                at: at(from_s + seconds),
                outcome: Outcome::Completed,
                last_connections: None,
                notes: Vec::new(),
            }),
        }
    }

    #[track_caller]
    fn check_time(runs: &[RunRecords], more: u32, within_s: u64, expect: u32) {
        let mut planned: Vec<_> = runs.iter().map(|run| run.begin.run.clone()).collect();
        for repetition in 4..4 + more {
            let mut start = planned[0].clone();
            (start.kind, start.repetition) = (RunKind::Startup, repetition);
            planned.push(start);
        }
        let plan = Plan {
            format: FORMAT,
            suite: "fake".to_owned(),
            suite_digest: String::new(),
            profile: "fake".to_owned(),
            runtime: RuntimeKind::Process,
            backend: BackendName::None,
            backend_delay: None,
            seed: 0,
            runs_until: None,
            no_turns: None,
            runs: planned,
        };
        let within = Duration::from_secs(within_s);
        assert_eq!(affordable(&plan, runs, within), expect);
    }

    #[test]
    fn time_is_counted_as_the_pilot_took_it() {
        // The first repetition takes 90 s, the others 30 s each: 150 s, and 30 s for each more.
        let whole = vec![
            record("a.r1", 1, 0, 50),
            record("b.r1", 1, 50, 40),
            record("a.r2", 2, 100, 20),
            // An attempt that was killed or repeated does not count.
            record("b.r2", 2, 120, 100),
            record("b.r2", 2, 300, 10),
            record("a.r3", 3, 400, 20),
            record("b.r3", 3, 420, 10),
        ];
        check_time(&whole, 0, 150, 3);
        check_time(&whole, 0, 239, 5);
        check_time(&whole, 0, 240, 6);
        check_time(&whole, 0, 10, 3);
        // Those of a set are alive concurrently.
        let mut turns = whole.clone();
        turns.remove(3);
        for run in &mut turns {
            run.begin.run.in_turns = true;
        }
        check_time(&turns, 0, 90 + 210 + 30 + 120, 4);
        // Cold starts to come take what those of the pilot took.
        let mut starts = whole;
        for repetition in 1..=3 {
            let mut start = record(&format!("s.r{repetition}"), repetition, 500, 5);
            start.begin.run.kind = RunKind::Startup;
            starts.push(start);
        }
        check_time(&starts, 6, 165 + 30 + 60, 5);
        check_time(&starts, 6, 165 + 30 + 59, 4);
    }
}
