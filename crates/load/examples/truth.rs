//! Whether the engine measures what a real server injected, in real time: a server that freezes,
//! and one that delays each answer and books how long it really slept. Exits with status 1 when a
//! percentile is not within its bound. The machine must be quiet; the test suite has the same
//! checks in simulated time.

#![expect(clippy::print_stdout, reason = "the table is what this program is for")]

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bakeoff_model::histogram::Histogram;
use bakeoff_model::load::{LoadEvent, LoadSpec, Pace};
use serde_json::json;

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
const SHARES: [f64; 6] = [0.5, 0.75, 0.9, 0.95, 0.99, 0.999];
const SECONDS: u64 = 10;

/// How long a server sleeps before an answer, given the seconds since it began and its own
/// random bits.
type Delay = fn(Duration, u64) -> Duration;

type Error = Box<dyn std::error::Error>;

fn main() -> Result<ExitCode, Error> {
    let mut good = freezes()?;
    for (name, delay) in [
        ("constant 5 ms", constant as Delay),
        ("bimodal 2 or 40 ms", bimodal as Delay),
        ("exponential, mean 5 ms", exponential as Delay),
    ] {
        for (pace, connections) in [(Pace::Closed, 8), (Pace::Poisson { rate_per_s: 400.0 }, 64)] {
            good &= delays(name, delay, pace, connections)?;
        }
    }
    Ok(if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn constant(_: Duration, _: u64) -> Duration {
    Duration::from_millis(5)
}

fn bimodal(_: Duration, bits: u64) -> Duration {
    Duration::from_millis(if bits.is_multiple_of(20) { 40 } else { 2 })
}

fn exponential(_: Duration, bits: u64) -> Duration {
    let uniform = ((bits >> 11) + 1) as f64 / (1_u64 << 53) as f64;
    Duration::from_secs_f64(-uniform.ln() * 5e-3)
}

/// One freeze of 100 ms in each second.
const PERIOD: Duration = Duration::from_secs(1);
const FREEZE: Duration = Duration::from_millis(100);

fn freezing(since: Duration, _: u64) -> Duration {
    let phase = since.as_secs_f64() % PERIOD.as_secs_f64();
    FREEZE.saturating_sub(Duration::from_secs_f64(phase))
}

/// Response times of open load against a server that freezes, and what a naive tool would print.
fn freezes() -> Result<bool, Error> {
    let server = Server::start(freezing)?;
    let pace = Pace::Constant { rate_per_s: 500.0 };
    let (service, response) = load(&server.address, 1, &pace)?;
    println!("freezes of 100 ms a second, constant rate, 1 connection:");
    let mut good = true;
    for share in [0.5, 0.95, 0.99, 0.999] {
        let late = (1.0 - share) * PERIOD.as_secs_f64() * 1e9;
        let truth = (FREEZE.as_secs_f64() * 1e9 - late).max(0.0);
        let found = at(&response, share);
        // A millisecond: the queue that one connection drains after the freeze.
        let holds = (found - truth).abs() <= 0.02 * truth + 1e6;
        good &= holds;
        println!(
            "  p{:<5} truth {:8.3} ms, response {:8.3} ms, service {:8.3} ms  {}",
            share * 100.0,
            truth / 1e6,
            found / 1e6,
            at(&service, share) / 1e6,
            verdict(holds)
        );
    }
    Ok(good)
}

/// Times of a load against a server that delays, held against the server's own books.
fn delays(name: &str, delay: Delay, pace: Pace, connections: u32) -> Result<bool, Error> {
    let server = Server::start(delay)?;
    let (service, _) = load(&server.address, connections, &pace)?;
    let slept = server
        .slept
        .lock()
        .map_err(|_| "a thread of the server panicked")?
        .clone();
    println!(
        "{name}, {pace:?}, {connections} connections, {} answers:",
        slept.count()
    );
    let mut good = true;
    for share in SHARES {
        let (found, truth) = (at(&service, share), at(&slept, share));
        let holds = (found - truth).abs() <= 0.01 * truth + 100e3;
        good &= holds;
        println!(
            "  p{:<5} slept {:8.3} ms, measured {:8.3} ms  {}",
            share * 100.0,
            truth / 1e6,
            found / 1e6,
            verdict(holds)
        );
    }
    Ok(good)
}

fn verdict(holds: bool) -> &'static str {
    if holds { "ok" } else { "OUT OF BOUNDS" }
}

fn at(histogram: &Histogram, share: f64) -> f64 {
    histogram.quantile_ns(share).unwrap_or(0) as f64
}

/// Service and response times of a load.
fn load(address: &str, connections: u32, pace: &Pace) -> Result<(Histogram, Histogram), Error> {
    let spec: LoadSpec = serde_json::from_value(json!({
        "target": {"address": address},
        "requests": [{"method": "GET", "path": "/"}],
        "steps": [{
            "connections": connections,
            "duration_ns": SECONDS * 1_000_000_000,
            "pace": pace,
        }],
        "threads": 1,
        "timeout_connect_ns": 5_000_000_000_u64,
        "timeout_answer_ns": 15_000_000_000_u64,
        "slice_ns": 1_000_000_000,
    }))?;
    let (mut service, mut response) = (Histogram::new(), Histogram::new());
    bakeoff_load::run(&spec, &mut |_| true, &mut |event| {
        if let LoadEvent::Interval(interval) = event {
            service.merge(&interval.service_time);
            if let Some(times) = &interval.response_time {
                response.merge(times);
            }
        }
    })?;
    Ok((service, response))
}

/// A server with a thread per connection that sleeps before each answer.
struct Server {
    address: String,
    /// From the end of the request to just before the answer, as the server's clock saw it.
    slept: Arc<Mutex<Histogram>>,
    stop: Arc<AtomicBool>,
}

impl Server {
    fn start(delay: Delay) -> Result<Self, Error> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let server = Self {
            address: listener.local_addr()?.to_string(),
            slept: Arc::default(),
            stop: Arc::default(),
        };
        let (slept, stop) = (server.slept.clone(), server.stop.clone());
        let begin = Instant::now();
        std::thread::spawn(move || {
            let mut seed = 1_u64;
            while let Ok((stream, _)) = listener.accept() {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                seed += 1;
                let (slept, mut bits) = (slept.clone(), seed);
                std::thread::spawn(move || {
                    let mut delay = || {
                        bits = scramble(bits);
                        delay(begin.elapsed(), bits)
                    };
                    // A client that is gone ends its thread.
                    let _ = serve(stream, &mut delay, &slept);
                });
            }
        });
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // Wakes the accept up.
        drop(TcpStream::connect(&self.address));
    }
}

fn serve(
    mut stream: TcpStream,
    delay: &mut dyn FnMut() -> Duration,
    slept: &Mutex<Histogram>,
) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut input = [0; 4096];
    // A request is small and comes in one piece.
    while stream.read(&mut input)? > 0 {
        let begin = Instant::now();
        let delay = delay();
        if !delay.is_zero() {
            std::thread::sleep(delay);
        }
        let own = u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX);
        stream.write_all(OK)?;
        if let Ok(mut slept) = slept.lock() {
            slept.record(own);
        }
    }
    Ok(())
}

/// Marsaglia's xorshift64* (2003), for delays that differ.
fn scramble(bits: u64) -> u64 {
    let bits = bits ^ (bits >> 12);
    let bits = bits ^ (bits << 25);
    (bits ^ (bits >> 27)).wrapping_mul(0x2545_F491_4F6C_DD1D)
}
