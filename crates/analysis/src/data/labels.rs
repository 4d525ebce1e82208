//! Names of steps and of measurement conditions.

use std::collections::BTreeMap;

use bakeoff_model::load::Pace;
use bakeoff_model::record::RunRecords;
use bakeoff_model::suite::Step;
use bakeoff_model::suite::capacity::TrialRecord;

use super::number::significant;

/// Returns the conditions that must be equal for two numbers to be comparable, in words.
pub fn conditions(records: &RunRecords) -> String {
    let begin = &records.begin;
    let limits = &begin.run.limits;
    let cpus = match limits.cpus {
        Some(_) if begin.run.parameters.cpus.is_some() => "CPU by parameter".to_owned(),
        Some(cpus) => format!(
            "{} CPU{}",
            shortest(cpus),
            if cpus == 1.0 { "" } else { "s" }
        ),
        None => "CPU not limited".to_owned(),
    };
    let memory = limits
        .memory_bytes
        .map_or("memory not limited".to_owned(), |bytes| {
            format!("{} MiB", bytes / (1 << 20))
        });
    let mut text = format!(
        "backend {}, {cpus}, {memory}, runtime {}, profile {}",
        begin.backend_label(),
        begin.runtime,
        begin.profile
    );
    if !begin.run.transport.is_usual() {
        text.push_str(&format!(", {}", begin.run.transport.label()));
    }
    if let Some(reason) = begin.enforcement.unlimited_because() {
        text.push_str(&format!(", LIMITS NOT ENFORCED: {reason}"));
    }
    text
}

/// Formats a number without trailing zeros: `1.5`, `4`.
fn shortest(value: f64) -> String {
    let text = significant(value);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// Returns a short unique name for each step: `64`, or `w1: 1` for the first warm-up step with one
/// connection, or the rate of an open load. `in_flight` requests share a connection.
pub fn step_labels(steps: &[Step], in_flight: u32) -> Vec<String> {
    let mut warm_ups = 0;
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    let mut label = |step: &Step| {
        let load = match step.pace {
            Pace::Closed => step.connections.to_string(),
            Pace::Users { .. } => {
                let users = u64::from(step.connections) * u64::from(in_flight);
                format!("{users} users")
            }
            Pace::Constant { rate_per_s } => format!("{}/s", shortest(rate_per_s)),
            Pace::Poisson { rate_per_s } => format!("~{}/s", shortest(rate_per_s)),
            Pace::Ramp {
                from_per_s,
                to_per_s,
            } => {
                format!("{}→{}/s", shortest(from_per_s), shortest(to_per_s))
            }
            Pace::Recorded { speed } => format!("recorded ×{}", shortest(speed)),
        };
        if step.warm_up {
            warm_ups += 1;
            return format!("w{warm_ups}: {load}");
        }
        let times = seen.entry(load.clone()).or_default();
        *times += 1;
        if *times == 1 {
            load
        } else {
            format!("{load} #{times}")
        }
    };
    steps.iter().map(&mut label).collect()
}

/// Returns the name of the open load in which the response times of contenders that take turns are
/// compared.
pub fn open_load_label(rate_per_s: f64) -> String {
    format!("open load at {}/s", significant(rate_per_s))
}

/// Returns a short unique name for each trial, in the order in which they follow the planned steps:
/// `search 3: 812/s`.
pub fn trial_labels(trials: &[TrialRecord]) -> Vec<String> {
    let mut numbers: BTreeMap<&str, u32> = BTreeMap::new();
    let mut label = |trial: &TrialRecord| {
        let purpose = trial.purpose.name();
        let number = numbers.entry(purpose).or_default();
        *number += 1;
        format!("{purpose} {number}: {}/s", significant(trial.rate_per_s))
    };
    trials.iter().map(&mut label).collect()
}
