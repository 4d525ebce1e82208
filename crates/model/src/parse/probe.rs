//! The requests of benchmarks that do the work of contenders' probes.

use super::raw::ProbedTable;
use super::source::{KeyPath, Reading};
use crate::load::RequestSpec;
use crate::suite::{Benchmark, Contender, ProbedRequest};
use crate::text::names;

/// Which requests of a benchmark do the work of which probe.
pub(super) fn of_requests(
    reading: &mut Reading<'_>,
    place: &KeyPath,
    tables: Vec<ProbedTable>,
    requests: &[RequestSpec],
) -> Vec<ProbedRequest> {
    let names = tables.iter().map(|table| table.name.as_str());
    reading.report_duplicates(place, "probe", names);
    let known: Vec<String> = requests.iter().map(RequestSpec::label).collect();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let mut probes = Vec::new();
    for (index, table) in tables.into_iter().enumerate() {
        // Cold starts have none, which is said elsewhere.
        if !known.is_empty() && !known.contains(&table.request.as_str()) {
            let message = format!("unknown request `{}`", table.request);
            let hint = names::suggestion(&table.request, &known);
            reading.complain(&place.index(index).key("request"), &message, Some(hint));
        }
        probes.push(ProbedRequest {
            probe: table.name,
            request: table.request,
        });
    }
    probes
}

/// Complains about probes of benchmarks that no contender has. `contenders` are those of the
/// suite, when all of them could be read.
pub(super) fn check_known(
    reading: &mut Reading<'_>,
    benchmarks: &[Benchmark],
    contenders: Option<&[Contender]>,
) {
    let Some(contenders) = contenders else {
        return;
    };
    let probes = contenders.iter().flat_map(|contender| &contender.probes);
    let mut known: Vec<&str> = probes.map(|probe| probe.name.as_str()).collect();
    known.sort_unstable();
    known.dedup();
    for (index, benchmark) in benchmarks.iter().enumerate() {
        let place = KeyPath::root().key("benchmark").index(index).key("probe");
        for (index, probed) in benchmark.probes.iter().enumerate() {
            if known.contains(&probed.probe.as_str()) {
                continue;
            }
            let message = format!("no contender has the probe `{}`", probed.probe);
            let hint = names::suggestion(&probed.probe, &known);
            reading.complain(&place.index(index).key("name"), &message, Some(hint));
        }
    }
}
