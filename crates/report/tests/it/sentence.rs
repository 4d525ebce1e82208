//! The comparison of a few services as one sentence.

use bakeoff_analysis::{Analysis, AnalysisInput};
use bakeoff_model::record::Results;
use bakeoff_model::suite::conditions::RuntimeKind;
use bakeoff_model::validity::{FairnessVerdict, Validity};
use bakeoff_report::sentence;

use crate::synthetic::{Contender, contender, run};

fn results(contenders: &[Contender], runs: u32) -> Results {
    let mut all = Vec::new();
    for repetition in 1..=runs {
        for one in contenders {
            all.push(run("duel", one, repetition, all.len()));
        }
    }
    Results {
        runs: all,
        ..Results::default()
    }
}

fn said(results: &Results) -> String {
    sentence(&Analysis::of(&AnalysisInput {
        results,
        title: "Synthetic",
        rounds: &[],
    }))
}

#[track_caller]
fn check(contenders: &[Contender], runs: u32, texts: &[&str]) {
    let said = said(&results(contenders, runs));
    for text in texts {
        assert!(said.contains(text), "{text:?} is missing in: {said}");
    }
    assert!(said.ends_with('.') && !said.contains('\n'), "{said}");
}

#[test]
fn the_better_one_comes_with_an_interval_and_a_cost() {
    let (fast, slow) = (
        contender("fast", 8000.0, 50.0),
        contender("slow", 4000.0, 99.0),
    );
    let texts = [
        "fast serves ",
        " times the requests per second of slow (95 %: ",
        ", 5 runs each), at ",
        "µs of CPU per request and ",
        "MiB of memory",
    ];
    check(&[slow, fast], 5, &texts);
}

#[test]
fn without_a_significant_difference_the_detectable_one_is_named() {
    let (one, two) = (
        contender("one", 8000.0, 50.0),
        contender("two", 8060.0, 50.0),
    );
    let found = said(&results(&[one, two], 2));
    let undecided =
        found.contains("do not differ significantly") && found.contains(" % would have shown");
    assert!(undecided || found.contains("serve as many"), "{found}");
}

#[test]
fn one_run_is_no_interval() {
    let (one, two) = (
        contender("one", 8000.0, 50.0),
        contender("two", 4000.0, 50.0),
    );
    check(
        &[one, two],
        1,
        &[
            "one ",
            " against two ",
            "requests per second, without an interval",
        ],
    );
}

#[test]
fn what_was_not_metered_has_no_cost() {
    let (one, two) = (
        contender("one", 8000.0, 50.0),
        contender("two", 4000.0, 50.0),
    );
    let mut results = results(&[one, two], 3);
    for run in &mut results.runs {
        run.begin.runtime = RuntimeKind::External;
        run.idle.clear();
        for slice in &mut run.intervals {
            (slice.contender_before, slice.contender_after) = (None, None);
        }
    }
    let found = said(&results);
    assert!(found.contains("what they cost is not known"), "{found}");
}

#[test]
fn one_that_is_left_is_no_comparison() {
    let one = contender("one", 8000.0, 50.0);
    check(&[one], 3, &["They cannot be compared: one served "]);
    assert_eq!(said(&Results::default()), "Nothing was measured.");
}

#[test]
fn what_has_no_comparison_is_not_answered() {
    let check = |contenders: &[Contender], expect: bool| {
        let mut results = results(contenders, 4);
        let runs = results.runs.iter_mut();
        for run in runs.filter(|run| run.begin.run.contender.starts_with("invalid")) {
            for slice in &mut run.intervals {
                let why = "5 % of the requests failed";
                slice.validity = Validity::recorded(FairnessVerdict::Invalid, why);
            }
        }
        let analysis = Analysis::of(&AnalysisInput::new(&results, ""));
        assert_eq!(analysis.is_answered(), expect, "{}", said(&results));
    };
    let fair = || contender("fair", 8000.0, 50.0);
    let invalid = |name| contender(name, 8000.0, 50.0);
    let by_backend = || Contender {
        validity: Validity::recorded(FairnessVerdict::BackendBound, "the backend was busy"),
        ..contender("backend", 8000.0, 50.0)
    };
    check(&[fair()], true);
    check(&[fair(), contender("slow", 4000.0, 50.0)], true);
    check(&[fair(), bound("bound", 2000.0)], true);
    check(&[bound("bound", 2000.0), by_backend()], false);
    check(&[fair(), invalid("invalid-1")], false);
    check(&[invalid("invalid-1"), invalid("invalid-2")], false);
}

/// A contender whose numbers are bounded by the host.
fn bound(name: &'static str, peak: f64) -> Contender {
    Contender {
        validity: Validity::recorded(FairnessVerdict::HostBound, "all cores were busy"),
        ..contender(name, peak, 50.0)
    }
}

#[test]
fn a_lower_bound_that_is_higher_is_a_comparison() {
    let fair = || contender("fair", 4000.0, 50.0);
    check(
        &[bound("bound", 8000.0), fair()],
        4,
        &[
            "bound serves at least ",
            " times the requests per second of fair (95 %: ",
            ", 4 runs), at ",
            ": bound is host-bound, so its number is a lower bound.",
        ],
    );
    check(
        &[
            bound("bound", 8000.0),
            fair(),
            contender("slow", 2000.0, 50.0),
        ],
        4,
        &["bound serves at least ", " requests per second of fair ("],
    );
    let unknown = "; which serves more is not known: bound is host-bound, so its number is a";
    check(
        &[bound("bound", 2000.0), fair()],
        4,
        &[" and bound at least ", unknown],
    );
    // By CPU per request the two can be compared all the same.
    let cheaper = Contender {
        validity: Validity::recorded(FairnessVerdict::HostBound, "all cores were busy"),
        ..contender("bound", 2000.0, 25.0)
    };
    let dearer = "fair takes 2.0";
    let sure = " times the CPU per request of bound (95 %: ";
    check(&[cheaper, fair()], 4, &[dearer, sure, " µs. fair served "]);
    // A single run has no interval.
    check(&[bound("bound", 8000.0), fair()], 1, &[unknown]);
}
