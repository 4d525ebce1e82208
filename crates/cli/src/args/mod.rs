//! The command line: names, shapes and the help of every command.

mod audit;
mod bisect;
mod cluster;
#[cfg(test)]
mod documented;
mod duel;
#[cfg(test)]
mod headings;
mod hosts;
mod imported;
mod init;
mod load;
mod servers;
mod service_load;
mod size;

use std::ffi::OsString;
use std::path::PathBuf;

use bakeoff_model::plan::baseline::Condition;
use bakeoff_model::suite::conditions::BackendName;
use bakeoff_model::suite::delay::Delay;
use bakeoff_model::text::database_url::DatabaseUrl;
use bakeoff_session::selection;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

use crate::exit;
use crate::formats;
use crate::values::{Collector, RuntimeKind, Time, Undecided};

pub(crate) use audit::AuditArgs;
pub(crate) use bisect::BisectArgs;
pub(crate) use cluster::{ClusterArgs, KubernetesAction, KubernetesArgs};
pub(crate) use duel::{DuelArgs, ImagesIn};
pub(crate) use hosts::HostArgs;
pub(crate) use imported::ImportedArgs;
pub(crate) use init::InitArgs;
pub(crate) use load::LoadArgs;
pub(crate) use servers::{NullServerArgs, ReplayArgs};
pub(crate) use service_load::AskedArgs;
pub(crate) use size::SizeArgs;

/// Benchmarks web frameworks as services under real limits, and says how sure it is.
#[derive(Debug, Parser)]
#[command(name = "bakeoff", version, about, max_term_width = 100, after_help = exit::HELP)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Measure contenders: build, start under limits, check, load, record, compare, report.
    Run(Box<RunArgs>),
    /// Measure services of your own against each other, without a suite.
    Duel(Box<DuelArgs>),
    /// Find the commit that made a service worse, by measuring some of a line of commits.
    Bisect(Box<BisectArgs>),
    /// Find the cheapest CPU and memory limits with which a service meets an objective at a rate.
    Size(Box<SizeArgs>),
    /// Write a first suite: a template that runs, or the requests of a description.
    Init(InitArgs),
    /// Check how contenders behave, without load.
    Verify(VerifyArgs),
    /// Start one contender and its backend under limits, and keep them running until Ctrl-C.
    Up(UpArgs),
    /// Load one URL and print rates and times.
    Load(Box<LoadArgs>),
    /// Show what `run` would do, in which order, where, and for how long.
    Plan(PlanArgs),
    /// List contenders, benchmarks, profiles, rounds, backends and check groups of a suite.
    List(ListArgs),
    /// Build contenders and print their receipts.
    Build(BuildArgs),
    /// Render the report of a results folder again.
    Report(DocumentsArgs),
    /// Print the ranked table of a results folder.
    Rank(ReportArgs),
    /// Check whether numbers are plausible: the records of a results folder by the current rules,
    /// or the published.toml of a suite by arithmetic.
    Audit(AuditArgs),
    /// Compare the cases that two results folders have in common.
    Compare(CompareArgs),
    /// Show what this machine can and cannot do for a fair measurement.
    Doctor(DoctorArgs),
    /// Record the exchanges of contenders with the real backend for the replay backend.
    Record(RecordArgs),
    /// Show what a cluster must allow for `--runtime kubernetes`.
    Kubernetes(KubernetesArgs),
    /// Print the JSON Schema of a file format, or write all of them into a folder.
    Schema(SchemaArgs),
    /// Print the completions of a shell.
    Completions(CompletionsArgs),
    /// Print the man page, or write that of every command into a folder.
    Man(ManArgs),
    /// Serve a session's requests in a Pod or on another host (started by `run --runtime
    /// kubernetes`, `--load-host` and `--contender-host`).
    #[command(hide = true)]
    Remote,
    /// Wait in a Pod until it is ended (started by `run --runtime kubernetes`).
    #[command(hide = true)]
    Pause,
    /// Measure the load engine at best, in a Pod or on another host (started by `run`).
    #[command(hide = true)]
    Ceiling,
    /// Send every request the same response, at once (started by `doctor --load` and `run`).
    #[command(hide = true)]
    NullServer(NullServerArgs),
    /// Serve recorded responses from memory (started by `run`; also useful by hand).
    #[command(hide = true)]
    Replay(ReplayArgs),
    /// Enter the given cgroups and become another program (started by the process runtime).
    #[command(hide = true, disable_help_flag = true)]
    Shim {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<OsString>,
    },
}

