//! Published results: shown next to our numbers, never among them; claims get the right verdict.

use std::time::Duration;

use bakeoff_analysis::claims::counts;
use bakeoff_analysis::{Analysis, AnalysisInput, ClaimRow, ClaimVerdict, RoundResults};
use bakeoff_model::load::{MinMax, Pace};
use bakeoff_model::measure::resource::{CoreTime, HostTime, Jvm};
use bakeoff_model::record::{Results, sittings};
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
        ..Published::default()
    });
    let input = AnalysisInput {
        results: &results,
        title: "Synthetic",
        rounds,
    };
    Analysis::of(&input).claims.remove(0)
}

fn measured(row: &ClaimRow) -> String {
    let found = row.found.iter().map(|found| &*found.measured);
    found.collect::<Vec<_>>().join("; ")
}

/// The folders that a verdict is based on.
fn folders(row: &ClaimRow) -> Vec<&str> {
    row.found.iter().map(|found| &*found.folder).collect()
}

#[track_caller]
fn check(results: Results, claim: Claim, verdict: ClaimVerdict, texts: &[&str]) {
    let row = judged(results, claim, &[]);
    assert_eq!(row.verdict, verdict, "{row:#?}");
    for text in texts {
        let found = measured(&row).contains(text) || row.why.contains(text);
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
        than: None,
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
    let of_hardware = Claim {
        same_limits: vec![LimitKind::Host],
        ..strict.clone()
    };
    check(
        results(&three(), 4),
        of_hardware,
        ClaimVerdict::NotTestable,
        &["it holds on the hardware of the source only"],
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
    check(starved.clone(), unserved(false), not, &["in 2 of 2"]);
    for interval in starved.runs.iter_mut().flat_map(|run| &mut run.intervals) {
        interval.load.requests_per_connection = Some(MinMax { min: 1, max: 9 });
        interval.load.connections.reconnects = 32;
    }
    let why = "synthetic-fast closed connections at 64, so which get no response is not known";
    check(starved, unserved(true), ClaimVerdict::NotTestable, &[why]);
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
fn requests_that_were_answered_well_are_counted_despite_failures_if_a_claim_says_so() {
    let mut some = three();
    some[0].fault = Fault::TimeOuts;
    let mut failing = results(&some, 4);
    for interval in failing.runs.iter_mut().flat_map(|run| &mut run.intervals) {
        for error in interval.load.errors.values_mut() {
            error.count *= 50;
        }
    }
    let test = ratio("synthetic-fast", "synthetic-slow", 2.5);
    let strict = claim(Metric::Throughput, Some(256), test);
    let counted = Claim {
        despite_failures: true,
        ..strict.clone()
    };
    let proves_nothing = &["proves nothing"];
    let not_testable = ClaimVerdict::NotTestable;
    check(failing.clone(), strict, not_testable, proves_nothing);
    let row = judged(failing, counted, &[]);
    assert_ne!(row.verdict, ClaimVerdict::NotTestable, "{row:#?}");
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
    assert_eq!(folders(&row), ["../engines"]);
}

#[test]
fn the_sessions_with_most_of_a_claims_contenders_decide_it() {
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
        let row = judged(results(&three()[..main], 4), best(), rounds);
        folders(&row).join(", ")
    };
    assert_eq!(folder(2, &[round("../all", 3)]), "../all");
    assert_eq!(folder(3, &[round("../all", 2)]), "");
    assert_eq!(folder(3, &[round("../all", 3)]), ", ../all");
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
    assert_eq!(folders(&anywhere), ["", "../waiting"]);
    assert_eq!(anywhere.verdict, ClaimVerdict::Undecided);
    let disagree = "they disagree: reproduced by these results, smaller than claimed, but there \
                    by ../waiting";
    assert_eq!(anywhere.why, disagree);
    let there = judged(main(), peak(Some("waiting")), rounds);
    assert_ne!(there.verdict, ClaimVerdict::Reproduced, "{there:#?}");
    assert_eq!(folders(&there), ["../waiting"]);
    assert!(there.expected.ends_with("; round waiting"), "{there:#?}");
    assert!(!there.why.contains("its round"), "{there:#?}");
    // What others measured under other conditions says so.
    let elsewhere = judged(main(), peak(Some("absent")), &[]);
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
    assert_eq!(row.verdict_text(), "ours: reproduced");
    assert_eq!(row.text, "Ours, with one of ours: It is so");
    let counted = counts(&[row.clone(), row.clone()]);
    assert_eq!(
        counted.len(),
        1,
        "no claim of the source was judged: {counted:?}"
    );
    let ours = "Ours, with what stands in for theirs: 2 reproduced, ";
    assert!(counted[0].starts_with(ours), "{counted:?}");
    let theirs = Claim {
        replaced_by: Some("an adapter of ours".to_owned()),
        ..claim(Metric::PeakThroughput, None, test())
    };
    let why = "what was measured is not what the source had, but an adapter of ours";
    check(
        results(&three(), 4),
        theirs,
        ClaimVerdict::NotTestable,
        &[why],
    );
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

#[test]
fn a_wide_interval_shows_a_direction_and_no_size() {
    let played: Vec<_> = (1..=6)
        .flat_map(|set| {
            let fast = if set % 2 == 0 { 2000 } else { 4000 };
            let slices = |requests| vec![(requests, 400_000); 4];
            [("fast", set, slices(fast)), ("slow", set, slices(1000))]
        })
        .collect();
    let about = sized("fast", "slow", Expected::About(2.8));
    let about = Claim {
        benchmark: "locations".to_owned(),
        ..claim(Metric::PeakThroughput, None, about)
    };
    let texts = &["reaches more than 25 % from the claimed size"];
    let played = turns::results(&played, turns::Way::Turns);
    check(played, about, ClaimVerdict::Direction, texts);
}

#[test]
fn memory_is_read_at_the_end_of_the_load_or_at_a_step() {
    let mut all = results(&three(), 4);
    let fast = all.runs.iter_mut();
    let fast = fast.filter(|run| run.begin.run.contender == "synthetic-fast");
    for run in fast {
        // The step that takes most memory need not be played last.
        let most = run.intervals.iter().map(|slice| slice.connections).max();
        for slice in &mut run.intervals {
            let memory = slice.contender_after.as_mut().unwrap();
            let memory = memory.memory.as_mut().unwrap();
            let share = if Some(slice.connections) == most {
                10
            } else {
                1
            };
            memory.peak_bytes *= share;
            memory.peak_bytes += u64::from(run.begin.run.repetition) << 10;
        }
    }
    let memory = |at, min| {
        let test = ratio("synthetic-fast", "synthetic-slow", min);
        claim(Metric::Memory, at, test)
    };
    let end = judged(all.clone(), memory(None, 5.0), &[]);
    assert_eq!(end.verdict, ClaimVerdict::Reproduced, "{end:#?}");
    assert!(
        end.expected
            .ends_with("MiB of memory at the end of the load")
    );
    let at_64 = judged(all, memory(Some(64), 5.0), &[]);
    assert!(measured(&at_64).contains(" = 1.00 "), "{at_64:#?}");
}

#[test]
fn one_loses_more_than_the_other() {
    let mut all = results(&three(), 4);
    for run in &mut all.runs {
        if run.begin.run.contender == "synthetic-fast" {
            let half = contender("synthetic-fast", 4500.0, 150.0);
            let begin = &run.begin.run;
            let half = synthetic::run("city-get", &half, begin.repetition, begin.order);
            let half = half.intervals.into_iter();
            run.intervals.retain(|slice| slice.connections != 256);
            run.intervals
                .extend(half.filter(|slice| slice.connections == 256));
        }
    }
    let (fast, slow) = ("synthetic-fast", "synthetic-slow");
    let loss = |first: &str, than: &str, expected| {
        let test = ClaimTest::Ratio {
            first: first.to_owned(),
            second: first.to_owned(),
            than: Some([than.to_owned(), than.to_owned()]),
            expected,
        };
        Claim {
            second_at: Some(64),
            ..claim(Metric::Throughput, Some(256), test)
        }
    };
    let less = Expected::Within(Bounds {
        min: None,
        max: Some(0.7),
    });
    let row = judged(all.clone(), loss(fast, slow, less), &[]);
    assert_eq!(row.verdict, ClaimVerdict::Reproduced, "{row:#?}");
    let text = "(synthetic-fast : synthetic-fast) : (synthetic-slow : synthetic-slow) = 0.5";
    assert!(measured(&row).starts_with(text), "{row:#?}");
    let expected =
        "(synthetic-fast : synthetic-fast at 64) : (synthetic-slow : synthetic-slow at 64)";
    assert!(row.expected.starts_with(expected), "{row:#?}");
    let not = ClaimVerdict::NotReproduced;
    check(all.clone(), loss(slow, fast, less), not, &[]);
    let middle = "synthetic-middle";
    check(
        all,
        loss(middle, slow, Expected::Equal),
        ClaimVerdict::Reproduced,
        &[],
    );
}

#[test]
fn two_loads_are_void_where_others_took_more_of_the_cores_at_one() {
    let at_two = || {
        let test = sized("synthetic-slow", "synthetic-slow", Expected::About(1.0));
        Claim {
            second_at: Some(8),
            ..claim(Metric::CpuPerRequest, Some(64), test)
        }
    };
    let stolen = |share: u64| {
        let mut all = results(&three(), 4);
        for run in &mut all.runs {
            let is_second = run.begin.run.repetition == 2;
            for slice in &mut run.intervals {
                let wall_ns = slice.load.length_ns();
                let taken = is_second && slice.connections == 8;
                let core = CoreTime {
                    stolen_ns: if taken { wall_ns / 100 * share } else { 0 },
                    ..CoreTime::default()
                };
                slice.host = Some(HostTime {
                    wall_ns,
                    own_ns: 0,
                    cores: vec![core],
                });
            }
        }
        judged(all, at_two(), &[])
    };
    let void = "void: the hypervisor and other processes took 0 % of the cores at 64 connections \
                and 30 % at 8 in run 2";
    let row = stolen(30);
    assert_eq!(
        (row.verdict, row.why.as_str()),
        (ClaimVerdict::Undecided, void)
    );
    assert!(!stolen(4).why.contains("void"));
}

#[test]
fn pauses_are_compared_and_not_the_time_between_them() {
    let mut all = results(&three(), 4);
    for run in &mut all.runs {
        let pauses_ns = if run.begin.run.contender == "synthetic-fast" {
            300_000
        } else {
            3_000
        };
        let level = 100 + u64::from(run.begin.run.repetition);
        let (first, last) = (0, run.intervals.len() - 1);
        let jvm = |gc_ns| {
            Some(Jvm {
                gc_ns,
                ..Jvm::default()
            })
        };
        run.intervals[first].contender_before.as_mut().unwrap().jvm = jvm(0);
        run.intervals[last].contender_after.as_mut().unwrap().jvm = jvm(pauses_ns * level);
    }
    let equal = sized("synthetic-fast", "synthetic-slow", Expected::Equal);
    let equal = claim(Metric::GcPauses, None, equal);
    check(all, equal, ClaimVerdict::NotReproduced, &["= 100 "]);
}

#[test]
fn one_user_is_measured_by_service_time() {
    let slices = |requests| vec![(requests, 400_000); 4];
    let played: Vec<_> = (1..=4)
        .flat_map(|set: u32| {
            let fast = 1000 + u64::from(set);
            [("fast", set, slices(fast)), ("slow", set, slices(500))]
        })
        .collect();
    let mut played = turns::results(&played, turns::Way::Turns);
    let service = |at| Claim {
        benchmark: "locations".to_owned(),
        ..claim(Metric::ServiceTime, Some(at), ratio("slow", "fast", 2.5))
    };
    let several = "which have a service time with one connection only";
    let not = ClaimVerdict::NotTestable;
    check(played.clone(), service(64), not, &[several]);
    for slice in played.runs.iter_mut().flat_map(|run| &mut run.intervals) {
        slice.connections = 1;
        // The load generator takes half a millisecond for each request: of 1 and of 2 ms.
        slice.load.turnaround_ns = Some(slice.load.requests * 500_000);
    }
    check(
        played,
        service(1),
        ClaimVerdict::Reproduced,
        &["slow : fast = 3.0"],
    );
}

#[test]
fn runs_without_a_sitting_are_told_apart_by_host_and_time() {
    const MINUTE_NS: u64 = 60_000_000_000;
    let mut all = results(&three()[..1], 6).runs;
    let places = [(0, "a"), (5, "a"), (9, "a"), (30, "a"), (31, "b"), (1, "b")];
    for (run, (minute, host)) in all.iter_mut().zip(places) {
        host.clone_into(&mut run.begin.host.kernel);
        let startup = run.startup.as_mut().unwrap();
        startup.resources.at_ns = minute * MINUTE_NS + startup.startup_ns;
        for slice in &mut run.intervals {
            slice.load.end_ns = (minute + 4) * MINUTE_NS;
        }
    }
    all[4].begin.sitting = Some("known".to_owned());
    sittings::fill_in(&mut all);
    let found: Vec<&str> = all
        .iter()
        .filter_map(|run| run.begin.sitting.as_deref())
        .collect();
    let first = |order: usize| all[order].begin.at.as_str();
    let expected = [first(0), first(0), first(0), first(3), "known", first(5)];
    assert_eq!(found, expected);
}
