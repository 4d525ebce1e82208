//! The response-time block of users that go through a scenario, and what failed.

use std::collections::BTreeMap;

use bakeoff_analysis::{Analysis, AnalysisInput};
use bakeoff_model::load::histogram::Histogram;
use bakeoff_model::load::{CpuTime, ErrorClass, ErrorCount, RequestInterval, TurnCount, UserCount};
use bakeoff_model::measure::resource::{DatabaseSessions, GcLog, GcPause, ResourceSample};
use bakeoff_model::record::{ProbeRecord, Results};
use bakeoff_report::{errors_csv, html, markdown, requests_csv};

use crate::synthetic;

/// Times of the two requests, ms, and how often.
const PAGE: [(u64, u64); 1] = [(100, 10)];
const REGISTER: [(u64, u64); 3] = [(1000, 5), (2000, 3), (7000, 2)];

/// Times of those that fail, ms, and how often.
const FAILED: [(u64, u64); 2] = [(300, 4), (11_000, 1)];

fn histogram(times: &[(u64, u64)]) -> Histogram {
    let mut histogram = Histogram::new();
    for (ms, count) in times {
        (0..*count).for_each(|_| histogram.record(ms * 1_000_000));
    }
    histogram
}

fn part(name: &str, times: &[(u64, u64)], failures: u64) -> RequestInterval {
    RequestInterval {
        name: name.to_owned(),
        requests: times.iter().map(|(_, count)| count).sum(),
        failures,
        times: histogram(times),
        failed_times: (failures > 0).then(|| histogram(&FAILED)),
    }
}

/// One run of a step of four slices; in the first of them 20 requests succeed and 5 fail, nothing
/// happens in the others.
fn results() -> Results {
    let mut run = synthetic::results().runs[0].clone();
    let last = run.intervals.last().unwrap().load.step;
    run.intervals.retain(|interval| interval.load.step == last);
    for (index, interval) in run.intervals.iter_mut().enumerate() {
        let load = &mut interval.load;
        let first = index == 0;
        load.users = Some(UserCount::default());
        load.requests = if first { 20 } else { 0 };
        let all: Vec<(u64, u64)> = PAGE.iter().chain(&REGISTER).copied().collect();
        load.response_time = Some(histogram(if first { &all } else { &[] }));
        load.by_request = vec![
            part("page", if first { &PAGE } else { &[] }, 0),
            part(
                "register",
                if first { &REGISTER } else { &[] },
                5 * u64::from(first),
            ),
        ];
        load.errors = BTreeMap::new();
        if first {
            let messages = BTreeMap::from([
                ("status 503 for register".to_owned(), 3),
                ("status 500 for register".to_owned(), 1),
            ]);
            let errors = ErrorCount {
                count: 5,
                time_ns_sum: 0,
                example: None,
                messages,
                times: Some(histogram(&FAILED)),
            };
            load.errors.insert(ErrorClass::UnexpectedStatus, errors);
        }
    }
    Results {
        runs: vec![run],
        ..Results::default()
    }
}

fn analysis(results: &Results) -> Analysis<'_> {
    Analysis::of(&AnalysisInput {
        results,
        title: "Users",
        rounds: &[],
    })
}

