//! `bakeoff judge`: the verdict on numbers that others measured, and why they cannot give one if
//! their design does not allow it.

use std::collections::{BTreeMap, BTreeSet};

use bakeoff_analysis::data::number::{count, counted, enumerated, significant};
use bakeoff_base::problem::Problem;
use bakeoff_import::exports::{self, Export, Measured};
use bakeoff_stats::{
    Better, BoundSide, Comparison, Criteria, Rise, Sample, Verdict, against_bounds, compare_family,
    rise_over,
};

/// Blocks from which on a comparison is of pairs.
const BLOCKS_MIN: usize = bakeoff_stats::log_ratio::PAIRED_BLOCKS_MIN;

/// Standard errors for a trend of the ratio over the blocks.
const TREND_ERRORS: f64 = 3.0;

/// The text of a file, and the side that it is about, if the user named it.
#[derive(Debug, Clone)]
pub struct NamedText {
    /// The file, for messages.
    pub file: String,
    /// The name of the side.
    pub side: Option<String>,
    /// The content of the file.
    pub text: String,
}

/// The comparison that is asked for.
#[derive(Debug, Clone, Default)]
pub struct Question {
    /// The side with which the others are compared; the first one by default.
    pub base: Option<String>,
    /// A side that is the base once more: if it differs significantly, nothing has a verdict.
    pub control: Option<String>,
    /// The better direction, if the files do not say it.
    pub better: Option<Better>,
    /// Which of several metrics is read.
    pub metric: Option<String>,
    /// The smallest difference that matters, percent; 3 by default.
    pub relevant_percent: Option<f64>,
    /// By how much a side must be worse than the base to fail, percent.
    pub worse_percent: Option<f64>,
}

/// The verdict on one side against the base.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// The benchmark; empty if there is only one.
    pub subject: String,
    /// The side.
    pub side: String,
    /// The side with which it is compared.
    pub base: String,
    /// Unit of the values; empty if not known.
    pub unit: String,
    /// The better direction.
    pub better: Better,
    /// The mean values, first of the side, then of the base.
    pub means: [f64; 2],
    /// The comparison, side over base. Its verdict is void if the design allows none.
    pub comparison: Comparison,
    /// The unit of repetition: `block`, `set`, `value`.
    pub repetition: &'static str,
    /// Why there is no verdict; empty if there is one.
    pub no_verdict: Vec<String>,
    /// Remarks that a reader must know, a fragment each.
    pub notes: Vec<String>,
    /// Whether the side is worse than the bound; `None` without a bound.
    pub fails: Option<BoundSide>,
}

/// Judges the values of these files.
///
/// # Errors
/// If a file cannot be read, if the files have fewer than two sides, if a named side is missing, or
/// if the better direction is not known.
pub fn judge(files: &[NamedText], question: &Question) -> Result<Vec<Judged>, Problem> {
    let read = files.iter().map(|file| {
        let export = exports::read(&file.text, file.side.as_deref(), question.metric.as_deref());
        export.map_err(|error| error.context(&file.file))
    });
    let exports: Vec<Export> = read.collect::<Result<_, _>>()?;
    let better = better(&exports, question)?;
    let unit = exports
        .first()
        .map_or("", |export| &*export.unit)
        .to_owned();
    let values = in_blocks(exports);
    let sides = distinct(values.iter().map(|one| &one.side));
    let base = match &question.base {
        Some(base) => base.clone(),
        None => sides.first().cloned().unwrap_or_default(),
    };
    for name in [Some(&base), question.control.as_ref()]
        .into_iter()
        .flatten()
    {
        if !sides.contains(name) {
            return Err(
                format!("no side is called {name}: there are {}", enumerated(&sides)).into(),
            );
        }
    }
    if sides.len() < 2 {
        let message = format!("all values are of one side, {base}");
        return Err(Problem::new(message).with_hint("a comparison needs two"));
    }
    let subjects = distinct(values.iter().map(|one| &one.subject));
    let mut pairs = Vec::new();
    for subject in &subjects {
        let own = values.iter().filter(|one| one.subject == *subject);
        let own: Vec<&Measured> = own.collect();
        let others = sides.iter().filter(|side| **side != base);
        pairs.extend(others.filter_map(|side| Pair::of(subject, &own, side, &base)));
    }
    Ok(verdicts(pairs, &unit, better, question))
}

fn better(exports: &[Export], question: &Question) -> Result<Better, Problem> {
    let known = exports.iter().find_map(|export| export.lower_is_better);
    let known = known.map(|lower| match lower {
        true => Better::Lower,
        false => Better::Higher,
    });
    question.better.or(known).ok_or_else(|| {
        Problem::new("the file does not say whether a lower or a higher value is the better one")
            .with_hint("add --lower-is-better or --higher-is-better")
    })
}

