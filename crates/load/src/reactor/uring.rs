//! io_uring: one issuer per ring, completions run when this thread waits (no interrupts of it in
//! between), one multishot receive per connection into a ring of buffers.
//!
//! Sends are calls of their own as long as the kernel takes all at once: on the ring each would
//! cost as much as the call that it saves, and the real send would drift away from the instant
//! that was noted for it. The ring finishes what the kernel does not take.

#![expect(
    unsafe_code,
    reason = "requests point to memory that the kernel uses later"
)]

use std::collections::VecDeque;
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd as _, OwnedFd};

use io_uring::types::{Fd, RecvMsgOut, SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, opcode, squeue};
use rustix::io::Errno;
use rustix::net::{SendFlags, Shutdown, SocketAddrAny, send, shutdown};

use super::arrivals::Arrivals;
use super::buffers::Buffers;
use super::completion::{CANCEL, CONNECT, Completion, RECEIVE, SEND, token, untoken};
use super::{Event, Payload, Reactor};
use crate::clock::now_ns;
use crate::socket::{Blocking, Endpoint, STAMP_BYTES, stamp_arrivals, stamp_ns};

/// Requests that one submission can take over.
const ENTRIES: u32 = 512;

/// Completions that fit before the kernel has to keep them elsewhere.
const COMPLETIONS: u32 = 1024;

/// The one group of receive buffers.
const GROUP: u16 = 0;

/// Bytes that the kernel writes in front of a stamped receive, its `io_uring_recvmsg_out`.
const RECEIVED_HEAD_BYTES: usize = 16;

/// How often a closing ring is waited for, a millisecond each, before its memory is left to the
/// kernel for good.
const CLOSING_WAITS: usize = 200;

/// One socket of a slot.
#[derive(Debug)]
struct Socket {
    fd: OwnedFd,
    connecting: bool,
    /// What the ring is sending: the payload and how much of it was sent before.
    sending: Option<(Payload, usize)>,
    /// What comes after it.
    queue: VecDeque<Payload>,
    /// Why the kernel takes nothing any more; no send is under way then.
    broken: Option<Errno>,
}

/// A slot; the generation tells completions of its earlier sockets apart.
#[derive(Debug, Default)]
struct Slot {
    generation: u32,
    socket: Option<Socket>,
}

/// The sockets of one thread on io_uring.
pub(crate) struct Uring<const STAMPED: bool> {
    ring: IoUring,
    /// What stamped receives ask for.
    header: Box<libc::msghdr>,
    buffers: ManuallyDrop<Buffers>,
    /// Payloads of sends whose slot was closed before they ended, by token.
    lingering: ManuallyDrop<Vec<(u64, Payload)>>,
    endpoint: Endpoint,
    address: Box<SocketAddrAny>,
    slots: Vec<Slot>,
    ready: VecDeque<Completion>,
    /// The buffer of the event that was returned last.
    borrowed: Option<u16>,
    /// Events that did not come from the ring: slot, generation, event.
    failed: VecDeque<(usize, u32, Event<'static>)>,
    /// Requests whose last completion has not come.
    under_way: usize,
    /// When the completions were taken over, monotonic ns.
    found_ns: u64,
    arrivals: Arrivals,
    /// When what the last event tells had come.
    came_ns: u64,
    sent_bytes: u64,
}

impl<const STAMPED: bool> Uring<STAMPED> {
    /// Bytes in a buffer before what was received.
    const RECEIVED_AT: usize = if STAMPED {
        RECEIVED_HEAD_BYTES + STAMP_BYTES
    } else {
        0
    };

    /// A ring without sockets, to be used by the calling thread only.
    ///
    /// # Errors
    /// When the kernel, its settings or a filter of system calls do not allow such a ring.
    pub(crate) fn new(endpoint: Endpoint) -> Result<Self, Errno> {
        let errno = |error: std::io::Error| {
            Errno::from_raw_os_error(error.raw_os_error().unwrap_or(libc::EIO))
        };
        let ring = IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_submit_all()
            .setup_cqsize(COMPLETIONS)
            .build(ENTRIES)
            .map_err(errno)?;
        let buffers = Buffers::register(&ring.submitter(), GROUP).map_err(errno)?;
        // SAFETY: a header of zeros is an empty one.
        let mut header: Box<libc::msghdr> = Box::new(unsafe { std::mem::zeroed() });
        header.msg_controllen = STAMP_BYTES;
        Ok(Self {
            ring,
            header,
            buffers: ManuallyDrop::new(buffers),
            lingering: ManuallyDrop::default(),
            address: Box::new(endpoint.any()),
            endpoint,
            slots: Vec::new(),
            ready: VecDeque::with_capacity(1024),
            borrowed: None,
            failed: VecDeque::new(),
            under_way: 0,
            found_ns: 0,
            arrivals: Arrivals::default(),
            came_ns: 0,
            sent_bytes: 0,
        })
    }

