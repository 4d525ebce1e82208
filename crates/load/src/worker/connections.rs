//! The connections of a thread: their sockets, the requests in flight on them, and when to retry
//! those that failed. It converts events of the reactor to events of protocols, which the worker
//! interprets.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;
use std::rc::Rc;

use bakeoff_model::load::{ErrorClass, LoadSpec, MinMax};
use rustix::io::Errno;

use super::connection::{Connection, ConnectionStage};
use super::slot::Slot;
use crate::payload::Payload;
use crate::protocol::any::{AnyProtocol, slots};
use crate::protocol::event::ProtocolEvent;
use crate::protocol::http1::head::HeadCache;
use crate::protocol::interface::Protocol as _;
use crate::transport::reactor::{Event, Reactor};
use crate::transport::socket::{broken_class, connect_class};
use crate::transport::tls::TlsSettings;
use bakeoff_base::random::Random;

/// Decrypted or copied bytes of which the protocol has left some.
#[derive(Debug)]
struct Unread {
    connection: usize,
    /// Bytes that were taken.
    taken: usize,
    received_ns: u64,
    ending: bool,
}

/// The settings of all connections of a thread.
#[derive(Debug)]
pub(super) struct Setup {
    /// TLS, if the spec wants it.
    pub(super) tls: Option<TlsSettings>,
    /// The first request of WebSocket.
    pub(super) upgrade: Rc<[u8]>,
    /// Gives each protocol its seed.
    pub(super) random: Random,
}

/// The connections of a thread.
#[derive(Debug)]
pub(super) struct Connections<R> {
    reactor: R,
    setup: Setup,
    /// The response head that any of them read last.
    heads: HeadCache,
    all: Vec<Connection>,
    /// Slots, `slots_each` for each connection in turn.
    slots: Vec<Slot>,
    slots_each: usize,
    /// Decrypted bytes of the last event, or the rest of it.
    plain: Vec<u8>,
    unread: Option<Unread>,
    /// Connections that are established.
    established: u32,
    /// Slots with a request in flight.
    in_flight: u32,
    /// Slots with a request that has to be sent once more.
    postponed: u32,
    /// Slots that are due for another attempt at some time, earliest first.
    retries: BinaryHeap<Reverse<(u64, usize)>>,
    received_bytes: u64,
}

impl<R: Reactor> Connections<R> {
    /// No connections yet.
    pub(super) fn new(spec: &LoadSpec, reactor: R, setup: Setup) -> Self {
        Self {
            reactor,
            setup,
            heads: HeadCache::default(),
            all: Vec::new(),
            slots: Vec::new(),
            slots_each: slots(spec),
            plain: Vec::new(),
            unread: None,
            established: 0,
            in_flight: 0,
            postponed: 0,
            retries: BinaryHeap::new(),
            received_bytes: 0,
        }
    }

    /// Resizes to `count` connections, closing those beyond. A new slot starts with the turn that
    /// `first_turn` returns for its connection and its number on it.
    pub(super) fn resize(
        &mut self,
        spec: &LoadSpec,
        count: usize,
        first_turn: impl Fn(usize, usize) -> usize,
    ) {
        for connection in count..self.all.len() {
            self.close(connection);
        }
        self.all.truncate(count);
        self.slots.truncate(count * self.slots_each);
        self.reactor.resize(count);
        let Setup {
            upgrade, random, ..
        } = &mut self.setup;
        let heads = &self.heads;
        self.all.resize_with(count, || {
            Connection::new(AnyProtocol::new(spec, upgrade, heads, random.bits()))
        });
        for index in self.slots.len()..count * self.slots_each {
            let (connection, slot) = self.slot_of(index);
            self.slots.push(Slot {
                turn: first_turn(connection, slot),
                ..Slot::default()
            });
        }
        self.retries.clear();
        self.retries.reserve(self.slots.len());
        self.forgive();
    }

    /// Forgets earlier failures.
    pub(super) fn forgive(&mut self) {
        for connection in &mut self.all {
            connection.failures = 0;
        }
    }

