//! Edge-triggered epoll. A socket is registered once, for everything; after that a request costs
//! one `send` and one `recv`, and `epoll_wait` is shared by all that became ready together. What
//! is ready is received before anything of it is handled, so that a response is not late by the
//! time that the ones before it take.
//!
//! With receive timestamps the kernel records when bytes arrived. That costs a little more for each
//! `recv`, and a thread that has lost its core at that moment, or is slow to wake up, is then not
//! counted as service time.

#![expect(
    unsafe_code,
    reason = "epoll_pwait2 at nanoseconds is in no safe wrapper"
)]

use std::collections::VecDeque;
use std::os::fd::{AsRawFd as _, OwnedFd};

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send, sockopt};

use super::receive_clock::ReceiveClock;
use super::sockets::Sockets;
use super::{Event, Reactor};
use crate::clock::now_ns;
use crate::payload::Payload;
use crate::transport::socket::{Blocking, Endpoint, enable_rx_timestamps, receive_with_timestamp};

/// Events that one wait takes over.
const EVENTS_MAX: usize = 512;

/// Bytes that one `recv` takes; larger ones only evict more of the cache.
const RECEIVE_BYTES: usize = 64 * 1024;

/// Bytes that are received before they are handled.
const BUFFER_BYTES: usize = 4 * RECEIVE_BYTES;

/// Events that are found before they are handled: more would keep free connections waiting for
/// their next request.
const FOUND_MAX: usize = 64;

/// How often a full queue of a Unix socket is checked, ns.
const QUEUE_LOOK_NS: u64 = 1_000_000;

/// The other side will send nothing more, or the socket is dead.
const ENDING: u32 = EventFlags::RDHUP.bits() | EventFlags::HUP.bits() | EventFlags::ERR.bits();

/// A connection to look at.
#[derive(Debug, Clone, Copy)]
struct Hint {
    connection: usize,
    generation: u32,
    flags: u32,
}

/// The sockets of one thread on epoll.
#[derive(Debug)]
pub(crate) struct Epoll<const RX_TIMESTAMPS: bool> {
    epoll: OwnedFd,
    endpoint: Endpoint,
    sockets: Sockets,
    ready: Vec<libc::epoll_event>,
    /// Connections to look at before the next wait, in order.
    hints: VecDeque<Hint>,
    /// Connections to check after it, which may have more than one `recv` took.
    again: Vec<Hint>,
    /// Results, in order.
    found: VecDeque<Found>,
    /// When the result was found, monotonic ns.
    found_ns: u64,
    clock: ReceiveClock,
    /// Bytes of the buffer that the result fills.
    filled: usize,
    /// Connections that found the queue of a Unix socket full, with their generation.
    queued: Vec<(usize, u32)>,
    /// When these connections try again, monotonic ns.
    queue_look_ns: u64,
    buffer: Box<[u8]>,
    /// Whether the kernel supports `epoll_pwait2` (Linux 5.11).
    nanoseconds: bool,
}

impl<const RX_TIMESTAMPS: bool> Epoll<RX_TIMESTAMPS> {
    /// An epoll instance without sockets.
    ///
    /// # Errors
    /// When the process may not have another file descriptor.
    pub(crate) fn new(endpoint: Endpoint) -> Result<Self, Errno> {
        Ok(Self {
            epoll: epoll::create(CreateFlags::CLOEXEC)?,
            endpoint,
            sockets: Sockets::default(),
            ready: vec![libc::epoll_event { events: 0, u64: 0 }; EVENTS_MAX],
            hints: VecDeque::with_capacity(2 * EVENTS_MAX),
            again: Vec::with_capacity(EVENTS_MAX),
            found: VecDeque::with_capacity(FOUND_MAX),
            found_ns: 0,
            clock: ReceiveClock::default(),
            filled: 0,
            queued: Vec::new(),
            queue_look_ns: 0,
            buffer: vec![0; BUFFER_BYTES].into_boxed_slice(),
            nanoseconds: true,
        })
    }

    fn connect(&self, connection: usize) -> Result<OwnedFd, Errno> {
        let fd = self.endpoint.socket(Blocking::No)?;
        if RX_TIMESTAMPS {
            enable_rx_timestamps(&fd);
        }
        self.endpoint.connect(&fd)?;
        let token = token(connection, self.sockets.generation(connection));
        let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        epoll::add(&self.epoll, &fd, EventData::new_u64(token), flags)?;
        Ok(fd)
    }

    /// Lets the connections try again that found the queue of a Unix socket full, now and then: no
    /// event says when there is room. Returns how long the next wait may be, at most `timeout_ns`.
    fn look_at_queue(&mut self, timeout_ns: u64) -> u64 {
        let now = now_ns();
        if now >= self.queue_look_ns {
            self.queue_look_ns = now + QUEUE_LOOK_NS;
            for (connection, generation) in std::mem::take(&mut self.queued) {
                if self.sockets.is_current(connection, generation) {
                    self.open(connection);
                }
            }
        }
        timeout_ns.min(self.queue_look_ns - now)
    }

