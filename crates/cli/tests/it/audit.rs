//! `audit` on results and on a suite.

use std::fs;
use std::path::Path;

use crate::world::World;

#[test]
fn results_are_judged_again() {
    let world = World::new(&["overloaded"]);
    world
        .run("run SUITE --profile tiny --out OUT")
        .check(0, &[]);
    // Its output today equals the output at the time.
    world.run("audit OUT").check(0, &["nothing was found"]);
    // It becomes a good number.
    for entry in fs::read_dir(world.out().join("records")).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let lines = text
            .lines()
            .map(|line| match line.split_once("\"validity\":") {
                Some((rest, _)) if line.contains("\"record\":\"interval\"") => {
                    format!("{rest}\"validity\":{{\"validity\":\"fair\",\"reasons\":[]}}}}\n")
                }
                _ => format!("{line}\n"),
            });
        fs::write(&path, lines.collect::<String>()).unwrap();
    }
    world.run("audit OUT").check(
        2,
        &[
            "was ranked, and is not fair by today's rules",
            "item, overloaded, run 1: at 4 connections: invalid: ",
            "slices recorded as fair are invalid now",
        ],
    );
}

#[test]
fn published_figures_that_cannot_be_are_named() {
    let world = World::new(&[]);
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suites/locations");
    let ran = world.run(&format!("audit {}", suite.display()));
    ran.check(
        2,
        &[
            "cannot be",
            "at 2048 connections each of 3 contenders had 1031 errors",
            "at 1024 connections each of 3 contenders had 7 errors",
            "the remaining 1017",
            "Actix Web 2: a start-up of 1.9 ms",
            "http4k 3 on Undertow: 3539 requests/s",
        ],
    );
    world
        .run("audit run")
        .check(1, &["neither results nor a suite"]);
}
