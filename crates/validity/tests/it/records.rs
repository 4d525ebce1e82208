//! Records are judged by what they hold, whatever their age.

use bakeoff_model::load::UserCount;
use bakeoff_model::record::{IntervalRecord, RunRecords, read_run};
use bakeoff_model::validity::{FairnessVerdict, Validity};
use bakeoff_validity::{judge_record, judged_record};

const FORMAT_1: &str = include_str!("../../../model/tests/it/fixtures/run-format-1.jsonl");
const FORMAT_2: &str = include_str!("../../../model/tests/it/fixtures/run-format-2.jsonl");

fn read(text: &str) -> (RunRecords, IntervalRecord) {
    let run = read_run(text).unwrap();
    let interval = run.intervals[0].clone();
    (run, interval)
}

#[test]
fn a_record_of_today_says_what_it_holds() {
    let (run, interval) = read(FORMAT_2);
    assert_eq!(judge_record(&run.begin, &interval), interval.validity);
    assert_eq!(
        judged_record(&run.begin, &interval).validity,
        interval.validity
    );
}

#[test]
fn users_without_think_time_are_judged_as_closed_load() {
    let (run, mut interval) = read(FORMAT_2);
    let load = &mut interval.load;
    let places = u64::from(load.connections.places());
    let wall_ns = load.end_ns - load.start_ns;
    load.users = Some(UserCount {
        finished: load.requests,
        gave_up: 0,
    });
    let generator_bound = |interval: &IntervalRecord| {
        let validity = judge_record(&run.begin, interval);
        validity
            .reasons()
            .iter()
            .any(|reason| reason.verdict == FairnessVerdict::GeneratorBound)
    };
    load.turnaround_ns = Some(places * wall_ns);
    assert!(generator_bound(&interval));
    interval.load.turnaround_ns = None;
    assert!(!generator_bound(&interval), "think time is not recorded");
}

#[test]
fn what_format_1_did_not_record_voids_nothing() {
    let (run, mut interval) = read(FORMAT_1);
    let validity = judge_record(&run.begin, &interval);
    assert!(
        validity
            .diagnostics()
            .any(|diagnostic| diagnostic.contains("not in records of this age")),
        "{validity:?}"
    );
    interval.load.errors.clear();
    let validity = judged_record(&run.begin, &interval).validity;
    assert_ne!(validity.verdict(), FairnessVerdict::Unknown, "{validity}");
    // Work of others was judged by readings that are not there any more.
    interval.validity =
        Validity::recorded(FairnessVerdict::HostBound, "something else used 0.30 cores");
    let kept = judged_record(&run.begin, &interval).validity;
    assert!(kept.verdict() >= FairnessVerdict::HostBound);
}
