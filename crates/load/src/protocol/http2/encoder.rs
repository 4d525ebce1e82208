//! Encoding of the requests' header blocks (RFC 7541).
//!
//! The requests of a spec are known before the window, so their distinct fields are numbered
//! once. A connection enters a field into the service's table when it first sends it and only
//! names its index afterwards, as clients do. Nothing is ever pushed out of the table: fields that
//! do not fit are written out each time.

use super::fields::{ENTRY_OVERHEAD, STATIC_LENGTH, find_static};

/// Bytes of the service's table that we use at most; the RFC's default.
const TABLE_BYTES: usize = 4096;

/// The number of a field that no other request is known to have.
const LOOSE: usize = usize::MAX;

/// One field of a request, ready to be encoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field {
    name: Box<[u8]>,
    value: Box<[u8]>,
    /// Index in the static table of the field, or of its name; 0 = absent.
    index: usize,
    /// Whether the static table has the value, too.
    exact: bool,
    /// Number of the field among the fields of the spec.
    number: usize,
}

impl Field {
    /// The field that is the `number`-th of its spec.
    pub(crate) fn new(name: &str, value: &str, number: usize) -> Self {
        let (index, exact) = find_static(name.as_bytes(), value.as_bytes());
        Self {
            name: name.as_bytes().into(),
            value: value.as_bytes().into(),
            index,
            exact,
            number,
        }
    }

    /// A field of one request alone: it is written out and not remembered.
    pub(crate) fn loose(name: &str, value: &[u8]) -> Self {
        let (index, exact) = find_static(name.as_bytes(), value);
        Self {
            name: name.as_bytes().into(),
            value: value.into(),
            index,
            exact,
            number: LOOSE,
        }
    }

    /// Whether the field has this name and value.
    pub(crate) fn says(&self, name: &str, value: &str) -> bool {
        *self.name == *name.as_bytes() && *self.value == *value.as_bytes()
    }
}

/// The encoder of one connection.
#[derive(Debug)]
pub(super) struct Encoder {
    /// Number of fields entered before each, by number of the field; `u32::MAX` = not entered.
    entered: Vec<u32>,
    count: u32,
    bytes: usize,
    /// Bytes that may be entered.
    bytes_max: usize,
    /// Whether the service has to be told that its table is not used any more.
    emptied: bool,
}

impl Encoder {
    /// An encoder before the first block.
    pub(super) fn new() -> Self {
        Self {
            entered: Vec::new(),
            count: 0,
            bytes: 0,
            bytes_max: TABLE_BYTES,
            emptied: false,
        }
    }

    /// Adapts to the size of the service's table. With less than the default the table is not used.
    pub(super) fn resize(&mut self, bytes: usize) {
        if bytes < TABLE_BYTES && self.bytes_max > 0 {
            self.bytes_max = 0;
            self.emptied = true;
            self.entered.clear();
        }
    }

    /// Appends a field to a block.
    pub(super) fn encode(&mut self, field: &Field, block: &mut Vec<u8>) {
        if std::mem::take(&mut self.emptied) {
            integer(0, 5, 0x20, block);
        }
        if field.exact {
            integer(field.index, 7, 0x80, block);
            return;
        }
        if field.number == LOOSE {
            integer(field.index, 4, 0, block);
            literal(field, block);
            return;
        }
        if self.entered.len() <= field.number {
            self.entered.resize(field.number + 1, u32::MAX);
        }
        let before = self.entered[field.number];
        if before != u32::MAX {
            // The newest entry comes right after the static table.
            let newer = (self.count - 1 - before) as usize;
            integer(STATIC_LENGTH + 1 + newer, 7, 0x80, block);
            return;
        }
        let bytes = field.name.len() + field.value.len() + ENTRY_OVERHEAD;
        if self.bytes + bytes <= self.bytes_max {
            self.entered[field.number] = self.count;
            self.count += 1;
            self.bytes += bytes;
            integer(field.index, 6, 0x40, block);
        } else {
            integer(field.index, 4, 0, block);
        }
        literal(field, block);
    }
}

/// Writes a field that is not in the table.
fn literal(field: &Field, block: &mut Vec<u8>) {
    if field.index == 0 {
        string(&field.name, block);
    }
    string(&field.value, block);
}

/// Writes a number whose first `bits` bits share a byte with `pattern` (RFC 7541, 5.1).
#[expect(clippy::cast_possible_truncation, reason = "bounded by masks")]
fn integer(number: usize, bits: u32, pattern: u8, block: &mut Vec<u8>) {
    let mask = (1_usize << bits) - 1;
    if number < mask {
        block.push(pattern | number as u8);
        return;
    }
    block.push(pattern | mask as u8);
    let mut rest = number - mask;
    while rest >= 0x80 {
        block.push(rest as u8 & 0x7F | 0x80);
        rest >>= 7;
    }
    block.push(rest as u8);
}

fn string(text: &[u8], block: &mut Vec<u8>) {
    integer(text.len(), 7, 0, block);
    block.extend_from_slice(text);
}
