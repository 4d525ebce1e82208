//! `bakeoff report`: renders the documents of a results folder again.

use std::io::Write as _;

use bakeoff_session::store::results;

use super::rank::folders;
use crate::args::ReportArgs;
use crate::exit;
use crate::output::documents;

/// Runs the command.
pub(crate) fn report(args: &ReportArgs) -> anyhow::Result<u8> {
    for folder in folders(&args.results)? {
        documents::write(&folder, &results::read(&folder)?)?;
        writeln!(std::io::stdout(), "{}", documents::page(&folder).display())?;
    }
    Ok(exit::DONE)
}
