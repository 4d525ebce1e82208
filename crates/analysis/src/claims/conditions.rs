//! The conditions of a claim, one function for each form.

use bakeoff_model::record::Outcome;
use bakeoff_model::suite::published::{Claim, Expected, Metric};
use bakeoff_model::text::names;
use bakeoff_stats::{Comparison, Estimate, Interval, Verdict, compare};

use super::cases::Cases;
use super::metric::{
    ClaimedMetric, Measured, criteria, described, measured, named, named_or_bound, unfair,
};
use super::two_loads;
use super::verdict::{ClaimResult, ClaimVerdict, of_interval};
use crate::data::benchmark::RunData;
use crate::data::number::{counted, range, ratio_text, significant};
use crate::tables::comparison;

/// Judges the ratio of the cases `upper : lower`, divided by the same ratio of the contenders in
/// `than` if there are any.
pub(super) fn ratio(
    cases: (&Cases<'_, '_>, &Cases<'_, '_>),
    claim: &Claim,
    halves: (&str, &str),
    than: Option<(&str, &str)>,
    expected: Expected,
) -> ClaimResult {
    let (upper, lower) = (ClaimedMetric::of(claim), ClaimedMetric::of_second(claim));
    let pair = |(first, second): (&str, &str)| {
        let first = named_or_bound(cases.0, upper, first)?;
        Ok((first, named_or_bound(cases.1, lower, second)?))
    };
    let pairs = pair(halves).and_then(|first| Ok((first, than.map(pair).transpose()?)));
    let ((a, b), than_pair) = match pairs {
        Ok(pairs) => pairs,
        Err(found) => return found,
    };
    let all: Vec<&Measured> = [&a, &b]
        .into_iter()
        .chain(than_pair.iter().flat_map(|(c, d)| [c, d]))
        .collect();
    // One lower bound leaves one side of the ratio open, enough for bounds; more leave both.
    let bounds: Vec<&&Measured> = all.iter().filter(|one| one.lower_bound).collect();
    let enough = matches!(expected, Expected::Within(_)) && than_pair.is_none();
    if let Some(bound) = bounds.first()
        && !(enough && bounds.len() == 1)
    {
        return ClaimResult {
            cases: all.len(),
            ..ClaimResult::not_testable(bound.is_a_bound())
        };
    }
    let Some(comparison) = compared((&a, &b), than_pair.as_ref(), claim) else {
        return ClaimResult {
            cases: all.len(),
            ..ClaimResult::not_testable("no run has a ratio of both")
        };
    };
    let ratio = comparison.ratio;
    let names = match &than_pair {
        None => format!("{} : {}", a.label, b.label),
        Some((c, d)) => format!("({} : {}) : ({} : {})", a.label, b.label, c.label, d.label),
    };
    let (point, interval) = (ratio_text(ratio.point), interval_text(&ratio));
    let text = format!("{names} = {point} {interval}");
    let verdict = |interval: Interval| {
        let open = Interval {
            low: if b.lower_bound { 0.0 } else { interval.low },
            high: if a.lower_bound {
                f64::INFINITY
            } else {
                interval.high
            },
        };
        of_interval(open, expected, Some(1.0), comparison.verdict)
    };
    let found = judged(text, &ratio, verdict, &all);
    let void =
        |(first, second)| two_loads::why_void((cases.0, upper, first), (cases.1, lower, second));
    match void(halves).or_else(|| than.and_then(void)) {
        Some(why) => found.void(&why),
        None => found,
    }
}

/// Compares both halves of a ratio, or their ratio with that of another pair in each block; `None`
/// if no block has both ratios.
fn compared(
    (a, b): (&Measured, &Measured),
    than: Option<&(Measured, Measured)>,
    claim: &Claim,
) -> Option<Comparison> {
    let Some((c, d)) = than else {
        return Some(compare(a.sample(), b.sample(), &criteria(claim)));
    };
    let (first, second) = (a.sample().over(b.sample())?, c.sample().over(d.sample())?);
    Some(compare(&first, &second, &criteria(claim)))
}

pub(super) fn value(
    cases: &Cases<'_, '_>,
    claim: &Claim,
    contender: &str,
    expected: Expected,
) -> ClaimResult {
    let found = match named(cases, ClaimedMetric::of(claim), contender) {
        Ok(found) => found,
        Err(found) => return found,
    };
    let estimate = found.metric.estimate;
    let point = significant(estimate.point);
    let text = format!("{}: {point} {}", found.label, interval_text(&estimate));
    let none = claim.metric.no_effect();
    let verdict = |interval| of_interval(interval, expected, none, Verdict::Inconclusive);
    judged(text, &estimate, verdict, &[&found])
}

fn interval_text(estimate: &Estimate) -> String {
    match range(estimate) {
        range if range.is_empty() => "(one run, no interval)".to_owned(),
        range => format!("(95 %: {range}, {})", counted(estimate.runs, "run")),
    }
}

/// Why a direction is all that is shown.
const TOO_WIDE: &str = "the interval reaches more than 25 % from the claimed size";

