//! Everything that the documents say, computed once from the records.

pub(crate) mod benchmark;
pub(crate) mod checks;
pub(crate) mod claims;
pub(crate) mod comparison;
pub(crate) mod failures;
pub(crate) mod labels;
pub(crate) mod metric;
pub(crate) mod requests;
pub(crate) mod row;
pub(crate) mod sessions;
pub(crate) mod startup;
pub(crate) mod steady;
pub(crate) mod summary;
pub(crate) mod validity;
mod warnings;
mod winner;

use bakeoff_model::record::{Qualification, Results};

use crate::input::ReportInput;
use benchmark::BenchmarkData;
use checks::CheckTable;
use claims::{ClaimRow, Session};
use requests::RequestRow;
use startup::StartupSummary;
use steady::CaseWarmUp;
use summary::BenchmarkSummary;

/// What the results say: every estimate, comparison, winner, claim and steady state.
#[derive(Debug)]
pub struct Analysis<'r> {
    /// The report's title.
    pub title: String,
    /// What a reader must know before any number: mixed suites, too few runs, missing limits.
    pub warnings: Vec<String>,
    /// One for each benchmark with load and set of conditions.
    pub loads: Vec<LoadAnalysis<'r>>,
    /// One for each benchmark of cold starts and set of conditions.
    pub startups: Vec<StartupAnalysis<'r>>,
    /// How qualification rounds ended: those that fed this session, then the session's own.
    pub qualifications: Vec<Qualification>,
    /// Claims of others and whether they hold; empty when nothing was published.
    pub claims: Vec<ClaimRow>,
    /// That sources of claims had other limits; empty when all had the same.
    pub(crate) limits_note: String,
    pub(crate) results: &'r Results,
}

/// One benchmark with load.
#[derive(Debug)]
pub struct LoadAnalysis<'r> {
    /// Who is ranked where, and who is not and why.
    pub summary: BenchmarkSummary,
    /// Steps of runs of cases.
    pub(crate) data: BenchmarkData<'r>,
    pub(crate) checks: CheckTable,
    pub(crate) warm_ups: Vec<CaseWarmUp>,
    pub(crate) requests: Vec<RequestRow>,
}

/// One benchmark of cold starts.
#[derive(Debug)]
pub struct StartupAnalysis<'r> {
    /// Who starts how fast, and who does not start and why.
    pub summary: StartupSummary,
    pub(crate) data: BenchmarkData<'r>,
}

impl<'r> Analysis<'r> {
    /// Analyses all results.
    #[must_use]
    pub fn of(input: &ReportInput<'r>) -> Self {
        let results = input.results;
        let (loads, startups) = (loads(results), startups(results));
        let benchmarks = loads.iter().map(|load| &load.data);
        let warnings = warnings::warnings(results, benchmarks);
        let mut qualifications = results.qualifications.clone();
        qualifications.extend(winner::own(results, &loads));
        let mut sessions = vec![Session::new("", &loads, &startups)];
        let rounds: Vec<_> = if results.published.is_some() {
            let rounds = input.rounds.iter();
            let analysed = rounds.map(|round| {
                let results = &round.results;
                (
                    round.folder.as_str(),
                    self::loads(results),
                    self::startups(results),
                )
            });
            analysed.collect()
        } else {
            Vec::new()
        };
        let others = rounds.iter();
        sessions.extend(others.map(|(name, loads, starts)| Session::new(name, loads, starts)));
        let claims = claims::claims(results.published.as_ref(), &sessions);
        Self {
            title: input.title.to_owned(),
            warnings,
            qualifications,
            claims,
            limits_note: claims::limits_note(results),
            results,
            loads,
            startups,
        }
    }
}

impl<'r> LoadAnalysis<'r> {
    fn new(data: BenchmarkData<'r>) -> Self {
        let checks = CheckTable::new(&data);
        Self {
            summary: summary::of_benchmark(&data, &checks),
            checks,
            warm_ups: steady::warm_ups(&data),
            requests: requests::rows(&data),
            data,
        }
    }
}

fn loads(results: &Results) -> Vec<LoadAnalysis<'_>> {
    let data = benchmark::benchmarks(results).into_iter();
    data.map(LoadAnalysis::new).collect()
}

fn startups(results: &Results) -> Vec<StartupAnalysis<'_>> {
    let data = benchmark::startups(results).into_iter();
    let analyse = |data| StartupAnalysis {
        summary: startup::of_benchmark(&data),
        data,
    };
    data.map(analyse).collect()
}
