//! The frames of HTTP/2 (RFC 9113, 4 and 6): their heads read, ours written.

/// Bytes of a frame's head.
pub(super) const HEAD_BYTES: usize = 9;

/// Maximum bytes of a frame's payload unless its reader allows more. We never do.
pub(super) const PAYLOAD_MAX: usize = 16_384;

/// Largest window and largest number of a stream.
pub(super) const MAX_31_BITS: u32 = 0x7FFF_FFFF;

/// The first bytes that a client sends.
pub(super) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The kinds of frames.
pub(super) mod kind {
    pub(crate) const DATA: u8 = 0;
    pub(crate) const HEADERS: u8 = 1;
    pub(crate) const PRIORITY: u8 = 2;
    pub(crate) const RST_STREAM: u8 = 3;
    pub(crate) const SETTINGS: u8 = 4;
    pub(crate) const PUSH_PROMISE: u8 = 5;
    pub(crate) const PING: u8 = 6;
    pub(crate) const GOAWAY: u8 = 7;
    pub(crate) const WINDOW_UPDATE: u8 = 8;
    pub(crate) const CONTINUATION: u8 = 9;
}

/// The flags of frames; the first one is `ACK` in frames that cannot end a stream.
pub(super) mod flag {
    pub(crate) const END_STREAM: u8 = 0x1;
    pub(crate) const ACK: u8 = 0x1;
    pub(crate) const END_HEADERS: u8 = 0x4;
    pub(crate) const PADDED: u8 = 0x8;
    pub(crate) const PRIORITY: u8 = 0x20;
}

/// The settings of a connection.
pub(super) mod setting {
    pub(crate) const HEADER_TABLE_SIZE: u16 = 1;
    pub(crate) const ENABLE_PUSH: u16 = 2;
    pub(crate) const MAX_CONCURRENT_STREAMS: u16 = 3;
    pub(crate) const INITIAL_WINDOW_SIZE: u16 = 4;
    pub(crate) const MAX_FRAME_SIZE: u16 = 5;
    pub(crate) const MAX_HEADER_LIST_SIZE: u16 = 6;
}

/// Why a stream or a connection ends (RFC 9113, 7).
pub(super) mod code {
    pub(crate) const NO_ERROR: u32 = 0;
    pub(crate) const PROTOCOL_ERROR: u32 = 1;
    pub(crate) const FLOW_CONTROL_ERROR: u32 = 3;
    pub(crate) const FRAME_SIZE_ERROR: u32 = 6;
    pub(crate) const CANCEL: u32 = 8;
    pub(crate) const COMPRESSION_ERROR: u32 = 9;
    pub(crate) const ENHANCE_YOUR_CALM: u32 = 11;
}

/// Returns the RFC's name of a code.
pub(super) fn code_name(code: u32) -> String {
    const NAMES: [&str; 14] = [
        "NO_ERROR",
        "PROTOCOL_ERROR",
        "INTERNAL_ERROR",
        "FLOW_CONTROL_ERROR",
        "SETTINGS_TIMEOUT",
        "STREAM_CLOSED",
        "FRAME_SIZE_ERROR",
        "REFUSED_STREAM",
        "CANCEL",
        "COMPRESSION_ERROR",
        "CONNECT_ERROR",
        "ENHANCE_YOUR_CALM",
        "INADEQUATE_SECURITY",
        "HTTP_1_1_REQUIRED",
    ];
    let name = usize::try_from(code).ok().and_then(|at| NAMES.get(at));
    name.map_or_else(|| format!("code {code}"), |name| (*name).to_owned())
}

/// The head of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    /// Bytes of the payload.
    pub(super) length: usize,
    /// One of [`kind`], or an unknown one.
    pub(super) kind: u8,
    /// Some of [`flag`].
    pub(super) flags: u8,
    /// The stream; 0 is the connection.
    pub(super) stream: u32,
}

impl Head {
    /// Reads the head at the start of `bytes`; `None` if there are too few of them.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let [a, b, c, kind, flags, stream @ ..] = bytes.first_chunk::<HEAD_BYTES>()?;
        Some(Self {
            length: usize::from(*a) << 16 | usize::from(*b) << 8 | usize::from(*c),
            kind: *kind,
            flags: *flags,
            stream: u32::from_be_bytes(*stream) & MAX_31_BITS,
        })
    }

    /// Whether a flag is set.
    pub(super) fn has(self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// Writes the head of a frame whose payload has at most [`PAYLOAD_MAX`] bytes.
pub(super) fn write_head(out: &mut Vec<u8>, length: usize, kind: u8, flags: u8, stream: u32) {
    debug_assert!(length <= PAYLOAD_MAX, "we send no longer frames");
    let length = u32::try_from(length).unwrap_or(0).to_be_bytes();
    out.extend_from_slice(&length[1..]);
    out.extend_from_slice(&[kind, flags]);
    out.extend_from_slice(&stream.to_be_bytes());
}

/// Writes our settings.
pub(super) fn write_settings(out: &mut Vec<u8>, settings: &[(u16, u32)]) {
    write_head(out, 6 * settings.len(), kind::SETTINGS, 0, 0);
    for (name, value) in settings {
        out.extend_from_slice(&name.to_be_bytes());
        out.extend_from_slice(&value.to_be_bytes());
    }
}

/// Allows the other side `increment` further bytes.
pub(super) fn write_window_update(out: &mut Vec<u8>, stream: u32, increment: u32) {
    write_head(out, 4, kind::WINDOW_UPDATE, 0, stream);
    out.extend_from_slice(&increment.to_be_bytes());
}

/// Ends a stream.
pub(super) fn write_reset(out: &mut Vec<u8>, stream: u32, code: u32) {
    write_head(out, 4, kind::RST_STREAM, 0, stream);
    out.extend_from_slice(&code.to_be_bytes());
}

/// Ends the connection. The service never opens a stream that we would have taken.
pub(super) fn write_goaway(out: &mut Vec<u8>, code: u32) {
    write_head(out, 8, kind::GOAWAY, 0, 0);
    out.extend_from_slice(&0_u32.to_be_bytes());
    out.extend_from_slice(&code.to_be_bytes());
}

/// The first four bytes as a number, without the reserved bit.
pub(super) fn number(payload: &[u8]) -> u32 {
    let bytes = payload.first_chunk::<4>().copied().unwrap_or_default();
    u32::from_be_bytes(bytes)
}

/// The first four bytes as a number, all of them.
pub(super) fn code_of(payload: &[u8]) -> u32 {
    let bytes = payload.first_chunk::<4>().copied().unwrap_or_default();
    u32::from_be_bytes(bytes)
}
