//! One connection of a thread: how far it is, how often it failed, its TLS session, and the
//! protocol spoken on it. It sees neither a socket nor a clock.

use bakeoff_model::load::ErrorClass;

use crate::protocol::any::AnyProtocol;
use crate::protocol::event::ProtocolEvent;
use crate::protocol::interface::Protocol as _;
use crate::transport::tls::{TlsSession, TlsSettings};

/// Longest pause before another attempt to connect, ns.
const BACKOFF_NS_MAX: u64 = 1_000_000_000;

/// Pause after the first failure, ns; it doubles with each further one.
const BACKOFF_NS_MIN: u64 = 1_000_000;

/// How far a connection is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConnectionStage {
    /// It has no socket.
    Closed,
    /// Its socket is being connected.
    Connecting,
    /// Its TLS handshake is under way.
    TlsHandshake,
    /// The protocol's own handshake is under way.
    Handshake,
    /// It carries requests.
    Established,
    /// It carries the requests in flight to their end and takes no others.
    Draining,
}

/// One connection of a thread.
#[derive(Debug)]
pub(super) struct Connection {
    /// How far it is.
    pub(super) stage: ConnectionStage,
    /// When it started to connect, monotonic ns.
    pub(super) since_ns: u64,
    /// Failures since the last complete response.
    pub(super) failures: u32,
    /// It carried a request since it was established.
    pub(super) used: bool,
    /// The kernel had not taken all that was sent at the last look.
    sending: bool,
    /// The same at the look before.
    stalled: bool,
    /// Its TLS session, from the connected socket on.
    pub(super) session: Option<Box<TlsSession>>,
    /// The protocol.
    pub(super) protocol: AnyProtocol,
}

impl Connection {
    /// A connection without a socket.
    pub(super) fn new(protocol: AnyProtocol) -> Self {
        Self {
            stage: ConnectionStage::Closed,
            since_ns: 0,
            failures: 0,
            used: false,
            sending: false,
            stalled: false,
            session: None,
            protocol,
        }
    }

    /// Whether it was established and not closed since.
    pub(super) fn is_up(&self) -> bool {
        matches!(
            self.stage,
            ConnectionStage::Established | ConnectionStage::Draining
        )
    }

    /// Whether it is on its way from no socket to its first request.
    pub(super) fn is_opening(&self) -> bool {
        matches!(
            self.stage,
            ConnectionStage::Connecting
                | ConnectionStage::TlsHandshake
                | ConnectionStage::Handshake
        )
    }

    /// Whether its protocol was started.
    #[inline]
    pub(super) fn is_started(&self) -> bool {
        matches!(
            self.stage,
            ConnectionStage::Handshake | ConnectionStage::Established | ConnectionStage::Draining
        )
    }

    /// How long to wait before the next attempt, so that a dead service is tried at a bounded
    /// rate and errors stay comparable with requests.
    pub(super) fn backoff_ns(&self) -> u64 {
        match self.failures {
            0 => 0,
            failures => (BACKOFF_NS_MIN << (failures - 1).min(20)).min(BACKOFF_NS_MAX),
        }
    }

    /// Looks whether the kernel still has not taken all that was sent.
    pub(super) fn look_at_sending(&mut self, sending: bool) {
        self.stalled = sending && self.sending;
        self.sending = sending;
    }

    /// Whether it neither takes nor gives anything since the request of this slot was sent.
    pub(super) fn is_dead(&mut self, slot: usize) -> bool {
        self.stalled && self.protocol.is_silent(slot)
    }

    /// Whether the other side has sent close_notify.
    pub(super) fn is_session_closed(&self) -> bool {
        let session = self.session.as_ref();
        session.is_some_and(|session| session.is_closed())
    }

    /// Its socket is connected: the TLS handshake is next, or the protocol.
    pub(super) fn connected(
        &mut self,
        settings: Option<&TlsSettings>,
        events: &mut Vec<ProtocolEvent>,
    ) {
        match settings.map(TlsSettings::session) {
            None => self.start_protocol(events),
            Some(Ok(session)) => {
                self.session = Some(Box::new(session));
                self.stage = ConnectionStage::TlsHandshake;
            }
            Some(Err(message)) => fail_tls(message.to_string(), events),
        }
    }

    fn start_protocol(&mut self, events: &mut Vec<ProtocolEvent>) {
        self.stage = ConnectionStage::Handshake;
        if !self.protocol.start() {
            events.push(ProtocolEvent::Established);
        }
    }

    /// Takes encrypted bytes; how many of those that they decrypt to, which are in `plain` then,
    /// the protocol took.
    pub(super) fn decrypt(
        &mut self,
        bytes: &[u8],
        received_ns: u64,
        plain: &mut Vec<u8>,
        events: &mut Vec<ProtocolEvent>,
    ) -> usize {
        plain.clear();
        let Some(session) = &mut self.session else {
            return 0;
        };
        let is_tls_handshake = self.stage == ConnectionStage::TlsHandshake;
        let result = session.feed(bytes, plain).and_then(|()| {
            let over = is_tls_handshake && !session.is_handshaking();
            if over {
                session.check_protocol()?;
            }
            Ok(over)
        });
        match result {
            Ok(true) => self.start_protocol(events),
            Ok(false) => {}
            Err(message) => {
                plain.clear();
                fail_tls(message.to_string(), events);
            }
        }
        // A service may speak first.
        if plain.is_empty() || !self.is_started() {
            return plain.len();
        }
        self.protocol.receive(plain, received_ns, events)
    }

    /// The other side closed. Over TLS that may be the end of a response only after close_notify:
    /// otherwise the response may have been cut off.
    pub(super) fn end(&mut self, received_ns: u64, slots: usize, events: &mut Vec<ProtocolEvent>) {
        if self.stage == ConnectionStage::TlsHandshake {
            fail_tls("closed during the handshake".to_owned(), events);
            return;
        }
        let message = self.early_close(slots);
        if self.session.is_none() || self.is_session_closed() {
            self.protocol.finish(received_ns, events);
        }
        events.push(ProtocolEvent::Failed {
            class: ErrorClass::EarlyClose,
            message,
        });
    }

    fn early_close(&mut self, slots: usize) -> String {
        if self.stage == ConnectionStage::Handshake {
            return "closed during the protocol's handshake".to_owned();
        }
        if slots > 1 {
            return "closed before the response was complete".to_owned();
        }
        let response = self.protocol.response(0);
        if response.begun {
            let bytes = response.body_bytes;
            format!("closed after {bytes} bytes of the body, before the response was complete")
        } else {
            "closed before the first byte of a response".to_owned()
        }
    }
}

fn fail_tls(message: String, events: &mut Vec<ProtocolEvent>) {
    let class = ErrorClass::Tls;
    events.push(ProtocolEvent::Failed { class, message });
}
