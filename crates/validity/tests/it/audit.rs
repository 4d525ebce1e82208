//! Audits of published values that are impossible, and of records that were called fair.

use std::collections::BTreeMap;
use std::time::Duration;

use bakeoff_model::load::Pace;
use bakeoff_model::record::{self, Results};
use bakeoff_model::suite::published::{Published, PublishedResult, Source};
use bakeoff_model::suite::{Limits, Step};
use bakeoff_model::validity::{FairnessVerdict, Validity};
use bakeoff_validity::audit::{self, FoundKind};

/// A result without values, of a source with a quota of 1.5 cores and 512 MiB.
fn result(name: &str) -> PublishedResult {
    PublishedResult {
        source: "article".to_owned(),
        benchmark: "get".to_owned(),
        name: name.to_owned(),
        contender: name.to_owned(),
        round: None,
        steps: Vec::new(),
        throughput: Vec::new(),
        cpu_us: Vec::new(),
        p99_ms: BTreeMap::new(),
        errors: BTreeMap::new(),
        peak: None,
        startup_s: None,
        memory_start_mib: None,
        memory_end_mib: None,
        cpu_us_whole: None,
    }
}

fn steps(connections: &[u32]) -> Vec<Step> {
    let step = |connections: &u32| Step {
        connections: *connections,
        duration: Duration::ZERO,
        pace: Pace::Closed,
        warm_up: false,
        at_least: None,
    };
    connections.iter().map(step).collect()
}

/// Returns the audit's findings about these results, a line each.
fn found(results: Vec<PublishedResult>) -> Vec<String> {
    let published = Published {
        sources: vec![Source {
            name: "article".to_owned(),
            title: String::new(),
            author: String::new(),
            date: String::new(),
            limits: Limits {
                cpus: Some(1.5),
                memory_bytes: Some(512 << 20),
            },
            conditions: String::new(),
        }],
        results,
        claims: Vec::new(),
        ..Published::default()
    };
    let found = audit::published(&published).into_iter();
    found
        .map(|found| format!("{}: {}", found.subject, found.sentence))
        .collect()
}

#[track_caller]
fn check(change: impl FnOnce(&mut PublishedResult), expect: &str) {
    let mut one = result("one");
    change(&mut one);
    let found = found(vec![one]).join("\n");
    match expect {
        "" => assert_eq!(found, ""),
        expect => assert!(found.contains(expect), "{found}"),
    }
}

#[test]
fn errors_that_are_alike_are_the_generators() {
    let with = |name: &str, errors: u64| PublishedResult {
        errors: BTreeMap::from([(2048, errors), (1024, 0)]),
        ..result(name)
    };
    assert_eq!(
        found(vec![with("a", 1031), with("b", 1031), with("c", 7)]),
        [
            "a, b: at 2048 connections each of 2 contenders had 1031 errors, so they are the load \
             generator's: the remaining 1017 are what a limit of 1024 open files permits"
        ]
    );
    let other = found(vec![with("a", 500), with("b", 500)]);
    assert!(
        other[0].ends_with("so they are the load generator's"),
        "{other:?}"
    );
    assert_eq!(found(vec![with("a", 5), with("b", 6)]), [""; 0]);
}

#[test]
fn start_ups_below_the_possible() {
    check(
        |one| one.startup_s = Some(0.0019),
        "a start-up of 1.9 ms starts after",
    );
    check(|one| one.startup_s = Some(0.05), "");
}

#[test]
fn more_cpu_time_than_the_quota() {
    let with = |cpu_us: f64| {
        move |one: &mut PublishedResult| {
            one.steps = steps(&[8, 64]);
            one.throughput = vec![1000.0, 4000.0];
            one.cpu_us = vec![400.0, cpu_us];
        }
    };
    check(with(375.0), "");
    check(
        with(400.0),
        "at 64 connections are 1.60 cores, and the quota was 1.5",
    );
}

