//! The command line: its commands, with a line on each.

#[cfg(test)]
mod documented;
#[cfg(test)]
mod headings;
#[cfg(target_os = "linux")]
mod linux;

use std::sync::LazyLock;

use clap::{CommandFactory as _, Parser, Subcommand};

use crate::commands::audit::AuditArgs;
use crate::commands::compare::CompareArgs;
use crate::commands::completions::CompletionsArgs;
use crate::commands::init::InitArgs;
use crate::commands::judge::JudgeArgs;
use crate::commands::man::ManArgs;
use crate::commands::rank::ReportArgs;
use crate::commands::report::DocumentsArgs;
use crate::commands::schema::SchemaArgs;
use crate::{commands, exit};
#[cfg(target_os = "linux")]
use linux::{Internal, Measure, Part, Prepare};

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
    #[cfg(target_os = "linux")]
    #[command(flatten)]
    Measure(Measure),
    /// Write a first suite: a template that runs, or the requests of a description.
    Init(Box<InitArgs>),
    #[cfg(target_os = "linux")]
    #[command(flatten)]
    Part(Part),
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
    #[cfg(target_os = "linux")]
    #[command(flatten)]
    Prepare(Prepare),
    /// Print the JSON Schema of a file format, or write all of them into a folder.
    Schema(SchemaArgs),
    /// Print the completions of a shell.
    Completions(CompletionsArgs),
    /// Print the man page, or write that of every command into a folder.
    Man(ManArgs),
    #[cfg(target_os = "linux")]
    #[command(flatten)]
    Internal(Internal),
}

impl Command {
    /// Carries the command out.
    pub(crate) fn run(self) -> anyhow::Result<u8> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Measure(command) => command.run(),
            Self::Init(args) => commands::init::init(&args),
            #[cfg(target_os = "linux")]
            Self::Part(command) => command.run(),
            Self::Report(args) => commands::report::report(&args),
            Self::Rank(args) => commands::rank::rank(&args),
            Self::Audit(args) => commands::audit::audit(&args),
            Self::Compare(args) => commands::compare::compare(&args),
            Self::Judge(args) => commands::judge::judge(&args),
            #[cfg(target_os = "linux")]
            Self::Prepare(command) => command.run(),
            Self::Schema(args) => commands::schema::schema(&args),
            Self::Completions(args) => commands::completions::completions(&args, Cli::command()),
            Self::Man(args) => commands::man::man(&args, Cli::command()),
            #[cfg(target_os = "linux")]
            Self::Internal(command) => command.run(),
        }
    }
}
