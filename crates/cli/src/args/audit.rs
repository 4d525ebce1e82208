//! Arguments of `audit`.

use std::path::PathBuf;

use clap::Args;

/// The exit status of `audit`, for its help.
const AUDIT_HELP: &str = "\
Exit status 2 if a ranked number is not fair, or is impossible. Verdicts that differ without that
are listed and leave it at 0.";

#[derive(Debug, Args)]
#[command(after_long_help = AUDIT_HELP)]
pub(crate) struct AuditArgs {
    /// A results folder, a folder of rounds, or the folder of a suite.
    pub(crate) folder: PathBuf,
}
