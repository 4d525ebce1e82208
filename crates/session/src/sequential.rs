//! Sessions that end as soon as every pair of contenders is decided: after every set of fresh
//! processes all sets are tested, by a test that holds however often it is repeated
//! ([`bakeoff_stats::Sequential`]). When the time is spent, or there may be no more sets, one last
//! test has the rest of the error.
//!
//! With a baseline the report's own judgement of its conditions decides, by the metrics of the
//! conditions; without conditions the throughput of each head and its base.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use bakeoff_analysis::{Analysis, AnalysisInput, Family};
use bakeoff_model::plan::Plan;
use bakeoff_model::plan::baseline::Baseline;
use bakeoff_model::plan::twins::all_have_twins;
use bakeoff_model::record::{Outcome, Results};
use bakeoff_model::suite::run_count::{DecisionReason, PILOT_RUNS, RunsDecision, RunsUntil};
use bakeoff_model::text::duration_ns;
use bakeoff_stats::{
    Better, Budget, Criteria, Decision, Sample, Sequential, SetPairs, compare, log_ratios,
};
use bakeoff_store::event::{ComparedPair, Event, Observer};
use bakeoff_store::session_file::SessionFile;

use crate::contracts::PendingRun;
use crate::driver::{Driver, RunRange};
use crate::run_count::{Standing, decided, taken};

/// Plays sets until it is decided that there are enough. Returns how many runs were made.
pub(crate) async fn play(
    driver: &Driver<'_>,
    session: &mut SessionFile,
    pending: &[PendingRun],
    decide: &dyn Fn(&Plan) -> anyhow::Result<Standing>,
    observer: &mut dyn Observer,
) -> anyhow::Result<usize> {
    let mut left = pending;
    while let Some(first) = left.first() {
        let same = |one: &&PendingRun| one.run.repetition == first.run.repetition;
        let (set, rest) = left.split_at(left.iter().take_while(same).count());
        let part = RunRange {
            before: pending.len() - left.len(),
            runs: pending.len(),
        };
        driver.play_part(set, &part, observer).await?;
        left = rest;
        match decide(&session.plan)? {
            Standing::Decided(decision) => {
                observer.observe(&decided(&decision, &[]))?;
                session.decide(&decision);
                break;
            }
            Standing::Open(Some(event)) => observer.observe(&event)?,
            Standing::Open(None) => {}
        }
    }
    Ok(pending.len() - left.len())
}

/// Decides from the records so far.
pub(crate) fn decide(plan: &Plan, asked: RunsUntil, mut results: Results) -> Standing {
    let repetitions = results.runs.iter().map(|run| run.begin.run.repetition);
    let Some(sets) = repetitions.max() else {
        return Standing::Open(None);
    };
    let spent = Spent {
        sets,
        most: plan.runs.iter().map(|run| run.repetition).max(),
        taken: taken(&results.runs, |_| true),
        last: taken(&results.runs, |run| run.repetition == sets),
    };
    let decision = |because| RunsDecision {
        asked,
        pilot: sets,
        runs: sets,
        because,
        families: Vec::new(),
    };
    if let Some(baseline) = &results.baseline {
        let sets_min = sets_min(&results);
        let over = over(&asked, &spent, sets_min);
        if over.is_some() || (sets as usize) < sets_min {
            return standing(over.map(decision), None);
        }
        // The report must come to the same, from sets that were looked at.
        let decision = decision(of_baseline(baseline));
        results.runs_decision = Some(decision.clone());
        return standing(is_decided(&results).then_some(decision), None);
    }
    let analysis = Analysis::of(&AnalysisInput::new(&results, ""));
    let sets_min = sets_min(&results).min(PILOT_RUNS as usize);
    let families = analysis.families();
    if nothing_is_left(&results) {
        return Standing::Decided(decision(DecisionReason::NothingToCompare));
    }
    match because(&asked, &families, (&spent, sets_min)) {
        Some(because) => Standing::Decided(decision(because)),
        None => Standing::Open(compared(&asked, &families, &spent)),
    }
}

/// Whether no benchmark has two contenders left to compare, because the others failed in two of its
/// sets: a third one would tell nothing new.
fn nothing_is_left(results: &Results) -> bool {
    let mut benchmarks: BTreeMap<&str, BTreeMap<String, BTreeSet<u32>>> = BTreeMap::new();
    for run in results
        .runs
        .iter()
        .filter(|run| run.begin.run.kind.is_load())
    {
        let planned = &run.begin.run;
        let cases = benchmarks.entry(&planned.benchmark).or_default();
        let failed = cases.entry(planned.case_label()).or_default();
        let outcome = run.end.as_ref().map(|end| &end.outcome);
        if matches!(outcome, Some(Outcome::Failed(_))) {
            failed.insert(planned.repetition);
        }
    }
    let mut cases = benchmarks.values();
    let is_over = |cases: &BTreeMap<String, BTreeSet<u32>>| {
        let left = cases.values().filter(|failed| failed.len() < 2);
        cases.len() > 1 && left.count() < 2
    };
    !benchmarks.is_empty() && cases.all(is_over)
}

fn standing(decision: Option<RunsDecision>, event: Option<Event>) -> Standing {
    decision.map_or(Standing::Open(event), Standing::Decided)
}

