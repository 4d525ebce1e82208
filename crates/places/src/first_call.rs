//! The first call of gRPC to a service that starts: a few frames of HTTP/2 (RFC 9113) as bytes, so
//! that asking adds nothing to the time that is measured. Any response counts, also that to an
//! unknown method. The call has an empty message: some services respond to no call without one.

use bakeoff_base::problem::Problem;

/// The first bytes of every connection.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

/// The stream of the call.
const STREAM: u32 = 1;

/// Bytes before the payload of a frame.
const FRAME_HEAD: usize = 9;

/// Returns a call with an empty message.
pub(crate) fn request(host: &str, path: &str) -> Vec<u8> {
    let mut bytes = PREFACE.to_vec();
    frame(&mut bytes, SETTINGS, 0, 0, &[]);
    let mut fields = Vec::new();
    for (name, value) in [
        (":method", "POST"),
        (":scheme", "http"),
        (":path", path),
        (":authority", host),
        ("te", "trailers"),
        ("content-type", "application/grpc"),
    ] {
        // A literal field that is not indexed (RFC 7541, 6.2.2).
        fields.push(0);
        text(&mut fields, name);
        text(&mut fields, value);
    }
    frame(&mut bytes, HEADERS, END_HEADERS, STREAM, &fields);
    frame(&mut bytes, DATA, END_STREAM, STREAM, &[0; 5]);
    bytes
}

/// Whether the head of a response has come.
///
/// # Errors
/// The bytes are not HTTP/2.
pub(crate) fn response(mut bytes: &[u8]) -> Result<bool, Problem> {
    let mut is_first = true;
    while let Some((head, rest)) = bytes.split_at_checked(FRAME_HEAD) {
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let stream = u32::from_be_bytes([head[5] & 0x7f, head[6], head[7], head[8]]);
        // A service starts with its settings.
        if is_first && (head[3] != SETTINGS || stream != 0) {
            let begin = String::from_utf8_lossy(&bytes[..bytes.len().min(60)]);
            return Err(format!("a response that is not HTTP/2, starting with {begin:?}").into());
        }
        is_first = false;
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let Some((_, rest)) = rest.split_at_checked(length) else {
            return Ok(false);
        };
        if head[3] == HEADERS && stream == STREAM {
            return Ok(true);
        }
        bytes = rest;
    }
    Ok(false)
}

fn frame(bytes: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    let length = u32::try_from(payload.len()).unwrap_or(u32::MAX);
    bytes.extend_from_slice(&length.to_be_bytes()[1..]);
    bytes.extend_from_slice(&[kind, flags]);
    bytes.extend_from_slice(&stream.to_be_bytes());
    bytes.extend_from_slice(payload);
}

/// A text that is not compressed (RFC 7541, 5.2).
fn text(fields: &mut Vec<u8>, text: &str) {
    let mut rest = text.len();
    if rest < 127 {
        fields.extend(u8::try_from(rest));
    } else {
        fields.push(127);
        rest -= 127;
        while rest >= 128 {
            fields.extend(u8::try_from(rest % 128 + 128));
            rest /= 128;
        }
        fields.extend(u8::try_from(rest));
    }
    fields.extend_from_slice(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::{HEADERS, SETTINGS, STREAM, frame, request, response, text};

    #[test]
    fn the_head_of_a_response_ends_the_wait() {
        let mut bytes = Vec::new();
        frame(&mut bytes, SETTINGS, 0, 0, &[0; 6]);
        assert_eq!(response(&bytes), Ok(false));
        frame(&mut bytes, HEADERS, 0, STREAM, &[0x88]);
        assert_eq!(response(&bytes[..bytes.len() - 1]), Ok(false));
        assert_eq!(response(&bytes), Ok(true));
        let error = response(b"HTTP/1.1 400 Bad Request\r\n").unwrap_err();
        assert!(error.message().contains("not HTTP/2"), "{error}");
    }

    #[test]
    fn long_texts_have_long_lengths() {
        let mut fields = Vec::new();
        text(&mut fields, &"x".repeat(300));
        // 300 is 127 and 173; 173 is 45 with one of 128 to come.
        assert_eq!(fields[..3], [127, 0b1010_1101, 1]);
        assert_eq!(fields.len(), 303);
        assert!(request("localhost:1", "/a.B/C").starts_with(b"PRI * HTTP/2.0"));
    }
}
