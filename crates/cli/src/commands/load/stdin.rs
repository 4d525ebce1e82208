//! `bakeoff load -`: the load generator of a session, driven through its standard input and output.

use std::cell::RefCell;
use std::io::{BufRead as _, Write as _};

use anyhow::Context as _;
use bakeoff_load::{Go, Stop};
use bakeoff_model::load::{LoadEvent, LoadSpec};

use crate::exit;

/// A line of a session that has the step that is done made again.
const AGAIN: &str = "again";

/// The beginning of a line of a session that has the window open at an instant, which follows as ns
/// since the Unix epoch. Any other line has the load go on.
const GO_AT: &str = "go at ";

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
    let misunderstood = RefCell::new(None);
    let result = bakeoff_load::run(
        &spec,
        &stop,
        &mut |_| {
            line.clear();
            let order = match input.read_line(&mut line) {
                Ok(0) | Err(_) => Ok(Go::End),
                Ok(_) => order(line.trim_end()),
            };
            order.unwrap_or_else(|why| {
                misunderstood.replace(Some(why));
                Go::End
            })
        },
        &mut |event| {
            // What was misunderstood is said last.
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

/// What a line has the load do.
fn order(line: &str) -> Result<Go, String> {
    if line == AGAIN {
        return Ok(Go::Again);
    }
    let Some(instant) = line.strip_prefix(GO_AT) else {
        return Ok(Go::On);
    };
    let unix_ns = instant.trim().parse().map(Go::At);
    unix_ns.map_err(|_| {
        format!("standard input: {line:?}: after `go at` come nanoseconds since the Unix epoch")
    })
}

#[cfg(test)]
mod tests {
    use bakeoff_load::Go;

    use super::order;

    #[test]
    fn lines_are_orders() {
        let check = |line: &str, expect: Result<Go, &str>| {
            let found = order(line);
            match (&found, expect) {
                (Ok(found), Ok(expect)) => assert_eq!(*found, expect, "{line:?}"),
                (Err(found), Err(expect)) => assert!(found.contains(expect), "{found}"),
                _ => panic!("{line:?}: {found:?}"),
            }
        };
        check("", Ok(Go::On));
        check("go", Ok(Go::On));
        check("again", Ok(Go::Again));
        check(
            "go at 1764000000123456789",
            Ok(Go::At(1_764_000_000_123_456_789)),
        );
        check("go at noon", Err("\"go at noon\": after `go at` come"));
        check("go at -1", Err("nanoseconds since"));
    }
}
