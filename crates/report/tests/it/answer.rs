//! The first screen, and charts as files.

use std::collections::BTreeSet;

use bakeoff_analysis::{Analysis, AnalysisInput};
use bakeoff_model::record::failure::{Failure, Stage};
use bakeoff_model::record::{Outcome, Results};
use bakeoff_model::suite::run_count::{DecisionReason, FamilyDecision, RunsDecision, RunsUntil};
use bakeoff_model::validity::{FairnessVerdict, Validity};
use bakeoff_report::{figures, html, markdown, terminal_table};

use crate::synthetic::{self, Contender, contender};

fn session(contenders: &[Contender], runs: u32) -> Results {
    let mut results = Results::default();
    for repetition in 1..=runs {
        for one in contenders {
            let order = results.runs.len();
            let run = synthetic::run("city-get", one, repetition, order);
            results.runs.push(run);
        }
    }
    results
}

/// The text of the sentence on the first screen.
fn answer(results: &Results) -> String {
    let page = html(&Analysis::of(&AnalysisInput::new(results, "Synthetic")));
    let begin = page.find("<p class=\"answer\">").unwrap();
    let end = begin + page[begin..].find("</p>").unwrap();
    let mut text = String::new();
    for part in page[begin..end].split('<').skip(1) {
        text.push_str(part.split_once('>').unwrap().1);
    }
    text
}

#[test]
fn a_leader_is_named_with_its_lead_and_its_price() {
    let results = session(
        &[
            contender("synthetic-fast", 20_000.0, 50.0),
            contender("synthetic-slow", 5000.0, 200.0),
        ],
        4,
    );
    let text = answer(&results);
    assert!(
        text.starts_with("synthetic-fast serves the most: "),
        "{text}"
    );
    assert!(
        text.contains("It serves significantly more than synthetic-slow: "),
        "{text}"
    );
    assert!(
        text.contains("Lowest CPU per request: also synthetic-fast, "),
        "{text}"
    );
}

#[test]
fn the_first_screen_says_which_differences_can_be_found() {
    let contenders = [
        contender("synthetic-fast", 20_000.0, 50.0),
        contender("synthetic-slow", 5000.0, 200.0),
        contender("synthetic-slower", 4000.0, 250.0),
    ];
    let page = |contenders: &[Contender]| {
        let results = session(contenders, 5);
        html(&Analysis::of(&AnalysisInput::new(&results, "Synthetic")))
    };
    let both = page(&contenders[..2]);
    let text = "Detectable difference in requests/s (80 % power): ";
    assert!(both.contains(text));
    let text = "Detectable differences in requests/s (80 % power): from ";
    assert!(page(&contenders).contains(text));
}

#[test]
fn a_pilots_decision_is_in_every_document() {
    let mut results = session(
        &[
            contender("synthetic-fast", 20_000.0, 50.0),
            contender("synthetic-slow", 5000.0, 200.0),
        ],
        5,
    );
    results.runs_decision = Some(RunsDecision {
        asked: RunsUntil {
            difference: 0.05,
            sequential: false,
            at_most: 5,
            within: None,
        },
        pilot: 3,
        runs: 5,
        because: DecisionReason::AtMost,
        families: vec![FamilyDecision {
            benchmark: "city-get".to_owned(),
            metric: "requests per second".to_owned(),
            comparisons: 1,
            pair: ["synthetic-fast".to_owned(), "synthetic-slow".to_owned()],
            deviation: Some(0.034),
            needed: None,
            power: Some(0.613),
            detectable: Some(0.0721),
        }],
    });
    let analysis = Analysis::of(&AnalysisInput::new(&results, "Synthetic"));
    let texts = [
        "5 runs of each contender: the most that the profile allows; 5 % would need more.",
        "four of five such sessions find a difference of 7.2 % between any two, and 61 % of \
         them one of 5 %",
    ];
    for document in [
        html(&analysis),
        markdown(&analysis),
        terminal_table(&analysis, 1000),
    ] {
        for text in texts {
            assert!(document.contains(text), "{text:?} is missing in {document}");
        }
    }
}

#[test]
fn equal_contenders_are_not_significantly_different() {
    let names = [
        "synthetic-a",
        "synthetic-b",
        "synthetic-c",
        "synthetic-d",
        "synthetic-e",
    ];
    let all = names.map(|name| contender(name, 10_000.0, 100.0));
    let text = answer(&session(&all, 3));
    assert!(text.contains(" serves the most on average, "), "{text}");
    assert!(
        text.contains(", not significantly different from "),
        "{text}"
    );
    assert!(text.contains(" and 2 more"), "{text}");
    assert!(!text.contains("significantly more"), "{text}");
}

#[test]
fn one_run_has_no_interval() {
    let text = answer(&session(&[contender("synthetic-a", 10_000.0, 100.0)], 1));
    assert!(text.contains("(one run, no interval)"), "{text}");
}

#[test]
fn every_figure_is_a_file_of_its_own() {
    let analysis = Analysis::of(&AnalysisInput::new(synthetic::results(), "Synthetic"));
    let all = figures(&analysis);
    let names: BTreeSet<&str> = all.iter().map(|figure| figure.file.as_str()).collect();
    assert_eq!(names.len(), all.len());
    assert!(names.contains("city-get-throughput.svg"), "{names:?}");
    for figure in &all {
        let svg = &figure.svg;
        assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
        assert!(svg.contains(&format!("<title id=\"title\">{}", figure.title)));
        assert!(svg.contains("<path"), "{} is empty", figure.file);
        assert!(
            !svg.contains("NaN") && !svg.contains("inf"),
            "{}",
            figure.file
        );
    }
}

#[test]
fn a_lower_bound_above_the_fair_numbers_is_said_on_the_first_screen() {
    let bound = |name, peak| Contender {
        validity: Validity::recorded(FairnessVerdict::HostBound, "all cores were busy"),
        ..contender(name, peak, 50.0)
    };
    let contenders = [
        contender("synthetic-fair", 5000.0, 200.0),
        bound("synthetic-bound", 20_000.0),
        bound("synthetic-slow", 2000.0),
    ];
    let results = session(&contenders, 4);
    let text = answer(&results);
    assert!(
        text.starts_with("synthetic-fair has the highest number that is fair: "),
        "{text}"
    );
    assert!(
        text.contains(" But synthetic-bound serves at least "),
        "{text}"
    );
    let analysis = Analysis::of(&AnalysisInput::new(&results, "Synthetic"));
    let said = [
        "synthetic-bound serves at least ",
        "Whether synthetic-slow can serve more than synthetic-fair is not known",
    ];
    for document in [
        html(&analysis),
        markdown(&analysis),
        terminal_table(&analysis, 1000),
    ] {
        for text in said {
            assert!(document.contains(text), "{text}: {document}");
        }
    }
}

#[test]
fn a_crash_is_on_the_first_screen_with_its_log() {
    let mut results = session(&[contender("synthetic-a", 10_000.0, 100.0)], 2);
    for run in &mut results.runs {
        let failure = Failure::new(Stage::Load, "ended with status 3 at 64 connections");
        run.end.as_mut().unwrap().outcome = Outcome::Failed(failure);
    }
    let page = html(&Analysis::of(&AnalysisInput::new(&results, "Synthetic")));
    let first = page.split("<section id=\"results\"").next().unwrap();
    let said = "<b>synthetic-a</b>: runs 1, 2 failed at load: ended with status 3 at 64 \
                connections; its log is logs/";
    assert!(first.contains(said), "{first}");
}
