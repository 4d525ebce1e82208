//! The tables of header compression: the static one (RFC 7541, appendix A) and the dynamic one with
//! the fields sent by the other side.

use std::collections::VecDeque;

/// Fields that both sides know, from index 1 on.
const STATIC: [(&str, &str); 61] = [
    (":authority", ""),
    (":method", "GET"),
    (":method", "POST"),
    (":path", "/"),
    (":path", "/index.html"),
    (":scheme", "http"),
    (":scheme", "https"),
    (":status", "200"),
    (":status", "204"),
    (":status", "206"),
    (":status", "304"),
    (":status", "400"),
    (":status", "404"),
    (":status", "500"),
    ("accept-charset", ""),
    ("accept-encoding", "gzip, deflate"),
    ("accept-language", ""),
    ("accept-ranges", ""),
    ("accept", ""),
    ("access-control-allow-origin", ""),
    ("age", ""),
    ("allow", ""),
    ("authorization", ""),
    ("cache-control", ""),
    ("content-disposition", ""),
    ("content-encoding", ""),
    ("content-language", ""),
    ("content-length", ""),
    ("content-location", ""),
    ("content-range", ""),
    ("content-type", ""),
    ("cookie", ""),
    ("date", ""),
    ("etag", ""),
    ("expect", ""),
    ("expires", ""),
    ("from", ""),
    ("host", ""),
    ("if-match", ""),
    ("if-modified-since", ""),
    ("if-none-match", ""),
    ("if-range", ""),
    ("if-unmodified-since", ""),
    ("last-modified", ""),
    ("link", ""),
    ("location", ""),
    ("max-forwards", ""),
    ("proxy-authenticate", ""),
    ("proxy-authorization", ""),
    ("range", ""),
    ("referer", ""),
    ("refresh", ""),
    ("retry-after", ""),
    ("server", ""),
    ("set-cookie", ""),
    ("strict-transport-security", ""),
    ("transfer-encoding", ""),
    ("user-agent", ""),
    ("vary", ""),
    ("via", ""),
    ("www-authenticate", ""),
];

/// Indices of the static table: the dynamic one starts after them.
pub(super) const STATIC_LENGTH: usize = STATIC.len();

/// The length that the RFC adds to each entry of a table.
pub(super) const ENTRY_OVERHEAD: usize = 32;

/// Returns the index of a field in the static table, and whether its value is there too; 0 =
/// absent.
pub(super) fn find_static(name: &[u8], value: &[u8]) -> (usize, bool) {
    let exact = |(n, v): &(&str, &str)| n.as_bytes() == name && v.as_bytes() == value;
    if let Some(at) = STATIC.iter().position(exact).filter(|_| !value.is_empty()) {
        return (at + 1, true);
    }
    let named = STATIC.iter().position(|(n, _)| n.as_bytes() == name);
    (named.map_or(0, |at| at + 1), false)
}

/// The dynamic table of a decoder.
#[derive(Debug)]
pub(super) struct Table {
    /// Newest first: length of the name, then name and value.
    entries: VecDeque<(usize, Box<[u8]>)>,
    bytes: usize,
    bytes_max: usize,
}

impl Table {
    /// An empty table.
    pub(super) fn new(bytes_max: usize) -> Self {
        Self {
            entries: VecDeque::new(),
            bytes: 0,
            bytes_max,
        }
    }

    /// Returns the field with this index in both tables.
    pub(super) fn get(&self, index: usize) -> Option<(&[u8], &[u8])> {
        let at = index.checked_sub(1)?;
        if let Some((name, value)) = STATIC.get(at) {
            return Some((name.as_bytes(), value.as_bytes()));
        }
        let (name, bytes) = self.entries.get(at - STATIC_LENGTH)?;
        bytes.split_at_checked(*name)
    }

    /// Adds a field and removes the oldest ones that no longer fit.
    pub(super) fn add(&mut self, name: &[u8], value: &[u8]) {
        let bytes = name.len() + value.len() + ENTRY_OVERHEAD;
        if bytes > self.bytes_max {
            // The RFC's way to empty the table.
            self.shrink_to(0);
            return;
        }
        self.shrink_to(self.bytes_max - bytes);
        self.bytes += bytes;
        self.entries
            .push_front((name.len(), [name, value].concat().into()));
    }

    /// Changes the maximum size of the table.
    pub(super) fn resize(&mut self, bytes_max: usize) {
        self.bytes_max = bytes_max;
        self.shrink_to(bytes_max);
    }

    fn shrink_to(&mut self, bytes: usize) {
        while self.bytes > bytes {
            let Some((_, entry)) = self.entries.pop_back() else {
                return;
            };
            self.bytes -= entry.len() + ENTRY_OVERHEAD;
        }
    }
}
