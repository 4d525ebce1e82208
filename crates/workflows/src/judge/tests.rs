//! Verdicts on tables and exports with a known truth.

use bakeoff_base::random::Random;
use bakeoff_stats::{Better, BoundSide, Verdict};

use super::{Judged, NamedText, Question, judge};

/// A table of blocks: the host's pace changes from block to block, and `new` is `ratio` times
/// `old`, with a spread of 1 % each. The order changes.
fn table(blocks: u32, ratio: f64, extra: &str) -> String {
    let mut random = Random::new(7);
    let mut noise = |spread: f64| 1.0 + spread * (2.0 * random.unit() - 1.0);
    let mut text = "block,side,value\n".to_owned();
    for block in 0..blocks {
        let pace = noise(0.3);
        let old = format!("{block},old,{}\n", 10.0 * pace * noise(0.01));
        let new = format!("{block},new,{}\n", 10.0 * ratio * pace * noise(0.01));
        text.push_str(&match block % 2 {
            0 => format!("{old}{new}"),
            _ => format!("{new}{old}"),
        });
        text.push_str(&extra.replace("BLOCK", &block.to_string()));
    }
    text
}

fn lower() -> Question {
    Question {
        better: Some(Better::Lower),
        ..Question::default()
    }
}

fn named(file: &str, side: Option<&str>, text: &str) -> NamedText {
    NamedText {
        file: file.to_owned(),
        side: side.map(str::to_owned),
        text: text.to_owned(),
    }
}

fn of_table(text: &str, question: &Question) -> Judged {
    judge(&[named("table.csv", None, text)], question)
        .unwrap()
        .remove(0)
}

#[test]
fn pairs_show_what_the_spread_of_the_host_hides() {
    let faster = of_table(&table(12, 0.95, ""), &lower());
    assert_eq!(faster.comparison.verdict, Verdict::Faster, "{faster:#?}");
    assert_eq!((&*faster.side, &*faster.base), ("new", "old"));
    assert_eq!(faster.repetition, "block");
    assert!(faster.notes.is_empty(), "{faster:#?}");
    let ratio = faster.comparison.ratio;
    assert!((ratio.point - 0.95).abs() < 0.01, "{ratio:?}");
    let more = Question {
        better: Some(Better::Higher),
        ..Question::default()
    };
    let fewer = of_table(&table(12, 0.95, ""), &more);
    assert_eq!(fewer.comparison.verdict, Verdict::Slower, "{fewer:#?}");
    let same = of_table(&table(40, 1.0, ""), &lower());
    assert_eq!(same.comparison.verdict, Verdict::Equivalent, "{same:#?}");
}

#[test]
fn what_matters_is_the_users_to_say() {
    let near = table(40, 1.02, "");
    let usual = of_table(&near, &lower());
    assert_ne!(usual.comparison.verdict, Verdict::Slower, "{usual:#?}");
    let strict = Question {
        relevant_percent: Some(0.5),
        ..lower()
    };
    let strict = of_table(&near, &strict);
    assert_eq!(strict.comparison.verdict, Verdict::Slower, "{strict:#?}");
}

#[test]
fn values_that_never_vary_need_no_interval() {
    let text = "side,block,value\n".to_owned();
    let rows = |new: u32| {
        let rows = (0..6).map(|block| format!("old,{block},16\nnew,{block},{new}\n"));
        of_table(&(text.clone() + &rows.collect::<String>()), &lower())
    };
    assert_eq!(rows(24).comparison.verdict, Verdict::Slower);
    assert_eq!(rows(8).comparison.verdict, Verdict::Faster);
    assert_eq!(rows(16).comparison.verdict, Verdict::Equivalent);
}

#[test]
fn a_condition_holds_only_beyond_its_bound() {
    let fails = |ratio: f64| {
        let question = Question {
            worse_percent: Some(2.0),
            ..lower()
        };
        of_table(&table(12, ratio, ""), &question).fails
    };
    assert_eq!(fails(1.06), Some(BoundSide::Above));
    assert_eq!(fails(0.99), Some(BoundSide::Below));
    assert_eq!(fails(1.02), Some(BoundSide::Undecided));
}