    /// Queues a request. What it points to must stay where it is until its last completion.
    fn push(&mut self, entry: squeue::Entry, slot: usize, kind: u64) {
        let token = token(slot, self.slots[slot].generation, kind);
        let entry = entry.user_data(token);
        self.under_way += 1;
        loop {
            // SAFETY: the addresses in entries are those of `self.address` and `self.header`, which
            // live as long as the ring, and of payloads, which are kept in their slot or in
            // `lingering` until their completion. Receives use the registered buffers.
            if unsafe { self.ring.submission().push(&entry) }.is_ok() {
                return;
            }
            // A refusal (the kernel is out of memory for a moment) leaves them queued for the next
            // wait, which reports what lasts.
            let _ = self.ring.submit();
            if self.ring.submission().is_full() {
                // Completions have no room either: waiting takes them over.
                let _ = self.enter(0);
            }
        }
    }

    fn receive(&mut self, slot: usize) {
        let Some(socket) = &self.slots[slot].socket else {
            return;
        };
        let fd = Fd(socket.fd.as_raw_fd());
        let entry = if STAMPED {
            opcode::RecvMsgMulti::new(fd, &raw const *self.header, GROUP).build()
        } else {
            opcode::RecvMulti::new(fd, GROUP).build()
        };
        self.push(entry, slot, RECEIVE);
    }

    /// Has the ring send what is left of the slot's payload.
    fn transmit(&mut self, slot: usize) {
        let Some(socket) = &self.slots[slot].socket else {
            return;
        };
        let Some((payload, sent)) = &socket.sending else {
            return;
        };
        let rest = &payload.bytes()[*sent..];
        // What does not fit into the length is sent after this part.
        let length = u32::try_from(rest.len()).unwrap_or(u32::MAX);
        let entry = opcode::Send::new(Fd(socket.fd.as_raw_fd()), rest.as_ptr(), length)
            .flags(libc::MSG_NOSIGNAL | libc::MSG_WAITALL)
            .build();
        self.push(entry, slot, SEND);
    }

    /// Takes one completion; what is to be told about it, if anything.
    fn complete(&mut self, completion: Completion) -> Option<Told> {
        let (slot, generation, kind) = untoken(completion.token);
        let more = cqueue::more(completion.flags);
        self.under_way -= usize::from(!more);
        let buffer = cqueue::buffer_select(completion.flags);
        let current = self.slots.get(slot).filter(|s| s.generation == generation);
        if current.is_none_or(|slot| slot.socket.is_none()) {
            self.forget(completion.token, buffer);
            return None;
        }
        match (kind, completion.amount()) {
            (CONNECT, Ok(_)) => {
                if let Some(socket) = &mut self.slots[slot].socket {
                    socket.connecting = false;
                }
                self.receive(slot);
                Some(Told::Event(Event::Connected))
            }
            (CONNECT, Err(errno)) => Some(Told::Event(Event::Refused(errno))),
            (RECEIVE, Ok(bytes)) if bytes <= Self::RECEIVED_AT => {
                self.forget(completion.token, buffer);
                let broken = self.broken(slot).map(Event::Broken);
                Some(Told::Event(broken.unwrap_or(Event::End)))
            }
            (RECEIVE, Ok(bytes)) => {
                if !more {
                    self.receive(slot);
                }
                let buffer = buffer?;
                self.borrowed = Some(buffer);
                // The end of the stream comes right after the last bytes.
                let next = self.ready.front();
                let ending = next.is_some_and(|next| {
                    let bytes = next.amount().unwrap_or(0);
                    next.token == completion.token && bytes <= Self::RECEIVED_AT
                });
                Some(Told::Data {
                    buffer,
                    bytes,
                    ending,
                })
            }
            (RECEIVE, Err(Errno::NOBUFS | Errno::AGAIN | Errno::INTR)) => {
                self.receive(slot);
                None
            }
            (SEND, Ok(bytes)) => {
                self.sent(slot, bytes);
                None
            }
            (RECEIVE, Err(errno)) => {
                let errno = self.broken(slot).unwrap_or(errno);
                Some(Told::Event(Event::Broken(errno)))
            }
            (SEND, Err(errno)) => {
                self.stop_sending(slot, errno);
                None
            }
            _ => None,
        }
    }

