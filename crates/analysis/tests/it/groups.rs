//! Groups of sets: contenders that were never alive concurrently, compared through one that was in
//! every group, on a host that is slower during one of them.

use bakeoff_model::record::Outcome;
use bakeoff_model::record::failure::{Failure, Stage};
use bakeoff_stats::{Comparison, Method, Verdict};

use crate::synthetic::groups::{BLOCKS, COMMON, FIRST, OTHER, SECOND, SLOWER, sets};
use crate::synthetic::turns::{compared, invalidate, summary};

#[track_caller]
fn check(found: &Comparison, truth: f64, verdict: Verdict) {
    assert_eq!((found.method, found.ratio.runs), (Method::Paired, 5));
    let error = found.ratio.point / truth - 1.0;
    assert!(error.abs() < 0.01, "{truth}: {found:?}");
    assert!(
        found.ratio.relative_half_width().unwrap() < 0.02,
        "{found:?}"
    );
    assert_eq!(found.verdict, verdict, "{found:?}");
}

#[test]
fn contenders_of_different_groups_are_compared_through_the_common_one() {
    let results = sets(5);
    let found = summary(&results);
    // By requests per second alone the first would be 50 % faster.
    let across = compared(&found, FIRST, SECOND);
    check(&across, 1.05, Verdict::Faster);
    assert!(across.ratio.interval.unwrap().contains(1.05), "{across:?}");
    check(&compared(&found, FIRST, OTHER), 1.75, Verdict::Faster);
    check(&compared(&found, SECOND, COMMON), 1.25, Verdict::Faster);
    check(&compared(&found, FIRST, COMMON), 1.3125, Verdict::Faster);
    // Numbers of tables have the same ratio.
    let table = &found.tables[0];
    let place = |label: &str| {
        table
            .rows
            .iter()
            .position(|row| row.label == label)
            .unwrap()
    };
    let point = |label: &str| table.rows[place(label)].peak.throughput.estimate.point;
    assert!((point(FIRST) / point(SECOND) - across.ratio.point).abs() < 1e-3);
    // That of the common contender is the geometric mean over groups.
    let mean = 4000.0 * SLOWER.sqrt();
    assert!(
        (point(COMMON) / mean - 1.0).abs() < 0.01,
        "{}",
        point(COMMON)
    );
    let row = &table.rows[place(COMMON)];
    assert_eq!(
        (row.peak.throughput.estimate.runs, row.whole.completed),
        (5, 10)
    );
    let cpu = table.cpu_matrix.pairs.get(place(FIRST), place(SECOND));
    check(cpu.unwrap(), 1.05, Verdict::Slower);
}

#[test]
fn spreads_and_blocks_are_those_of_groups() {
    let found = summary(&sets(5));
    let sets = found.sets.unwrap();
    assert_eq!(sets.each.len(), 10);
    assert!(
        sets.each
            .iter()
            .all(|one| (one.blocks, one.kept) == (20, 20))
    );
    let common = sets.common.unwrap();
    assert_eq!((common.label.as_str(), common.groups), (COMMON, 2));
    let spread = |one: &str, other: &str| {
        let mut pairs = sets.pairs.iter();
        let pair = pairs.find(|pair| {
            [&pair.first, &pair.second]
                .iter()
                .all(|label| [one, other].contains(&label.as_str()))
        });
        pair.unwrap().clone()
    };
    // Every contender is in each set; the noise is that of four across groups, of two within one.
    let (within, across) = (spread(FIRST, OTHER), spread(FIRST, SECOND));
    assert_eq!((within.ratios.len(), across.ratios.len()), (5, 5));
    let more = across.components.within / within.components.within;
    assert!((1.2..1.7).contains(&more), "{more}");
    let ratios = across.ratios.iter().map(|one| one.ratio.point.ln());
    let mean = (ratios.sum::<f64>() / 5.0).exp();
    assert!((mean - 1.05).abs() < 0.01, "{mean}");
}

#[test]
fn a_group_without_the_common_contender_is_no_observation() {
    let mut failed = sets(5);
    // That of the second group of the third set.
    let run = &mut failed.runs[2 * 6 + 3];
    assert_eq!(run.begin.run.contender, COMMON);
    let failure = Failure::new(Stage::Load, "killed for memory");
    run.end.as_mut().unwrap().outcome = Outcome::Failed(failure);
    let found = summary(&failed);
    assert_eq!(compared(&found, FIRST, SECOND).ratio.runs, 4);
    assert_eq!(compared(&found, FIRST, OTHER).ratio.runs, 5);
    assert_eq!(compared(&found, FIRST, COMMON).ratio.runs, 5);
    assert_eq!(found.failures[0].label, COMMON);

    // One without a valid number says so, and what depends on it has no rank.
    let mut never = sets(2);
    for run in [3, 9] {
        (0..BLOCKS).for_each(|block| invalidate(&mut never, run, block));
    }
    let found = summary(&never);
    let reason = |label: &str| {
        let mut unranked = found.unranked.iter();
        unranked
            .find(|one| one.label == label)
            .map(|one| one.reason.clone())
    };
    assert!(
        reason(SECOND)
            .unwrap()
            .contains("has no number in its group")
    );
    assert!(reason(COMMON).is_some() && reason(FIRST).is_none());
}

#[test]
fn a_block_is_lost_for_its_group_only() {
    let mut results = sets(5);
    invalidate(&mut results, 1, 7);
    let found = summary(&results);
    let kept: Vec<usize> = found
        .sets
        .unwrap()
        .each
        .iter()
        .map(|one| one.kept)
        .collect();
    assert_eq!(kept, [19, 20, 20, 20, 20, 20, 20, 20, 20, 20]);
}
