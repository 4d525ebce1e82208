//! The upgrade (RFC 6455, 4): the request for it, and the response that grants it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Maximum bytes of the response.
const HEAD_MAX: usize = 64 * 1024;

/// Maximum number of headers in the response.
const HEADERS_MAX: usize = 128;

/// The text that both sides append to the key (RFC 6455).
const SUFFIX: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// Returns a key that no other connection has.
pub(super) fn key(bits: [u64; 2]) -> String {
    STANDARD.encode([bits[0].to_be_bytes(), bits[1].to_be_bytes()].concat())
}

/// Returns the response of the service to a key.
fn accept(key: &str) -> String {
    // SHA-1 is what the RFC asks for; nothing secret depends on it.
    let algorithm = &ring::digest::SHA1_FOR_LEGACY_USE_ONLY;
    let digest = ring::digest::digest(algorithm, &[key.as_bytes(), SUFFIX].concat());
    STANDARD.encode(digest.as_ref())
}

/// Why there is no upgrade.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The service responded with another status.
    Status(u16),
    /// The response does not grant the upgrade.
    Garbled(String),
}

/// Reads the response to the upgrade with this key; `Ok(None)` if it is not complete yet, otherwise
/// how many bytes it has.
pub(super) fn read(bytes: &[u8], key: &str) -> Result<Option<usize>, Refusal> {
    let garbled = |message: &str| Refusal::Garbled(message.to_owned());
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut response = httparse::Response::new(&mut headers);
    let length = match response.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) if bytes.len() > HEAD_MAX => {
            return Err(garbled("the response to the upgrade is longer than 64 KiB"));
        }
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(error) => {
            let message = format!("the response to the upgrade: {error}");
            return Err(Refusal::Garbled(message));
        }
    };
    let status = response.code.unwrap_or(0);
    if status != 101 {
        return Err(Refusal::Status(status));
    }
    let find = |name: &str| {
        let mut headers = response.headers.iter();
        let found = headers.find(|header| header.name.eq_ignore_ascii_case(name));
        found.map_or(&b""[..], |header| header.value.trim_ascii())
    };
    let has_word = |name: &str, word: &str| {
        let mut words = find(name).split(|byte| *byte == b',');
        words.any(|found| found.trim_ascii().eq_ignore_ascii_case(word.as_bytes()))
    };
    if !has_word("upgrade", "websocket") || !has_word("connection", "upgrade") {
        return Err(garbled("status 101 without an upgrade to websocket"));
    }
    if find("sec-websocket-accept") != accept(key).as_bytes() {
        return Err(garbled("the service did not accept our key"));
    }
    if !find("sec-websocket-extensions").is_empty() {
        return Err(garbled(
            "the service uses an extension that was not requested",
        ));
    }
    Ok(Some(length))
}

#[cfg(test)]
mod tests {
    use super::{Refusal, accept, read};

    const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";

    #[test]
    fn the_example_of_the_rfc_is_accepted() {
        assert_eq!(accept(KEY), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
        let text = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\
            Connection: keep-alive, Upgrade\r\n\
            Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";
        let more = format!("{text}\u{1}");
        assert_eq!(read(more.as_bytes(), KEY), Ok(Some(text.len())));
        for cut in 0..text.len() {
            assert_eq!(read(&text.as_bytes()[..cut], KEY), Ok(None));
        }
        for (from, to) in [
            ("websocket\r", "h2c\r"),
            ("keep-alive, Upgrade", "close"),
            ("s3pP", "s4pP"),
            ("Upgrade: ", "Sec-WebSocket-Extensions: x\r\nUpgrade: "),
            ("HTTP/1.1", "HTTQ/1.1"),
        ] {
            let result = read(text.replace(from, to).as_bytes(), KEY);
            assert!(
                matches!(result, Err(Refusal::Garbled(_))),
                "{to}: {result:?}"
            );
        }
        let refused = b"HTTP/1.1 404 Not Found\r\n\r\n";
        assert_eq!(read(refused, KEY), Err(Refusal::Status(404)));
    }
}
