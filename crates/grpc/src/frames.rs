//! The frames in which gRPC carries messages: a byte that says whether the message is compressed,
//! its length in four bytes, and the message.

use bakeoff_base::problem::Problem;

/// Bytes before each message.
const PREFIX_BYTES: usize = 5;

/// Appends a message that is not compressed.
pub(crate) fn write(message: &[u8], body: &mut Vec<u8>) -> Result<(), Problem> {
    let length = u32::try_from(message.len())
        .map_err(|_| "a message of 4 GiB or more does not fit a frame".to_owned())?;
    body.push(0);
    body.extend_from_slice(&length.to_be_bytes());
    body.extend_from_slice(message);
    Ok(())
}

/// Returns the messages of a body, in order.
///
/// # Errors
/// The body ends within a message, or a message is compressed.
pub(crate) fn read(mut body: &[u8]) -> Result<Vec<&[u8]>, Problem> {
    let mut messages = Vec::new();
    while !body.is_empty() {
        let Some((prefix, rest)) = body.split_at_checked(PREFIX_BYTES) else {
            return Err("the body ends within the prefix of a message".into());
        };
        let length = u32::from_be_bytes([prefix[1], prefix[2], prefix[3], prefix[4]]);
        if prefix[0] != 0 {
            return Err("a message is compressed, which was not offered".into());
        }
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let Some((message, rest)) = rest.split_at_checked(length) else {
            let found = rest.len();
            return Err(format!("a message of {length} bytes, of which only {found} came").into());
        };
        messages.push(message);
        body = rest;
    }
    Ok(messages)
}

#[cfg(test)]
mod tests {
    use super::{read, write};

    #[test]
    fn messages_are_read_as_they_were_written() {
        let mut body = Vec::new();
        for message in [&b"one"[..], b"", b"three"] {
            write(message, &mut body).unwrap();
        }
        assert_eq!(body[..8], [0, 0, 0, 0, 3, b'o', b'n', b'e']);
        assert_eq!(read(&body).unwrap(), [&b"one"[..], b"", b"three"]);
        assert!(read(b"").unwrap().is_empty());
    }

    #[test]
    fn broken_bodies_are_refused() {
        let check = |body: &[u8], words: &str| {
            let problem = read(body).unwrap_err();
            assert!(problem.message().contains(words), "{problem}");
        };
        check(&[0, 0, 0], "ends within the prefix");
        check(&[0, 0, 0, 0, 3, b'o'], "only 1 came");
        check(&[1, 0, 0, 0, 1, b'o'], "compressed");
        check(&[0, 255, 255, 255, 255], "only 0 came");
    }
}
