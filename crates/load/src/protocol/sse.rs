//! Server-sent events in the body of a response: an endless stream is read until the wanted number
//! of events has arrived. How events are delimited: HTML Living Standard, 9.2.6.

/// The field without which a block of lines is not an event.
const DATA: &[u8] = b"data";

/// Reads a stream until enough events have arrived.
#[derive(Debug, Clone)]
pub(crate) struct Events {
    /// Number of events that have not arrived yet.
    left: u32,
    /// The first bytes of the line, one more than those of [`DATA`].
    line: [u8; DATA.len() + 1],
    /// Bytes of the line, no more than fit.
    length: usize,
    /// Whether the block of lines has data.
    has_data: bool,
    /// Whether the last byte ended a line, so that a line feed belongs to that end.
    after_return: bool,
}

impl Events {
    /// Returns a reader that wants this many events.
    pub(crate) fn new(wanted: u32) -> Self {
        Self {
            left: wanted,
            line: [0; DATA.len() + 1],
            length: 0,
            has_data: false,
            after_return: false,
        }
    }

    /// Takes the next bytes of the stream.
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        for byte in bytes {
            let belongs = std::mem::replace(&mut self.after_return, *byte == b'\r');
            match *byte {
                b'\n' if belongs => {}
                b'\n' | b'\r' => self.end_line(),
                other => {
                    if let Some(place) = self.line.get_mut(self.length) {
                        *place = other;
                        self.length += 1;
                    }
                }
            }
        }
    }

    /// Returns the number of events that have not arrived yet.
    pub(crate) fn left(&self) -> u32 {
        self.left
    }

    fn end_line(&mut self) {
        let line = &self.line[..self.length];
        if line.is_empty() {
            self.left = self.left.saturating_sub(u32::from(self.has_data));
            self.has_data = false;
        } else if line.starts_with(DATA) && matches!(line.get(DATA.len()), None | Some(b':')) {
            self.has_data = true;
        }
        self.length = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::Events;

    #[track_caller]
    fn check(stream: &str, wanted: u32, left: u32) {
        for size in 1..=stream.len() {
            let mut events = Events::new(wanted);
            for piece in stream.as_bytes().chunks(size) {
                events.take(piece);
            }
            assert_eq!(events.left(), left, "{stream:?} in pieces of {size}");
        }
    }

    #[test]
    fn events_end_with_an_empty_line() {
        check("data: 1\n\ndata: 2\n\n", 2, 0);
        check("data: 1\r\n\r\ndata: 2\r\n\r\n", 2, 0);
        check("data: 1\r\rdata: 2\r\r", 3, 1);
        check("event: price\ndata\nid: 7\n\n", 1, 0);
        check("data: 1\n\ndata: 2\n", 2, 1);
        check("data: 1\n\ndata: 2\n\ndata: 3\n\n", 2, 0);
    }

    #[test]
    fn what_has_no_data_is_no_event() {
        check(": still here\n\nretry: 10\n\n\n\n", 1, 1);
        check("database: x\n\n data: y\n\n", 1, 1);
        check(": still here\n\ndata: 1\n\n", 1, 0);
    }
}
