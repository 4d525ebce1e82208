//! The winner of a qualification round, by its stated rule, with the reasons: a decision that must
//! be made even if the runs are inconclusive, so it is given with everything that speaks against
//! it.

use bakeoff_model::plan::ChosenCase;
use bakeoff_model::record::{Qualification, Results};
use bakeoff_model::suite::{Winner, WinnerRule};
use bakeoff_model::validity::Validity;
use bakeoff_stats::{Better, Comparison, Criteria, Sample, compare};

use crate::benchmarks::load::LoadAnalysis;
use crate::data::benchmark::CaseData;
use crate::data::metric::{self, CONFIDENCE, Metric, Wanted};
use crate::data::number::{enumerated, range, ratio_text, significant};
use crate::data::row::Row;
use crate::data::stated_step::StatedStep;
use crate::tables::comparison;
use crate::tables::control::VOID;

/// A contender that could win.
struct Candidate {
    case: ChosenCase,
    label: String,
    sample: Sample,
    /// The metric that breaks a tie: CPU per request, or peak throughput if the rule is CPU.
    tie: Option<Sample>,
    validity: Validity,
}

/// Returns the outcome of these results' round; `None` if it picks no winner.
pub(crate) fn own(results: &Results, loads: &[LoadAnalysis<'_>]) -> Option<Qualification> {
    let (benchmark, winner) = results.decides.as_ref()?;
    let found = loads.iter().find(|load| load.data.name == *benchmark);
    let mut reasons = Vec::new();
    let candidates = found.map_or_else(Vec::new, |load| candidates(load, *winner, &mut reasons));
    let stated = found.and_then(|load| load.summary.stated.as_ref());
    let chosen = choose(&candidates, *winner, stated, &mut reasons);
    if loads.iter().any(|load| load.summary.control.is_void()) {
        reasons.push(format!("{VOID}, so this is a choice, not a finding."));
    }
    Some(Qualification {
        round: results.round.clone().unwrap_or_default(),
        rule: words(*winner, stated),
        benchmark: benchmark.clone(),
        winner: chosen,
        reasons,
        folder: String::new(),
    })
}

/// Returns the rule in words. If the suite does not name a step for CPU per request, it is the one
/// that the tables state.
fn words(winner: Winner, stated: Option<&StatedStep>) -> String {
    match (winner.rule, winner.at, stated) {
        (WinnerRule::CpuPerRequest, None, Some(stated)) => {
            format!("lowest CPU per request {}", stated.describe())
        }
        _ => winner.describe(),
    }
}

/// Returns all contenders with a valid number; adds a sentence about each of the others to
/// `reasons`.
fn candidates(
    load: &LoadAnalysis<'_>,
    winner: Winner,
    reasons: &mut Vec<String>,
) -> Vec<Candidate> {
    let summary = &load.summary;
    for unranked in &summary.unranked {
        let (label, reason) = (&unranked.label, &unranked.reason);
        reasons.push(format!("{label} could not win: {reason}."));
    }
    let rule = words(winner, summary.stated.as_ref());
    let mut candidates = Vec::new();
    for row in summary.tables.iter().flat_map(|table| &table.rows) {
        let mut cases = load.data.cases.iter();
        let Some(case) = cases.find(|case| case.label == row.label) else {
            continue;
        };
        match candidate(case, row, winner) {
            Some(candidate) => candidates.push(candidate),
            None => reasons.push(format!(
                "{} could not win: it has no number for the rule, {rule}.",
                row.label
            )),
        }
    }
    candidates
}

fn candidate(case: &CaseData<'_>, row: &Row, winner: Winner) -> Option<Candidate> {
    let metric: Metric = match (winner.rule, winner.at) {
        (WinnerRule::PeakThroughput, _) => row.peak.throughput.clone(),
        (WinnerRule::Throughput, at) => metric::read(case, Wanted::ThroughputAt(at?))?,
        (WinnerRule::CpuPerRequest, None) => row.stated.cpu_us.clone()?,
        (WinnerRule::CpuPerRequest, Some(at)) => metric::read(case, Wanted::CpuAt(at))?,
        (WinnerRule::P99, at) => metric::read(case, Wanted::P99(at))?,
    };
    let tie = match winner.rule {
        WinnerRule::CpuPerRequest => Some(row.peak.throughput.sample.clone()),
        _ => row.stated.cpu_us.as_ref().map(|cpu| cpu.sample.clone()),
    };
    let run = &case.runs.first()?.records.begin.run;
    Some(Candidate {
        case: ChosenCase {
            contender: run.contender.clone(),
            parameters: run.parameters.clone(),
        },
        label: case.label.clone(),
        sample: metric.sample,
        tie,
        validity: metric.validity,
    })
}

fn better(rule: WinnerRule) -> Better {
    match rule {
        WinnerRule::PeakThroughput | WinnerRule::Throughput => Better::Higher,
        WinnerRule::CpuPerRequest | WinnerRule::P99 => Better::Lower,
    }
}

fn unit(rule: WinnerRule) -> &'static str {
    match rule {
        WinnerRule::PeakThroughput | WinnerRule::Throughput => "requests/s",
        WinnerRule::CpuPerRequest => "µs of CPU per request",
        WinnerRule::P99 => "ms",
    }
}

