//! Published results: shown next to our numbers, never among them; claims get the right verdict.

use std::time::Duration;

use bakeoff_analysis::{Analysis, AnalysisInput, ClaimRow, ClaimVerdict, RoundResults};
use bakeoff_model::load::{MinMax, Pace};
use bakeoff_model::record::Results;
use bakeoff_model::suite::Step;
use bakeoff_model::suite::published::{
    Bounds, Claim, ClaimTest, Expected, LimitKind, Metric, Published,
};
use bakeoff_model::validity::{FairnessVerdict, Validity};

use crate::synthetic::published::{claim, ratio, results, source, three};
use crate::synthetic::{self, Contender, Fault, contender, turns};

fn judged(mut results: Results, claim: Claim, rounds: &[RoundResults]) -> ClaimRow {
    results.published = Some(Published {
        sources: vec![source()],
        results: Vec::new(),
        claims: vec![claim],
    });
    let input = AnalysisInput {
        results: &results,
        title: "Synthetic",
        rounds,
    };
    Analysis::of(&input).claims.remove(0)
}

#[track_caller]
fn check(results: Results, claim: Claim, verdict: ClaimVerdict, texts: &[&str]) {
    let row = judged(results, claim, &[]);
    assert_eq!(row.verdict, verdict, "{row:#?}");
    for text in texts {
        let found = row.measured.contains(text) || row.why.contains(text);
        assert!(found, "{text:?} is missing in {row:#?}");
    }
}

#[test]
fn a_ratio_is_held_against_its_bounds() {
    let test = |min| ratio("synthetic-fast", "synthetic-slow", min);
    let peak = |min| claim(Metric::PeakThroughput, None, test(min));
    let all = || results(&three(), 4);
    check(
        all(),
        peak(2.5),
        ClaimVerdict::Reproduced,
        &["synthetic-fast : synthetic-slow = ", "(95 %: ", "4 runs)"],
    );
    check(all(), peak(4.0), ClaimVerdict::Smaller, &[]);
    check(
        all(),
        peak(3.0),
        ClaimVerdict::Undecided,
        &["the interval allows both"],
    );
    let cpu = claim(
        Metric::CpuPerRequest,
        Some(64),
        ratio("synthetic-slow", "synthetic-fast", 3.0),
    );
    check(all(), cpu, ClaimVerdict::Reproduced, &[]);
    let start = claim(
        Metric::StartUp,
        None,
        ratio("synthetic-slow", "synthetic-fast", 100.0),
    );
    check(all(), start, ClaimVerdict::NotReproduced, &[]);
}

fn sized(first: &str, second: &str, expected: Expected) -> ClaimTest {
    ClaimTest::Ratio {
        first: first.to_owned(),
        second: second.to_owned(),
        expected,
    }
}

#[test]
fn a_size_is_found_smaller_or_larger() {
    let all = || results(&three(), 4);
    let peak = |size: f64| {
        let test = sized("synthetic-fast", "synthetic-slow", Expected::About(size));
        claim(Metric::PeakThroughput, None, test)
    };
    check(all(), peak(3.0), ClaimVerdict::Reproduced, &[]);
    check(all(), peak(5.0), ClaimVerdict::Smaller, &[]);
    check(all(), peak(1.5), ClaimVerdict::Larger, &[]);
    check(all(), peak(0.5), ClaimVerdict::NotReproduced, &[]);
    let equal = sized("synthetic-fast", "synthetic-slow", Expected::Equal);
    let equal = claim(Metric::PeakThroughput, None, equal);
    check(all(), equal, ClaimVerdict::NotReproduced, &[]);
}

#[test]
fn one_contender_at_two_loads_is_a_ratio_too() {
    let test = sized("synthetic-fast", "synthetic-fast", Expected::About(1.1));
    let mut at_two = claim(Metric::Throughput, Some(64), test);
    at_two.second_at = Some(8);
    let row = judged(results(&three(), 4), at_two, &[]);
    assert!(
        row.expected.contains("synthetic-fast at 8 about 1.1"),
        "{row:#?}"
    );
    assert_ne!(row.verdict, ClaimVerdict::NotTestable, "{row:#?}");
}

