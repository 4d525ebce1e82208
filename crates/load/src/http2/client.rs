//! The state of one connection, and what we send on it.

use std::collections::VecDeque;

use bakeoff_model::load::ErrorClass;

use super::decoder::Decoder;
use super::encoder::Encoder;
use super::flow::{CONNECTION_WINDOW, DEFAULT_WINDOW, Inflow, Outflow, STREAM_WINDOW};
use super::frame::{
    self, MAX_31_BITS, PAYLOAD_MAX, PREFACE, code, flag, kind, setting, write_head,
};
use super::stream::Stream;
use crate::link::Told;
use crate::received::{Keep, Received};
use crate::request::Asked;

/// Bytes of header fields that an answer may have, as we tell the service.
const HEADER_LIST_BYTES: u32 = 64 * 1024;

/// The last number that a stream of ours may have.
const NUMBER_MAX: u32 = MAX_31_BITS;

/// What the service has said about itself.
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
    /// Its stream; 0 = there is no such block.
    pub(super) stream: u32,
    /// The stream ends after it.
    pub(super) ends: bool,
    /// What has come.
    pub(super) bytes: Vec<u8>,
    /// In how many frames.
    pub(super) frames: u32,
}

/// Why a connection cannot go on: what the service is told, and what the user is told.
#[derive(Debug)]
pub(super) struct Fault {
    /// One of [`code`].
    pub(super) code: u32,
    /// In words.
    pub(super) message: String,
}

/// One connection, seen from the client.
#[derive(Debug)]
pub(crate) struct Client {
    /// By place.
    pub(super) streams: Vec<Stream>,
    /// By place: the number of its stream; 0 = no request in flight.
    pub(super) numbers: Vec<u32>,
    /// Streams that are open.
    open: u32,
    /// Somebody wanted to send a request and the service allowed no further stream.
    refused: bool,
    /// The number of the next stream.
    pub(super) next: u32,
    pub(super) settings: Settings,
    /// The service has sent settings.
    pub(super) heard: bool,
    /// It has allowed at least one request.
    pub(super) greeted: bool,
    /// The service wants no further streams.
    pub(super) retired: bool,
    /// The connection cannot go on.
    faulted: bool,
    pub(super) decoder: Decoder,
    pub(super) encoder: Encoder,
    pub(super) block: Block,
    pub(super) inflow: Inflow,
    pub(super) outflow: Outflow,
    /// Places with a part of their body to send, in turn.
    bodies: VecDeque<usize>,
    /// The beginning of a frame that came in pieces.
    pub(super) partial: Vec<u8>,
    /// How often bytes came.
    fed: u64,
    /// Frames in a row that brought no request further.
    pub(super) idle_frames: u32,
    /// Answers that the connection itself asked for since the kernel last took all output.
    pub(super) unsent: u32,
    /// What is to be sent.
    pub(super) out: Vec<u8>,
    /// Header block of the request in hand.
    scratch: Vec<u8>,
}

impl Client {
    /// A connection with room for `width` requests in flight, before it is established.
    pub(crate) fn new(width: usize) -> Self {
        Self {
            streams: std::iter::repeat_with(Stream::new).take(width).collect(),
            numbers: vec![0; width],
            open: 0,
            refused: false,
            next: 1,
            settings: Settings {
                streams: MAX_31_BITS,
                window: DEFAULT_WINDOW,
            },
            heard: false,
            greeted: false,
            retired: false,
            faulted: false,
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
            fed: 0,
            idle_frames: 0,
            unsent: 0,
            out: Vec::new(),
            scratch: Vec::new(),
        }
    }

    /// Begins anew on a fresh connection: the preface and our settings are to be sent.
    pub(crate) fn greet(&mut self) {
        let streams = std::mem::take(&mut self.streams);
        *self = Self::new(0);
        self.numbers = vec![0; streams.len()];
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
    }

    /// Whether a request may be sent at an empty place. The service may allow fewer streams than
    /// there are places; that somebody was refused because of that is kept.
    pub(crate) fn has_room(&mut self) -> bool {
        if !self.greeted || self.retired || self.faulted || self.next > NUMBER_MAX {
            return false;
        }
        let allowed = self.open < self.settings.streams;
        self.refused |= !allowed;
        allowed
    }

    /// Whether somebody may be waiting for room that the service did not allow.
    pub(crate) fn has_refused(&self) -> bool {
        self.refused
    }

