//! Arguments of the servers that sessions start.

use std::net::SocketAddr;
use std::path::PathBuf;

use bakeoff_model::suite::delay::Delay;
use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct NullServerArgs {
    /// Address to listen on; with port 0, the one that was chosen is printed.
    #[arg(long, default_value = "127.0.0.1:0")]
    pub(crate) listen: SocketAddr,
    /// Length of the body, bytes.
    #[arg(long, default_value_t = 13)]
    pub(crate) body_bytes: usize,
    /// End when standard input does, and then print how many requests have come.
    #[arg(long)]
    pub(crate) until_input_ends: bool,
    /// CPU time that each response takes, microseconds.
    #[arg(long, default_value_t = 0)]
    pub(crate) work_us: u64,
    /// Cores that it may use, `0,2`.
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    pub(crate) cores: Vec<usize>,
}

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
