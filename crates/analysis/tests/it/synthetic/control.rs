//! Made-up results: sessions with a control.

use bakeoff_analysis::{Analysis, AnalysisInput};
use bakeoff_model::record::{Results, RunRecords};

use crate::synthetic::{contender, run};

/// A run of a contender, or of its second process, whose peak is not what it should be.
/// `place` is its place among the three of its repetition.
pub(crate) fn made(
    name: &'static str,
    peak: f64,
    [repetition, place]: [u32; 2],
    twin: bool,
) -> RunRecords {
    let one = contender(name, peak, 1e6 / peak);
    let order = (repetition * 3 + place) as usize;
    let mut records = run("city-get", &one, repetition, order);
    records.begin.run.twin = twin;
    if twin {
        records.begin.run.id.push_str("~twin");
    }
    records
}

/// Five repetitions of two contenders, and of the slower one once more, with another peak.
pub(crate) fn results(twin_peak: f64) -> Results {
    let runs = (1..=5).flat_map(|repetition| {
        [
            made("fast", 9000.0, [repetition, 0], false),
            made("slow", 5000.0, [repetition, 1], false),
            made("slow", twin_peak, [repetition, 2], true),
        ]
    });
    Results {
        runs: runs.collect(),
        ..Results::default()
    }
}

pub(crate) fn analysis(results: &Results) -> Analysis<'_> {
    Analysis::of(&AnalysisInput {
        results,
        title: "Control",
        rounds: &[],
    })
}