    /// Returns the number of connections.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// Returns the number of slots.
    pub(super) fn slot_count(&self) -> usize {
        self.slots.len()
    }

    /// Returns the number of established connections.
    pub(super) fn established(&self) -> u32 {
        self.established
    }

    /// Returns the number of connections between having no socket and their first request.
    pub(super) fn opening(&self) -> usize {
        self.all.iter().filter(|one| one.is_opening()).count()
    }

    /// Returns the number of slots with a request in flight.
    #[inline]
    pub(super) fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// Whether a request was sent and has not ended, or has to be sent once more.
    #[inline]
    pub(super) fn has_unfinished(&self) -> bool {
        self.in_flight + self.postponed > 0
    }

    /// Returns the number of requests that the established connections may have in flight together.
    pub(super) fn in_flight_max(&self) -> u32 {
        let up = self.all.iter().filter(|one| one.is_up());
        let slots = u32::try_from(self.slots_each).unwrap_or(u32::MAX);
        up.map(|one| one.protocol.streams().unwrap_or(slots)).sum()
    }

    /// Returns the fewest streams that an established connection may have; `None` without streams.
    pub(super) fn streams_min(&self) -> Option<u32> {
        let up = self.all.iter().filter(|one| one.is_up());
        up.filter_map(|one| one.protocol.streams()).min()
    }

    /// Returns a connection.
    #[inline]
    pub(super) fn get(&self, connection: usize) -> &Connection {
        &self.all[connection]
    }

    /// Returns a connection.
    #[inline]
    pub(super) fn get_mut(&mut self, connection: usize) -> &mut Connection {
        &mut self.all[connection]
    }

    /// Returns a slot of all connections.
    #[inline]
    pub(super) fn slot(&self, index: usize) -> &Slot {
        &self.slots[index]
    }

    /// Returns a slot of all connections.
    #[inline]
    pub(super) fn slot_mut(&mut self, index: usize) -> &mut Slot {
        &mut self.slots[index]
    }

    /// Returns all slots.
    pub(super) fn all_slots(&mut self) -> &mut [Slot] {
        &mut self.slots
    }

    /// Returns the connection of a slot, and the number of the slot on it.
    #[inline]
    pub(super) fn slot_of(&self, index: usize) -> (usize, usize) {
        // The usual case without a division, which would cost more than everything else.
        match self.slots_each {
            1 => (index, 0),
            each => (index / each, index % each),
        }
    }

    /// Returns the slots of a connection.
    #[inline]
    pub(super) fn slots_of(&self, connection: usize) -> Range<usize> {
        connection * self.slots_each..(connection + 1) * self.slots_each
    }

    /// Whether a request of the connection is in flight.
    pub(super) fn is_busy(&self, connection: usize) -> bool {
        let slots = &self.slots[self.slots_of(connection)];
        slots.iter().any(|slot| slot.in_flight)
    }

    /// Whether a request may be sent from a free slot of the connection.
    #[inline]
    pub(super) fn has_capacity(&mut self, connection: usize) -> bool {
        let connection = &mut self.all[connection];
        connection.stage == ConnectionStage::Established && connection.protocol.has_capacity()
    }

    /// Returns the bytes that the kernel has accepted and delivered so far.
    pub(super) fn bytes(&self) -> (u64, u64) {
        (self.reactor.sent_bytes(), self.received_bytes)
    }

    /// Whether the kernel has not accepted all sent bytes.
    #[inline]
    pub(super) fn is_sending(&self, connection: usize) -> bool {
        self.reactor.is_sending(connection)
    }

    /// Returns the right responses of the slowest and the fastest connection in this step.
    pub(super) fn responses(&self) -> Option<MinMax> {
        let each = self.slots.chunks(self.slots_each);
        let counts = each.map(|slots| slots.iter().map(|slot| slot.responses).sum::<u64>());
        let (min, max) = counts.clone().min().zip(counts.max())?;
        Some(MinMax { min, max })
    }

