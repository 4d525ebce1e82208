//! A contender that logs less under load is found; one that buffers is not accused of it.

use bakeoff_model::plan::Work;
use bakeoff_model::request::check::CheckOutcome;
use bakeoff_validity::logs_under_load;

fn check(each_min: Option<f64>, before: Option<u64>, after: Option<u64>, expect: &str) {
    let work = Work {
        log_lines_min: each_min,
        ..Work::default()
    };
    let found = match logs_under_load(&work, 10_000, before, after) {
        None => "not asked".to_owned(),
        Some((CheckOutcome::Good, _)) => "good".to_owned(),
        Some((CheckOutcome::Bad { assertion }, _)) => assertion,
        Some((outcome, _)) => format!("{outcome:?}"),
    };
    assert!(found.contains(expect), "{found}");
}

#[test]
fn lines_are_held_against_requests() {
    check(None, Some(5), Some(5), "not asked");
    check(Some(1.0), Some(5), Some(10_005), "good");
    // A block in a buffer.
    check(Some(1.0), Some(5), Some(9_950), "good");
    check(Some(1.0), Some(5), Some(9_800), "9795 lines for 10000");
    check(Some(1.0), Some(5), Some(1_005), "each of which takes 1 at");
    check(Some(2.0), Some(5), Some(10_005), "each of which takes 2 at");
    check(Some(0.5), Some(5), Some(5_005), "good");
    check(Some(1.0), None, Some(10_005), "are not counted");
}

#[test]
fn without_requests_nothing_is_due() {
    let work = Work {
        log_lines_min: Some(1.0),
        ..Work::default()
    };
    assert_eq!(logs_under_load(&work, 0, Some(0), Some(0)), None);
}
