//! The fastest server that is still a server: one thread, epoll, the same response to every
//! request. It reads from all connections before it responds to any, so that each kind of work
//! finds its code in the cache. Bodies are read and discarded; chunked ones are not supported.
//! Generators are measured against it, to find their own cost and their ceiling. It is neither a
//! contender nor a backend: nothing may be compared with it.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};

use crate::limits::pin;
use crate::transport::socket::do_not_pace;

const LISTENER: u64 = u64::MAX;

/// Maximum number of connections waiting to be accepted; the standard library's 128 would make
/// thousands wait.
const BACKLOG: i32 = 4096;

/// The response of the null server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NullServer {
    /// Length of the body.
    pub body_bytes: usize,
    /// CPU time burnt before each response is sent, to make the server the bottleneck.
    pub work: Duration,
    /// Cores that the server may use; empty = all that the process may.
    pub cores: Vec<usize>,
}

impl Default for NullServer {
    /// Returns a body of 13 bytes (the length of "Hello, World!") and no work.
    fn default() -> Self {
        Self {
            body_bytes: 13,
            work: Duration::ZERO,
            cores: Vec::new(),
        }
    }
}

/// A connection.
#[derive(Debug)]
struct Client {
    stream: TcpStream,
    counter: RequestCounter,
}

/// The bytes so far of a request that is not complete.
#[derive(Debug, Default)]
struct RequestCounter {
    /// The start of the request's head.
    head: Vec<u8>,
    /// Bytes of the request's body that have not arrived yet.
    body_left: usize,
}

impl NullServer {
    /// Serves until an error, in the calling thread.
    ///
    /// # Errors
    /// If the kernel refuses to wait or to accept.
    pub fn serve(&self, listener: &TcpListener) -> io::Result<()> {
        self.serve_counting(listener, &AtomicU64::new(0))
    }

    /// Serves until an error, and counts received requests in `requests`.
    ///
    /// # Errors
    /// As for [`NullServer::serve`].
    pub fn serve_counting(&self, listener: &TcpListener, requests: &AtomicU64) -> io::Result<()> {
        if !self.cores.is_empty() {
            pin(&self.cores).map_err(io::Error::other)?;
        }
        rustix::net::listen(listener, BACKLOG)?;
        // Accepted sockets inherit the setting.
        do_not_pace(listener)?;
        listener.set_nonblocking(true)?;
        let response = self.response();
        let poller = epoll::create(CreateFlags::CLOEXEC)?;
        let data = EventData::new_u64(LISTENER);
        epoll::add(&poller, listener, data, EventFlags::IN)?;
        let mut clients: Vec<Option<Client>> = Vec::new();
        let none = Event {
            flags: EventFlags::empty(),
            data: EventData::new_u64(0),
        };
        let mut events = vec![none; 1024];
        let mut buffer = vec![0; 64 * 1024];
        // Slots with requests, and the number of responses that each is owed.
        let mut asking: Vec<(usize, usize)> = Vec::new();
        let mut come = 0;
        loop {
            let found = match epoll::wait(&poller, &mut events[..], None) {
                Err(rustix::io::Errno::INTR) => continue,
                found => found?,
            };
            for event in &events[..found] {
                let data = event.data;
                if data.u64() == LISTENER {
                    accept(listener, &poller, &mut clients)?;
                    continue;
                }
                let slot = usize::try_from(data.u64()).map_err(io::Error::other)?;
                let Some(client) = &mut clients[slot] else {
                    continue;
                };
                match client.receive(&mut buffer) {
                    None => clients[slot] = None,
                    Some(0) => {}
                    Some(requests) => asking.push((slot, requests)),
                }
            }
            come += asking.iter().map(|(_, asked)| *asked as u64).sum::<u64>();
            requests.store(come, Ordering::Relaxed);
            for (slot, requests) in asking.drain(..) {
                let Some(client) = &mut clients[slot] else {
                    continue;
                };
                for _ in 0..requests {
                    burn(self.work);
                    if !send(&mut client.stream, &response) {
                        clients[slot] = None;
                        break;
                    }
                }
            }
        }
    }

    /// Returns the response, with the fields that static file servers send; nothing reads their
    /// values.
    fn response(&self) -> Vec<u8> {
        let body = self.body_bytes;
        let mut response = format!(
            "HTTP/1.1 200 OK\r\nServer: null\r\nDate: Sat, 21 Nov 2026 00:00:00 GMT\r\n\
             Content-Type: text/plain\r\nContent-Length: {body}\r\n\
             Last-Modified: Sat, 21 Nov 2026 00:00:00 GMT\r\nConnection: keep-alive\r\n\
             ETag: \"6560f7a0-d\"\r\nAccept-Ranges: bytes\r\n\r\n"
        )
        .into_bytes();
        response.resize(response.len() + body, b'x');
        response
    }
}

