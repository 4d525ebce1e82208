//! `bakeoff`, the command line: reads arguments, calls the libraries and shows the results.

// Values, texts and exit statuses of commands that need Linux.
#![cfg_attr(not(target_os = "linux"), allow(dead_code))]

mod args;
mod cli;
mod commands;
mod exit;
mod formats;
mod output;
mod values;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};
use cli::Cli;

fn main() -> ExitCode {
    if std::env::args_os().skip(1).eq(["--help-all"]) {
        return exit::code(commands::man::help_all(Cli::command()));
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return exit::usage(&error),
    };
    exit::code(cli.command.run())
}
