//! Costs and savings of stopping early: the numbers in docs/method/simulations.md.
//!
//! `cargo run --release -p bakeoff-stats --example sequential` takes two minutes and always
//! prints the same. A session is a series of sets with one log ratio each, looked at after every
//! set. Effects are in standard deviations of a set's log ratio.

#![expect(clippy::print_stdout, reason = "an example prints what it found")]
#![expect(clippy::expect_used, reason = "an example may stop at any fault")]

use bakeoff_base::number::length_as_f64;
use bakeoff_base::random::Random;
use bakeoff_stats::{Budget, Decision, LogRatio, Look, Sample, Sequential, SetPairs};

const SESSIONS: u32 = 20_000;

/// The log ratios of a set around the effect, with a standard deviation of about 1.
#[derive(Clone, Copy)]
enum Noise {
    Normal,
    /// Student's t with 3 degrees of freedom, divided by its standard deviation.
    HeavyTails,
    /// Exponential: most sets a little below, a few far above.
    Skewed,
    /// One set in ten has ten times the deviation.
    Disturbed,
    /// Each process of one contender ends in one of two modes, with noise around them that is a
    /// tenth as wide as their distance: as programs with a just-in-time compiler do.
    TwoModes,
    /// Each process of both contenders ends in one of two modes.
    TwoModesEach,
}

