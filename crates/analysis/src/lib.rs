//! The content of all documents, computed once from the records.

mod answered;
pub mod baseline;
pub mod benchmark;
pub mod by_cpu;
pub mod capacity;
pub mod checks;
pub mod claims;
pub mod comparison;
pub mod conclusion;
mod condition_metrics;
pub mod control;
pub mod cpu_parts;
pub mod database;
pub mod errors;
pub mod failures;
mod families;
pub mod first_byte;
pub mod gc;
mod group_scales;
pub mod groups;
mod input;
pub mod labels;
mod latency;
mod latency_sentences;
pub mod layers;
pub mod load;
pub mod lower_bounds;
pub mod metric;
pub mod number;
mod open_cycles;
pub mod overhead;
pub mod overview;
pub mod own_metrics;
pub mod percentiles;
mod played_turn;
pub mod price;
pub mod probe;
mod process;
pub mod profile;
pub mod reasons;
pub mod requests;
mod rising;
pub mod row;
mod sampled_pair;
pub mod scale;
pub mod scaling;
mod session_data;
pub mod sessions;
pub mod sittings;
pub mod startup;
pub mod stated_step;
pub mod steady;
mod step_cost;
pub mod summary;
pub mod turns;
mod validity;
mod verdict;
mod warnings;
mod winner;

use bakeoff_model::record::{Qualification, Results};
use bakeoff_model::run_count::RunsDecision;

use claims::ClaimSession;

pub use baseline::sentence::changed;
pub use baseline::{
    AgainstBase, Change, Conclusion as BaselineConclusion, HeadAndBase, JudgedCondition, Outcome,
};
pub use capacity::CapacityAnalysis;
pub use capacity::{CapacityRow, CapacitySummary, CapacityTable, Confirmed};
pub use checks::CheckCount;
pub use claims::{ClaimRow, ClaimVerdict};
pub use comparison::{Conclusion, Matrix};
pub use failures::{FailedRun, Unranked};
pub use families::Family;
pub use groups::Common;
pub use input::{AnalysisInput, RoundResults};
pub use load::LoadAnalysis;
pub use lower_bounds::LowerBound;
pub use metric::{Metric, Quantity};
pub use overhead::{BaselineShare, Overhead, Ratio, Without};
pub use played_turn::{PlayedTurn, turns_of};
pub use reasons::{Reason, Reasons};
pub use row::Row;
pub use sessions::{Compared, compared, incompatible};
pub use startup::StartupAnalysis;
pub use startup::{Phases, StartRow, StartupSummary};
pub use stated_step::StatedStep;
pub use summary::{BenchmarkSummary, RankTable};
pub use turns::{SetCount, SetRatio, Sets, Spread};
pub use verdict::{
    AgainstBest, BenchmarkVerdict, CpuExplanation, NotRanked, Ranked, TakenByBoth, WithInterval,
    verdicts,
};

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
            let rounds = input.rounds.iter();
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
