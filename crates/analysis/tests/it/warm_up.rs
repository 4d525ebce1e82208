//! Warm-up that ends when a contender is warm: its cost, and contenders that were not warm.

use crate::synthetic::warm_up::{analysis, results};

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
