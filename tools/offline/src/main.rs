//! The requirements for measuring, made on a host without a registry:
//! `cargo offline docker-engine | base-images | cluster`. Continuous integration uses the same
//! commands.

mod base_images;
mod cluster;
mod docker_engine;
mod host;

use std::io::Write as _;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
#[command(
    bin_name = "cargo offline",
    about = "A Docker engine, base images and a Kubernetes cluster for hosts that reach no registry"
)]
struct Cli {
    #[command(subcommand)]
    tool: Tool,
}

#[derive(Debug, Subcommand)]
enum Tool {
    /// Install, start, stop or name the Docker engine.
    DockerEngine {
        /// The action.
        action: docker_engine::Action,
    },
    /// Make the base images without a registry.
    BaseImages,
    /// Build, start, stop or show a Kubernetes cluster for trying and for tests.
    Cluster {
        /// The action.
        action: cluster::Action,
    },
}

fn main() -> ExitCode {
    let done = match Cli::parse().tool {
        Tool::DockerEngine { action } => docker_engine::docker_engine(action),
        Tool::BaseImages => base_images::base_images(),
        Tool::Cluster { action } => cluster::cluster(action),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Standard error may be gone too; nothing more can be reported then.
            let _ = writeln!(std::io::stderr(), "error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
