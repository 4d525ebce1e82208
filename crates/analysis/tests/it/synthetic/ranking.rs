//! Made-up results: sessions to rank.

use bakeoff_analysis::{Analysis, AnalysisInput};
use bakeoff_model::record::Results;

use crate::synthetic::{Contender, run};

pub(crate) fn analyse(results: &Results) -> Analysis<'_> {
    Analysis::of(&AnalysisInput {
        results,
        title: "Synthetic",
        rounds: &[],
    })
}

pub(crate) fn of(contenders: &[Contender], runs: u32) -> Results {
    let mut results = Results::default();
    for repetition in 1..=runs {
        for one in contenders {
            let order = results.runs.len();
            results.runs.push(run("bench", one, repetition, order));
        }
    }
    results
}
