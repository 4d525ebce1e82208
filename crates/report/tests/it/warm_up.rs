//! Warm-up that ends when a contender is warm: its cost, and contenders that were not warm.

use std::time::Duration;

use bakeoff_analysis::{Analysis, AnalysisInput};
use bakeoff_model::load::Pace;
use bakeoff_model::measure::resource::{ResourceSample, ThreadGroup};
use bakeoff_model::record::{Results, RunRecords};
use bakeoff_model::suite::Step;
use bakeoff_model::suite::warmth::Warmth;
use bakeoff_report::{csv, html, markdown};

use crate::synthetic::{contender, run_of_steps};

/// A run with a warm-up until steady at 64 connections after one at 8, and a measured step. In each
/// slice compilers use this share of the CPU time, in warm-up and in measured ones.
fn run(name: &'static str, repetition: u32, rise: f64, [cold, warm]: [f64; 2]) -> RunRecords {
    let step = |connections, warm_up, at_least| Step {
        connections,
        duration: Duration::from_secs(60),
        pace: Pace::Closed,
        warm_up,
        at_least,
    };
    let steps = vec![
        step(8, true, None),
        step(64, true, Some(Duration::from_secs(10))),
        step(64, false, None),
    ];
    let one = contender(name, 5000.0, 100.0);
    let mut records = run_of_steps("city-get", &one, repetition, 0, steps);
    let mut jit_ns = 0.0;
    for slice in &mut records.intervals {
        slice.warmth = (!slice.warm_up).then_some(Warmth {
            rise,
            rise_most: rise + 0.01,
            rise_least: rise - 0.01,
            jit_share: Some(warm),
            slices: 12,
            in_turns: false,
        });
        let (before, after) = (
            slice.contender_before.as_mut().unwrap(),
            slice.contender_after.as_mut().unwrap(),
        );
        let used_ns = after.cpu.unwrap().total_ns() - before.cpu.unwrap().total_ns();
        let share = if slice.warm_up { cold } else { warm };
        compile(before, jit_ns);
        jit_ns += share * f64::from(u32::try_from(used_ns).unwrap());
        compile(after, jit_ns);
    }
    records
}

/// So much was compiled by then, and half as much collected.
fn compile(sample: &mut ResourceSample, jit_ns: f64) {
    for (name, cpu_ns) in [("C2 CompilerThre", jit_ns), ("VM Thread", jit_ns / 2.0)] {
        let cpu_ns = whole(cpu_ns);
        let group = ThreadGroup { count: 1, cpu_ns };
        sample.threads.insert(name.to_owned(), group);
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a test"
)]
fn whole(value: f64) -> u64 {
    value as u64
}

fn results() -> Results {
    let runs = |repetition| {
        [
            run("jvm", repetition, 0.002, [0.3, 0.02]),
            run("jvm-slow", repetition, 0.04, [0.4, 0.12]),
            run("native", repetition, 0.001, [0.0, 0.0]),
        ]
    };
    Results {
        runs: (1..=3).flat_map(runs).collect(),
        ..Results::default()
    }
}

fn analysis(results: &Results) -> Analysis<'_> {
    Analysis::of(&AnalysisInput {
        results,
        title: "Warm",
        rounds: &[],
    })
}

#[test]
fn who_is_not_warm_is_marked_and_still_ranked() {
    let results = results();
    let analysis = analysis(&results);
    let [table] = analysis.loads[0].summary.tables.as_slice() else {
        panic!("one table");
    };
    let evidence = |name: &str| {
        let row = table.rows.iter().find(|row| row.label == name).unwrap();
        row.validity().evidence()
    };
    for warm in ["jvm", "native"] {
        let evidence = evidence(warm);
        let of_warmth = evidence.contains("warm:") || evidence.contains("compiler threads");
        assert!(!of_warmth, "{warm}: {evidence}");
    }
    let slow = evidence("jvm-slow");
    assert!(
        slow.contains("not warm: it still got faster by 4.0 % in 10 s"),
        "{slow}"
    );
    assert!(slow.contains("compiler threads used 12 % of"), "{slow}");
}

#[test]
fn shares_of_cpu_time_are_in_every_document() {
    let results = results();
    let analysis = analysis(&results);
    let text = markdown(&analysis);
    let row = "| jvm | 30.0 % | 2.0 % | 2.0 % | 1.0 % | 97.0 % |";
    assert!(text.contains(row), "{text}");
    assert!(!text.contains("| native | 0.0 %"), "nothing compiles there");
    let page = html(&analysis);
    assert!(page.contains("What CPU time goes into"));
    assert!(page.contains("b0-compiling"));
    let table = csv(&analysis);
    let mut lines = table.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let column = |name: &str| header.iter().position(|one| *one == name).unwrap();
    let cells = |contender: &str, step: &str| -> Vec<&str> {
        let mut rows = table
            .lines()
            .map(|line| line.split(',').collect::<Vec<&str>>());
        rows.find(|row| row[column("contender")] == contender && row[column("step")] == step)
            .unwrap()
    };
    let number = |row: &[&str], name: &str| row[column(name)].parse::<f64>().unwrap();
    let row = cells("jvm", "2");
    assert!((number(&row, "cpu_jit_share") - 0.02).abs() < 1e-4);
    assert!((number(&row, "cpu_gc_share") - 0.01).abs() < 1e-4);
    assert!((number(&row, "cpu_application_share") - 0.97).abs() < 1e-4);
    assert_eq!(number(&row, "rise_after_warm_up"), 0.002);
    // Both warm-up steps, of equally many slices.
    let (s, requests) = (
        number(&row, "until_warm_s"),
        number(&row, "until_warm_requests"),
    );
    let warm_up = cells("jvm", "0");
    let slices = number(&warm_up, "duration_s");
    assert_eq!(s, 2.0 * slices);
    let both = number(&warm_up, "requests") + number(&cells("jvm", "1"), "requests");
    assert_eq!(requests, both);
    assert_eq!(cells("jvm-slow", "2")[column("until_warm_s")], "", "never");
}
