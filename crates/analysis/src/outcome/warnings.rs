//! Warnings to read before any number.

use std::collections::BTreeSet;

use bakeoff_model::plan::whole_runs;
use bakeoff_model::record::nodes::Nodes;
use bakeoff_model::record::{Results, RunRecords};

use crate::benchmarks::load::LoadAnalysis;
use crate::data::benchmark::BenchmarkData;
use crate::tables::control::VOID;

pub(crate) fn warnings<'d, 'r: 'd>(
    results: &Results,
    loads: &'d [LoadAnalysis<'r>],
    searched: impl Iterator<Item = &'d BenchmarkData<'r>>,
) -> Vec<String> {
    let unmade = results.unmade.iter().map(ToString::to_string);
    let mut warnings: Vec<String> = unmade.collect();
    warnings.extend(results.session_missing.clone());
    warnings.extend(results.no_turns.as_deref().map(whole_runs::sentence));
    warnings.extend(results.suite_missing.as_ref().map(|why| {
        format!(
            "the suite cannot be read, so its published results and their claims are not in this \
             report: {why}"
        )
    }));
    if loads.iter().any(|load| load.summary.control.is_void()) {
        warnings.push(format!("{VOID}, so no verdict of it holds"));
    }
    let distinct = |key: fn(&RunRecords) -> String| {
        let mut found: Vec<String> = results.runs.iter().map(key).collect();
        found.sort();
        found.dedup();
        found.len()
    };
    if distinct(|run| run.begin.suite_digest.clone()) > 1 {
        warnings.push("the runs come from different versions of the suite".to_owned());
    }
    if distinct(|run| format!("{:?}", (&run.begin.host.cpu_model, &run.begin.host.kernel))) > 1 {
        warnings.push("the runs come from different hosts".to_owned());
    }
    let mut enforcements = results.runs.iter().map(|run| &run.begin.enforcement);
    if let Some(enforcement) = enforcements.find(|one| one.unlimited_because().is_some()) {
        warnings.push(format!("the limits were not enforced: {enforcement}"));
    }
    let nodes = results
        .runs
        .iter()
        .filter_map(|run| run.begin.nodes.as_ref());
    let sharing: BTreeSet<String> = nodes.flat_map(Nodes::sharing).collect();
    warnings.extend(sharing);
    let benchmarks = loads.iter().map(|load| &load.data).chain(searched);
    let cases = benchmarks.flat_map(|benchmark| &benchmark.cases);
    let fewest = cases
        .map(|case| case.completed().count())
        .filter(|runs| *runs > 0)
        .min();
    match fewest {
        Some(1) => warnings.push(
            "some contenders have a single completed run: their numbers have no interval and \
             nothing can be concluded from their order"
                .to_owned(),
        ),
        Some(runs @ 2..=4) => {
            // A session that decides the number itself accepts no other.
            let hint = match results.runs_decision {
                Some(_) => "",
                None => "; use --runs 5",
            };
            warnings.push(format!(
                "some contenders have only {runs} completed runs, so intervals are wide{hint}"
            ));
        }
        _ => {}
    }
    warnings
}
