//! The state of a connection, and the frames that we send on it.

use std::collections::VecDeque;

use super::decoder::Decoder;
use super::encoder::Encoder;
use super::flow::{CONNECTION_WINDOW, DEFAULT_WINDOW, Inflow, Outflow, STREAM_WINDOW};
use super::frame::{
    self, MAX_31_BITS, PAYLOAD_MAX, PREFACE, code, flag, kind, setting, write_head,
};
use super::stream::Stream;
use crate::payload::Payload;
use crate::protocol::event::ProtocolEvent;
use crate::protocol::interface::Protocol;
use crate::protocol::request::OutgoingRequest;
use crate::protocol::response::{Capture, Response};

/// Maximum bytes of header fields in a response, as announced by our settings.
const HEADER_LIST_BYTES: u32 = 64 * 1024;

/// The highest id of a stream of ours.
const STREAM_ID_MAX: u32 = MAX_31_BITS;

/// The service's settings.
#[derive(Debug, Clone, Copy)]
pub(super) struct Settings {
    /// Streams that may be open at the same time.
    pub(super) streams: u32,
    /// Window of a new stream.
    pub(super) window: u32,
}

/// A header block of which not all frames have come.
#[derive(Debug)]
pub(super) struct Block {
    /// Stream of the block; 0 = there is no block.
    pub(super) stream: u32,
    /// Whether the stream ends after the block.
    pub(super) ends: bool,
    /// Bytes received.
    pub(super) bytes: Vec<u8>,
    /// Number of frames received.
    pub(super) frames: u32,
}

/// One connection, seen from the client.
#[derive(Debug)]
pub(crate) struct Client {
    /// Streams by slot.
    pub(super) streams: Vec<Stream>,
    /// Stream ids by slot; 0 = no request in flight.
    pub(super) ids: Vec<u32>,
    /// Streams that are open.
    open: u32,
    /// Whether a request could not be sent because the service allowed no more streams.
    refused: bool,
    /// The id of the next stream.
    pub(super) next: u32,
    pub(super) settings: Settings,
    /// Whether the service has sent settings.
    pub(super) has_settings: bool,
    /// Whether the service has allowed at least one request.
    pub(super) established: bool,
    /// Whether the service refuses further streams.
    pub(super) draining: bool,
    /// Whether the connection cannot continue.
    failed: bool,
    pub(super) decoder: Decoder,
    pub(super) encoder: Encoder,
    pub(super) block: Block,
    pub(super) inflow: Inflow,
    pub(super) outflow: Outflow,
    /// Places with a part of their body to send, in turn.
    bodies: VecDeque<usize>,
    /// The first part of a frame that came in pieces.
    pub(super) partial: Vec<u8>,
    /// Number of times that bytes arrived.
    receives: u64,
    /// Arrival time of the last bytes, monotonic ns.
    pub(super) received_ns: u64,
    /// Number of frames in a row that advanced no request.
    pub(super) idle_frames: u32,
    /// Acknowledgements of settings and pings since the kernel last took all output.
    pub(super) unsent: u32,
    /// Bytes to send.
    pub(super) out: Vec<u8>,
    /// Header block of the request that is being sent.
    scratch: Vec<u8>,
}

impl Client {
    /// A connection with this many slots, before it is established.
    pub(crate) fn new(slots: usize) -> Self {
        Self {
            streams: std::iter::repeat_with(Stream::new).take(slots).collect(),
            ids: vec![0; slots],
            open: 0,
            refused: false,
            next: 1,
            settings: Settings {
                streams: MAX_31_BITS,
                window: DEFAULT_WINDOW,
            },
            has_settings: false,
            established: false,
            draining: false,
            failed: false,
            decoder: Decoder::new(),
            encoder: Encoder::new(),
            block: Block {
                stream: 0,
                ends: false,
                bytes: Vec::new(),
                frames: 0,
            },
            inflow: Inflow::new(CONNECTION_WINDOW),
            outflow: Outflow::new(DEFAULT_WINDOW),
            bodies: VecDeque::new(),
            partial: Vec::new(),
            receives: 0,
            received_ns: 0,
            idle_frames: 0,
            unsent: 0,
            out: Vec::new(),
            scratch: Vec::new(),
        }
    }

    /// Resets the stream of this slot.
    pub(super) fn reset(&mut self, slot: usize, code: u32) {
        let id = self.close(slot);
        if id != 0 {
            frame::write_reset(&mut self.out, id, code);
        }
    }

    /// Closes the stream of this slot and returns its id; 0 if there was none.
    pub(super) fn close(&mut self, slot: usize) -> u32 {
        let id = std::mem::take(&mut self.ids[slot]);
        self.open -= u32::from(id != 0);
        id
    }

    /// Puts a slot with a part of its body to send at the end of the queue.
    pub(super) fn queue(&mut self, slot: usize) {
        let stream = &mut self.streams[slot];
        if !stream.queued && self.ids[slot] != 0 && stream.is_sending() {
            stream.queued = true;
            self.bodies.push_back(slot);
        }
    }

