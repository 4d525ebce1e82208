//! The cost of merging the slices of a large fleet: 1,000 load generators of 100,000 requests per
//! second each, all synthetic, whose output is read line by line and merged on one core.
//!
//! `cargo bench -p bakeoff-session --bench fleet [-- GENERATORS [SLICES]]` prints CPU time and
//! memory; docs/SCALE.md has what was measured. Each load generator is up to three slices behind
//! the first. The lines are made outside of what is timed; whatever was put in has to come out.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]
#![expect(clippy::unwrap_used, reason = "a benchmark may stop at any fault")]

use std::fs;

use bakeoff_base::random::Random;
use bakeoff_model::load::histogram::Histogram;
use bakeoff_model::load::{
    Connections, CpuTime, LoadEvent, LoadInterval, LoadSpec, Pace, StepSpec,
};
use bakeoff_places::fleet::Merge;

/// Requests of a load generator in each slice of a second.
const REQUESTS: u64 = 100_000;
const SECOND: u64 = 1_000_000_000;
/// Slices with separate times; the others have the times of one of these.
const DISTINCT: u32 = 16;
/// How many slices the slowest load generator is behind the fastest.
const BEHIND_MAX: u32 = 3;

fn main() {
    let mut words = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'));
    let mut number = |default| words.next().map_or(default, |word| word.parse().unwrap());
    let generators: u32 = number(1_000);
    let slices: u32 = number(600);
    let tails: Vec<String> = (0..DISTINCT).map(|seed| tail(seed.into())).collect();
    let bytes = tails.iter().map(String::len).sum::<usize>() / tails.len();
    let before_bytes = memory_max_bytes();

    let mut merge = begin(generators, slices);
    let (mut merged, mut requests) = (0_u32, 0_u64);
    let mut cpu_ns: Vec<u64> = Vec::new();
    for round in 0..slices + BEHIND_MAX {
        let lines: Vec<(u32, String)> = (0..generators)
            .filter_map(|part| {
                let slice = round.checked_sub(part % (BEHIND_MAX + 1))?;
                let tail = &tails[((part + slice) % DISTINCT) as usize];
                (slice < slices).then(|| (part, line(slice, tail)))
            })
            .collect();
        let begun_ns = thread_cpu_ns();
        for (part, line) in &lines {
            merge.take(*part as usize, serde_json::from_str(line).unwrap());
            while let Some(event) = merge.next_event() {
                if let LoadEvent::Interval(slice) = event {
                    assert!(slice.lost.is_empty(), "a load generator was lost");
                    merged += 1;
                    requests += slice.response_time.unwrap().count();
                }
            }
        }
        cpu_ns.push(thread_cpu_ns() - begun_ns);
    }
    assert_eq!(merged, slices);
    assert_eq!(
        requests,
        u64::from(generators) * u64::from(slices) * REQUESTS
    );

    cpu_ns.sort_unstable();
    let total_s = seconds(cpu_ns.iter().sum());
    let lines = f64::from(generators) * f64::from(slices);
    println!(
        "{generators} load generators, {slices} slices of 1 s, {requests} requests, \
         lines of {bytes} bytes"
    );
    println!(
        "CPU for all slices     {total_s:.1} s ({:.0} us a line)",
        total_s / lines * 1e6
    );
    println!(
        "CPU for a slice        {:.3} s (median)",
        seconds(cpu_ns[cpu_ns.len() / 2])
    );
    println!(
        "CPU for the slowest    {:.3} s",
        seconds(cpu_ns[cpu_ns.len() - 1])
    );
    println!(
        "memory before, at most {:.1} MB, {:.1} MB",
        mega(before_bytes),
        mega(memory_max_bytes())
    );
}

/// A merge whose load generators have all started.
fn begin(generators: u32, slices: u32) -> Merge {
    let spec = LoadSpec {
        steps: vec![StepSpec {
            connections: generators * 64,
            duration_ns: u64::from(slices) * SECOND,
            pace: Pace::Closed,
            warm_up: false,
            requests_max: 0,
            close_after: false,
            ..StepSpec::default()
        }],
        slice_ns: SECOND,
        ..LoadSpec::default()
    };
    let names = (0..generators).map(|part| (format!("generator {part}"), None));
    let mut merge = Merge::new(&spec, names.collect());
    for part in 0..generators as usize {
        merge.take(
            part,
            LoadEvent::Ready {
                step: 0,
                connections: connections(),
                reactor: "uring-rx-timestamps".to_owned(),
                nofile: 1024,
                streams: 0,
                failure: None,
                further: Vec::new(),
            },
        );
    }
    assert!(matches!(merge.next_event(), Some(LoadEvent::Ready { .. })));
    merge.go_at(SECOND, SECOND, false);
    for part in 0..generators as usize {
        merge.take(
            part,
            LoadEvent::Began {
                step: 0,
                at_ns: 0,
                unix_ns: SECOND,
                late_ns: 0,
            },
        );
    }
    merge
}

fn connections() -> Connections {
    Connections {
        asked: 64,
        established: 64,
        in_flight_max: 64,
        reconnects: 0,
        on_arrival: false,
    }
}

/// A line of output from the end of its slice on: what does not depend on when it is.
fn tail(seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut times = || {
        let mut times = Histogram::new();
        for _ in 0..REQUESTS {
            // A product of four makes a long tail: some 0.1 to 50 ms.
            let product: u64 = (0..4).map(|_| 10 + random.bits() % 75).product();
            times.record(100_000 + product);
        }
        times
    };
    let slice = LoadInterval {
        requests: REQUESTS,
        service_time: times(),
        response_time: Some(times()),
        send_lag: Some(times()),
        offered: Some(REQUESTS),
        connections: connections(),
        sent_bytes: 100 * REQUESTS,
        redirects: 0,
        received_bytes: 1_000 * REQUESTS,
        connecting_ns: Some(0),
        generator_cpu: CpuTime {
            user_ns: SECOND / 10,
            system_ns: SECOND / 4,
        },
        generator_threads: 1,
        ..LoadInterval::default()
    };
    let line = serde_json::to_string(&LoadEvent::Interval(Box::new(slice))).unwrap();
    let at = line.find(r#""requests""#).unwrap();
    line[at..].to_owned()
}

fn line(slice: u32, tail: &str) -> String {
    let start_ns = u64::from(slice) * SECOND;
    let end_ns = start_ns + SECOND;
    format!(r#"{{"event":"interval","step":0,"slice":{slice},"start_ns":{start_ns},"#)
        + &format!(r#""end_ns":{end_ns},{tail}"#)
}

/// CPU time of this thread so far.
fn thread_cpu_ns() -> u64 {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split_whitespace().next().unwrap().parse().unwrap()
}

/// The most memory that this process has had.
fn memory_max_bytes() -> u64 {
    let text = fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.unwrap().trim().trim_end_matches(" kB");
    kib.parse::<u64>().unwrap() * 1024
}

#[expect(
    clippy::cast_precision_loss,
    reason = "of no account in what is printed"
)]
fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

#[expect(
    clippy::cast_precision_loss,
    reason = "of no account in what is printed"
)]
fn mega(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}