    /// Passes as much of the unsent payload to the kernel as it accepts. A service may respond,
    /// close and so reset the connection before it has read everything: if the kernel refuses,
    /// received bytes come first.
    fn flush(&mut self, connection: usize) {
        let generation = self.sockets.generation(connection);
        let mut sent_bytes = 0;
        let Some(socket) = self.sockets.get_mut(connection) else {
            return;
        };
        while let Some((payload, taken)) = &socket.unsent {
            match send(&socket.fd, &payload.bytes()[*taken..], SendFlags::NOSIGNAL) {
                Ok(bytes) => {
                    sent_bytes += bytes as u64;
                    socket.taken(bytes);
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                Err(errno) => {
                    socket.broken = Some(errno);
                    self.again.push(Hint {
                        connection,
                        generation,
                        flags: EventFlags::IN.bits() | ENDING,
                    });
                    break;
                }
            }
        }
        self.sockets.sent_bytes += sent_bytes;
    }

    /// Returns the result of a connection attempt that epoll reports as finished.
    fn connected(&mut self, connection: usize) -> Option<Event<'static>> {
        let socket = self.sockets.get_mut(connection)?;
        match sockopt::socket_error(&socket.fd) {
            Ok(Ok(())) => {
                socket.connecting = false;
                Some(Event::Connected)
            }
            Ok(Err(errno)) | Err(errno) => Some(Event::Refused(errno)),
        }
    }

    /// Looks at what is waiting, as far as there is room for what is found.
    fn find(&mut self) {
        self.filled = 0;
        while self.found.len() < FOUND_MAX
            && self.filled + RECEIVE_BYTES <= self.buffer.len()
            && let Some(hint) = self.hints.pop_front()
        {
            if let Some(looked) = self.look(hint) {
                self.found.push_back(Found {
                    connection: hint.connection,
                    generation: hint.generation,
                    looked,
                });
            }
        }
        self.found_ns = now_ns();
        if RX_TIMESTAMPS {
            self.clock.refresh(self.found_ns);
        }
    }

    /// Looks at one connection; the bytes received are in the buffer.
    fn look(&mut self, hint: Hint) -> Option<Looked> {
        if !self.sockets.is_current(hint.connection, hint.generation) {
            return None;
        }
        let socket = self.sockets.get(hint.connection)?;
        if socket.connecting {
            // An error or a first byte that arrived with it is still there at the next look.
            if hint.flags & (EventFlags::IN.bits() | ENDING) != 0 {
                self.again.push(hint);
            }
            return self.connected(hint.connection).map(Looked::Event);
        }
        if hint.flags & EventFlags::OUT.bits() != 0
            && socket.unsent.is_some()
            && socket.broken.is_none()
        {
            self.flush(hint.connection);
        }
        if hint.flags & (EventFlags::IN.bits() | ENDING) == 0 {
            return None;
        }
        let socket = self.sockets.get(hint.connection)?;
        let broken = |errno| Looked::Event(Event::Broken(errno));
        let from = self.filled;
        let room = &mut self.buffer[from..from + RECEIVE_BYTES];
        loop {
            let received = if RX_TIMESTAMPS {
                receive_with_timestamp(&socket.fd, room)
            } else {
                recv(&socket.fd, &mut *room, RecvFlags::empty()).map(|(bytes, _)| (bytes, None))
            };
            match received {
                Ok((0, _)) => {
                    return Some(socket.broken.map_or(Looked::End, broken));
                }
                Ok((bytes, timestamp_ns)) => {
                    let ending = hint.flags & ENDING != 0;
                    // A short read has emptied the socket: the next byte is a new edge.
                    if bytes == RECEIVE_BYTES || ending {
                        self.again.push(hint);
                    }
                    self.filled += bytes;
                    return Some(Looked::Data {
                        from,
                        bytes,
                        ending,
                        timestamp_ns,
                    });
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return socket.broken.map(broken),
                Err(errno) => return Some(broken(socket.broken.unwrap_or(errno))),
            }
        }
    }

    /// One `epoll_wait` at the resolution that the kernel has.
    fn poll(&mut self, timeout_ns: u64) -> Result<usize, Errno> {
        let count = libc::c_int::try_from(self.ready.len()).unwrap_or(libc::c_int::MAX);
        let (epoll, events) = (self.epoll.as_raw_fd(), self.ready.as_mut_ptr());
        let found = if self.nanoseconds && timeout_ns > 0 {
            let timeout = libc::timespec {
                tv_sec: (timeout_ns / 1_000_000_000).cast_signed(),
                tv_nsec: (timeout_ns % 1_000_000_000).cast_signed(),
            };
            // SAFETY: `events` is memory for `count` events, owned by `self` and not otherwise
            // used during the call; the time outlives the call; no signal mask is given.
            unsafe {
                libc::syscall(
                    libc::SYS_epoll_pwait2,
                    epoll,
                    events,
                    count,
                    &raw const timeout,
                    std::ptr::null::<libc::sigset_t>(),
                    0_usize,
                )
            }
        } else {
            let milliseconds = timeout_ns.div_ceil(1_000_000);
            let timeout = libc::c_int::try_from(milliseconds).unwrap_or(libc::c_int::MAX);
            // SAFETY: as above.
            i64::from(unsafe { libc::epoll_wait(epoll, events, count, timeout) })
        };
        if let Ok(found) = usize::try_from(found) {
            return Ok(found);
        }
        match std::io::Error::last_os_error().raw_os_error() {
            Some(libc::EINTR) => Ok(0),
            Some(libc::ENOSYS | libc::EPERM) if self.nanoseconds => {
                self.nanoseconds = false;
                Ok(0)
            }
            code => Err(Errno::from_raw_os_error(code.unwrap_or(libc::EIO))),
        }
    }
}

/// The result of a look at a connection.
#[derive(Debug)]
enum Looked {
    Event(Event<'static>),
    End,
    /// Bytes in the buffer.
    Data {
        from: usize,
        bytes: usize,
        ending: bool,
        /// The kernel's receive timestamp, in nanoseconds since the Unix epoch.
        timestamp_ns: Option<u64>,
    },
}

/// A result that is not handled yet.
#[derive(Debug)]
struct Found {
    connection: usize,
    generation: u32,
    looked: Looked,
}

impl<const RX_TIMESTAMPS: bool> Reactor for Epoll<RX_TIMESTAMPS> {
    const NAME: &'static str = if RX_TIMESTAMPS {
        "epoll-rx-timestamps"
    } else {
        "epoll"
    };

