//! The fastest server that is still a server: one thread, epoll, the same answer to every request
//! without a body. Generators are measured against it, so that their own cost and their ceiling
//! show. It is no contender and no backend: nobody may be compared with it.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};

const LISTENER: u64 = u64::MAX;

/// Connections that may wait to be accepted; the standard library's 128 would make thousands wait.
const BACKLOG: i32 = 4096;

/// What the null server answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NullServer {
    /// Length of the body.
    pub body_bytes: usize,
    /// CPU time that each answer burns before it is sent: a server that is the bottleneck.
    pub work: Duration,
}

impl Default for NullServer {
    /// 13 bytes ("Hello, World!" has as many) and no work.
    fn default() -> Self {
        Self {
            body_bytes: 13,
            work: Duration::ZERO,
        }
    }
}

/// A connection and the end of an unfinished request head.
#[derive(Debug)]
struct Client {
    stream: TcpStream,
    /// How many bytes of the empty line that ends a head have come: 0 to 3.
    matched: usize,
}

impl NullServer {
    /// Serves until something breaks, in the calling thread.
    ///
    /// # Errors
    /// When the kernel refuses to wait or to accept.
    pub fn serve(&self, listener: &TcpListener) -> io::Result<()> {
        rustix::net::listen(listener, BACKLOG)?;
        listener.set_nonblocking(true)?;
        let answer = self.answer();
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
                let open = clients[slot].as_mut();
                if open.is_some_and(|client| !client.serve(&answer, self.work, &mut buffer)) {
                    clients[slot] = None;
                }
            }
        }
    }

    fn answer(&self) -> Vec<u8> {
        let body = self.body_bytes;
        let mut answer = format!(
            "HTTP/1.1 200 OK\r\nServer: null\r\nContent-Type: text/plain\r\n\
             Content-Length: {body}\r\n\r\n"
        )
        .into_bytes();
        answer.resize(answer.len() + body, b'x');
        answer
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
        let client = Some(Client { stream, matched: 0 });
        if slot == clients.len() {
            clients.push(client);
        } else {
            clients[slot] = client;
        }
    }
    Ok(())
}

impl Client {
    /// Answers all requests that have come; `false` when the connection is over.
    fn serve(&mut self, answer: &[u8], work: Duration, buffer: &mut [u8]) -> bool {
        loop {
            let bytes = match self.stream.read(buffer) {
                Ok(0) => return false,
                Ok(bytes) => bytes,
                Err(error) => return error.kind() == ErrorKind::WouldBlock,
            };
            for _ in 0..self.requests(&buffer[..bytes]) {
                burn(work);
                if !send(&mut self.stream, answer) {
                    return false;
                }
            }
            if bytes < buffer.len() {
                return true;
            }
        }
    }

    /// How many heads end in these bytes.
    fn requests(&mut self, bytes: &[u8]) -> usize {
        const END: &[u8; 4] = b"\r\n\r\n";
        if self.matched == 0 && bytes.ends_with(END) && bytes.len() < 1024 {
            // One whole request at a time is the common case.
            let inner = &bytes[..bytes.len() - 2];
            return 1 + inner.windows(4).filter(|window| window == END).count();
        }
        let mut requests = 0;
        for &byte in bytes {
            self.matched = match (byte == END[self.matched], byte) {
                (true, _) => self.matched + 1,
                (false, b'\r') => 1,
                (false, _) => 0,
            };
            if self.matched == END.len() {
                self.matched = 0;
                requests += 1;
            }
        }
        requests
    }
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
fn send(stream: &mut TcpStream, mut answer: &[u8]) -> bool {
    while !answer.is_empty() {
        match stream.write(answer) {
            Ok(bytes) => answer = &answer[bytes..],
            Err(error) if error.kind() == ErrorKind::WouldBlock => std::thread::yield_now(),
            Err(_) => return false,
        }
    }
    true
}
