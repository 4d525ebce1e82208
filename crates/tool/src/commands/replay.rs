//! `bakeoff replay`: the replay backend itself, started by sessions as a process of its own.

use std::net::SocketAddr;

use anyhow::{Context as _, bail};
use bakeoff_model::parse;
use bakeoff_runtime::backend::replay::{Delay, Replay};

use crate::args::ReplayArgs;

/// Serves until it is stopped.
pub(crate) fn replay(args: &ReplayArgs) -> anyhow::Result<u8> {
    let delay = delay(&args.delay)?;
    let listen: SocketAddr = args
        .listen
        .parse()
        .with_context(|| format!("--listen {}: not ADDRESS:PORT", args.listen))?;
    let replay =
        Replay::read(&args.recordings, delay, args.unknown.clone()).map_err(anyhow::Error::msg)?;
    // One thread: its CPU time is then that of one core at most, and easy to judge.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    match runtime.block_on(replay.serve(listen)) {
        Ok(never) => match never {},
        Err(error) => bail!("cannot listen on {listen}: {error}"),
    }
}

fn delay(text: &str) -> anyhow::Result<Delay> {
    let wrong = "known: none, recorded, constant:10ms, exponential:10ms";
    let duration =
        |text: &str| parse::duration(text).map_err(|message| anyhow::anyhow!("--delay: {message}"));
    Ok(match text.split_once(':') {
        None if text == "none" => Delay::None,
        None if text == "recorded" => Delay::Recorded,
        Some(("constant", rest)) => Delay::Constant(duration(rest)?),
        Some(("exponential", rest)) => Delay::Exponential(duration(rest)?),
        _ => bail!("--delay: unknown {text}\n  hint: {wrong}"),
    })
}
