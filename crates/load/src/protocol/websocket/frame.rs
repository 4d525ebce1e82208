//! The frames of WebSocket (RFC 6455, 5): the service's heads read, our frames written.

/// The kinds of frames.
pub(super) mod opcode {
    pub(crate) const CONTINUATION: u8 = 0;
    pub(crate) const TEXT: u8 = 1;
    pub(crate) const BINARY: u8 = 2;
    pub(crate) const CLOSE: u8 = 8;
    pub(crate) const PING: u8 = 9;
    pub(crate) const PONG: u8 = 10;
}

/// Maximum bytes of a frame's head; ours have four more, the mask.
pub(super) const HEAD_MAX: usize = 10;

/// Bytes that a control frame may carry.
pub(super) const CONTROL_MAX: u64 = 125;

/// The head of a frame of the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    /// Whether the message ends with this frame.
    pub(super) last: bool,
    /// One of [`opcode`].
    pub(super) opcode: u8,
    /// Bytes of the payload.
    pub(super) length: u64,
    /// Bytes of the head.
    pub(super) bytes: usize,
}

impl Head {
    /// Reads a head; `Ok(None)` if more bytes are needed.
    ///
    /// # Errors
    /// A message, if no service may send such a frame.
    pub(super) fn read(bytes: &[u8]) -> Result<Option<Self>, &'static str> {
        let Some(&first) = bytes.first() else {
            return Ok(None);
        };
        if first & 0x70 != 0 {
            return Err("a reserved bit of a frame is set");
        }
        let (last, opcode) = (first & 0x80 != 0, first & 0x0F);
        let control = opcode >= opcode::CLOSE;
        if opcode > opcode::PONG || (opcode::BINARY + 1..opcode::CLOSE).contains(&opcode) {
            return Err("a frame of an unknown kind");
        }
        if control && !last {
            return Err("a control frame in pieces");
        }
        let Some(&second) = bytes.get(1) else {
            return Ok(None);
        };
        if second & 0x80 != 0 {
            return Err("a masked frame of a service");
        }
        if control && u64::from(second) > CONTROL_MAX {
            return Err("a control frame of more than 125 bytes");
        }
        let (length, bytes) = match second {
            126 => {
                let Some(length) = bytes[2..].first_chunk::<2>() else {
                    return Ok(None);
                };
                (u64::from(u16::from_be_bytes(*length)), 4)
            }
            127 => {
                let Some(length) = bytes[2..].first_chunk::<8>() else {
                    return Ok(None);
                };
                (u64::from_be_bytes(*length), HEAD_MAX)
            }
            short => (u64::from(short), 2),
        };
        let minimal = match bytes {
            2 => 0,
            4 => 126,
            _ => 65_536,
        };
        if length < minimal || length >> 63 != 0 {
            return Err("the length of a frame is not written as it must be");
        }
        Ok(Some(Self {
            last,
            opcode,
            length,
            bytes,
        }))
    }
}

/// Writes a whole message as one frame, masked as a client has to.
pub(super) fn write(out: &mut Vec<u8>, opcode: u8, payload: &[u8], mask: [u8; 4]) {
    out.push(0x80 | opcode);
    match (u8::try_from(payload.len()), u16::try_from(payload.len())) {
        (Ok(length), _) if length < 126 => out.push(0x80 | length),
        (_, Ok(length)) => {
            out.push(0x80 | 126);
            out.extend_from_slice(&length.to_be_bytes());
        }
        _ => {
            out.push(0x80 | 127);
            out.extend_from_slice(&(payload.len() as u64).to_be_bytes());
        }
    }
    out.extend_from_slice(&mask);
    let masked = payload.iter().zip(mask.iter().cycle());
    out.extend(masked.map(|(byte, mask)| byte ^ mask));
}
