//! Connection errors (RFC 9113, 5.4.1), after which the connection cannot continue.

use super::frame::code;

/// A connection error.
#[derive(Debug)]
pub(super) struct ConnectionError {
    /// One of [`code`], for the service.
    pub(super) code: u32,
    /// The mistake, for a person.
    pub(super) message: String,
}

impl ConnectionError {
    /// An error with this code.
    pub(super) fn new(code: u32, message: String) -> Self {
        Self { code, message }
    }
}

/// Returns the error for something that must not arrive at all, or not now.
pub(super) fn protocol(message: &str) -> ConnectionError {
    ConnectionError::new(code::PROTOCOL_ERROR, message.to_owned())
}

/// Returns the error for a frame whose length is invalid.
pub(super) fn size(message: &str) -> ConnectionError {
    ConnectionError::new(code::FRAME_SIZE_ERROR, message.to_owned())
}
