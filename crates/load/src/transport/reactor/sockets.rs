//! The sockets of a reactor by the number of their connection, with the bytes that the kernel has
//! not accepted yet: the common state of all reactors.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;

use rustix::io::Errno;

use crate::payload::Payload;

/// The socket of a connection.
#[derive(Debug)]
pub(super) struct Socket {
    pub(super) fd: OwnedFd,
    pub(super) connecting: bool,
    /// The payload that the kernel has not accepted completely, and how many of its bytes it has.
    pub(super) unsent: Option<(Payload, usize)>,
    /// Payloads that follow.
    queue: VecDeque<Payload>,
    /// Why the kernel accepts nothing any more. Received bytes are still read; unsent ones stay.
    pub(super) broken: Option<Errno>,
}

impl Socket {
    /// Queues a payload after those that are not sent yet; `false` if there are none, so that it
    /// need not wait.
    #[inline]
    pub(super) fn enqueue(&mut self, payload: Payload) -> bool {
        if self.unsent.is_some() {
            self.queue.push_back(payload);
            return true;
        }
        self.unsent = Some((payload, 0));
        false
    }

    /// Notes that the kernel accepted this many more bytes of the payload that is being sent.
    #[inline]
    pub(super) fn taken(&mut self, bytes: usize) {
        if let Some((payload, taken)) = &mut self.unsent {
            *taken += bytes;
            if *taken == payload.bytes().len() {
                self.unsent = self.queue.pop_front().map(|next| (next, 0));
            }
        }
    }
}

/// A connection's entry; the generation distinguishes events of its earlier sockets.
#[derive(Debug, Default)]
struct Entry {
    generation: u32,
    socket: Option<Socket>,
}

/// The sockets of a reactor.
#[derive(Debug, Default)]
pub(super) struct Sockets {
    entries: Vec<Entry>,
    /// Connections whose connect failed at once, with their generation.
    refused: VecDeque<(usize, u32, Errno)>,
    /// Bytes that the kernel has taken so far.
    pub(super) sent_bytes: u64,
}

impl Sockets {
    /// Makes sure that there are entries for `0..count`. Entries are never removed: their
    /// generations distinguish late events.
    pub(super) fn resize(&mut self, count: usize) {
        if count > self.entries.len() {
            self.entries.resize_with(count, Entry::default);
        }
    }

    /// Returns the number of entries.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the generation of a connection's socket, or of its next one.
    #[inline]
    pub(super) fn generation(&self, connection: usize) -> u32 {
        self.entries[connection].generation
    }

    /// Whether this still is the generation of that connection.
    #[inline]
    pub(super) fn is_current(&self, connection: usize, generation: u32) -> bool {
        let entry = self.entries.get(connection);
        entry.is_some_and(|entry| entry.generation == generation)
    }

    /// The socket of a connection, if it has one.
    #[inline]
    pub(super) fn get(&self, connection: usize) -> Option<&Socket> {
        self.entries.get(connection)?.socket.as_ref()
    }

    /// The socket of a connection, if it has one.
    #[inline]
    pub(super) fn get_mut(&mut self, connection: usize) -> Option<&mut Socket> {
        self.entries.get_mut(connection)?.socket.as_mut()
    }

    /// Adds a socket that has started to connect.
    pub(super) fn insert(&mut self, connection: usize, fd: OwnedFd) {
        self.entries[connection].socket = Some(Socket {
            fd,
            connecting: true,
            unsent: None,
            queue: VecDeque::new(),
            broken: None,
        });
    }

    /// Removes the socket of a connection; no event of it is current any more.
    pub(super) fn remove(&mut self, connection: usize) -> Option<Socket> {
        let entry = &mut self.entries[connection];
        entry.generation = entry.generation.wrapping_add(1);
        entry.socket.take()
    }

    /// Records a connection whose connect failed at once.
    pub(super) fn refuse(&mut self, connection: usize, errno: Errno) {
        let generation = self.generation(connection);
        self.refused.push_back((connection, generation, errno));
    }

    /// Whether [`Sockets::next_refused`] may have something.
    #[inline]
    pub(super) fn has_refused(&self) -> bool {
        !self.refused.is_empty()
    }

    /// Returns the next connection whose connect failed at once and that was not closed since.
    pub(super) fn next_refused(&mut self) -> Option<(usize, Errno)> {
        while let Some((connection, generation, errno)) = self.refused.pop_front() {
            if self.is_current(connection, generation) {
                return Some((connection, errno));
            }
        }
        None
    }

    /// Whether the kernel has not taken all that was sent, or never will.
    #[inline]
    pub(super) fn is_sending(&self, connection: usize) -> bool {
        self.get(connection)
            .is_some_and(|socket| socket.unsent.is_some())
    }
}
