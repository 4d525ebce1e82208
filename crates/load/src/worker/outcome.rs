//! From the bytes of an event to what they mean for the link that they came on.

use rustix::io::Errno;

use crate::http1::{LastHead, Progress, Reader};
use crate::link::{Link, Stage, Told, Wire};

/// An event with its bytes already read.
pub(super) enum Outcome {
    /// Nothing to do yet.
    More,
    Connected,
    /// The TLS handshake is over.
    Secured,
    /// TLS failed.
    Insecure(String),
    Refused(Errno),
    /// The answer of plain HTTP/1.1 is whole.
    Whole {
        /// Bytes followed that nobody asked for.
        extra: bool,
        /// The other side has closed after it.
        ending: bool,
    },
    /// Another protocol has filled the list of what it has to tell.
    Told,
    /// Bytes of WebSocket came and were copied.
    Messages,
    /// Bytes came that are no HTTP.
    Garbled(String),
    /// Bytes came without a request.
    Unasked,
    End,
    Broken(Errno),
}

/// Gives bytes to the TLS session; [`Outcome::More`] when what they mean is for the protocol.
pub(super) fn decrypt(link: &mut Link, bytes: &[u8], plain: &mut Vec<u8>) -> Outcome {
    let Some(session) = &mut link.session else {
        return Outcome::More;
    };
    match session.feed(bytes, plain) {
        Err(message) => Outcome::Insecure(message),
        Ok(()) if session.is_closed() && link.stage == Stage::Open => {
            // Requests in flight may still be answered by these bytes, others not.
            link.stage = Stage::Retiring;
            Outcome::More
        }
        Ok(()) if link.stage != Stage::Securing || session.is_handshaking() => Outcome::More,
        Ok(()) => match session.check_protocol() {
            Ok(()) => Outcome::Secured,
            Err(message) => Outcome::Insecure(message),
        },
    }
}

/// What bytes mean to the protocol of a link. `busy` tells whether plain HTTP/1.1 has a request in
/// flight.
#[inline]
pub(super) fn take(
    wire: &mut Wire,
    bytes: &[u8],
    ending: bool,
    busy: bool,
    last: &mut LastHead,
    told: &mut Vec<Told>,
) -> Outcome {
    match wire {
        Wire::Http1(reader) if busy => take_plain(reader, bytes, ending, last),
        Wire::Http1(_) => Outcome::Unasked,
        Wire::Pipelined(pipeline) => {
            pipeline.feed(bytes, last, told);
            Outcome::Told
        }
        Wire::Http2(client) => {
            client.feed(bytes, told);
            Outcome::Told
        }
        // With TLS the bytes are a copy already.
        Wire::WebSocket(_) => Outcome::Messages,
    }
}

#[inline]
fn take_plain(reader: &mut Reader, bytes: &[u8], ending: bool, last: &mut LastHead) -> Outcome {
    match reader.feed(bytes, last) {
        Ok(Progress::More) => Outcome::More,
        Ok(Progress::Whole { rest }) => Outcome::Whole {
            extra: rest > 0,
            ending,
        },
        Err(message) => Outcome::Garbled(message),
    }
}
