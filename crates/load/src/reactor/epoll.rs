//! Edge-triggered epoll. A socket is registered once, for everything; after that a request costs
//! one `send` and one `recv`, and `epoll_wait` is shared by all that became ready together. What
//! is ready is received before anything of it is handled, so that an answer is not late by the
//! time that the ones before it take.
//!
//! Stamped, it takes the instants of answers from the kernel, which notes them when they arrive.
//! That costs a little more of each `recv`, and nothing that keeps this thread from its core at
//! that moment, or is slow to wake it up, is then taken for the service's time.

#![expect(
    unsafe_code,
    reason = "epoll_pwait2 at nanoseconds is in no safe wrapper"
)]

use std::collections::VecDeque;
use std::os::fd::{AsRawFd as _, OwnedFd};

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send, sockopt};

use super::arrivals::Arrivals;
use super::{Event, Payload, Reactor};
use crate::clock::now_ns;
use crate::socket::{Blocking, Endpoint, receive_stamped, stamp_arrivals};

/// Events that one wait takes over.
const EVENTS_MAX: usize = 512;

/// Bytes that one `recv` takes; larger ones only evict more of the cache.
const RECEIVE_BYTES: usize = 64 * 1024;

/// Bytes that are received before they are handled.
const BUFFER_BYTES: usize = 4 * RECEIVE_BYTES;

/// Events that are found before they are handled: more would keep free connections waiting for
/// their next request.
const FOUND_MAX: usize = 64;

/// How often a full queue of a Unix socket is looked at, ns.
const QUEUE_LOOK_NS: u64 = 1_000_000;

/// The other side will send nothing more, or the socket is dead.
const ENDING: u32 = EventFlags::RDHUP.bits() | EventFlags::HUP.bits() | EventFlags::ERR.bits();

/// One socket of a slot.
#[derive(Debug)]
struct Socket {
    fd: OwnedFd,
    connecting: bool,
    /// What the kernel has not taken yet: the payload and how far it was taken.
    unsent: Option<(Payload, usize)>,
    /// What comes after it.
    queue: VecDeque<Payload>,
    /// Why the kernel takes nothing any more. What has come is still read; what was not sent
    /// stays where it is.
    broken: Option<Errno>,
}

/// A slot; the generation tells events of its earlier sockets apart.
#[derive(Debug, Default)]
struct Slot {
    generation: u32,
    socket: Option<Socket>,
}

/// Something to look at in a slot.
#[derive(Debug, Clone, Copy)]
struct Hint {
    slot: usize,
    generation: u32,
    flags: u32,
}

/// The sockets of one thread on epoll.
#[derive(Debug)]
pub(crate) struct Epoll<const STAMPED: bool> {
    epoll: OwnedFd,
    endpoint: Endpoint,
    slots: Vec<Slot>,
    ready: Vec<libc::epoll_event>,
    /// What to look at before the next wait, in order.
    hints: VecDeque<Hint>,
    /// What to look at after it: connections that may have more than one `recv` took.
    again: Vec<Hint>,
    /// What was found, in order.
    found: VecDeque<Found>,
    /// When it had been found, monotonic ns.
    found_ns: u64,
    arrivals: Arrivals,
    /// When what the last event tells had come.
    came_ns: u64,
    /// Bytes of the buffer that it fills.
    filled: usize,
    /// Events that did not come from `epoll_wait`: slot, generation, event.
    failed: VecDeque<(usize, u32, Event<'static>)>,
    /// Slots that found the queue of a Unix socket full, with their generation.
    queued: Vec<(usize, u32)>,
    /// When they try again, monotonic ns.
    queue_look_ns: u64,
    buffer: Box<[u8]>,
    sent_bytes: u64,
    /// The kernel knows `epoll_pwait2` (Linux 5.11).
    nanoseconds: bool,
}

impl<const STAMPED: bool> Epoll<STAMPED> {
    /// An epoll instance without sockets.
    ///
    /// # Errors
    /// When the process may not have another file descriptor.
    pub(crate) fn new(endpoint: Endpoint) -> Result<Self, Errno> {
        Ok(Self {
            epoll: epoll::create(CreateFlags::CLOEXEC)?,
            endpoint,
            slots: Vec::new(),
            ready: vec![libc::epoll_event { events: 0, u64: 0 }; EVENTS_MAX],
            hints: VecDeque::with_capacity(2 * EVENTS_MAX),
            again: Vec::with_capacity(EVENTS_MAX),
            found: VecDeque::with_capacity(FOUND_MAX),
            found_ns: 0,
            arrivals: Arrivals::default(),
            came_ns: 0,
            filled: 0,
            failed: VecDeque::new(),
            queued: Vec::new(),
            queue_look_ns: 0,
            buffer: vec![0; BUFFER_BYTES].into_boxed_slice(),
            sent_bytes: 0,
            nanoseconds: true,
        })
    }