impl Noise {
    const ALL: [(Self, &'static str); 6] = [
        (Self::Normal, "normal"),
        (Self::HeavyTails, "t, 3 df"),
        (Self::Skewed, "exponential"),
        (Self::Disturbed, "1 in 10 disturbed"),
        (Self::TwoModes, "two modes of one"),
        (Self::TwoModesEach, "two modes of each"),
    ];

    fn draw(self, random: &mut Random) -> f64 {
        match self {
            Self::Normal => random.normal(),
            Self::HeavyTails => {
                let squares: f64 = (0..3).map(|_| random.normal().powi(2)).sum();
                // The variance is 3, so the root of 3 is left away below the fraction.
                random.normal() / squares.sqrt()
            }
            Self::Skewed => random.exponential() - 1.0,
            Self::Disturbed if random.below(10) == 0 => 10.0 * random.normal(),
            Self::Disturbed => random.normal(),
            Self::TwoModes => mode(random),
            Self::TwoModesEach => mode(random) - mode(random),
        }
    }
}

/// One of two modes at -1 and 1, or near it.
fn mode(random: &mut Random) -> f64 {
    let center = if random.below(2) == 0 { -1.0 } else { 1.0 };
    center + 0.2 * random.normal()
}

/// One kind of session.
#[derive(Clone, Copy)]
struct Kind {
    sequential: Sequential,
    noise: Noise,
    effect: f64,
    sets_max: usize,
}

/// Over all sessions of a kind.
#[derive(Default)]
struct Tally {
    /// Sets until the decision, of each session.
    sets: Vec<usize>,
    different_early: u32,
    different: u32,
    /// The interval of a difference lies within the margin.
    different_within_margin: u32,
    equivalent: u32,
    /// The interval at the end holds the effect, or there is none.
    covered: u32,
    /// Student's t of all sets, with the whole error, finds a difference.
    fixed: u32,
    /// Student's t finds one after any set from the third to the last, each with the whole error.
    naive: u32,
}

fn main() {
    print_choice();
    print_minimum();
    print_outcomes();
    print_coverage();
    print_equivalence();
    print_families();
}

/// No margin: what is equivalent depends on the noise, what is different does not.
fn without_margin() -> Sequential {
    Sequential {
        margin_ln: 0.0,
        ..Sequential::default()
    }
}

fn print_choice() {
    println!("\nPrior variance and share of the error for stopping early, at most 12 sets:\n");
    println!(
        "| pairs | prior variance | share | mean sets at 1 | 2 | 4 | 8 | 16 | \
         found at 0.5 | 1 | 2 |"
    );
    println!("|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    for pairs in [1.0, 15.0] {
        for prior_variance in [1.0, 3.0, 10.0, 30.0, 100.0] {
            for early_share in [0.2, 0.3, 0.5, 0.8] {
                let sequential = Sequential {
                    // What the first step of Holm's correction asks of each pair.
                    alpha: 0.05 / pairs,
                    prior_variance,
                    early_share,
                    ..without_margin()
                };
                let at = |effect: f64| tally(&kind(sequential, effect, 12));
                let means =
                    [1.0, 2.0, 4.0, 8.0, 16.0].map(|effect| format!("{:.1}", at(effect).mean()));
                let powers = [0.5, 1.0, 2.0].map(|effect| percent(at(effect).different));
                println!(
                    "| {pairs} | {prior_variance} | {early_share} | {} | {} |",
                    means.join(" | "),
                    powers.join(" | ")
                );
            }
        }
    }
}

fn print_minimum() {
    println!("\nFalse stops by the fewest sets, at most 12 sets: early / in all:\n");
    let names = Noise::ALL.map(|(_, name)| name);
    println!("| fewest sets | {} |", names.join(" | "));
    println!("|--:|--:|--:|--:|--:|--:|--:|");
    for early_sets_min in [3, 4, 5, 6, 8] {
        let cells = Noise::ALL.map(|(noise, _)| {
            let sequential = Sequential {
                early_sets_min,
                ..without_margin()
            };
            let found = tally(&Kind {
                noise,
                ..kind(sequential, 0.0, 12)
            });
            format!(
                "{} / {}",
                percent(found.different_early),
                percent(found.different)
            )
        });
        println!("| {early_sets_min} | {} |", cells.join(" | "));
    }
}

fn print_outcomes() {
    println!("\nDifferences, normal noise:\n");
    println!(
        "| effect | at most | stopped early | sets, median | mean | found | fixed Student's t | \
         after every set |"
    );
    println!("|--:|--:|--:|--:|--:|--:|--:|--:|");
    for effect in [0.0, 0.5, 1.0, 2.0, 4.0, 8.0] {
        for sets_max in [6, 8, 10, 12, 20] {
            let found = tally(&kind(without_margin(), effect, sets_max));
            println!(
                "| {effect} | {sets_max} | {} | {} | {:.1} | {} | {} | {} |",
                percent(found.different_early),
                found.median(),
                found.mean(),
                percent(found.different),
                percent(found.fixed),
                percent(found.naive)
            );
        }
    }
}

fn print_coverage() {
    println!("\nCoverage of the interval when the session stops, a margin of one deviation:\n");
    println!("| noise | at most | effect 0 | 0.5 | 1 | 2 | 4 | Student's t of all, 0 |");
    println!("|:--|--:|--:|--:|--:|--:|--:|--:|");
    let sequential = Sequential {
        margin_ln: 1.0,
        ..Sequential::default()
    };
    for (noise, name) in Noise::ALL {
        for sets_max in [6, 12, 20] {
            let at = |effect: f64| {
                tally(&Kind {
                    noise,
                    ..kind(sequential, effect, sets_max)
                })
            };
            let cells = [0.0, 0.5, 1.0, 2.0, 4.0].map(|effect| percent(at(effect).covered));
            let fixed = percent(SESSIONS - at(0.0).fixed);
            println!("| {name} | {sets_max} | {} | {fixed} |", cells.join(" | "));
        }
    }
}

fn print_equivalence() {
    println!("\nEquivalence within 3 %, normal noise, at most 12 sets:\n");
    println!(
        "| deviation | truth | equivalent | different, within 3 % | different, else | undecided | \
         median sets |"
    );
    println!("|--:|--:|--:|--:|--:|--:|--:|");
    for deviation in [0.0025, 0.005, 0.01, 0.02, 0.03] {
        for truth in [0.0, 0.01, 0.03] {
            let sequential = Sequential {
                // Everything in deviations, as the noise is.
                margin_ln: 0.03_f64.ln_1p() / deviation,
                ..Sequential::default()
            };
            // Slightly outside the margin, so that "equivalent" is false.
            let effect = 1.000_001 * f64::ln_1p(truth) / deviation;
            let found = tally(&kind(sequential, effect, 12));
            println!(
                "| {} % | {} % | {} | {} | {} | {} | {} |",
                deviation * 100.0,
                truth * 100.0,
                percent(found.equivalent),
                percent(found.different_within_margin),
                percent(found.different - found.different_within_margin),
                percent(SESSIONS - found.equivalent - found.different),
                found.median()
            );
        }
    }
}

/// All pairs of contenders that share nothing but their sets.
fn print_families() {
    println!("\nFamilies of equal contenders, and one that is four deviations off; 12 sets:\n");
    println!("| contenders | pairs | any false, all equal | any false, one off | sets, one off |");
    println!("|--:|--:|--:|--:|--:|");
    for contenders in [3, 4, 6] {
        let sessions = SESSIONS / 10;
        let mut random = Random::new(2025);
        let (mut false_equal, mut false_off, mut sets) = (0, 0, Vec::new());
        for _ in 0..sessions {
            let logs: Vec<Vec<f64>> = (0..contenders)
                .map(|_| (0..12).map(|_| random.normal()).collect())
                .collect();
            false_equal += u32::from(family(&logs, 0.0).0);
            // A pair's deviation is the root of 2.
            let (any_false, decided) = family(&logs, 4.0 * 2.0_f64.sqrt());
            false_off += u32::from(any_false);
            sets.push(decided);
        }
        sets.sort_unstable();
        let share = |times: u32| f64::from(times) / f64::from(sessions) * 100.0;
        println!(
            "| {contenders} | {} | {:.1} % | {:.1} % | {} |",
            contenders * (contenders - 1) / 2,
            share(false_equal),
            share(false_off),
            sets[sets.len() / 2]
        );
    }
}

/// Whether equal contenders differed significantly at any look, and after how many sets the first
/// contender, which is off, differed significantly from all others.
fn family(logs: &[Vec<f64>], off: f64) -> (bool, usize) {
    let (mut pairs, mut is_off) = (Vec::new(), Vec::new());
    for (place, first) in logs.iter().enumerate() {
        for second in &logs[place + 1..] {
            let level = if place == 0 { off } else { 0.0 };
            let differences = first.iter().zip(second).map(|(a, b)| a - b + level);
            pairs.push(differences.collect::<Vec<f64>>());
            is_off.push(place == 0 && off > 0.0);
        }
    }
    let sets_max = logs[0].len();
    let (mut any_false, mut told_apart) = (false, sets_max);
    for sets in 3..=sets_max {
        let budget = budget(sets, sets_max);
        let until: Vec<SetPairs> = pairs.iter().map(|pair| pair[..sets].into()).collect();
        let looks = without_margin().look_family(&until, budget);
        let is_different = |look: &Look| look.decision == Decision::Different;
        let mut both = looks.iter().zip(&is_off);
        any_false |= both.any(|(look, is_off)| is_different(look) && !is_off);
        let mut both = looks.iter().zip(&is_off);
        if both.all(|(look, is_off)| is_different(look) || !is_off) {
            told_apart = told_apart.min(sets);
        }
    }
    (any_false, told_apart)
}

fn kind(sequential: Sequential, effect: f64, sets_max: usize) -> Kind {
    Kind {
        sequential,
        noise: Noise::Normal,
        effect,
        sets_max,
    }
}

fn tally(kind: &Kind) -> Tally {
    let mut random = Random::new(2023);
    let mut tally = Tally::default();
    for _ in 0..SESSIONS {
        let draw = || kind.effect + kind.noise.draw(&mut random);
        let log_ratios: Vec<f64> = std::iter::repeat_with(draw).take(kind.sets_max).collect();
        tally.add(kind, &log_ratios);
    }
    tally
}

fn budget(sets: usize, sets_max: usize) -> Budget {
    match sets < sets_max {
        true => Budget::Left,
        false => Budget::Spent,
    }
}

impl Tally {
    fn add(&mut self, kind: &Kind, log_ratios: &[f64]) {
        let looks = (1..=kind.sets_max).map(|sets| {
            let budget = budget(sets, kind.sets_max);
            let look = kind.sequential.look(&log_ratios[..sets].into(), budget);
            (sets, look)
        });
        let mut looks = looks.skip_while(|(_, look)| look.decision == Decision::GoOn);
        let (sets, look) = looks.next().expect("the last look does not go on");
        self.sets.push(sets);
        let different = u32::from(look.decision == Decision::Different);
        self.different += different;
        self.different_early += different * u32::from(sets < kind.sets_max);
        self.different_within_margin += different * u32::from(look.is_within_margin);
        self.equivalent += u32::from(look.decision == Decision::Equivalent);
        let interval = look.interval_ln;
        self.covered += u32::from(interval.is_none_or(|held| held.contains(kind.effect)));
        let alpha = kind.sequential.alpha;
        let is_found = |sets: usize| is_found_by_student(alpha, &log_ratios[..sets]);
        self.fixed += u32::from(is_found(kind.sets_max));
        // From the last: if it finds one, the others need not be checked.
        self.naive += u32::from((3..=kind.sets_max).rev().any(is_found));
    }

    fn mean(&self) -> f64 {
        let sets: usize = self.sets.iter().sum();
        length_as_f64(sets) / f64::from(SESSIONS)
    }

    fn median(&self) -> usize {
        let mut sets = self.sets.clone();
        sets.sort_unstable();
        sets[sets.len() / 2]
    }
}

/// Student's t of these sets, without an early look: what stopping early is compared with.
fn is_found_by_student(alpha: f64, log_ratios: &[f64]) -> bool {
    let sets =
        |values: Vec<f64>| Sample::of_sets((1..).zip(values).collect()).expect("values are finite");
    let ones = sets(vec![1.0; log_ratios.len()]);
    let ratios = sets(log_ratios.iter().map(|log| log.exp()).collect());
    let found = LogRatio::of(&ratios, &ones).expect("there is a spread");
    found.p_equal() <= alpha
}

fn percent(times: u32) -> String {
    format!("{:.1} %", f64::from(times) / f64::from(SESSIONS) * 100.0)
}
