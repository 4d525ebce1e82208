//! The connections of a thread: their sockets, the requests in flight on them, and when to try
//! again those that failed. From events of the reactor it makes events of protocols; what these
//! mean for the load is the worker's business.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;
use std::rc::Rc;

use bakeoff_model::load::{ErrorClass, LoadSpec, MinMax};
use rustix::io::Errno;

use super::connection::{Connection, ConnectionStage};
use crate::payload::Payload;
use crate::protocol::any::{AnyProtocol, slots};
use crate::protocol::event::ProtocolEvent;
use crate::protocol::http1::head::HeadCache;
use crate::protocol::interface::Protocol as _;
use crate::random::Random;
use crate::transport::reactor::{Event, Reactor};
use crate::transport::socket::{broken_class, connect_class};
use crate::transport::tls::TlsSettings;

/// One request in flight after the other. A connection has a slot for each request that it may
/// have in flight.
#[derive(Debug, Default)]
pub(super) struct Slot {
    /// Its request was sent and has not come to an end.
    in_flight: bool,
    /// When its last request was sent, monotonic ns.
    pub(super) sent_ns: u64,
    /// When that was due, monotonic ns; the send in closed load.
    pub(super) intended_ns: u64,
    /// When the response before arrived, monotonic ns; 0 when there was none on this connection
    /// and in this window.
    pub(super) received_ns: u64,
    /// Index of the request.
    pub(super) request: usize,
    /// How many requests it has sent, plus its own offset.
    pub(super) turn: usize,
    /// Right responses in this step.
    pub(super) responses: u64,
}