#[test]
fn what_a_design_cannot_answer_is_said() {
    let why = |text: &str| {
        let judged = of_table(text, &lower());
        assert_eq!(judged.comparison.verdict, Verdict::Void, "{judged:#?}");
        judged.no_verdict.join("; ")
    };
    assert!(why("side,value\nold,1\nnew,2\n").contains("1 block with both sides"));
    assert!(why("side,value\nold,1\nold,1.1\nnew,2\nnew,2.1\n").contains("in turns"));
    assert!(why("block,side,value\n1,old,1\n2,new,2\n").contains("no block has both"));
    assert!(why(&table(3, 1.5, "")).contains("3 blocks with both sides: it takes 5"));
    assert!(why("block,side,value\n1,old,0\n1,new,2\n").contains("not above 0"));
}

#[test]
fn order_trend_and_lonely_blocks_are_noted() {
    let mut text = "block,side,value\n".to_owned();
    for block in 0..20 {
        let drift = 1.02_f64.powi(block) * (1.0 + 0.002 * f64::from(block * 7 % 5));
        text.push_str(&format!("{block},old,10\n{block},new,{}\n", 10.0 * drift));
    }
    text.push_str("20,old,10\n");
    let judged = of_table(&text, &lower());
    let notes = judged.notes.join("; ");
    for expected in [
        "old is first in every block",
        "the ratio changes by",
        "left out: 1 block with one",
    ] {
        assert!(notes.contains(expected), "{expected}: {notes}");
    }
}

#[test]
fn a_control_that_differs_voids_the_rest() {
    let verdict = |factor: f64| {
        let mut text = "block,side,value\n".to_owned();
        for block in 0..12 {
            let pace = 1.0 + 0.1 * f64::from(block % 3);
            let spread = 1.0 + 0.001 * f64::from(block % 2);
            let (again, new) = (pace * factor * spread, pace * 1.2);
            text.push_str(&format!(
                "{block},old,{pace}\n{block},again,{again}\n{block},new,{new}\n"
            ));
        }
        let question = Question {
            control: Some("again".to_owned()),
            ..lower()
        };
        let judged = judge(&[named("table.csv", None, &text)], &question).unwrap();
        let new = judged.into_iter().find(|one| one.side == "new").unwrap();
        new.comparison.verdict
    };
    assert_eq!(verdict(1.0), Verdict::Slower);
    assert_eq!(verdict(1.1), Verdict::Void);
}

#[test]
fn files_in_turns_are_blocks_and_files_in_a_row_are_not() {
    let go = |ns: f64| format!("BenchmarkSum-8 1000 {ns} ns/op\nBenchmarkSum-8 1000 {ns} ns/op\n");
    let paces = [100.0, 140.0, 90.0, 120.0, 110.0, 101.0];
    let spreads = [1.0, 1.001, 0.999, 1.0, 1.002, 0.998];
    let files = paces.iter().zip(spreads).enumerate();
    let in_turns = files.flat_map(|(number, (pace, spread))| {
        let old = named(&format!("o{number}"), Some("old"), &go(*pace));
        let new = named(&format!("n{number}"), Some("new"), &go(pace * 1.1 * spread));
        match number % 2 {
            0 => [old, new],
            _ => [new, old],
        }
    });
    let mut files: Vec<NamedText> = in_turns.collect();
    let judged = judge(&files, &Question::default()).unwrap().remove(0);
    assert_eq!(judged.comparison.verdict, Verdict::Slower, "{judged:#?}");
    assert_eq!((&*judged.subject, &*judged.unit), ("Sum-8", "ns/op"));
    files.sort_by(|one, other| one.file.cmp(&other.file));
    let judged = judge(&files, &Question::default()).unwrap().remove(0);
    assert!(
        judged.no_verdict.join("; ").contains("in turns"),
        "{judged:#?}"
    );
}

#[test]
fn mistakes_are_named() {
    let error = |text: &str, question: &Question| {
        let error = judge(&[named("t.csv", None, text)], question).unwrap_err();
        error.to_string()
    };
    let two = "block,side,value\n1,old,1\n1,new,2\n";
    assert!(error(two, &Question::default()).contains("whether a lower or a higher value"));
    let base = Question {
        base: Some("head".to_owned()),
        ..lower()
    };
    assert!(error(two, &base).contains("no side is called head: there are old and new"));
    assert!(error("side,value\nold,1\n", &lower()).contains("all values are of one side, old"));
    assert!(error("x,y\n", &lower()).starts_with("t.csv: "));
}
