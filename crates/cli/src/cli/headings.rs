//! Tests that in the help of every command each option is under its own heading, and the short help
//! fits a screen.

use clap::{Args as _, Command, CommandFactory as _};

use super::Cli;
use crate::args::linux::ClusterArgs;
use crate::args::linux::cluster::HEADING;

/// The long options under a heading of a help text.
fn options_under(help: &str, heading: &str) -> Vec<String> {
    let lines = help
        .lines()
        .skip_while(|line| *line != format!("{heading}:"));
    let section = lines
        .skip(1)
        .take_while(|line| !line.ends_with(':') || line.starts_with(' '));
    // Descriptions are indented further.
    let begins = |line: &&str| line.starts_with("  -") || line.starts_with("      --");
    let options = section.filter(begins).filter_map(|line| {
        let mut words = line.split([' ', ',', '=', '[']);
        words
            .find_map(|word| word.strip_prefix("--"))
            .map(str::to_owned)
    });
    options.collect()
}

fn check(command: &mut Command, of_cluster: &[String]) -> usize {
    let name = command.get_name().to_owned();
    let options = command
        .get_arguments()
        .filter_map(|arg| arg.get_long().map(str::to_owned));
    let own: Vec<String> = options
        .filter(|option| of_cluster.contains(option))
        .collect();
    let short = command.render_help().to_string();
    assert!(!short.contains(HEADING), "bakeoff {name}:\n{short}");
    let help = command.render_long_help().to_string();
    let mut shown = options_under(&help, HEADING);
    shown.sort();
    let mut expect = own.clone();
    expect.sort();
    assert_eq!(shown, expect, "bakeoff {name}:\n{help}");
    let below = command
        .get_subcommands_mut()
        .map(|below| check(below, of_cluster));
    below.sum::<usize>() + usize::from(!own.is_empty())
}

#[test]
fn only_options_of_clusters_stand_under_their_heading() {
    let cluster = ClusterArgs::augment_args(Command::new("cluster"));
    let options = cluster
        .get_arguments()
        .filter_map(|arg| arg.get_long().map(str::to_owned));
    let options: Vec<String> = options.collect();
    let mut all = Cli::command();
    all.build();
    // run, verify, plan, record, doctor and duel.
    assert_eq!(check(&mut all, &options), 6);
}

/// Lines of a screen, at the width at which help is wrapped.
const SCREEN: usize = 50;

fn check_short(command: &mut Command) {
    let help = command.render_help().to_string();
    let (name, lines) = (command.get_name(), help.lines().count());
    assert!(lines <= SCREEN, "bakeoff {name}: {lines} lines\n{help}");
    command.get_subcommands_mut().for_each(check_short);
}

#[test]
fn the_short_help_of_each_command_fits_a_screen() {
    let mut all = Cli::command();
    all.build();
    check_short(&mut all);
}
