//! `bakeoff duel`: services of the user's own against each other. Writes a suite for them and makes
//! a session of it, as `bakeoff run` would.

mod args;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::pin::{Pin, pin};
use std::time::Duration;

use anyhow::Context as _;
use bakeoff_model::suite::Limits;
use bakeoff_session::clock;
use bakeoff_session::revision;
use bakeoff_session::session::Audience;
use bakeoff_session::store::locked_folder::LockedFolder;
use bakeoff_session::store::recorder::refuse_session;
use bakeoff_store::options::Revisions;
use bakeoff_store::options::SessionOptions;
use bakeoff_workflows::duel::{self, Duel, DuelRuns, Prepared, SuitePlace, Unprepared};
use bakeoff_workflows::service::ServiceSource;

use super::run::status;
use super::service_load;
use super::signals::interrupted;
use crate::exit;
use crate::output::session;
use crate::output::text::{columns, wrapped};
use crate::values::Range;
use crate::values::service::Side;
use args::ImagesIn;

pub(crate) use args::DuelArgs;

/// Runs the command.
pub(crate) fn duel(args: &DuelArgs) -> anyhow::Result<u8> {
    let results = args.out.clone().unwrap_or_else(|| {
        let name = format!("{}-{}", duel::NAME, clock::now_compact());
        PathBuf::from("results").join(name)
    });
    let suite = args.save.clone().unwrap_or_else(|| results.join("suite"));
    let wanted = wanted(args)?;
    let revisions = args.diff.as_ref().map(revisions).transpose()?;
    let locked = LockedFolder::make(&results)?;
    refuse_session(&results)?;
    let runtime = tokio::runtime::Runtime::new().context("cannot start the async runtime")?;
    runtime.block_on(async {
        let prepared = tokio::select! {
            prepared = prepare(args, &wanted, &suite) => prepared,
            () = interrupted() => return Ok(exit::INTERRUPTED),
        };
        let prepared = match prepared {
            Ok(prepared) => prepared,
            Err(Unprepared::Services(error)) => {
                exit::show(&error);
                return Ok(exit::CHECK_FAILED);
            }
            Err(Unprepared::Order(error)) => return Err(error),
        };
        let seed = args.asked.seed.unwrap_or_else(clock::fresh_seed);
        let options = SessionOptions {
            flame_graphs: args.profile_cpu || revisions.is_some(),
            revisions,
            ..wanted.options()
        };
        let mut watcher = session::watcher(&args.output)?;
        let mut audience = Audience {
            watcher: &mut *watcher,
            interruption: || Box::pin(interrupted()),
            sitting: None,
        };
        let session = prepared.measure(locked, options, seed, &mut audience);
        session.await.map(status)
    })
}

/// Returns the commits of a range, of the repository that this folder is in.
fn revisions(range: &Range) -> anyhow::Result<Revisions> {
    let here = Path::new(".").canonicalize()?;
    Ok(Revisions {
        repository: revision::repository(&range.good, &here)?,
        from: revision::commit(&range.good, &here)?,
        to: Some(revision::commit(&range.bad, &here)?),
    })
}

/// The remedy that lets the sides take turns.
const TURNS_HINT: &str = "turns decide sooner: listen on 0.0.0.0 and the port in PORT";

/// Asks every side, and reports the outcome to the user.
async fn prepare(args: &DuelArgs, wanted: &Duel, suite: &Path) -> Result<Prepared, Unprepared> {
    let quiet = args.output.quiet || args.output.json;
    let say = |text: &str| {
        if !quiet {
            // A closed terminal must not end a measurement.
            let text = wrapped(text, columns()).join("\n");
            let _ = writeln!(std::io::stderr(), "{text}");
        }
    };
    for note in &wanted.notes {
        say(&format!("note: {note}"));
    }
    say(&format!("asking each twice: {}", wanted.asked()));
    let place = match args.save {
        Some(_) => SuitePlace::Kept(suite),
        None => SuitePlace::InResults(suite),
    };
    let preparing = pin!(duel::prepare(wanted, place));
    let prepared = told(preparing, |s| {
        say(&format!("no response from all after {s} s"))
    })
    .await?;
    for note in &prepared.notes {
        say(&format!("note: {note}"));
    }
    prepared.words.lines().for_each(say);
    if let Some(why) = &prepared.no_turns {
        say(&format!("note: {why}; {TURNS_HINT}"));
    }
    if args.save.is_some() {
        say(&format!("suite: {}", suite.display()));
    }
    Ok(prepared)
}

/// Waits for some work, and says every 10 s for how long.
async fn told<F: Future>(mut work: Pin<&mut F>, say: impl Fn(u64)) -> F::Output {
    for tens in 1.. {
        match tokio::time::timeout(Duration::from_secs(10), &mut work).await {
            Ok(done) => return done,
            Err(_) => say(10 * tens),
        }
    }
    work.await
}

/// Returns the duel that the arguments ask for.
pub(crate) fn wanted(args: &DuelArgs) -> anyhow::Result<Duel> {
    let sides = args.sides.iter();
    let duel = service_load::duel(&args.asked)?;
    let is_deployed = |side: &Side| matches!(side.0.service, ServiceSource::Deployment(_));
    let in_cluster = args.runtime == ImagesIn::Kubernetes || args.sides.iter().any(is_deployed);
    Ok(Duel {
        sides: sides.map(|side| side.0.clone()).collect(),
        cluster: in_cluster.then(|| args.cluster.settings()),
        hosts: args.hosts.hosts(),
        limits: limits(args, duel.limits),
        compose_file: args.compose.clone(),
        runs: match args.runs {
            Some(runs) => DuelRuns::Fixed(runs),
            None => DuelRuns::Within(args.within.0),
        },
        ..duel
    })
}

/// The limits that are named; also the others, of services that have no limits.
fn limits(args: &DuelArgs, with_usual: Limits) -> Limits {
    let has_own = |side: &Side| {
        matches!(
            side.0.service,
            ServiceSource::Url(_) | ServiceSource::Deployment(_)
        )
    };
    match args.sides.iter().any(has_own) {
        true => service_load::named_limits(&args.asked),
        false => with_usual,
    }
}
