//! Several rounds in one folder: `run --round all`, which runs the qualification rounds first and
//! then every other round with the winners, and `run --round GROUP`. Each round has its own results
//! folder below the one of all, so that it can be read, rendered and resumed like any other.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, bail};
use bakeoff_analysis::{Analysis, AnalysisInput};
use bakeoff_base::hint::hinted;
use bakeoff_model::plan::{self as planning, Plan};
use bakeoff_model::record::Qualification;
use bakeoff_model::suite::{ALL_ROUNDS, Round, Suite};
use bakeoff_places::abilities::{Abilities, abilities};
use bakeoff_session::opening::{self, OpenSession, SessionRequest};
use bakeoff_session::session::{self, Audience, SessionOutcome};
use bakeoff_session::store::locked_folder::LockedFolder;
use bakeoff_session::store::recorder::Recorder;
use bakeoff_session::testbed::builds;
use bakeoff_session::{selection, turn_requirements};
use bakeoff_store::event::{Event, Observer};
use bakeoff_store::file::write_whole;
use bakeoff_store::round_file::{RoundFile, RoundsFile};
use bakeoff_store::session_file::SessionFile;
use bakeoff_store::suite_folder::{self, SuiteFolder};

/// Whether several rounds are wanted, new or resumed: all, or those of a group.
///
/// # Errors
/// The suite cannot be read.
pub(crate) fn are_wanted(order: &SessionRequest) -> anyhow::Result<bool> {
    Ok(match order {
        SessionRequest::Resume { folder, .. } => folder.join(RoundsFile::NAME).is_file(),
        SessionRequest::Begin(suite, new) => match new.round.as_deref() {
            None => false,
            Some(ALL_ROUNDS) => true,
            Some(name) => {
                let suite = suite_folder::read(suite)?.suite;
                !selection::several_rounds(&suite, name).is_empty()
            }
        },
    })
}

/// Runs all rounds, or goes on with them.
pub(crate) async fn run_all(
    order: &SessionRequest,
    audience: &mut Audience<'_>,
) -> anyhow::Result<SessionOutcome> {
    let (top, file) = open(order)?;
    let outcome = play(top.path(), &file, audience).await;
    if let (Err(_), SessionRequest::Begin(..)) = (&outcome, order) {
        top.withdraw(RoundsFile::NAME);
    }
    outcome
}

/// Runs the rest of the rounds.
async fn play(
    top: &Path,
    file: &RoundsFile,
    audience: &mut Audience<'_>,
) -> anyhow::Result<SessionOutcome> {
    let folder = suite_folder::read(&file.suite_folder)?;
    if folder.suite.digest != file.suite_digest {
        return Err(hinted(
            format_args!(
                "{}: the suite has changed since the rounds started",
                file.suite_folder.display()
            ),
            "their numbers could not be compared; start again",
        ));
    }
    let host = abilities(file.runtime, &file.options.hosts, &file.options.cluster);
    let mut won: BTreeMap<String, Qualification> = BTreeMap::new();
    let mut worst = SessionOutcome::Completed;
    for (index, name) in file.rounds.iter().enumerate() {
        let round = selection::round(&folder.suite, name)?;
        audience.watcher.observe(&Event::RoundBegan {
            round: name.clone(),
            describe: round.describe.clone(),
        })?;
        let results_folder = top.join(name);
        let Some(open) = open_round(&results_folder, file, &folder, round, &won, &host)? else {
            let qualification = not_run(&folder.suite, round, file);
            announce(&qualification, audience.watcher)?;
            won.insert(name.clone(), qualification);
            continue;
        };
        let later = match audience.sitting {
            Some(_) => plans(&file.rounds[index + 1..], file, &folder.suite, &host)?,
            None => Vec::new(),
        };
        let session = session::carry_out(top, open, &later, audience).await?;
        let Some(results) = session.recorded else {
            return Ok(session.ended);
        };
        worst = worst.max(session.ended);
        let analysis = Analysis::of(&AnalysisInput::new(&results, name));
        for mut qualification in analysis.qualifications {
            if qualification.round == *name {
                announce(&qualification, audience.watcher)?;
                qualification.folder = format!("../{name}");
                won.insert(name.clone(), qualification);
            }
        }
    }
    Ok(worst)
}

/// Returns the plans of rounds that have not started, without winners that would join them.
fn plans(
    rounds: &[String],
    file: &RoundsFile,
    suite: &Suite,
    host: &Abilities,
) -> anyhow::Result<Vec<Plan>> {
    let mut plans = Vec::new();
    for name in rounds {
        let options = round_options(selection::round(suite, name)?, file);
        if !options.contenders.is_empty() {
            let left_out = |plan: &mut Plan| opening::without_unbuildable(suite, plan);
            plans.push(turn_requirements::planned(suite, &options, host, left_out)?.0);
        }
    }
    Ok(plans)
}

fn announce(qualification: &Qualification, watcher: &mut dyn Observer) -> anyhow::Result<()> {
    watcher.observe(&Event::WinnerPicked {
        qualification: Box::new(qualification.clone()),
    })
}