    fn connect(&self, slot: usize) -> Result<OwnedFd, Errno> {
        let fd = self.endpoint.socket(Blocking::No)?;
        if STAMPED {
            stamp_arrivals(&fd);
        }
        self.endpoint.connect(&fd)?;
        let token = token(slot, self.slots[slot].generation);
        let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        epoll::add(&self.epoll, &fd, EventData::new_u64(token), flags)?;
        Ok(fd)
    }

    /// Has the slots try again that found the queue of a Unix socket full, now and then: nothing
    /// tells when there is room. Returns how long the next wait may be, at most `timeout_ns`.
    fn look_at_queue(&mut self, timeout_ns: u64) -> u64 {
        let now = now_ns();
        if now >= self.queue_look_ns {
            self.queue_look_ns = now + QUEUE_LOOK_NS;
            for (slot, generation) in std::mem::take(&mut self.queued) {
                if self.slots[slot].generation == generation {
                    self.open(slot);
                }
            }
        }
        timeout_ns.min(self.queue_look_ns - now)
    }

    /// Hands as much of the unsent payload to the kernel as it takes. A service may answer, close
    /// and so reset the connection before it has read everything: when the kernel refuses, what
    /// was received comes first.
    fn flush(&mut self, slot: usize) {
        let Slot { generation, socket } = &mut self.slots[slot];
        let Some(socket) = socket else { return };
        while let Some((payload, taken)) = &mut socket.unsent {
            match send(&socket.fd, &payload.bytes()[*taken..], SendFlags::NOSIGNAL) {
                Ok(bytes) => {
                    *taken += bytes;
                    self.sent_bytes += bytes as u64;
                    if *taken == payload.bytes().len() {
                        socket.unsent = socket.queue.pop_front().map(|next| (next, 0));
                    }
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                Err(errno) => {
                    socket.broken = Some(errno);
                    self.again.push(Hint {
                        slot,
                        generation: *generation,
                        flags: EventFlags::IN.bits() | ENDING,
                    });
                    return;
                }
            }
        }
    }

    /// The outcome of a connection attempt that epoll says is over.
    fn connected(&mut self, slot: usize) -> Option<Event<'static>> {
        let socket = self.slots[slot].socket.as_mut()?;
        match sockopt::socket_error(&socket.fd) {
            Ok(Ok(())) => {
                socket.connecting = false;
                Some(Event::Connected)
            }
            Ok(Err(errno)) | Err(errno) => Some(Event::Refused(errno)),
        }
    }

    /// Errors that were noticed while opening, of sockets that are still there.
    fn next_failed(&mut self) -> Option<(usize, Event<'static>)> {
        while let Some((slot, generation, event)) = self.failed.pop_front() {
            let current = self.slots.get(slot);
            if current.is_some_and(|slot| slot.generation == generation) {
                return Some((slot, event));
            }
        }
        None
    }

    /// Looks at what is to be looked at, as far as there is room for what is found.
    fn find(&mut self) {
        self.filled = 0;
        while self.found.len() < FOUND_MAX
            && self.filled + RECEIVE_BYTES <= self.buffer.len()
            && let Some(hint) = self.hints.pop_front()
        {
            if let Some(looked) = self.look(hint) {
                self.found.push_back(Found {
                    slot: hint.slot,
                    generation: hint.generation,
                    looked,
                });
            }
        }
        self.found_ns = now_ns();
        if STAMPED {
            self.arrivals.renew(self.found_ns);
        }
    }

    /// When something that was found had come.
    fn came(&self, looked: &Looked) -> u64 {
        match looked {
            Looked::Data { stamp_ns, .. } => self.arrivals.instant(*stamp_ns, self.found_ns),
            Looked::Event(_) => self.found_ns,
        }
    }

