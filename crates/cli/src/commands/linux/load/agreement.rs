//! Tests that the progress of a session, `bakeoff load`, the table and `results.csv` show a
//! recorded run with the same numbers, to the digit.

use std::collections::BTreeMap;

use bakeoff_analysis::{Analysis, AnalysisInput};
use bakeoff_base::number::significant;
use bakeoff_model::load::histogram::Histogram;
use bakeoff_model::load::{
    Connections, CpuTime, ErrorClass, ErrorCount, LoadInterval, LoadSpec, Pace, StepSpec, TurnCount,
};
use bakeoff_model::measure::resource::{Memory, ResourceSample};
use bakeoff_model::record::{
    EndRecord, IntervalRecord, Others, Outcome, Record, Results, RunRecords, read_run, write_line,
};
use bakeoff_report::{csv, markdown};
use bakeoff_store::event::{Event, Observer as _};

use super::page::page;
use super::summary::Summary;
use crate::output::session::progress::Progress;
use crate::output::session::shown::Shown;

const SECOND: u64 = 1_000_000_000;

fn times(from_us: u64) -> Histogram {
    let mut times = Histogram::new();
    (0..1000).for_each(|nth| times.record((from_us + nth) * 1000));
    times
}

/// Counters when this number of slices are over. By requests that ended it takes 99.5 us, by
/// successful ones 100.2.
fn sample(slices: u32) -> ResourceSample {
    ResourceSample {
        at_ns: u64::from(slices) * SECOND,
        cpu: Some(CpuTime {
            user_ns: u64::from(slices) * 1_001_965_000,
            system_ns: 0,
        }),
        memory: Some(Memory {
            now_bytes: 1 << 20,
            peak_bytes: (10 << 20) + u64::from(slices) * 100_000,
            ..Memory::default()
        }),
        ..ResourceSample::default()
    }
}

fn slice(nth: u32, pace: Pace, requests: u64) -> IntervalRecord {
    let is_open = pace != Pace::Closed;
    let reset = ErrorCount {
        count: 70,
        ..ErrorCount::default()
    };
    let load = LoadInterval {
        slice: nth,
        start_ns: u64::from(nth) * SECOND,
        end_ns: u64::from(nth + 1) * SECOND,
        requests,
        errors: BTreeMap::from([(ErrorClass::Reset, reset)]),
        service_time: times(1500),
        response_time: is_open.then(|| times(7500)),
        send_lag: is_open.then(|| times(1)),
        offered: is_open.then_some(10_070),
        connections: Connections {
            asked: 64,
            established: 64,
            in_flight_max: 64,
            reconnects: 0,
            on_arrival: false,
        },
        generator_threads: 1,
        ..LoadInterval::default()
    };
    IntervalRecord {
        connections: 64,
        load,
        contender_before: Some(sample(nth)),
        contender_after: Some(sample(nth + 1)),
        ..IntervalRecord::default()
    }
}

/// All of a slice as one turn.
fn turn(nth: u32, requests: u64) -> TurnCount {
    TurnCount {
        block: nth.into(),
        start_us: u64::from(nth) * 1_000_000,
        length_us: 1_000_000,
        drain_us: 0,
        requests,
        failed: 70,
        own_cpu_us: 1_001_965,
        others_cpu_us: 0,
    }
}

/// A record file whose slices have these numbers of requests, read back.
fn recorded(pace: Pace, requests: [u64; 3], in_turns: bool) -> RunRecords {
    let turns = match in_turns {
        true => r#""in_turns":true,"#,
        false => "",
    };
    let pace_json = serde_json::to_string(&pace).unwrap();
    let begin = format!(
        r#"{{"record":"begin","format":2,"run":{{"id":"get.one.r1","order":0,"repetition":1,
        "benchmark":"get","contender":"one","parameters":{{}},"limits":{{}},"steps":[
        {{"connections":64,"duration_ns":3000000000,"pace":{pace_json},"warm_up":false}}],{turns}
        "lifecycle":false,"expected_ns":3000000000}},"attempt":1,"suite":"made-up",
        "suite_digest":"ab","profile":"quick","runtime":"process","backend":"replay",
        "at":"2026-11-24T00:00:00Z","describe":"one","language":"none","note":null,"version":null,
        "artifact_digest":null,"enforcement":"cgroup-v2","traffic_path":"loopback",
        "cores":{{"contender":[0],"generator":[1],"backend":[1]}},"host":{{"kernel":"6","cpu_model":
        "a","cores":2,"memory_bytes":1,"governor":null,"virtualisation":null,"mitigations":{{}},
        "os":"a","nofile":1024,"versions":{{}}}},
        "not_recorded":["core-times","tcp-counters","turnaround"]}}"#
    );
    let slices = (0_u32..).zip(requests).map(|(nth, requests)| {
        let mut slice = slice(nth, pace, requests);
        if in_turns {
            slice.others = Some(Others::default());
            slice.load.turns = vec![turn(nth, requests)];
        }
        Record::Interval(Box::new(slice))
    });
    let end = Record::End(EndRecord {
        at: "2026-11-24T00:00:03Z".to_owned(),
        outcome: Outcome::Completed,
        last_connections: None,
        notes: Vec::new(),
    });
    let lines = slices.chain([end]).map(|record| write_line(&record));
    let text = begin.replace('\n', " ") + "\n" + &lines.collect::<String>();
    read_run(&text).unwrap()
}

/// The numbers of a step as text: requests per second, p50, p99, errors, CPU per request, memory.
/// A view that lacks one has `None`.
type Numbers = [Option<String>; 6];

