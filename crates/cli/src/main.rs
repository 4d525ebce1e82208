//! `bakeoff`, the command line. The only crate that prints.

mod args;
mod ceiling;
mod clock;
mod closed_loop;
mod commands;
mod condition;
mod exit;
mod loader;
mod progress;
mod recorder;
mod session;
mod suite_folder;
mod symptoms;

use std::process::ExitCode;

use clap::Parser as _;

use args::{Cli, Command};

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(told) => return exit::usage(&told),
    };
    exit::code(match cli.command {
        Command::Run(args) => commands::run::run(&args),
        Command::Verify(args) => commands::verify::verify(&args),
        Command::Load(args) => commands::load::load(&args),
        Command::Plan(args) => commands::plan::plan(&args),
        Command::List(args) => commands::list::list(&args),
        Command::Build(args) => commands::build::build(&args),
        Command::Report(args) => commands::report::report(&args),
        Command::Rank(args) => commands::report::rank(&args),
        Command::Compare(args) => commands::compare::compare(&args),
        Command::Doctor(args) => commands::doctor::doctor(&args),
        Command::Record(args) => commands::record::record(&args),
        Command::Schema(args) => commands::schema::schema(&args),
        Command::NullServer(args) => commands::null_server::null_server(&args),
        Command::Replay(args) => commands::replay::replay(&args),
        Command::Shim { args } => commands::shim(&args),
    })
}
