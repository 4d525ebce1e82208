//! Decoding of header blocks (RFC 7541). Memory is bounded by the table's size and by the block's.

use super::fields::Table;
use super::huffman;

/// Bytes of the dynamic table; the RFC's default, which we never change.
const TABLE_BYTES: usize = 4096;

/// The decoder of one connection.
#[derive(Debug)]
pub(crate) struct Decoder {
    table: Table,
    name: Vec<u8>,
    value: Vec<u8>,
}

impl Decoder {
    /// A decoder before the first block.
    pub(crate) fn new() -> Self {
        Self {
            table: Table::new(TABLE_BYTES),
            name: Vec::new(),
            value: Vec::new(),
        }
    }

    /// Decodes a whole block and passes each field, name and value, to `take`.
    ///
    /// # Errors
    /// A message, if the block is not in this coding; the connection then cannot continue.
    pub(crate) fn decode(
        &mut self,
        block: &[u8],
        take: &mut dyn FnMut(&[u8], &[u8]),
    ) -> Result<(), &'static str> {
        let mut rest = block;
        let mut resizable = true;
        while let Some(&first) = rest.first() {
            if first & 0xE0 == 0x20 {
                let bytes = integer(&mut rest, 5)?;
                if !resizable || bytes > TABLE_BYTES {
                    return Err("a change of the table's size where none is allowed");
                }
                self.table.resize(bytes);
                continue;
            }
            resizable = false;
            if first & 0x80 != 0 {
                let index = integer(&mut rest, 7)?;
                let (name, value) = self.table.get(index).ok_or(UNKNOWN_INDEX)?;
                take(name, value);
                continue;
            }
            let kept = first & 0x40 != 0;
            let index = integer(&mut rest, if kept { 6 } else { 4 })?;
            self.name.clear();
            self.value.clear();
            if index == 0 {
                string(&mut rest, &mut self.name)?;
            } else {
                let (name, _) = self.table.get(index).ok_or(UNKNOWN_INDEX)?;
                self.name.extend_from_slice(name);
            }
            string(&mut rest, &mut self.value)?;
            take(&self.name, &self.value);
            if kept {
                self.table.add(&self.name, &self.value);
            }
        }
        Ok(())
    }
}

const UNKNOWN_INDEX: &str = "an index that is in no table";
const CUT: &str = "a header block ends in the middle of a field";

/// A number whose first `bits` bits are in the first byte (RFC 7541, 5.1).
fn integer(rest: &mut &[u8], bits: u32) -> Result<usize, &'static str> {
    let (first, mut after) = rest.split_first().ok_or(CUT)?;
    let mask = (1_usize << bits) - 1;
    let mut number = usize::from(*first) & mask;
    if number == mask {
        // Four further bytes are 2^28 and more, far beyond any length that we would take.
        let mut shift = 0;
        loop {
            let (byte, next) = after.split_first().ok_or(CUT)?;
            after = next;
            if shift > 21 {
                return Err("a number of a header block is too large");
            }
            number += usize::from(byte & 0x7F) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                break;
            }
        }
    }
    *rest = after;
    Ok(number)
}

/// A string, plain or in the Huffman code (RFC 7541, 5.2).
fn string(rest: &mut &[u8], text: &mut Vec<u8>) -> Result<(), &'static str> {
    let huffman = rest.first().ok_or(CUT)? & 0x80 != 0;
    let length = integer(rest, 7)?;
    let (bytes, after) = rest.split_at_checked(length).ok_or(CUT)?;
    *rest = after;
    if huffman {
        return huffman::decode(bytes, text);
    }
    text.extend_from_slice(bytes);
    Ok(())
}
