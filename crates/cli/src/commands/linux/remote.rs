//! `bakeoff remote`: the part of a session in a Pod or on another host.

use bakeoff_places::remote::serve;
use bakeoff_places::this_host::process_options;

use crate::exit;

/// Serves requests until standard input ends.
pub(crate) fn remote() -> anyhow::Result<u8> {
    serve(process_options()?)?;
    Ok(exit::DONE)
}
