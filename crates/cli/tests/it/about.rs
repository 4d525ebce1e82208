//! Texts of the command line about itself.

use crate::world::World;

#[test]
fn shells_complete_every_command() {
    let world = World::new(&[]);
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let ran = world.run(&format!("completions {shell}"));
        ran.check(0, &["verify", "fail-if"]);
    }
    world
        .run("completions csh")
        .check(1, &["csh", "possible values"]);
}

#[test]
fn every_command_has_a_man_page() {
    let world = World::new(&[]);
    world
        .run("man")
        .check(0, &[".TH bakeoff", "Exit status", "completions"]);
    world.run("man --write pages").check(0, &[]);
    for page in ["bakeoff.1", "bakeoff-run.1", "bakeoff-load.1"] {
        assert!(!world.read(&format!("pages/{page}")).is_empty(), "{page}");
    }
}

#[test]
fn help_fits_the_usual_terminal() {
    let world = World::new(&[]);
    world
        .run("--help-all")
        .check(0, &["RUN", "JUDGE", "--fail-if", "Exit status"]);
    for about in ["--help", "run --help", "load --help", "duel --help"] {
        let mut command = world.command(about);
        let output = command.env("COLUMNS", "80").output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(!text.is_empty(), "{about}");
        for line in text.lines() {
            assert!(line.chars().count() <= 80, "{about}: {line}");
        }
    }
}
