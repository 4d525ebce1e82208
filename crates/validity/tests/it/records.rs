//! Records are judged by what they hold.

use bakeoff_model::load::UserCount;
use bakeoff_model::record::{IntervalRecord, RunRecords, read_run};
use bakeoff_model::validity::{FairnessVerdict, RequiredReading, Validity};
use bakeoff_validity::{judge_record, judged_record};

const RUN: &str = include_str!("../../../model/tests/it/fixtures/run.jsonl");

fn read(text: &str) -> (RunRecords, IntervalRecord) {
    let run = read_run(text).unwrap();
    let interval = run.intervals[0].clone();
    (run, interval)
}

#[test]
fn a_record_says_what_it_holds() {
    let (run, interval) = read(RUN);
    assert_eq!(judge_record(&run.begin, &interval), interval.validity);
    assert_eq!(
        judged_record(&run.begin, &interval).validity,
        interval.validity
    );
}

#[test]
fn users_without_think_time_are_judged_as_closed_load() {
    let (run, mut interval) = read(RUN);
    let load = &mut interval.load;
    let places = u64::from(load.connections.in_flight_max);
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
fn readings_that_records_go_without_void_nothing() {
    let (mut run, mut interval) = read(RUN);
    run.begin.not_recorded = vec![RequiredReading::CoreTimes, RequiredReading::Turnaround];
    (interval.host, interval.load.turnaround_ns) = (None, None);
    interval.validity = Validity::fair();
    let validity = judge_record(&run.begin, &interval);
    assert!(
        validity
            .diagnostics()
            .any(|diagnostic| diagnostic == "not recorded: times of each core, turnaround"),
        "{validity:?}"
    );
    interval.load.errors.clear();
    let validity = judged_record(&run.begin, &interval).validity;
    assert_ne!(validity.verdict(), FairnessVerdict::Unknown, "{validity}");
    // Work of others was judged by readings that are not in the records.
    interval.validity =
        Validity::recorded(FairnessVerdict::HostBound, "something else used 0.30 cores");
    let kept = judged_record(&run.begin, &interval).validity;
    assert!(kept.verdict() >= FairnessVerdict::HostBound);
}
