//! Events on a connection, the same for all protocols.

use bakeoff_model::load::ErrorClass;

/// An event on a connection. Requests are named by their slot on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ProtocolEvent {
    /// The handshake is over: requests may be sent.
    Established,
    /// A response is complete.
    Response {
        /// The slot of its request.
        slot: usize,
        /// Arrival time of the last byte, monotonic ns.
        received_ns: u64,
    },
    /// A request failed and the connection goes on.
    RequestFailed {
        /// Slot of the request.
        slot: usize,
        /// The class of the failure.
        class: ErrorClass,
        /// The failure in words.
        message: String,
    },
    /// The service has not processed a request and will not: it may be sent once more, on another
    /// connection, whatever its method.
    Unprocessed {
        /// Slot of the request.
        slot: usize,
        /// The reason in words.
        message: String,
    },
    /// More requests may be in flight than before.
    CapacityGrew,
    /// Requests in flight may still get responses; no more may be sent.
    Draining,
    /// The connection cannot continue. No event follows.
    Failed {
        /// The class of the failure.
        class: ErrorClass,
        /// The failure in words.
        message: String,
    },
}

impl ProtocolEvent {
    /// Returns the failure of a connection that cannot continue because of the bytes from the
    /// service.
    pub(crate) fn bad_framing(message: impl Into<String>) -> Self {
        Self::Failed {
            class: ErrorClass::BadFraming,
            message: message.into(),
        }
    }
}
