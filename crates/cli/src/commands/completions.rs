//! `bakeoff completions`: what a shell can complete, made from the command line's own types.

use clap::CommandFactory as _;

use crate::args::{Cli, CompletionsArgs};
use crate::exit;

/// Runs the command.
pub(crate) fn completions(args: &CompletionsArgs) -> anyhow::Result<u8> {
    let mut command = Cli::command();
    let name = command.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, name, &mut script);
    std::io::Write::write_all(&mut std::io::stdout(), &script)?;
    Ok(exit::DONE)
}