    /// Looks at one slot; the bytes received are in the buffer.
    fn look(&mut self, hint: Hint) -> Option<Looked> {
        let slot = self.slots.get_mut(hint.slot)?;
        let socket = slot.socket.as_mut()?;
        if slot.generation != hint.generation {
            return None;
        }
        if socket.connecting {
            // An error or a first byte that came along is still there at the next look.
            if hint.flags & (EventFlags::IN.bits() | ENDING) != 0 {
                self.again.push(hint);
            }
            return self.connected(hint.slot).map(Looked::Event);
        }
        if hint.flags & EventFlags::OUT.bits() != 0
            && socket.unsent.is_some()
            && socket.broken.is_none()
        {
            self.flush(hint.slot);
        }
        if hint.flags & (EventFlags::IN.bits() | ENDING) == 0 {
            return None;
        }
        let socket = self.slots[hint.slot].socket.as_ref()?;
        let broken = |errno| Looked::Event(Event::Broken(errno));
        let from = self.filled;
        let room = &mut self.buffer[from..from + RECEIVE_BYTES];
        loop {
            let received = if STAMPED {
                receive_stamped(&socket.fd, room)
            } else {
                recv(&socket.fd, &mut *room, RecvFlags::empty()).map(|(bytes, _)| (bytes, None))
            };
            match received {
                Ok((0, _)) => {
                    return Some(socket.broken.map_or(Looked::Event(Event::End), broken));
                }
                Ok((bytes, stamp_ns)) => {
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
                        stamp_ns,
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

/// What a look at a slot found.
#[derive(Debug)]
enum Looked {
    Event(Event<'static>),
    /// Bytes in the buffer.
    Data {
        from: usize,
        bytes: usize,
        ending: bool,
        /// When the kernel says that they arrived, in nanoseconds since the Unix epoch.
        stamp_ns: Option<u64>,
    },
}

/// What was found and not handled yet.
#[derive(Debug)]
struct Found {
    slot: usize,
    generation: u32,
    looked: Looked,
}

impl<const STAMPED: bool> Reactor for Epoll<STAMPED> {
    const NAME: &'static str = if STAMPED { "epoll-stamped" } else { "epoll" };

    fn resize(&mut self, count: usize) {
        // Slots are never taken away: their generations keep late events apart.
        if count > self.slots.len() {
            self.slots.resize_with(count, Slot::default);
        }
    }

    fn open(&mut self, slot: usize) {
        match self.connect(slot) {
            Ok(fd) => {
                self.slots[slot].socket = Some(Socket {
                    fd,
                    connecting: true,
                    unsent: None,
                    queue: VecDeque::new(),
                    broken: None,
                });
            }
            // The service is slow to accept: TCP would go on by itself, until the time is up.
            Err(Errno::AGAIN) if matches!(self.endpoint, Endpoint::Unix(_)) => {
                self.queued.push((slot, self.slots[slot].generation));
            }
            Err(errno) => {
                let generation = self.slots[slot].generation;
                let failed = (slot, generation, Event::Refused(errno));
                self.failed.push_back(failed);
            }
        }
    }

    #[inline]
    fn send(&mut self, slot: usize, payload: Payload) {
        if let Some(socket) = &mut self.slots[slot].socket {
            if socket.unsent.is_some() {
                socket.queue.push_back(payload);
                return;
            }
            socket.unsent = Some((payload, 0));
            self.flush(slot);
        }
    }

    fn is_sending(&self, slot: usize) -> bool {
        let socket = self.slots[slot].socket.as_ref();
        socket.is_some_and(|socket| socket.unsent.is_some())
    }

    fn close(&mut self, slot: usize) {
        let slot = &mut self.slots[slot];
        slot.generation = slot.generation.wrapping_add(1);
        slot.socket = None;
    }

    fn wait(&mut self, mut timeout_ns: u64) -> Result<(), Errno> {
        if !self.queued.is_empty() {
            timeout_ns = self.look_at_queue(timeout_ns);
        }
        let waiting = !self.again.is_empty() || !self.failed.is_empty();
        let found = self.poll(if waiting { 0 } else { timeout_ns })?;
        self.hints.extend(self.again.drain(..));
        for event in &self.ready[..found] {
            let (slot, generation) = untoken(event.u64);
            self.hints.push_back(Hint {
                slot,
                generation,
                flags: event.events,
            });
        }
        Ok(())
    }

    #[inline]
    fn next(&mut self) -> Option<(usize, Event<'_>)> {
        loop {
            if !self.failed.is_empty()
                && let Some(failed) = self.next_failed()
            {
                return Some(failed);
            }
            let Some(found) = self.found.pop_front() else {
                if self.hints.is_empty() {
                    return None;
                }
                self.find();
                continue;
            };
            // What was handled since may have closed it.
            if self.slots[found.slot].generation != found.generation {
                continue;
            }
            self.came_ns = self.came(&found.looked);
            return Some(match found.looked {
                Looked::Event(event) => (found.slot, event),
                Looked::Data {
                    from,
                    bytes,
                    ending,
                    ..
                } => {
                    let bytes = &self.buffer[from..from + bytes];
                    (found.slot, Event::Data { bytes, ending })
                }
            });
        }
    }

    fn came_ns(&self) -> u64 {
        self.came_ns
    }

    fn sent_bytes(&self) -> u64 {
        self.sent_bytes
    }
}

/// Slot and generation in the 64 bits that the kernel carries for us.
fn token(slot: usize, generation: u32) -> u64 {
    (slot as u64) << 32 | u64::from(generation)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the halves of what `token` made"
)]
fn untoken(token: u64) -> (usize, u32) {
    ((token >> 32) as usize, token as u32)
}
