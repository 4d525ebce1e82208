//! `bakeoff load -`: the load generator of a session, driven through its standard input and output.

use std::io::{BufRead as _, Write as _};

use anyhow::Context as _;
use bakeoff_load::{Go, Stop};
use bakeoff_model::load::{LoadEvent, LoadSpec};

use crate::exit;

/// A line of a session that has the step that is done made again; any other has the load go on.
const AGAIN: &str = "again";

/// Reads one load spec as a line of JSON, writes events as JSON Lines, and waits for a line before
/// each window when the spec says so.
pub(super) fn serve() -> anyhow::Result<u8> {
    let mut input = std::io::stdin().lock();
    let mut line = String::new();
    input
        .read_line(&mut line)
        .context("cannot read the load spec")?;
    let spec: LoadSpec = serde_json::from_str(&line)
        .context("standard input: the first line is not a load spec as JSON")?;
    let mut output = std::io::stdout().lock();
    let stop = Stop::default();
    let mut write = |event: &LoadEvent| -> anyhow::Result<()> {
        let mut line = serde_json::to_vec(event)?;
        line.push(b'\n');
        output.write_all(&line)?;
        output.flush()?;
        Ok(())
    };
    let result = bakeoff_load::run(
        &spec,
        &stop,
        &mut |_| {
            line.clear();
            match input.read_line(&mut line) {
                Ok(0) | Err(_) => Go::End,
                Ok(_) if line.trim_end() == AGAIN => Go::Again,
                Ok(_) => Go::On,
            }
        },
        &mut |event| {
            if write(&event).is_err() {
                // The reader is gone, so the load need not go on.
                stop.stop();
            }
        },
    );
    if stop.is_stopped() {
        return Ok(exit::ERROR);
    }
    if let Err(error) = result {
        write(&LoadEvent::Failed {
            message: error.to_string(),
        })?;
        return Ok(exit::ERROR);
    }
    Ok(exit::DONE)
}
