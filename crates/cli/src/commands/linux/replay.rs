//! `bakeoff replay`: the replay backend itself, started by sessions as a separate process.

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::Context as _;
use bakeoff_model::suite::ReplaySettings;
use bakeoff_model::suite::delay::Delay;
use bakeoff_replay::{Recording, Replay, ReplayOptions};
use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// Folder of the recordings.
    #[arg(long)]
    pub(crate) recordings: PathBuf,
    /// Address to listen on.
    #[arg(long)]
    pub(crate) listen: SocketAddr,
    /// `none`, `recorded`, `constant:10ms`, `exponential:10ms` or `log-normal:10ms,0.5`.
    #[arg(long, default_value = "none")]
    pub(crate) delay: Delay,
    /// Compress responses for clients that accept gzip.
    #[arg(long)]
    pub(crate) gzip: bool,
    /// Respond with 429 while this number of requests is being worked on.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) queue: Option<u32>,
    /// Unknown requests are appended to this file.
    #[arg(long)]
    pub(crate) unknown: Option<PathBuf>,
    /// The path of a Unix socket to make, which reports the number of completed requests.
    #[arg(long)]
    pub(crate) count: Option<PathBuf>,
}

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
