//! Made-up results: latency in open load.

use bakeoff_analysis::{Analysis, AnalysisInput, Conclusion};
use bakeoff_model::load::histogram::Histogram;
use bakeoff_model::record::{IntervalRecord, Results, RunRecords};
use serde_json::{Value, json};

pub(crate) const SECOND: u64 = 1_000_000_000;

pub(crate) const RATE: f64 = 4000.0;

/// The open load of a contender in a set.
#[derive(Clone, Copy)]
pub(crate) struct Open {
    /// The p50, and a tenth of the p99, ms.
    pub(crate) time_ms: f64,
    /// Requests in all its slices.
    pub(crate) requests: u64,
    /// Requests that were due.
    pub(crate) offered: u64,
}

pub(crate) fn held(time_ms: f64, requests: u64) -> Open {
    Open {
        time_ms,
        requests,
        offered: requests,
    }
}

/// All requests take that time, but for two in a hundred that take ten times as long.
pub(crate) fn times(requests: u64, time_ms: f64) -> Histogram {
    let mut times = Histogram::new();
    for index in 0..requests {
        let factor = if index % 50 == 0 { 10.0 } else { 1.0 };
        let time = std::time::Duration::from_secs_f64(time_ms * factor / 1e3);
        times.record(u64::try_from(time.as_nanos()).unwrap());
    }
    times
}

pub(crate) fn interval(step: usize, slice: u32, warm_up: bool, load: &Value) -> IntervalRecord {
    let start_ns = 60 * SECOND * step as u64 + SECOND * u64::from(slice);
    let mut whole = json!({
        "step": step, "slice": slice, "start_ns": start_ns, "end_ns": start_ns + SECOND,
        "errors": {}, "censored": Histogram::new(), "sent_bytes": 1, "received_bytes": 1,
        "connections": {"asked": 8, "established": 8, "in_flight_max": 8, "reconnects": 0},
        "generator_cpu": {"user_ns": 1000, "system_ns": 1000}, "generator_threads": 1,
    });
    let fields = load.as_object().unwrap().clone();
    whole.as_object_mut().unwrap().extend(fields);
    let mut record = json!({
        "connections": 8, "warm_up": warm_up, "load": whole, "validity": {"validity": "fair"},
    });
    if step == 1 {
        record["latency_rate_per_s"] = json!(RATE);
        if !warm_up {
            record["unloaded"] = json!({"cpu_ns": SECOND / 250, "wall_ns": SECOND});
        }
    }
    serde_json::from_value(record).unwrap()
}

/// A second of turns, whose times are short.
pub(crate) fn of_turns() -> IntervalRecord {
    let turns: Vec<[u64; 8]> = (0..20)
        .map(|block| [block, block * 50_000, 50_000, 1000, 300, 0, 0, 0])
        .collect();
    let load = json!({"requests": 6000, "service_time": times(6000, 0.001), "turns": turns});
    interval(0, 0, false, &load)
}

pub(crate) fn of_open(slice: u32, requests: u64, offered: u64, time_ms: f64) -> IntervalRecord {
    let load = json!({
        "requests": requests, "offered": offered, "service_time": times(requests, time_ms),
        "response_time": times(requests, time_ms), "send_lag": times(requests, 0.000_01),
    });
    interval(1, slice, slice == 0, &load)
}

pub(crate) fn run(contender: &str, repetition: u32, open: Option<Open>) -> RunRecords {
    let steps = json!([{
        "connections": 8, "duration_ns": SECOND, "pace": {"model": "closed"}, "warm_up": false,
    }]);
    let begin = json!({
        "format": 2, "attempt": 1, "suite": "s", "suite_digest": "", "profile": "p",
        "runtime": "external", "backend": "none", "at": "2026-11-25T00:00:00Z", "describe": "",
        "language": "", "note": null, "version": null, "artifact_digest": null,
        "enforcement": "cgroup-v2", "traffic_path": "loopback",
        "cores": {"contender": [0], "generator": [1], "backend": []},
        "host": {"kernel": "", "cpu_model": "", "cores": 2, "memory_bytes": 1, "governor": null,
                 "mitigations": {}, "os": "", "nofile": 1, "versions": {}, "generator": null},
        "not_recorded": ["turnaround"],
        "run": {
            "id": format!("b.{contender}.r{repetition}"), "order": 0, "repetition": repetition,
            "benchmark": "b", "contender": contender, "parameters": {}, "limits": {},
            "steps": steps, "in_turns": true, "lifecycle": false, "expected_ns": SECOND,
            "latency": {"connections": 8, "duration_ns": 3 * SECOND, "slice_ns": SECOND},
        },
    });
    let end = json!({
        "at": "2026-11-25T00:01:00Z", "outcome": {"outcome": "completed"},
        "last_connections": null, "notes": [],
    });
    let mut intervals = vec![of_turns()];
    if let Some(open) = open {
        // Warm-up is in no number.
        intervals.push(of_open(0, 2000, 2000, 500.0));
        let slices = 1..=3;
        let each = (open.requests / 3, open.offered / 3, open.time_ms);
        intervals.extend(slices.map(|slice| of_open(slice, each.0, each.1, each.2)));
    }
    RunRecords {
        begin: serde_json::from_value(begin).unwrap(),
        startup: None,
        probes: Vec::new(),
        checks: Vec::new(),
        idle: Vec::new(),
        intervals,
        fleets: Vec::new(),
        metrics: Vec::new(),
        trials: Vec::new(),
        capacities: Vec::new(),
        end: Some(serde_json::from_value(end).unwrap()),
    }
}

/// Results of two contenders, with the open load of each in each set.
pub(crate) fn results(sets: &[[Option<Open>; 2]]) -> Results {
    let sets = (1..).zip(sets);
    let runs = sets.flat_map(|(repetition, [one, two])| {
        [run("one", repetition, *one), run("two", repetition, *two)]
    });
    Results {
        runs: runs.collect(),
        ..Results::default()
    }
}

/// Both contenders' p50 and p99 in ms, and the sentences about response times.
#[track_caller]
pub(crate) fn check(sets: &[[Option<Open>; 2]], times: [[Option<f64>; 2]; 2], sentences: &[&str]) {
    let results = results(sets);
    let analysis = Analysis::of(&AnalysisInput::new(&results, "t"));
    let summary = &analysis.loads[0].summary;
    let near = |found: Option<f64>, expect: Option<f64>| match (found, expect) {
        (Some(found), Some(expect)) => (found / expect - 1.0).abs() < 0.02,
        (found, expect) => found == expect,
    };
    for (label, [p50, p99]) in ["one", "two"].into_iter().zip(times) {
        let row = summary.row(label).unwrap();
        assert!(
            near(row.stated.p50_ms, p50),
            "{label}: {:?}",
            row.stated.p50_ms
        );
        assert!(
            near(row.stated.p99_ms, p99),
            "{label}: {:?}",
            row.stated.p99_ms
        );
    }
    let tables = summary.tables.iter();
    let found: Vec<String> = tables
        .flat_map(|table| &table.times)
        .map(Conclusion::sentence)
        .collect();
    assert_eq!(found, sentences);
}
