//! `bakeoff run`: a session, or all rounds of a suite, from arguments to an exit status.

use std::path::PathBuf;

use anyhow::Context as _;
use bakeoff_model::plan::baseline::Condition;
use bakeoff_model::record::Purpose;
use bakeoff_session::baseline::BaselineRequest;
use bakeoff_session::clock;
use bakeoff_session::opening::{NewSession, SessionRequest};
use bakeoff_session::session::{Audience, SessionOutcome};
use bakeoff_session::sitting::Sitting;
use bakeoff_store::options::SessionOptions;
use bakeoff_workflows::entry::run as run_session;
use clap::Args;

use super::signals::interrupted;
use crate::args::linux::{MeasuredArgs, OutputArgs, ServerArgs};
use crate::exit;
use crate::output::session;
use crate::values::{Time, Undecided};

/// Examples below the help of `run`.
const RUN_HELP: &str = "\
Examples:
  bakeoff run suites/locations --contender axum --runs 5
  bakeoff run shop --profile standard --out results/today
  bakeoff run shop --baseline main --fail-if 'slower>5%' --fail-if 'memory>10%'
  bakeoff run shop --baseline ../shop-1.4/shop --contender 'api*'";

#[derive(Debug, Args)]
#[command(after_long_help = RUN_HELP)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) measured: MeasuredArgs,
    #[command(flatten)]
    pub(crate) server: ServerArgs,
    /// Seed of the order of runs [default: random, and recorded].
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Length of a recorded slice instead of the profile's.
    ///
    /// `100ms`, or `1h` for one slice a step.
    #[arg(long, value_name = "TIME")]
    pub(crate) slice: Option<Time>,
    /// Results folder [default: `results/SUITE-TIME`].
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Run this round of the suite, or all rounds of this group.
    ///
    /// `all` runs the qualification rounds, then the others with the winners.
    #[arg(long, value_name = "NAME|GROUP", conflicts_with = "contender")]
    pub(crate) round: Option<String>,
    /// Draw a flame graph of each case after the measured runs.
    ///
    /// Each case is loaded once more, under perf, a JVM under async-profiler, perf or JFR.
    /// Processes and containers of this host only. With --baseline, the report says what changed
    /// lines cost.
    #[arg(long)]
    pub(crate) profile_cpu: bool,
    /// Compare each contender with its earlier version.
    ///
    /// In another folder of the suite, or at a revision of the git repository that has it (`main`,
    /// `HEAD~1`, `v1.4`). Both are built, and measured in turns in this session.
    #[arg(long, value_name = "DIR|REVISION", conflicts_with = "round")]
    pub(crate) baseline: Option<String>,
    /// Exit with status 3 if this regression is significant, e.g. `slower>5%`.
    ///
    /// `slower>5%` (requests per second), `cpu>5%` (per request), `memory>10%`, `p50>10%`,
    /// `p99>20%`, or `errors>0.1%` (of all requests); may be repeated.
    #[arg(long, value_name = "CONDITION", requires = "baseline")]
    pub(crate) fail_if: Vec<Condition>,
    /// The outcome if a condition is undecided.
    ///
    /// The more sets of processes, the fewer conditions are undecided.
    #[arg(long, value_enum, default_value_t = Undecided::Pass, requires = "fail_if")]
    pub(crate) undecided: Undecided,
    /// Time limit for measuring head and base.
    ///
    /// Builds do not count. The session ends as soon as every condition is decided, or this time
    /// is over.
    #[arg(
        long,
        value_name = "TIME",
        requires = "baseline",
        conflicts_with = "runs"
    )]
    pub(crate) within: Option<Time>,
    /// Finish the interrupted session of this results folder.
    ///
    /// In a folder of rounds, finish all of them.
    #[arg(
        long,
        value_name = "DIR",
        conflicts_with_all = [
            "out", "seed", "runs", "benchmark", "contender", "slice", "round", "backend_delay",
            "profile_cpu",
            "backend_url", "contender_host", "load_host",
            "baseline", "undecided",
        ]
    )]
    pub(crate) resume: Option<PathBuf>,
    /// Measure for this long, then report the remaining runs for `--resume`.
    ///
    /// The session stops before the run, or the set of processes, that would not fit.
    #[arg(long = "for", value_name = "TIME")]
    pub(crate) sitting: Option<Time>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Runs the command.
pub(crate) fn run(args: RunArgs) -> anyhow::Result<u8> {
    let mut watcher = session::watcher(&args.output)?;
    let mut audience = Audience {
        watcher: &mut *watcher,
        interruption: || Box::pin(interrupted()),
        sitting: args.sitting.map(|length| Sitting::of(length.0)),
    };
    let runtime = tokio::runtime::Runtime::new().context("cannot start the async runtime")?;
    let ended = runtime.block_on(run_session(&order(args), &mut audience))?;
    Ok(status(ended))
}

/// The exit status of a session that ended so.
pub(super) fn status(ended: SessionOutcome) -> u8 {
    match ended {
        SessionOutcome::Completed => exit::DONE,
        SessionOutcome::ConditionHolds => exit::CONDITION,
        SessionOutcome::WithFailures => exit::CHECK_FAILED,
        SessionOutcome::Left => exit::LEFT,
        SessionOutcome::Interrupted => exit::INTERRUPTED,
    }
}

/// Returns the order that the arguments ask for.
pub(crate) fn order(args: RunArgs) -> SessionRequest {
    if let Some(folder) = args.resume {
        let selection = args.measured.selection;
        let cluster = Box::new(selection.cluster.settings());
        let suite = selection.suite;
        return SessionRequest::Resume {
            suite,
            folder,
            cluster,
        };
    }
    let new = NewSession {
        selection: args
            .measured
            .selection(args.seed.unwrap_or_else(clock::fresh_seed)),
        options: SessionOptions {
            purpose: Purpose::Suite,
            slice: args.slice.map(|slice| slice.0),
            flame_graphs: args.profile_cpu,
            revisions: None,
            backend_url: args.server.backend_url,
            cluster: args.measured.selection.cluster.settings(),
            hosts: args.measured.selection.hosts.hosts(),
        },
        out: args.out,
        locked: None,
        round: args.round,
        baseline: args.baseline.map(|name| BaselineRequest {
            name,
            fail_if: args.fail_if,
            undecided_fails: args.undecided == Undecided::Fail,
            within: args.within.map(|within| within.0),
        }),
    };
    SessionRequest::Begin(args.measured.selection.suite, Box::new(new))
}
