//! `bakeoff null-server`: the server against which the engine's own ceiling is measured.

use std::io::Write as _;
use std::net::TcpListener;
use std::time::Duration;

use anyhow::Context as _;
use bakeoff_load::NullServer;

use crate::args::NullServerArgs;
use crate::exit;

/// Ends the process when whoever started it is gone, even if killed.
fn end_with_input() {
    // An error is an end as well.
    let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
    #[expect(clippy::disallowed_methods, reason = "the server has no other end")]
    std::process::exit(i32::from(exit::DONE));
}

/// Says where it listens and serves until it is stopped.
pub(crate) fn null_server(args: &NullServerArgs) -> anyhow::Result<u8> {
    let listener = TcpListener::bind(args.listen)
        .with_context(|| format!("--listen {}: cannot listen there", args.listen))?;
    if args.until_input_ends {
        std::thread::spawn(end_with_input);
    }
    let mut output = std::io::stdout().lock();
    writeln!(output, "{}", listener.local_addr()?)?;
    output.flush()?;
    let server = NullServer {
        body_bytes: args.body_bytes,
        work: Duration::from_micros(args.work_us),
        cores: args.cores.clone(),
    };
    server.serve(&listener)?;
    Ok(exit::DONE)
}
