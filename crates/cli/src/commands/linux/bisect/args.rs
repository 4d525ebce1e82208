//! Arguments of `bisect`.

use std::path::PathBuf;

use bakeoff_model::plan::baseline::Condition;
use clap::Args;

use crate::args::linux::{AskedArgs, OutputArgs};
use crate::values::service::CommandWords;
use crate::values::{Range, Time};

/// Examples below the help of `bisect`.
const BISECT_HELP: &str = "\
First good and bad are measured against each other. Where bad is worse than --fail-if allows,
commits between them are built, started together with both and measured in turns, again and again,
until one commit has the change with a probability of 95 %. That one is then measured against the
commit before it, and the report of this last session says why it takes more.

Files come from the repository's objects: the working tree is not touched, and uncommitted changes
are ignored. A commit that does not build, start or respond as good does is skipped.
Of merges only the merge itself counts (--first-parent).

Examples:
  bakeoff bisect v1.4..main --build 'cargo build -r' --command target/release/shop --get /items
  bakeoff bisect v1.4..main --build 'mvn -q package' --command 'java -jar target/shop.jar' \\
      --get /items --fail-if 'slower>5%' --within 30m
  bakeoff bisect v1.4..main --command 'node server.js' --requests shop.http --ignore '$.time'";

#[derive(Debug, Args)]
#[command(
    override_usage = "bakeoff bisect [OPTIONS] --command <COMMAND> --get <PATH> <GOOD..BAD>",
    after_long_help = BISECT_HELP
)]
pub(crate) struct BisectArgs {
    /// A revision before the change and one after it; `GOOD..` ends at HEAD.
    #[arg(value_name = "GOOD..BAD")]
    pub(crate) range: Range,
    /// The command that starts the service of a commit, in this folder of the repository.
    ///
    /// Split into words as a shell does. The service listens on the port in PORT.
    #[arg(long, value_name = "COMMAND")]
    pub(crate) command: CommandWords,
    /// The command of the shell that builds a commit, in the same folder.
    #[arg(long, value_name = "COMMAND")]
    pub(crate) build: Option<String>,
    /// The condition that makes a commit bad: `slower>5%`, `cpu>5%`, `memory>10%`, `p50>10%` or
    /// `p99>20%`.
    #[arg(long, value_name = "CONDITION", default_value = "cpu>3%")]
    pub(crate) fail_if: Condition,
    #[command(flatten)]
    pub(crate) asked: AskedArgs,
    /// Say what the changed lines of the commit cost, by samples of stacks in one more run.
    ///
    /// Takes perf for programs that are not JVMs.
    #[arg(long)]
    pub(crate) profile_cpu: bool,
    /// Commits between good and bad that are alive concurrently.
    #[arg(
        long, value_name = "N", default_value_t = 4,
        value_parser = clap::value_parser!(u8).range(1..=32)
    )]
    pub(crate) at_once: u8,
    /// Start no further session after this time.
    #[arg(long, value_name = "TIME", default_value = "20m")]
    pub(crate) within: Time,
    /// Results folder [default: `results/bisect-TIME`].
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
