//! Rules for the rounds of `suite.toml` that a schema cannot express.

use std::collections::BTreeMap;

use super::raw::RoundTable;
use super::source::{KeyPath, Reading};
use crate::suite::delay::Delay;
use crate::suite::{
    ALL_ROUNDS, Benchmark, BenchmarkKind, Contender, Profile, Round, Winner, WinnerRule,
};
use crate::text::names;

/// The rounds. `contenders` are those of the suite, when all of them could be read.
pub(super) fn rounds(
    reading: &mut Reading<'_>,
    tables: Vec<RoundTable>,
    contenders: Option<&[Contender]>,
    benchmarks: &[Benchmark],
    profiles: &BTreeMap<String, Profile>,
) -> Vec<Round> {
    let all = KeyPath::root().key("round");
    let names = tables.iter().map(|table| table.name.as_str());
    reading.report_duplicates(&all, "round", names);
    let mut qualifications: Vec<&str> = Vec::new();
    for (index, table) in tables.iter().enumerate() {
        let place = all.index(index);
        taking_part(reading, &place, table, contenders);
        parameters(reading, &place, table, contenders);
        winner_rule(reading, &place, table);
        known_profile(reading, &place, table, profiles);
        if reading.is_whole(&KeyPath::root().key("benchmark")) {
            deciding(reading, &place, table, benchmarks);
        }
        for (index, name) in table.winners_of.iter().enumerate() {
            if !qualifications.contains(&name.as_str()) && reading.is_whole(&all) {
                let place = place.key("winners-of").index(index);
                no_winner(reading, &place, name, &tables);
            }
        }
        if table.winner.is_some() {
            qualifications.push(&table.name);
        }
    }
    let rounds = tables.into_iter().enumerate();
    rounds
        .map(|(index, table)| round(reading, &all.index(index), table))
        .collect()
}

/// Complains about a round that hands on no winner, or too late.
fn no_winner(reading: &mut Reading<'_>, place: &KeyPath, name: &str, tables: &[RoundTable]) {
    let with_winner = tables.iter().filter(|table| table.winner.is_some());
    let known: Vec<&str> = with_winner.map(|table| table.name.as_str()).collect();
    let (message, hint) = if known.contains(&name) {
        let hint = "move it up: rounds are run in the order of the file".to_owned();
        (
            format!("the round `{name}` does not come before this one"),
            hint,
        )
    } else {
        let hint = names::suggestion(name, &known);
        (format!("`{name}` is not a round with a winner"), hint)
    };
    reading.complain(place, &message, Some(hint));
}

fn round(reading: &mut Reading<'_>, place: &KeyPath, table: RoundTable) -> Round {
    let backend_delay = table.backend_delay.as_deref().map(str::parse::<Delay>);
    let backend_delay = backend_delay.and_then(|delay| match delay {
        Ok(delay) => Some(delay),
        Err(problem) => {
            reading.complain(&place.key("backend-delay"), problem.message(), None);
            None
        }
    });
    Round {
        name: table.name,
        describe: table.describe,
        group: table.group,
        profile: table.profile,
        backend_delay,
        contenders: table.contenders,
        parameters: table
            .parameters
            .into_iter()
            .map(|(name, values)| (name, values.0))
            .collect(),
        benchmarks: table.benchmarks,
        winner: table.winner.map(|rule| Winner { rule, at: table.at }),
        winners_of: table.winners_of,
    }
}

fn taking_part(
    reading: &mut Reading<'_>,
    place: &KeyPath,
    table: &RoundTable,
    contenders: Option<&[Contender]>,
) {
    if table.name == ALL_ROUNDS {
        let message = format!("a round cannot be called `{ALL_ROUNDS}`");
        let hint = Some("`--round all` stands for every round".to_owned());
        reading.complain(&place.key("name"), &message, hint);
    }
    if table.contenders.is_empty() && table.winners_of.is_empty() {
        let message = format!("the round `{}` has no contenders", table.name);
        let hint = Some("give it `contenders` or `winners-of`".to_owned());
        reading.complain(place, &message, hint);
    }
    if let Some(known) = contenders {
        let names: Vec<&str> = known.iter().map(|one| one.name.as_str()).collect();
        let place = place.key("contenders");
        globs(reading, &place, "contender", &table.contenders, &names);
    }
}

