//! Head against base.

use bakeoff_analysis::{BaselineConclusion, Outcome};
use bakeoff_model::record::failure::{Failure, Stage};
use bakeoff_model::record::{Outcome as Ended, Results};
use bakeoff_model::suite::run_count::DecisionReason;
use bakeoff_model::validity::{self, Validity};
use bakeoff_report::{
    bigger_is_better, html, junit, markdown, smaller_is_better, summary_for_pull_request,
    terminal_baseline, terminal_table,
};
use quick_junit::{NonSuccessKind, Report, TestCaseStatus};
use serde_json::Value;

use crate::synthetic::baseline::{analyse, sequential, session};

#[track_caller]
fn check(results: &Results, conclusion: BaselineConclusion, outcomes: &[Outcome], text: &str) {
    let analysis = analyse(results);
    let against = analysis.against_base.as_ref().unwrap();
    assert_eq!(against.conclusion(), conclusion, "{against:#?}");
    let found: Vec<Outcome> = against.judged.iter().map(|one| one.outcome).collect();
    assert_eq!(found, outcomes, "{:#?}", against.judged);
    let terminal = terminal_baseline(&analysis, 80);
    let words: Vec<&str> = terminal.split_whitespace().collect();
    assert!(
        words.join(" ").contains(text),
        "{text:?} is missing in {terminal}"
    );
    assert!(
        terminal.lines().all(|line| line.chars().count() <= 80),
        "{terminal}"
    );
}

#[test]
fn the_summary_says_why_a_head_is_dearer() {
    let text = summary_for_pull_request(&analyse(&session(6, 1.1, &["cpu>3%"])), None);
    let sentence = "\nshop needs 20.";
    assert!(text.contains(sentence), "{text}");
    assert!(
        text.contains("more CPU per request than shop@base"),
        "{text}"
    );
}

#[test]
fn ten_percent_more_cpu_is_found_and_the_same_passes() {
    let conditions = ["slower>5%", "cpu>5%"];
    check(
        &session(5, 1.1, &conditions),
        BaselineConclusion::ConditionHolds,
        &[Outcome::Holds, Outcome::Holds],
        "failed: 2 of 2 conditions hold",
    );
    check(
        &session(5, 1.0, &conditions),
        BaselineConclusion::Passed,
        &[Outcome::DoesNotHold, Outcome::DoesNotHold],
        "passed: none of 2 conditions holds",
    );
    check(
        &session(5, 0.5, &["slower>5%"]),
        BaselineConclusion::Passed,
        &[Outcome::DoesNotHold],
        "passed: the condition does not hold",
    );
    check(
        &session(5, 1.1, &[]),
        BaselineConclusion::Passed,
        &[],
        "compared; no condition was given (--fail-if)",
    );
    let analysis_of_nothing = Results::default();
    let analysis = analyse(&analysis_of_nothing);
    assert!(analysis.against_base.is_none() && junit(&analysis).is_none());
    assert_eq!(terminal_baseline(&analysis, 80), "");
}

#[test]
fn an_undecided_condition_passes_with_what_could_be_detected() {
    let near = session(5, 1.055, &["slower>5%"]);
    check(
        &near,
        BaselineConclusion::Passed,
        &[Outcome::Undecided],
        "slower>5% is undecided; this session would detect it from about",
    );
    check(
        &session(1, 1.5, &["slower>5%"]),
        BaselineConclusion::Passed,
        &[Outcome::Undecided],
        "slower>5%: shop: only 1 set can be used, and an interval takes 2",
    );
    let report = Report::deserialize_from_str(&junit(&analyse(&near)).unwrap()).unwrap();
    let undecided = &report.test_suites[0].test_cases[1];
    assert!(
        matches!(undecided.status, TestCaseStatus::Skipped { .. }),
        "{undecided:?}"
    );
    let mut strict = near.clone();
    strict.baseline.as_mut().unwrap().undecided_fails = true;
    let text = "failed: 1 of 1 conditions undecided (--undecided fail)";
    check(
        &strict,
        BaselineConclusion::Undecided,
        &[Outcome::Undecided],
        text,
    );
    let summary = summary_for_pull_request(&analyse(&near), None);
    assert!(
        summary.contains("**passed: the condition is undecided**"),
        "{summary}"
    );
    assert!(summary.contains("- **undecided**: "), "{summary}");
}

#[test]
fn a_head_that_fails_fails_the_session_and_a_base_that_does_is_only_said() {
    let conditions = ["slower>5%", "errors>1%"];
    let broken = |run: usize| {
        let mut results = session(5, 1.0, &conditions);
        let failure = Failure::new(Stage::Load, "killed for memory");
        results.runs[run].end.as_mut().unwrap().outcome = Ended::Failed(failure);
        results
    };
    check(
        &broken(2),
        BaselineConclusion::HeadFailed,
        &[Outcome::DoesNotHold, Outcome::DoesNotHold],
        "run 2 failed at load: killed for memory",
    );
    check(
        &broken(3),
        BaselineConclusion::Passed,
        &[Outcome::DoesNotHold, Outcome::DoesNotHold],
        "passed: none of 2 conditions holds",
    );
    let invalid = |name: &str| {
        let mut results = session(5, 1.0, &conditions);
        let runs = results.runs.iter_mut();
        for run in runs.filter(|run| name.contains(run.begin.run.contender.as_str())) {
            for slice in &mut run.intervals {
                slice.validity = Validity::recorded(validity::FairnessVerdict::Invalid, "stalled");
            }
        }
        results
    };
    check(
        &invalid("shop"),
        BaselineConclusion::HeadFailed,
        &[Outcome::Undecided, Outcome::DoesNotHold],
        "FAILED: locations: shop: no valid number",
    );
    let (head_and_base, undecided) = ("shop shop@base", [Outcome::Undecided, Outcome::DoesNotHold]);
    check(
        &invalid(head_and_base),
        BaselineConclusion::Passed,
        &undecided,
        "not compared: locations: shop: no valid number",
    );
}

