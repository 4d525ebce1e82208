//! Head against base as JUnit XML: a test case for each contender and condition, and one for
//! whether the contender was right and could be measured.

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use bakeoff_analysis::Analysis;
use bakeoff_analysis::baseline::{AgainstBase, HeadAndBase, JudgedCondition, Outcome};

/// The name of the test case that fails with wrong responses and failed runs.
const MEASURED: &str = "is right and could be measured";

/// The report as JUnit XML; `None` without a baseline.
#[must_use]
pub fn junit(analysis: &Analysis<'_>) -> Option<String> {
    let all = analysis.against_base.as_ref()?;
    let mut report = Report::new(format!("bakeoff against {}", all.baseline.describe()));
    let mut benchmarks: Vec<&str> = Vec::new();
    for case in &all.cases {
        if !benchmarks.contains(&case.benchmark.as_str()) {
            benchmarks.push(&case.benchmark);
        }
    }
    for benchmark in benchmarks {
        report.add_test_suite(suite(all, benchmark));
    }
    // Text without what XML cannot hold always has a form in it.
    report.to_string().ok()
}

fn suite(all: &AgainstBase, benchmark: &str) -> TestSuite {
    let mut suite = TestSuite::new(benchmark);
    for (index, case) in all.cases.iter().enumerate() {
        if case.benchmark != benchmark {
            continue;
        }
        suite.add_test_case(measured(case));
        for judged in all.judged_of(index) {
            suite.add_test_case(condition(case, judged));
        }
    }
    suite
}

fn measured(case: &HeadAndBase) -> TestCase {
    let status = match &case.failure {
        Some(failure) => failed(failure),
        None => TestCaseStatus::success(),
    };
    let mut test = of(case, MEASURED, status);
    if let (None, Some(why)) = (&case.failure, &case.incomparable) {
        test.set_system_out(format!("not compared: {why}"));
    }
    test
}

fn condition(case: &HeadAndBase, judged: &JudgedCondition) -> TestCase {
    let status = match judged.outcome {
        Outcome::Holds => failed(&judged.sentence),
        Outcome::DoesNotHold => TestCaseStatus::success(),
        // Neither passed nor failed: a green test would hide that nothing was decided.
        Outcome::Undecided => undecided(&judged.sentence),
    };
    let mut test = of(case, &judged.condition.to_string(), status);
    if judged.outcome == Outcome::DoesNotHold {
        test.set_system_out(judged.sentence.as_str());
    }
    test
}

fn of(case: &HeadAndBase, name: &str, status: TestCaseStatus) -> TestCase {
    let mut test = TestCase::new(name, status);
    test.set_classname(format!("{}.{}", case.benchmark, case.label));
    test
}

fn undecided(sentence: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::skipped();
    status.set_message(format!("undecided: {sentence}"));
    status
}

fn failed(sentence: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status.set_message(sentence).set_description(sentence);
    status
}