    /// Starts to open a closed connection.
    pub(super) fn connect(&mut self, connection: usize, now: u64) {
        let one = &mut self.all[connection];
        one.stage = ConnectionStage::Connecting;
        one.since_ns = now;
        self.reactor.open(connection);
    }

    /// Notes that the handshakes of a connection are over.
    pub(super) fn establish(&mut self, connection: usize) {
        let one = &mut self.all[connection];
        one.stage = ConnectionStage::Established;
        (one.used, one.answered) = (false, false);
        self.established += 1;
    }

    /// Notes that an established connection turned out not to be.
    pub(super) fn disestablish(&mut self, connection: usize) {
        self.all[connection].stage = ConnectionStage::Handshake;
        self.established -= 1;
    }

    /// Closes a connection, whatever its stage.
    pub(super) fn close(&mut self, connection: usize) {
        let range = self.slots_of(connection);
        let one = &mut self.all[connection];
        if one.stage == ConnectionStage::Closed {
            return;
        }
        self.established -= u32::from(one.is_up());
        one.stage = ConnectionStage::Closed;
        one.session = None;
        for slot in &mut self.slots[range] {
            self.in_flight -= u32::from(slot.in_flight);
            slot.in_flight = false;
            slot.received_ns = 0;
        }
        self.reactor.close(connection);
    }

    /// Starts a request of this slot.
    #[inline]
    pub(super) fn begin_request(&mut self, index: usize) -> &mut Slot {
        self.in_flight += 1;
        let slot = &mut self.slots[index];
        slot.in_flight = true;
        slot.in_vain = 0;
        slot.turn += 1;
        slot
    }

    /// Notes that the request in flight of a slot has to be sent once more; `false` if it was sent
    /// `at_most` times in vain already.
    pub(super) fn postpone(&mut self, index: usize, at_most: u8) -> bool {
        if self.slots[index].in_vain >= at_most || !self.end_request(index) {
            return false;
        }
        let slot = &mut self.slots[index];
        slot.in_vain += 1;
        slot.postponed = true;
        self.postponed += 1;
        true
    }

    /// Takes the note that the request of a slot has to be sent once more; `false` without one.
    #[inline]
    pub(super) fn take_postponed(&mut self, index: usize) -> bool {
        let was = std::mem::take(&mut self.slots[index].postponed);
        self.postponed -= u32::from(was);
        was
    }

    /// Continues with the request of a slot, which is sent once more.
    pub(super) fn resume_request(&mut self, index: usize) {
        self.in_flight += 1;
        self.slots[index].in_flight = true;
    }

    /// Forgets the requests that have to be sent once more.
    pub(super) fn clear_postponed(&mut self) {
        self.postponed = 0;
        for slot in &mut self.slots {
            slot.postponed = false;
        }
    }

    /// Ends the request of this slot; `false` if there was none.
    #[inline]
    pub(super) fn end_request(&mut self, index: usize) -> bool {
        let was = std::mem::take(&mut self.slots[index].in_flight);
        self.in_flight -= u32::from(was);
        was
    }

    /// Retries a slot, or its connection if that is closed, at a time.
    pub(super) fn retry_at(&mut self, at_ns: u64, index: usize) {
        self.retries.push(Reverse((at_ns, index)));
    }

    /// Retries the closed connection after its pause.
    pub(super) fn retry_connection(&mut self, connection: usize, now: u64) {
        let at_ns = now + self.all[connection].backoff_ns();
        self.retry_at(at_ns, connection * self.slots_each);
    }

    /// Returns the next slot that is due for another attempt at `now`.
    pub(super) fn take_retry(&mut self, now: u64) -> Option<usize> {
        let &Reverse((at_ns, index)) = self.retries.peek()?;
        if at_ns > now {
            return None;
        }
        self.retries.pop();
        Some(index)
    }

    /// Returns when the next attempt is due.
    #[inline]
    pub(super) fn next_retry_ns(&self) -> Option<u64> {
        self.retries.peek().map(|Reverse((at_ns, _))| *at_ns)
    }

    /// Cancels all retries.
    pub(super) fn clear_retries(&mut self) {
        self.retries.clear();
    }