/// Returns the verdict on an interval, if there is one.
fn judged(
    measured: String,
    estimate: &Estimate,
    verdict: impl Fn(Interval) -> ClaimVerdict,
    all: &[&Measured],
) -> ClaimResult {
    // A value that is zero in every run has no spread, and is known.
    let is_zero = estimate.runs > 1 && estimate.point == 0.0;
    let exact = is_zero.then_some(Interval {
        low: 0.0,
        high: 0.0,
    });
    let Some(interval) = estimate.interval.or(exact) else {
        return ClaimResult {
            measured,
            verdict: ClaimVerdict::NotTestable,
            why: "too few runs for an interval".to_owned(),
            cases: all.len(),
        };
    };
    let verdict = verdict(interval);
    let mut why = match verdict {
        ClaimVerdict::Direction => vec![TOO_WIDE.to_owned()],
        ClaimVerdict::Undecided => vec!["the interval allows both".to_owned()],
        _ => Vec::new(),
    };
    why.extend(unfair(all));
    ClaimResult {
        measured,
        verdict,
        why: why.join("; "),
        cases: all.len(),
    }
}

pub(super) fn best_of(
    cases: &Cases<'_, '_>,
    claim: &Claim,
    best: &str,
    among: &[String],
) -> ClaimResult {
    let taking_part = cases.iter().filter(|(_, case)| {
        let mut others = among.iter();
        case.label == best || others.any(|glob| names::matches(glob, &case.label))
    });
    let (mut all, mut without) = (Vec::new(), Vec::new());
    for (summary, case) in taking_part {
        match measured(*summary, case, ClaimedMetric::of(claim)) {
            Ok(figure) => all.push(figure),
            Err(why) => without.push((case.label.as_str(), why.to_string())),
        }
    }
    let missing = missing(&all, &without, among);
    let is_best = |label: &str| label == best;
    if !all.iter().any(|one| is_best(&one.label)) {
        return match named(cases, ClaimedMetric::of(claim), best) {
            Err(found) => found,
            Ok(_) => ClaimResult::not_testable(format!("{best} has no number")),
        };
    }
    if all.iter().all(|one| is_best(&one.label)) {
        return ClaimResult::not_testable(match missing.is_empty() {
            true => "none of the others was run".to_owned(),
            false => missing,
        });
    }
    let order = comparison::ranked(all.iter().map(Measured::sample), &criteria(claim));
    let first: Vec<&Measured> = order
        .iter()
        .filter(|ranked| ranked.rank == Some(1))
        .map(|ranked| &all[ranked.index])
        .collect();
    let list: Vec<String> = order
        .iter()
        .take(3)
        .map(|ranked| described(&all[ranked.index]))
        .collect();
    let text = format!("first: {}", list.join(", "));
    let (others, own): (Vec<&Measured>, Vec<&Measured>) =
        first.iter().copied().partition(|one| !is_best(&one.label));
    let few = all.iter().any(|one| one.sample().runs() < 2);
    let (verdict, why) = match (own.is_empty(), others.is_empty()) {
        _ if few => (
            ClaimVerdict::NotTestable,
            "too few runs for an interval".to_owned(),
        ),
        (true, _) => (ClaimVerdict::NotReproduced, missing),
        (false, true) if !missing.is_empty() => (ClaimVerdict::Undecided, missing),
        (false, true) => (ClaimVerdict::Reproduced, String::new()),
        (false, false) => (
            ClaimVerdict::Undecided,
            "these runs do not distinguish the first ones".to_owned(),
        ),
    };
    let caveat = unfair(&all.iter().collect::<Vec<_>>()).unwrap_or_default();
    ClaimResult {
        measured: text,
        verdict,
        why: joined(why, caveat),
        cases: all.len(),
    }
}

/// Returns the rivals without a number, and why; empty if all have one. `without` has those that
/// were run, with the reason.
fn missing(all: &[Measured], without: &[(&str, String)], among: &[String]) -> String {
    let has_number = |label: &str| all.iter().any(|one| one.label == label);
    let measured = all.iter().map(|one| one.label.as_str());
    let run = measured.chain(without.iter().map(|(label, _)| *label));
    let run: Vec<&str> = run.collect();
    let was_run = |glob: &str| run.iter().any(|label| names::matches(glob, label));
    let not_run = among.iter().filter(|glob| !was_run(glob));
    let not_run = not_run.map(|glob| format!("{glob} was not run"));
    let no_number = without.iter().filter(|(label, _)| !has_number(label));
    let no_number = no_number.map(|(_, why)| why.clone());
    not_run.chain(no_number).collect::<Vec<_>>().join("; ")
}

pub(super) fn joined(why: String, caveat: String) -> String {
    match (why.is_empty(), caveat.is_empty()) {
        (true, _) => caveat,
        (_, true) => why,
        _ => format!("{why}; {caveat}"),
    }
}

