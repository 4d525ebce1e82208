//! io_uring: one issuer per ring, completions run when this thread waits (no interrupts of it in
//! between), one multishot receive per connection into a ring of buffers.
//!
//! Sends are separate calls as long as the kernel accepts everything immediately: on the ring each
//! would cost as much as the call that it saves, and the actual send would drift away from its
//! recorded time. The ring finishes the bytes that the kernel does not accept.

#![expect(
    unsafe_code,
    reason = "requests point to memory that the kernel uses later"
)]

use std::collections::VecDeque;
use std::mem::ManuallyDrop;
use std::os::fd::AsRawFd as _;

use io_uring::types::{Fd, RecvMsgOut, SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, opcode, squeue};
use rustix::io::Errno;
use rustix::net::{SendFlags, Shutdown, SocketAddrAny, send, shutdown};

use super::buffers::Buffers;
use super::completion::{CANCEL, CONNECT, Completion, RECEIVE, SEND, token, untoken};
use super::receive_clock::ReceiveClock;
use super::sockets::Sockets;
use super::{Event, Reactor};
use crate::clock::now_ns;
use crate::payload::Payload;
use crate::transport::socket::{
    Blocking, Endpoint, TIMESTAMP_BYTES, TIMESTAMP_LENGTH, enable_rx_timestamps, timestamp_ns,
};

/// Requests that one submission can take over.
const ENTRIES: u32 = 512;

/// Completions that fit before the kernel has to keep them elsewhere.
const COMPLETIONS: u32 = 1024;

/// The one group of receive buffers.
const GROUP: u16 = 0;

/// Bytes that the kernel writes in front of a receive with a timestamp, its `io_uring_recvmsg_out`.
const RECEIVED_HEAD_BYTES: usize = 16;

/// How often a closing ring is waited for, a millisecond each, before its memory is left to the
/// kernel for good.
const CLOSING_WAITS: usize = 200;

/// The sockets of one thread on io_uring.
pub(crate) struct Uring<const RX_TIMESTAMPS: bool> {
    ring: IoUring,
    /// The message header of receives with a timestamp.
    header: Box<libc::msghdr>,
    buffers: ManuallyDrop<Buffers>,
    /// Payloads of sends whose connection was closed before they ended, by token.
    lingering: ManuallyDrop<Vec<(u64, Payload)>>,
    endpoint: Endpoint,
    address: Box<SocketAddrAny>,
    sockets: Sockets,
    ready: VecDeque<Completion>,
    /// The buffer of the event that was returned last.
    borrowed: Option<u16>,
    /// Number of requests whose last completion has not arrived.
    under_way: usize,
    /// When the completions were taken, monotonic ns.
    found_ns: u64,
    clock: ReceiveClock,
}

impl<const RX_TIMESTAMPS: bool> Uring<RX_TIMESTAMPS> {
    /// Bytes in a buffer before the received ones.
    const RECEIVED_AT: usize = if RX_TIMESTAMPS {
        RECEIVED_HEAD_BYTES + TIMESTAMP_BYTES
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
        header.msg_controllen = TIMESTAMP_LENGTH.into();
        Ok(Self {
            ring,
            header,
            buffers: ManuallyDrop::new(buffers),
            lingering: ManuallyDrop::default(),
            address: Box::new(endpoint.any()),
            endpoint,
            sockets: Sockets::default(),
            ready: VecDeque::with_capacity(1024),
            borrowed: None,
            under_way: 0,
            found_ns: 0,
            clock: ReceiveClock::default(),
        })
    }

