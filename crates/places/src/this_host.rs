//! This host, whatever runs the contenders: backends run here, and sessions leave things here when
//! they are killed.

use std::ffi::OsString;

use anyhow::Context as _;
use bakeoff_base::hint::{hinted, with_hints};

use crate::local::{ProcessOptions, ProcessRuntime, port_is_free};
use crate::sweep::{self, trees_folder};
use crate::{Runtime as _, StartError};

/// Removes what dead sessions left on this host; one line a thing.
pub(super) async fn swept(process: &ProcessRuntime) -> anyhow::Result<Vec<String>> {
    let mut removed = process.sweep().await?;
    removed.extend(sweep::sweep_folders(&trees_folder()));
    Ok(removed)
}

/// The runtime of local processes, entering their cgroups through this very binary.
///
/// # Errors
/// No folder for temporary files can be made.
pub fn process_runtime() -> anyhow::Result<ProcessRuntime> {
    let runtime = ProcessRuntime::new(process_options()?);
    runtime.context("cannot make a folder for temporary files")
}

/// How local processes are started by this very binary.
///
/// # Errors
/// This program's own file is gone.
pub fn process_options() -> anyhow::Result<ProcessOptions> {
    let shim = std::env::current_exe().context("cannot find this program's own file")?;
    Ok(ProcessOptions {
        shim,
        shim_args: vec![OsString::from("shim")],
        run_base: sweep::run_base(),
    })
}

/// Fails if processes could not listen on a port, with what to do if another one does.
pub fn free(label: &str, port: u16, taken: &str) -> anyhow::Result<()> {
    port_is_free(label, port).map_err(|error| match error {
        StartError::PortInUse { .. } => hinted(error, taken),
        other => with_hints(other),
    })
}
