//! A connection of a thread: its stage, its failures, its TLS session, and the protocol spoken on
//! it. It sees neither a socket nor a clock.

use bakeoff_model::load::ErrorClass;

use crate::protocol::any::AnyProtocol;
use crate::protocol::event::ProtocolEvent;
use crate::protocol::interface::Protocol as _;
use crate::transport::tls::{TlsSession, TlsSettings};

/// Longest pause before another attempt to connect, ns.
const BACKOFF_NS_MAX: u64 = 1_000_000_000;

/// Pause after the first failure, ns; it doubles with each further one.
const BACKOFF_NS_MIN: u64 = 1_000_000;

/// The stage of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConnectionStage {
    /// The connection has no socket.
    Closed,
    /// The socket is being connected.
    Connecting,
    /// The TLS handshake is in progress.
    TlsHandshake,
    /// The protocol's own handshake is in progress.
    Handshake,
    /// The connection carries requests.
    Established,
    /// The connection finishes the requests in flight and takes no others.
    Draining,
}

/// One connection of a thread.
#[derive(Debug)]
pub(super) struct Connection {
    /// Stage of the connection.
    pub(super) stage: ConnectionStage,
    /// When the connection started to connect, monotonic ns.
    pub(super) since_ns: u64,
    /// Failures since the last complete response.
    pub(super) failures: u32,
    /// Whether the connection carried a request since it was established.
    pub(super) used: bool,
    /// Whether the connection carried a complete response since it was established.
    pub(super) answered: bool,
    /// Whether the kernel had not accepted all sent bytes at the last look.
    sending: bool,
    /// Whether the same was true at the look before.
    stalled: bool,
    /// TLS session, from the connected socket on.
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
            answered: false,
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

    /// Whether the connection is between having no socket and its first request.
    pub(super) fn is_opening(&self) -> bool {
        matches!(
            self.stage,
            ConnectionStage::Connecting
                | ConnectionStage::TlsHandshake
                | ConnectionStage::Handshake
        )
    }

    /// Whether the protocol was started.
    #[inline]
    pub(super) fn is_started(&self) -> bool {
        matches!(
            self.stage,
            ConnectionStage::Handshake | ConnectionStage::Established | ConnectionStage::Draining
        )
    }

    /// Returns how long to wait before the next attempt, so that a dead service is tried at a
    /// bounded rate and errors stay comparable with requests.
    pub(super) fn backoff_ns(&self) -> u64 {
        match self.failures {
            0 => 0,
            failures => (BACKOFF_NS_MIN << (failures - 1).min(20)).min(BACKOFF_NS_MAX),
        }
    }

    /// Checks whether the kernel still has not accepted all sent bytes.
    pub(super) fn look_at_sending(&mut self, sending: bool) {
        self.stalled = sending && self.sending;
        self.sending = sending;
    }

    /// Whether the connection neither sends nor receives anything since the request of this slot
    /// was sent.
    pub(super) fn is_dead(&mut self, slot: usize) -> bool {
        self.stalled && self.protocol.is_silent(slot)
    }

    /// Whether the other side has sent close_notify.
    pub(super) fn is_session_closed(&self) -> bool {
        let session = self.session.as_ref();
        session.is_some_and(|session| session.is_closed())
    }

    /// Handles a connected socket: the TLS handshake is next, or the protocol.
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

    /// Takes encrypted bytes and returns how many of the decrypted ones, which are in `plain` then,
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

    /// Handles a close by the other side. Over TLS that may be the end of a response only after
    /// close_notify: otherwise the response may have been cut off.
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
