//! `bakeoff load -`: the load generator of a session, driven through its standard input and output.

use std::cell::RefCell;
use std::io::Write as _;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use anyhow::Context as _;
use bakeoff_load::{Go, Stop};
use bakeoff_model::load::{LoadEvent, LoadSpec, StepCommand};

use crate::exit;

/// Reads one load spec as a line of JSON, writes events as JSON Lines, and waits for a
/// [`StepCommand`] before each window when the spec says so.
pub(super) fn serve() -> anyhow::Result<u8> {
    let mut line = String::new();
    std::io::stdin()
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
    let commands = match spec.stepwise {
        true => commands(stop.clone())?,
        false => channel().1,
    };
    let misunderstood = RefCell::new(None);
    let result = bakeoff_load::run(
        &spec,
        &stop,
        &mut |_| match commands.recv() {
            Ok(Ok(go)) => go,
            Ok(Err(why)) => {
                misunderstood.replace(Some(why));
                Go::End
            }
            // The end of standard input.
            Err(_) => Go::End,
        },
        &mut |event| {
            // The line that was not understood is reported last.
            if misunderstood.borrow().is_none() && write(&event).is_err() {
                // The reader is gone, so the load need not go on.
                stop.stop();
            }
        },
    );
    let failure = misunderstood
        .into_inner()
        .or_else(|| commands.try_iter().find_map(Result::err))
        .or(result.err().map(|error| error.to_string()));
    if let Some(message) = failure {
        write(&LoadEvent::Failed { message })?;
        return Ok(exit::ERROR);
    }
    match stop.is_stopped() {
        true => Ok(exit::ERROR),
        false => Ok(exit::DONE),
    }
}

/// Reads the lines of standard input on a thread: some are about the step that is running. The
/// others are received one by one, or why a line cannot be understood. At its end the session is
/// gone, and the load ends with it.
fn commands(stop: Stop) -> anyhow::Result<Receiver<Result<Go, String>>> {
    let (sender, receiver) = channel();
    let reading = move || {
        read(&stop, &sender);
        stop.stop();
    };
    let reader = thread::Builder::new().name("commands".to_owned());
    reader
        .spawn(reading)
        .context("cannot start a thread that reads standard input")?;
    Ok(receiver)
}

fn read(stop: &Stop, sender: &Sender<Result<Go, String>>) {
    for line in std::io::stdin().lines().map_while(Result::ok) {
        let go = match line.parse() {
            Ok(StepCommand::Leave(side)) => {
                stop.stop_side(side);
                continue;
            }
            Ok(StepCommand::Go) => Ok(Go::On),
            Ok(StepCommand::GoAt(unix_ns)) => Ok(Go::At(unix_ns)),
            Ok(StepCommand::Again) => Ok(Go::Again),
            Err(why) => Err(format!("standard input: {why}")),
        };
        if sender.send(go).is_err() {
            return;
        }
    }
}
