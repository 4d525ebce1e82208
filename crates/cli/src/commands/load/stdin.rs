//! `bakeoff load -`: the load generator of a session, driven through its standard input and output.

use std::cell::RefCell;
use std::io::{BufRead as _, Write as _};

use anyhow::Context as _;
use bakeoff_load::{Go, Stop};
use bakeoff_model::load::{LoadEvent, LoadSpec, StepCommand};

use crate::exit;

/// Reads one load spec as a line of JSON, writes events as JSON Lines, and waits for a
/// [`StepCommand`] before each window when the spec says so.
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
    let misunderstood = RefCell::new(None);
    let result = bakeoff_load::run(
        &spec,
        &stop,
        &mut |_| {
            line.clear();
            let command = match input.read_line(&mut line) {
                Ok(0) | Err(_) => return Go::End,
                Ok(_) => line.trim_end().parse::<StepCommand>(),
            };
            command.map_or_else(
                |why| {
                    misunderstood.replace(Some(format!("standard input: {why}")));
                    Go::End
                },
                Go::from,
            )
        },
        &mut |event| {
            // The line that was not understood is reported last.
            if misunderstood.borrow().is_none() && write(&event).is_err() {
                // The reader is gone, so the load need not go on.
                stop.stop();
            }
        },
    );
    if stop.is_stopped() {
        return Ok(exit::ERROR);
    }
    let failure = misunderstood
        .into_inner()
        .or(result.err().map(|error| error.to_string()));
    if let Some(message) = failure {
        write(&LoadEvent::Failed { message })?;
        return Ok(exit::ERROR);
    }
    Ok(exit::DONE)
}
