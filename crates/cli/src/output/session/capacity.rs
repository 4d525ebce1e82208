//! Searches for a capacity, a trial at a time: lines for the terminal.

use bakeoff_model::suite::capacity::{
    CapacityRange, CapacityRecord, Purpose, SearchEnd, TrialRecord, TrialVerdict,
};

/// The outcome of a trial: a line for each objective, which is named if there are `several`.
pub(crate) fn trial(record: &TrialRecord, several: bool) -> Vec<String> {
    let what = match record.purpose {
        Purpose::Search => "trial",
        Purpose::Confirmation => "confirmation",
    };
    let line = |verdict: &TrialVerdict| {
        let objective = match several {
            true => format!(" {}:", verdict.slo),
            false => String::new(),
        };
        let known = verdict.capacity.map(|range| ends(&range));
        let known = known.map(|ends| format!("; the capacity is now believed to be {ends}"));
        let why = verdict.disturbance.as_ref().map(|why| format!("; {why}"));
        format!(
            "{what} at {}/s:{objective} {} ({}){}{}",
            rate(record.rate_per_s),
            verdict.outcome,
            verdict.found,
            known.unwrap_or_default(),
            why.unwrap_or_default()
        )
    };
    record.verdicts.iter().map(line).collect()
}

/// Returns the result for an objective: one sentence without full stop.
pub(crate) fn found(record: &CapacityRecord) -> String {
    let slo = &record.slo;
    let Some(range) = record.capacity else {
        let why = record.without().unwrap_or_default();
        return format!("no capacity by {slo}: {why}");
    };
    let last = record.last_before_failure_per_s;
    let last = last.map(|last| format!("; no trial up to {}/s was missed", rate(last)));
    let short = match record.ended {
        SearchEnd::OutOfTrials => "; the trials ran out before the interval was as narrow as asked",
        _ => "",
    };
    format!(
        "capacity by {slo}: {}/s, at which one trial in two is met (95 %: {}), after {} \
         trials{}{short}",
        rate(range.rate_per_s),
        ends(&range),
        record.trials,
        last.unwrap_or_default(),
    )
}

fn ends(range: &CapacityRange) -> String {
    format!("{} to {}/s", rate(range.low_per_s), rate(range.high_per_s))
}

/// Whole numbers from a hundred on, else three digits.
fn rate(per_s: f64) -> String {
    let decimals = match per_s {
        high if high >= 100.0 => 0,
        middle if middle >= 10.0 => 1,
        _ => 2,
    };
    format!("{per_s:.decimals$}")
}

#[cfg(test)]
mod tests {
    use bakeoff_model::suite::capacity::{
        CapacityRange, CapacityRecord, Purpose, SearchEnd, TrialOutcome, TrialRecord, TrialVerdict,
    };

    use super::{found, trial};

    #[test]
    fn trials_and_what_they_come_to_are_lines() {
        let slo = "p99 <= 50ms".parse().unwrap();
        let range = CapacityRange {
            rate_per_s: 812.4,
            low_per_s: 99.96,
            high_per_s: 9.5,
        };
        let mut record = CapacityRecord {
            slo,
            ended: SearchEnd::Narrow,
            capacity: Some(range),
            last_before_failure_per_s: Some(805.0),
            trials: 12,
            disturbance: None,
        };
        assert_eq!(
            found(&record),
            "capacity by p99 <= 50ms: 812/s, at which one trial in two is met (95 %: 100.0 to \
             9.50/s), after 12 trials; no trial up to 805/s was missed"
        );
        record.ended = SearchEnd::OutOfTrials;
        let text = found(&record);
        assert!(
            text.ends_with("before the interval was as narrow as asked"),
            "{text}"
        );
        record.capacity = None;
        record.ended = SearchEnd::BelowRange;
        assert_eq!(
            found(&record),
            "no capacity by p99 <= 50ms: missed even at the lowest rate"
        );
        let verdict = TrialVerdict {
            slo: record.slo,
            outcome: TrialOutcome::Disturbed,
            found: "p99 63.10 ms".to_owned(),
            disturbance: Some("host-bound: steal".to_owned()),
            capacity: None,
        };
        let record = TrialRecord {
            step: 3,
            purpose: Purpose::Confirmation,
            rate_per_s: 788.0,
            verdicts: vec![verdict],
        };
        assert_eq!(
            trial(&record, true),
            ["confirmation at 788/s: p99 <= 50ms: disturbed (p99 63.10 ms); host-bound: steal"]
        );
    }
}
