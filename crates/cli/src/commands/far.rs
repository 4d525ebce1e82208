//! `bakeoff far`: the part of a session on another host.

use bakeoff_places::ssh;
use bakeoff_places::this_host::process_options;

use crate::exit;

/// Serves requests until standard input ends.
pub(crate) fn far() -> anyhow::Result<u8> {
    ssh::serve(process_options()?)?;
    Ok(exit::DONE)
}
