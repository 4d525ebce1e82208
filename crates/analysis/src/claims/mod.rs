//! Claims of others, tested with the results: the metric with its interval and a verdict, or why
//! this session cannot test it. Comparisons are made inside one session only.

mod cases;
mod conditions;
mod metric;
mod verdict;

use std::collections::BTreeSet;

use bakeoff_model::record::Results;
use bakeoff_model::suite::Limits;
use bakeoff_model::suite::published::{Bounds, Claim, ClaimTest, Expected, Published, Source};

use crate::data::number::{counted, significant};
use cases::cases;
use conditions::joined;
use verdict::ClaimResult;

pub use cases::ClaimSession;
pub use verdict::ClaimVerdict;

/// A claim and the verdict on it.
#[derive(Debug, Clone, PartialEq)]
pub struct ClaimRow {
    /// The claim.
    pub text: String,
    /// The sentence of the source; empty if its value is enough.
    pub quote: String,
    /// Author and date of the source.
    pub source: String,
    /// The data that the claim was derived from; empty if the source states it itself.
    pub derived: String,
    /// The expected value, in numbers.
    pub expected: String,
    /// The measured value; empty if there is none.
    pub measured: String,
    /// The verdict.
    pub verdict: ClaimVerdict,
    /// Why the verdict is not better, or what to bear in mind; may be empty.
    pub why: String,
    /// The results folder of the round that the verdict is based on, relative to this one; empty
    /// for this one.
    pub folder: String,
}

/// Returns all claims in the order of their file; none if nothing was published.
pub fn claims(published: Option<&Published>, sessions: &[ClaimSession<'_, '_>]) -> Vec<ClaimRow> {
    let Some(published) = published else {
        return Vec::new();
    };
    let row = |claim: &Claim| {
        let mut sources = published.sources.iter();
        let source = sources.find(|one| one.name == claim.source);
        row(sessions, claim, source)
    };
    published.claims.iter().map(row).collect()
}

/// Claims that the results can judge, and the others grouped by source.
pub struct JudgedClaims<'r> {
    /// The claims.
    pub rows: Vec<&'r ClaimRow>,
    /// Author and date of a source with its claims, in order of first appearance.
    pub untestable: Vec<(&'r str, Vec<&'r ClaimRow>)>,
}

impl<'r> JudgedClaims<'r> {
    /// Chooses the claims that are judged.
    pub fn of(all: &'r [ClaimRow]) -> Self {
        let untestable = |row: &&ClaimRow| row.verdict == ClaimVerdict::NotTestable;
        let mut groups: Vec<(&str, Vec<&ClaimRow>)> = Vec::new();
        for row in all.iter().filter(untestable) {
            match groups.iter_mut().find(|(source, _)| *source == row.source) {
                Some((_, rows)) => rows.push(row),
                None => groups.push((&row.source, vec![row])),
            }
        }
        Self {
            rows: all.iter().filter(|row| !untestable(row)).collect(),
            untestable: groups,
        }
    }
}

/// Says that no claim can be tested: `None of the 46 claims of others can be tested with these
/// results.`
pub fn none_testable(claims: usize) -> String {
    match claims {
        1 => "The claim of others cannot be tested with these results.".to_owned(),
        all => format!("None of the {all} claims of others can be tested with these results."),
    }
}

/// Says which claims cannot be tested: `12 claims of A. Author, 2020 cannot be tested with these
/// results`.
pub fn untestable(source: &str, rows: &[&ClaimRow]) -> String {
    let claims = counted(rows.len(), "claim");
    format!("{claims} of {source} cannot be tested with these results")
}

/// Names the sources whose limits differ from those of this session; empty if none do.
pub fn limits_note(results: &Results) -> String {
    let sources = results.published.iter().flat_map(|one| &one.sources);
    let here = results.runs.first().map(|run| run.begin.run.limits);
    let Some(here) = here else {
        return String::new();
    };
    let others: BTreeSet<String> = sources
        .filter(|source| source.limits != here)
        .map(|source| limits_text(&source.limits))
        .collect();
    if others.is_empty() {
        return String::new();
    }
    format!(
        "Limits were {} here and {} there. Ratios and orders are judged all the same; claims that \
         depend on the limits themselves are not.",
        limits_text(&here),
        others.into_iter().collect::<Vec<_>>().join(", ")
    )
}

