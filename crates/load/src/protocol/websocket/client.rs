//! A connection: the upgrade, then message after message in both directions.

use std::rc::Rc;

use bakeoff_model::load::{ErrorClass, WebSocket};

use super::frame::{self, CONTROL_MAX, Head, opcode};
use super::handshake::{self, Refusal};
use super::utf8::Check;
use crate::payload::Payload;
use crate::protocol::event::ProtocolEvent;
use crate::protocol::interface::Protocol;
use crate::protocol::request::OutgoingRequest;
use crate::protocol::response::{Capture, Response};
use bakeoff_base::random::Random;

/// Bytes of a message that are kept to search for a timestamp.
const PREFIX_MAX: usize = 64;

/// Maximum number of control frames in a row without a message: far more than a service has reason
/// to send, few enough that replies to them do not fill the memory.
const IDLE_FRAMES_MAX: u32 = 10_000;

/// Maximum number of pongs that wait for a service that does not read them. Only the last one of
/// further pings gets a reply, when it reads again (RFC 6455, 5.5.3).
const UNSENT_PONGS_MAX: u32 = 1_000;

/// Maximum number of empty frames in a message.
const EMPTY_FRAMES_MAX: u32 = 10_000;

/// The only slot.
const SLOT: usize = 0;

/// A message being received.
#[derive(Debug, Clone, Copy)]
struct Message {
    /// A UTF-8 check, if the message is a text.
    text: Option<Check>,
    empty_frames: u32,
}

/// The effect of a frame.
#[derive(Debug)]
enum Frame {
    /// A message is complete.
    Message,
    /// The service closed, with this reason.
    Close(String),
}

/// One connection, seen from the client.
#[derive(Debug)]
pub(crate) struct Client {
    settings: WebSocket,
    response: Response,
    /// Number of awaited messages on this connection.
    messages: u32,
    /// Whether a message is awaited.
    awaiting: bool,
    /// When the window opened, monotonic ns: earlier messages were not awaited.
    window_ns: u64,
    /// The part of the awaited message to capture.
    wanted: Capture,
    /// The part of the next message to capture; `None` if none is awaited yet.
    capture: Option<Capture>,
    /// The upgrade request before its key, shared by all connections of the thread.
    upgrade: Rc<[u8]>,
    key: String,
    upgraded: bool,
    /// The head of the frame whose payload is arriving.
    head: Option<Head>,
    /// Bytes of that payload which have not arrived.
    left: u64,
    message: Option<Message>,
    /// First part of the upgrade's response, of a head, or a control frame's payload.
    partial: Vec<u8>,
    idle_frames: u32,
    /// Pongs since the kernel last took all output.
    unsent_pongs: u32,
    /// The payload of the pong that is held back.
    pong: Option<Vec<u8>>,
    random: Random,
    out: Vec<u8>,
}

impl Client {
    /// Returns a connection that will request an upgrade with this request, which lacks its key and
    /// the empty line.
    pub(crate) fn new(upgrade: Rc<[u8]>, settings: WebSocket, seed: u64) -> Self {
        Self {
            settings,
            response: Response::default(),
            messages: 0,
            awaiting: false,
            window_ns: 0,
            wanted: Capture::Nothing,
            capture: None,
            upgrade,
            key: String::new(),
            upgraded: false,
            head: None,
            left: 0,
            message: None,
            partial: Vec::new(),
            idle_frames: 0,
            unsent_pongs: 0,
            pong: None,
            random: Random::new(seed),
            out: Vec::new(),
        }
    }

    /// Continues as if the upgrade had been granted, to test the following messages.
    #[cfg(any(test, feature = "fuzz"))]
    pub(crate) fn grant(&mut self) {
        self.upgraded = true;
    }

    /// Writes a Close frame; nothing may be sent after it.
    fn write_close(&mut self, payload: &[u8]) {
        self.pong = None;
        self.write(opcode::CLOSE, payload);
    }

    fn write(&mut self, opcode: u8, payload: &[u8]) {
        let [a, b, c, d, ..] = self.random.bits().to_be_bytes();
        frame::write(&mut self.out, opcode, payload, [a, b, c, d]);
    }

