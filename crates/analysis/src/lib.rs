//! The content of all documents, computed once from the records.

pub mod baseline;
pub mod benchmarks;
pub mod claims;
pub mod data;
pub mod explain;
mod input;
pub mod outcome;
pub mod tables;
pub mod turns;

use std::fmt;

use bakeoff_model::record::{Qualification, Results};
use bakeoff_model::suite::run_count::RunsDecision;

use benchmarks::{capacity, load, overhead, startup};
use claims::ClaimSession;
use outcome::{warnings, winner};

pub use baseline::sentence::changed;
pub use baseline::{
    AgainstBase, Change, Conclusion as BaselineConclusion, HeadAndBase, JudgedCondition, Outcome,
};
pub use benchmarks::capacity::CapacityAnalysis;
pub use benchmarks::capacity::{CapacityRow, CapacitySummary, CapacityTable, Confirmed};
pub use benchmarks::load::LoadAnalysis;
pub use benchmarks::overhead::{BaselineShare, Overhead, Ratio, Without};
pub use benchmarks::startup::StartupAnalysis;
pub use benchmarks::startup::{Phases, StartRow, StartupSummary};
pub use claims::{ClaimRow, ClaimVerdict};
pub use data::checks::CheckCount;
pub use data::metric::{Metric, Quantity};
pub use data::played_turn::{PlayedTurn, turns_of};
pub use data::row::{Peak, Row, Standing, WholeRuns};
pub use data::stated_step::StatedStep;
pub use explain::reasons::{Reason, Reasons};
pub use explain::sampled_pair::SAMPLED_SETS_MAX;
pub use input::{AnalysisInput, RoundResults};
pub use outcome::families::Family;
pub use outcome::sessions::{Compared, PairTwice, compared, incompatible, pairs_twice};
pub use outcome::verdict::{
    AgainstBest, BenchmarkVerdict, CpuExplanation, NotRanked, Ranked, TakenByBoth, WithInterval,
    verdicts,
};
pub use tables::comparison::{Conclusion, Matrix};
pub use tables::failures::{FailedRun, Unranked};
pub use tables::lower_bounds::LowerBound;
pub use tables::summary::{BenchmarkSummary, RankTable};
pub use turns::groups::Common;
pub use turns::{SetCount, SetRatio, Sets, Spread};

/// There was nothing that could be compared: the context of an error with the reasons.
#[derive(Debug)]
pub struct NothingToCompare;

impl fmt::Display for NothingToCompare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nothing to compare")
    }
}

impl std::error::Error for NothingToCompare {}

/// The analysis of results: every estimate, comparison, winner, claim and steady state.
#[derive(Debug)]
pub struct Analysis<'r> {
    /// The report's title.
    pub title: String,
    /// Warnings that come before any number: mixed suites, too few runs, missing limits.
    pub warnings: Vec<String>,
    /// Load benchmarks, one entry for each set of conditions.
    pub loads: Vec<LoadAnalysis<'r>>,
    /// Cold-start benchmarks, one entry for each set of conditions.
    pub startups: Vec<StartupAnalysis<'r>>,
    /// Contenders as a share of their baselines, one entry for each set of conditions; empty if no
    /// contender has a baseline.
    pub overheads: Vec<Overhead>,
    /// Capacity benchmarks, one entry for each set of conditions.
    pub capacities: Vec<CapacityAnalysis<'r>>,
    /// Outcomes of qualification rounds: those that fed this session, then the session's own.
    pub qualifications: Vec<Qualification>,
    /// Claims of others with their verdicts; empty if nothing was published.
    pub claims: Vec<ClaimRow>,
    /// Heads compared with their bases; `None` without a baseline.
    pub against_base: Option<AgainstBase>,
    /// Note on sources of claims with other limits; empty if all had the same.
    pub limits_note: String,
    /// The records.
    pub results: &'r Results,
}

impl<'r> Analysis<'r> {
    /// Returns how many runs a pilot found necessary, and what they can find; empty without a
    /// pilot.
    pub fn runs_decision(&self) -> Vec<String> {
        let decision = self.results.runs_decision.as_ref();
        decision.map(RunsDecision::sentences).unwrap_or_default()
    }

    /// Analyses all results.
    #[must_use]
    pub fn of(input: &AnalysisInput<'r>) -> Self {
        let results = input.results;
        let (loads, startups) = (load::loads(results), startup::startups(results));
        let capacities = capacity::capacities(results);
        let searched = capacities.iter().map(|capacity| &capacity.data);
        let warnings = warnings::warnings(results, &loads, searched);
        let mut qualifications = results.qualifications.clone();
        qualifications.extend(winner::own(results, &loads));
        let own_round = results.round.as_deref();
        let mut sessions = vec![ClaimSession::new("", own_round, &loads, &startups)];
        let rounds: Vec<_> = if results.published.is_some() {
            // Folders named together include the report's own, which is a session already.
            let rounds = input.rounds.iter().filter(|round| !round.folder.is_empty());
            let analysed = rounds.map(|round| {
                let results = &round.results;
                (round, load::loads(results), startup::startups(results))
            });
            analysed.collect()
        } else {
            Vec::new()
        };
        let others = rounds.iter();
        sessions.extend(others.map(|(round, loads, starts)| {
            let name = round.results.round.as_deref();
            ClaimSession::new(&round.folder, name, loads, starts)
        }));
        let claims = claims::claims(results.published.as_ref(), &sessions);
        Self {
            title: input.title.to_owned(),
            warnings,
            qualifications,
            claims,
            against_base: baseline::against_base(results, &loads),
            limits_note: claims::limits_note(results),
            results,
            overheads: overhead::overheads(&loads),
            loads,
            startups,
            capacities,
        }
    }
}
