//! `bakeoff`, the command line. The only crate that prints.

mod args;
mod clock;
mod exit;
mod loader;
mod progress;
mod recorder;
mod session;

fn main() {}
