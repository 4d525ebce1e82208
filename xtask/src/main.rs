//! Chores of the workspace: `cargo xtask tidy | test | verify | ci | deny | msrv | schema | site |
//! package`.

mod browser;
mod chores;
mod ci;
mod needs;
mod offline;
mod package;
mod site;
mod suites;
mod tidy;
mod workspace;

use std::io::Write as _;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use needs::Needs;

#[derive(Debug, Parser)]
#[command(about = "Chores of the bakeoff workspace")]
struct Cli {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Debug, Subcommand)]
enum Chore {
    /// Check lengths of lines, functions and files, import circles, files that must be equal, and
    /// that contenders which changed were verified.
    Tidy,
    /// Install or start what the tests need, run all tests, then check the suites end to end.
    Test {
        /// Verify all contenders of all suites, not only those that changed lately, or a sample.
        #[arg(long)]
        all: bool,
    },
    /// Build and verify contenders, and enter them into the ledger of their suite.
    ///
    /// Without a suite, those of all suites that changed since they were verified.
    Verify {
        /// The folder of a suite.
        suite: Option<String>,
        /// Names of its contenders [default: all].
        contenders: Vec<String>,
    },
    /// All of continuous integration: format, lints, tidy, scripts, documentation, dependencies,
    /// the oldest Rust, then `test`.
    Ci,
    /// Check licences, sources and advisories of the dependencies.
    Deny,
    /// Check that the workspace compiles with the oldest Rust that it promises.
    Msrv,
    /// Write the JSON Schemas into `docs/schema/`.
    Schema,
    /// Build the documentation site into `target/site/book`, check its links, open its reports.
    Site,
    /// Package all crates, install them into an empty prefix, and run the program from there.
    Package,
}

fn main() -> ExitCode {
    match chore() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Standard error may be gone too; nothing more can be reported then.
            let _ = writeln!(std::io::stderr(), "error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn chore() -> anyhow::Result<()> {
    let root = workspace::root();
    match Cli::parse().chore {
        Chore::Tidy => tidy::tidy(&root),
        Chore::Test { all } => {
            let contenders = match all {
                true => ci::Contenders::All,
                false => ci::Contenders::Sampled,
            };
            ci::test(&root, contenders, &Needs::read()?)
        }
        Chore::Verify { suite, contenders } => {
            ci::verify(&root, suite.as_deref(), &contenders, &Needs::read()?)
        }
        Chore::Ci => ci::ci(&root),
        Chore::Deny => ci::deny(&root),
        Chore::Msrv => ci::msrv(&root),
        Chore::Schema => ci::schema(&root),
        Chore::Site => ci::site(&root),
        Chore::Package => ci::package(&root),
    }
}