#[test]
fn conditions_on_percentiles_are_about_open_load() {
    check(
        &session(5, 1.0, &["p99>10%", "p50>10%", "p99>30%"]),
        BaselineConclusion::ConditionHolds,
        &[Outcome::Holds, Outcome::Holds, Outcome::DoesNotHold],
        "failed: 2 of 3 conditions hold",
    );
}

#[test]
fn junit_has_a_case_for_each_condition_and_one_for_being_right() {
    let results = session(5, 1.1, &["slower>5%", "memory>900%"]);
    let xml = junit(&analyse(&results)).unwrap();
    let report = Report::deserialize_from_str(&xml).unwrap();
    assert_eq!((report.tests, report.failures, report.errors), (3, 1, 0));
    let suite = &report.test_suites[0];
    assert_eq!(suite.name.as_str(), "locations");
    let names: Vec<&str> = suite
        .test_cases
        .iter()
        .map(|one| one.name.as_str())
        .collect();
    assert_eq!(
        names,
        ["is right and could be measured", "slower>5%", "memory>900%"]
    );
    let failed = &suite.test_cases[1];
    assert_eq!(
        failed.classname.as_ref().unwrap().as_str(),
        "locations.shop"
    );
    match &failed.status {
        TestCaseStatus::NonSuccess { kind, message, .. } => {
            assert_eq!(*kind, NonSuccessKind::Failure);
            let message = message.as_ref().unwrap().as_str();
            assert!(message.starts_with("shop is 9."), "{message}");
            assert!(
                message.contains("slower than its base (95 %: "),
                "{message}"
            );
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn services_get_the_head_and_its_ratio() {
    let results = session(5, 1.1, &[]);
    let analysis = analyse(&results);
    let entries =
        |text: Option<String>| -> Vec<Value> { serde_json::from_str(&text.unwrap()).unwrap() };
    let bigger = entries(bigger_is_better(&analysis));
    assert_eq!(bigger.len(), 2);
    assert_eq!(bigger[0]["name"], "locations / shop: throughput");
    assert_eq!(bigger[0]["unit"], "requests/s");
    assert!(
        (bigger[0]["value"].as_f64().unwrap() - 4500.0).abs() < 60.0,
        "{bigger:?}"
    );
    assert!(
        (bigger[1]["value"].as_f64().unwrap() - 0.91).abs() < 0.01,
        "{bigger:?}"
    );
    let extra = bigger[1]["extra"].as_str().unwrap();
    assert!(extra.contains("base: main (1a2b3c4d5)"), "{extra}");
    let smaller = entries(smaller_is_better(&analysis));
    assert_eq!(smaller.len(), 8);
    for entry in bigger.iter().chain(&smaller) {
        let entry = entry.as_object().unwrap();
        assert!(
            entry["value"].is_number() && entry["range"].is_string(),
            "{entry:?}"
        );
    }
}

#[test]
fn the_summary_is_short_and_says_how() {
    let results = session(5, 1.1, &["slower>5%"]);
    let summary = summary_for_pull_request(&analyse(&results), None);
    for text in [
        "### Performance against main (1a2b3c4d5)",
        "**failed: the condition holds**",
        "| locations | shop | ",
        "**\u{2212}9.",
        "- **FAILED**: locations: slower>5%: shop is 9.",
        "5 sets",
        "Left out: new: not in the baseline",
    ] {
        assert!(summary.contains(text), "{text:?} is missing in {summary}");
    }
    assert!(summary.lines().count() < 30, "{summary}");
    let page = html(&analyse(&results));
    assert!(page.contains("Against the baseline main (1a2b3c4d5)"));
    assert!(page.contains("failed: the condition holds"));
}

#[test]
fn sessions_that_end_when_they_are_sure_say_so_in_every_document() {
    let because = DecisionReason::ConditionsDecided;
    let results = sequential(session(6, 1.2, &["slower>5%", "cpu>5%"]), 6, because);
    let outcomes = [Outcome::Holds, Outcome::Holds];
    let failed = "failed: 2 of 2 conditions hold";
    check(
        &results,
        BaselineConclusion::ConditionHolds,
        &outcomes,
        failed,
    );
    let analysis = analyse(&results);
    let sentence = "6 runs of each contender: every condition is decided. Intervals and verdicts \
                    are valid at whichever run the session ends.";
    for document in [
        terminal_table(&analysis, 1000),
        markdown(&analysis),
        html(&analysis),
        summary_for_pull_request(&analysis, None),
    ] {
        assert!(document.contains(sentence), "{document}");
    }
    let over = sequential(session(6, 1.2, &["slower>5%"]), 6, DecisionReason::Within);
    let over = summary_for_pull_request(&analyse(&over), None);
    let sentence = "6 runs of each contender: as many as the time allows. Intervals and";
    assert!(over.contains(sentence), "{over}");
}
