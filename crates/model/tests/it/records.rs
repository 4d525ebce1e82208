//! Files of runs: they are read as they were written; torn and newer files are distinguished.

use bakeoff_model::load::{ErrorClass, TurnCount};
use bakeoff_model::measure::core_sharing::CoreSharing;
use bakeoff_model::plan::RunKind;
use bakeoff_model::record::{self, Moment, Others, Outcome, Record, Unloaded};
use bakeoff_model::request::check::CheckOutcome;
use bakeoff_model::suite::capacity::{SearchEnd, TrialOutcome};
use bakeoff_model::validity::FairnessVerdict;

/// A run with checks, a slice and everything that is read of it.
const RUN: &str = include_str!("fixtures/run.jsonl");

/// A cold start.
const START: &str = include_str!("fixtures/start.jsonl");

/// A run whose contender took turns with others.
const TURNS: &str = include_str!("fixtures/turns.jsonl");

/// A step of two load generators.
const FLEET: &str = include_str!("fixtures/fleet.jsonl").trim_ascii();

/// The metrics of a contender in a step, and why there are none in another one.
const METRICS: &str = include_str!("fixtures/metrics.jsonl").trim_ascii();

/// A run that searched for a capacity; its slices are left out.
const CAPACITY: &str = include_str!("fixtures/capacity.jsonl");

/// A slice of users that opened their connections as they arrived.
const USERS: &str = include_str!("fixtures/users.jsonl").trim_ascii();

#[test]
fn metrics_of_contenders_are_read() {
    let mut lines: Vec<&str> = RUN.lines().collect();
    let last = lines.len() - 1;
    lines.splice(last..last, METRICS.lines());
    let run = record::read_run(&lines.join("\n")).unwrap();
    let [told, missing] = run.metrics.as_slice() else {
        panic!("two steps: {:?}", run.metrics);
    };
    assert_eq!((told.step, told.left_out, &told.problem), (3, 12, &None));
    let series = told.series.iter();
    let values: Vec<_> = series.map(|one| (one.growth(), one.gauge())).collect();
    // The second one started anew.
    assert_eq!(
        values,
        [(Some(250.0), None), (None, None), (None, Some(-0.5))]
    );
    assert!(missing.series.is_empty() && missing.problem.is_some());
    let written = run.metrics.iter().cloned().map(Record::Metrics);
    let written: String = written.map(|one| record::write_line(&one)).collect();
    assert_eq!(written.trim_end(), METRICS);
    // Before there was this, nothing was read.
    assert!(record::read_run(RUN).unwrap().metrics.is_empty());
}

#[test]
fn users_who_failed_to_connect_are_read() {
    let mut lines: Vec<&str> = RUN.lines().collect();
    lines.insert(lines.len() - 1, USERS);
    let run = record::read_run(&lines.join("\n")).unwrap();
    let [first, users] = run.intervals.as_slice() else {
        panic!("two slices: {}", run.intervals.len());
    };
    let refused = &users.load.errors[&ErrorClass::ConnectRefused];
    assert_eq!(refused.times.as_ref().unwrap().count(), refused.count);
    let part = &users.load.by_request[0];
    let failed_times = part.failed_times.as_ref().unwrap();
    assert_eq!(failed_times.count(), part.failures);
    let connections = users.load.connections;
    assert!(connections.on_arrival);
    assert_eq!((connections.asked, connections.missing()), (64, 0));
    let record = Record::Interval(Box::new(users.clone()));
    let written: serde_json::Value = serde_json::from_str(&record::write_line(&record)).unwrap();
    let read: serde_json::Value = serde_json::from_str(USERS).unwrap();
    assert_eq!(written["load"]["errors"], read["load"]["errors"]);
    assert_eq!(written["load"]["by_request"], read["load"]["by_request"]);
    // Before there was this, failures had no times, and connections were open before a step.
    let reset = &first.load.errors[&ErrorClass::Reset];
    assert_eq!((reset.count, &reset.times), (1, &None));
    assert!(!first.load.connections.on_arrival);
    assert_eq!(first.load.connections.missing(), 1);
}

#[test]
fn a_second_process_that_was_warmed_up_is_read() {
    let run = record::read_run(TURNS).unwrap();
    assert!(run.begin.run.process_label().ends_with(" (twin)"));
    let at_least = run.begin.run.steps[0].at_least;
    assert_eq!(at_least.map(|time| time.as_secs()), Some(10));
    let warmth = run.intervals[0].warmth.unwrap();
    assert_eq!((warmth.slices, warmth.rise_least), (12, -0.003));
    let whole = record::read_run(RUN).unwrap();
    assert_eq!(whole.intervals[0].warmth, None);
    assert!(!whole.begin.run.twin);
}