    /// Why the kernel takes nothing any more from this slot.
    fn broken(&self, slot: usize) -> Option<Errno> {
        self.slots[slot].socket.as_ref()?.broken
    }

    /// The kernel takes nothing any more. A service may answer, close and so reset the connection
    /// before it has read everything: what was received comes first, then this error.
    fn stop_sending(&mut self, slot: usize, errno: Errno) {
        if let Some(socket) = &mut self.slots[slot].socket {
            socket.broken = Some(errno);
            // The receive ends when all has been read, also if the other side goes on.
            let _ = shutdown(&socket.fd, Shutdown::Both);
        }
    }

    /// A completion of a socket that is gone: what it held is free.
    fn forget(&mut self, token: u64, buffer: Option<u16>) {
        if let Some(buffer) = buffer {
            self.buffers.give_back(buffer);
        }
        self.lingering.retain(|(lingering, _)| *lingering != token);
    }

    /// The kernel took this many bytes of the slot's payload.
    fn sent(&mut self, slot: usize, bytes: usize) {
        self.sent_bytes += bytes as u64;
        let Some(socket) = &mut self.slots[slot].socket else {
            return;
        };
        let Some((payload, sent)) = &mut socket.sending else {
            return;
        };
        *sent += bytes;
        if *sent == payload.bytes().len() {
            socket.sending = socket.queue.pop_front().map(|next| (next, 0));
        }
        if socket.sending.is_some() {
            self.transmit(slot);
        }
    }

    /// Takes the completions over and waits for the first of them.
    fn enter(&mut self, timeout_ns: u64) -> Result<(), Errno> {
        let time = Timespec::new()
            .sec(timeout_ns / 1_000_000_000)
            .nsec(u32::try_from(timeout_ns % 1_000_000_000).unwrap_or(0));
        let arguments = SubmitArgs::new().timespec(&time);
        let result = self.ring.submitter().submit_with_args(1, &arguments);
        self.found_ns = now_ns();
        if STAMPED {
            self.arrivals.renew(self.found_ns);
        }
        if self.ready.is_empty() {
            // From its beginning again: the same memory stays in the cache.
            self.ready.clear();
        }
        let entries = self.ring.completion();
        self.ready
            .extend(entries.map(|entry| Completion::of(&entry)));
        match result.map_err(|error| error.raw_os_error()) {
            // Out of room for completions: they have just been taken.
            Ok(_) | Err(Some(libc::ETIME | libc::EINTR | libc::EBUSY | libc::EAGAIN)) => Ok(()),
            Err(code) => Err(Errno::from_raw_os_error(code.unwrap_or(libc::EIO))),
        }
    }
}

/// What a completion means for the owner of its slot.
enum Told {
    Event(Event<'static>),
    Data {
        buffer: u16,
        bytes: usize,
        ending: bool,
    },
}

impl<const STAMPED: bool> Reactor for Uring<STAMPED> {
    const NAME: &'static str = if STAMPED { "uring-stamped" } else { "uring" };

    fn resize(&mut self, count: usize) {
        // Slots are never taken away: their generations keep late completions apart.
        if count > self.slots.len() {
            self.slots.resize_with(count, Slot::default);
        }
    }