    fn resize(&mut self, count: usize) {
        self.sockets.resize(count);
    }

    fn open(&mut self, connection: usize) {
        match self.connect(connection) {
            Ok(fd) => self.sockets.insert(connection, fd),
            // The service is slow to accept: TCP would go on by itself, until the time is up.
            Err(Errno::AGAIN) if matches!(self.endpoint, Endpoint::Unix(_)) => {
                let generation = self.sockets.generation(connection);
                self.queued.push((connection, generation));
            }
            Err(errno) => self.sockets.refuse(connection, errno),
        }
    }

    #[inline]
    fn send(&mut self, connection: usize, payload: Payload) {
        let socket = self.sockets.get_mut(connection);
        if socket.is_some_and(|socket| !socket.enqueue(payload)) {
            self.flush(connection);
        }
    }

    #[inline]
    fn is_sending(&self, connection: usize) -> bool {
        self.sockets.is_sending(connection)
    }

    fn close(&mut self, connection: usize) {
        drop(self.sockets.remove(connection));
    }

    fn wait(&mut self, mut timeout_ns: u64) -> Result<(), Errno> {
        if !self.queued.is_empty() {
            timeout_ns = self.look_at_queue(timeout_ns);
        }
        let waiting = !self.again.is_empty() || self.sockets.has_refused();
        let found = self.poll(if waiting { 0 } else { timeout_ns })?;
        self.hints.extend(self.again.drain(..));
        for event in &self.ready[..found] {
            let (connection, generation) = untoken(event.u64);
            self.hints.push_back(Hint {
                connection,
                generation,
                flags: event.events,
            });
        }
        Ok(())
    }

    #[inline]
    fn next(&mut self) -> Option<(usize, Event<'_>)> {
        loop {
            if self.sockets.has_refused()
                && let Some((connection, errno)) = self.sockets.next_refused()
            {
                return Some((connection, Event::Refused(errno)));
            }
            let Some(found) = self.found.pop_front() else {
                if self.hints.is_empty() {
                    return None;
                }
                self.find();
                continue;
            };
            let Found {
                connection,
                generation,
                looked,
            } = found;
            // An event handled since may have closed it.
            if !self.sockets.is_current(connection, generation) {
                continue;
            }
            let event = match looked {
                Looked::Event(event) => event,
                Looked::End => Event::End {
                    received_ns: self.found_ns,
                },
                Looked::Data {
                    from,
                    bytes,
                    ending,
                    timestamp_ns,
                } => Event::Data {
                    bytes: &self.buffer[from..from + bytes],
                    received_ns: self.clock.received_ns(timestamp_ns, self.found_ns),
                    ending,
                },
            };
            return Some((connection, event));
        }
    }

    fn sent_bytes(&self) -> u64 {
        self.sockets.sent_bytes
    }
}

/// Packs connection and generation into the 64 bits that the kernel passes through.
fn token(connection: usize, generation: u32) -> u64 {
    (connection as u64) << 32 | u64::from(generation)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the halves of what `token` made"
)]
fn untoken(token: u64) -> (usize, u32) {
    ((token >> 32) as usize, token as u32)
}
