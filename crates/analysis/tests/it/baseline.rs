//! Head against base.

use bakeoff_model::plan::baseline::ConditionMetric;
use bakeoff_model::record::failure::{Failure, Stage};
use bakeoff_model::record::{Outcome as Ended, Results};
use bakeoff_model::suite::run_count::DecisionReason;

use crate::synthetic::baseline::{analyse, sequential, session};

#[test]
fn figures_are_those_of_both() {
    let results = session(5, 1.1, &[]);
    let analysis = analyse(&results);
    let case = &analysis.against_base.as_ref().unwrap().cases[0];
    assert_eq!((case.label.as_str(), case.error_share), ("shop", Some(0.0)));
    let ratio = |figure: ConditionMetric| case.change(figure).unwrap().ratio.point;
    assert!((ratio(ConditionMetric::Slower) - 0.91).abs() < 0.01);
    assert!((ratio(ConditionMetric::Cpu) - 1.1).abs() < 0.01);
    assert!(ratio(ConditionMetric::Memory) > 0.0);
    // Response times are those of the open load.
    for figure in [ConditionMetric::P50, ConditionMetric::P99] {
        let found = ratio(figure);
        assert!((found - 1.2).abs() < 0.02, "{figure:?} {found}");
    }
    assert!(case.change(ConditionMetric::Errors).is_none());
}

#[test]
fn ratios_of_sets_that_were_looked_at_have_intervals_for_every_look() {
    let fixed = session(6, 1.2, &["slower>5%"]);
    let looked = sequential(fixed.clone(), 6, DecisionReason::ConditionsDecided);
    let interval = |results: &Results| {
        let against = analyse(results).against_base.unwrap();
        let change = against.cases[0].change(ConditionMetric::Slower).unwrap();
        (
            change.ratio.interval.unwrap(),
            against.judged[0].sentence.clone(),
        )
    };
    let ((narrow, _), (wide, sentence)) = (interval(&fixed), interval(&looked));
    assert!(wide.low < narrow.low && wide.high > narrow.high);
    // The table and the sentence have the same one.
    let low = format!("{:.1}", 100.0 * (1.0 - wide.high));
    assert!(sentence.contains(&low), "{low} {sentence}");
}

/// Whether nothing is left to decide with these sets, of sets that were looked at.
#[track_caller]
fn check_decided(results: Results, sets: u32, expect: bool) {
    let results = sequential(results, sets, DecisionReason::ConditionsDecided);
    let against = analyse(&results).against_base.unwrap();
    assert_eq!(against.is_decided(), expect, "{against:#?}");
}

#[test]
fn a_session_is_decided_by_every_figure_that_its_conditions_are_about() {
    check_decided(session(6, 1.2, &["slower>5%"]), 6, true);
    check_decided(session(4, 1.2, &["slower>5%"]), 4, false);
    check_decided(session(6, 1.0, &["slower>5%"]), 6, true);
    // In open load the head takes a fifth longer, whatever the throughput is.
    check_decided(session(6, 1.0, &["slower>5%", "p99>5%"]), 6, true);
    check_decided(session(6, 1.0, &["slower>5%", "p99>20%"]), 6, false);
    check_decided(session(6, 1.055, &["slower>5%"]), 6, false);
    // Without conditions every difference is asked about.
    check_decided(session(6, 1.055, &[]), 6, true);
    check_decided(session(4, 1.055, &[]), 4, false);
    // A head that has failed is decided, a base that has failed cannot be compared.
    let failed = |contender: &str| {
        let mut results = session(6, 1.055, &["slower>5%"]);
        for run in &mut results.runs {
            if run.begin.run.contender == contender {
                run.end.as_mut().unwrap().outcome =
                    Ended::Failed(Failure::new(Stage::Load, "ended"));
            }
        }
        results
    };
    check_decided(failed("shop"), 6, true);
    check_decided(failed("shop@base"), 6, false);
}
