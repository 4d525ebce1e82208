//! The sessions in which a claim is tested, and its cases in them.

use bakeoff_model::suite::published::{Claim, Metric as ClaimMetric};

use crate::benchmarks::load::LoadAnalysis;
use crate::benchmarks::startup::StartupAnalysis;
use crate::data::benchmark::CaseData;
use crate::tables::summary::BenchmarkSummary;

/// The benchmarks of one session.
pub struct ClaimSession<'s, 'r> {
    pub(super) folder: &'s str,
    /// The round that was run, if any.
    pub(super) round: Option<&'s str>,
    loads: &'s [LoadAnalysis<'r>],
    starts: &'s [StartupAnalysis<'r>],
}

impl<'s, 'r> ClaimSession<'s, 'r> {
    /// Returns a session. `folder` contains its documents, relative to the report's; empty for the
    /// report's own.
    pub fn new(
        folder: &'s str,
        round: Option<&'s str>,
        loads: &'s [LoadAnalysis<'r>],
        starts: &'s [StartupAnalysis<'r>],
    ) -> Self {
        Self {
            folder,
            round,
            loads,
            starts,
        }
    }
}

/// Cases of the claim's benchmark with their summary.
pub(super) type Cases<'s, 'r> = Vec<(Option<&'s BenchmarkSummary>, &'s CaseData<'r>)>;

/// Returns the cases of a benchmark that a claim names. Start-up times also come from loaded runs
/// if no cold starts were made.
pub(super) fn cases<'s, 'r>(
    session: &ClaimSession<'s, 'r>,
    claim: &Claim,
    benchmark: &str,
) -> Cases<'s, 'r> {
    let named = |name: &str| name == benchmark;
    let starts = session.starts.iter().filter(|one| named(&one.data.name));
    let mut cases: Cases<'s, 'r> = starts
        .flat_map(|one| &one.data.cases)
        .map(|case| (None, case))
        .collect();
    let any = claim.metric == ClaimMetric::StartUp && cases.is_empty();
    let loads = session
        .loads
        .iter()
        .filter(|one| any || named(&one.data.name));
    for load in loads {
        let of_load = load.data.cases.iter();
        cases.extend(of_load.map(|case| (Some(&load.summary), case)));
    }
    cases
}
