//! What two fresh processes of each service in a set give: the numbers in
//! docs/method/simulations.md.
//!
//! `cargo run --release -p bakeoff-stats --example twins` takes two minutes and always prints the
//! same. The error of a set's log ratio by its turns alone is 1; the variances of processes are in
//! its square.

#![expect(clippy::print_stdout, reason = "an example prints what it found")]
#![expect(clippy::expect_used, reason = "an example may stop at any fault")]

use bakeoff_base::number::length_as_f64;
use bakeoff_base::random::Random;
use bakeoff_stats::distribution::student_quantile;
use bakeoff_stats::{Budget, Decision, LogRatio, Method, Sequential, SetPairs};

#[path = "shared/differ.rs"]
mod differ;

use differ::Differ;

const SESSIONS: u32 = 20_000;

/// A kind of session.
#[derive(Clone, Copy)]
struct Kind {
    processes: Differ,
    /// The variance of the processes of each service.
    variances: [f64; 2],
    /// The variance of the true ratio from set to set.
    between_sets: f64,
}

const fn kind(processes: Differ, variances: [f64; 2], between: f64) -> Kind {
    Kind {
        processes,
        variances,
        between_sets: between,
    }
}

const KINDS: [Kind; 14] = [
    kind(Differ::Normal, [0.0, 0.0], 0.0),
    kind(Differ::Normal, [1.0, 1.0], 0.0),
    kind(Differ::Normal, [4.0, 1.0], 0.0),
    kind(Differ::Normal, [16.0, 0.0], 0.0),
    kind(Differ::HeavyTails, [1.0, 1.0], 0.0),
    kind(Differ::HeavyTails, [4.0, 1.0], 0.0),
    kind(Differ::TwoModes, [2.0, 2.0], 0.0),
    kind(Differ::TwoModes, [4.0, 1.0], 0.0),
    kind(Differ::TwoModes, [16.0, 16.0], 0.0),
    kind(Differ::Skewed, [4.0, 1.0], 0.0),
    kind(Differ::Normal, [1.0, 1.0], 0.5),
    kind(Differ::Normal, [1.0, 1.0], 1.0),
    kind(Differ::Normal, [1.0, 1.0], 4.0),
    kind(Differ::Normal, [0.0, 0.0], 1.0),
];

/// Sets in both designs, whose turns take the same time.
struct Session {
    /// Two processes of each service.
    twins: SetPairs,
    /// One process of each, and a second one of the first that is compared with it alone.
    single: SetPairs,
}

impl Kind {
    fn session(&self, random: &mut Random, effect: f64, sets: usize) -> Session {
        let (mut with_two, mut with_one) = (Vec::new(), Vec::new());
        let mut gaps = [Vec::new(), Vec::new()];
        for _ in 0..sets {
            let of_set = effect + self.between_sets.sqrt() * random.normal();
            // Four processes share the turns, of which each measures the ratio with an error of 1.
            let mut process = |side: usize, error: f64| {
                let own = self.variances[side].sqrt() * self.processes.draw(random);
                own + error * random.normal()
            };
            let values = [0, 1].map(|side| [process(side, 1.0), process(side, 1.0)]);
            let means = values.map(|[one, other]| f64::midpoint(one, other));
            with_two.push(of_set + means[0] - means[1]);
            for (side, [one, other]) in gaps.iter_mut().zip(values) {
                side.push(one - other);
            }
            // Three processes share them.
            let error = 0.75_f64.sqrt();
            with_one.push(of_set + process(0, error) - process(1, error));
        }
        Session {
            twins: SetPairs::with_twins(with_two, gaps),
            single: SetPairs::from(&with_one[..]),
        }
    }

    fn describe(&self) -> String {
        let [first, second] = self.variances;
        format!(
            "{} | {first}, {second} | {}",
            self.processes.name(),
            self.between_sets
        )
    }
}

fn main() {
    print_fixed();
    print_choice();
    print_looks();
}

/// Coverage and width of 95 % intervals, without any look before the last set.
fn print_fixed() {
    println!("\nCoverage of 95 % intervals; width of those with twins over those without:\n");
    println!(
        "| processes | variances | of the ratio | sets | one of each | two of each | width | \
         by ratios alone |"
    );
    println!("|:--|--:|--:|--:|--:|--:|--:|--:|");
    for kind in KINDS {
        for sets in [2, 3, 5, 8] {
            let mut random = Random::new(2026);
            let (mut single, mut twins, mut alone) = (0, 0, 0);
            let mut widths = [Vec::new(), Vec::new()];
            for _ in 0..SESSIONS {
                let session = kind.session(&mut random, 0.0, sets);
                let of = |pairs: &SetPairs| {
                    let found = LogRatio::of_sets(pairs).expect("there is a spread");
                    let exactness = found.exactness();
                    let reach = -student_quantile(0.025, exactness.freedom) * exactness.error;
                    (
                        u32::from(found.point().ln().abs() <= reach),
                        reach,
                        u32::from(found.method == Method::Paired),
                    )
                };
                let (held, width, _) = of(&session.single);
                single += held;
                widths[0].push(width);
                let (held, width, fell_back) = of(&session.twins);
                twins += held;
                alone += fell_back;
                widths[1].push(width);
            }
            let mean = |widths: &Vec<f64>| widths.iter().sum::<f64>() / length_as_f64(widths.len());
            println!(
                "| {} | {sets} | {} | {} | {:.2} | {} |",
                kind.describe(),
                percent(single),
                percent(twins),
                mean(&widths[1]) / mean(&widths[0]),
                percent(alone)
            );
        }
    }
}

