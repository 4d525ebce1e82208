//! A server with a known limit: WORKERS workers take the same time for every request, in the order
//! of arrival. It sustains WORKERS / SERVICE requests per second.
//!
//! `limited-server ADDRESS WORKERS SERVICE_US`. The queue is reckoned, not worked: the
//! response to a request is sent when its worker would be done, so that a thread which wakes up
//! late makes no other request late and the limit is exact. For benches/capacity.sh.

#![expect(clippy::expect_used, reason = "an example may stop at any fault")]

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// When each worker will be free.
type Workers = Arc<Mutex<Vec<Instant>>>;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next().expect("ADDRESS WORKERS SERVICE_US");
    let listener = TcpListener::bind(next()).expect("the address is free");
    let workers: usize = next().parse().expect("WORKERS is a number");
    let service_us = next().parse().expect("SERVICE_US is a number");
    let workers = Arc::new(Mutex::new(vec![Instant::now(); workers]));
    for stream in listener.incoming().flatten() {
        let workers = Arc::clone(&workers);
        std::thread::spawn(move || serve(stream, &workers, Duration::from_micros(service_us)));
    }
}

/// Serves one connection, whose requests fit one read each.
fn serve(mut stream: TcpStream, workers: &Workers, service: Duration) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    let mut request = [0; 4096];
    while stream.read(&mut request).ok()? > 0 {
        let now = Instant::now();
        let done = {
            let mut workers = workers.lock().ok()?;
            let first = workers.iter_mut().min()?;
            *first = now.max(*first) + service;
            *first
        };
        std::thread::sleep(done.saturating_duration_since(Instant::now()));
        stream
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")
            .ok()?;
    }
    None
}
