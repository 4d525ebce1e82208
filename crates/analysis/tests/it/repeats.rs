//! Which verdicts of a session a second one repeats.

use bakeoff_analysis::{Analysis, AnalysisInput, PairTwice, pairs_twice};
use bakeoff_stats::Verdict;

use crate::synthetic::contender;
use crate::synthetic::published::{results, three};

#[test]
fn verdicts_on_pairs_repeat_or_do_not() {
    let first = results(&three(), 4);
    let mut others = three();
    // The fastest of the first session is the slowest of the second.
    others[0] = contender("synthetic-fast", 1500.0, 600.0);
    let second = results(&others, 4);
    let analysis = |results| Analysis::of(&AnalysisInput::new(results, ""));
    let pairs = pairs_twice(&analysis(&first), &analysis(&second));
    let by_throughput = |one: &str, other: &str| -> PairTwice {
        let labels = [one.to_owned(), other.to_owned()];
        let found = pairs
            .iter()
            .find(|pair| pair.labels == labels && pair.metric == "requests/s");
        found.unwrap().clone()
    };
    let changed = by_throughput("synthetic-fast", "synthetic-slow");
    assert_eq!(changed.verdicts, [Verdict::Faster, Verdict::Slower]);
    assert!(changed.is_decided() && !changed.repeats());
    let same = by_throughput("synthetic-middle", "synthetic-slow");
    assert!(same.repeats(), "{same:#?}");
    // Three pairs by throughput, and the same by CPU.
    assert_eq!(pairs.len(), 6);
}