    fn open(&mut self, slot: usize) {
        // The ring waits by itself; on a socket that must not block it would not.
        match self.endpoint.socket(Blocking::Yes) {
            Ok(fd) => {
                if STAMPED {
                    stamp_arrivals(&fd);
                }
                let raw = Fd(fd.as_raw_fd());
                self.slots[slot].socket = Some(Socket {
                    fd,
                    connecting: true,
                    sending: None,
                    queue: VecDeque::new(),
                    broken: None,
                });
                let (address, length) = (self.address.as_ptr().cast(), self.address.addr_len());
                let entry = opcode::Connect::new(raw, address, length).build();
                self.push(entry, slot, CONNECT);
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
        let Some(socket) = &mut self.slots[slot].socket else {
            return;
        };
        if socket.sending.is_some() {
            socket.queue.push_back(payload);
            return;
        }
        let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
        let taken = match send(&socket.fd, payload.bytes(), flags) {
            Ok(taken) => taken,
            Err(Errno::AGAIN | Errno::INTR) => 0,
            Err(errno) => {
                // It stays there: nothing is sent after it.
                socket.sending = Some((payload, 0));
                self.stop_sending(slot, errno);
                return;
            }
        };
        self.sent_bytes += taken as u64;
        if taken < payload.bytes().len() {
            socket.sending = Some((payload, taken));
            self.transmit(slot);
        }
    }

    fn is_sending(&self, slot: usize) -> bool {
        let socket = self.slots[slot].socket.as_ref();
        socket.is_some_and(|socket| socket.sending.is_some())
    }

    fn close(&mut self, slot: usize) {
        let Some(socket) = self.slots[slot].socket.take() else {
            self.slots[slot].generation = self.slots[slot].generation.wrapping_add(1);
            return;
        };
        let generation = self.slots[slot].generation;
        if socket.connecting {
            let connect = token(slot, generation, CONNECT);
            self.push(opcode::AsyncCancel::new(connect).build(), slot, CANCEL);
        }
        // What is queued must reach the kernel while the descriptor still is this socket.
        while !self.ring.submission().is_empty() {
            if self.ring.submit().is_err() {
                let _ = self.enter(0);
            }
        }
        if !socket.connecting {
            // Requests hold the socket open: this ends them, and with them the connection.
            let _ = shutdown(&socket.fd, Shutdown::Both);
        }
        if let Some((payload, _)) = socket.sending.filter(|_| socket.broken.is_none()) {
            self.lingering
                .push((token(slot, generation, SEND), payload));
        }
        self.slots[slot].generation = generation.wrapping_add(1);
    }

    fn wait(&mut self, timeout_ns: u64) -> Result<(), Errno> {
        self.enter(if self.failed.is_empty() {
            timeout_ns
        } else {
            0
        })
    }

    #[inline]
    fn next(&mut self) -> Option<(usize, Event<'_>)> {
        if let Some(buffer) = self.borrowed.take() {
            self.buffers.give_back(buffer);
        }
        self.came_ns = self.found_ns;
        while let Some((slot, generation, event)) = self.failed.pop_front() {
            let current = self.slots.get(slot);
            if current.is_some_and(|slot| slot.generation == generation) {
                return Some((slot, event));
            }
        }
        loop {
            let completion = self.ready.pop_front()?;
            let (slot, ..) = untoken(completion.token);
            match self.complete(completion) {
                None => {}
                Some(Told::Event(event)) => return Some((slot, event)),
                Some(Told::Data {
                    buffer,
                    bytes,
                    ending,
                }) => {
                    let mut bytes = self.buffers.bytes(buffer, bytes);
                    if STAMPED && let Ok(message) = RecvMsgOut::parse(bytes, &self.header) {
                        let stamp_ns = stamp_ns(message.control_data());
                        self.came_ns = self.arrivals.instant(stamp_ns, self.found_ns);
                        bytes = &bytes[Self::RECEIVED_AT..];
                    }
                    return Some((slot, Event::Data { bytes, ending }));
                }
            }
        }
    }

    fn came_ns(&self) -> u64 {
        self.came_ns
    }

    fn sent_bytes(&self) -> u64 {
        self.sent_bytes
    }
}

impl<const STAMPED: bool> Drop for Uring<STAMPED> {
    fn drop(&mut self) {
        for slot in 0..self.slots.len() {
            self.close(slot);
        }
        for _ in 0..CLOSING_WAITS {
            if self.under_way == 0 || self.enter(1_000_000).is_err() {
                break;
            }
            while let Some(completion) = self.ready.pop_front() {
                self.complete(completion);
            }
        }
        if self.under_way == 0 {
            // SAFETY: neither is used again, and no request is left that could use their memory.
            // Otherwise both are leaked: lost memory is better than memory that changes.
            unsafe {
                ManuallyDrop::drop(&mut self.buffers);
                ManuallyDrop::drop(&mut self.lingering);
            }
        }
    }
}