#[test]
fn what_the_source_does_not_say_itself_is_labelled() {
    let mut derived = claim(
        Metric::PeakThroughput,
        None,
        ratio("synthetic-fast", "synthetic-slow", 2.0),
    );
    derived.derived = Some("9000 : 3000 in its table".to_owned());
    let row = judged(results(&three(), 4), derived, &[]);
    assert_eq!(row.derived, "9000 : 3000 in its table");
}

#[test]
fn what_cannot_be_tested_says_why() {
    let not = ClaimVerdict::NotTestable;
    let peak = |first: &str| {
        claim(
            Metric::PeakThroughput,
            None,
            ratio(first, "synthetic-slow", 2.0),
        )
    };
    check(
        results(&three(), 4),
        peak("tide"),
        not,
        &["tide was not run"],
    );
    check(
        results(&three(), 1),
        peak("synthetic-fast"),
        not,
        &["too few runs for an interval"],
    );
    let mut wrong = three();
    wrong[0].fault = Fault::WrongResponse;
    check(
        results(&wrong, 4),
        peak("synthetic-fast"),
        not,
        &["check get/Plzeň in Czech failed"],
    );
    let mut elsewhere = peak("synthetic-fast");
    elsewhere.benchmark = "closest".to_owned();
    check(
        results(&three(), 4),
        elsewhere,
        not,
        &["the benchmark closest was not run"],
    );
}

#[test]
fn a_lower_bound_leaves_one_side_of_a_ratio_open() {
    let peak = |first: &str, second: &str, least: f64| {
        claim(Metric::PeakThroughput, None, ratio(first, second, least))
    };
    let mut bound = three();
    bound[0].validity = Validity::recorded(
        FairnessVerdict::GeneratorBound,
        "the load generator was busy",
    );
    let first = || results(&bound, 4);
    let (fast, slow) = ("synthetic-fast", "synthetic-slow");
    let not = ClaimVerdict::NotTestable;
    // Three times as much was measured, and it may be more.
    check(
        first(),
        peak(fast, slow, 2.0),
        ClaimVerdict::Reproduced,
        &[],
    );
    check(first(), peak(fast, slow, 5.0), ClaimVerdict::Undecided, &[]);
    // A third was measured, and it may be less.
    let less = ClaimVerdict::NotReproduced;
    check(first(), peak(slow, fast, 2.0), less, &["generator-bound"]);
    check(first(), peak(slow, fast, 0.1), ClaimVerdict::Undecided, &[]);
    let equal = sized(fast, slow, Expected::Equal);
    let equal = claim(Metric::PeakThroughput, None, equal);
    check(first(), equal, not, &["generator-bound", "lower bound"]);

    let mut both = bound.clone();
    let host = Validity::recorded(FairnessVerdict::HostBound, "the host was full");
    let slow_one = both.iter_mut().find(|one| one.name == slow).unwrap();
    slow_one.validity = host;
    check(
        results(&both, 4),
        peak(fast, slow, 2.0),
        not,
        &["generator-bound", "lower bound"],
    );
}

#[test]
fn limits_matter_to_the_claims_that_say_so() {
    let mut other_limits = results(&three(), 4);
    for run in &mut other_limits.runs {
        run.begin.run.limits.cpus = Some(1.0);
    }
    let mut strict = claim(
        Metric::PeakThroughput,
        None,
        ratio("synthetic-fast", "synthetic-slow", 2.0),
    );
    check(
        other_limits.clone(),
        strict.clone(),
        ClaimVerdict::Reproduced,
        &[],
    );
    strict.same_limits = vec![LimitKind::Memory];
    check(
        other_limits.clone(),
        strict.clone(),
        ClaimVerdict::Reproduced,
        &[],
    );
    strict.same_limits.push(LimitKind::Cpus);
    check(
        other_limits,
        strict,
        ClaimVerdict::NotTestable,
        &["limits differ: 1 CPU and 512 MiB here, 1.5 CPU and 512 MiB there"],
    );
}

