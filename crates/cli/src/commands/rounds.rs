//! Rounds: which contenders a round takes, and `run --round all`, which runs the qualification
//! rounds first and then every other round with the winners. Each round is a results folder of its
//! own below the one of all, so that it can be read, rendered and resumed like any other.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, bail};
use bakeoff_model::plan::{self as planning, ChosenCase};
use bakeoff_model::record::Qualification;
use bakeoff_model::suite::{ALL_ROUNDS, BenchmarkKind, Round, Suite, Winner};
use serde::{Deserialize, Serialize};

use super::{report, run};
use crate::args::RunArgs;
use crate::recorder::{self, Recorder, SessionFile, write_whole};
use crate::suite_folder::{self, SuiteFolder};
use crate::{clock, exit};

/// What a session of one round has to know of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RoundFile {
    /// The round.
    pub(crate) name: String,
    /// The benchmark that decides, and the rule; absent where nobody wins anything.
    pub(crate) decides: Option<(String, Winner)>,
}

/// What `--resume` needs to go on with all rounds.
#[derive(Debug, Serialize, Deserialize)]
struct RoundsFile {
    /// In the file as seen from the folder of the rounds.
    suite_folder: PathBuf,
    suite_digest: String,
    profile: String,
    runtime: String,
    backend: String,
    seed: u64,
    runs: Option<u32>,
    slice: Option<Duration>,
    benchmarks: Vec<String>,
    /// The rounds in their order.
    rounds: Vec<String>,
}

/// The file that makes a folder one of rounds.
const FILE: &str = "rounds.json";

/// Whether all rounds are wanted, anew or again.
pub(crate) fn are_wanted(args: &RunArgs) -> bool {
    match &args.resume {
        Some(folder) => folder.join(FILE).is_file(),
        None => args.round.as_deref() == Some(ALL_ROUNDS),
    }
}

/// The round of a name.
pub(crate) fn named<'s>(suite: &'s Suite, name: &str) -> anyhow::Result<&'s Round> {
    let known: Vec<String> = suite
        .rounds
        .iter()
        .map(|round| round.name.clone())
        .collect();
    let found = suite.rounds.iter().find(|round| round.name == name);
    found.ok_or_else(|| {
        let name = name.to_owned();
        let kind = "round";
        super::unknown(vec![planning::UnknownName { kind, name, known }])
    })
}

/// All rounds as they are run: those that pick winners first, each group in the order of the suite,
/// because a round only takes winners of earlier ones.
pub(crate) fn in_order(suite: &Suite) -> Vec<&Round> {
    let (mut order, others): (Vec<&Round>, Vec<&Round>) = suite
        .rounds
        .iter()
        .partition(|round| round.winner.is_some());
    order.extend(others);
    order
}

/// What a session of a round writes down about it. The first benchmark of the round with load
/// decides, whatever else was asked for.
pub(crate) fn round_file(suite: &Suite, round: &Round, benchmarks: &[String]) -> RoundFile {
    let chosen = |name: &str| {
        let globs = if benchmarks.is_empty() {
            &round.benchmarks
        } else {
            benchmarks
        };
        globs.iter().any(|glob| planning::matches(glob, name))
    };
    let deciding = suite
        .benchmarks
        .iter()
        .find(|one| one.kind == BenchmarkKind::Load && chosen(&one.name));
    RoundFile {
        name: round.name.clone(),
        decides: deciding
            .zip(round.winner)
            .map(|(one, winner)| (one.name.clone(), winner)),
    }
}

/// Runs all rounds, or goes on with them.
pub(crate) async fn run_all(args: &RunArgs) -> anyhow::Result<u8> {
    let (top, file) = open(args)?;
    let folder = suite_folder::read(&file.suite_folder)?;
    if folder.suite.digest != file.suite_digest {
        bail!(
            "{}: the suite has changed since the rounds began\n  hint: their numbers could not be \
             compared; begin again",
            file.suite_folder.display()
        );
    }
    let mut won: BTreeMap<String, Qualification> = BTreeMap::new();
    let mut status = exit::DONE;
    for name in &file.rounds {
        let round = named(&folder.suite, name)?;
        say(&format!("\nround {name}{}", describe(round)))?;
        let place = top.join(name);
        let Some((recorder, session)) = session(&place, &file, &folder, round, &won)? else {
            let nobody = nobody(&folder.suite, round, &file);
            say(&format!("round {name}: {}", nobody.reasons.join(" ")))?;
            won.insert(name.clone(), nobody);
            continue;
        };
        let ended = run::carry_out(args, &top, &place, recorder, session).await?;
        if ended == exit::INTERRUPTED {
            return Ok(ended);
        }
        status = status.max(ended);
        for mut qualification in report::read(&place)?.qualifications {
            if qualification.round == *name {
                say(&winner_line(&qualification))?;
                qualification.folder = format!("../{name}");
                won.insert(name.clone(), qualification);
            }
        }
    }
    Ok(status)
}

fn describe(round: &Round) -> String {
    match round.describe.as_str() {
        "" => String::new(),
        text => format!(": {text}"),
    }
}

/// The winner and why, for the terminal.
pub(crate) fn winner_line(qualification: &Qualification) -> String {
    let winner = qualification.winner.as_ref().map(ChosenCase::label);
    let mut line = format!(
        "round {}: the winner is {} by {} on {}",
        qualification.round,
        winner.as_deref().unwrap_or("nobody"),
        qualification.rule,
        qualification.benchmark
    );
    for reason in &qualification.reasons {
        line.push_str(&format!("\n  {reason}"));
    }
    line
}