#[test]
fn tails_that_do_not_fit_the_throughput() {
    let with = |p99_ms: f64| {
        move |one: &mut PublishedResult| {
            one.peak = Some((2000.0, 64));
            one.p99_ms = BTreeMap::from([(64, p99_ms)]);
        }
    };
    // The mean is 32 ms.
    check(with(50.0), "");
    check(with(20.0), "the slowest hundredth took 1220 ms on average");
    check(with(1000.0), "some connections were hardly served");
}

#[test]
fn memory_and_the_whole_life() {
    check(
        |one| one.memory_end_mib = Some(600.0),
        "exceed the limit of 512 MiB",
    );
    let falls = |one: &mut PublishedResult| {
        (one.memory_start_mib, one.memory_end_mib) = (Some(100.0), Some(90.0));
    };
    check(falls, "falls from 100 to 90 MiB");
    let cheap = |one: &mut PublishedResult| {
        one.steps = steps(&[8]);
        (one.throughput, one.cpu_us) = (vec![100.0], vec![400.0]);
        one.cpu_us_whole = Some(300.0);
    };
    check(cheap, "less than the 400 µs of its steps");
}

/// The model's fixture of a run, with this verdict on all its slices.
fn recorded(verdict: FairnessVerdict) -> Results {
    let text = include_str!("../../../model/tests/it/fixtures/run.jsonl");
    let mut run = record::read_run(text).unwrap();
    for slice in &mut run.intervals {
        slice.validity = match verdict {
            FairnessVerdict::Fair => Validity::fair(),
            verdict => Validity::recorded(verdict, "so it was"),
        };
    }
    Results {
        runs: vec![run],
        ..Results::default()
    }
}

#[test]
fn what_was_recorded_as_fair_and_is_not_misleads() {
    let mut results = recorded(FairnessVerdict::Fair);
    for slice in &mut results.runs[0].intervals {
        slice.warm_up = false;
        slice.load.requests = 0;
    }
    let found = audit::results(&results);
    let unfair = found.iter().find(|found| found.kind.misleads()).unwrap();
    assert_eq!(unfair.kind, FoundKind::UnfairButRanked);
    assert!(unfair.sentence.contains("invalid"), "{}", unfair.sentence);
    let differs = found.iter().find(|found| !found.kind.misleads()).unwrap();
    assert!(
        differs
            .sentence
            .contains("1 slice recorded as fair is invalid now"),
        "{}",
        differs.sentence
    );
    // What was said at the time misled no reader.
    let mut known = results.clone();
    for slice in &mut known.runs[0].intervals {
        slice.validity = Validity::recorded(FairnessVerdict::Invalid, "so it was");
    }
    assert_eq!(audit::results(&known), []);
}

#[test]
fn a_case_is_one_build() {
    let check = |digests: &[(&str, u32, &str)], expect: &[&str]| {
        let mut results = recorded(FairnessVerdict::Fair);
        let first = results.runs.remove(0);
        for (id, attempt, digest) in digests {
            let mut run = first.clone();
            run.begin.run.id = (*id).to_owned();
            run.begin.attempt = *attempt;
            run.begin.artifact_digest = (!digest.is_empty()).then(|| (*digest).to_owned());
            run.intervals.clear();
            run.idle.clear();
            results.runs.push(run);
        }
        let found = audit::results(&results);
        let sentences: Vec<&str> = found.iter().map(|one| &*one.sentence).collect();
        assert_eq!(sentences, expect, "{digests:?}");
        assert!(found.iter().all(|one| one.kind.misleads()));
    };
    check(
        &[
            ("r1", 1, "sha256:a"),
            ("r2", 1, "sha256:b"),
            ("r3", 1, "sha256:b"),
        ],
        &["one sample of 2 builds: 1 run of sha256:a, 2 runs of sha256:b"],
    );
    check(&[("r1", 1, "sha256:a"), ("r2", 1, "sha256:a")], &[]);
    // What was made again is not in the sample.
    check(&[("r1", 1, "sha256:a"), ("r1", 2, "sha256:b")], &[]);
    check(&[("r1", 1, ""), ("r2", 1, "sha256:b")], &[]);
}
