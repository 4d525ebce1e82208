//! Published values that are impossible under their labels. The audit only knows the values and the
//! limits under which they were measured.

use std::collections::BTreeMap;

use bakeoff_model::suite::published::{Published, PublishedResult, Source};

use super::{AuditFinding, FoundKind};

/// A start-up below this, s, cannot include the creation of a container or process and end with
/// a response: execution, linking, and the round trip that a service needs to find its backend.
const STARTUP_MIN_S: f64 = 0.005;
/// CPU time beyond the quota that the rounding of published values explains.
const QUOTA_SLACK: f64 = 0.02;
/// Share of the steps' CPU per request below which that of the whole life is too low; rounding
/// explains the rest.
const ROUNDING: f64 = 0.97;
/// Times the mean by Little's law from which on a p99 says that some connections were not served.
const TAIL_MAX: f64 = 20.0;
/// Mebibytes.
const MIB: f64 = 1_048_576.0;

/// Returns every finding about the values of all results, source by source.
#[must_use]
pub fn published(published: &Published) -> Vec<AuditFinding> {
    let mut found = Vec::new();
    for source in &published.sources {
        let results: Vec<&PublishedResult> = published
            .results
            .iter()
            .filter(|result| result.source == source.name)
            .collect();
        found.extend(equal_errors(&results));
        for result in results {
            let sentences = startup(result)
                .into_iter()
                .chain(over_quota(source, result))
                .chain(tails(result))
                .chain(memory(source, result))
                .chain(whole_life(result));
            found.extend(sentences.map(|sentence| impossible(&result.name, sentence)));
        }
    }
    found
}

fn impossible(subject: &str, sentence: String) -> AuditFinding {
    AuditFinding {
        kind: FoundKind::Impossible,
        subject: subject.to_owned(),
        sentence,
    }
}

/// Finds equal error counts: different services do not fail equally often, so the load generator
/// did.
fn equal_errors(results: &[&PublishedResult]) -> Vec<AuditFinding> {
    let mut alike: BTreeMap<(&str, u32, u64), Vec<&str>> = BTreeMap::new();
    for result in results {
        for (connections, errors) in &result.errors {
            let key = (result.benchmark.as_str(), *connections, *errors);
            alike.entry(key).or_default().push(&result.name);
        }
    }
    let found = |((_, connections, errors), names): ((&str, u32, u64), Vec<&str>)| {
        let left = u64::from(connections).saturating_sub(errors);
        let limit = (left > 0 && left.next_power_of_two() - left <= 32).then(|| {
            format!(
                ": the remaining {left} are what a limit of {} open files permits",
                left.next_power_of_two()
            )
        });
        let sentence = format!(
            "at {connections} connections each of {} contenders had {errors} errors, so they are \
             the load generator's{}",
            names.len(),
            limit.unwrap_or_default()
        );
        impossible(&names.join(", "), sentence)
    };
    let several = |(key, names): &((&str, u32, u64), Vec<&str>)| key.2 > 0 && names.len() > 1;
    alike.into_iter().filter(several).map(found).collect()
}

fn startup(result: &PublishedResult) -> Option<String> {
    let startup_s = result.startup_s.filter(|one| *one < STARTUP_MIN_S)?;
    Some(format!(
        "a start-up of {:.1} ms starts after the process was created: below {:.0} ms there is no \
         room for execution, linking and the first question to a backend",
        startup_s * 1e3,
        STARTUP_MIN_S * 1e3
    ))
}

/// Returns connections, throughput and CPU per request of each step that has all of them.
fn steps(result: &PublishedResult) -> impl Iterator<Item = (u32, f64, f64)> {
    let figures = result.throughput.iter().zip(&result.cpu_us);
    let steps = result.steps.iter().zip(figures);
    steps.map(|(step, (throughput, cpu_us))| (step.connections, *throughput, *cpu_us))
}

/// Finds CPU use above the quota: throughput times CPU per request is the CPU used.
fn over_quota(source: &Source, result: &PublishedResult) -> Option<String> {
    let quota = source.limits.cpus?;
    let used = |(connections, throughput, cpu_us): (u32, f64, f64)| {
        (connections, throughput, cpu_us, throughput * cpu_us / 1e6)
    };
    let most = steps(result).map(used).max_by(|a, b| a.3.total_cmp(&b.3));
    let (connections, throughput, cpu_us, cores) = most?;
    (cores > quota * (1.0 + QUOTA_SLACK)).then(|| {
        format!(
            "{throughput:.0} requests/s of {cpu_us:.0} µs of CPU each at {connections} connections \
             are {cores:.2} cores, and the quota was {quota}: counted time and counted requests \
             are not of the same interval"
        )
    })
}

/// Finds p99 values that are far above the mean request time, which in closed load is connections
/// divided by throughput (Little 1961).
fn tails(result: &PublishedResult) -> Vec<String> {
    let steps = result.steps.iter().zip(&result.throughput);
    let mut measured: BTreeMap<u32, f64> = steps
        .filter(|(step, _)| !step.warm_up)
        .map(|(step, throughput)| (step.connections, *throughput))
        .collect();
    if let Some((throughput, connections)) = result.peak {
        measured.entry(connections).or_insert(throughput);
    }
    let judge = |(connections, p99_ms): (&u32, &f64)| {
        let throughput = *measured.get(connections)?;
        let mean_ms = f64::from(*connections) / throughput * 1e3;
        let words = format!(
            "p99 is {p99_ms} ms at {connections} connections and {throughput:.0} requests/s, where \
             Little's law gives a mean of {mean_ms:.1} ms"
        );
        if *p99_ms < mean_ms {
            let rest_ms = (mean_ms - 0.99 * p99_ms) / 0.01;
            return Some(format!(
                "{words}: the slowest hundredth took {rest_ms:.0} ms on average, or fewer \
                 connections were at work"
            ));
        }
        (*p99_ms > TAIL_MAX * mean_ms).then(|| {
            format!("{words}: some connections were hardly served while the others had the service")
        })
    };
    result.p99_ms.iter().filter_map(judge).collect()
}

/// Finds high-water marks that fall or exceed the limit.
fn memory(source: &Source, result: &PublishedResult) -> Option<String> {
    let end = result.memory_end_mib?;
    let limit = source.limits.memory_bytes;
    #[expect(clippy::cast_precision_loss, reason = "limits stay below 2^53 bytes")]
    let limit = limit.map(|bytes| bytes as f64 / MIB);
    if let Some(limit) = limit.filter(|limit| end > *limit) {
        return Some(format!(
            "{end} MiB of memory exceed the limit of {limit} MiB"
        ));
    }
    let start = result.memory_start_mib.filter(|start| *start > end)?;
    Some(format!(
        "the high-water mark of memory falls from {start} to {end} MiB"
    ))
}

/// Finds a whole life that is cheaper than its steps, although it includes them and the start-up.
fn whole_life(result: &PublishedResult) -> Option<String> {
    let whole_us = result.cpu_us_whole?;
    let (mut requests, mut cpu) = (0.0, 0.0);
    for (_, throughput, cpu_us) in steps(result) {
        requests += throughput;
        cpu += throughput * cpu_us;
    }
    let steps_us = cpu / requests;
    (requests > 0.0 && whole_us < steps_us * ROUNDING).then(|| {
        format!(
            "{whole_us} µs of CPU per request over the whole life are less than the {steps_us:.0} \
             µs of its steps, which are a part of it"
        )
    })
}
