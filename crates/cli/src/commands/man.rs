//! `bakeoff man` and `bakeoff --help-all`: pages, made from the command line's own types.

use std::fs;
use std::io::Write as _;
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

/// Prints the help of the program and of all its commands.
pub(crate) fn help_all(mut program: Command) -> anyhow::Result<u8> {
    program.build();
    let mut output = std::io::stdout().lock();
    write!(output, "{}", program.render_long_help())?;
    let commands = program.get_subcommands_mut();
    for command in commands.filter(|one| !one.is_hide_set() && one.get_name() != "help") {
        // Exit statuses are the same for all.
        let mut command = command.clone().after_help("").after_long_help("");
        let name = command.get_name().to_uppercase();
        write!(output, "\n\n{name}\n\n{}", command.render_long_help())?;
    }
    Ok(exit::DONE)
}