impl Slot {
    /// Whether its request was sent and has not come to an end.
    #[inline]
    pub(super) fn is_in_flight(&self) -> bool {
        self.in_flight
    }
}

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
    /// `slots_each` for each connection in turn.
    slots: Vec<Slot>,
    slots_each: usize,
    /// Decrypted bytes of the last event, or the rest of it.
    plain: Vec<u8>,
    unread: Option<Unread>,
    /// Connections that are established.
    established: u32,
    /// Slots with a request in flight.
    in_flight: u32,
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
            retries: BinaryHeap::new(),
            received_bytes: 0,
        }
    }

    /// Makes them `count`, closing those beyond. A new slot starts with the turn that `first_turn`
    /// says for its connection and its number on it.
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

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// How many slots there are.
    pub(super) fn slot_count(&self) -> usize {
        self.slots.len()
    }

    /// How many are established.
    pub(super) fn established(&self) -> u32 {
        self.established
    }

    /// How many are on their way from no socket to their first request.
    pub(super) fn opening(&self) -> usize {
        self.all.iter().filter(|one| one.is_opening()).count()
    }

    /// Slots with a request in flight.
    #[inline]
    pub(super) fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// Requests that the established connections may have in flight together.
    pub(super) fn in_flight_max(&self) -> u32 {
        let up = self.all.iter().filter(|one| one.is_up());
        let slots = u32::try_from(self.slots_each).unwrap_or(u32::MAX);
        up.map(|one| one.protocol.streams().unwrap_or(slots)).sum()
    }

    /// The fewest streams that an established one may have; `None` without streams.
    pub(super) fn streams_min(&self) -> Option<u32> {
        let up = self.all.iter().filter(|one| one.is_up());
        up.filter_map(|one| one.protocol.streams()).min()
    }

    /// One connection.
    #[inline]
    pub(super) fn get(&self, connection: usize) -> &Connection {
        &self.all[connection]
    }

    /// One connection.
    #[inline]
    pub(super) fn get_mut(&mut self, connection: usize) -> &mut Connection {
        &mut self.all[connection]
    }

    /// One slot of all connections.
    #[inline]
    pub(super) fn slot(&self, index: usize) -> &Slot {
        &self.slots[index]
    }

    /// One slot of all connections.
    #[inline]
    pub(super) fn slot_mut(&mut self, index: usize) -> &mut Slot {
        &mut self.slots[index]
    }

    /// All slots.
    pub(super) fn all_slots(&mut self) -> &mut [Slot] {
        &mut self.slots
    }

    /// The connection of a slot, and the number of the slot on it.
    #[inline]
    pub(super) fn slot_of(&self, index: usize) -> (usize, usize) {
        // The usual case without a division, which would cost more than all else.
        match self.slots_each {
            1 => (index, 0),
            each => (index / each, index % each),
        }
    }

    /// The slots of a connection.
    #[inline]
    pub(super) fn slots_of(&self, connection: usize) -> Range<usize> {
        connection * self.slots_each..(connection + 1) * self.slots_each
    }

    /// Whether a request of the connection is in flight.
    pub(super) fn is_busy(&self, connection: usize) -> bool {
        let slots = &self.slots[self.slots_of(connection)];
        slots.iter().any(Slot::is_in_flight)
    }

    /// Whether a request may be sent from a free slot of the connection.
    #[inline]
    pub(super) fn has_capacity(&mut self, connection: usize) -> bool {
        let connection = &mut self.all[connection];
        connection.stage == ConnectionStage::Established && connection.protocol.has_capacity()
    }

    /// Bytes that the kernel has taken and given so far.
    pub(super) fn bytes(&self) -> (u64, u64) {
        (self.reactor.sent_bytes(), self.received_bytes)
    }

    /// Whether the kernel has not taken all that was sent.
    #[inline]
    pub(super) fn is_sending(&self, connection: usize) -> bool {
        self.reactor.is_sending(connection)
    }

    /// Right responses of the slowest and the fastest connection in this step.
    pub(super) fn responses(&self) -> Option<MinMax> {
        let each = self.slots.chunks(self.slots_each);
        let counts = each.map(|slots| slots.iter().map(|slot| slot.responses).sum::<u64>());
        let (min, max) = counts.clone().min().zip(counts.max())?;
        Some(MinMax { min, max })
    }

    /// Starts to open a closed one.
    pub(super) fn connect(&mut self, connection: usize, now: u64) {
        let one = &mut self.all[connection];
        one.stage = ConnectionStage::Connecting;
        one.since_ns = now;
        self.reactor.open(connection);
    }

    /// Its handshakes are over.
    pub(super) fn establish(&mut self, connection: usize) {
        let one = &mut self.all[connection];
        one.stage = ConnectionStage::Established;
        one.used = false;
        self.established += 1;
    }

    /// One that was established turned out not to be.
    pub(super) fn disestablish(&mut self, connection: usize) {
        self.all[connection].stage = ConnectionStage::Handshake;
        self.established -= 1;
    }

    /// Closes one, whatever it was doing.
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

    /// A request of this slot goes out.
    #[inline]
    pub(super) fn begin_request(&mut self, index: usize) -> &mut Slot {
        self.in_flight += 1;
        let slot = &mut self.slots[index];
        slot.in_flight = true;
        slot.turn += 1;
        slot
    }

    /// The request of this slot has come to its end; `false` when there was none.
    #[inline]
    pub(super) fn end_request(&mut self, index: usize) -> bool {
        let was = std::mem::take(&mut self.slots[index].in_flight);
        self.in_flight -= u32::from(was);
        was
    }

    /// Has a slot, or its connection when that is closed, tried again at a time.
    pub(super) fn retry_at(&mut self, at_ns: u64, index: usize) {
        self.retries.push(Reverse((at_ns, index)));
    }

    /// Has the closed connection tried again after its pause.
    pub(super) fn retry_connection(&mut self, connection: usize, now: u64) {
        let at_ns = now + self.all[connection].backoff_ns();
        self.retry_at(at_ns, connection * self.slots_each);
    }

    /// The next slot that is due for another attempt at `now`.
    pub(super) fn take_retry(&mut self, now: u64) -> Option<usize> {
        let &Reverse((at_ns, index)) = self.retries.peek()?;
        if at_ns > now {
            return None;
        }
        self.retries.pop();
        Some(index)
    }

    /// When the next attempt is due.
    #[inline]
    pub(super) fn next_retry_ns(&self) -> Option<u64> {
        self.retries.peek().map(|Reverse((at_ns, _))| *at_ns)
    }

    /// Nothing is tried again.
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

    /// The next connection to which something happened, and what.
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

    /// Goes on with bytes of which the protocol has left some.
    fn read_on(&mut self, mut unread: Unread, events: &mut Vec<ProtocolEvent>) -> usize {
        let connection = unread.connection;
        let rest = &self.plain[unread.taken..];
        let one = &mut self.all[connection];
        unread.taken += one.protocol.receive(rest, unread.received_ns, events);
        self.after_reading(unread, self.plain.len(), events);
        connection
    }

    /// The protocol took some of `given` bytes; what their end means once it has taken all.
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
