//! Carries out a load order from standard input and prints its events as JSON Lines: the engine
//! alone, for benchmarks and for a look at it by hand.

use std::io::Write as _;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let spec = serde_json::from_reader(std::io::stdin().lock())?;
    let mut out = std::io::stdout().lock();
    let mut written = Ok(());
    bakeoff_load::run(&spec, &mut |_| true, &mut |event| {
        let line = serde_json::to_string(&event).expect("events are plain data");
        if written.is_ok() {
            written = writeln!(out, "{line}");
        }
    })?;
    Ok(written?)
}