    /// Takes the response to the upgrade and returns how many bytes it had.
    fn receive_upgrade(&mut self, bytes: &[u8], events: &mut Vec<ProtocolEvent>) -> usize {
        let before = self.partial.len();
        self.partial.extend_from_slice(bytes);
        match handshake::read(&self.partial, &self.key) {
            Ok(None) => {}
            Ok(Some(length)) => {
                self.partial.clear();
                self.upgraded = true;
                events.push(ProtocolEvent::Established);
                return length - before;
            }
            Err(Refusal::Status(status)) => events.push(ProtocolEvent::Failed {
                class: ErrorClass::UnexpectedStatus,
                message: format!("status {status} for the upgrade"),
            }),
            Err(Refusal::Garbled(message)) => events.push(ProtocolEvent::bad_framing(message)),
        }
        bytes.len()
    }

    /// Handles a complete message. One that was not awaited, before or after a window, does not
    /// count, nor does one that waited in the kernel when the window opened.
    fn complete(&mut self, received_ns: u64, events: &mut Vec<ProtocolEvent>) -> bool {
        if received_ns < self.window_ns {
            self.capture = self.awaiting.then_some(self.wanted);
            return false;
        }
        if !std::mem::take(&mut self.awaiting) {
            return false;
        }
        self.messages += 1;
        events.push(ProtocolEvent::Response {
            slot: SLOT,
            received_ns,
        });
        if self.settings.messages > 0 && self.messages >= self.settings.messages {
            self.write_close(&1000_u16.to_be_bytes());
            events.push(ProtocolEvent::Draining);
        }
        true
    }

    /// Takes bytes of a head, at least one.
    fn feed_head(&mut self, bytes: &[u8]) -> Result<(usize, Option<Frame>), &'static str> {
        let before = self.partial.len();
        let room = frame::HEAD_MAX - before;
        self.partial
            .extend_from_slice(&bytes[..bytes.len().min(room)]);
        let Some(head) = Head::read(&self.partial)? else {
            return Ok((bytes.len(), None));
        };
        self.partial.clear();
        let used = head.bytes - before;
        if head.opcode < opcode::CLOSE {
            self.begin_data(head)?;
        } else {
            self.idle_frames += 1;
            if self.idle_frames > IDLE_FRAMES_MAX {
                return Err("10000 control frames in a row without a message");
            }
        }
        if head.length == 0 {
            return Ok((used, self.end_frame(head)?));
        }
        (self.head, self.left) = (Some(head), head.length);
        Ok((used, None))
    }

    /// Starts a frame of a message.
    fn begin_data(&mut self, head: Head) -> Result<(), &'static str> {
        let message = match (&mut self.message, head.opcode) {
            (Some(message), opcode::CONTINUATION) => message,
            (Some(_), _) => return Err("another message within a message"),
            (None, opcode::CONTINUATION) => return Err("a continuation of no message"),
            (None, kind) => {
                let capture = self.capture.take().unwrap_or_default();
                self.response.begin(capture);
                self.response.begun = true;
                self.response.status = 101;
                self.response.prefix.clear();
                self.message.insert(Message {
                    text: (kind == opcode::TEXT).then(Check::default),
                    empty_frames: 0,
                })
            }
        };
        message.empty_frames += u32::from(head.length == 0);
        if message.empty_frames > EMPTY_FRAMES_MAX {
            return Err("a message of 10000 empty frames");
        }
        Ok(())
    }

    /// Takes bytes of a payload, at least one.
    fn feed_payload(
        &mut self,
        head: Head,
        bytes: &[u8],
    ) -> Result<(usize, Option<Frame>), &'static str> {
        let used = usize::try_from(self.left).map_or(bytes.len(), |left| left.min(bytes.len()));
        let data = &bytes[..used];
        self.left -= used as u64;
        match &mut self.message {
            Some(message) if head.opcode < opcode::CLOSE => {
                if message.text.as_mut().is_some_and(|text| !text.take(data)) {
                    return Err("a text that is not UTF-8");
                }
                self.response.take_body(data);
                if self.settings.timestamp.is_some() {
                    let prefix = &mut self.response.prefix;
                    let room = PREFIX_MAX - prefix.len();
                    prefix.extend_from_slice(&data[..used.min(room)]);
                }
            }
            _ => self.partial.extend_from_slice(data),
        }
        if self.left > 0 {
            return Ok((used, None));
        }
        self.head = None;
        Ok((used, self.end_frame(head)?))
    }

    /// Ends a frame.
    fn end_frame(&mut self, head: Head) -> Result<Option<Frame>, &'static str> {
        match head.opcode {
            opcode::CLOSE => return self.closed().map(Some),
            opcode::PING => {
                let payload = std::mem::take(&mut self.partial);
                if self.unsent_pongs < UNSENT_PONGS_MAX {
                    self.unsent_pongs += 1;
                    self.write(opcode::PONG, &payload);
                } else {
                    self.pong = Some(payload);
                }
                return Ok(None);
            }
            opcode::PONG => {
                self.partial.clear();
                return Ok(None);
            }
            _ if !head.last => return Ok(None),
            _ => {}
        }
        let message = self.message.take();
        let text = message.and_then(|message| message.text);
        if text.is_some_and(|text| !text.is_complete()) {
            return Err("a text that ends within a character");
        }
        self.idle_frames = 0;
        Ok(Some(Frame::Message))
    }

    /// Handles a Close frame of the service: sends one in return, and the connection is over.
    fn closed(&mut self) -> Result<Frame, &'static str> {
        debug_assert!(
            self.partial.len() as u64 <= CONTROL_MAX,
            "Head::read refuses longer ones"
        );
        let payload = std::mem::take(&mut self.partial);
        let Some((code, reason)) = payload.split_first_chunk::<2>() else {
            if !payload.is_empty() {
                return Err("a Close frame with half a code");
            }
            self.write_close(&[]);
            return Ok(Frame::Close("without a reason".to_owned()));
        };
        let code = u16::from_be_bytes(*code);
        // RFC 6455, 7.4: the codes that may be sent.
        if !matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999) {
            return Err("a Close frame with a code that must not be sent");
        }
        let Ok(reason) = std::str::from_utf8(reason) else {
            return Err("a Close frame whose reason is not UTF-8");
        };
        self.write_close(&code.to_be_bytes());
        Ok(Frame::Close(format!("with code {code} {reason:?}")))
    }
}

