//! `bakeoff man`: man pages, made from the command line's own types.

use std::fs;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, Command};

use crate::exit;

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Write the pages of all commands into this folder.
    #[arg(long, value_name = "DIR")]
    pub(crate) write: Option<PathBuf>,
}

/// Runs the command; `program` is the command line of the whole program.
pub(crate) fn man(args: &ManArgs, program: Command) -> anyhow::Result<u8> {
    match &args.write {
        Some(folder) => {
            fs::create_dir_all(folder).with_context(|| format!("{}", folder.display()))?;
            clap_mangen::generate_to(program, folder)
                .with_context(|| format!("{}: cannot write the man pages", folder.display()))?;
        }
        None => clap_mangen::Man::new(program).render(&mut std::io::stdout())?,
    }
    Ok(exit::DONE)
}
