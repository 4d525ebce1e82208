//! The null server by hand: `null-server ADDRESS [BODY_BYTES] [WORK_US]`. With work, each response
//! keeps the core busy for this long, and the server is the bottleneck of any generator.

use std::net::TcpListener;
use std::time::Duration;

use bakeoff_load::NullServer;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let address = arguments
        .next()
        .unwrap_or_else(|| "127.0.0.1:8080".to_owned());
    let mut server = NullServer::default();
    if let Some(body) = arguments.next() {
        server.body_bytes = body.parse()?;
    }
    if let Some(work) = arguments.next() {
        server.work = Duration::from_micros(work.parse()?);
    }
    Ok(server.serve(&TcpListener::bind(address)?)?)
}
