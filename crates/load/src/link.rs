//! One socket of a thread: how far it is, how often it failed, and the protocol spoken on it.
//!
//! The worker sees every protocol through [`Wire`]. Plain HTTP/1.1 has a path of its own, because
//! it is the one whose cost per request matters most; the others report what came of several
//! requests at a time as a list of [`Told`].

use bakeoff_model::load::{ErrorClass, LoadSpec, Protocol};

use crate::http1::{Pipeline, Reader};
use crate::http2::Client;
use crate::received::{Keep, Received};
use crate::request::{Asked, Requests};
use crate::tls::Session;
use crate::websocket;

/// Longest pause before another attempt to connect, ns.
const BACKOFF_NS_MAX: u64 = 1_000_000_000;

/// Pause after the first failure, ns; it doubles with each further one.
const BACKOFF_NS_MIN: u64 = 1_000_000;

/// How far a link is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// It has no socket.
    Down,
    /// Its socket is being connected.
    Connecting,
    /// Its TLS session is being negotiated.
    Securing,
    /// The protocol's own greeting is under way.
    Greeting,
    /// It carries requests.
    Open,
    /// It carries the requests in flight to their end and takes no others.
    Retiring,
}

/// One socket of a thread.
#[derive(Debug)]
pub(crate) struct Link {
    /// How far it is.
    pub(crate) stage: Stage,
    /// When it began to connect, monotonic ns.
    pub(crate) since_ns: u64,
    /// Failures since the last whole answer.
    pub(crate) failures: u32,
    /// It carried a request since it was established.
    pub(crate) used: bool,
    /// The kernel had not taken all that was sent at the last look.
    pub(crate) sending: bool,
    /// The same at the look before.
    pub(crate) stalled: bool,
    /// Its TLS session, from the established socket on.
    pub(crate) session: Option<Box<Session>>,
    /// The protocol.
    pub(crate) wire: Wire,
}

impl Link {
    /// A link without a socket, for these requests.
    pub(crate) fn new(spec: &LoadSpec, requests: &Requests, seed: u64) -> Self {
        Self {
            stage: Stage::Down,
            since_ns: 0,
            failures: 0,
            used: false,
            sending: false,
            stalled: false,
            session: None,
            wire: Wire::new(spec, requests, seed),
        }
    }

    /// Whether it was established and not closed since.
    pub(crate) fn is_up(&self) -> bool {
        matches!(self.stage, Stage::Open | Stage::Retiring)
    }

    /// Whether the other side took leave of its TLS session.
    pub(crate) fn is_session_closed(&self) -> bool {
        let session = self.session.as_ref();
        session.is_some_and(|session| session.is_closed())
    }

    /// Whether the end of its connection may be the end of an answer. In a TLS session only one
    /// that was closed by the other side: otherwise the answer may have been cut off.
    pub(crate) fn may_end(&self) -> bool {
        self.session.is_none() || self.is_session_closed()
    }

    /// Whether it is on its way from no socket to its first request.
    pub(crate) fn is_opening(&self) -> bool {
        matches!(
            self.stage,
            Stage::Connecting | Stage::Securing | Stage::Greeting
        )
    }

    /// How long to wait before the next attempt, so that a dead service is asked at a bounded
    /// rate and errors stay comparable with requests.
    pub(crate) fn backoff_ns(&self) -> u64 {
        match self.failures {
            0 => 0,
            failures => (BACKOFF_NS_MIN << (failures - 1).min(20)).min(BACKOFF_NS_MAX),
        }
    }
}

/// The protocol of a link, between two of its bytes.
#[derive(Debug)]
pub(crate) enum Wire {
    /// HTTP/1.1, one request at a time.
    Http1(Reader),
    /// HTTP/1.1, several requests at a time.
    Pipelined(Box<Pipeline>),
    /// HTTP/2.
    Http2(Box<Client>),
    /// WebSocket, one message awaited at a time.
    WebSocket(Box<websocket::Client>),
}

/// What a protocol with several requests in flight has to tell. Requests are named by their place
/// on the link.
#[derive(Debug)]
pub(crate) enum Told {
    /// The other side speaks the protocol: requests may be sent.
    Greeted,
    /// An answer is whole.
    Whole(usize),
    /// A request failed and the link goes on.
    Failed(usize, ErrorClass, String),
    /// There is room for requests where there was none.
    Wider,
    /// The other side wants no further requests.
    Retired,
    /// The link cannot go on.
    Fault(ErrorClass, String),
}

