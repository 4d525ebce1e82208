//! Arguments that several commands for Linux have.

pub(crate) mod cluster;
mod hosts;
mod service_load;

use std::path::PathBuf;

use bakeoff_model::suite::conditions::BackendName;
use bakeoff_model::suite::delay::Delay;
use bakeoff_model::text::database_url::DatabaseUrl;
use bakeoff_session::selection;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::values::{Collector, RuntimeKind};

pub(crate) use cluster::ClusterArgs;
pub(crate) use hosts::HostArgs;
pub(crate) use service_load::AskedArgs;

/// Reads a backend.
pub(crate) fn backend() -> impl TypedValueParser<Value = BackendName> {
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
