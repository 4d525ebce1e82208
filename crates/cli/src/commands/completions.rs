//! `bakeoff completions`: what a shell can complete, made from the command line's own types.

use clap::{Args, Command};
use clap_complete::Shell;

use crate::exit;

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell.
    pub(crate) shell: Shell,
}

/// Runs the command; `program` is the command line of the whole program.
pub(crate) fn completions(args: &CompletionsArgs, mut program: Command) -> anyhow::Result<u8> {
    let name = program.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut program, name, &mut script);
    std::io::Write::write_all(&mut std::io::stdout(), &script)?;
    Ok(exit::DONE)
}