/// The folder of all rounds, new or to be gone on with.
fn open(order: &SessionRequest) -> anyhow::Result<(LockedFolder, RoundsFile)> {
    let (suite, new) = match order {
        SessionRequest::Begin(suite, new) => (suite, new),
        SessionRequest::Resume {
            suite,
            folder: top,
            cluster,
        } => {
            let locked = LockedFolder::make(top)?;
            let file = RoundsFile::read(top)?;
            let file = file.with_context(|| format!("{}: no rounds there", top.display()));
            let mut file = file?;
            file.options.cluster.take_local(cluster);
            suite.clone_into(&mut file.suite_folder);
            return Ok((locked, file));
        }
    };
    new.check()?;
    let folder = suite_folder::read(suite)?;
    let suite = &folder.suite;
    if suite.rounds.is_empty() {
        bail!("{}: the suite has no rounds", folder.path.display());
    }
    let order = selection::several_rounds(suite, new.round.as_deref().unwrap_or(ALL_ROUNDS));
    let options = new
        .selection
        .plan_options(suite, selection::main_round(suite));
    // Names are looked at before anything is measured, not in the last round.
    for round in &order {
        let of_round = new.selection.plan_options(suite, Some(round));
        if !of_round.contenders.is_empty() {
            selection::planned(suite, &of_round)?;
        }
    }
    selection::backend_can_be_at(options.backend, new.options.backend_url.as_ref())?;
    let top = new.results_folder(suite);
    let file = RoundsFile {
        suite_folder: folder.path.clone(),
        suite_digest: suite.digest.clone(),
        profile: new.selection.profile.clone(),
        runtime: options.runtime,
        backend: options.backend,
        backend_delay: new.selection.backend_delay,
        seed: new.selection.seed,
        runs: new.selection.runs,
        options: new.options.clone(),
        benchmarks: new.selection.benchmarks.clone(),
        rounds: order.iter().map(|round| round.name.clone()).collect(),
    };
    create(&top, file)
}

/// Makes the folder of all rounds; refuses one that holds results.
fn create(top: &Path, mut file: RoundsFile) -> anyhow::Result<(LockedFolder, RoundsFile)> {
    let locked = LockedFolder::make(top)?;
    let path = top.join(RoundsFile::NAME);
    if path.exists() || top.join(SessionFile::NAME).exists() {
        let top = top.display();
        return Err(hinted(
            format_args!("{top}: holds results already"),
            format_args!("finish them with --resume {top}, or name another folder with --out"),
        ));
    }
    let found = std::mem::take(&mut file.suite_folder);
    file.suite_folder = suite_folder::seen_from(top, &found)?;
    write_whole(&path, serde_json::to_string_pretty(&file)?.as_bytes())?;
    file.suite_folder = found;
    Ok((locked, file))
}

/// The session of a round, resumed or new; `None` when this machine can build none of its
/// contenders and no winner joins it.
fn open_round(
    folder: &Path,
    file: &RoundsFile,
    suite_folder: &SuiteFolder,
    round: &Round,
    won: &BTreeMap<String, Qualification>,
    host: &Abilities,
) -> anyhow::Result<Option<OpenSession>> {
    if folder.join(SessionFile::NAME).is_file() {
        let (recorder, mut session) = Recorder::open(folder)?;
        session.options.cluster.take_local(&file.options.cluster);
        return Ok(Some(OpenSession::of_suite(
            recorder,
            session,
            suite_folder.clone(),
        )));
    }
    let suite = &suite_folder.suite;
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
    let left_out = |plan: &mut Plan| opening::without_unbuildable(suite, plan);
    let (plan, skipped) = turn_requirements::planned(suite, &options, host, left_out)?;
    if plan.runs.is_empty() {
        return Ok(None);
    }
    let session = SessionFile {
        suite_folder: suite_folder.path.clone(),
        skipped,
        plan,
        round: Some(RoundFile::of(suite, round, &file.benchmarks)),
        qualified: fed,
        baseline: None,
        runs_decision: None,
        options: file.options.clone(),
    };
    let recorder = Recorder::create(LockedFolder::make(folder)?, &session)?;
    Ok(Some(OpenSession::of_suite(
        recorder,
        session,
        suite_folder.clone(),
    )))
}

fn round_options(round: &Round, file: &RoundsFile) -> planning::PlanOptions {
    let benchmarks = match file.benchmarks.as_slice() {
        [] => round.benchmarks.clone(),
        chosen => chosen.to_vec(),
    };
    planning::PlanOptions {
        profile: selection::profile(file.profile.as_ref(), Some(round)),
        contenders: round.contenders.clone(),
        parameters: round.parameters.clone(),
        cases: Vec::new(),
        benchmarks,
        runs: file.runs,
        seed: file.seed,
        runtime: file.runtime,
        backend: file.backend,
        backend_delay: selection::backend_delay(file.backend_delay, file.backend, Some(round)),
        no_turns: None,
    }
}

/// How a round ends in which no contender could take part.
fn not_run(suite: &Suite, round: &Round, file: &RoundsFile) -> Qualification {
    let names: Vec<String> = suite
        .contenders
        .iter()
        .filter(|one| {
            let mut globs = round.contenders.iter();
            globs.any(|glob| planning::matches(glob, &one.name))
        })
        .map(|one| one.name.clone())
        .collect();
    let (_, skipped) = builds::buildable(suite, &names);
    let list: Vec<String> = skipped
        .into_iter()
        .map(|(name, why)| format!("{name}: {why}."))
        .collect();
    let mut reasons = vec!["No contender could take part, so it was not run.".to_owned()];
    reasons.extend(list);
    let decides = RoundFile::of(suite, round, &file.benchmarks).decides;
    Qualification {
        round: round.name.clone(),
        rule: round
            .winner
            .map(|winner| winner.describe())
            .unwrap_or_default(),
        benchmark: decides.map(|(name, _)| name).unwrap_or_default(),
        winner: None,
        reasons,
        folder: String::new(),
    }
}