/// Returns the values of all files. If sides have several files, in turns, each is a block, and the
/// mean of its values is its value there.
fn in_blocks(exports: Vec<Export>) -> Vec<Measured> {
    let mut places: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (file, export) in exports.iter().enumerate() {
        let sides: BTreeSet<&String> = export.values.iter().map(|one| &one.side).collect();
        for side in sides {
            places.entry(side.clone()).or_default().push(file);
        }
    }
    let all = || places.values();
    let comes_first = |one: &Vec<usize>, other: &Vec<usize>| one.last() < other.first();
    let in_turns = !all().any(|one| all().any(|other| comes_first(one, other)));
    let has_blocks = |export: &Export| export.values.iter().any(|one| one.block.is_some());
    let are_blocks = in_turns && exports.len() > 1 && !exports.iter().any(has_blocks);
    let values = exports.into_iter().enumerate().flat_map(|(file, export)| {
        let block_of = |side: &String| {
            let files = places.get(side).into_iter().flatten();
            u32::try_from(files.take_while(|one| **one < file).count()).ok()
        };
        match are_blocks {
            false => export.values,
            true => means(&export.values, block_of),
        }
    });
    values.collect()
}

/// Returns the mean of each side and subject of a file, in this block.
fn means(values: &[Measured], block_of: impl Fn(&String) -> Option<u32>) -> Vec<Measured> {
    let mut means: Vec<(Measured, usize)> = Vec::new();
    for one in values {
        let is_same = |mean: &Measured| (&mean.subject, &mean.side) == (&one.subject, &one.side);
        match means.iter_mut().find(|(mean, _)| is_same(mean)) {
            Some((mean, number)) => {
                mean.value += one.value;
                *number += 1;
            }
            None => means.push((one.clone(), 1)),
        }
    }
    let means = means.into_iter().map(|(mean, number)| Measured {
        block: block_of(&mean.side),
        value: mean.value / count(number),
        ..mean
    });
    means.collect()
}

/// Returns each name once, in the order in which they come.
fn distinct<'n>(names: impl Iterator<Item = &'n String>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for name in names {
        if !found.contains(name) {
            found.push(name.clone());
        }
    }
    found
}

/// The values of a side and of the base.
struct Pair {
    subject: String,
    names: [String; 2],
    samples: [Sample; 2],
    repetition: &'static str,
    /// The ratio of the side to the base if it is the same in all blocks.
    exact: Option<f64>,
    no_verdict: Vec<String>,
    notes: Vec<String>,
}

impl Pair {
    /// Returns the values of two sides; `None` if one has none of this subject.
    fn of(subject: &str, own: &[&Measured], side: &str, base: &str) -> Option<Self> {
        let of_side = |name: &str| -> Vec<&Measured> {
            own.iter().filter(|one| one.side == name).copied().collect()
        };
        let (first, second) = (of_side(side), of_side(base));
        let mut pair = Self {
            subject: subject.to_owned(),
            names: [side.to_owned(), base.to_owned()],
            samples: [plain(&first)?, plain(&second)?],
            repetition: "value",
            exact: None,
            no_verdict: Vec::new(),
            notes: Vec::new(),
        };
        let in_blocks = first.iter().chain(&second).all(|one| one.block.is_some());
        if in_blocks {
            pair.in_blocks(&first, &second)?;
            pair.order(own);
        } else {
            pair.without_blocks();
        }
        Some(pair)
    }

    /// Values one after the other, of one side and then of the other: what changed on the host
    /// between them is in their ratio.
    fn without_blocks(&mut self) {
        if self.samples.iter().any(|sample| sample.runs() < 2) {
            self.no_verdict.push(
                "one value of a side cannot tell a difference from chance: measure both sides at \
                 least five times, in turns"
                    .to_owned(),
            );
            return;
        }
        self.no_verdict.push(
            "all values of one side come before those of the other, so that whatever changed on \
             the host in between is in the ratio: measure both sides in turns, several times, and \
             give all files"
                .to_owned(),
        );
    }