/// Judges the claim in the most informative session; ties go to the first one. Sessions of the
/// claim's own round take precedence, if there are any.
fn row(sessions: &[ClaimSession<'_, '_>], claim: &Claim, source: Option<&Source>) -> ClaimRow {
    let is_its_round =
        |one: &&ClaimSession<'_, '_>| claim.round.is_some() && one.round == claim.round.as_deref();
    let mut of_round: Vec<&ClaimSession<'_, '_>> = sessions.iter().filter(is_its_round).collect();
    let elsewhere = of_round.is_empty();
    if elsewhere {
        of_round.extend(sessions);
    }
    let mut best = ("", ClaimResult::not_testable("there are no results"));
    for (index, session) in of_round.into_iter().enumerate() {
        let found = tested(session, claim, source);
        if index == 0 || found.weight() > best.1.weight() {
            best = (session.folder, found);
        }
    }
    let (folder, mut found) = best;
    if let (Some(round), true) = (&claim.round, elsewhere)
        && found.verdict != ClaimVerdict::NotTestable
    {
        let elsewhere = format!("not measured in its round {round}, so under other conditions");
        found.why = joined(elsewhere, found.why);
    }
    if let Some(absent) = &claim.absent {
        found.why = joined(found.why, absent.clone());
    }
    let source = source.map_or_else(String::new, |one| format!("{}, {}", one.author, one.date));
    let (text, source) = match &claim.stand_in {
        None => (claim.text.clone(), source),
        Some(ours) => (
            format!("Ours, with {ours}: {}", claim.text),
            format!("this suite, after {source}"),
        ),
    };
    ClaimRow {
        text,
        quote: claim.quote.clone().unwrap_or_default(),
        source,
        derived: claim.derived.clone().unwrap_or_default(),
        expected: expected(claim),
        measured: found.measured,
        verdict: found.verdict,
        why: found.why,
        folder: folder.to_owned(),
    }
}

/// Returns the expected value, in numbers.
fn expected(claim: &Claim) -> String {
    let words = claim.metric.describe(claim.at);
    let holds = match &claim.test {
        ClaimTest::Ratio {
            first,
            second,
            expected,
        } => {
            let second_at = claim
                .second_at
                .map_or_else(String::new, |at| format!(" at {at}"));
            let second_words = match &claim.second_benchmark {
                Some(benchmark) => format!("{second_at} in {benchmark}"),
                None => second_at,
            };
            let size = expected_text(*expected);
            format!("{first} : {second}{second_words} {size} in {words}")
        }
        ClaimTest::Value {
            contender,
            expected,
        } => {
            format!("{contender} {} {words}", expected_text(*expected))
        }
        ClaimTest::Best { best, among } => {
            format!("{best} first of {} in {words}", among.join(", "))
        }
        ClaimTest::Order { order } => format!("{} in {words}", order.join(" before ")),
        ClaimTest::Happens {
            contenders,
            happens,
        } => {
            let not = if *happens { "" } else { "no " };
            format!("{}: {not}{words}", contenders.join(", "))
        }
    };
    let nth = match claim.nth_step {
        1 => String::new(),
        nth => format!(", step {nth} of these"),
    };
    let round = claim.round.iter().map(|round| format!("; round {round}"));
    format!("{holds}{nth}{}", round.collect::<String>())
}

fn expected_text(expected: Expected) -> String {
    match expected {
        Expected::Within(bounds) => bounded(bounds),
        Expected::About(size) => format!("about {}", significant(size)),
        Expected::Equal => "equivalent".to_owned(),
    }
}

fn bounded(bounds: Bounds) -> String {
    match (bounds.min, bounds.max) {
        (Some(min), Some(max)) => format!("{}–{}", significant(min), significant(max)),
        (Some(min), None) => format!("≥ {}", significant(min)),
        (None, Some(max)) => format!("≤ {}", significant(max)),
        (None, None) => String::new(),
    }
}

fn tested(session: &ClaimSession<'_, '_>, claim: &Claim, source: Option<&Source>) -> ClaimResult {
    let of_benchmark = |name: &str| cases(session, claim, name);
    let cases = of_benchmark(&claim.benchmark);
    let Some(first) = cases.first() else {
        return ClaimResult::not_testable(format!("the benchmark {} was not run", claim.benchmark));
    };
    let limits = first.1.runs.first().map(|run| run.records.begin.run.limits);
    let needed = &claim.same_limits;
    if let (Some(limits), Some(source)) = (limits, source)
        && !needed.iter().all(|kind| kind.same(&limits, &source.limits))
    {
        return ClaimResult::not_testable(format!(
            "limits differ: {} here, {} there",
            limits_text(&limits),
            limits_text(&source.limits)
        ));
    }
    let found = match &claim.test {
        ClaimTest::Ratio {
            first,
            second,
            expected,
        } => match &claim.second_benchmark {
            Some(benchmark) => {
                let others = of_benchmark(benchmark);
                conditions::ratio((&cases, &others), claim, (first, second), *expected)
            }
            None => conditions::ratio((&cases, &cases), claim, (first, second), *expected),
        },
        ClaimTest::Value {
            contender,
            expected,
        } => conditions::value(&cases, claim, contender, *expected),
        ClaimTest::Best { best, among } => conditions::best_of(&cases, claim, best, among),
        ClaimTest::Order { order } => conditions::in_order(&cases, claim, order),
        ClaimTest::Happens {
            contenders,
            happens,
        } => return conditions::happens(&cases, claim, contenders, *happens),
    };
    match first.0 {
        Some(summary) if summary.control.is_void() => found.void(),
        _ => found,
    }
}

/// Returns CPU and memory as text.
pub fn limits_text(limits: &Limits) -> String {
    let cpus = limits
        .cpus
        .map_or("any CPU".to_owned(), |cpus| format!("{cpus} CPU"));
    let memory = limits
        .memory_bytes
        .map_or("any memory".to_owned(), |bytes| {
            format!("{} MiB", bytes >> 20)
        });
    format!("{cpus} and {memory}")
}