/// A decision rule and the most sets.
#[derive(Clone, Copy)]
struct Rule {
    sequential: Sequential,
    sets_max: usize,
    with_twins: bool,
}

#[derive(Default)]
struct Tally {
    sets: Vec<usize>,
    different: u32,
    different_early: u32,
    equivalent: u32,
    covered: u32,
}

impl Rule {
    fn tally(&self, kind: &Kind, effect: f64) -> Tally {
        let mut random = Random::new(2027);
        let mut tally = Tally::default();
        for _ in 0..SESSIONS {
            let session = kind.session(&mut random, effect, self.sets_max);
            let pairs = if self.with_twins {
                session.twins
            } else {
                session.single
            };
            let looks = (1..=self.sets_max).map(|sets| {
                let budget = match sets < self.sets_max {
                    true => Budget::Left,
                    false => Budget::Spent,
                };
                (sets, self.sequential.look(&pairs.up_to(sets), budget))
            });
            let mut looks = looks.skip_while(|(_, look)| look.decision == Decision::GoOn);
            let (sets, look) = looks.next().expect("the last look does not go on");
            tally.sets.push(sets);
            let is_different = look.decision == Decision::Different;
            tally.different += u32::from(is_different);
            tally.different_early += u32::from(is_different && sets < self.sets_max);
            tally.equivalent += u32::from(look.decision == Decision::Equivalent);
            let interval = look.interval_ln;
            tally.covered += u32::from(interval.is_none_or(|held| held.contains(effect)));
        }
        tally
    }
}

impl Tally {
    fn mean(&self) -> f64 {
        length_as_f64(self.sets.iter().sum()) / f64::from(SESSIONS)
    }
}

fn rule(early_sets_min: usize, early_share: f64, sets_max: usize, with_twins: bool) -> Rule {
    Rule {
        sequential: Sequential {
            early_sets_min,
            early_sets_min_of_twins: early_sets_min,
            early_share,
            margin_ln: 0.0,
            ..Sequential::default()
        },
        sets_max,
        with_twins,
    }
}

fn print_choice() {
    println!("\nFewest sets and share of the error for stopping early, normal processes 1, 1:\n");
    println!(
        "| design | fewest | share | at most | mean sets at 2 | 4 | 8 | 16 | found at 1 | 2 | 4 | \
         false, two modes 4, 1 |"
    );
    println!("|:--|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    let print = |rule: Rule, name: &str| {
        let at = |effect: f64| rule.tally(&KINDS[1], effect);
        let means = [2.0, 4.0, 8.0, 16.0].map(|effect| format!("{:.1}", at(effect).mean()));
        let found = [1.0, 2.0, 4.0].map(|effect| percent(at(effect).different));
        println!(
            "| {name} | {} | {} | {} | {} | {} | {} |",
            rule.sequential.early_sets_min,
            rule.sequential.early_share,
            rule.sets_max,
            means.join(" | "),
            found.join(" | "),
            percent(rule.tally(&KINDS[7], 0.0).different),
        );
    };
    for sets_max in [4, 12] {
        print(rule(5, 0.3, sets_max, false), "one of each");
        for early_sets_min in [2, 3] {
            for early_share in [0.3, 0.5, 0.7] {
                print(
                    rule(early_sets_min, early_share, sets_max, true),
                    "two of each",
                );
            }
        }
    }
}

fn print_looks() {
    println!("\nLooks after every set from the second on, at most 4 or 12 sets:\n");
    println!(
        "| processes | variances | of the ratio | at most | false, early | false | coverage at 0 | \
         at 2 | at 8 |"
    );
    println!("|:--|--:|--:|--:|--:|--:|--:|--:|--:|");
    for kind in KINDS {
        for sets_max in [4, 12] {
            let at = |effect: f64| rule(2, 0.3, sets_max, true).tally(&kind, effect);
            let equal = at(0.0);
            println!(
                "| {} | {sets_max} | {} | {} | {} | {} | {} |",
                kind.describe(),
                percent(equal.different_early),
                percent(equal.different),
                percent(equal.covered),
                percent(at(2.0).covered),
                percent(at(8.0).covered),
            );
        }
    }
}

fn percent(times: u32) -> String {
    format!("{:.1} %", f64::from(times) / f64::from(SESSIONS) * 100.0)
}
