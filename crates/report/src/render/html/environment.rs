//! The conditions of the numbers: the host, the limits, the versions.

use std::collections::{BTreeMap, BTreeSet};

use bakeoff_model::record::nodes::Nodes;
use bakeoff_model::record::{Results, RunRecords};
use maud::{Markup, html};

use super::table;
use bakeoff_analysis::data::benchmark::last_attempts;
use bakeoff_analysis::data::number::{as_f64, mib, significant};

/// A name and how to read its value off a run.
type Fact = (&'static str, fn(&RunRecords) -> String);

const FACTS: [Fact; 21] = [
    ("Suite", |run| run.begin.suite.clone()),
    ("Suite digest", |run| run.begin.suite_digest.clone()),
    ("Profile", |run| run.begin.profile.clone()),
    ("Runtime", |run| run.begin.runtime.to_string()),
    ("Backend", |run| run.begin.backend_label()),
    ("Limits of the contender", limits),
    ("Limits enforced by", |run| {
        run.begin.enforcement.to_string()
    }),
    ("Traffic path", |run| run.begin.traffic_path.to_string()),
    ("Cores", cores),
    ("Physical cores", |run| {
        let sharing = run.begin.host.core_sharing.as_ref();
        sharing.map_or("not measured".to_owned(), ToString::to_string)
    }),
    ("Nodes", |run| {
        let nodes = run.begin.nodes.as_ref();
        nodes.map_or("one machine".to_owned(), Nodes::describe)
    }),
    ("Round trip to the load generator", |run| {
        let round_trip_ns = run.begin.host.round_trip_ns;
        round_trip_ns.map_or("not measured".to_owned(), |time| {
            format!("{} µs", significant(as_f64(time) / 1000.0))
        })
    }),
    ("CPU", |run| {
        format!(
            "{}, {} usable",
            run.begin.host.cpu_model, run.begin.host.cores
        )
    }),
    ("Memory", |run| {
        format!("{:.0} MiB", mib(run.begin.host.memory_bytes))
    }),
    ("Frequency governor", |run| {
        known(run.begin.host.governor.as_deref())
    }),
    ("Virtualisation", |run| {
        known(run.begin.host.virtualisation.as_deref())
    }),
    ("Operating system", |run| run.begin.host.os.clone()),
    ("Kernel", |run| run.begin.host.kernel.clone()),
    ("Open files, soft limit", |run| {
        run.begin.host.nofile.to_string()
    }),
    ("Load generator at best", generator),
    ("Mitigations", |run| pairs(&run.begin.host.mitigations)),
];
/// Host, limits and versions. A row with several values says that the runs differ.
pub(super) fn table(results: &Results) -> Markup {
    table::framed(
        "facts",
        &html! {
            tbody {
                @for (name, value) in FACTS {
                    @let values: BTreeSet<String> = last_attempts(results).map(value).collect();
                    tr {
                        th scope="row" { (name) }
                        td {
                            @if values.len() > 1 { em { "differs between runs:" } br; }
                            @for (index, value) in values.iter().enumerate() {
                                @if index > 0 { br; }
                                (value)
                            }
                        }
                    }
                }
                tr { th scope="row" { "Versions" } td { (versions(results)) } }
            }
        },
    )
}

/// Returns the versions of everything that took part in any run: each run names only what it
/// needed.
fn versions(results: &Results) -> String {
    let all = last_attempts(results).flat_map(|run| &run.begin.host.versions);
    let distinct: BTreeSet<String> = all
        .map(|(name, value)| format!("{name}: {value}"))
        .collect();
    if distinct.is_empty() {
        return "not known".to_owned();
    }
    distinct.into_iter().collect::<Vec<String>>().join("; ")
}

/// The ceiling that no number exceeds, and the floor of the times of closed load.
fn generator(run: &RunRecords) -> String {
    let Some(best) = &run.begin.host.generator else {
        return "not measured".to_owned();
    };
    format!(
        "{} requests/s on {} connections by {} ({} µs of CPU each, {:.0} % busy); \
         p50 {} µs, p99 {} µs on one",
        significant(best.requests_per_s),
        best.connections,
        best.reactor,
        significant(best.cpu_us_per_request),
        best.busy * 100.0,
        significant(best.floor_p50_us),
        significant(best.floor_p99_us),
    )
}

fn limits(run: &RunRecords) -> String {
    let limits = &run.begin.run.limits;
    let cpus = limits.cpus.map_or("CPU not limited".to_owned(), |cpus| {
        format!("{cpus} CPU seconds per second")
    });
    let memory = limits
        .memory_bytes
        .map_or("memory not limited".to_owned(), |bytes| {
            format!("{:.0} MiB of memory, swap off", mib(bytes))
        });
    format!("{cpus}, {memory}")
}

fn cores(run: &RunRecords) -> String {
    let cores = &run.begin.cores;
    let list = |cores: &[usize]| match cores {
        [] => "all".to_owned(),
        cores => cores
            .iter()
            .map(usize::to_string)
            .collect::<Vec<String>>()
            .join(" "),
    };
    format!(
        "contender {}; load generator {}; backend {}",
        list(&cores.contender),
        list(&cores.generator),
        list(&cores.backend)
    )
}

fn known(value: Option<&str>) -> String {
    value.unwrap_or("not known").to_owned()
}

fn pairs(map: &BTreeMap<String, String>) -> String {
    if map.is_empty() {
        return "not known".to_owned();
    }
    let list: Vec<String> = map
        .iter()
        .map(|(name, value)| format!("{name}: {value}"))
        .collect();
    list.join("; ")
}