/// The folder of all rounds, new or to be gone on with.
fn open(args: &RunArgs) -> anyhow::Result<(PathBuf, RoundsFile)> {
    if let Some(top) = &args.resume {
        let path = top.join(FILE);
        let text = fs::read_to_string(&path).with_context(|| format!("{}", path.display()))?;
        let mut file: RoundsFile = serde_json::from_str(&text)
            .with_context(|| format!("{}: not a file of rounds", path.display()))?;
        file.suite_folder = suite_folder::found_from(top, &file.suite_folder);
        return Ok((top.clone(), file));
    }
    let folder = suite_folder::read(&args.selection.suite)?;
    let suite = &folder.suite;
    if suite.rounds.is_empty() {
        bail!("{}: the suite has no rounds", folder.path.display());
    }
    let order = in_order(suite);
    let slice = run::slice(args)?;
    let seed = args.seed.unwrap_or_else(clock::fresh_seed);
    let options = super::plan_options(
        suite,
        &args.selection,
        &args.benchmark,
        &args.profile,
        args.runs,
        seed,
        super::main_round(suite),
    );
    // Names are looked at before anything is measured, not in the last round.
    super::planned(suite, &options)?;
    let top = run::results_folder(args, suite);
    let mut file = RoundsFile {
        suite_folder: folder.path.clone(),
        suite_digest: suite.digest.clone(),
        profile: options.profile,
        runtime: options.runtime,
        backend: options.backend,
        seed,
        runs: args.runs,
        slice,
        benchmarks: args.benchmark.clone(),
        rounds: order.iter().map(|round| round.name.clone()).collect(),
    };
    let path = top.join(FILE);
    if path.exists() || top.join("session.json").exists() {
        bail!(
            "{}: holds results already\n  hint: finish them with --resume {0}, or name another \
             folder with --out",
            top.display()
        );
    }
    fs::create_dir_all(&top)
        .with_context(|| format!("{}: cannot make the results folder", top.display()))?;
    file.suite_folder = suite_folder::seen_from(&top, &folder.path)?;
    write_whole(&path, serde_json::to_string_pretty(&file)?.as_bytes())?;
    file.suite_folder = folder.path;
    Ok((top, file))
}

/// The session of a round, as it was or anew; `None` when this machine can build none of its
/// contenders and no winner joins it.
fn session(
    place: &Path,
    file: &RoundsFile,
    folder: &SuiteFolder,
    round: &Round,
    won: &BTreeMap<String, Qualification>,
) -> anyhow::Result<Option<(Recorder, SessionFile)>> {
    if place.join("session.json").is_file() {
        return Recorder::open(place).map(Some);
    }
    let suite = &folder.suite;
    let fed: Vec<Qualification> = round
        .winners_of
        .iter()
        .filter_map(|name| won.get(name).cloned())
        .collect();
    let mut options = round_options(round, file);
    options.cases = fed.iter().filter_map(|one| one.winner.clone()).collect();
    if options.contenders.is_empty() && options.cases.is_empty() {
        return Ok(None);
    }
    let mut plan = super::planned(suite, &options)?;
    let skipped = run::without_unbuildable(suite, &mut plan);
    if plan.runs.is_empty() {
        return Ok(None);
    }
    let session = SessionFile {
        suite_folder: folder.path.clone(),
        skipped,
        slice: file.slice,
        plan,
        round: Some(round_file(suite, round, &file.benchmarks)),
        qualified: fed,
    };
    let recorder = Recorder::create(place, &session)?;
    Ok(Some((recorder, session)))
}

fn round_options(round: &Round, file: &RoundsFile) -> planning::PlanOptions {
    let benchmarks = match file.benchmarks.as_slice() {
        [] => round.benchmarks.clone(),
        chosen => chosen.to_vec(),
    };
    planning::PlanOptions {
        profile: file.profile.clone(),
        contenders: round.contenders.clone(),
        parameters: round.parameters.clone(),
        cases: Vec::new(),
        benchmarks,
        runs: file.runs,
        seed: file.seed,
        runtime: file.runtime.clone(),
        backend: file.backend.clone(),
    }
}

/// How a round ends that nobody could take part in.
fn nobody(suite: &Suite, round: &Round, file: &RoundsFile) -> Qualification {
    let names: Vec<String> = suite
        .contenders
        .iter()
        .filter(|one| {
            let mut globs = round.contenders.iter();
            globs.any(|glob| planning::matches(glob, &one.name))
        })
        .map(|one| one.name.clone())
        .collect();
    let (_, skipped) = super::builds::buildable(suite, &names);
    let list: Vec<String> = skipped
        .into_iter()
        .map(|(name, why)| format!("{name}: {why}."))
        .collect();
    let mut reasons = vec!["Nobody could take part, so it was not run.".to_owned()];
    reasons.extend(list);
    let decides = round_file(suite, round, &file.benchmarks).decides;
    Qualification {
        round: round.name.clone(),
        rule: round
            .winner
            .map(|winner| winner.words())
            .unwrap_or_default(),
        benchmark: decides.map(|(name, _)| name).unwrap_or_default(),
        winner: None,
        reasons,
        folder: String::new(),
    }
}

/// The results folders in a folder of rounds, in the order of the rounds; `None` for any other
/// folder.
pub(crate) fn folders(top: &Path) -> anyhow::Result<Option<Vec<PathBuf>>> {
    let path = top.join(FILE);
    let Ok(text) = fs::read_to_string(&path) else {
        return Ok(None);
    };
    let file: RoundsFile = serde_json::from_str(&text)
        .with_context(|| format!("{}: not a file of rounds", path.display()))?;
    let folders = file.rounds.iter().map(|name| top.join(name));
    let begun = folders.filter(|folder| recorder::has_records(folder));
    Ok(Some(begun.collect()))
}

fn say(text: &str) -> anyhow::Result<()> {
    writeln!(std::io::stdout(), "{text}")?;
    Ok(())
}