    /// Nobody waits for room any longer.
    pub(crate) fn forget_refused(&mut self) {
        self.refused = false;
    }

    /// Requests that may be in flight.
    pub(crate) fn room(&self) -> u32 {
        let places = u32::try_from(self.streams.len()).unwrap_or(u32::MAX);
        self.settings.streams.min(places)
    }

    /// What has come of the answer at this place.
    pub(crate) fn received(&mut self, place: usize) -> &mut Received {
        &mut self.streams[place].received
    }

    /// Bytes that the connection has to carry now; `flowing` when the kernel has taken all that it
    /// had to carry before.
    pub(crate) fn output(&mut self, flowing: bool) -> Vec<u8> {
        if flowing {
            self.unsent = 0;
        }
        std::mem::take(&mut self.out)
    }

    /// Begins a request at an empty place with room.
    pub(crate) fn begin(&mut self, place: usize, asked: Asked<'_>, keep: Keep) {
        let Some(http2) = asked.http2 else { return };
        let number = self.next;
        self.next += 2;
        self.numbers[place] = number;
        self.open += 1;
        let body = http2.body.clone();
        let ends = body.is_empty();
        let window = self.settings.window;
        self.streams[place].begin(body, asked.head_only, keep, window);
        self.streams[place].fed_before = self.fed;
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
            write_head(&mut self.out, piece.len(), kind, flags, number);
            self.out.extend_from_slice(piece);
            (kind, flags) = (kind::CONTINUATION, 0);
        }
        if !ends {
            self.queue(place);
            self.send_bodies();
        }
    }

    /// Whether nothing at all has come since the request at this place was begun.
    pub(crate) fn is_silent(&self, place: usize) -> bool {
        self.streams[place].fed_before == self.fed
    }

    /// Gives up the request at this place.
    pub(crate) fn cancel(&mut self, place: usize) -> bool {
        self.reset(place, code::CANCEL);
        true
    }

    /// Ends the stream at this place before its time.
    pub(super) fn reset(&mut self, place: usize, code: u32) {
        let number = self.close(place);
        if number != 0 {
            frame::write_reset(&mut self.out, number, code);
        }
    }

    /// The stream at this place is over; its number, 0 when there was none.
    pub(super) fn close(&mut self, place: usize) -> u32 {
        let number = std::mem::take(&mut self.numbers[place]);
        self.open -= u32::from(number != 0);
        number
    }

    /// Puts a place with a part of its body to send at the end of the queue.
    pub(super) fn queue(&mut self, place: usize) {
        let stream = &mut self.streams[place];
        if !stream.queued && self.numbers[place] != 0 && stream.is_sending() {
            stream.queued = true;
            self.bodies.push_back(place);
        }
    }

    /// Sends as much of the bodies as the service takes, a frame of each in turn.
    pub(super) fn send_bodies(&mut self) {
        while self.outflow.free() > 0 {
            let Some(place) = self.bodies.pop_front() else {
                return;
            };
            let (stream, number) = (&mut self.streams[place], self.numbers[place]);
            stream.queued = false;
            let free = self.outflow.free().min(stream.outflow.free());
            let rest = &stream.body[stream.sent..];
            let piece = &rest[..rest.len().min(free).min(PAYLOAD_MAX)];
            // A stream whose window is closed comes back when it is opened.
            if number == 0 || piece.is_empty() {
                continue;
            }
            let last = piece.len() == rest.len();
            let flags = if last { flag::END_STREAM } else { 0 };
            write_head(&mut self.out, piece.len(), kind::DATA, flags, number);
            self.out.extend_from_slice(piece);
            stream.sent += piece.len();
            stream.outflow.spend(piece.len());
            self.outflow.spend(piece.len());
            self.queue(place);
        }
    }

    /// Takes the next bytes of the connection and tells what came of them. A fault is the last
    /// thing told; nothing may be fed after it.
    pub(crate) fn feed(&mut self, bytes: &[u8], told: &mut Vec<Told>) {
        self.fed += 1;
        if let Err(fault) = self.take(bytes, told) {
            self.faulted = true;
            frame::write_goaway(&mut self.out, fault.code);
            // A greeting that comes along with nonsense is none.
            told.retain(|told| !matches!(told, Told::Greeted));
            told.push(Told::Fault(ErrorClass::BadFraming, fault.message));
        } else if self.next > NUMBER_MAX {
            told.push(Told::Retired);
        }
    }
}
