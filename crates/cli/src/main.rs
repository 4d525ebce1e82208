//! `bakeoff`, the command line: reads arguments, calls the libraries and shows the results.

mod args;
mod cli;
mod commands;
mod exit;
mod formats;
mod output;
mod values;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};
use cli::{Cli, Command};

fn main() -> ExitCode {
    if std::env::args_os().skip(1).eq(["--help-all"]) {
        return exit::code(commands::man::help_all(Cli::command()));
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return exit::usage(&error),
    };
    exit::code(match cli.command {
        Command::Run(args) => commands::run::run(*args),
        Command::Duel(args) => commands::duel::duel(&args),
        Command::Bisect(args) => commands::bisect::bisect(&args),
        Command::Size(args) => commands::size::size(&args),
        Command::Init(args) => commands::init::init(&args),
        Command::Verify(args) => commands::verify::verify(&args),
        Command::Up(args) => commands::up::up(&args),
        Command::Load(args) => commands::load::load(&args),
        Command::Plan(args) => commands::plan::plan(&args),
        Command::List(args) => commands::list::list(&args),
        Command::Build(args) => commands::build::build(&args),
        Command::Report(args) => commands::report::report(&args),
        Command::Rank(args) => commands::rank::rank(&args),
        Command::Audit(args) => commands::audit::audit(&args),
        Command::Compare(args) => commands::compare::compare(&args),
        Command::Judge(args) => commands::judge::judge(&args),
        Command::Doctor(args) => commands::doctor::doctor(&args),
        Command::Capture(args) => commands::capture::capture(&args),
        Command::Record(args) => commands::record::record(&args),
        Command::Schema(args) => commands::schema::schema(&args),
        Command::Completions(args) => commands::completions::completions(&args, Cli::command()),
        Command::Man(args) => commands::man::man(&args, Cli::command()),
        Command::Kubernetes(args) => commands::kubernetes::kubernetes(&args),
        Command::Remote => commands::remote::remote(),
        Command::Pause => commands::kubernetes::pause(),
        Command::Ceiling => commands::kubernetes::ceiling(),
        Command::NullServer(args) => commands::null_server::null_server(&args),
        Command::Replay(args) => commands::replay::replay(&args),
        Command::Shim { args } => commands::shim::shim(&args),
    })
}