#[test]
fn turns_are_read() {
    let run = record::read_run(TURNS).unwrap();
    assert!(run.begin.run.in_turns);
    assert_eq!(run.begin.run.group, Some(2));
    let slice = &run.intervals[0];
    assert_eq!(slice.load.side, 2);
    let expected = TurnCount {
        block: 175,
        start_us: 7_000_120,
        length_us: 40_210,
        drain_us: 312,
        requests: 1,
        failed: 1,
        own_cpu_us: 30_100,
        others_cpu_us: 150,
    };
    assert_eq!(slice.load.turns[0], expected);
    let blocks = slice.load.turns.iter().map(|turn| turn.block);
    assert_eq!(blocks.collect::<Vec<_>>(), [175, 176]);
    assert_eq!(slice.load.length_ns(), 80_305_000, "of the turns alone");
    let others = Others {
        cpu_ns: 810_000_000,
        generator_cpu_ns: 70_000_000,
        requests: 5,
    };
    assert_eq!(slice.others, Some(others));
    assert_eq!(slice.unloaded, None, "of the open load alone");
    let unloaded = Unloaded {
        cpu_ns: 2_400_000,
        wall_ns: 2_012_000_000,
    };
    assert_eq!(run.intervals[1].unloaded, Some(unloaded));
    let whole = record::read_run(RUN).unwrap();
    assert_eq!(whole.begin.run.group, None);
    assert!(!whole.begin.run.in_turns, "runs without the key are whole");
    let slice = &whole.intervals[0];
    assert_eq!((slice.others, slice.load.turns.len()), (None, 0));
    assert_eq!(
        slice.load.length_ns(),
        slice.load.end_ns - slice.load.start_ns
    );
}

#[test]
fn what_each_load_generator_did_is_read() {
    let mut lines: Vec<&str> = RUN.lines().collect();
    lines.insert(lines.len() - 1, FLEET);
    let run = record::read_run(&lines.join("\n")).unwrap();
    let [fleet] = run.fleets.as_slice() else {
        panic!("one step: {:?}", run.fleets);
    };
    assert_eq!(fleet.step, 1);
    assert_eq!(fleet.receipt.start_skew_ns, Some(1_400_000));
    let [first, second] = fleet.receipt.parts.as_slice() else {
        panic!("two parts: {:?}", fleet.receipt.parts);
    };
    assert_eq!(
        (first.requests, first.clock, &first.lost),
        (1500, None, &None)
    );
    assert_eq!(second.clock.unwrap().ahead_ns, -81_000);
    assert_eq!(second.lost.as_deref(), Some("silent for 12 s"));
    let record = Record::Fleet(fleet.clone());
    assert_eq!(record::write_line(&record).trim_end(), FLEET);
    assert!(record::read_run(RUN).unwrap().fleets.is_empty());
}

#[test]
fn a_search_for_a_capacity_is_read() {
    let run = record::read_run(CAPACITY).unwrap();
    assert_eq!(run.begin.run.kind, RunKind::Capacity);
    let asked = run.begin.run.capacity.unwrap();
    assert_eq!((asked.slos.len(), asked.trial.as_secs()), (1, 5));
    let outcomes = run.trials.iter().map(|trial| trial.verdicts[0].outcome);
    let expect = [TrialOutcome::Met, TrialOutcome::Disturbed];
    assert_eq!(outcomes.collect::<Vec<_>>(), expect);
    let found = &run.capacities[0];
    assert_eq!((found.ended, found.trials), (SearchEnd::Narrow, 11));
    assert_eq!(found.capacity.unwrap().rate_per_s, 8050.0);
    let other = record::read_run(RUN).unwrap();
    assert_eq!((other.trials, other.capacities), (Vec::new(), Vec::new()));
}

#[test]
fn what_cores_lose_to_each_other_is_read() {
    let host = record::read_run(CAPACITY).unwrap().begin.host;
    let expect = CoreSharing {
        contender: 0,
        generator: vec![1],
        slowdown: 0.012,
        quartiles: [-0.004, 0.031],
    };
    assert_eq!(host.core_sharing, Some(expect));
    let other = record::read_run(RUN).unwrap();
    assert_eq!(other.begin.host.core_sharing, None);
}

#[test]
fn a_cold_start_is_read() {
    let run = record::read_run(START).unwrap();
    assert_eq!(run.begin.run.kind, RunKind::Startup);
    assert_eq!(run.startup.unwrap().image_bytes, Some(60 << 20));
    assert_eq!(
        record::read_run(RUN).unwrap().begin.run.kind,
        RunKind::Load,
        "runs without a kind are loads"
    );
}

