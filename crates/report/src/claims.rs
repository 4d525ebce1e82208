//! What others claim, held against what we measured: the figure with its interval and a verdict,
//! or why this session cannot say. Comparisons are made inside one session only.

mod figure;
mod hold;

use std::collections::BTreeSet;

use bakeoff_model::published::{Bounds, Claim, ClaimTest, Metric, Source};
use bakeoff_model::record::Results;
use bakeoff_model::suite::Limits;

use crate::ReportInput;
use crate::measure::{BenchmarkFigures, CaseFigures, benchmarks, startups};
use crate::number::figures;
use crate::summary::{BenchmarkSummary, of_benchmark};

/// What came of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimVerdict {
    /// The whole interval lies where the claim says.
    Reproduced,
    /// The whole interval lies elsewhere.
    NotReproduced,
    /// The interval lies on both sides of a bound: the runs do not tell.
    Undecided,
    /// This session cannot show it.
    NotTestable,
}

impl ClaimVerdict {
    /// The verdict as people write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::NotReproduced => "not reproduced",
            Self::Undecided => "undecided",
            Self::NotTestable => "not testable here",
        }
    }
}

/// A claim and what came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct ClaimRow {
    /// What is claimed.
    pub text: String,
    /// Author and date of the source.
    pub source: String,
    /// What has to hold, in figures.
    pub expected: String,
    /// What was measured; empty when nothing was.
    pub measured: String,
    /// The verdict.
    pub verdict: ClaimVerdict,
    /// Why the verdict is no better, or what to bear in mind; may be empty.
    pub why: String,
    /// The results folder of the round that showed it, relative to this one; empty for this one.
    pub folder: String,
}

/// What one session says about one claim.
struct Found {
    measured: String,
    verdict: ClaimVerdict,
    why: String,
    /// How many cases were held against each other.
    cases: usize,
}

impl Found {
    fn not_testable(why: impl Into<String>) -> Self {
        Self {
            measured: String::new(),
            verdict: ClaimVerdict::NotTestable,
            why: why.into(),
            cases: 0,
        }
    }

    /// A verdict says more than none, and more cases say more than few.
    fn weight(&self) -> (bool, usize) {
        (self.verdict != ClaimVerdict::NotTestable, self.cases)
    }
}

/// The benchmarks of one session.
struct Session<'r> {
    folder: &'r str,
    loads: Vec<(BenchmarkFigures<'r>, BenchmarkSummary)>,
    starts: Vec<BenchmarkFigures<'r>>,
}

impl<'r> Session<'r> {
    fn new(folder: &'r str, results: &'r Results) -> Self {
        let with_summary = |benchmark: BenchmarkFigures<'r>| {
            let summary = of_benchmark(&benchmark);
            (benchmark, summary)
        };
        Self {
            folder,
            loads: benchmarks(results).into_iter().map(with_summary).collect(),
            starts: startups(results),
        }
    }
}

/// All claims in the order of their file; none when nothing was published.
#[must_use]
pub fn claims(input: &ReportInput<'_>) -> Vec<ClaimRow> {
    let Some(published) = &input.results.published else {
        return Vec::new();
    };
    let mut sessions = vec![Session::new("", input.results)];
    let rounds = input.rounds.iter();
    sessions.extend(rounds.map(|round| Session::new(&round.folder, &round.results)));
    let row = |claim: &Claim| {
        let source = published
            .sources
            .iter()
            .find(|one| one.name == claim.source);
        row(&sessions, claim, source)
    };
    published.claims.iter().map(row).collect()
}

/// Says so where a source's limits are not those of this session; empty where all are the same.
pub(crate) fn limits_differ(input: &ReportInput<'_>) -> String {
    let sources = input.results.published.iter().flat_map(|one| &one.sources);
    let here = input.results.runs.first().map(|run| run.begin.run.limits);
    let Some(here) = here else {
        return String::new();
    };
    let others: BTreeSet<String> = sources
        .filter(|source| source.limits != here)
        .map(|source| limits_words(&source.limits))
        .collect();
    if others.is_empty() {
        return String::new();
    }
    format!(
        "Limits were {} here and {} there. Ratios and orders are judged all the same; claims that \
         depend on the limits themselves are not.",
        limits_words(&here),
        others.into_iter().collect::<Vec<_>>().join(", ")
    )
}

