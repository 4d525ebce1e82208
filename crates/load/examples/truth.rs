//! Whether the engine measures what a real server injected, in real time: a server that freezes,
//! and one that delays each response and books how long it really held it, from the time at which
//! its kernel received the request to just before and just after it sent the response. Exits with
//! status 1 when a percentile is not within its bound. The machine must be quiet; the test suite
//! has the same checks in simulated time. An argument names another reactor than the default one.

#![expect(clippy::print_stdout, reason = "the table is what this program is for")]
#![expect(unsafe_code, reason = "the kernel's timestamps are in no safe wrapper")]

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use bakeoff_load::{Go, Stop};
use bakeoff_model::load::histogram::Histogram;
use bakeoff_model::load::{LoadEvent, LoadSpec, Pace};
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::time::{ClockId, clock_gettime};
use serde_json::json;

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
const SHARES: [f64; 6] = [0.5, 0.75, 0.9, 0.95, 0.99, 0.999];
const SECONDS: u64 = 10;

/// How long a server sleeps before a response, given the seconds since it started and its own
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
        for (pace, connections) in [
            // A constant delay makes closed connections march in step; the burst of many more would
            // take longer to read than what it is held against allows.
            (Pace::Closed, 8),
            (Pace::Poisson { rate_per_s: 2000.0 }, 64),
        ] {
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
    Duration::from_millis(if bits.is_multiple_of(8) { 40 } else { 2 })
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
    server.end()?;
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
    let held = server.end()?;
    // The last responses came after the window and are not counted.
    let counted = usize::try_from(service.count())?;
    let books = |times_ns: &[u64]| {
        let mut histogram = Histogram::new();
        for time_ns in times_ns.iter().take(counted) {
            histogram.record(*time_ns);
        }
        histogram
    };
    let (held_least, held_most) = (books(&held.least_ns), books(&held.most_ns));
    println!("{name}, {pace:?}, {connections} connections, {counted} responses:");
    let mut good = true;
    for share in SHARES {
        let (least, most) = (at(&held_least, share), at(&held_most, share));
        let found = at(&service, share);
        let bound = |truth: f64| 0.01 * truth + 100e3;
        let holds = found >= least - bound(least) && found <= most + bound(most);
        good &= holds;
        println!(
            "  p{:<5} held {:8.3} to {:8.3} ms, measured {:8.3} ms  {}",
            share * 100.0,
            least / 1e6,
            most / 1e6,
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
        "reactor": std::env::args().nth(1).unwrap_or_else(|| "auto".to_owned()),
    }))?;
    let (mut service, mut response) = (Histogram::new(), Histogram::new());
    bakeoff_load::run(&spec, &Stop::default(), &mut |_| Go::On, &mut |event| {
        if let LoadEvent::Interval(interval) = event {
            service.merge(&interval.service_time);
            if let Some(times) = &interval.response_time {
                response.merge(times);
            }
        }
    })?;
    Ok((service, response))
}

/// A server that delays each response. Neither it nor the engine is bound to a core: a thread of
/// the kernel that holds one for some milliseconds then holds neither of them up.
struct Server {
    address: String,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<std::io::Result<Held>>,
}

/// How long a server held its responses, from the arrival of the request, in the order of sending.
#[derive(Default)]
struct Held {
    /// To just before each was sent.
    least_ns: Vec<u64>,
    /// To just after: what kept the server from its core in between may have come before the
    /// response left, or after.
    most_ns: Vec<u64>,
}

impl Server {
    fn start(delay: Delay) -> Result<Self, Error> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?.to_string();
        let stop = Arc::<AtomicBool>::default();
        let stopped = stop.clone();
        let thread = std::thread::spawn(move || serve(&listener, delay, &stopped));
        Ok(Self {
            address,
            stop,
            thread,
        })
    }

    /// Ends it and returns its books.
    fn end(self) -> Result<Held, Error> {
        self.stop.store(true, Ordering::SeqCst);
        Ok(self.thread.join().map_err(|_| "the server panicked")??)
    }
}

/// How often a waiting server checks whether it must stop.
const LOOK: Duration = Duration::from_millis(10);