#[test]
fn a_run_is_read() {
    let run = record::read_run(RUN).unwrap();
    assert_eq!(run.begin.run.id, "city-get.http4k-3_undertow.WORKERS=8.r2");
    assert_eq!(run.begin.run.case_label(), "http4k-3/undertow[WORKERS=8]");
    assert_eq!(run.begin.run.work.backend_requests_min, Some(1.0));
    assert_eq!(run.startup.unwrap().startup_ns, 812_000_000);
    assert_eq!(run.probes[0].cpu_ns, 1_200_000_000);
    assert_eq!(run.checks.len(), 2);
    assert_eq!(
        run.checks[1].outcome,
        CheckOutcome::Bad {
            assertion: "status: expected 400, found 200".to_owned()
        }
    );
    assert_eq!(run.idle[0].moment, Moment::Checked);
    assert_eq!(run.end.unwrap().outcome, Outcome::Completed);
}

#[test]
fn a_slice_is_read() {
    let run = record::read_run(RUN).unwrap();
    let interval = &run.intervals[0];
    assert_eq!(interval.load.requests, 3);
    assert_eq!(interval.load.errors[&ErrorClass::Reset].count, 1);
    assert_eq!(interval.load.service_time.count(), 3);
    assert_eq!(
        interval.host.as_ref().unwrap().cores[0].stolen_ns,
        30_000_000
    );
    let after = interval.contender_after.as_ref().unwrap();
    assert_eq!(after.tcp.unwrap().listen_drops, 1);
    assert_eq!(after.log_lines, Some(44));
    assert_eq!(interval.validity.verdict(), FairnessVerdict::Invalid);
    assert!(interval.validity.reasons().len() > 3);
}

#[test]
fn lines_are_written_as_they_were_read() {
    let without = "\"versions\":{\"bakeoff\":\"0.1.0\"}}}";
    let named = without.replace("}}}", "}},\"not_recorded\":[\"core-times\"]}");
    assert!(START.contains(without));
    let all = [RUN, TURNS, &START.replace(without, &named)].concat();
    for line in all.split_inclusive('\n') {
        let record: Record = serde_json::from_str(line).unwrap();
        assert_eq!(record::write_line(&record), line);
    }
}

#[test]
fn a_killed_run_keeps_what_was_whole() {
    let lines: Vec<&str> = RUN.split_inclusive('\n').collect();
    let whole = record::read_run(RUN).unwrap();
    for cut in lines[0].len()..RUN.len() {
        if !RUN.is_char_boundary(cut) {
            continue;
        }
        let run = record::read_run(&RUN[..cut]).unwrap();
        assert_eq!(run.begin, whole.begin);
        let whole_lines = RUN[..cut].matches('\n').count();
        assert_eq!(
            run.end.is_some(),
            whole_lines >= lines.len() || cut + 1 == RUN.len()
        );
    }
    let torn = record::read_run(&lines[0][..50]).unwrap_err();
    assert_eq!(
        torn.to_string(),
        "the run was killed before its first record was whole"
    );
}

#[test]
fn what_is_no_run_is_refused_with_the_line() {
    let lines: Vec<&str> = RUN.split_inclusive('\n').collect();
    let (begin, end) = (lines[0], lines[lines.len() - 1]);
    let refusal = |lines: &[&str]| record::read_run(&lines.concat()).unwrap_err();
    assert_eq!(
        refusal(&[end]).to_string(),
        "line 1: the first record is not `begin`"
    );
    assert_eq!(
        refusal(&[begin, begin]).to_string(),
        "line 2: a second `begin`"
    );
    assert_eq!(
        refusal(&[begin, end, end]).to_string(),
        "line 3: a record after `end`"
    );
    assert!(
        refusal(&[begin, "{}\n", end])
            .message()
            .starts_with("line 2: missing field `record`")
    );
}

#[test]
fn a_newer_format_is_refused_whatever_it_holds() {
    let newer = "{\"record\":\"begin\",\"format\":3,\"something\":\"new\"}\n";
    assert_eq!(
        record::read_run(newer).unwrap_err(),
        "format 3 is newer than 2, read it with a newer bakeoff".into()
    );
}

#[test]
fn requests_without_a_complete_response_are_read_by_name() {
    let old = record::read_run(RUN).unwrap();
    assert!(old.intervals[0].load.unanswered.is_empty());
    let key = "\"sent_bytes\"";
    assert!(RUN.contains(key));
    let text = RUN.replacen(key, &format!("\"unanswered\":{{\"register\":3}},{key}"), 1);
    let new = record::read_run(&text).unwrap();
    assert_eq!(new.intervals[0].load.unanswered["register"], 3);
}