#[test]
fn the_best_and_an_order_need_sure_differences() {
    let best = |best: &str| {
        let among = vec!["synthetic-*".to_owned()];
        let best = best.to_owned();
        claim(Metric::CpuPerRequest, None, ClaimTest::Best { best, among })
    };
    let all = || results(&three(), 4);
    check(
        all(),
        best("synthetic-fast"),
        ClaimVerdict::Reproduced,
        &["first: synthetic-fast"],
    );
    check(
        all(),
        best("synthetic-middle"),
        ClaimVerdict::NotReproduced,
        &[],
    );
    let one_not_run = ClaimTest::Best {
        best: "synthetic-fast".to_owned(),
        among: vec!["synthetic-*".to_owned(), "absent".to_owned()],
    };
    check(
        all(),
        claim(Metric::CpuPerRequest, None, one_not_run),
        ClaimVerdict::Undecided,
        &["absent was not run"],
    );
    let order = |names: [&str; 3]| {
        let order = names.map(|name| format!("synthetic-{name}")).to_vec();
        claim(Metric::PeakThroughput, None, ClaimTest::Order { order })
    };
    let sorted = order(["fast", "middle", "slow"]);
    check(all(), sorted, ClaimVerdict::Reproduced, &[]);
    let swapped = order(["middle", "fast", "slow"]);
    check(all(), swapped, ClaimVerdict::NotReproduced, &[]);
    let missing = order(["fast", "middle", "absent"]);
    let not_run = &["synthetic-absent was not run"];
    check(all(), missing, ClaimVerdict::Undecided, not_run);
    let against = order(["middle", "absent", "fast"]);
    check(all(), against, ClaimVerdict::NotReproduced, not_run);
    let alone = order(["fast", "absent", "nowhere"]);
    check(all(), alone, ClaimVerdict::NotTestable, not_run);
}

#[test]
fn a_rival_without_a_number_is_named() {
    let mut wrong = three();
    wrong[2].fault = Fault::WrongResponse;
    let best = ClaimTest::Best {
        best: "synthetic-fast".to_owned(),
        among: vec!["synthetic-*".to_owned()],
    };
    check(
        results(&wrong, 4),
        claim(Metric::CpuPerRequest, None, best),
        ClaimVerdict::Undecided,
        &[
            "synthetic-slow has no number",
            "check get/Plzeň in Czech failed",
        ],
    );
}

#[test]
fn what_happens_is_counted_over_runs() {
    let killed = |at: u32, name: &str| {
        let contenders = vec![name.to_owned()];
        let test = ClaimTest::Happens {
            contenders,
            happens: true,
        };
        claim(Metric::KilledForMemory, Some(at), test)
    };
    let mut one = three();
    one[0].fault = Fault::OutOfMemory;
    check(
        results(&one, 4),
        killed(256, "synthetic-fast"),
        ClaimVerdict::Undecided,
        &["in 1 of 4 runs"],
    );
    check(
        results(&one, 4),
        killed(256, "synthetic-slow"),
        ClaimVerdict::NotReproduced,
        &["in 0 of 4 runs"],
    );
    check(
        results(&three(), 4),
        killed(1024, "synthetic-slow"),
        ClaimVerdict::NotTestable,
        &["was not run with 1024 connections"],
    );
    let mut starved = results(&three(), 2);
    for interval in starved.runs.iter_mut().flat_map(|run| &mut run.intervals) {
        interval.load.requests_per_connection = Some(MinMax { min: 0, max: 9 });
    }
    let unserved = |happens| {
        let contenders = vec!["synthetic-fast".to_owned()];
        let test = ClaimTest::Happens {
            contenders,
            happens,
        };
        claim(Metric::ConnectionsUnserved, Some(64), test)
    };
    let not = ClaimVerdict::NotReproduced;
    check(
        starved.clone(),
        unserved(true),
        ClaimVerdict::Reproduced,
        &["in 2 of 2"],
    );
    check(starved, unserved(false), not, &["in 2 of 2"]);
}

