//! `bakeoff shim`: enters cgroups and becomes a contender, started by the process runtime.

use std::ffi::OsString;

/// Becomes the program that the arguments name; returns only when that failed.
pub(crate) fn shim(args: &[OsString]) -> anyhow::Result<u8> {
    match bakeoff_places::local::shim_main(args.iter().cloned()) {
        Ok(never) => match never {},
        Err(error) => Err(error.into()),
    }
}
