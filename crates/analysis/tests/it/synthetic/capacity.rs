//! Made-up results: searches for a capacity.

use std::time::Duration;

use bakeoff_model::plan::RunKind;
use bakeoff_model::record::{Results, RunRecords};
use bakeoff_model::suite::capacity::{
    Arrivals, Capacity, CapacityRange, CapacityRecord, Purpose, SearchEnd, TrialOutcome,
    TrialRecord, TrialVerdict,
};

use crate::synthetic::{self, Contender};

pub(crate) const SLOS: [&str; 2] = ["p99 <= 10ms", "p99 <= 50ms"];

/// A run that found these rates; `None` for an objective that is not met at all.
pub(crate) fn searched(one: &Contender, repetition: u32, rates: [Option<f64>; 2]) -> RunRecords {
    let mut run = synthetic::run("capacity", one, repetition, repetition as usize);
    let capacity = Capacity {
        slos: SLOS.map(|slo| slo.parse().unwrap()).to_vec(),
        rates: None,
        arrivals: Arrivals::Constant,
        connections: 64,
        trial: Duration::from_secs(5),
        trials_at_most: 20,
        within: 0.03,
    };
    let planned = &mut run.begin.run;
    planned.kind = RunKind::Capacity;
    planned.steps = vec![capacity.closed_step()];
    // The steps after the first one are those of the trials.
    let range = |rate: f64| CapacityRange {
        rate_per_s: rate,
        low_per_s: rate * 0.98,
        high_per_s: rate * 1.02,
    };
    for (index, (slo, rate)) in capacity.slos.iter().zip(rates).enumerate() {
        run.capacities.push(CapacityRecord {
            slo: slo.clone(),
            ended: match rate {
                Some(_) => SearchEnd::Narrow,
                None => SearchEnd::BelowRange,
            },
            capacity: rate.map(range),
            last_before_failure_per_s: rate.map(|rate| rate * 0.9),
            trials: 9,
            disturbance: None,
        });
        let verdict = TrialVerdict {
            slo: slo.clone(),
            outcome: TrialOutcome::Met,
            found: "p99 4.20 ms".to_owned(),
            disturbance: None,
            capacity: rate.map(range),
        };
        let mut trial = TrialRecord {
            step: 2 * index + 1,
            purpose: Purpose::Search,
            rate_per_s: rate.unwrap_or(1.0) * 0.99,
            verdicts: vec![verdict],
        };
        run.trials.push(trial.clone());
        trial.step += 1;
        trial.purpose = Purpose::Confirmation;
        trial.verdicts[0].outcome = match repetition {
            2 => TrialOutcome::Missed,
            _ => TrialOutcome::Met,
        };
        run.trials.extend((repetition > 1).then_some(trial));
    }
    planned.capacity = Some(capacity);
    run
}

pub(crate) fn results() -> Results {
    let fast = synthetic::contender("synthetic-fast", 9000.0, 100.0);
    let slow = synthetic::contender("synthetic-slow", 3000.0, 300.0);
    let never = synthetic::contender("synthetic-never", 3000.0, 300.0);
    let mut runs = Vec::new();
    for (repetition, level) in [(1, 0.99), (2, 1.0), (3, 1.0 / 0.99)] {
        let rates = |low: f64, high: f64| [Some(low * level), Some(high * level)];
        runs.push(searched(&fast, repetition, rates(4000.0, 9000.0)));
        runs.push(searched(&slow, repetition, rates(1000.0, 4000.0)));
        runs.push(searched(&never, repetition, [None, Some(2000.0 * level)]));
    }
    Results {
        runs,
        ..Results::default()
    }
}
