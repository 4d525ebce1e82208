//! Commands that need Linux, in the groups in which the help lists them. Their enums have no
//! documentation, because it would be the help of the program.

use std::ffi::OsString;

use clap::Subcommand;

use crate::commands::linux;
use crate::commands::linux::bisect::BisectArgs;
use crate::commands::linux::build::BuildArgs;
use crate::commands::linux::capture::CaptureArgs;
use crate::commands::linux::doctor::DoctorArgs;
use crate::commands::linux::duel::DuelArgs;
use crate::commands::linux::kubernetes::KubernetesArgs;
use crate::commands::linux::list::ListArgs;
use crate::commands::linux::load::LoadArgs;
use crate::commands::linux::null_server::NullServerArgs;
use crate::commands::linux::plan::PlanArgs;
use crate::commands::linux::record::RecordArgs;
use crate::commands::linux::replay::ReplayArgs;
use crate::commands::linux::run::RunArgs;
use crate::commands::linux::size::SizeArgs;
use crate::commands::linux::up::UpArgs;
use crate::commands::linux::verify::VerifyArgs;

// They measure.
#[derive(Debug, Subcommand)]
pub(crate) enum Measure {
    /// Measure contenders: build, start under limits, check, load, record, compare, report.
    Run(Box<RunArgs>),
    /// Measure services of your own against each other, without a suite.
    Duel(Box<DuelArgs>),
    /// Find the commit that made a service worse, by measuring some of a line of commits.
    Bisect(Box<BisectArgs>),
    /// Find the cheapest CPU and memory limits with which a service meets an objective at a rate.
    Size(Box<SizeArgs>),
}

impl Measure {
    pub(super) fn run(self) -> anyhow::Result<u8> {
        match self {
            Self::Run(args) => linux::run::run(*args),
            Self::Duel(args) => linux::duel::duel(&args),
            Self::Bisect(args) => linux::bisect::bisect(&args),
            Self::Size(args) => linux::size::size(&args),
        }
    }
}

// They do a part of it.
#[derive(Debug, Subcommand)]
pub(crate) enum Part {
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
}

impl Part {
    pub(super) fn run(self) -> anyhow::Result<u8> {
        match self {
            Self::Verify(args) => linux::verify::verify(&args),
            Self::Up(args) => linux::up::up(&args),
            Self::Load(args) => linux::load::load(&args),
            Self::Capture(args) => linux::capture::capture(&args),
            Self::Plan(args) => linux::plan::plan(&args),
            Self::List(args) => linux::list::list(&args),
            Self::Build(args) => linux::build::build(&args),
        }
    }
}

// They prepare it.
#[derive(Debug, Subcommand)]
pub(crate) enum Prepare {
    /// Show what this machine can and cannot do for a fair measurement.
    Doctor(DoctorArgs),
    /// Record the exchanges of contenders with the real backend for the replay backend.
    Record(RecordArgs),
    /// Show what a cluster must allow for `--runtime kubernetes`.
    Kubernetes(KubernetesArgs),
}

impl Prepare {
    pub(super) fn run(self) -> anyhow::Result<u8> {
        match self {
            Self::Doctor(args) => linux::doctor::doctor(&args),
            Self::Record(args) => linux::record::record(&args),
            Self::Kubernetes(args) => linux::kubernetes::kubernetes(&args),
        }
    }
}

// The program starts them itself.
#[derive(Debug, Subcommand)]
pub(crate) enum Internal {
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

impl Internal {
    pub(super) fn run(self) -> anyhow::Result<u8> {
        match self {
            Self::Remote => linux::remote::remote(),
            Self::Pause => linux::kubernetes::pause(),
            Self::Ceiling => linux::kubernetes::ceiling(),
            Self::NullServer(args) => linux::null_server::null_server(&args),
            Self::Replay(args) => linux::replay::replay(&args),
            Self::Shim { args } => linux::shim::shim(&args),
        }
    }
}
