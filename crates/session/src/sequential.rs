//! Sessions that end as soon as every pair of contenders is decided: after every set of fresh
//! processes it is looked at what all sets show, by a test that holds however often one looks
//! ([`bakeoff_stats::Sequential`]). When the time is spent, or there may be no more sets, a last
//! look has the rest of the error.

use std::time::Duration;

use bakeoff_model::plan::Plan;
use bakeoff_model::record::Results;
use bakeoff_model::runs::{DecisionReason, RunsDecision, RunsUntil};
use bakeoff_report::{Analysis, Family, ReportInput};
use bakeoff_stats::{Budget, Decision, Sample, Sequential, log_ratios};

use crate::contracts::{LoadGenerator, PendingRun};
use crate::driver::{Driver, Part};
use crate::event::Observer;
use crate::runs_taken::{decided, taken};
use crate::store::session_file::SessionFile;

/// Plays sets until it is decided that there are enough. Returns how many runs were made.
pub(crate) async fn play<L: LoadGenerator>(
    driver: &Driver<'_, L>,
    session: &mut SessionFile,
    pending: &[PendingRun],
    decide: &dyn Fn(&Plan) -> anyhow::Result<Option<RunsDecision>>,
    observer: &mut dyn Observer,
) -> anyhow::Result<usize> {
    let mut left = pending;
    while let Some(first) = left.first() {
        let same = |one: &&PendingRun| one.run.repetition == first.run.repetition;
        let (set, rest) = left.split_at(left.iter().take_while(same).count());
        let part = Part {
            before: pending.len() - left.len(),
            runs: pending.len(),
        };
        driver.play_part(set, &part, observer).await?;
        left = rest;
        if let Some(decision) = decide(&session.plan)? {
            observer.observe(&decided(&decision, &[]))?;
            session.decide(&decision);
            break;
        }
    }
    Ok(pending.len() - left.len())
}

/// What is decided from the records up to now; `None` while the session goes on.
pub(crate) fn decide(plan: &Plan, asked: RunsUntil, results: &Results) -> Option<RunsDecision> {
    let sets = results
        .runs
        .iter()
        .map(|run| run.begin.run.repetition)
        .max()?;
    let in_all = taken(&results.runs, |_| true);
    let last = taken(&results.runs, |run| run.repetition == sets);
    let most = plan.runs.iter().map(|run| run.repetition).max();
    let analysis = Analysis::of(&ReportInput::new(results, ""));
    let because = because(
        &asked,
        &analysis.families(),
        &Spent {
            sets,
            most,
            taken: in_all,
            last,
        },
    )?;
    Some(RunsDecision {
        asked,
        pilot: sets,
        runs: sets,
        because,
        families: Vec::new(),
    })
}

/// What a session has spent.
struct Spent {
    sets: u32,
    /// The most sets that there may be.
    most: Option<u32>,
    /// Time of all sets.
    taken: Duration,
    /// Time of the last one.
    last: Duration,
}

fn because(asked: &RunsUntil, families: &[Family<'_>], spent: &Spent) -> Option<DecisionReason> {
    let over = match asked.within {
        Some(within) if spent.taken + spent.last > within => Some(DecisionReason::Within),
        _ if Some(spent.sets) >= spent.most => Some(DecisionReason::AtMost),
        _ => None,
    };
    let budget = match over {
        Some(_) => Budget::Spent,
        None => Budget::Left,
    };
    let is_open = |family: &&Family<'_>| {
        let pairs = pairs(&family.samples);
        let pairs: Vec<&[f64]> = pairs.iter().map(Vec::as_slice).collect();
        let looks = Sequential::default().look_family(&pairs, budget);
        looks.iter().any(|look| look.decision == Decision::GoOn)
    };
    let by_throughput = families.iter().filter(|family| family.is_throughput);
    match by_throughput.clone().count() {
        0 => over.map(|_| DecisionReason::NothingToCompare),
        _ if by_throughput.clone().any(|family| is_open(&family)) => over,
        _ => over.or(Some(DecisionReason::Decided)),
    }
}

/// The log ratios of all pairs, set by set.
fn pairs(samples: &[(&str, &Sample)]) -> Vec<Vec<f64>> {
    let mut pairs = Vec::new();
    for (place, (_, first)) in samples.iter().enumerate() {
        let others = samples[place + 1..].iter();
        pairs.extend(others.map(|(_, second)| log_ratios(first, second)));
    }
    pairs
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bakeoff_model::runs::{DIFFERENCE_MIN, DecisionReason, RunsUntil};
    use bakeoff_report::Family;
    use bakeoff_stats::Sample;

    use super::{Spent, because};

    const ASKED: RunsUntil = RunsUntil {
        difference: DIFFERENCE_MIN,
        sequential: true,
        at_most: 20,
        within: Some(Duration::from_secs(120)),
    };

    /// What is decided of two contenders with these log ratios, after this time.
    #[track_caller]
    fn check(log_ratios: &[f64], taken_s: u64, expect: Option<DecisionReason>) {
        let sample = |value: &dyn Fn(f64) -> f64| {
            let values = (1..).zip(log_ratios.iter().map(|log| value(*log)));
            Sample::of_sets(values.collect()).unwrap()
        };
        let (first, second) = (sample(&f64::exp), sample(&|_| 1.0));
        let family = |is_throughput| Family {
            benchmark: "get",
            metric: "requests per second".to_owned(),
            is_throughput,
            samples: vec![("a", &first), ("b", &second)],
        };
        let spent = Spent {
            sets: u32::try_from(log_ratios.len()).unwrap(),
            most: Some(20),
            taken: Duration::from_secs(taken_s),
            last: Duration::from_secs(10),
        };
        assert_eq!(because(&ASKED, &[family(true)], &spent), expect);
        // A family by another metric decides nothing.
        let by_cpu = because(&ASKED, &[family(false)], &spent);
        let over = expect.filter(|why| *why != DecisionReason::Decided);
        assert_eq!(by_cpu, over.map(|_| DecisionReason::NothingToCompare));
    }

    #[test]
    fn a_session_ends_when_every_pair_is_decided_or_nothing_is_left() {
        let faster = [0.10, 0.11, 0.10, 0.12, 0.10, 0.11];
        check(&faster[..3], 30, None);
        check(&faster, 60, Some(DecisionReason::Decided));
        let equal = [0.001, -0.001, 0.002, -0.002, 0.0, 0.001, -0.001, 0.001];
        check(&equal, 80, Some(DecisionReason::Decided));
        let noisy = [0.2, -0.1, 0.15, -0.2, 0.1, -0.15];
        check(&noisy, 60, None);
        check(&noisy, 110, None);
        check(&noisy, 111, Some(DecisionReason::Within));
        let most: Vec<f64> = noisy.iter().copied().cycle().take(20).collect();
        check(&most, 60, Some(DecisionReason::AtMost));
    }
}
