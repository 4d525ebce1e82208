//! What the numbers rest on: the host, the contenders' versions, the order of runs, and the
//! verdict on every interval.

use std::collections::{BTreeMap, BTreeSet};

use bakeoff_model::record::{IntervalRecord, Outcome, Results, RunRecords, Validity};

use crate::html::text::escape;
use crate::measure::{BenchmarkFigures, RunFigures, StepFigures, last_attempts};
use crate::natural;
use crate::number::{figures, figures_or_dash, mib};

/// A name and how to read its value off a run.
type Fact = (&'static str, fn(&RunRecords) -> String);

/// Host, limits and versions. A row with several values says that the runs differ.
pub(crate) fn environment(results: &Results) -> String {
    let rows: [Fact; 18] = [
        ("Suite", |run| run.begin.suite.clone()),
        ("Suite digest", |run| run.begin.suite_digest.clone()),
        ("Profile", |run| run.begin.profile.clone()),
        ("Runtime", |run| run.begin.runtime.clone()),
        ("Backend", |run| run.begin.backend.clone()),
        ("Limits of the contender", limits),
        ("Limits enforced by", |run| run.begin.enforcement.clone()),
        ("Traffic path", |run| run.begin.traffic_path.clone()),
        ("Cores", cores),
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
        ("Loader at best", loader),
        ("Mitigations", |run| pairs(&run.begin.host.mitigations)),
    ];
    let mut html = "<div class=\"scroll\"><table class=\"facts\"><tbody>\n".to_owned();
    for (name, value) in rows {
        let mut values: Vec<String> = last_attempts(results).map(value).collect();
        values.sort();
        values.dedup();
        let values: Vec<String> = values.iter().map(|value| escape(value)).collect();
        let differ = if values.len() > 1 {
            "<em>differs between runs:</em><br>"
        } else {
            ""
        };
        html.push_str(&format!(
            "<tr><th scope=\"row\">{name}</th><td>{differ}{}</td></tr>\n",
            values.join("<br>")
        ));
    }
    html.push_str(&format!(
        "<tr><th scope=\"row\">Versions</th><td>{}</td></tr>\n",
        escape(&versions(results))
    ));
    html + "</tbody></table></div>\n"
}

/// What took part in any run: each run names only what it needed.
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
fn loader(run: &RunRecords) -> String {
    let Some(best) = &run.begin.host.loader else {
        return "not measured".to_owned();
    };
    format!(
        "{} requests/s on {} connections by {} ({} µs of CPU each, {:.0} % busy); \
         p50 {} µs, p99 {} µs on one",
        figures(best.requests_per_s),
        best.connections,
        best.reactor,
        figures(best.cpu_us_per_request),
        best.busy * 100.0,
        figures(best.floor_p50_us),
        figures(best.floor_p99_us),
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
        "contender {}; loader {}; backend {}",
        list(&cores.contender),
        list(&cores.loader),
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

/// What each contender is, in which version, with its caveat.
pub(crate) fn contenders(results: &Results) -> String {
    let mut runs: Vec<&RunRecords> = last_attempts(results).collect();
    runs.sort_by(|a, b| natural::compare(&a.begin.run.contender, &b.begin.run.contender));
    runs.dedup_by(|a, b| {
        let key = |run: &RunRecords| {
            let begin = &run.begin;
            (
                begin.run.contender.clone(),
                begin.version.clone(),
                begin.artifact_digest.clone(),
            )
        };
        key(a) == key(b)
    });
    let mut html =
        "<div class=\"scroll\"><table class=\"texts\"><thead><tr><th scope=\"col\">contender</th>\
        <th scope=\"col\">what it is</th><th scope=\"col\">language</th>\
        <th scope=\"col\">version receipt</th><th scope=\"col\">artifact</th></tr></thead><tbody>\n"
            .to_owned();
    for run in runs {
        let begin = &run.begin;
        let note = begin.note.as_ref().map_or_else(String::new, |note| {
            format!("<small class=\"note\">{}</small>", escape(note))
        });
        html.push_str(&format!(
            "<tr><th scope=\"row\">{}</th><td>{}{note}</td><td>{}</td><td class=\"receipt\">{}</td>\
             <td class=\"receipt\">{}</td></tr>\n",
            escape(&begin.run.contender),
            escape(&begin.describe),
            escape(&begin.language),
            escape(begin.version.as_deref().unwrap_or("–")),
            escape(begin.artifact_digest.as_deref().unwrap_or("–")),
        ));
    }
    html + "</tbody></table></div>\n"
}

/// Every attempt in the order in which it was made, also those whose numbers are not used.
pub(crate) fn order(results: &Results) -> String {
    let mut html =
        "<div class=\"scroll tall\"><table class=\"texts\"><thead><tr><th scope=\"col\">order</th>\
        <th scope=\"col\">begun</th><th scope=\"col\">benchmark</th>\
        <th scope=\"col\">contender</th><th scope=\"col\">run</th>\
        <th scope=\"col\">attempt</th><th scope=\"col\">outcome</th></tr></thead><tbody>\n"
            .to_owned();
    for run in &results.runs {
        let begin = &run.begin;
        let mut outcome = match run.end.as_ref().map(|end| &end.outcome) {
            Some(Outcome::Completed) => "completed".to_owned(),
            Some(Outcome::Failed { stage, message, .. }) => {
                format!(
                    "<span class=\"bad\">failed at {}</span>: {}",
                    escape(stage),
                    escape(message)
                )
            }
            Some(Outcome::Interrupted) => "<span class=\"bad\">interrupted</span>".to_owned(),
            None => "<span class=\"bad\">killed</span>".to_owned(),
        };
        for note in run.end.iter().flat_map(|end| &end.notes) {
            outcome.push_str(&format!("<small class=\"note\">{}</small>", escape(note)));
        }
        html.push_str(&format!(
            "<tr><td>{}</td><td>{}</td><td>{}</td><th scope=\"row\">{}</th><td>{}</td><td>{}</td>\
             <td class=\"text\">{outcome}</td></tr>\n",
            begin.run.order + 1,
            escape(&begin.at),
            escape(&begin.run.benchmark),
            escape(&begin.run.case_label()),
            begin.run.repetition,
            begin.attempt,
        ));
    }
    html + "</tbody></table></div>\n"
}

/// The verdict on every interval of a benchmark, folded by run.
pub(crate) fn validity(benchmark: &BenchmarkFigures<'_>) -> String {
    let mut html = String::new();
    for case in &benchmark.cases {
        for run in case.runs.iter().filter(|run| !run.steps.is_empty()) {
            let rows: String = run
                .steps
                .iter()
                .map(|step| validity_row(run, step))
                .collect();
            html.push_str(&format!(
                "<details><summary><b>{}</b> run {}: {}</summary><div class=\"scroll\"><table>\
                 <thead><tr><th scope=\"col\">step</th><th scope=\"col\">intervals</th>\
                 <th scope=\"col\">connections open</th>\
                 <th scope=\"col\">contender cores</th><th scope=\"col\">loader cores</th>\
                 <th scope=\"col\">backend cores</th><th scope=\"col\">throttled s</th>\
                 <th scope=\"col\" class=\"text\">verdict</th></tr></thead>\
                 <tbody>{rows}</tbody></table></div>\
                 </details>\n",
                escape(&case.label),
                run.repetition(),
                counted(run),
            ));
        }
    }
    html
}

/// `80 fair, 16 host-bound`.
fn counted(run: &RunFigures<'_>) -> String {
    let mut counts: BTreeMap<u8, (&str, usize)> = BTreeMap::new();
    for interval in &run.records.intervals {
        let severity = crate::measure::severity(&interval.validity);
        counts
            .entry(severity)
            .or_insert((interval.validity.name(), 0))
            .1 += 1;
    }
    let parts: Vec<String> = counts
        .values()
        .map(|(name, count)| format!("{count} {name}"))
        .collect();
    parts.join(", ")
}

fn validity_row(run: &RunFigures<'_>, step: &StepFigures<'_>) -> String {
    let open = step
        .intervals
        .iter()
        .map(|interval| interval.load.connections.established);
    let range = match (open.clone().min(), open.max()) {
        (Some(low), Some(high)) if low == high => low.to_string(),
        (low, high) => format!("{}–{}", low.unwrap_or(0), high.unwrap_or(0)),
    };
    let contender_cores = step
        .cpu_s()
        .filter(|_| step.seconds > 0.0)
        .map(|s| s / step.seconds);
    let unlimited = run.records.begin.enforcement.starts_with("unlimited");
    let throttled = if unlimited {
        "–".to_owned()
    } else {
        figures_or_dash(step.throttled_s())
    };
    format!(
        "<tr><th scope=\"row\">{}</th><td>{}</td><td>{range} of {}</td><td>{}</td><td>{}</td>\
         <td>{}</td><td>{throttled}</td><td class=\"text\">{}</td></tr>",
        escape(&step.label),
        step.intervals.len(),
        step.connections,
        figures_or_dash(contender_cores),
        figures(step.loader_cores()),
        figures_or_dash(step.backend_cores()),
        verdicts(&step.intervals),
    )
}

/// Intervals with equal verdicts in a row are one line: `3–5: host-bound: evidence`.
fn verdicts(intervals: &[&IntervalRecord]) -> String {
    if intervals
        .iter()
        .all(|interval| interval.validity == Validity::Fair)
    {
        return "fair".to_owned();
    }
    let mut lines = Vec::new();
    for group in intervals.chunk_by(|a, b| a.validity == b.validity) {
        let (first, last) = (
            group[0].load.slice + 1,
            group[group.len() - 1].load.slice + 1,
        );
        let which = if first == last {
            first.to_string()
        } else {
            format!("{first}–{last}")
        };
        let validity = &group[0].validity;
        let evidence = match validity.evidence() {
            "" => String::new(),
            evidence => format!(": {}", escape(evidence)),
        };
        lines.push(format!("{which}: <b>{}</b>{evidence}", validity.name()));
    }
    lines.join("<br>")
}