    /// Sends as much of the bodies as the service takes, a frame of each in turn.
    pub(super) fn send_bodies(&mut self) {
        while self.outflow.free() > 0 {
            let Some(slot) = self.bodies.pop_front() else {
                return;
            };
            let (stream, id) = (&mut self.streams[slot], self.ids[slot]);
            stream.queued = false;
            let free = self.outflow.free().min(stream.outflow.free());
            let rest = &stream.body[stream.sent..];
            let piece = &rest[..rest.len().min(free).min(PAYLOAD_MAX)];
            // A stream whose window is closed is queued again when it is opened.
            if id == 0 || piece.is_empty() {
                continue;
            }
            let last = piece.len() == rest.len();
            let flags = if last { flag::END_STREAM } else { 0 };
            write_head(&mut self.out, piece.len(), kind::DATA, flags, id);
            self.out.extend_from_slice(piece);
            stream.sent += piece.len();
            stream.outflow.spend(piece.len());
            self.outflow.spend(piece.len());
            self.queue(slot);
        }
    }
}

impl Protocol for Client {
    /// The preface and our settings must be sent.
    fn start(&mut self) -> bool {
        let streams = std::mem::take(&mut self.streams);
        *self = Self::new(0);
        self.ids = vec![0; streams.len()];
        self.streams = streams;
        for stream in &mut self.streams {
            stream.queued = false;
        }
        self.out.extend_from_slice(PREFACE);
        let settings = [
            (setting::ENABLE_PUSH, 0),
            (setting::INITIAL_WINDOW_SIZE, STREAM_WINDOW),
            (setting::MAX_HEADER_LIST_SIZE, HEADER_LIST_BYTES),
        ];
        frame::write_settings(&mut self.out, &settings);
        let increment = CONNECTION_WINDOW - DEFAULT_WINDOW;
        frame::write_window_update(&mut self.out, 0, increment);
        true
    }

    /// Whether another stream may be opened. The service may allow fewer streams than there are
    /// slots; a request refused for that reason is noted.
    fn has_capacity(&mut self) -> bool {
        if !self.established || self.draining || self.failed || self.next > STREAM_ID_MAX {
            return false;
        }
        let allowed = self.open < self.settings.streams;
        self.refused |= !allowed;
        allowed
    }

    fn send(&mut self, slot: usize, request: OutgoingRequest<'_>, capture: Capture) {
        let Some(http2) = request.http2 else { return };
        let id = self.next;
        self.next += 2;
        self.ids[slot] = id;
        self.open += 1;
        let body = http2.body.clone();
        let ends = body.is_empty();
        let window = self.settings.window;
        self.streams[slot].begin(body, request.head_only, capture, window);
        self.streams[slot].response.want_events(request.events);
        self.streams[slot].receives_before = self.receives;
        self.scratch.clear();
        for field in &http2.fields {
            self.encoder.encode(field, &mut self.scratch);
        }
        let mut pieces = self.scratch.chunks(PAYLOAD_MAX).peekable();
        let mut kind = kind::HEADERS;
        let mut flags = if ends { flag::END_STREAM } else { 0 };
        while let Some(piece) = pieces.next() {
            if pieces.peek().is_none() {
                flags |= flag::END_HEADERS;
            }
            write_head(&mut self.out, piece.len(), kind, flags, id);
            self.out.extend_from_slice(piece);
            (kind, flags) = (kind::CONTINUATION, 0);
        }
        if !ends {
            self.queue(slot);
            self.send_bodies();
        }
    }

    fn receive(
        &mut self,
        bytes: &[u8],
        received_ns: u64,
        events: &mut Vec<ProtocolEvent>,
    ) -> usize {
        self.receives += 1;
        self.received_ns = received_ns;
        if let Err(error) = self.take(bytes, events) {
            self.failed = true;
            frame::write_goaway(&mut self.out, error.code);
            // A handshake together with invalid bytes does not count.
            events.retain(|event| !matches!(event, ProtocolEvent::Established));
            events.push(ProtocolEvent::bad_framing(error.message));
        } else if self.next > STREAM_ID_MAX {
            events.push(ProtocolEvent::Draining);
        }
        bytes.len()
    }

    fn output(&mut self, flushed: bool) -> Option<Payload> {
        if flushed {
            self.unsent = 0;
        }
        Payload::written(std::mem::take(&mut self.out))
    }

    fn response(&mut self, slot: usize) -> &mut Response {
        &mut self.streams[slot].response
    }

    fn cancel(&mut self, slot: usize) -> bool {
        self.reset(slot, code::CANCEL);
        true
    }

    fn is_silent(&mut self, slot: usize) -> bool {
        self.streams[slot].receives_before == self.receives
    }

    fn has_refused(&self) -> bool {
        self.refused
    }

    fn forget_refused(&mut self) {
        self.refused = false;
    }

    fn streams(&self) -> Option<u32> {
        let slots = u32::try_from(self.streams.len()).unwrap_or(u32::MAX);
        Some(self.settings.streams.min(slots))
    }
}