#[test]
fn the_lower_half_of_a_ratio_may_be_of_another_benchmark() {
    let mut both = results(&three(), 4);
    for (order, repetition) in (12..).zip(1..=4) {
        let slower = contender("synthetic-fast", 4500.0, 150.0);
        both.runs
            .push(synthetic::run("city-closest", &slower, repetition, order));
    }
    let test = || ratio("synthetic-fast", "synthetic-fast", 1.5);
    let across = Claim {
        second_benchmark: Some("city-closest".to_owned()),
        ..claim(Metric::PeakThroughput, None, test())
    };
    let row = judged(both.clone(), across, &[]);
    assert_eq!(row.verdict, ClaimVerdict::Reproduced, "{row:#?}");
    assert!(row.expected.contains("in city-closest"), "{row:#?}");
    let same = claim(Metric::PeakThroughput, None, test());
    check(both, same, ClaimVerdict::NotReproduced, &[]);
}

#[test]
fn failures_are_a_share() {
    let mut one = three();
    one[0].fault = Fault::TimeOuts;
    let few = |name: &str, at: u32| {
        let test = ClaimTest::Value {
            contender: name.to_owned(),
            expected: Expected::Within(Bounds {
                min: None,
                max: Some(0.001),
            }),
        };
        claim(Metric::FailedShare, Some(at), test)
    };
    let none = few("synthetic-middle", 64);
    check(results(&one, 4), none, ClaimVerdict::Reproduced, &[]);
    let many = few("synthetic-fast", 256);
    check(results(&one, 4), many, ClaimVerdict::NotReproduced, &[]);
}

#[test]
fn a_round_shows_what_the_main_one_cannot() {
    let main = results(&three()[..1], 4);
    let round = RoundResults {
        folder: "../engines".to_owned(),
        results: results(&three(), 4),
    };
    let test = ratio("synthetic-fast", "synthetic-slow", 2.5);
    let row = judged(main, claim(Metric::PeakThroughput, None, test), &[round]);
    assert_eq!(row.verdict, ClaimVerdict::Reproduced);
    assert_eq!(row.folder, "../engines");
}

#[test]
fn the_session_with_most_of_a_claims_contenders_decides_it() {
    let round = |folder: &str, count: usize| RoundResults {
        folder: folder.to_owned(),
        results: results(&three()[..count], 4),
    };
    let best = || {
        let among = vec!["synthetic-*".to_owned()];
        let best = "synthetic-fast".to_owned();
        claim(Metric::CpuPerRequest, None, ClaimTest::Best { best, among })
    };
    let folder = |main: usize, rounds: &[RoundResults]| {
        judged(results(&three()[..main], 4), best(), rounds).folder
    };
    assert_eq!(folder(2, &[round("../all", 3)]), "../all");
    assert_eq!(folder(3, &[round("../all", 3)]), "");
    assert_eq!(
        folder(1, &[round("../two", 2), round("../all", 3)]),
        "../all"
    );
}

/// Results of a round.
fn of_round(name: &str, contenders: &[Contender]) -> Results {
    Results {
        round: Some(name.to_owned()),
        ..results(contenders, 4)
    }
}