    fn in_blocks(&mut self, first: &[&Measured], second: &[&Measured]) -> Option<()> {
        let (one, other) = (by_block(first), by_block(second));
        let common: Vec<u32> = one
            .keys()
            .filter(|key| other.contains_key(key))
            .copied()
            .collect();
        let alone = one.len() + other.len() - 2 * common.len();
        if alone > 0 {
            let blocks = counted(alone, "block");
            self.notes
                .push(format!("left out: {blocks} with one of the two sides"));
        }
        if common.is_empty() {
            let why = "no block has both sides".to_owned();
            self.no_verdict.push(why);
            return Some(());
        }
        let logs = |values: &BTreeMap<u32, (Option<u32>, f64)>| -> Option<Vec<f64>> {
            let logs = common.iter().map(|block| values[block].1);
            logs.map(|value| (value > 0.0).then(|| value.ln()))
                .collect()
        };
        let (Some(ours), Some(theirs)) = (logs(&one), logs(&other)) else {
            let why = "a value is not above 0, so that it has no ratio".to_owned();
            self.no_verdict.push(why);
            return Some(());
        };
        self.trend(&ours, &theirs);
        let of_sets = common.iter().all(|block| one[block].0.is_some());
        let samples = [&ours, &theirs].map(|logs| match of_sets {
            true => {
                let sets = common.iter().map(|block| one[block].0.unwrap_or_default());
                Sample::of_sets(over_sets(sets.zip(logs)))
            }
            false => {
                let blocks = common.iter().copied();
                Sample::in_blocks(blocks.zip(logs.iter().map(|log| log.exp())).collect())
            }
        });
        let [own, base] = samples;
        self.samples = [own?, base?];
        self.repetition = if of_sets { "set" } else { "block" };
        if let Some(ratio) = constant(&ours, &theirs) {
            self.exact = Some(ratio);
            self.notes.push(
                "the ratio is the same in all blocks, so that it needs no interval".to_owned(),
            );
        }
        let least = if of_sets { 2 } else { BLOCKS_MIN };
        let runs = self.samples[0].runs();
        if runs < least {
            let found = counted(runs, self.repetition);
            self.no_verdict.push(format!(
                "{found} with both sides: it takes {least} or more to decide"
            ));
        }
        Some(())
    }

    /// Notes that the ratio moves from block to block.
    fn trend(&mut self, ours: &[f64], theirs: &[f64]) {
        let ratios = ours
            .iter()
            .zip(theirs)
            .map(|(one, other)| (one - other).exp());
        let ratios: Vec<f64> = ratios.collect();
        let Some(rise) = rise_over(&ratios, TREND_ERRORS).filter(has_trend) else {
            return;
        };
        self.notes.push(format!(
            "the ratio changes by {} % from the first block to the last, so that it depends on \
             when one looks: find out which side gets faster or slower",
            significant(rise.guess * 100.0)
        ));
    }

    /// Notes that one side was first in every block.
    fn order(&mut self, own: &[&Measured]) {
        let mut leaders: BTreeMap<Option<u32>, &str> = BTreeMap::new();
        for one in own.iter().filter(|one| self.names.contains(&one.side)) {
            leaders.entry(one.block).or_insert(&one.side);
        }
        let leaders: Vec<&str> = leaders.into_values().collect();
        let is_one_way = leaders.len() > 1 && leaders.windows(2).all(|two| two[0] == two[1]);
        if let (true, Some(leader)) = (is_one_way, leaders.first()) {
            self.notes.push(format!(
                "{leader} is first in every block, so that an advantage of being first or second \
                 is in the ratio: change the order from block to block"
            ));
        }
    }
}

/// Returns the ratio of values with these logarithms if it never changes.
fn constant(ours: &[f64], theirs: &[f64]) -> Option<f64> {
    let ratios = ours.iter().zip(theirs).map(|(one, other)| one - other);
    let ratios: Vec<f64> = ratios.collect();
    let first = ratios.first()?;
    let is_same = ratios.iter().all(|ratio| (ratio - first).abs() < 1e-12);
    is_same.then(|| first.exp())
}

fn has_trend(rise: &Rise) -> bool {
    rise.least > 0.0 || rise.most < 0.0
}

fn plain(values: &[&Measured]) -> Option<Sample> {
    Sample::new(values.iter().map(|one| one.value).collect())
}

/// Returns the mean of each block, with its set.
fn by_block(values: &[&Measured]) -> BTreeMap<u32, (Option<u32>, f64)> {
    let mut found: BTreeMap<u32, (Option<u32>, Vec<f64>)> = BTreeMap::new();
    for one in values {
        let block = one.block.unwrap_or_default();
        let entry = found.entry(block).or_insert((one.set, Vec::new()));
        entry.1.push(one.value);
    }
    let mean = |values: Vec<f64>| values.iter().sum::<f64>() / count(values.len());
    let means = found.into_iter();
    means
        .map(|(block, (set, values))| (block, (set, mean(values))))
        .collect()
}