fn live(run: &RunRecords) -> Numbers {
    let mut output = Vec::new();
    let mut progress = Progress::new(&mut output, false, Shown::Everything);
    let run_began = Event::RunBegan {
        index: 0,
        runs: 1,
        run: Box::new(run.begin.run.clone()),
        attempt: 1,
    };
    let step_began = Event::StepBegan {
        run: run.begin.run.id.clone(),
        step: 0,
        steps: 1,
        connections: 64,
        established: 64,
    };
    progress.observe(&run_began).unwrap();
    progress.observe(&step_began).unwrap();
    let slices = run.intervals.iter().cloned();
    let slices = slices.map(|slice| Record::Interval(Box::new(slice)));
    let end = run.end.clone().map(Record::End);
    for record in slices.chain(end) {
        let recorded = Event::Recorded {
            run: run.begin.run.id.clone(),
            record: Box::new(record),
        };
        progress.observe(&recorded).unwrap();
    }
    let text = String::from_utf8(output).unwrap();
    let last = text.lines().last().unwrap();
    let cells: Vec<&str> = last.split_whitespace().collect();
    assert_eq!((cells.len(), cells[0]), (7, "64"), "{text}");
    // Of contenders that take turns it has no times.
    [1, 2, 3, 4, 5, 6].map(|cell| Some(cells[cell].to_owned()).filter(|text| text != "–"))
}

/// The page of `bakeoff load`, which knows nothing of the service's costs.
fn load(run: &RunRecords, pace: Pace) -> Numbers {
    let step = StepSpec {
        connections: 64,
        duration_ns: 3 * SECOND,
        pace,
        warm_up: false,
        requests_max: 0,
        close_after: false,
        ..StepSpec::default()
    };
    let mut summary = Summary::new(&LoadSpec {
        steps: vec![step],
        ..LoadSpec::default()
    });
    let slices = run.intervals.iter();
    slices.for_each(|slice| summary.add(&slice.load, None));
    let page = page(&summary);
    let line = |name: &str| page.lines().find(|line| line.starts_with(name)).unwrap();
    let words = |name| line(name).split_whitespace().collect::<Vec<&str>>();
    let times = words(if pace == Pace::Closed {
        "service"
    } else {
        "response"
    });
    let (rate, failed) = (words("requests")[5], words("errors")[3]);
    let found = [rate, times[2], times[4], failed].map(|text| Some(text.to_owned()));
    let [rate, p50, p99, failed] = found;
    [rate, p50, p99, failed, None, None]
}

fn table(analysis: &Analysis<'_>) -> Numbers {
    let text = markdown(analysis);
    let cells = |begin: &str| -> Vec<String> {
        let line = text.lines().find(|line| line.starts_with(begin));
        let line = line.unwrap_or_else(|| panic!("no {begin} in {text}"));
        let cells = line.split('|');
        let cells = cells.map(|cell| cell.trim().trim_end_matches(" \\!").to_owned());
        cells.collect()
    };
    let (header, row) = (cells("| # |"), cells("| 1 | one |"));
    // Columns without a value are left out.
    let cell = |title: &str| {
        let place = header.iter().position(|name| name == title);
        let text = place.map(|place| row[place].clone());
        // Of contenders that take turns it has no times.
        text.filter(|text| text != "–")
    };
    let rate = cell("req/s");
    assert!(rate.is_some(), "{header:?}");
    [
        rate,
        None,
        cell("p99 ms"),
        cell("errors"),
        cell("CPU us/req"),
        cell("MiB"),
    ]
}

fn spreadsheet(analysis: &Analysis<'_>) -> Numbers {
    let text = csv(analysis);
    let mut lines = text
        .lines()
        .map(|line| line.split(',').collect::<Vec<&str>>());
    let (header, row) = (lines.next().unwrap(), lines.next().unwrap());
    let columns = [
        "requests_per_s",
        "p50_ms",
        "p99_ms",
        "errors",
        "cpu_us_per_request",
        "memory_peak_mib",
    ];
    columns.map(|column| {
        let place = header.iter().position(|name| *name == column).unwrap();
        // Of contenders that take turns it has no times.
        let cell = Some(row[place]).filter(|cell| !cell.is_empty())?;
        Some(significant(cell.parse().unwrap()))
    })
}

/// Checks what each view shows of a run.
fn check(run: &RunRecords, views: &[(&str, Numbers)], expect: [&str; 6]) {
    let results = Results {
        runs: vec![run.clone()],
        ..Results::default()
    };
    let analysis = Analysis::of(&AnalysisInput::new(&results, "made up"));
    let of_session = [
        ("live", live(run)),
        ("table", table(&analysis)),
        ("csv", spreadsheet(&analysis)),
    ];
    for (view, numbers) in of_session.iter().chain(views) {
        for (found, expect) in numbers.iter().zip(expect) {
            assert_eq!(found.as_deref().unwrap_or(expect), expect, "{view}");
        }
    }
}

#[test]
fn failed_requests_share_the_cost_everywhere() {
    let run = recorded(Pace::Closed, [10_000; 3], false);
    let expect = ["10000", "2.00", "2.49", "210", "99.5", "10.3"];
    check(&run, &[("load", load(&run, Pace::Closed))], expect);
}

#[test]
fn open_load_has_response_times_everywhere() {
    let pace = Pace::Constant {
        rate_per_s: 10_070.0,
    };
    let run = recorded(pace, [10_000; 3], false);
    let expect = ["10000", "8.00", "8.50", "210", "99.5", "10.3"];
    check(&run, &[("load", load(&run, pace))], expect);
}

/// The sums of the turns would be 10167 requests per second at 97.9 us.
#[test]
fn turns_have_geometric_means_everywhere() {
    let run = recorded(Pace::Closed, [8000, 10_000, 12_500], true);
    check(&run, &[], ["10000", "2.00", "2.49", "210", "99.5", "10.3"]);
}