/// Returns the winner, and puts the reason before the others in `reasons`.
fn choose(
    candidates: &[Candidate],
    winner: Winner,
    stated: Option<&StatedStep>,
    reasons: &mut Vec<String>,
) -> Option<ChosenCase> {
    let criteria = Criteria::new(better(winner.rule));
    let order = comparison::ranked(candidates.iter().map(|one| &one.sample), &criteria);
    let tied: Vec<&Candidate> = order
        .iter()
        .filter(|ranked| ranked.rank == Some(1))
        .map(|ranked| &candidates[ranked.index])
        .collect();
    let Some(best) = tied.first() else {
        reasons.insert(
            0,
            "No contender has a number for the rule, so there is no winner.".to_owned(),
        );
        return None;
    };
    let mut why = Vec::new();
    let chosen = if tied.len() == 1 {
        best
    } else {
        break_tie(&tied, winner, stated, &mut why)
    };
    why.insert(
        0,
        format!(
            "{} wins with {}.",
            chosen.label,
            quoted(&chosen.sample, winner.rule)
        ),
    );
    // The comparison with the next one shows by how much the winner is better.
    let next = order
        .iter()
        .map(|ranked| &candidates[ranked.index])
        .find(|one| tied.len() == 1 && one.label != chosen.label);
    if let Some(next) = next {
        why.push(ahead(chosen, next, &criteria, winner.rule));
    }
    if candidates.len() == 1 {
        why.push("No other contender could be compared with it.".to_owned());
    }
    why.extend(caveats(candidates));
    reasons.splice(0..0, why);
    Some(chosen.case.clone())
}

/// Breaks a tie between those that the rule does not distinguish: the better one by the other
/// metric.
fn break_tie<'c>(
    tied: &[&'c Candidate],
    winner: Winner,
    stated: Option<&StatedStep>,
    why: &mut Vec<String>,
) -> &'c Candidate {
    let at = stated.map_or_else(String::new, StatedStep::describe);
    let (second_rule, second_better, what) = match winner.rule {
        WinnerRule::CpuPerRequest => (
            WinnerRule::PeakThroughput,
            Better::Higher,
            "the higher peak throughput".to_owned(),
        ),
        _ => (
            WinnerRule::CpuPerRequest,
            Better::Lower,
            format!("the lower CPU per request {at}"),
        ),
    };
    let names: Vec<&str> = tied.iter().map(|one| one.label.as_str()).collect();
    let single = tied.iter().any(|one| one.sample.runs() < 2);
    let because = if single {
        "a single run has no interval"
    } else {
        "these runs do not distinguish them"
    };
    why.push(format!(
        "By the rule alone {} are tied: {because}.",
        names.join(", ")
    ));
    let broken: Option<Vec<(&'c Candidate, &Sample)>> = tied
        .iter()
        .map(|one| Some((*one, one.tie.as_ref()?)))
        .collect();
    let Some(broken) = broken else {
        why.push(format!(
            "The tie is broken by the mean, since not all of them have {what}."
        ));
        return tied[0];
    };
    let worse = |one: &Sample, other: &Sample| match second_better {
        Better::Higher => other.mean().total_cmp(&one.mean()),
        Better::Lower => one.mean().total_cmp(&other.mean()),
    };
    let best = broken.iter().min_by(|a, b| worse(a.1, b.1));
    let list: Vec<String> = broken
        .iter()
        .map(|(one, sample)| format!("{} {}", one.label, quoted(sample, second_rule)))
        .collect();
    why.push(format!("The tie goes to {what}: {}.", list.join("; ")));
    best.map_or(tied[0], |(one, _)| *one)
}

/// Quotes a sample: `3539 requests/s (95 %: 3500–3570, 4 runs)`.
fn quoted(sample: &Sample, rule: WinnerRule) -> String {
    let estimate = sample.estimate(CONFIDENCE);
    let runs = estimate.runs;
    let interval = match range(&estimate) {
        range if range.is_empty() => "one run, no interval".to_owned(),
        range => format!("95 %: {range}, {runs} runs"),
    };
    format!(
        "{} {} ({interval})",
        significant(estimate.point),
        unit(rule)
    )
}

fn ahead(chosen: &Candidate, next: &Candidate, criteria: &Criteria, rule: WinnerRule) -> String {
    let comparison: Comparison = compare(&chosen.sample, &next.sample, criteria);
    format!(
        "That is {} times the {} of the next one, {} {}.",
        ratio_text(comparison.ratio.point),
        unit(rule),
        next.label,
        comparison::detail(&comparison, "run")
    )
}

/// Returns the caveats of the winner.
fn caveats(candidates: &[Candidate]) -> Vec<String> {
    let unfair = candidates.iter().filter(|one| !one.validity.is_fair());
    let list: Vec<String> = unfair
        .map(|one| format!("{} is {}", one.label, one.validity.name()))
        .collect();
    if list.is_empty() {
        return Vec::new();
    }
    vec![format!(
        "Not every number is fair, so the order holds for this host only: {}.",
        enumerated(&list)
    )]
}