    /// Waits until something happens, at most this long.
    #[inline]
    pub(super) fn wait(&mut self, timeout_ns: u64) -> Result<(), Errno> {
        self.reactor.wait(timeout_ns)
    }

    /// Sends what the protocol of a connection has written.
    #[inline]
    pub(super) fn flush(&mut self, connection: usize) {
        let one = &mut self.all[connection];
        if !one.is_started() {
            return;
        }
        let flushed = !self.reactor.is_sending(connection);
        let Some(payload) = one.protocol.output(flushed) else {
            return;
        };
        match &mut one.session {
            None => self.reactor.send(connection, payload),
            Some(session) => {
                session.write(payload.bytes());
                self.flush_session(connection);
            }
        }
    }

    /// Sends what the TLS session of a connection has written: handshakes, alerts, requests.
    fn flush_session(&mut self, connection: usize) {
        if let Some(session) = &mut self.all[connection].session
            && let Some(payload) = Payload::written(session.output())
        {
            self.reactor.send(connection, payload);
        }
    }

    /// Whether a connection's next events depend on the requests that follow the last ones.
    #[inline]
    pub(super) fn has_unread(&self) -> bool {
        self.unread.is_some()
    }

    /// Returns the next connection with an event, and its meaning.
    #[inline]
    pub(super) fn next(&mut self, events: &mut Vec<ProtocolEvent>) -> Option<usize> {
        if let Some(unread) = self.unread.take()
            && self.all[unread.connection].is_started()
        {
            return Some(self.read_on(unread, events));
        }
        let (connection, event) = self.reactor.next()?;
        let one = &mut self.all[connection];
        match event {
            Event::Data {
                bytes,
                received_ns,
                ending,
            } => {
                self.received_bytes += bytes.len() as u64;
                let (taken, given) = if one.session.is_none() {
                    let taken = one.protocol.receive(bytes, received_ns, events);
                    if taken < bytes.len() {
                        self.plain.clear();
                        self.plain.extend_from_slice(bytes);
                    }
                    (taken, bytes.len())
                } else {
                    let taken = one.decrypt(bytes, received_ns, &mut self.plain, events);
                    self.flush_session(connection);
                    (taken, self.plain.len())
                };
                let read = Unread {
                    connection,
                    taken,
                    received_ns,
                    ending,
                };
                self.after_reading(read, given, events);
            }
            Event::Connected => {
                one.connected(self.setup.tls.as_ref(), events);
                self.flush_session(connection);
            }
            Event::Refused(errno) => events.push(ProtocolEvent::Failed {
                class: connect_class(errno),
                message: format!("connect: {}", std::io::Error::from(errno)),
            }),
            Event::End { received_ns } => one.end(received_ns, self.slots_each, events),
            Event::Broken(errno) => events.push(ProtocolEvent::Failed {
                class: match one.stage {
                    ConnectionStage::TlsHandshake => ErrorClass::Tls,
                    _ => broken_class(errno),
                },
                message: std::io::Error::from(errno).to_string(),
            }),
        }
        Some(connection)
    }

    /// Continues with bytes that the protocol has left.
    fn read_on(&mut self, mut unread: Unread, events: &mut Vec<ProtocolEvent>) -> usize {
        let connection = unread.connection;
        let rest = &self.plain[unread.taken..];
        let one = &mut self.all[connection];
        unread.taken += one.protocol.receive(rest, unread.received_ns, events);
        self.after_reading(unread, self.plain.len(), events);
        connection
    }

    /// Handles bytes of which the protocol took some, and what their end means once it has taken
    /// all.
    #[inline]
    fn after_reading(&mut self, read: Unread, given: usize, events: &mut Vec<ProtocolEvent>) {
        let one = &mut self.all[read.connection];
        if read.taken < given {
            self.unread = Some(read);
        } else if one.is_session_closed() {
            one.end(read.received_ns, self.slots_each, events);
        } else if read.ending && one.stage == ConnectionStage::Established {
            events.push(ProtocolEvent::Draining);
        }
    }
}