fn serve(listener: &TcpListener, delay: Delay, stop: &AtomicBool) -> std::io::Result<Held> {
    const LISTENER: u64 = u64::MAX;
    // A timer that may be late by the usual 50 us would only spread the delays.
    rustix::thread::set_current_timer_slack(std::num::NonZero::new(1))?;
    listener.set_nonblocking(true)?;
    let poller = epoll::create(CreateFlags::CLOEXEC)?;
    epoll::add(
        &poller,
        listener,
        EventData::new_u64(LISTENER),
        EventFlags::IN,
    )?;
    let mut streams: Vec<TcpStream> = Vec::new();
    // What is due when, for which stream, and when its request came.
    let mut due: BinaryHeap<Reverse<(Instant, usize, Instant)>> = BinaryHeap::new();
    let mut events = Vec::with_capacity(256);
    let mut bits = 1;
    let mut held = Held::default();
    let age_ns = |asked: Instant| u64::try_from(asked.elapsed().as_nanos()).unwrap_or(u64::MAX);
    let begin = Instant::now();
    while !stop.load(Ordering::SeqCst) {
        let room = rustix::buffer::spare_capacity(&mut events);
        let next = due.peek().map(|Reverse((time, ..))| *time);
        let wait = next.map_or(LOOK, |next| next.saturating_duration_since(Instant::now()));
        if !wait.is_zero() {
            sleep_until_ready(&poller, wait.min(LOOK));
        }
        let at_once = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        epoll::wait(&poller, room, Some(&at_once))?;
        for event in events.drain(..) {
            if event.data.u64() == LISTENER {
                accept(listener, &poller, &mut streams)?;
                continue;
            }
            let index = usize::try_from(event.data.u64()).map_err(std::io::Error::other)?;
            // A request is small and comes in one piece; a client that is gone asks no more.
            if let Some(age) = receive(&streams[index])? {
                bits = scramble(bits);
                let now = Instant::now();
                due.push(Reverse((now + delay(now - begin, bits), index, now - age)));
            }
        }
        while let Some(&Reverse((time, index, asked))) = due.peek()
            && Instant::now() >= time
        {
            due.pop();
            let before_ns = age_ns(asked);
            if streams[index].write_all(OK).is_ok() {
                held.least_ns.push(before_ns);
                held.most_ns.push(age_ns(asked));
            }
        }
    }
    Ok(held)
}

/// Waits for the poller, to the nanosecond, where `epoll::wait` rounds up to milliseconds.
fn sleep_until_ready(poller: &OwnedFd, longest: Duration) {
    let mut fds = [PollFd::new(poller, PollFlags::IN)];
    let longest = Timespec {
        tv_sec: 0,
        tv_nsec: i64::from(longest.subsec_nanos()),
    };
    // What went wrong shows at the look that follows.
    let _ = rustix::event::poll(&mut fds, Some(&longest));
}

fn accept(
    listener: &TcpListener,
    poller: &OwnedFd,
    streams: &mut Vec<TcpStream>,
) -> std::io::Result<()> {
    while let Ok((stream, _)) = listener.accept() {
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        stamp(&stream)?;
        let token = EventData::new_u64(streams.len() as u64);
        epoll::add(poller, &stream, token, EventFlags::IN | EventFlags::ET)?;
        streams.push(stream);
    }
    Ok(())
}

/// Has the kernel note when it receives. This and [`receive`] are written apart from the engine's
/// own, so that no mistake can be in both and cancel out.
fn stamp(stream: &TcpStream) -> std::io::Result<()> {
    let on: libc::c_int = 1;
    let length = libc::socklen_t::try_from(size_of_val(&on)).map_err(std::io::Error::other)?;
    // SAFETY: the option is a number that lives during the call, of the length that is given.
    let set = unsafe {
        libc::setsockopt(
            stream.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_TIMESTAMPNS,
            (&raw const on).cast::<libc::c_void>(),
            length,
        )
    };
    match set {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

/// Reads a request: how long ago it came; `None` when there is none, or no client any more.
fn receive(stream: &TcpStream) -> std::io::Result<Option<Duration>> {
    let mut input = [0_u8; 4096];
    // Aligned, and long enough for one timestamp.
    let mut control = [0_u64; 16];
    let mut part = libc::iovec {
        iov_base: input.as_mut_ptr().cast(),
        iov_len: input.len(),
    };
    // SAFETY: a header of zeros is an empty one; what it points to lives until the end of this
    // function, and the lengths are right. The kernel writes whole control messages only, and
    // `CMSG_DATA` of this type is a time of the host's clock.
    let came = unsafe {
        let mut header: libc::msghdr = std::mem::zeroed();
        header.msg_iov = &raw mut part;
        header.msg_iovlen = 1;
        header.msg_control = control.as_mut_ptr().cast();
        header.msg_controllen = size_of_val(&control);
        if libc::recvmsg(stream.as_raw_fd(), &raw mut header, 0) <= 0 {
            return Ok(None);
        }
        let message = libc::CMSG_FIRSTHDR(&raw const header);
        if message.is_null() || (*message).cmsg_type != libc::SCM_TIMESTAMPNS {
            return Err(std::io::Error::other("the kernel notes no arrivals"));
        }
        libc::CMSG_DATA(message)
            .cast::<libc::timespec>()
            .read_unaligned()
    };
    let now = clock_gettime(ClockId::Realtime);
    let age_ns = (now.tv_sec - came.tv_sec) * 1_000_000_000 + now.tv_nsec - came.tv_nsec;
    Ok(Some(Duration::from_nanos(
        u64::try_from(age_ns).unwrap_or(0),
    )))
}

/// Marsaglia's xorshift64* (2003), for delays that differ.
fn scramble(bits: u64) -> u64 {
    let bits = bits ^ (bits >> 12);
    let bits = bits ^ (bits << 25);
    (bits ^ (bits >> 27)).wrapping_mul(0x2545_F491_4F6C_DD1D)
}
