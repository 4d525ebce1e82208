//! Chores of the workspace: `cargo xtask tidy | test | ci | schema | docker-engine | base-images`.

mod base_images;
mod ci;
mod docker;
mod tidy;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
#[command(about = "Chores of the bakeoff workspace")]
struct Cli {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Debug, Subcommand)]
enum Chore {
    /// Check line, function and file lengths.
    Tidy,
    /// Install or start what the tests need, run all tests, then check the suites end to end.
    Test,
    /// All of continuous integration: format, lints, tidy, licences, then `test`.
    Ci,
    /// Write the JSON Schemas into `docs/schema/`.
    Schema,
    /// Install, start, stop or name the Docker engine.
    DockerEngine {
        /// What is to be done with it.
        action: docker::Action,
    },
    /// Make the base images without a registry.
    BaseImages,
}

fn main() -> ExitCode {
    match chore() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Standard error may be gone too; there is nobody left to tell then.
            let _ = writeln!(std::io::stderr(), "error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn chore() -> anyhow::Result<()> {
    let root = root();
    match Cli::parse().chore {
        Chore::Tidy => tidy::tidy(&root),
        Chore::Test => ci::test(&root),
        Chore::Ci => ci::ci(&root),
        Chore::Schema => ci::schema(&root),
        Chore::DockerEngine { action } => docker::docker_engine(action),
        Chore::BaseImages => base_images::base_images(),
    }
}

/// The root of the workspace.
fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).to_owned()
}

/// Prints a line; a closed pipe is nobody's fault.
fn say(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}
