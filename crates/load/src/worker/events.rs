//! What a thread does about the events of its connections.

use bakeoff_model::load::ErrorClass;
use rustix::io::Errno;

use super::Worker;
use super::messages::stamped_ns;
use super::outcome::{Outcome, decrypt, take};
use crate::clock::now_ns;
use crate::connection::State;
use crate::link::{Stage, Told, Wire};
use crate::reactor::{Event, Payload, Reactor};
use crate::socket::{broken_class, connect_class};
use crate::verify::judge;

impl<R: Reactor> Worker<'_, R> {
    /// Handles all events of the last wait, then sends the next requests: one kind of work after
    /// the other finds its code in the cache.
    pub(super) fn take_events(&mut self) {
        self.take_answers();
        let mut answered = std::mem::take(&mut self.answered);
        for index in answered.drain(..) {
            if self.connections[index].state == State::Idle {
                self.give_work(index, now_ns());
            }
        }
        self.answered = answered;
    }

    fn take_answers(&mut self) {
        while let Some((slot, event)) = self.reactor.next() {
            let link = &mut self.links[slot];
            let busy = self.connections[slot * self.width].state == State::Busy;
            let outcome = match event {
                Event::Data { bytes, ending } => {
                    self.tally.received_bytes += bytes.len() as u64;
                    if link.session.is_none() && matches!(link.wire, Wire::WebSocket(_)) {
                        self.plain.clear();
                        self.plain.extend_from_slice(bytes);
                        Outcome::Messages
                    } else if link.session.is_none() {
                        take(
                            &mut link.wire,
                            bytes,
                            ending,
                            busy,
                            &mut self.last_head,
                            &mut self.told,
                        )
                    } else {
                        self.plain.clear();
                        let secured = decrypt(link, bytes, &mut self.plain);
                        let ending = ending || link.is_session_closed();
                        match secured {
                            Outcome::More if self.plain.is_empty() => Outcome::More,
                            Outcome::More => take(
                                &mut link.wire,
                                &self.plain,
                                ending,
                                busy,
                                &mut self.last_head,
                                &mut self.told,
                            ),
                            secured => secured,
                        }
                    }
                }
                Event::Connected => Outcome::Connected,
                Event::Refused(errno) => Outcome::Refused(errno),
                Event::End => Outcome::End,
                Event::Broken(errno) => Outcome::Broken(errno),
            };
            self.send_session(slot);
            self.handle(slot, outcome);
            // Unless that has closed the link.
            if self.links[slot].is_session_closed() {
                self.handle(slot, Outcome::End);
            }
        }
    }

    /// Sends what the TLS session of a slot has to say: handshakes, alerts, new keys.
    #[inline]
    fn send_session(&mut self, slot: usize) {
        if let Some(session) = &mut self.links[slot].session {
            let output = session.output();
            if !output.is_empty() {
                self.reactor.send(slot, Payload::Owned(output));
            }
        }
    }

    /// Sends what the protocol of a slot has to say.
    pub(super) fn flush(&mut self, slot: usize) {
        let link = &mut self.links[slot];
        let mut bytes = link.wire.output(!self.reactor.is_sending(slot));
        if bytes.is_empty() {
            return;
        }
        if let Some(session) = &mut link.session {
            session.write(&bytes);
            bytes = session.output();
        }
        self.reactor.send(slot, Payload::Owned(bytes));
    }

    #[inline]
    fn handle(&mut self, slot: usize, outcome: Outcome) {
        let stage = self.links[slot].stage;
        match outcome {
            Outcome::More => {}
            Outcome::Whole { extra, ending } => self.answered_plain(slot, extra, ending),
            Outcome::Told => self.take_told(slot),
            Outcome::Messages => self.take_messages(slot),
            Outcome::Connected if self.tls.is_some() => self.begin_session(slot),
            Outcome::Connected => self.connected(slot),
            Outcome::Secured => {
                self.connected(slot);
                self.take_early(slot);
            }
            Outcome::Insecure(message) => self.fail_link(slot, ErrorClass::Tls, || message),
            Outcome::End if stage == Stage::Securing => {
                let message = || "closed during the handshake".to_owned();
                self.fail_link(slot, ErrorClass::Tls, message);
            }
            Outcome::Broken(errno) if stage == Stage::Securing => {
                self.fail_link(slot, ErrorClass::Tls, || words(errno));
            }
            Outcome::Refused(errno) => {
                self.fail_link(slot, connect_class(errno), || {
                    format!("connect: {}", words(errno))
                });
            }
            Outcome::Garbled(message) => self.fail_link(slot, ErrorClass::BadFraming, || message),
            Outcome::End if stage == Stage::Greeting || self.is_busy(slot) => self.ended(slot),
            Outcome::Broken(errno) if stage == Stage::Greeting || self.is_busy(slot) => {
                self.fail_link(slot, broken_class(errno), || words(errno));
            }
            // An idle connection that ends, or talks without being asked (a server's farewell
            // before it closes), costs no request: another one is opened.
            Outcome::Unasked | Outcome::End | Outcome::Broken(_) => self.reopen(slot),
        }
    }

    /// Whether a request of the link is in flight.
    pub(super) fn is_busy(&self, slot: usize) -> bool {
        let connections = &self.connections[self.connections_of(slot)];
        connections
            .iter()
            .any(|connection| connection.state == State::Busy)
    }

    /// Acts on what a protocol has told, then sends what it has to say.
    fn take_told(&mut self, slot: usize) {
        self.in_hand = Some(slot);
        let mut told = std::mem::take(&mut self.told);
        for told in told.drain(..) {
            let first = slot * self.width;
            match told {
                Told::Greeted if self.links[slot].stage == Stage::Greeting => self.opened(slot),
                // The link failed for what came before.
                Told::Greeted => {}
                Told::Whole(place) => self.answered(first + place, None),
                Told::Failed(place, class, message) => {
                    self.fail_request(first + place, class, || message);
                }
                Told::Wider => self.give_work_to_all(slot),
                Told::Retired if self.links[slot].stage == Stage::Open => {
                    self.links[slot].stage = Stage::Retiring;
                }
                Told::Retired if self.links[slot].stage == Stage::Greeting => {
                    let message = || "the service took leave at once".to_owned();
                    self.fail_link(slot, ErrorClass::EarlyClose, message);
                }
                Told::Retired => {}
                Told::Fault(class, message)
                    if self.links[slot].stage == Stage::Greeting || self.is_busy(slot) =>
                {
                    // The reason that the protocol gives the other side.
                    self.flush(slot);
                    self.fail_link(slot, class, || message);
                }
                Told::Fault(..) => self.reopen(slot),
            }
        }
        self.told = told;
        self.in_hand = None;
        self.flush(slot);
        self.let_go(slot);
    }

    /// The socket is established: the handshake is next, within the time allowed to connect.
    fn begin_session(&mut self, slot: usize) {
        let Some(settings) = &self.tls else { return };
        match settings.session() {
            Ok(session) => {
                self.links[slot].session = Some(Box::new(session));
                self.links[slot].stage = Stage::Securing;
                self.send_session(slot);
            }
            Err(message) => self.fail_link(slot, ErrorClass::Tls, || message),
        }
    }

    /// The way to the other side is open: the protocol may greet.
    fn connected(&mut self, slot: usize) {
        if self.links[slot].wire.greet() {
            self.links[slot].stage = Stage::Greeting;
            self.flush(slot);
        } else {
            self.opened(slot);
        }
    }

    /// Takes what came along with the end of the TLS handshake: a service may speak first.
    fn take_early(&mut self, slot: usize) {
        let link = &mut self.links[slot];
        if !self.plain.is_empty() && link.stage == Stage::Greeting {
            let outcome = take(
                &mut link.wire,
                &self.plain,
                false,
                false,
                &mut self.last_head,
                &mut self.told,
            );
            self.handle(slot, outcome);
        }
    }

    /// Requests may be sent.
    pub(super) fn opened(&mut self, slot: usize) {
        let now = now_ns();
        self.links[slot].stage = Stage::Open;
        self.links[slot].used = false;
        self.open += 1;
        if self.in_window(now) {
            self.tally.reconnects += 1;
        }
        self.give_work_to_all(slot);
    }

    /// The other side closed while an answer was awaited.
    fn ended(&mut self, slot: usize) {
        let may_end = self.links[slot].may_end();
        if let Wire::Http1(reader) = &self.links[slot].wire
            && may_end
            && reader.finish()
        {
            self.answered_plain(slot, false, true);
            return;
        }
        if let Wire::Pipelined(pipeline) = &mut self.links[slot].wire
            && may_end
            && pipeline.finish(&mut self.told)
        {
            self.take_told(slot);
            return;
        }
        let greeting = self.links[slot].stage == Stage::Greeting;
        let received = self.links[slot].wire.received(0);
        let (begun, bytes) = (received.begun, received.body_bytes);
        let single = self.width == 1;
        self.fail_link(slot, ErrorClass::EarlyClose, || {
            if greeting {
                "closed before the protocol was agreed upon".to_owned()
            } else if begun && single {
                format!("closed after {bytes} bytes of the body, before the answer was whole")
            } else if single {
                "closed before the first byte of an answer".to_owned()
            } else {
                "closed before the answer was whole".to_owned()
            }
        });
    }

    /// An answer of plain HTTP/1.1 is whole.
    #[inline]
    fn answered_plain(&mut self, slot: usize, extra: bool, ending: bool) {
        let Wire::Http1(reader) = &self.links[slot].wire else {
            return;
        };
        let keep = reader.keeps_alive()
            && !extra
            && !ending
            && !self.spec.keep_alive_off
            && !self.reactor.is_sending(slot);
        self.answered(slot, Some(After { extra, keep }));
    }

    /// An answer is whole: judge it, count it, go on.
    #[inline]
    pub(super) fn answered(&mut self, index: usize, after: Option<After>) {
        let came_ns = self.reactor.came_ns();
        // Asked first: an answer that comes too late is still in flight when the window closes.
        let in_window = self.in_window(came_ns);
        let (slot, place) = self.link_of(index);
        let connection = &mut self.connections[index];
        if connection.state != State::Busy {
            return;
        }
        connection.state = State::Idle;
        connection.came_ns = came_ns;
        self.busy -= 1;
        let link = &mut self.links[slot];
        link.failures = 0;
        if in_window {
            let mut service_ns = came_ns.saturating_sub(connection.since_ns);
            let response_ns = came_ns.saturating_sub(connection.intended_ns);
            let asked = connection.request;
            let request = self.requests.get(asked);
            let received = link.wire.received(place);
            let mut judgement = judge(request, received, after.is_some_and(|after| after.extra));
            if let (Ok(()), Some(users)) = (&judgement, &mut self.users) {
                judgement = users.learn(index, received, &request.name);
            }
            if let (Some(unit), Wire::WebSocket(client)) = (self.stamp, &link.wire) {
                match stamped_ns(client.beginning(), unit, came_ns) {
                    Ok(stamped_ns) => service_ns = stamped_ns,
                    Err(message) => judgement = Err((ErrorClass::WrongBody, message)),
                }
            }
            let good = judgement.is_ok();
            match judgement {
                Ok(()) => {
                    connection.answers += 1;
                    self.count_answer(asked, service_ns, response_ns);
                }
                Err((class, message)) => {
                    self.tally.fail(class, service_ns, || message);
                    self.tally.fail_request(asked);
                }
            }
            self.user_goes_on(index, good, came_ns);
        }
        match after {
            Some(after) if !after.keep => self.reopen(slot),
            // The same bytes may hold the next answer.
            _ if self.in_hand.is_some() => self.pass_on(index, now_ns()),
            _ => self.answered.push(index),
        }
    }
}

/// What a protocol with one request at a time says about the connection after an answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct After {
    /// Bytes followed that nobody asked for.
    pub(super) extra: bool,
    /// The connection may carry another request.
    pub(super) keep: bool,
}

fn words(errno: Errno) -> String {
    std::io::Error::from(errno).to_string()
}
