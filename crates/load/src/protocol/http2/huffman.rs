//! The Huffman code of header strings (RFC 7541, 5.2 and appendix B).
//!
//! The code is canonical: codes with the same length follow each other in the order of their
//! symbols, so the lengths alone define it, and a symbol is found by comparing with the first code
//! of each length.

/// Bits of the longest code.
const BITS_MAX: usize = 30;

/// Symbols: the bytes, and the one that ends a string, which no string may hold.
const SYMBOLS: usize = 257;

/// Bits of the code of each symbol.
const BITS: [u8; SYMBOLS] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, //
    28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, //
    10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, //
    15, 6, 12, 10, 13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, //
    7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, 15, 5, 6, 5, //
    6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, //
    7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, //
    23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, //
    22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, //
    23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23, 26, 26, 20, 19, 22, 23, 22, 25, //
    26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, //
    28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, //
    26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, 30,
];

/// The codes of one length, by the counts of lengths.
#[derive(Debug, Clone, Copy)]
struct Level {
    /// The first code after those of this length.
    end: u32,
    /// Index of the first code's symbol in [`SORTED`], minus that code.
    base: i32,
}

/// Symbols by length of their code, then by value.
const SORTED: [u16; SYMBOLS] = {
    let mut sorted = [0; SYMBOLS];
    let mut at = 0;
    let mut bits = 1;
    while bits <= BITS_MAX {
        let mut symbol: u16 = 0;
        while (symbol as usize) < SYMBOLS {
            if BITS[symbol as usize] as usize == bits {
                sorted[at] = symbol;
                at += 1;
            }
            symbol += 1;
        }
        bits += 1;
    }
    sorted
};

const LEVELS: [Level; BITS_MAX + 1] = {
    let mut levels = [Level { end: 0, base: 0 }; BITS_MAX + 1];
    let mut code: u32 = 0;
    let mut at: i32 = 0;
    let mut bits = 1;
    while bits <= BITS_MAX {
        code <<= 1;
        levels[bits].base = at - code.cast_signed();
        let mut symbol = 0;
        while symbol < SYMBOLS {
            if BITS[symbol] as usize == bits {
                code += 1;
                at += 1;
            }
            symbol += 1;
        }
        levels[bits].end = code;
        bits += 1;
    }
    levels
};

/// Appends the text encoded by `bytes` to `text`.
///
/// # Errors
/// A message, when the bytes are not in this code or are not filled up with ones.
pub(super) fn decode(bytes: &[u8], text: &mut Vec<u8>) -> Result<(), &'static str> {
    let (mut code, mut bits) = (0_u32, 0_usize);
    for byte in bytes {
        for shift in (0..8).rev() {
            code = code << 1 | u32::from(byte >> shift & 1);
            bits += 1;
            if code >= LEVELS[bits].end {
                if bits == BITS_MAX {
                    return Err("a string is not in the Huffman code");
                }
                continue;
            }
            let at = usize::try_from(code.cast_signed() + LEVELS[bits].base);
            let symbol = at.ok().and_then(|at| SORTED.get(at));
            match symbol.map(|symbol| u8::try_from(*symbol)) {
                Some(Ok(byte)) => text.push(byte),
                _ => return Err("a string holds the end of strings"),
            }
            (code, bits) = (0, 0);
        }
    }
    let ones = (1_u32 << bits) - 1;
    if bits > 7 || code != ones {
        return Err("a string is not filled up with ones");
    }
    Ok(())
}

/// The code of a string, for tests.
#[cfg(test)]
pub(super) fn encode(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let (mut held, mut bits) = (0_u64, 0);
    for symbol in text {
        let length = usize::from(BITS[usize::from(*symbol)]);
        let at = SORTED
            .iter()
            .position(|s| *s == u16::from(*symbol))
            .unwrap();
        let code = i32::try_from(at).unwrap() - LEVELS[length].base;
        held = held << length | u64::from(code.cast_unsigned());
        bits += length;
        while bits >= 8 {
            bits -= 8;
            bytes.push(u8::try_from(held >> bits & 0xFF).unwrap());
        }
    }
    if bits > 0 {
        let ones = (1 << (8 - bits)) - 1;
        bytes.push(u8::try_from((held << (8 - bits) | ones) & 0xFF).unwrap());
    }
    bytes
}