/// Every parameter must be one of a contender that takes part, and so must its values.
fn parameters(
    reading: &mut Reading<'_>,
    place: &KeyPath,
    table: &RoundTable,
    contenders: Option<&[Contender]>,
) {
    let Some(contenders) = contenders else {
        return;
    };
    let takes_part = |one: &&Contender| {
        let mut globs = table.contenders.iter();
        globs.any(|glob| names::matches(glob, &one.name))
    };
    let mut known: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, values) in contenders
        .iter()
        .filter(takes_part)
        .flat_map(|one| &one.matrix)
    {
        let all = known.entry(name).or_default();
        all.extend(values.iter().map(String::as_str));
    }
    for (name, values) in &table.parameters {
        let place = place.key("parameters").key(name);
        let Some(all) = known.get(name.as_str()) else {
            let message = format!("no contender of the round has a parameter `{name}`");
            let names: Vec<&str> = known.keys().copied().collect();
            reading.complain(&place, &message, Some(names::suggestion(name, &names)));
            continue;
        };
        for (index, value) in values.0.iter().enumerate() {
            if !all.contains(&value.as_str()) {
                let message = format!("no contender of the round has {name} = {value:?}");
                let hint = Some(names::suggestion(value, all));
                reading.complain(&place.index(index), &message, hint);
            }
        }
    }
}

fn known_profile(
    reading: &mut Reading<'_>,
    place: &KeyPath,
    table: &RoundTable,
    profiles: &BTreeMap<String, Profile>,
) {
    let whole = reading.is_whole(&KeyPath::root().key("profile"));
    if let Some(name) = &table.profile
        && !profiles.contains_key(name)
        && whole
    {
        let known: Vec<&str> = profiles.keys().map(String::as_str).collect();
        let message = format!("no profile is called `{name}`");
        let hint = Some(names::suggestion(name, &known));
        reading.complain(&place.key("profile"), &message, hint);
    }
}

fn winner_rule(reading: &mut Reading<'_>, place: &KeyPath, table: &RoundTable) {
    let (message, hint) = match (table.winner, table.at) {
        (None, Some(_)) => ("`at` without `winner`", "give it the rule that picks"),
        (Some(WinnerRule::PeakThroughput), Some(_)) => (
            "the peak is wherever it is, so it has no `at`",
            "use `winner = \"throughput\"` for a number of connections",
        ),
        (Some(WinnerRule::Throughput), None) => (
            "`throughput` needs `at`, the connections",
            "or use `winner = \"peak-throughput\"`",
        ),
        _ => return,
    };
    let message = format!("`{place}`: {message}");
    reading.complain(&place.key("winner"), &message, Some(hint.to_owned()));
}

/// Benchmarks must exist; a winner is picked on one with load.
fn deciding(
    reading: &mut Reading<'_>,
    place: &KeyPath,
    table: &RoundTable,
    benchmarks: &[Benchmark],
) {
    let names: Vec<&str> = benchmarks.iter().map(|one| one.name.as_str()).collect();
    let place = place.key("benchmarks");
    globs(reading, &place, "benchmark", &table.benchmarks, &names);
    let chosen = |one: &&Benchmark| {
        let mut globs = table.benchmarks.iter();
        globs.any(|glob| names::matches(glob, &one.name))
    };
    let mut chosen = benchmarks.iter().filter(chosen).peekable();
    let none_loads = chosen.peek().is_some() && chosen.all(|one| one.kind != BenchmarkKind::Load);
    if table.winner.is_some() && none_loads {
        let message = format!("`{place}`: none has a load that could be won");
        let hint = "rules read throughput, CPU per request or p99".to_owned();
        reading.complain(&place, &message, Some(hint));
    }
}

/// Complains about each glob that matches no known name.
fn globs(reading: &mut Reading<'_>, place: &KeyPath, kind: &str, globs: &[String], known: &[&str]) {
    for (index, glob) in globs.iter().enumerate() {
        if !known.iter().any(|name| names::matches(glob, name)) {
            let message = format!("no {kind} is called `{glob}`");
            let hint = Some(names::suggestion(glob, known));
            reading.complain(&place.index(index), &message, hint);
        }
    }
}
