//! The winner of a round: by the rule, with its interval; ties are said and broken.

use bakeoff_model::record::Qualification;
use bakeoff_model::suite::{Winner, WinnerRule};
use bakeoff_model::validity::{FairnessVerdict, Validity};

use crate::synthetic::winners::{qualification, results};
use crate::synthetic::{Contender, Fault, contender};

fn decided(
    contenders: &[Contender],
    runs: u32,
    rule: WinnerRule,
    at: Option<u32>,
) -> Qualification {
    qualification(results(contenders, runs), Winner { rule, at })
}

#[track_caller]
fn check(found: &Qualification, winner: &str, texts: &[&str]) {
    let label = found.winner.as_ref().map(|winner| winner.label());
    assert_eq!(label.as_deref(), Some(winner), "{found:#?}");
    let all = found.reasons.join("\n");
    for text in texts {
        assert!(all.contains(text), "{text:?} is missing in\n{all}");
    }
}

#[test]
fn the_best_by_the_rule_wins_with_its_interval() {
    let two = [
        contender("synthetic-fast", 9000.0, 200.0),
        contender("synthetic-efficient", 6000.0, 150.0),
    ];
    let found = decided(&two, 4, WinnerRule::PeakThroughput, None);
    check(
        &found,
        "synthetic-fast",
        &[
            "requests/s (95 %: ",
            "4 runs)",
            "times the requests/s of the next one",
        ],
    );
    assert_eq!(found.rule, "highest throughput at its peak");
    let found = decided(&two, 4, WinnerRule::CpuPerRequest, None);
    check(&found, "synthetic-efficient", &["µs of CPU per request"]);
    assert_eq!(
        found.rule, "lowest CPU per request at 64 connections",
        "the stated step"
    );
    let found = decided(&two, 4, WinnerRule::CpuPerRequest, Some(8));
    assert_eq!(found.rule, "lowest CPU per request at 8 connections");
    let found = decided(&two, 4, WinnerRule::CpuPerRequest, Some(64));
    check(&found, "synthetic-efficient", &[]);
    assert_eq!(found.rule, "lowest CPU per request at 64 connections");
    let found = decided(&two, 4, WinnerRule::P99, None);
    check(&found, "synthetic-fast", &["ms"]);
    let found = decided(&two, 4, WinnerRule::Throughput, Some(64));
    check(&found, "synthetic-fast", &[]);
}

#[test]
fn a_tie_is_said_and_broken_by_the_other_metric() {
    let two = [
        contender("synthetic-a", 6001.0, 200.0),
        contender("synthetic-b", 6000.0, 150.0),
    ];
    let found = decided(&two, 4, WinnerRule::PeakThroughput, None);
    check(
        &found,
        "synthetic-b",
        &[
            "are tied: these runs do not distinguish them",
            "The tie goes to the lower CPU per request at 64 connections: ",
        ],
    );
    let apart = [
        contender("synthetic-a", 9000.0, 200.0),
        contender("synthetic-b", 6000.0, 199.9),
    ];
    let found = decided(&apart, 4, WinnerRule::CpuPerRequest, None);
    check(&found, "synthetic-a", &["the higher peak throughput"]);
    // With single runs nothing is sure, whatever the numbers.
    let found = decided(&apart, 1, WinnerRule::PeakThroughput, None);
    check(&found, "synthetic-b", &["a single run has no interval"]);
}

#[test]
fn who_cannot_win_is_named_with_the_reason() {
    let mut wrong = contender("synthetic-wrong", 20_000.0, 10.0);
    wrong.fault = Fault::WrongResponse;
    let mut bound = contender("synthetic-bound", 100.0, 900.0);
    bound.validity = Validity::recorded(FairnessVerdict::HostBound, "others worked");
    let all = [contender("synthetic-good", 6000.0, 200.0), wrong, bound];
    let found = decided(&all, 4, WinnerRule::PeakThroughput, None);
    check(
        &found,
        "synthetic-good",
        &[
            "synthetic-wrong could not win: check get/Plzeň in Czech failed",
            "synthetic-bound is host-bound",
        ],
    );
    let found = decided(&all, 4, WinnerRule::Throughput, Some(3));
    assert_eq!(found.winner, None);
    assert!(found.reasons[0].starts_with("No contender"), "{found:#?}");
    let found = decided(&[], 0, WinnerRule::P99, None);
    assert_eq!(found.winner, None);
}
