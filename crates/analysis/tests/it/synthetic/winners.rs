//! Made-up results: rounds with a winner.

use bakeoff_analysis::{Analysis, AnalysisInput};
use bakeoff_model::record::{Qualification, Results};
use bakeoff_model::suite::Winner;

use crate::synthetic::{self, Contender};

pub(crate) fn results(contenders: &[Contender], runs: u32) -> Results {
    let mut results = Results::default();
    for repetition in 1..=runs {
        for one in contenders {
            let order = results.runs.len();
            let run = synthetic::run("city-get", one, repetition, order);
            results.runs.push(run);
        }
    }
    results
}

/// How the round of these results ends.
pub(crate) fn qualification(mut results: Results, winner: Winner) -> Qualification {
    results.round = Some("engines".to_owned());
    results.decides = Some(("city-get".to_owned(), winner));
    let mut analysis = analysis(&results);
    assert_eq!(analysis.qualifications.len(), 1);
    analysis.qualifications.remove(0)
}

pub(crate) fn analysis(results: &Results) -> Analysis<'_> {
    Analysis::of(&AnalysisInput {
        results,
        title: "Synthetic",
        rounds: &[],
    })
}