/// Reads a backend.
fn backend() -> impl TypedValueParser<Value = BackendName> {
    let names = BackendName::ALL.iter().map(|backend| backend.name());
    PossibleValuesParser::new(names).try_map(|name| name.parse())
}

/// The contenders and their runtime.
#[derive(Debug, Args)]
pub(crate) struct Selection {
    /// Folder of the suite.
    pub(crate) suite: PathBuf,
    /// Only contenders that match this glob; may be repeated.
    #[arg(long, value_name = "GLOB")]
    pub(crate) contender: Vec<String>,
    /// Where contenders run.
    #[arg(long, value_enum, default_value_t = RuntimeKind::Process)]
    pub(crate) runtime: RuntimeKind,
    /// The backend [default: the suite's].
    #[arg(long, value_name = "NAME", value_parser = backend())]
    pub(crate) backend: Option<BackendName>,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
    #[command(flatten)]
    pub(crate) hosts: HostArgs,
}

/// The parts of a suite that are measured, and how often.
#[derive(Debug, Args)]
pub(crate) struct MeasuredArgs {
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// How much to measure, under which limits.
    ///
    /// [default: the profile of the round, else `quick`]
    #[arg(long)]
    pub(crate) profile: Option<String>,
    /// Only benchmarks that match this glob; may be repeated.
    #[arg(long, value_name = "GLOB")]
    pub(crate) benchmark: Vec<String>,
    /// Repetitions instead of the profile's.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) runs: Option<u32>,
    /// Delay of each response of the replay backend.
    ///
    /// `none`, `recorded`, `constant:10ms`, `exponential:10ms` or `log-normal:10ms,0.5` [default:
    /// the suite's].
    #[arg(long, value_name = "DELAY")]
    pub(crate) backend_delay: Option<Delay>,
}

impl MeasuredArgs {
    /// Returns the selection in the session's type.
    pub(crate) fn selection(&self, seed: u64) -> selection::Selection {
        selection::Selection {
            contenders: self.selection.contender.clone(),
            benchmarks: self.benchmark.clone(),
            profile: self.profile.clone(),
            runtime: self.selection.runtime.into(),
            backend: self.selection.backend,
            backend_delay: self.backend_delay,
            runs: self.runs,
            seed,
        }
    }
}

/// A backend that runs already.
#[derive(Debug, Args)]
pub(crate) struct ServerArgs {
    /// A PostgreSQL of your own as the backend `postgres`.
    ///
    /// `postgres://ann:secret@db.example.org:5432`, instead of one that is started. Databases are
    /// made in it whose names start with `bakeoff_`, and dropped in the end; nothing else is
    /// touched. The user needs the right CREATEDB, and is the one that contenders log in as.
    /// Without a password in the URL, PGPASSWORD holds.
    #[arg(long, value_name = "URL")]
    pub(crate) backend_url: Option<DatabaseUrl>,
}

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
    /// Each case is loaded once more, under perf, a JVM under async-profiler or JFR. Processes
    /// and containers of this host only.
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

#[derive(Debug, Args)]
pub(crate) struct OutputArgs {
    /// Print only errors and the result.
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// Print every run, step and note, and all tables of the result.
    #[arg(long, short, conflicts_with_all = ["quiet", "json"])]
    pub(crate) verbose: bool,
    /// Print the session's events as JSON Lines and nothing else.
    ///
    /// `bakeoff schema event` prints their schema.
    #[arg(long)]
    pub(crate) json: bool,
    /// Send live metrics to a collector or Prometheus, by OTLP over HTTP.
    ///
    /// One export for each recorded slice, to `/v1/metrics` below this URL: http://127.0.0.1:4318
    /// of a collector, http://127.0.0.1:9090/api/v1/otlp of Prometheus. One that does not respond
    /// costs no measurement.
    #[arg(long, value_name = "URL", hide_short_help = true)]
    pub(crate) otlp: Option<Collector>,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    pub(crate) selection: Selection,
    #[command(flatten)]
    pub(crate) server: ServerArgs,
    /// Only this group of checks (`lifecycle` too); may be repeated.
    #[arg(long, value_name = "G")]
    pub(crate) group: Vec<String>,
    /// Check the service at this address instead of starting contenders.
    #[arg(long, value_name = "PREFIX")]
    pub(crate) url: Option<String>,
    /// Profile whose limits hold.
    #[arg(long, default_value = "quick")]
    pub(crate) profile: String,
    /// Print one JSON object per contender.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Examples below the help of `up`.
const UP_HELP: &str = "\
Examples:
  bakeoff up suites/locations --contender actix-4
  bakeoff up suites/locations --contender actix-4 --profile-cpu
  bakeoff up suites/locations --contender http4k-3 --profile-cpu=2m";

#[derive(Debug, Args)]
#[command(after_long_help = UP_HELP)]
pub(crate) struct UpArgs {
    /// Folder of the suite.
    pub(crate) suite: PathBuf,
    /// The contender.
    #[arg(long, value_name = "NAME")]
    pub(crate) contender: String,
    /// How the contender runs.
    #[arg(long, value_enum, default_value_t = RuntimeKind::Process)]
    pub(crate) runtime: RuntimeKind,
    /// The backend [default: the suite's].
    #[arg(long, value_name = "NAME", value_parser = backend())]
    pub(crate) backend: Option<BackendName>,
    #[command(flatten)]
    pub(crate) server: ServerArgs,
    /// Profile whose limits hold.
    #[arg(long, default_value = "quick")]
    pub(crate) profile: String,
    /// Draw a flame graph of the contender's CPU time.
    ///
    /// Into `flame-NAME.svg`, from its first response on for this long, or until Ctrl-C if that is
    /// earlier.
    #[arg(
        long, value_name = "TIME", num_args = 0..=1, require_equals = true,
        default_missing_value = "30s"
    )]
    pub(crate) profile_cpu: Option<Time>,
}

