//! What a thread does about the events of its connections.

use std::cmp::Reverse;

use bakeoff_model::load::ErrorClass;
use rustix::io::Errno;

use super::Worker;
use crate::clock::now_ns;
use crate::connection::{Connection, State};
use crate::http1::{Progress, Reader};
use crate::reactor::{Event, Payload, Reactor};
use crate::request::Prepared;
use crate::socket::{broken_class, connect_class};
use crate::tls::Session;
use crate::verify::verify;

/// An event with its bytes already read.
enum Outcome {
    /// Nothing to do yet.
    More,
    Connected,
    /// The TLS handshake is over.
    Secured,
    /// TLS failed.
    Insecure(String),
    Refused(Errno),
    /// An answer is whole.
    Whole {
        /// Bytes followed that nobody asked for.
        extra: bool,
        /// The other side has closed after it.
        ending: bool,
    },
    /// Bytes came that are no HTTP.
    Garbled(String),
    /// Bytes came without a request.
    Unasked,
    End,
    Broken(Errno),
}

/// What an answer that is whole is worth.
type Judgement = Result<(), (ErrorClass, String)>;

impl<R: Reactor> Worker<'_, R> {
    /// Handles all events of the last wait.
    pub(super) fn take_events(&mut self) {
        while let Some((slot, event)) = self.reactor.next() {
            let connection = &mut self.connections[slot];
            let outcome = match event {
                Event::Data { bytes, ending } => {
                    self.tally.received_bytes += bytes.len() as u64;
                    match &mut connection.session {
                        None => take(connection, bytes, ending),
                        Some(session) => {
                            self.plain.clear();
                            match session.feed(bytes, &mut self.plain) {
                                Err(message) => Outcome::Insecure(message),
                                Ok(()) if connection.state == State::Connecting => secured(session),
                                Ok(()) if self.plain.is_empty() => Outcome::More,
                                Ok(()) => take(connection, &self.plain, ending),
                            }
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
        }
    }

    /// Sends what the TLS session of a slot has to say: handshakes, alerts, new keys.
    #[inline]
    fn send_session(&mut self, slot: usize) {
        if let Some(session) = &mut self.connections[slot].session {
            let output = session.output();
            if !output.is_empty() {
                self.reactor.send(slot, Payload::Owned(output));
            }
        }
    }

    #[inline]
    fn handle(&mut self, slot: usize, outcome: Outcome) {
        match outcome {
            Outcome::More => {}
            Outcome::Whole { extra, ending } => self.answered(slot, extra, ending),
            Outcome::Connected if self.tls.is_some() => self.begin_session(slot),
            Outcome::Connected | Outcome::Secured => self.connected(slot),
            Outcome::Insecure(message) => self.fail(slot, ErrorClass::Tls, || message),
            Outcome::End if self.connections[slot].state == State::Connecting => {
                let message = || "closed during the handshake".to_owned();
                self.fail(slot, ErrorClass::Tls, message);
            }
            Outcome::Broken(errno) if self.connections[slot].state == State::Connecting => {
                self.fail(slot, ErrorClass::Tls, || words(errno));
            }
            Outcome::Refused(errno) => {
                self.fail(slot, connect_class(errno), || {
                    format!("connect: {}", words(errno))
                });
            }
            Outcome::Garbled(message) => self.fail(slot, ErrorClass::BadFraming, || message),
            Outcome::End if self.connections[slot].state == State::Busy => self.ended(slot),
            Outcome::Broken(errno) if self.connections[slot].state == State::Busy => {
                self.fail(slot, broken_class(errno), || words(errno));
            }
            // An idle connection that ends, or talks without being asked (a server's farewell
            // before it closes), costs no request: another one is opened.
            Outcome::Unasked | Outcome::End | Outcome::Broken(_) => self.reopen(slot),
        }
    }

    /// The socket is established: the handshake is next, within the time allowed to connect.
    fn begin_session(&mut self, slot: usize) {
        let Some(settings) = &self.tls else { return };
        match settings.session() {
            Ok(session) => {
                self.connections[slot].session = Some(Box::new(session));
                self.send_session(slot);
            }
            Err(message) => self.fail(slot, ErrorClass::Tls, || message),
        }
    }

    fn connected(&mut self, slot: usize) {
        let now = now_ns();
        self.connections[slot].state = State::Idle;
        self.open += 1;
        if self.in_window(now) {
            self.tally.reconnects += 1;
        }
        self.give_work(slot, now);
    }

    /// The other side closed while an answer was awaited.
    fn ended(&mut self, slot: usize) {
        let reader = &self.connections[slot].reader;
        if reader.finish() {
            self.answered(slot, false, true);
            return;
        }
        let (begun, bytes) = (reader.has_begun(), reader.body_bytes());
        self.fail(slot, ErrorClass::EarlyClose, || {
            if begun {
                format!("closed after {bytes} bytes of the body, before the answer was whole")
            } else {
                "closed before the first byte of an answer".to_owned()
            }
        });
    }

    /// An answer is whole: judge it, count it, go on.
    #[inline]
    fn answered(&mut self, slot: usize, extra: bool, ending: bool) {
        let mut now = now_ns();
        // Asked first: an answer that comes too late is still in flight when the window closes.
        let in_window = self.in_window(now);
        let connection = &mut self.connections[slot];
        connection.state = State::Idle;
        connection.failures = 0;
        self.busy -= 1;
        let keep = connection.reader.keeps_alive()
            && !extra
            && !ending
            && !self.spec.keep_alive_off
            && !self.reactor.is_sending(slot);
        if in_window {
            let connection = &mut self.connections[slot];
            let service_ns = now.saturating_sub(connection.since_ns);
            let response_ns = now.saturating_sub(connection.intended_ns);
            let request = self.requests.get(connection.request);
            match judge(request, &mut connection.reader, extra) {
                Ok(()) => {
                    connection.answers += 1;
                    self.count_answer(service_ns, response_ns);
                }
                Err((class, message)) => self.tally.fail(class, service_ns, || message),
            }
            if self.connections[slot].reader.is_sampled() {
                // A check takes its time, which is not the service's.
                now = now_ns();
            }
        }
        if keep {
            self.give_work(slot, now);
        } else {
            self.reopen(slot);
        }
    }

    /// A connection or its request failed: count it and try again after a pause.
    pub(super) fn fail(
        &mut self,
        slot: usize,
        class: ErrorClass,
        example: impl FnOnce() -> String,
    ) {
        let now = now_ns();
        let in_window = self.in_window(now);
        let connection = &mut self.connections[slot];
        connection.failures += 1;
        if in_window {
            let age_ns = now.saturating_sub(connection.since_ns);
            let from_intended_ns = now.saturating_sub(connection.intended_ns);
            let connecting = connection.state == State::Connecting;
            self.tally.fail(class, age_ns, example);
            match class {
                ErrorClass::HeaderTimeout | ErrorClass::BodyTimeout => {
                    self.tally.censored.record(from_intended_ns);
                }
                _ => {}
            }
            if connecting {
                self.spend_request();
            }
        }
        self.drop_socket(slot);
        self.retry_later(slot, now, in_window);
    }

    /// Closes a connection that did nothing wrong and opens another one.
    fn reopen(&mut self, slot: usize) {
        self.drop_socket(slot);
        let now = now_ns();
        self.retries.push(Reverse((now, slot)));
    }

    fn retry_later(&mut self, slot: usize, now: u64, in_window: bool) {
        let connection = &self.connections[slot];
        if in_window || connection.failures < super::ATTEMPTS_MAX {
            let at = now + connection.backoff_ns();
            self.retries.push(Reverse((at, slot)));
        }
    }
}

/// What bytes mean to a connection.
#[inline]
fn take(connection: &mut Connection, bytes: &[u8], ending: bool) -> Outcome {
    if connection.state != State::Busy {
        return Outcome::Unasked;
    }
    match connection.reader.feed(bytes) {
        Ok(Progress::More) => Outcome::More,
        Ok(Progress::Whole { rest }) => Outcome::Whole {
            extra: rest > 0,
            ending,
        },
        Err(message) => Outcome::Garbled(message),
    }
}

fn secured(session: &Session) -> Outcome {
    if session.is_handshaking() {
        Outcome::More
    } else {
        Outcome::Secured
    }
}

/// Whether an answer is right: framing, status and length always, the rest when it is sampled.
#[inline]
fn judge(request: &Prepared, reader: &mut Reader, extra: bool) -> Judgement {
    if extra {
        let message = format!("bytes after the answer to {}", request.name);
        return Err((ErrorClass::BadFraming, message));
    }
    let status = reader.status();
    if !request.allows(status) {
        let message = format!("status {status} for {}", request.name);
        return Err((ErrorClass::UnexpectedStatus, message));
    }
    let bytes = reader.body_bytes();
    if request.body_bytes.is_some_and(|expected| expected != bytes) {
        let message = format!("body of {bytes} bytes for {}", request.name);
        return Err((ErrorClass::WrongBody, message));
    }
    let Some(expect) = &request.expect else {
        return Ok(());
    };
    let checked = match reader.sample() {
        None => return Ok(()),
        Some(answer) => answer.and_then(|answer| verify(expect, answer)),
    };
    checked.map_err(|message| {
        (
            ErrorClass::WrongBody,
            format!("{}: {message}", request.name),
        )
    })
}

fn words(errno: Errno) -> String {
    std::io::Error::from(errno).to_string()
}