#[test]
fn a_claim_is_read_in_the_round_that_measures_it() {
    let slower = [
        contender("synthetic-fast", 3100.0, 150.0),
        three()[2].clone(),
    ];
    let waiting = RoundResults {
        folder: "../waiting".to_owned(),
        results: of_round("waiting", &slower),
    };
    let peak = |round: Option<&str>| Claim {
        round: round.map(str::to_owned),
        ..claim(
            Metric::PeakThroughput,
            None,
            ratio("synthetic-fast", "synthetic-slow", 2.5),
        )
    };
    let main = || of_round("main", &three());
    let rounds = std::slice::from_ref(&waiting);
    let anywhere = judged(main(), peak(None), rounds);
    assert_eq!(anywhere.verdict, ClaimVerdict::Reproduced);
    assert_eq!(anywhere.folder, "");
    let there = judged(main(), peak(Some("waiting")), rounds);
    assert_ne!(there.verdict, ClaimVerdict::Reproduced, "{there:#?}");
    assert_eq!(there.folder, "../waiting");
    assert!(there.expected.ends_with("; round waiting"), "{there:#?}");
    assert!(!there.why.contains("its round"), "{there:#?}");
    // What others measured under other conditions says so.
    let elsewhere = judged(main(), peak(Some("absent")), rounds);
    assert_eq!(elsewhere.verdict, ClaimVerdict::Reproduced);
    assert!(
        elsewhere.why.contains("not measured in its round absent"),
        "{elsewhere:#?}"
    );
}

#[test]
fn what_stands_in_for_something_absent_is_labelled_as_ours() {
    let test = || ratio("synthetic-fast", "synthetic-slow", 2.5);
    let absent = Claim {
        absent: Some("it is not in the package registry".to_owned()),
        ..claim(
            Metric::PeakThroughput,
            None,
            ratio("article-fast", "synthetic-slow", 2.5),
        )
    };
    check(
        results(&three(), 4),
        absent,
        ClaimVerdict::NotTestable,
        &["article-fast was not run; it is not in the package registry"],
    );
    let ours = Claim {
        stand_in: Some("one of ours".to_owned()),
        ..claim(Metric::PeakThroughput, None, test())
    };
    let row = judged(results(&three(), 4), ours, &[]);
    assert_eq!(row.verdict, ClaimVerdict::Reproduced);
    assert_eq!(row.text, "Ours, with one of ours: It is so");
    assert_eq!(row.source, "this suite, after An Author, 2020");
}

#[test]
fn one_of_several_steps_with_the_same_connections_is_named() {
    let step = |warm_up| Step {
        connections: 64,
        duration: Duration::from_secs(2),
        pace: Pace::Closed,
        warm_up,
        at_least: None,
    };
    let steps = vec![step(true), step(false), step(false)];
    let mut all = Results::default();
    for repetition in 1..=4 {
        for one in &three()[..2] {
            let order = all.runs.len();
            let run =
                |one| synthetic::run_of_steps("city-get", one, repetition, order, steps.clone());
            let mut played = run(one);
            if one.name == "synthetic-fast" {
                // Its second step is that of a slower service.
                let slower = run(&contender("synthetic-fast", 3000.0, 150.0));
                let second = slower.intervals.into_iter();
                let second = second.filter(|slice| slice.load.step == 2);
                played.intervals.retain(|slice| slice.load.step < 2);
                played.intervals.extend(second);
            }
            all.runs.push(played);
        }
    }
    let nth = |nth_step| {
        let test = ratio("synthetic-fast", "synthetic-middle", 1.1);
        let claim = claim(Metric::Throughput, Some(64), test);
        judged(all.clone(), Claim { nth_step, ..claim }, &[])
    };
    assert_eq!(nth(1).verdict, ClaimVerdict::Reproduced);
    let second = nth(2);
    assert_eq!(second.verdict, ClaimVerdict::NotReproduced, "{second:#?}");
    assert!(second.expected.contains("step 2 of these"), "{second:#?}");
    assert_eq!(nth(3).verdict, ClaimVerdict::NotTestable);
}

#[test]
fn turns_have_no_percentile_of_a_step_and_say_so() {
    let slices = vec![(1000, 400_000); 4];
    let played: Vec<_> = (1..=4)
        .flat_map(|set| [("fast", set, slices.clone()), ("slow", set, slices.clone())])
        .collect();
    let p99 = Claim {
        benchmark: "locations".to_owned(),
        ..claim(Metric::P99, Some(64), ratio("fast", "slow", 1.0))
    };
    check(
        turns::results(&played, turns::Way::Turns),
        p99,
        ClaimVerdict::NotTestable,
        &["fast took turns, which have no separate p99 at 64 connections"],
    );
}