/// The contenders by throughput, and the time that is left.
fn compared(asked: &RunsUntil, families: &[Family<'_>], spent: &Spent) -> Option<Event> {
    let rule = Sequential::default();
    let by_throughput = || families.iter().filter(|family| family.is_throughput);
    let of_family = |family: &Family<'_>| -> Vec<ComparedPair> {
        let Some(((first, best), others)) = family.samples.split_first() else {
            return Vec::new();
        };
        let best = (*best).clone().looked_at(Budget::Left);
        let pair = |(second, other): &(&str, &Sample)| {
            let other = (*other).clone().looked_at(Budget::Left);
            let found = compare(&best, &other, &Criteria::new(Better::Higher)).ratio;
            found.point.is_finite().then(|| ComparedPair {
                first: (*first).to_owned(),
                second: (*second).to_owned(),
                ratio: found.point,
                interval: found.interval.map(|ends| [ends.low, ends.high]),
            })
        };
        others.iter().filter_map(pair).collect()
    };
    let found: Vec<ComparedPair> = by_throughput().flat_map(of_family).collect();
    let each = spent.taken / spent.sets.max(1);
    let within = asked.within.unwrap_or(Duration::MAX);
    let time_left = within.saturating_sub(spent.taken);
    let pairs = by_throughput().flat_map(|family| pairs(&family.samples));
    let most = spent.most.unwrap_or(spent.sets) as usize;
    // One pair whose end is not known leaves the end of all unknown.
    let until = pairs.map(|pair| rule.sets_until_decided(&pair, most));
    let until: Option<Vec<usize>> = until.collect();
    let last = until.and_then(|all| all.into_iter().max());
    let more = last.map(|last| u32::try_from(last).unwrap_or(u32::MAX) - spent.sets);
    let needed = more.map(|more| each.saturating_mul(more));
    let in_time = needed.is_some_and(|needed| needed <= time_left);
    (!found.is_empty()).then(|| Event::SetsCompared {
        sets: spent.sets,
        pairs: found,
        left_ns: duration_ns::whole(needed.map_or(time_left, |needed| needed.min(time_left))),
        in_time,
    })
}

/// Fewer sets decide nothing.
fn sets_min(results: &Results) -> usize {
    let rule = Sequential::default();
    match all_have_twins(results.runs.iter().map(|run| &run.begin.run)) {
        true => rule.early_sets_min_of_twins,
        false => rule.early_sets_min,
    }
}

/// Returns the reason why a session with a baseline ends before its time is over.
fn of_baseline(baseline: &Baseline) -> DecisionReason {
    match baseline.fail_if.is_empty() {
        true => DecisionReason::Decided,
        false => DecisionReason::ConditionsDecided,
    }
}

/// Whether the report of these results has an outcome for everything that is asked of head and
/// base: what fails the session decides when it ends.
fn is_decided(results: &Results) -> bool {
    let against = Analysis::of(&AnalysisInput::new(results, "")).against_base;
    against.is_some_and(|against| against.is_decided())
}

/// The sets and the time that a session has spent.
struct Spent {
    sets: u32,
    /// The most sets that there may be.
    most: Option<u32>,
    /// Time of all sets.
    taken: Duration,
    /// Time of the last one.
    last: Duration,
}

/// Why there may be no more sets: the time is over, after this number of sets at least, or the
/// maximum is reached.
fn over(asked: &RunsUntil, spent: &Spent, sets_min: usize) -> Option<DecisionReason> {
    let is_enough = spent.sets as usize >= sets_min;
    match asked.within {
        Some(within) if is_enough && spent.taken + spent.last > within => {
            Some(DecisionReason::Within)
        }
        _ if Some(spent.sets) >= spent.most => Some(DecisionReason::AtMost),
        _ => None,
    }
}

fn because(
    asked: &RunsUntil,
    families: &[Family<'_>],
    (spent, sets_min): (&Spent, usize),
) -> Option<DecisionReason> {
    let over = over(asked, spent, sets_min);
    let budget = match over {
        Some(_) => Budget::Spent,
        None => Budget::Left,
    };
    let is_open = |family: &&Family<'_>| {
        let pairs = pairs(&family.samples);
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
fn pairs(samples: &[(&str, &Sample)]) -> Vec<SetPairs> {
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

    use bakeoff_analysis::Family;
    use bakeoff_model::suite::run_count::{DIFFERENCE_MIN, DecisionReason, RunsUntil};
    use bakeoff_stats::Sample;

    use super::{Spent, because};

    const ASKED: RunsUntil = RunsUntil {
        difference: DIFFERENCE_MIN,
        sequential: true,
        at_most: 20,
        within: Some(Duration::from_secs(120)),
    };

    /// Checks the decision on two contenders with these log ratios, after this time.
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
        assert_eq!(because(&ASKED, &[family(true)], (&spent, 3)), expect);
        // A family by another metric decides nothing.
        let by_cpu = because(&ASKED, &[family(false)], (&spent, 3));
        let over = expect.filter(|why| *why != DecisionReason::Decided);
        assert_eq!(by_cpu, over.map(|_| DecisionReason::NothingToCompare));
    }

    #[test]
    fn a_session_ends_when_every_pair_is_decided_or_nothing_is_left() {
        let faster = [0.10, 0.11, 0.10, 0.12, 0.10, 0.11];
        check(&faster[..3], 30, None);
        // Two sets have no interval to speak of.
        check(&faster[..2], 500, None);
        check(&faster[..3], 500, Some(DecisionReason::Within));
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
