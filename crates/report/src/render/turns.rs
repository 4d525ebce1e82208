//! Sets in words, for every document.

use std::collections::BTreeSet;

use bakeoff_analysis::data::number::{counted, enumerated};
use bakeoff_analysis::data::sittings::{self, SittingSets};
use bakeoff_analysis::turns::Sets;
use bakeoff_analysis::turns::groups::Common;

/// How many sets there were, how many blocks count, and what that allows to say: sentences.
pub(super) fn sentences(sets: &Sets) -> Vec<String> {
    let each = &sets.each;
    if each.iter().all(|one| one.blocks == 0) {
        let nothing = "Nothing was measured: no contender reached the first block of its sets.";
        return vec![nothing.to_owned()];
    }
    let repetitions: BTreeSet<u32> = each.iter().map(|one| one.repetition).collect();
    let list: Vec<String> = each
        .iter()
        .map(|one| format!("{} of {}", one.kept, one.blocks))
        .collect();
    let began = format!(
        "{}, {}. Blocks that count: {}; {}.",
        counted(repetitions.len(), "set"),
        processes(sets),
        enumerated(&list),
        lost(sets),
    );
    let usable = each.iter().filter(|one| one.kept > 0);
    let usable: BTreeSet<u32> = usable.map(|one| one.repetition).collect();
    let allowed = match usable.len() {
        0 => "No block counts, so nothing is compared.",
        1 if sets.is_external => "One set shows no spread: there is no interval and no verdict.",
        1 => {
            "One set has one process of each contender, and another process may differ: there \
             is no interval and no verdict."
        }
        2 => "Two sets give intervals with one degree of freedom, which are very wide.",
        _ => "",
    };
    let by_cpu_time = match sets.by_cpu_time {
        true => BY_CPU_TIME,
        false => "",
    };
    let (groups, sittings, idle) = (in_groups(sets), in_sittings(sets), unloaded(sets));
    let sentences = [
        began.as_str(),
        &groups,
        &sittings,
        &idle,
        by_cpu_time,
        allowed,
    ]
    .into_iter();
    let sentences = sentences.filter(|sentence| !sentence.is_empty());
    sentences.map(str::to_owned).collect()
}

/// How contenders of different groups are compared; empty if sets are not split.
fn in_groups(sets: &Sets) -> String {
    let Some(Common { label, groups }) = &sets.common else {
        return String::new();
    };
    format!(
        "Not all contenders were alive concurrently: each set has {groups} groups, each with \
         {label}. Contenders of different groups are compared through {label}, set by set, and \
         the numbers of a group are scaled by what {label} did in it against its mean over \
         groups; response times are not compared."
    )
}

/// The CPU time of contenders without load; empty if it was not recorded.
fn unloaded(sets: &Sets) -> String {
    let Some((least, most)) = sets.unloaded_cores else {
        return String::new();
    };
    let percent = |cores: f64| format!("{:.1} %", 100.0 * cores);
    let used = match (percent(least), percent(most)) {
        (least, most) if least == most => most,
        (least, most) => format!("{least} to {most}"),
    };
    format!("While others had the open load, contenders used {used} of a core.")
}

/// When the sets were measured, and what the hour does to ratios; empty of one sitting.
fn in_sittings(sets: &Sets) -> String {
    if sets.sittings.is_empty() {
        return String::new();
    }
    let each: Vec<String> = sets.sittings.iter().map(sitting).collect();
    let measured = format!(
        "Sets were measured in {}: {}.",
        counted(each.len(), "sitting"),
        enumerated(&each)
    );
    let pairs = sets.pairs.iter().filter_map(|pair| pair.sittings);
    let Some((differ, least, most)) = sittings::summary(pairs) else {
        return measured;
    };
    let percent = |share: f64| format!("{:.0} %", 100.0 * share);
    let share = match percent(least) == percent(most) {
        true => percent(least),
        false => format!("{} to {}, by pair,", percent(least), percent(most)),
    };
    let intervals = match differ {
        0 => "for no pair is that more than sets explain, so intervals are over sets".to_owned(),
        some => format!(
            "for {} that is more than sets explain, and the interval is over sittings",
            counted(some, "pair")
        ),
    };
    format!(
        "{measured} Of the variance of ratios from set to set {share} is between sittings; \
         {intervals}."
    )
}

/// `1, 2 and 3 from 2026-11-25 06:36 UTC on`.
fn sitting(one: &SittingSets) -> String {
    let sets: Vec<String> = one.sets.iter().map(u32::to_string).collect();
    let when = match one.began.get(..16) {
        Some(minute) => format!("from {} UTC on", minute.replace('T', " ")),
        None => "at an unknown time".to_owned(),
    };
    format!("{} {when}", enumerated(&sets))
}

/// Which processes the sets have, as a clause.
fn processes(sets: &Sets) -> &'static str {
    match sets.is_external {
        true => {
            "all with the same processes, because contenders are reached by URL: how much fresh \
             processes differ is in no interval"
        }
        false => "each with fresh processes",
    }
}

/// The meaning of throughput if all contenders are CPU-bound.
const BY_CPU_TIME: &str = "\
Every contender used all the CPU that it may use in undisturbed turns, so requests per second are \
those of a full second of that CPU: what other processes or the hypervisor took of it is in no \
number.";

/// How many blocks do not count and why.
fn lost(sets: &Sets) -> String {
    let each = &sets.each;
    let played: usize = each.iter().map(|one| one.blocks).sum();
    let kept: usize = each.iter().map(|one| one.kept).sum();
    if played == kept {
        return "none is lost".to_owned();
    }
    format!(
        "{} of {played} lost for all contenders, because a slice was invalid or could not be \
         judged, or a turn had no successful request",
        played - kept
    )
}