#[test]
fn the_block_is_in_markdown_and_html() {
    let results = results();
    let analysis = analysis(&results);
    let text = markdown(&analysis);
    // 15 of 25 within 1.5 s, 3 more within 6 s: (15 + 3 / 2) / 25.
    for line in [
        "| 512 | synthetic-actix-4 | 4.00 | 20 | 5 | ",
        " | 5.00 | 0.66 | poor |\n",
        "| 512 | synthetic-actix-4 | page | 10 | 0 | 2.50 | ",
        "| 512 | synthetic-actix-4 | register | 10 | 5 | 2.50 | ",
        "| 512 | synthetic-actix-4 | all | 10 (40.0 %) | 5 (20.0 %) | 5 (20.0 %) | 5 (20.0 %) | \
         0.66 | poor |\n",
        "| 512 | synthetic-actix-4 | page | 10 (100.0 %) | 0 (0.0 %) | 0 (0.0 %) | 0 (0.0 %) | \
         1.00 | excellent |\n",
        "| unexpected-status | status 503 for register | 3 | 60.0 % |\n",
        "| unexpected-status | other messages | 1 | 20.0 % |\n",
        // Five of 25; the largest time is the end of its bucket.
        "| 512 | synthetic-actix-4 | unexpected-status | 5 | 20.0 % | 300 | 11006 | 2440 | 4281 | \
         300 | 300 | 11006 | 11006 |\n",
        " | KO min | KO max | KO mean | KO std | KO p50 | KO p75 | KO p95 | KO p99 |\n",
        " | 300 | 11006 | 2440 | 4281 | 300 | 300 | 11006 | 11006 |\n| 512 | synthetic-actix-4 | \
         page | 10",
        " | – | – | – | – | – | – | – | – |\n| 512 | synthetic-actix-4 | register",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let page = html(&analysis);
    let failed = "<td>5</td><td>20.0 %</td><td>300</td><td>11006</td>";
    for cell in [
        "<td class=\"text\">poor</td>",
        "status 500 for register",
        failed,
        "KO p99",
    ] {
        assert!(page.contains(cell), "{cell}");
    }
}

#[test]
fn in_turns_there_are_counts_and_no_times() {
    let mut results = results();
    for interval in &mut results.runs[0].intervals {
        let load = &mut interval.load;
        load.turns = vec![TurnCount {
            length_us: 1_000_000,
            requests: load.requests,
            ..TurnCount::default()
        }];
    }
    let text = requests_csv(&analysis(&results)).unwrap();
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    let cell = |row: usize, name: &str| {
        let column = lines[0].iter().position(|other| *other == name).unwrap();
        lines[row][column]
    };
    for (row, counts) in [(1, ("20", "5")), (2, ("10", "0")), (3, ("10", "5"))] {
        assert_eq!((cell(row, "ok"), cell(row, "ko")), counts);
        for column in ["min_ms", "p50_ms", "p99_ms", "ko_p50_ms", "apdex", "rating"] {
            assert_eq!(cell(row, column), "", "{column}");
        }
    }
}

#[test]
fn the_block_of_each_run_is_a_file() {
    let results = results();
    let analysis = analysis(&results);
    let text = requests_csv(&analysis).unwrap();
    let lines: Vec<Vec<&str>> = text
        .split("\r\n")
        .filter(|line| !line.is_empty())
        .map(|line| line.split(',').collect())
        .collect();
    assert!(lines.iter().all(|line| line.len() == lines[0].len()));
    let cell = |row: usize, name: &str| {
        let column = lines[0].iter().position(|other| *other == name).unwrap();
        lines[row][column]
    };
    assert_eq!(lines.len(), 4);
    assert_eq!(
        (cell(1, "request"), cell(3, "request")),
        ("all", "register")
    );
    assert_eq!((cell(3, "ok"), cell(3, "ko")), ("10", "5"));
    assert_eq!((cell(1, "apdex"), cell(1, "rating")), ("0.66", "poor"));
    for (column, expect_ms) in [("ko_min_ms", 300.0), ("ko_max_ms", 11_000.0)] {
        let found_ms: f64 = cell(3, column).parse().unwrap();
        assert!(
            (found_ms / expect_ms - 1.0).abs() < 0.01,
            "{column}: {found_ms}"
        );
    }
    assert_eq!(cell(2, "ko_mean_ms"), "");
    let bands = ["below_800_ms", "from_800_to_1200_ms", "above_1200_ms"];
    assert_eq!(bands.map(|band| cell(1, band)), ["10", "5", "5"]);
    let errors = errors_csv(&analysis).unwrap();
    assert_eq!(
        errors.split("\r\n").filter(|line| !line.is_empty()).count(),
        4
    );
    assert!(
        errors.contains(",unexpected-status,status 503 for register,3,0.6\r\n"),
        "{errors}"
    );
}

#[test]
fn records_without_times_of_failures_are_shown_as_they_were() {
    let mut results = results();
    for interval in &mut results.runs[0].intervals {
        let load = &mut interval.load;
        let classes = load.errors.values_mut();
        classes.for_each(|error| error.times = None);
        let parts = load.by_request.iter_mut();
        parts.for_each(|part| part.failed_times = None);
    }
    let analysis = analysis(&results);
    for text in [markdown(&analysis), html(&analysis)] {
        assert!(text.contains("unexpected-status"));
        for absent in ["KO min", "Times of failed requests"] {
            assert!(!text.contains(absent), "{absent}");
        }
    }
    let requests = requests_csv(&analysis).unwrap();
    for line in requests.lines().skip(1) {
        assert!(line.ends_with(",,,,,,,,"), "{line}");
    }
}

#[test]
fn where_there_is_nothing_to_say_there_is_no_file() {
    let results = Results {
        runs: vec![synthetic::results().runs[0].clone()],
        ..Results::default()
    };
    assert_eq!(requests_csv(&analysis(&results)), None);
    assert_eq!(errors_csv(&analysis(&results)), None);
}

/// C10: which share of a registration is hashing.
#[test]
fn the_share_of_a_part_of_the_work_is_shown() {
    let mut results = results();
    let run = &mut results.runs[0];
    // 10 successful registrations take 100 ms of CPU; hashing alone takes 8 ms.
    for (index, interval) in run.intervals.iter_mut().enumerate() {
        let cpu = |ms: u64| CpuTime {
            user_ns: ms * 1_000_000,
            system_ns: 0,
        };
        let of = |sample: &mut Option<ResourceSample>, ms: u64| {
            sample.as_mut().unwrap().cpu = Some(cpu(ms));
        };
        of(&mut interval.contender_before, 25 * index as u64);
        of(&mut interval.contender_after, 25 * (index as u64 + 1));
    }
    run.probes = vec![ProbeRecord {
        name: "hashing".to_owned(),
        request: "register".to_owned(),
        operations: 200,
        cpu_ns: 1_600_000_000,
    }];
    let analysis = analysis(&results);
    let row = "| synthetic-actix-4 | hashing | register | 8.00 | 10.0 | 80 % |\n";
    let sentence = "Of the CPU that a contender spends for each successful register, hashing is \
                    80 % for synthetic-actix-4.";
    let text = markdown(&analysis);
    for expect in [row, sentence] {
        assert!(text.contains(expect), "{expect}\n{text}");
    }
    let page = html(&analysis);
    for expect in ["<td>80 %</td>", sentence] {
        assert!(page.contains(expect), "{expect}");
    }
}

/// The run of [`results`] on a JVM and a database: a pause before the load, two under it.
fn results_inside() -> Results {
    let mut results = results();
    let run = &mut results.runs[0];
    let load_ns = run.intervals[0].load.start_ns;
    let startup = run.startup.as_mut().unwrap();
    // The program started 5 s before the load.
    startup.startup_ns = 1_000_000_000;
    startup.resources.at_ns = load_ns - 4_000_000_000;
    let pause = |at_ms: u64, ms: u64, heap_mib: u64| GcPause {
        at_ns: at_ms * 1_000_000,
        pause_ns: ms * 1_000_000,
        is_full: false,
        heap_after_bytes: Some(heap_mib << 20),
        heap_capacity_bytes: Some(64 << 20),
    };
    run.idle[0].gc = Some(GcLog {
        collector: "Serial".to_owned(),
        pauses: vec![pause(500, 90, 3), pause(5500, 10, 20), pause(6500, 30, 12)],
        ..GcLog::default()
    });
    for (index, interval) in run.intervals.iter_mut().enumerate() {
        let mut sample = interval.backend_after.clone().unwrap_or_default();
        sample.sessions = Some(DatabaseSessions {
            open: 16,
            active: if index == 0 { 16 } else { 0 },
        });
        interval.backend_after = Some(sample);
    }
    results
}

#[test]
fn pauses_of_the_collector_and_connections_in_use_are_shown() {
    let results = results_inside();
    let analysis = analysis(&results);
    let text = markdown(&analysis);
    for line in [
        // 40 ms of four seconds; the pause of the start-up does not count.
        "| synthetic-actix-4 | 1 | Serial | 2 | 40.0 | 30.0 | 99.00 % | 12.0 | 20.0 |\n",
        "| 512 | synthetic-actix-4 | 16 | 4.00 | ",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let page = html(&analysis);
    for text in [
        "gc-pauses",
        "heap-after-gc",
        "database-connections",
        "99.00 %",
    ] {
        assert!(page.contains(text), "{text}");
    }
}