fn accept(
    listener: &TcpListener,
    poller: &impl AsFd,
    clients: &mut Vec<Option<Client>>,
) -> io::Result<()> {
    while let Ok((stream, _)) = listener.accept() {
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        let free = clients.iter().position(Option::is_none);
        let slot = free.unwrap_or(clients.len());
        let flags = EventFlags::IN | EventFlags::RDHUP | EventFlags::ET;
        epoll::add(poller, &stream, EventData::new_u64(slot as u64), flags)?;
        let client = Some(Client {
            stream,
            counter: RequestCounter::default(),
        });
        if slot == clients.len() {
            clients.push(client);
        } else {
            clients[slot] = client;
        }
    }
    Ok(())
}

impl Client {
    /// Returns the number of received requests; `None` if the connection is over.
    fn receive(&mut self, buffer: &mut [u8]) -> Option<usize> {
        let mut requests = 0;
        loop {
            let bytes = match self.stream.read(buffer) {
                Ok(0) => return None,
                Ok(bytes) => bytes,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Some(requests),
                Err(_) => return None,
            };
            requests += self.counter.requests(&buffer[..bytes]);
            if bytes < buffer.len() {
                return Some(requests);
            }
        }
    }
}

impl RequestCounter {
    /// Returns the number of requests that end in these bytes.
    fn requests(&mut self, bytes: &[u8]) -> usize {
        const END: &[u8; 4] = b"\r\n\r\n";
        let nothing_left = self.head.is_empty() && self.body_left == 0;
        if nothing_left
            && bytes.starts_with(b"GET ")
            && memchr::memmem::find(bytes, END) == bytes.len().checked_sub(END.len())
        {
            // One whole request at a time is the common case.
            return 1;
        }
        let mut requests = 0;
        let mut rest = bytes;
        while !rest.is_empty() {
            if self.body_left > 0 {
                let part = self.body_left.min(rest.len());
                self.body_left -= part;
                rest = &rest[part..];
                requests += usize::from(self.body_left == 0);
                continue;
            }
            let before = self.head.len();
            self.head.extend_from_slice(rest);
            let from = before.saturating_sub(END.len() - 1);
            let Some(end) = memchr::memmem::find(&self.head[from..], END) else {
                break;
            };
            let end = from + end + END.len();
            rest = &rest[end - before..];
            self.body_left = body_bytes(&self.head[..end]);
            self.head.clear();
            requests += usize::from(self.body_left == 0);
        }
        requests
    }
}

/// Returns the length of the body that a head announces.
fn body_bytes(head: &[u8]) -> usize {
    const NAME: &[u8] = b"content-length:";
    let mut lines = head.split(|byte| *byte == b'\n');
    let named = |line: &&[u8]| {
        line.get(..NAME.len())
            .is_some_and(|name| name.eq_ignore_ascii_case(NAME))
    };
    let value = lines.find(named).map(|line| &line[NAME.len()..]);
    let digits = value.and_then(|value| std::str::from_utf8(value).ok());
    digits
        .and_then(|digits| digits.trim().parse().ok())
        .unwrap_or(0)
}

/// Keeps the core busy.
fn burn(work: Duration) {
    if work.is_zero() {
        return;
    }
    let begin = Instant::now();
    while begin.elapsed() < work {
        std::hint::spin_loop();
    }
}

/// Sends everything; a client that does not read is waited for, busily.
fn send(stream: &mut TcpStream, mut response: &[u8]) -> bool {
    while !response.is_empty() {
        match stream.write(response) {
            Ok(bytes) => response = &response[bytes..],
            Err(error) if error.kind() == ErrorKind::WouldBlock => std::thread::yield_now(),
            Err(_) => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::RequestCounter;

    #[test]
    fn requests_are_counted_however_they_are_cut() {
        let text = b"GET / HTTP/1.1\r\nHost: a\r\n\r\nPOST / HTTP/1.1\r\ncontent-length: 6\r\n\r\n\
            \r\n\r\nhiGET /b HTTP/1.1\r\n\r\n";
        for size in 1..text.len() {
            let mut counter = RequestCounter::default();
            let counts = text.chunks(size).map(|part| counter.requests(part));
            assert_eq!(counts.sum::<usize>(), 3, "pieces of {size}");
        }
        let twice = b"GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n";
        assert_eq!(RequestCounter::default().requests(twice), 2);
    }
}
