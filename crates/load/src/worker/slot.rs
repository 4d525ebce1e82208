//! Slots of connections.

/// A slot for a sequence of requests in flight, one at a time. A connection has a slot for each
/// request that it may have in flight.
#[derive(Debug, Default)]
pub(super) struct Slot {
    /// Whether the request was sent and has not ended.
    pub(super) in_flight: bool,
    /// Whether the request has to be sent once more: the service did not process it.
    pub(super) postponed: bool,
    /// How often the request was sent in vain.
    pub(super) in_vain: u8,
    /// When the last request was sent, monotonic ns.
    pub(super) sent_ns: u64,
    /// When the last request was due, monotonic ns; the send in closed load.
    pub(super) intended_ns: u64,
    /// When the previous response arrived, monotonic ns; 0 if there was none on this connection and
    /// in this window.
    pub(super) received_ns: u64,
    /// Index of the request.
    pub(super) request: usize,
    /// Number of requests that the slot has sent, plus its offset.
    pub(super) turn: usize,
    /// Right responses in this step.
    pub(super) responses: u64,
}