/// Judges an order: each must be significantly and relevantly better than the next. All comparisons
/// must hold together, so no correction for their number is needed. If some have no number, the
/// others can still contradict the order, but not show it.
pub(super) fn in_order(cases: &Cases<'_, '_>, claim: &Claim, order: &[String]) -> ClaimResult {
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for label in order {
        match named(cases, ClaimedMetric::of(claim), label) {
            Ok(figure) => found.push(figure),
            Err(none) => missing.push(none.why),
        }
    }
    let missing = missing.join("; ");
    if found.len() < 2 {
        return ClaimResult {
            cases: found.len(),
            ..ClaimResult::not_testable(missing)
        };
    }
    let list: Vec<String> = found.iter().map(described).collect();
    let verdicts: Vec<Verdict> = found
        .windows(2)
        .map(|pair| compare(pair[0].sample(), pair[1].sample(), &criteria(claim)).verdict)
        .collect();
    let against = |verdict: &Verdict| matches!(verdict, Verdict::Slower | Verdict::Equivalent);
    let few = found.iter().any(|one| one.sample().runs() < 2);
    let (verdict, why) = if few {
        let why = "too few runs for an interval";
        (ClaimVerdict::NotTestable, why.to_owned())
    } else if verdicts.iter().any(against) {
        (ClaimVerdict::NotReproduced, missing)
    } else if !missing.is_empty() {
        (ClaimVerdict::Undecided, missing)
    } else if verdicts.contains(&Verdict::Inconclusive) {
        let why = "these runs do not distinguish neighbours";
        (ClaimVerdict::Undecided, why.to_owned())
    } else {
        (ClaimVerdict::Reproduced, String::new())
    };
    let caveat = unfair(&found.iter().collect::<Vec<_>>()).unwrap_or_default();
    ClaimResult {
        measured: list.join(", "),
        verdict,
        why: joined(why, caveat),
        cases: found.len(),
    }
}

/// Judges whether the event happened, or did not, in every run of every contender that was named
/// and run.
pub(super) fn happens(
    cases: &Cases<'_, '_>,
    claim: &Claim,
    contenders: &[String],
    happens: bool,
) -> ClaimResult {
    let at = claim.at.unwrap_or(1);
    let mut seen: Vec<(String, bool)> = Vec::new();
    let mut missing = Vec::new();
    for glob in contenders {
        let (before, mut are_replaced) = (seen.len(), false);
        for (_, case) in cases
            .iter()
            .filter(|(_, case)| names::matches(glob, &case.label))
        {
            let event = |run: &RunData<'_>| {
                if claim.metric == Metric::KilledForMemory {
                    return killed(run, at);
                }
                let connections = connections(run, at, claim.nth_step)?;
                are_replaced |= connections == Connections::Replaced;
                match connections {
                    Connections::Served => Some(false),
                    Connections::Unserved => Some(true),
                    Connections::Replaced => None,
                }
            };
            let runs = case.runs.iter().filter_map(event);
            seen.extend(runs.map(|happened| (case.label.clone(), happened)));
        }
        if seen.len() == before {
            missing.push(match are_replaced {
                true => format!(
                    "{glob} closed connections at {at}, so which get no response is not known"
                ),
                false => format!("{glob} was not run with {at} connections"),
            });
        }
    }
    if seen.is_empty() {
        return ClaimResult::not_testable(missing.join("; "));
    }
    let yes = seen.iter().filter(|(_, happened)| *happened).count();
    let mut labels: Vec<String> = seen.iter().map(|(label, _)| label.clone()).collect();
    labels.dedup();
    let as_claimed = if happens { yes } else { seen.len() - yes };
    let verdict = match as_claimed {
        0 => ClaimVerdict::NotReproduced,
        _ if as_claimed < seen.len() || !missing.is_empty() => ClaimVerdict::Undecided,
        _ => ClaimVerdict::Reproduced,
    };
    ClaimResult {
        measured: format!("{}: in {yes} of {} runs", labels.join(", "), seen.len()),
        verdict,
        why: missing.join("; "),
        cases: labels.len(),
    }
}

/// Whether a run was killed for memory before it had served this number of connections; `None` if
/// it ended earlier for another reason.
fn killed(run: &RunData<'_>, at: u32) -> Option<bool> {
    let reached = run.steps.iter().any(|step| step.connections >= at);
    match &run.records.end.as_ref()?.outcome {
        Outcome::Failed(failure) if failure.oom_killed => Some(true),
        Outcome::Completed => reached.then_some(false),
        _ => None,
    }
}

/// How the connections of a step fared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Connections {
    Served,
    /// One of them got no response at all.
    Unserved,
    /// New ones took the places of some, as when a contender closes those that rest while others
    /// have their turns.
    Replaced,
}

fn connections(run: &RunData<'_>, at: u32, nth: u32) -> Option<Connections> {
    let mut steps = run.measured().filter(|step| step.connections == at);
    let step = steps.nth(nth.checked_sub(1)? as usize)?;
    let load = &step.slices.last()?.load;
    let each = load.requests_per_connection?;
    Some(if each.min == 0 || load.connections.missing() > 0 {
        Connections::Unserved
    } else if load.connections.reconnects > 0 {
        Connections::Replaced
    } else {
        Connections::Served
    })
}
