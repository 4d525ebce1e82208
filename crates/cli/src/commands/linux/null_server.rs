//! `bakeoff null-server`: the server against which the engine's own ceiling is measured.

use std::io::Write as _;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::Context as _;
use bakeoff_load::NullServer;
use clap::Args;

use super::signals::interrupted;
use crate::exit;

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

/// Ends the process when its parent is gone, even if killed, and says how many requests
/// have come.
fn end_with_input(requests: &AtomicU64) {
    // An error is an end as well.
    let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
    end(requests);
}

/// Ends the process on a signal, with the same report: in a container no other process handles it.
fn end_when_told(requests: &AtomicU64) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    if let Ok(runtime) = runtime {
        runtime.block_on(interrupted());
        end(requests);
    }
}

/// Waits for an end on a thread.
fn ended_by(wait: fn(&AtomicU64), requests: &Arc<AtomicU64>) -> anyhow::Result<()> {
    let requests = requests.clone();
    let thread = std::thread::Builder::new().spawn(move || wait(&requests));
    thread.map(drop).context("cannot start a thread")
}

fn end(requests: &AtomicU64) {
    let requests = requests.load(Ordering::Relaxed);
    // The reader may be gone.
    let _ = writeln!(std::io::stdout(), "{requests} requests");
    #[expect(clippy::disallowed_methods, reason = "the server has no other end")]
    std::process::exit(i32::from(exit::DONE));
}

/// Prints the address of the server, and serves until stopped.
pub(crate) fn null_server(args: &NullServerArgs) -> anyhow::Result<u8> {
    let listener = TcpListener::bind(args.listen)
        .with_context(|| format!("--listen {}: cannot listen there", args.listen))?;
    let requests = Arc::new(AtomicU64::new(0));
    writeln!(std::io::stdout(), "{}", listener.local_addr()?)?;
    if args.until_input_ends {
        ended_by(end_with_input, &requests)?;
    }
    ended_by(end_when_told, &requests)?;
    let server = NullServer {
        body_bytes: args.body_bytes,
        work: Duration::from_micros(args.work_us),
        cores: args.cores.clone(),
    };
    server.serve_counting(&listener, &requests)?;
    Ok(exit::DONE)
}