impl Protocol for Client {
    /// Starts the upgrade.
    fn start(&mut self) -> bool {
        self.key = handshake::key([self.random.bits(), self.random.bits()]);
        self.upgraded = false;
        self.messages = 0;
        self.head = None;
        self.message = None;
        self.awaiting = false;
        self.capture = None;
        self.partial.clear();
        self.idle_frames = 0;
        self.unsent_pongs = 0;
        self.pong = None;
        self.out.clear();
        self.out.extend_from_slice(&self.upgrade);
        let line = format!("Sec-WebSocket-Key: {}\r\n\r\n", self.key);
        self.out.extend_from_slice(line.as_bytes());
        true
    }

    fn open_window(&mut self, start_ns: u64) {
        self.window_ns = start_ns;
    }

    fn has_capacity(&mut self) -> bool {
        true
    }

    /// Awaits the next message, after sending one unless that is empty.
    fn send(&mut self, _: usize, request: OutgoingRequest<'_>, capture: Capture) {
        self.awaiting = true;
        self.wanted = capture;
        // A message that is already arriving was not to be captured.
        if self.message.is_none() {
            self.response.begin(capture);
            self.capture = Some(capture);
        }
        if !request.message.is_empty() {
            self.write(opcode::TEXT, request.message);
        }
    }

    fn receive(
        &mut self,
        bytes: &[u8],
        received_ns: u64,
        events: &mut Vec<ProtocolEvent>,
    ) -> usize {
        let mut at = 0;
        if !self.upgraded {
            at = self.receive_upgrade(bytes, events);
            // A message that arrives with the upgrade is not awaited before the connection is known
            // to be established.
            if self.upgraded {
                return at;
            }
        }
        while at < bytes.len() {
            let result = match self.head {
                None => self.feed_head(&bytes[at..]),
                Some(head) => self.feed_payload(head, &bytes[at..]),
            };
            match result {
                Ok((used, None)) => at += used,
                Ok((used, Some(Frame::Message))) => {
                    at += used;
                    if self.complete(received_ns, events) {
                        return at;
                    }
                }
                Ok((_, Some(Frame::Close(reason)))) => {
                    events.push(ProtocolEvent::Failed {
                        class: ErrorClass::EarlyClose,
                        message: format!("the service closed {reason}"),
                    });
                    return bytes.len();
                }
                Err(message) => {
                    events.push(ProtocolEvent::bad_framing(message));
                    return bytes.len();
                }
            }
        }
        at
    }

    fn output(&mut self, flushed: bool) -> Option<Payload> {
        if flushed {
            self.unsent_pongs = 0;
            if let Some(payload) = self.pong.take() {
                self.write(opcode::PONG, &payload);
            }
        }
        Payload::written(std::mem::take(&mut self.out))
    }

    fn response(&mut self, _: usize) -> &mut Response {
        &mut self.response
    }
}
