//! `bakeoff replay`: the replay backend itself, started by sessions as a separate process.

use anyhow::Context as _;
use bakeoff_model::suite::ReplaySettings;
use bakeoff_replay::{Recording, Replay, ReplayOptions};

use crate::args::ReplayArgs;

/// Serves until it is stopped.
pub(crate) fn replay(args: &ReplayArgs) -> anyhow::Result<u8> {
    let recording = Recording::read(&args.recordings)?;
    let options = ReplayOptions {
        settings: ReplaySettings {
            delay: args.delay,
            gzip: args.gzip,
            queue: args.queue,
        },
        unknown: args.unknown.clone(),
        count: args.count.clone(),
        seed: 0,
    };
    // One thread: its CPU time is then that of one core at most, and easy to judge.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let replay = Replay::bind(&recording, args.listen, &options)
            .await
            .with_context(|| format!("cannot listen on {}", args.listen))?;
        match replay.serve().await {}
    })
}
