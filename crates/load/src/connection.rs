//! The engine's side of one request after the other: what is in flight, since when, and whose turn
//! it is. One of them has a whole connection of plain HTTP/1.1 to itself; several of them share a
//! [`Link`](crate::link::Link) where the protocol has several requests in flight at a time.

/// What a connection is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// It waits for a request, or for its link.
    Idle,
    /// It waits for an answer.
    Busy,
}

/// One request of a thread after the other.
#[derive(Debug)]
pub(crate) struct Connection {
    /// What it is doing.
    pub(crate) state: State,
    /// When the request in flight was sent, monotonic ns.
    pub(crate) since_ns: u64,
    /// When it was due, monotonic ns; the send in closed load.
    pub(crate) intended_ns: u64,
    /// When the answer before it came, monotonic ns; 0 when there was none on this link and in this
    /// window.
    pub(crate) came_ns: u64,
    /// Index of the request in flight.
    pub(crate) request: usize,
    /// How many requests it has sent, plus its own offset.
    pub(crate) turn: usize,
    /// Right answers in this step.
    pub(crate) answers: u64,
    /// It is in the queue of free connections.
    pub(crate) queued: bool,
}

impl Connection {
    /// A connection whose first request is the `offset`-th.
    pub(crate) fn new(offset: usize) -> Self {
        Self {
            state: State::Idle,
            since_ns: 0,
            intended_ns: 0,
            came_ns: 0,
            request: 0,
            turn: offset,
            answers: 0,
            queued: false,
        }
    }
}