/// Returns the geometric mean of each set.
fn over_sets<'l>(logs: impl Iterator<Item = (u32, &'l f64)>) -> Vec<(u32, f64)> {
    let mut sets: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for (set, log) in logs {
        sets.entry(set).or_default().push(*log);
    }
    let mean = |logs: Vec<f64>| (logs.iter().sum::<f64>() / count(logs.len())).exp();
    sets.into_iter()
        .map(|(set, logs)| (set, mean(logs)))
        .collect()
}

/// Compares all pairs as one family.
fn verdicts(pairs: Vec<Pair>, unit: &str, better: Better, question: &Question) -> Vec<Judged> {
    let mut criteria = Criteria::new(better);
    if let Some(percent) = question.relevant_percent {
        criteria.relevance = percent / 100.0;
    }
    let all = pairs
        .iter()
        .map(|pair| (&pair.samples[0], &pair.samples[1], criteria));
    let compared = compare_family(&all.collect::<Vec<_>>());
    let failing = question.worse_percent;
    let failing = failing.map(|percent| failing_sides(&pairs, better, percent));
    let is_control = |pair: &Pair| question.control.as_ref() == Some(&pair.names[0]);
    let differ = pairs.iter().zip(&compared).filter(|(pair, found)| {
        let is_decided = matches!(found.verdict, Verdict::Faster | Verdict::Slower);
        is_control(pair) && pair.no_verdict.is_empty() && is_decided
    });
    let differing: Vec<String> = differ.map(|(pair, _)| pair.subject.clone()).collect();
    let judged = pairs
        .into_iter()
        .zip(compared)
        .enumerate()
        .map(|(index, (pair, found))| {
            let mut no_verdict = pair.no_verdict;
            let is_judge = question.control.as_ref() == Some(&pair.names[0]);
            if differing.contains(&pair.subject) && !is_judge {
                no_verdict.push("the control differs from the base, whose twin it is".to_owned());
            }
            let mut comparison = found;
            if let Some(ratio) = pair.exact {
                comparison.verdict = of_exact(ratio, &criteria);
            }
            if !no_verdict.is_empty() {
                comparison.verdict = Verdict::Void;
            }
            let mut notes = pair.notes;
            notes.extend(nearly_relevant(&comparison, &criteria));
            let bound = failing.as_ref().map(|all| all[index]);
            let [side, base] = pair.names;
            Judged {
                subject: pair.subject,
                side,
                base,
                unit: unit.to_owned(),
                better,
                means: [pair.samples[0].mean(), pair.samples[1].mean()],
                comparison,
                repetition: pair.repetition,
                fails: bound.map(|side| match no_verdict.is_empty() && !is_judge {
                    true => side,
                    false => BoundSide::Undecided,
                }),
                no_verdict,
                notes,
            }
        });
    judged.collect()
}

/// Returns the remark on a significant difference that may be too small to matter.
fn nearly_relevant(comparison: &Comparison, criteria: &Criteria) -> Option<String> {
    let differs = comparison.p_adjusted? < 1.0 - criteria.confidence;
    let percent = significant(criteria.relevance * 100.0);
    (differs && comparison.verdict == Verdict::Inconclusive).then(|| {
        format!("they differ significantly, by about as much as matters at least: {percent} %")
    })
}

/// Returns the verdict on a ratio without chance in it.
fn of_exact(ratio: f64, criteria: &Criteria) -> Verdict {
    let is_more = ratio > 1.0;
    match (
        ratio.ln().abs() < criteria.relevance.ln_1p(),
        criteria.better,
    ) {
        (true, _) => Verdict::Equivalent,
        (false, Better::Higher) if is_more => Verdict::Faster,
        (false, Better::Lower) if !is_more => Verdict::Faster,
        (false, _) => Verdict::Slower,
    }
}

/// Compares how much worse each side is with the bound.
fn failing_sides(pairs: &[Pair], better: Better, percent: f64) -> Vec<BoundSide> {
    let bound = 1.0 + percent / 100.0;
    let tests = pairs.iter().map(|pair| {
        let [side, base] = &pair.samples;
        match better {
            Better::Lower => (side, base, bound),
            Better::Higher => (base, side, bound),
        }
    });
    let found = against_bounds(&tests.collect::<Vec<_>>()).into_iter();
    let sides = found.zip(pairs).map(|(found, pair)| {
        let worse = pair.exact.map(|ratio| match better {
            Better::Lower => ratio,
            Better::Higher => 1.0 / ratio,
        });
        match worse {
            Some(worse) if worse > bound => BoundSide::Above,
            Some(_) => BoundSide::Below,
            None => found.side,
        }
    });
    sides.collect()
}

#[cfg(test)]
mod tests;
