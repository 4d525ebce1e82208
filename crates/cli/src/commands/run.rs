//! `bakeoff run`: builds, starts the backend, plays the plan, renders the report.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, bail};
use bakeoff_model::parse;
use bakeoff_model::plan::Plan;
use bakeoff_model::record::{EndRecord, Outcome, Record, Results};
use bakeoff_model::suite::{ALL_ROUNDS, Round, Suite};

use super::bench::{Bench, BenchOptions, HttpClient};
use super::builds;
use super::plan::placement;
use super::{report, rounds};
use crate::args::RunArgs;
use crate::loader::ProcessLoader;
use crate::progress::{JsonLines, Progress};
use crate::recorder::{self, Recorder, SessionFile};
use crate::session::event::{Event, Observer};
use crate::session::{Parts, PendingRun, Session};
use crate::{clock, exit, suite_folder};

/// Runs the command.
pub(crate) fn run(args: &RunArgs) -> anyhow::Result<u8> {
    let runtime = tokio::runtime::Runtime::new().context("cannot start the async runtime")?;
    runtime.block_on(run_session(args))
}

async fn run_session(args: &RunArgs) -> anyhow::Result<u8> {
    if rounds::are_wanted(args) {
        return rounds::run_all(args).await;
    }
    let (folder, recorder, session) = open(args)?;
    carry_out(args, &folder, &folder, recorder, session).await
}

/// Makes what is left of a session in `folder` and renders it. `top` is the folder to resume: the
/// one of all rounds, or this one.
pub(crate) async fn carry_out(
    args: &RunArgs,
    top: &Path,
    folder: &Path,
    recorder: Recorder,
    session: SessionFile,
) -> anyhow::Result<u8> {
    let pending = pending(&session.plan, folder)?;
    if pending.is_empty() {
        say(&format!("{}: nothing is left to run", folder.display()))?;
        return finish(folder, &session.plan);
    }
    let mut observers = Observers {
        recorder,
        watcher: watcher(args),
        current: None,
    };
    let outcome = tokio::select! {
        outcome = play(&session, folder, &pending, &mut observers) => Some(outcome),
        () = super::interrupted() => None,
    };
    let Some(outcome) = outcome else {
        observers.interrupt()?;
        say(&format!(
            "\ninterrupted; go on with: bakeoff run {} --resume {}",
            session.suite_folder.display(),
            top.display()
        ))?;
        return Ok(exit::INTERRUPTED);
    };
    outcome?;
    observers.observe(&Event::SessionEnded {
        results: folder.to_owned(),
    })?;
    finish(folder, &session.plan)
}

/// Builds, starts the backend and plays all pending runs.
async fn play(
    session: &SessionFile,
    results: &Path,
    pending: &[PendingRun],
    observers: &mut Observers,
) -> anyhow::Result<()> {
    let plan = &session.plan;
    let placement = placement(plan);
    let mut warnings = placement.warnings;
    warnings.extend(
        session
            .skipped
            .iter()
            .map(|skipped| format!("skipped: {skipped}")),
    );
    observers.observe(&Event::SessionBegan {
        runs: pending.len(),
        finished_before: plan.runs.len() - pending.len(),
        expected: pending.iter().map(|one| one.run.expected).sum(),
        warnings,
    })?;
    let folder = suite_folder::read(&session.suite_folder)?;
    if folder.suite.digest != plan.suite_digest {
        bail!(
            "{}: the suite has changed since the session began\n  hint: its numbers could not be \
             compared; begin a new session",
            session.suite_folder.display()
        );
    }
    let mut contenders: Vec<String> = pending
        .iter()
        .map(|one| one.run.contender.clone())
        .collect();
    contenders.sort();
    contenders.dedup();
    let options = BenchOptions {
        runtime: plan.runtime.clone(),
        backend: plan.backend.clone(),
        profile: plan.profile.clone(),
        contenders,
        cores: placement.cores,
        seed: plan.seed,
        slice: session.slice,
        logs: results.join("logs"),
    };
    let program = std::env::current_exe().context("cannot find this program's own file")?;
    let mut bench = Bench::prepare(folder, options, observers).await?;
    bench.measure_loader(&program, observers).await?;
    let played = Session {
        parts: Parts {
            suite: bench.suite(),
            runtime: bench.runtime(),
            loader: &ProcessLoader { program },
            client: &HttpClient {
                prefix: String::new(),
            },
            backend: bench.backend(),
            host_cores: super::host_cores(),
            host_time: bakeoff_runtime::host::time,
        },
        cases: &bench,
        now: clock::now_rfc3339,
    }
    .play(pending, observers)
    .await;
    bench.close().await;
    played
}

/// The results folder, new or to be resumed, with its session.
fn open(args: &RunArgs) -> anyhow::Result<(PathBuf, Recorder, SessionFile)> {
    if let Some(folder) = &args.resume {
        let (recorder, session) = Recorder::open(folder)?;
        return Ok((folder.clone(), recorder, session));
    }
    let suite_folder = suite_folder::read(&args.selection.suite)?;
    let suite = &suite_folder.suite;
    let slice = slice(args)?;
    let round = match &args.round {
        Some(name) => Some(rounds::named(suite, name)?),
        None if args.selection.contender.is_empty() => super::main_round(suite),
        None => None,
    };
    let seed = args.seed.unwrap_or_else(clock::fresh_seed);
    let options = super::plan_options(
        suite,
        &args.selection,
        &args.benchmark,
        &args.profile,
        args.runs,
        seed,
        round.or_else(|| super::main_round(suite)),
    );
    if options.contenders.is_empty()
        && let Some(round) = round.filter(|round| !round.winners_of.is_empty())
    {
        bail!(
            "the round {} takes winners only\n  hint: --round {ALL_ROUNDS} finds them first",
            round.name
        );
    }
    let mut plan = super::planned(suite, &options)?;
    let mut skipped = without_unbuildable(suite, &mut plan);
    if plan.runs.is_empty() {
        bail!(
            "no contender can be built on this machine\n  hint: {}",
            skipped.join("; ")
        );
    }
    let folder = results_folder(args, suite);
    skipped.extend(round.and_then(unfed));
    let session = SessionFile {
        skipped,
        slice,
        plan,
        round: round.map(|round| rounds::round_file(suite, round, &args.benchmark)),
        qualified: Vec::new(),
        suite_folder: suite_folder.path,
    };
    let recorder = Recorder::create(&folder, &session)?;
    Ok((folder, recorder, session))
}

