//! Everything that the documents say, computed once from the records.

pub(crate) mod answer;
pub(crate) mod baseline;
pub(crate) mod benchmark;
pub(crate) mod capacity;
pub(crate) mod checks;
pub(crate) mod claims;
pub(crate) mod comparison;
pub(crate) mod control;
pub(crate) mod cpu_parts;
pub(crate) mod database;
pub(crate) mod errors;
pub(crate) mod failures;
pub(crate) mod families;
pub(crate) mod figures;
pub(crate) mod gc;
pub(crate) mod group_scales;
pub(crate) mod groups;
pub(crate) mod labels;
pub(crate) mod latency;
pub(crate) mod layers;
pub(crate) mod load;
pub(crate) mod lower_bounds;
pub(crate) mod metric;
pub(crate) mod overhead;
pub(crate) mod overview;
pub(crate) mod played_turn;
pub(crate) mod price;
pub(crate) mod probe;
pub(crate) mod profile;
pub(crate) mod reasons;
pub(crate) mod requests;
mod rising;
pub(crate) mod row;
pub(crate) mod scale;
pub(crate) mod scaling;
pub(crate) mod session_data;
pub(crate) mod sessions;
pub(crate) mod sittings;
pub(crate) mod startup;
pub(crate) mod stated;
pub(crate) mod steady;
pub(crate) mod summary;
pub(crate) mod times;
pub(crate) mod turns;
pub(crate) mod validity;
mod warnings;
mod winner;

use bakeoff_model::record::{Qualification, Results};
use bakeoff_model::runs::RunsDecision;

use crate::input::ReportInput;
use baseline::AgainstBase;
use claims::{ClaimRow, Session};
use overhead::Overhead;

pub use capacity::CapacityAnalysis;
pub use load::LoadAnalysis;
pub use startup::StartupAnalysis;

/// The analysis of results: every estimate, comparison, winner, claim and steady state.
#[derive(Debug)]
pub struct Analysis<'r> {
    /// The report's title.
    pub title: String,
    /// Warnings that come before any number: mixed suites, too few runs, missing limits.
    pub warnings: Vec<String>,
    /// One for each benchmark with load and set of conditions.
    pub loads: Vec<LoadAnalysis<'r>>,
    /// One for each benchmark of cold starts and set of conditions.
    pub startups: Vec<StartupAnalysis<'r>>,
    /// Contenders as a share of their baselines, one for each set of conditions; empty where no
    /// contender has a baseline.
    pub overheads: Vec<Overhead>,
    /// One for each benchmark of capacities and set of conditions.
    pub capacities: Vec<CapacityAnalysis<'r>>,
    /// How qualification rounds ended: those that fed this session, then the session's own.
    pub qualifications: Vec<Qualification>,
    /// Claims of others and whether they hold; empty when nothing was published.
    pub claims: Vec<ClaimRow>,
    /// Contenders against what they were; `None` without a baseline.
    pub against_base: Option<AgainstBase>,
    /// That sources of claims had other limits; empty when all had the same.
    pub(crate) limits_note: String,
    pub(crate) results: &'r Results,
}

impl<'r> Analysis<'r> {
    /// How many runs a pilot found necessary, and what they can find; empty where none decided.
    pub(crate) fn runs_decision(&self) -> Vec<String> {
        let decision = self.results.runs_decision.as_ref();
        decision.map(RunsDecision::sentences).unwrap_or_default()
    }

    /// Analyses all results.
    #[must_use]
    pub fn of(input: &ReportInput<'r>) -> Self {
        let results = input.results;
        let (loads, startups) = (load::loads(results), startup::startups(results));
        let capacities = capacity::capacities(results);
        let searched = capacities.iter().map(|capacity| &capacity.data);
        let warnings = warnings::warnings(results, &loads, searched);
        let mut qualifications = results.qualifications.clone();
        qualifications.extend(winner::own(results, &loads));
        let own_round = results.round.as_deref();
        let mut sessions = vec![Session::new("", own_round, &loads, &startups)];
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
            Session::new(&round.folder, name, loads, starts)
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
