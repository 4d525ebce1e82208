//! `bakeoff man`: man pages, made from the command line's own types.

use std::fs;

use anyhow::Context as _;
use clap::CommandFactory as _;

use crate::args::{Cli, ManArgs};
use crate::exit;

/// Runs the command.
pub(crate) fn man(args: &ManArgs) -> anyhow::Result<u8> {
    match &args.write {
        Some(folder) => {
            fs::create_dir_all(folder).with_context(|| format!("{}", folder.display()))?;
            clap_mangen::generate_to(Cli::command(), folder)
                .with_context(|| format!("{}: cannot write the man pages", folder.display()))?;
        }
        None => clap_mangen::Man::new(Cli::command()).render(&mut std::io::stdout())?,
    }
    Ok(exit::DONE)
}