/// The claim in the session that says the most about it, the first of equals.
fn row(sessions: &[Session<'_>], claim: &Claim, source: Option<&Source>) -> ClaimRow {
    let mut best = ("", Found::not_testable("there are no results"));
    for (index, session) in sessions.iter().enumerate() {
        let found = tested(session, claim, source);
        if index == 0 || found.weight() > best.1.weight() {
            best = (session.folder, found);
        }
    }
    let (folder, found) = best;
    ClaimRow {
        text: claim.text.clone(),
        source: source.map_or_else(String::new, |source| {
            format!("{}, {}", source.author, source.date)
        }),
        expected: expected(claim),
        measured: found.measured,
        verdict: found.verdict,
        why: found.why,
        folder: folder.to_owned(),
    }
}

/// What has to hold, in figures.
fn expected(claim: &Claim) -> String {
    let words = claim.metric.words(claim.at);
    match &claim.test {
        ClaimTest::Ratio {
            first,
            second,
            bounds,
        } => {
            format!("{first} : {second} {} in {words}", bounded(*bounds))
        }
        ClaimTest::Value { contender, bounds } => {
            format!("{contender} {} {words}", bounded(*bounds))
        }
        ClaimTest::Best { best, among } => {
            format!("{best} first of {} in {words}", among.join(", "))
        }
        ClaimTest::Order { order } => format!("{} in {words}", order.join(" before ")),
        ClaimTest::Happens { contenders } => format!("{}: {words}", contenders.join(", ")),
    }
}

fn bounded(bounds: Bounds) -> String {
    match (bounds.min, bounds.max) {
        (Some(min), Some(max)) => format!("{}–{}", figures(min), figures(max)),
        (Some(min), None) => format!("≥ {}", figures(min)),
        (None, Some(max)) => format!("≤ {}", figures(max)),
        (None, None) => String::new(),
    }
}

fn tested(session: &Session<'_>, claim: &Claim, source: Option<&Source>) -> Found {
    let cases = cases(session, claim);
    let Some(first) = cases.first() else {
        return Found::not_testable(format!("the benchmark {} was not run", claim.benchmark));
    };
    let limits = first.1.runs.first().map(|run| run.records.begin.run.limits);
    let needed = &claim.same_limits;
    if let (Some(limits), Some(source)) = (limits, source)
        && !needed.iter().all(|kind| kind.same(&limits, &source.limits))
    {
        return Found::not_testable(format!(
            "limits differ: {} here, {} there",
            limits_words(&limits),
            limits_words(&source.limits)
        ));
    }
    match &claim.test {
        ClaimTest::Ratio {
            first,
            second,
            bounds,
        } => hold::ratio(&cases, claim, (first, second), *bounds),
        ClaimTest::Value { contender, bounds } => hold::value(&cases, claim, contender, *bounds),
        ClaimTest::Best { best, among } => hold::best_of(&cases, claim, best, among),
        ClaimTest::Order { order } => hold::in_order(&cases, claim, order),
        ClaimTest::Happens { contenders } => hold::happens(&cases, claim, contenders),
    }
}

pub(crate) fn limits_words(limits: &Limits) -> String {
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

/// The cases of the claim's benchmark with what the summary says about them.
type Cases<'s, 'r> = Vec<(Option<&'s BenchmarkSummary>, &'s CaseFigures<'r>)>;

/// Start-up is also known from loaded runs, when no cold starts were made.
fn cases<'s, 'r>(session: &'s Session<'r>, claim: &Claim) -> Cases<'s, 'r> {
    let named = |name: &str| name == claim.benchmark;
    let starts = session.starts.iter().filter(|one| named(&one.name));
    let mut cases: Cases<'s, 'r> = starts
        .flat_map(|one| &one.cases)
        .map(|case| (None, case))
        .collect();
    let any = claim.metric == Metric::StartUp && cases.is_empty();
    let loads = session
        .loads
        .iter()
        .filter(|(one, _)| any || named(&one.name));
    for (benchmark, summary) in loads {
        cases.extend(benchmark.cases.iter().map(|case| (Some(summary), case)));
    }
    cases
}