#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub(crate) measured: MeasuredArgs,
    /// Only this round of the suite; `all` for a line about each.
    #[arg(long, value_name = "NAME", conflicts_with = "contender")]
    pub(crate) round: Option<String>,
    /// Seed of the order of runs.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Print the plan as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the load spec of the first run of this contender, for `bakeoff load -`.
    #[arg(long, value_name = "CONTENDER")]
    pub(crate) case: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Folder of the suite.
    pub(crate) suite: PathBuf,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BuildArgs {
    /// Folder of the suite.
    pub(crate) suite: PathBuf,
    /// Only contenders that match this glob; may be repeated.
    #[arg(long, value_name = "GLOB")]
    pub(crate) contender: Vec<String>,
    /// Print receipts as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Results folder.
    pub(crate) results: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct DocumentsArgs {
    /// Results folders, or folders of several rounds. Claims of others are read over all folders of
    /// one suite that are named together.
    #[arg(required = true)]
    pub(crate) results: Vec<PathBuf>,
    /// Write also each chart as an SVG file into this folder; of several results into a folder of
    /// each.
    #[arg(long, value_name = "DIR")]
    pub(crate) svg: Option<PathBuf>,
    /// Write also a page in Markdown for each source of published results into this folder: their
    /// numbers with ours, and the verdict on each claim. Each is of the results that show it; of
    /// several that do, of the newest.
    #[arg(long, value_name = "DIR")]
    pub(crate) articles: Option<PathBuf>,
    /// Write also files for other tools into this folder; of several results into a folder of each.
    ///
    /// `bencher.json` (Bencher Metric Format), `otava.csv` (a row for Apache Otava), `badge.json`
    /// (an endpoint of shields.io), and response times as HdrHistogram has them: a log of each run
    /// (`.hlog`) and a distribution of each step (`.hgrm`).
    #[arg(long, value_name = "DIR")]
    pub(crate) exchange: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// Results folder that is compared with.
    pub(crate) first: PathBuf,
    /// Results folder that is compared.
    pub(crate) second: PathBuf,
    /// Compare even results of different conditions; the output says so.
    #[arg(long)]
    pub(crate) anyway: bool,
    /// Write the comparison also as a page, with a chart of the ratios.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Measure what the load engine can do here at best, for two seconds.
    #[arg(long)]
    pub(crate) load: bool,
    /// Look at the cluster, too.
    #[arg(long, value_enum)]
    pub(crate) runtime: Option<RuntimeKind>,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RecordArgs {
    #[command(flatten)]
    pub(crate) selection: Selection,
}

#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// The format [default: list all of them].
    #[arg(value_parser = PossibleValuesParser::new(formats::NAMES))]
    pub(crate) format: Option<String>,
    /// Write all schemas into this folder.
    #[arg(long, value_name = "DIR", conflicts_with = "format")]
    pub(crate) write: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell.
    pub(crate) shell: Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Write the pages of all commands into this folder.
    #[arg(long, value_name = "DIR")]
    pub(crate) write: Option<PathBuf>,
}
