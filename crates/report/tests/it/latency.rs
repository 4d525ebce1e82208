//! Records of contenders that took turns and were then loaded at one rate.

use bakeoff_analysis::{Analysis, AnalysisInput, Conclusion};
use bakeoff_model::load::histogram::Histogram;
use bakeoff_model::record::{IntervalRecord, Results, RunRecords};
use bakeoff_report::{csv, html, markdown, terminal_table};
use bakeoff_stats::Verdict;
use serde_json::{Value, json};

const SECOND: u64 = 1_000_000_000;
const RATE: f64 = 4000.0;

/// The open load of a contender in a set.
#[derive(Clone, Copy)]
struct Open {
    /// Its p50, and a tenth of its p99, ms.
    time_ms: f64,
    /// Requests in all its slices.
    requests: u64,
    /// Requests that were due.
    offered: u64,
}

fn held(time_ms: f64, requests: u64) -> Open {
    Open {
        time_ms,
        requests,
        offered: requests,
    }
}

/// All requests take that time, but for two in a hundred that take ten times as long.
fn times(requests: u64, time_ms: f64) -> Histogram {
    let mut times = Histogram::new();
    for index in 0..requests {
        let factor = if index % 50 == 0 { 10.0 } else { 1.0 };
        let time = std::time::Duration::from_secs_f64(time_ms * factor / 1e3);
        times.record(u64::try_from(time.as_nanos()).unwrap());
    }
    times
}

fn interval(step: usize, slice: u32, warm_up: bool, load: &Value) -> IntervalRecord {
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
fn of_turns() -> IntervalRecord {
    let turns: Vec<[u64; 8]> = (0..20)
        .map(|block| [block, block * 50_000, 50_000, 1000, 300, 0, 0, 0])
        .collect();
    let load = json!({"requests": 6000, "service_time": times(6000, 0.001), "turns": turns});
    interval(0, 0, false, &load)
}

fn of_open(slice: u32, requests: u64, offered: u64, time_ms: f64) -> IntervalRecord {
    let load = json!({
        "requests": requests, "offered": offered, "service_time": times(requests, time_ms),
        "response_time": times(requests, time_ms), "send_lag": times(requests, 0.000_01),
    });
    interval(1, slice, slice == 0, &load)
}

fn run(contender: &str, repetition: u32, open: Option<Open>) -> RunRecords {
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

/// Of each set the open load of one and of two.
fn results(sets: &[[Option<Open>; 2]]) -> Results {
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
fn check(sets: &[[Option<Open>; 2]], times: [[Option<f64>; 2]; 2], sentences: &[&str]) {
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

#[test]
fn percentiles_are_of_the_open_load_and_not_of_the_turns() {
    let sets = [
        [Some(held(1.0, 12_000)), Some(held(1.3, 12_000))],
        [Some(held(1.1, 12_000)), Some(held(1.45, 12_000))],
        [Some(held(0.9, 12_000)), Some(held(1.18, 12_000))],
    ];
    check(
        &sets,
        [[Some(1.0), Some(10.0)], [Some(1.31), Some(13.1)]],
        &[
            "two serves 99 % of the requests in 1.31 times the time of one (95 %: 1.29–1.33, \
           3 sets), at 4000 requests/s each: slower; half of the requests in 1.31 times the time \
           of one (95 %: 1.29–1.33, 3 sets)",
        ],
    );
    let results = results(&sets);
    let analysis = Analysis::of(&AnalysisInput::new(&results, "t"));
    let text = terminal_table(&analysis, 120);
    assert!(
        text.contains("p99 in open load at 4000 requests/s"),
        "{text}"
    );
    assert!(
        text.contains("two serves 99 % of the requests in"),
        "{text}"
    );
    assert!(
        text.contains("While others had the open load, contenders used 0.4 % of a core."),
        "{text}"
    );
    let page = html(&analysis);
    assert!(page.contains("in open load at 4000 requests/s"));
    // Each against each: 1.31 times the time is slower.
    assert!(page.contains("<caption>p99 in open load</caption>"));
    let of_pair = analysis.loads[0].summary.tables[0].p99_matrix.as_ref();
    let of_pair = of_pair.unwrap().pairs.get(1, 0).unwrap();
    assert_eq!(of_pair.verdict, Verdict::Slower, "{of_pair:?}");
    let page = markdown(&analysis);
    assert!(
        page.contains("- two serves 99 % of the requests in"),
        "{page}"
    );
    let rows = csv(&analysis);
    let open = rows.lines().filter(|line| line.contains("open load at"));
    assert_eq!(open.count(), 6);
    // The turns count for throughput, and their times are nowhere.
    let row = analysis.loads[0].summary.row("one").unwrap();
    assert!((row.peak.throughput.estimate.point - 6000.0).abs() < 1.0);
    let steps = analysis.loads[0].data.cases[0].runs[0].steps.iter();
    assert!(steps.clone().count() == 1 && steps.clone().all(|step| step.latency().is_none()));
}

#[test]
fn too_few_requests_beyond_a_percentile_are_a_dash() {
    let sets = |requests: u64| {
        let times = [[1.0, 1.3], [1.1, 1.45], [0.9, 1.18]];
        times.map(|both| both.map(|time_ms| Some(held(time_ms, requests))))
    };
    let half = "two serves half of the requests in 1.31 times the time of one (95 %: 1.29–1.33, \
                3 sets), at 4000 requests/s each: slower";
    check(
        &sets(4900),
        [[Some(1.0), None], [Some(1.31), None]],
        &[half],
    );
    let results = results(&sets(4900));
    let analysis = Analysis::of(&AnalysisInput::new(&results, "t"));
    assert_eq!(analysis.loads[0].summary.tables[0].p99_matrix, None);
    check(&sets(90), [[None, None]; 2], &[]);
    check(&[[None, None]; 3], [[None, None]; 2], &[]);
}

#[test]
fn a_rate_that_was_not_held_is_a_dash() {
    let missed = Open {
        offered: 24_000,
        ..held(1.0, 12_000)
    };
    let good = held(1.0, 12_000);
    let sets = [[Some(good), Some(good)], [Some(good), Some(missed)]];
    check(&sets, [[Some(1.0), Some(10.0)], [None, None]], &[]);
}

#[test]
fn the_first_byte_is_shown_where_responses_came_in_parts() {
    let set = [Some(held(40.0, 3000)), Some(held(20.0, 3000))];
    let mut results = results(&[set, set]);
    let page = markdown(&Analysis::of(&AnalysisInput::new(&results, "t")));
    assert!(!page.contains("first byte"), "{page}");
    // Of the first contender alone, after the warm-up.
    for run in results.runs.iter_mut().step_by(2) {
        for interval in run.intervals.iter_mut().skip(2) {
            interval.load.first_byte = Some(times(interval.load.requests, 10.0));
        }
    }
    let analysis = Analysis::of(&AnalysisInput::new(&results, "t"));
    let rows = &analysis.loads[0].first_bytes;
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!(
        (rows[0].label.as_str(), rows[0].step.as_str()),
        ("one", "open load at 4000/s")
    );
    let near = |found: f64, expect: f64| (found / expect - 1.0).abs() < 0.02;
    assert!(
        near(rows[0].first[0], 10.0) && near(rows[0].first[1], 100.0),
        "{rows:?}"
    );
    assert!(
        near(rows[0].end[0], 40.0) && near(rows[0].end[1], 400.0),
        "{rows:?}"
    );
    assert!(html(&analysis).contains("Time to the first byte"));
    assert!(markdown(&analysis).contains("### Time to the first byte"));
}
