//! `bakeoff kubernetes` and what is started in Pods.

use std::io::Write as _;

use anyhow::Context as _;
use bakeoff_model::record::Cores;
use bakeoff_places::{ceiling, kubernetes};
use clap::{Args, Subcommand};

use crate::exit;

#[derive(Debug, Args)]
pub(crate) struct KubernetesArgs {
    #[command(subcommand)]
    pub(crate) action: KubernetesAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KubernetesAction {
    /// Print the least that a user must be allowed, for `kubectl apply -f -`.
    Manifest {
        /// For sessions that work in this namespace, with --cluster-namespace, and nowhere else.
        #[arg(long, value_name = "NAME")]
        namespace: Option<String>,
    },
}

/// Runs the command.
pub(crate) fn kubernetes(args: &KubernetesArgs) -> anyhow::Result<u8> {
    let KubernetesAction::Manifest { namespace } = &args.action;
    let manifest = kubernetes::manifest(namespace.as_deref());
    write!(std::io::stdout(), "{manifest}")?;
    Ok(exit::DONE)
}

/// Waits until it is ended. As the first process of a container it would not hear a signal that
/// nothing listens for.
pub(crate) fn pause() -> anyhow::Result<u8> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(super::signals::interrupted());
    // A Job makes a Pod again that failed, and not one that is done.
    Ok(exit::INTERRUPTED)
}

/// Measures the load engine on the cores that this Pod may use; one line of JSON.
pub(crate) fn ceiling() -> anyhow::Result<u8> {
    let program = std::env::current_exe().context("cannot find this program's own file")?;
    let ceiling = ceiling::measure(&program, &Cores::default())?;
    writeln!(std::io::stdout(), "{}", serde_json::to_string(&ceiling)?)?;
    Ok(exit::DONE)
}
