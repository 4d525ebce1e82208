//! Claims of others, tested with the results: the metric with its interval and a verdict, or why
//! this session cannot test it. Comparisons are made inside one session only.

mod cases;
mod conditions;
mod metric;
mod two_loads;
mod verdict;

use std::collections::BTreeSet;

use bakeoff_model::record::Results;
use bakeoff_model::suite::Limits;
use bakeoff_model::suite::published::{
    Bounds, Claim, ClaimTest, Expected, LimitKind, Published, Source,
};

use crate::data::number::{counted, significant};
use crate::tables::control::VOID;
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
    /// The values in each results folder that counts, the report's own first; none if the claim is
    /// not testable.
    pub found: Vec<Found>,
    /// The verdict: that of all folders, or undecided if they disagree.
    pub verdict: ClaimVerdict,
    /// Why the verdict is not better, or what to bear in mind; may be empty.
    pub why: String,
    /// Whether the suite asks it of something that stands in for what the source had.
    pub is_ours: bool,
}

/// The value of a claim in one results folder.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The measured value; empty if there is none.
    pub measured: String,
    /// The results folder, relative to this one; empty for this one.
    pub folder: String,
}

impl ClaimRow {
    /// Returns the verdict as people write it, with whose question it answers.
    #[must_use]
    pub fn verdict_text(&self) -> String {
        let ours = if self.is_ours { "ours: " } else { "" };
        format!("{ours}{}", self.verdict.name())
    }
}

/// Counts the verdicts on the sources' claims, and apart from them those on what stands in for what
/// the sources had: a sentence each, none without any.
pub fn counts(all: &[ClaimRow]) -> Vec<String> {
    let of = |ours: bool, name: &str| {
        let rows: Vec<&ClaimRow> = all.iter().filter(|row| row.is_ours == ours).collect();
        let verdicts = ClaimVerdict::ALL.into_iter().map(|verdict| {
            let count = rows.iter().filter(|row| row.verdict == verdict).count();
            format!("{count} {}", verdict.name())
        });
        let verdicts: Vec<String> = verdicts.collect();
        (!rows.is_empty()).then(|| format!("{name}{}.", verdicts.join(", ")))
    };
    let ours = of(true, "Ours, with what stands in for theirs: ");
    of(false, "").into_iter().chain(ours).collect()
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
pub fn none_testable(claims: &[ClaimRow]) -> String {
    match claims.iter().filter(|row| !row.is_ours).count() {
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

/// Judges the claim in the most informative sessions: those that measured most of its contenders.
/// Sessions of the claim's own round take precedence, if there are any.
fn row(sessions: &[ClaimSession<'_, '_>], claim: &Claim, source: Option<&Source>) -> ClaimRow {
    let is_its_round =
        |one: &&ClaimSession<'_, '_>| claim.round.is_some() && one.round == claim.round.as_deref();
    let mut of_round: Vec<&ClaimSession<'_, '_>> = sessions.iter().filter(is_its_round).collect();
    let elsewhere = of_round.is_empty();
    if elsewhere {
        of_round.extend(sessions);
    }
    let tested = |session: &&ClaimSession<'_, '_>| tested(session, claim, source);
    let mut results: Vec<(&str, ClaimResult)> = match &claim.replaced_by {
        Some(ours) => {
            let why = format!("what was measured is not what the source had, but {ours}");
            vec![("", ClaimResult::not_testable(why))]
        }
        None => {
            let results = of_round.iter().map(|one| (one.folder, tested(one)));
            results.collect()
        }
    };
    let most = results.iter().map(|(_, one)| one.weight()).max();
    results.retain(|(_, one)| Some(one.weight()) == most);
    let (verdict, mut why) = agreed(&results);
    if let (Some(round), true) = (&claim.round, elsewhere)
        && verdict != ClaimVerdict::NotTestable
    {
        let elsewhere = format!("not measured in its round {round}, so under other conditions");
        why = joined(elsewhere, why);
    }
    if let Some(absent) = &claim.absent {
        why = joined(why, absent.clone());
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
        found: match verdict {
            ClaimVerdict::NotTestable => Vec::new(),
            _ => results
                .into_iter()
                .map(|(folder, one)| Found {
                    measured: one.measured,
                    folder: folder.to_owned(),
                })
                .collect(),
        },
        verdict,
        why,
        is_ours: claim.stand_in.is_some(),
    }
}

/// Returns the verdict of several sessions if they agree, and why it is not better. They met the
/// host at other hours, which is in no interval of theirs: if they disagree, none of them decides.
fn agreed(results: &[(&str, ClaimResult)]) -> (ClaimVerdict, String) {
    let Some((_, first)) = results.first() else {
        return (ClaimVerdict::NotTestable, "there are no results".to_owned());
    };
    if results.iter().all(|(_, one)| one.verdict == first.verdict) {
        return (first.verdict, first.why.clone());
    }
    let each = results.iter().map(|(folder, one)| {
        let folder = if folder.is_empty() {
            "these results"
        } else {
            folder
        };
        format!("{} by {folder}", one.verdict.name())
    });
    let why = format!("they disagree: {}", each.collect::<Vec<_>>().join(", "));
    (ClaimVerdict::Undecided, why)
}

/// Returns the expected value, in numbers.
fn expected(claim: &Claim) -> String {
    let words = claim.metric.describe(claim.at);
    let holds = match &claim.test {
        ClaimTest::Ratio {
            first,
            second,
            than,
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
            let of = |first: &str, second: &str| format!("{first} : {second}{second_words}");
            let ratios = match than {
                None => of(first, second),
                Some([one, other]) => format!("({}) : ({})", of(first, second), of(one, other)),
            };
            format!("{ratios} {size} in {words}")
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
        if needed.contains(&LimitKind::Host) {
            return ClaimResult::not_testable("it holds on the hardware of the source only");
        }
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
            than,
            expected,
        } => {
            let others = claim.second_benchmark.as_deref().map(of_benchmark);
            let both = (&cases, others.as_ref().unwrap_or(&cases));
            let than = than.as_ref().map(|[one, other]| (&**one, &**other));
            conditions::ratio(both, claim, (first, second), than, *expected)
        }
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
        Some(summary) if summary.control.is_void() => found.void(VOID),
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
