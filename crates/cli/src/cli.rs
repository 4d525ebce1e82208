//! The command line: its commands, with a line on each.

#[cfg(test)]
mod documented;
#[cfg(test)]
mod headings;

use std::ffi::OsString;
use std::sync::LazyLock;

use clap::{Parser, Subcommand};

use crate::commands::audit::AuditArgs;
use crate::commands::bisect::BisectArgs;
use crate::commands::build::BuildArgs;
use crate::commands::capture::CaptureArgs;
use crate::commands::compare::CompareArgs;
use crate::commands::completions::CompletionsArgs;
use crate::commands::doctor::DoctorArgs;
use crate::commands::duel::DuelArgs;
use crate::commands::init::InitArgs;
use crate::commands::judge::JudgeArgs;
use crate::commands::kubernetes::KubernetesArgs;
use crate::commands::list::ListArgs;
use crate::commands::load::LoadArgs;
use crate::commands::man::ManArgs;
use crate::commands::null_server::NullServerArgs;
use crate::commands::plan::PlanArgs;
use crate::commands::rank::ReportArgs;
use crate::commands::record::RecordArgs;
use crate::commands::replay::ReplayArgs;
use crate::commands::report::DocumentsArgs;
use crate::commands::run::RunArgs;
use crate::commands::schema::SchemaArgs;
use crate::commands::size::SizeArgs;
use crate::commands::up::UpArgs;
use crate::commands::verify::VerifyArgs;
use crate::exit;

/// The version, and the commit that packages are made of.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let commit = option_env!("BAKEOFF_COMMIT").map(|commit| format!(" ({commit})"));
    format!(
        "{}{}",
        env!("CARGO_PKG_VERSION"),
        commit.unwrap_or_default()
    )
});

/// Benchmarks web frameworks as services under real limits, and says how sure it is.
#[derive(Debug, Parser)]
#[command(name = "bakeoff", version = VERSION.as_str(), about)]
#[command(max_term_width = 100, after_help = exit::HELP)]
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
    /// Capture what clients ask a running service, as a suite with the times of its requests.
    Capture(CaptureArgs),
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
    /// Judge numbers that others measured: values in blocks, or what hyperfine, Go, criterion and
    /// k6 write.
    Judge(JudgeArgs),
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
