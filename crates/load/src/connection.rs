//! The engine's side of one connection: what it is doing, since when, and how often it failed.

use crate::http1::Reader;
use crate::tls::Session;

/// Longest pause before another attempt to connect, ns.
const BACKOFF_NS_MAX: u64 = 1_000_000_000;

/// Pause after the first failure, ns; it doubles with each further one.
const BACKOFF_NS_MIN: u64 = 1_000_000;

/// What a connection is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// It has no socket.
    Down,
    /// Its socket is being connected, or its TLS session negotiated.
    Connecting,
    /// It is open and waits for a request.
    Idle,
    /// It waits for an answer.
    Busy,
}

/// One connection of a thread.
#[derive(Debug)]
pub(crate) struct Connection {
    /// What it is doing.
    pub(crate) state: State,
    /// When it began to do so: connect or send, monotonic ns.
    pub(crate) since_ns: u64,
    /// When the request in flight was due, monotonic ns; the send in closed load.
    pub(crate) intended_ns: u64,
    /// Failures since the last whole answer.
    pub(crate) failures: u32,
    /// Index of the request in flight.
    pub(crate) request: usize,
    /// How many requests it has sent, plus its own offset.
    pub(crate) turn: usize,
    /// Right answers in this step.
    pub(crate) answers: u64,
    /// It is in the queue of free connections.
    pub(crate) queued: bool,
    /// Reads the answers.
    pub(crate) reader: Reader,
    /// Its TLS session, from the established socket on.
    pub(crate) session: Option<Box<Session>>,
}

impl Connection {
    /// A connection without a socket whose first request is the `offset`-th.
    pub(crate) fn new(offset: usize) -> Self {
        Self {
            state: State::Down,
            since_ns: 0,
            intended_ns: 0,
            failures: 0,
            request: 0,
            turn: offset,
            answers: 0,
            queued: false,
            reader: Reader::new(),
            session: None,
        }
    }

    /// How long to wait before the next attempt to connect, so that a dead service is asked at a
    /// bounded rate and errors stay comparable with requests.
    pub(crate) fn backoff_ns(&self) -> u64 {
        match self.failures {
            0 => 0,
            failures => (BACKOFF_NS_MIN << (failures - 1).min(20)).min(BACKOFF_NS_MAX),
        }
    }
}