/// What a round run by itself goes without.
fn unfed(round: &Round) -> Option<String> {
    let names = round.winners_of.join(", ");
    (!names.is_empty())
        .then(|| format!("the winners of the rounds {names}: only --round {ALL_ROUNDS} finds them"))
}

/// Takes the contenders out of a plan that cannot be built here; each with a line that says why.
pub(crate) fn without_unbuildable(suite: &Suite, plan: &mut Plan) -> Vec<String> {
    let (here, skipped) = builds::buildable(suite, &contenders_of(plan));
    plan.runs.retain(|run| here.contains(&run.contender));
    let line = |(name, why): (String, String)| format!("{name}: {why}");
    skipped.into_iter().map(line).collect()
}

/// Length of a slice when it is not the profile's.
pub(crate) fn slice(args: &RunArgs) -> anyhow::Result<Option<Duration>> {
    let slice = args.slice.as_deref().map(parse::duration).transpose();
    slice.map_err(|message| anyhow::anyhow!("--slice: {message}"))
}

/// Where the results of a new session go.
pub(crate) fn results_folder(args: &RunArgs, suite: &Suite) -> PathBuf {
    args.out.clone().unwrap_or_else(|| {
        PathBuf::from("results").join(format!("{}-{}", suite.name, clock::now_compact()))
    })
}

/// Runs that have not come to an end of their own, in order, with their next attempt.
fn pending(plan: &Plan, folder: &Path) -> anyhow::Result<Vec<PendingRun>> {
    let progress = recorder::progress(folder)?;
    let pending = plan.runs.iter().filter_map(|run| {
        let (attempts, finished) = progress.get(&run.id).copied().unwrap_or_default();
        (!finished).then(|| PendingRun {
            run: run.clone(),
            attempt: attempts + 1,
        })
    });
    Ok(pending.collect())
}

/// Renders the documents and prints the table; the status says whether every run was completed.
fn finish(folder: &Path, plan: &Plan) -> anyhow::Result<u8> {
    let results = report::read(folder)?;
    report::write(folder, &results)?;
    let report_path = folder.join("report").join("index.html");
    say(&format!(
        "\n{}\nreport: {}",
        report::table(&results),
        report_path.display()
    ))?;
    let failed = failed_runs(&results);
    if failed.is_empty() {
        return Ok(exit::DONE);
    }
    say(&format!(
        "{} of {} runs failed; the report says why",
        failed.len(),
        plan.runs.len()
    ))?;
    Ok(exit::CHECK_FAILED)
}

/// Runs whose last attempt failed.
fn failed_runs(results: &Results) -> Vec<String> {
    let mut last: BTreeMap<&str, bool> = BTreeMap::new();
    for run in &results.runs {
        let outcome = run.end.as_ref().map(|end| &end.outcome);
        last.insert(
            &run.begin.run.id,
            !matches!(outcome, Some(Outcome::Completed)),
        );
    }
    last.into_iter()
        .filter(|(_, failed)| *failed)
        .map(|(id, _)| id.to_owned())
        .collect()
}

fn say(text: &str) -> anyhow::Result<()> {
    writeln!(std::io::stdout(), "{text}")?;
    Ok(())
}

/// Names of the contenders of a plan.
fn contenders_of(plan: &Plan) -> Vec<String> {
    plan.runs.iter().map(|run| run.contender.clone()).collect()
}

fn watcher(args: &RunArgs) -> Box<dyn Observer> {
    if args.output.json {
        return Box::new(JsonLines(std::io::stdout()));
    }
    Box::new(Progress::stderr(args.output.quiet))
}

/// The recorder first, so that what a person sees is on the disk.
struct Observers {
    recorder: Recorder,
    watcher: Box<dyn Observer>,
    /// Run and attempt at work, until its end is recorded.
    current: Option<(String, u32)>,
}

impl Observer for Observers {
    fn observe(&mut self, event: &Event) -> anyhow::Result<()> {
        match event {
            Event::RunBegan { run, attempt, .. } => {
                self.recorder.begin(&run.id, *attempt)?;
                self.current = Some((run.id.clone(), *attempt));
            }
            Event::Recorded { record } => {
                self.recorder.append(record)?;
                if matches!(record.as_ref(), Record::End(_)) {
                    self.current = None;
                }
            }
            _ => {}
        }
        self.watcher.observe(event)
    }
}

impl Observers {
    /// Ends the file of the run at work as interrupted.
    fn interrupt(&mut self) -> anyhow::Result<()> {
        if self.current.is_none() {
            return Ok(());
        }
        let at = clock::now_rfc3339();
        let outcome = Outcome::Interrupted;
        let end = EndRecord {
            at,
            outcome,
            last_connections: None,
            notes: Vec::new(),
        };
        self.observe(&Event::Recorded {
            record: Box::new(Record::End(end)),
        })
    }
}