    /// Queues a request. The memory that it points to must stay until its last completion.
    fn push(&mut self, entry: squeue::Entry, connection: usize, kind: u64) {
        let token = token(connection, self.sockets.generation(connection), kind);
        let entry = entry.user_data(token);
        self.under_way += 1;
        loop {
            // SAFETY: the addresses in entries are those of `self.address` and `self.header`, which
            // live as long as the ring, and of payloads, which are kept in their socket or in
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

    fn receive(&mut self, connection: usize) {
        let Some(socket) = self.sockets.get(connection) else {
            return;
        };
        let fd = Fd(socket.fd.as_raw_fd());
        let entry = if RX_TIMESTAMPS {
            opcode::RecvMsgMulti::new(fd, &raw const *self.header, GROUP).build()
        } else {
            opcode::RecvMulti::new(fd, GROUP).build()
        };
        self.push(entry, connection, RECEIVE);
    }

    /// Lets the ring send the rest of the payload that is being sent.
    fn transmit(&mut self, connection: usize) {
        let Some(socket) = self.sockets.get(connection) else {
            return;
        };
        let Some((payload, taken)) = &socket.unsent else {
            return;
        };
        let rest = &payload.bytes()[*taken..];
        // What does not fit into the length is sent after this part.
        let length = u32::try_from(rest.len()).unwrap_or(u32::MAX);
        let entry = opcode::Send::new(Fd(socket.fd.as_raw_fd()), rest.as_ptr(), length)
            .flags(libc::MSG_NOSIGNAL | libc::MSG_WAITALL)
            .build();
        self.push(entry, connection, SEND);
    }

    /// Takes a completion and returns its meaning to the owner of the connection, if any.
    fn complete(&mut self, completion: Completion) -> Option<Outcome> {
        let (connection, generation, kind) = untoken(completion.token);
        let more = cqueue::more(completion.flags);
        self.under_way -= usize::from(!more);
        let buffer = cqueue::buffer_select(completion.flags);
        let current = self.sockets.is_current(connection, generation);
        if !current || self.sockets.get(connection).is_none() {
            self.forget(completion.token, buffer);
            return None;
        }
        match (kind, completion.amount()) {
            (CONNECT, Ok(_)) => {
                if let Some(socket) = self.sockets.get_mut(connection) {
                    socket.connecting = false;
                }
                self.receive(connection);
                Some(Outcome::Event(Event::Connected))
            }
            (CONNECT, Err(errno)) => Some(Outcome::Event(Event::Refused(errno))),
            (RECEIVE, received) => self.received(connection, completion, received, buffer),
            (SEND, Ok(bytes)) => {
                self.sent(connection, bytes);
                None
            }
            (SEND, Err(errno)) => {
                self.stop_sending(connection, errno);
                None
            }
            _ => None,
        }
    }

    /// Takes the completion of a receive.
    fn received(
        &mut self,
        connection: usize,
        completion: Completion,
        received: Result<usize, Errno>,
        buffer: Option<u16>,
    ) -> Option<Outcome> {
        match received {
            Ok(bytes) if bytes <= Self::RECEIVED_AT => {
                self.forget(completion.token, buffer);
                let end = Event::End {
                    received_ns: self.found_ns,
                };
                let broken = self.broken(connection).map(Event::Broken);
                Some(Outcome::Event(broken.unwrap_or(end)))
            }
            Ok(bytes) => {
                if !cqueue::more(completion.flags) {
                    self.receive(connection);
                }
                let buffer = buffer?;
                self.borrowed = Some(buffer);
                // The end of the stream comes right after the last bytes.
                let next = self.ready.front();
                let ending = next.is_some_and(|next| {
                    let bytes = next.amount().unwrap_or(0);
                    next.token == completion.token && bytes <= Self::RECEIVED_AT
                });
                Some(Outcome::Data {
                    buffer,
                    bytes,
                    ending,
                })
            }
            Err(Errno::NOBUFS | Errno::AGAIN | Errno::INTR) => {
                self.receive(connection);
                None
            }
            Err(errno) => {
                let errno = self.broken(connection).unwrap_or(errno);
                Some(Outcome::Event(Event::Broken(errno)))
            }
        }
    }

    /// Returns why the kernel accepts nothing more for this connection.
    fn broken(&self, connection: usize) -> Option<Errno> {
        self.sockets.get(connection)?.broken
    }

    /// Handles a kernel that accepts nothing more. A service may respond, close and so reset the
    /// connection before it has read everything: received bytes come first, then this error.
    fn stop_sending(&mut self, connection: usize, errno: Errno) {
        if let Some(socket) = self.sockets.get_mut(connection) {
            socket.broken = Some(errno);
            // The receive ends when all has been read, also if the other side goes on.
            let _ = shutdown(&socket.fd, Shutdown::Both);
        }
    }

    /// Handles a completion of a closed socket: its memory is free.
    fn forget(&mut self, token: u64, buffer: Option<u16>) {
        if let Some(buffer) = buffer {
            self.buffers.give_back(buffer);
        }
        self.lingering.retain(|(lingering, _)| *lingering != token);
    }

    /// Notes that the kernel accepted this many bytes of the payload that is being sent.
    fn sent(&mut self, connection: usize, bytes: usize) {
        self.sockets.sent_bytes += bytes as u64;
        let Some(socket) = self.sockets.get_mut(connection) else {
            return;
        };
        socket.taken(bytes);
        if socket.unsent.is_some() {
            self.transmit(connection);
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
        if RX_TIMESTAMPS {
            self.clock.refresh(self.found_ns);
        }
        if self.ready.is_empty() {
            // From its start again: the same memory stays in the cache.
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

/// The meaning of a completion to the owner of its connection.
enum Outcome {
    Event(Event<'static>),
    Data {
        buffer: u16,
        bytes: usize,
        ending: bool,
    },
}

impl<const RX_TIMESTAMPS: bool> Reactor for Uring<RX_TIMESTAMPS> {
    const NAME: &'static str = if RX_TIMESTAMPS {
        "uring-rx-timestamps"
    } else {
        "uring"
    };

    fn resize(&mut self, count: usize) {
        self.sockets.resize(count);
    }

    fn open(&mut self, connection: usize) {
        // The ring waits by itself; on a non-blocking socket it would not.
        match self.endpoint.socket(Blocking::Yes) {
            Ok(fd) => {
                if RX_TIMESTAMPS {
                    enable_rx_timestamps(&fd);
                }
                let raw = Fd(fd.as_raw_fd());
                self.sockets.insert(connection, fd);
                let (address, length) = (self.address.as_ptr().cast(), self.address.addr_len());
                let entry = opcode::Connect::new(raw, address, length).build();
                self.push(entry, connection, CONNECT);
            }
            Err(errno) => self.sockets.refuse(connection, errno),
        }
    }

    #[inline]
    fn send(&mut self, connection: usize, payload: Payload) {
        let Some(socket) = self.sockets.get_mut(connection) else {
            return;
        };
        if socket.unsent.is_some() {
            socket.enqueue(payload);
            return;
        }
        let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
        let taken = match send(&socket.fd, payload.bytes(), flags) {
            Ok(taken) if taken == payload.bytes().len() => {
                self.sockets.sent_bytes += taken as u64;
                return;
            }
            Ok(taken) => taken,
            Err(Errno::AGAIN | Errno::INTR) => 0,
            Err(errno) => {
                // The payload stays there: nothing is sent after it.
                socket.enqueue(payload);
                self.stop_sending(connection, errno);
                return;
            }
        };
        socket.enqueue(payload);
        socket.taken(taken);
        self.sockets.sent_bytes += taken as u64;
        self.transmit(connection);
    }

    #[inline]
    fn is_sending(&self, connection: usize) -> bool {
        self.sockets.is_sending(connection)
    }

    fn close(&mut self, connection: usize) {
        let generation = self.sockets.generation(connection);
        let connecting = self.sockets.get(connection).map(|socket| socket.connecting);
        if connecting == Some(true) {
            let connect = token(connection, generation, CONNECT);
            let cancel = opcode::AsyncCancel::new(connect).build();
            self.push(cancel, connection, CANCEL);
        }
        // What is queued must reach the kernel while the descriptor still is this socket.
        while connecting.is_some() && !self.ring.submission().is_empty() {
            if self.ring.submit().is_err() {
                let _ = self.enter(0);
            }
        }
        let Some(socket) = self.sockets.remove(connection) else {
            return;
        };
        if !socket.connecting {
            // Requests hold the socket open: this ends them, and with them the connection.
            let _ = shutdown(&socket.fd, Shutdown::Both);
        }
        if let Some((payload, _)) = socket.unsent.filter(|_| socket.broken.is_none()) {
            let send = token(connection, generation, SEND);
            self.lingering.push((send, payload));
        }
    }

    fn wait(&mut self, timeout_ns: u64) -> Result<(), Errno> {
        self.enter(if self.sockets.has_refused() {
            0
        } else {
            timeout_ns
        })
    }

    #[inline]
    fn next(&mut self) -> Option<(usize, Event<'_>)> {
        if let Some(buffer) = self.borrowed.take() {
            self.buffers.give_back(buffer);
        }
        if self.sockets.has_refused()
            && let Some((connection, errno)) = self.sockets.next_refused()
        {
            return Some((connection, Event::Refused(errno)));
        }
        loop {
            let completion = self.ready.pop_front()?;
            let (connection, ..) = untoken(completion.token);
            match self.complete(completion) {
                None => {}
                Some(Outcome::Event(event)) => return Some((connection, event)),
                Some(Outcome::Data {
                    buffer,
                    bytes,
                    ending,
                }) => {
                    let mut bytes = self.buffers.bytes(buffer, bytes);
                    let mut received_ns = self.found_ns;
                    if RX_TIMESTAMPS && let Ok(message) = RecvMsgOut::parse(bytes, &self.header) {
                        let timestamp_ns = timestamp_ns(message.control_data());
                        received_ns = self.clock.received_ns(timestamp_ns, self.found_ns);
                        bytes = &bytes[Self::RECEIVED_AT..];
                    }
                    let data = Event::Data {
                        bytes,
                        received_ns,
                        ending,
                    };
                    return Some((connection, data));
                }
            }
        }
    }

    fn sent_bytes(&self) -> u64 {
        self.sockets.sent_bytes
    }
}

impl<const RX_TIMESTAMPS: bool> Drop for Uring<RX_TIMESTAMPS> {
    fn drop(&mut self) {
        for connection in 0..self.sockets.len() {
            self.close(connection);
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
