//! Bytes to be sent, between a protocol that writes them and a transport that owns them until the
//! kernel has accepted all of them.

use std::rc::Rc;

/// Bytes to send. Prepared requests are shared between all connections of a thread.
#[derive(Debug, Clone)]
pub(crate) enum Payload {
    /// Prepared before the window.
    Shared(Rc<[u8]>),
    /// Written for one send.
    Owned(Vec<u8>),
}

impl Payload {
    /// Returns the bytes that a protocol has written; `None` if there are none.
    pub(crate) fn written(bytes: Vec<u8>) -> Option<Self> {
        (!bytes.is_empty()).then_some(Self::Owned(bytes))
    }

    /// Returns the bytes.
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Shared(bytes) => bytes,
            Self::Owned(bytes) => bytes,
        }
    }
}