impl Wire {
    fn new(spec: &LoadSpec, requests: &Requests, seed: u64) -> Self {
        match spec.target.protocol {
            Protocol::Http1 if width(spec) > 1 => {
                Self::Pipelined(Box::new(Pipeline::new(width(spec))))
            }
            Protocol::Http1 => Self::Http1(Reader::new()),
            Protocol::Http2 => Self::Http2(Box::new(Client::new(width(spec)))),
            Protocol::Websocket(_) => {
                let upgrade = requests.get(requests.index_at(0)).bytes.clone();
                Self::WebSocket(Box::new(websocket::Client::new(upgrade, seed)))
            }
        }
    }

    /// Begins anew on a fresh connection; `true` when the protocol has a greeting to wait for.
    pub(crate) fn greet(&mut self) -> bool {
        match self {
            Self::Http1(_) => false,
            Self::Pipelined(pipeline) => {
                pipeline.greet();
                false
            }
            Self::Http2(client) => {
                client.greet();
                true
            }
            Self::WebSocket(client) => {
                client.greet();
                true
            }
        }
    }

    /// Whether a request may be sent now where none is in flight.
    #[inline]
    pub(crate) fn has_room(&mut self) -> bool {
        match self {
            Self::Http1(_) | Self::WebSocket(_) => true,
            Self::Pipelined(pipeline) => pipeline.has_room(),
            Self::Http2(client) => client.has_room(),
        }
    }

    /// Whether a request may be waiting because the service allows fewer at a time than there are
    /// places.
    #[inline]
    pub(crate) fn has_refused(&self) -> bool {
        matches!(self, Self::Http2(client) if client.has_refused())
    }

    /// No request waits for that any longer.
    pub(crate) fn forget_refused(&mut self) {
        if let Self::Http2(client) = self {
            client.forget_refused();
        }
    }

    /// Requests that may be in flight on the link; `None` for a protocol without streams.
    pub(crate) fn streams(&self) -> Option<u32> {
        match self {
            Self::Http1(_) | Self::Pipelined(_) | Self::WebSocket(_) => None,
            Self::Http2(client) => Some(client.room()),
        }
    }

    /// Begins a request. Its bytes are in [`Wire::output`], except for plain HTTP/1.1, whose
    /// prepared bytes are sent as they are.
    #[inline]
    pub(crate) fn begin(&mut self, place: usize, asked: Asked<'_>, keep: Keep) {
        match self {
            Self::Http1(reader) => reader.begin(asked.head_only, keep),
            Self::Pipelined(pipeline) => pipeline.begin(place, asked, keep),
            Self::Http2(client) => client.begin(place, asked, keep),
            Self::WebSocket(client) => client.begin(asked.message, keep),
        }
    }

    /// Whether nothing at all has come since the request at this place was begun.
    pub(crate) fn is_silent(&mut self, place: usize) -> bool {
        match self {
            Self::Http1(reader) => !reader.received.begun,
            Self::Pipelined(pipeline) => !pipeline.received(place).begun,
            Self::Http2(client) => client.is_silent(place),
            Self::WebSocket(client) => !client.received.begun,
        }
    }

    /// Gives up the request at this place; `false` when the link has to go with it.
    pub(crate) fn cancel(&mut self, place: usize) -> bool {
        match self {
            Self::Http1(_) | Self::Pipelined(_) | Self::WebSocket(_) => false,
            Self::Http2(client) => client.cancel(place),
        }
    }

    /// What has come of the answer at this place.
    #[inline]
    pub(crate) fn received(&mut self, place: usize) -> &mut Received {
        match self {
            Self::Http1(reader) => &mut reader.received,
            Self::Pipelined(pipeline) => pipeline.received(place),
            Self::Http2(client) => client.received(place),
            Self::WebSocket(client) => &mut client.received,
        }
    }

    /// Bytes that the link has to carry now; empty = none. `flowing` tells that the kernel has
    /// taken all that it had to carry before.
    pub(crate) fn output(&mut self, flowing: bool) -> Vec<u8> {
        match self {
            Self::Http1(_) => Vec::new(),
            Self::Pipelined(pipeline) => pipeline.output(),
            Self::Http2(client) => client.output(flowing),
            Self::WebSocket(client) => client.output(flowing),
        }
    }
}

/// Requests that one link may have in flight at the same time.
pub(crate) fn width(spec: &LoadSpec) -> usize {
    spec.in_flight.max(1) as usize
}
