//! One connection: the upgrade, then message after message in both directions.

use std::rc::Rc;

use super::frame::{self, CONTROL_MAX, Head, opcode};
use super::handshake::{self, Refusal};
use super::utf8::Check;
use crate::random::Random;
use crate::received::{Keep, Received};

/// Bytes of a message that are kept to look for a time stamp in.
const BEGINNING_MAX: usize = 64;

/// Control frames in a row that may bring no message further: far more than a service has reason
/// to send, few enough that answering them does not fill the memory.
const IDLE_FRAMES_MAX: u32 = 10_000;

/// Pongs that may wait for a service that does not read them. Of further pings only the last one
/// is answered, when it reads again (RFC 6455, 5.5.3).
const UNSENT_PONGS_MAX: u32 = 1_000;

/// Frames in which one message may come without bringing a byte of it.
const EMPTY_FRAMES_MAX: u32 = 10_000;

/// What happened on the connection.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Happened {
    /// The service granted the upgrade: messages may be sent.
    Upgraded,
    /// The service answered the upgrade with another status.
    Refused(u16),
    /// A message is whole.
    Message,
    /// The service closed, with these words.
    Closed(String),
    /// What came is not WebSocket.
    Garbled(String),
}

/// A message being received.
#[derive(Debug, Clone, Copy)]
struct Message {
    /// It is a text, and must be UTF-8.
    text: Option<Check>,
    empty_frames: u32,
}

/// One connection, seen from the client.
#[derive(Debug)]
pub(crate) struct Client {
    /// What has come of the message.
    pub(crate) received: Received,
    /// Messages of this connection that were waited for.
    pub(crate) counted: u32,
    /// The beginning of the message.
    beginning: Vec<u8>,
    /// The upgrade request before its key, shared by all connections of the thread.
    upgrade: Rc<[u8]>,
    key: String,
    upgraded: bool,
    /// The head of the frame whose payload comes.
    head: Option<Head>,
    /// Bytes of that payload which have not come.
    left: u64,
    message: Option<Message>,
    /// The next message was asked for.
    asked: bool,
    /// Beginning of the upgrade's answer, of a head, or a control frame's payload.
    partial: Vec<u8>,
    idle_frames: u32,
    /// Pongs since the kernel last took all output.
    unsent_pongs: u32,
    /// The payload of the one that is held back.
    pong: Option<Vec<u8>>,
    random: Random,
    out: Vec<u8>,
}

impl Client {
    /// A connection that will ask for an upgrade with this request, which lacks its key and the
    /// empty line.
    pub(crate) fn new(upgrade: Rc<[u8]>, seed: u64) -> Self {
        Self {
            received: Received::default(),
            counted: 0,
            beginning: Vec::with_capacity(BEGINNING_MAX),
            upgrade,
            key: String::new(),
            upgraded: false,
            head: None,
            left: 0,
            message: None,
            asked: false,
            partial: Vec::new(),
            idle_frames: 0,
            unsent_pongs: 0,
            pong: None,
            random: Random::new(seed),
            out: Vec::new(),
        }
    }

    /// Begins anew on a fresh connection: the upgrade is to be sent.
    pub(crate) fn greet(&mut self) {
        self.key = handshake::key([self.random.bits(), self.random.bits()]);
        self.upgraded = false;
        self.counted = 0;
        self.head = None;
        self.message = None;
        self.asked = false;
        self.partial.clear();
        self.idle_frames = 0;
        self.pong = None;
        self.out.clear();
        self.out.extend_from_slice(&self.upgrade);
        let line = format!("Sec-WebSocket-Key: {}\r\n\r\n", self.key);
        self.out.extend_from_slice(line.as_bytes());
    }

    /// Goes on as if the upgrade had been granted, to test what comes after it.
    #[cfg(any(test, feature = "fuzz"))]
    pub(crate) fn grant(&mut self) {
        self.upgraded = true;
    }

    /// Awaits the next message, after sending `text` unless it is empty.
    pub(crate) fn begin(&mut self, text: &[u8], keep: Keep) {
        // A message that is already on its way was not asked for as a sample.
        if self.message.is_none() {
            self.received.begin(keep);
            self.asked = true;
        }
        if !text.is_empty() {
            self.write(opcode::TEXT, text);
        }
    }

    /// Says farewell; the service is not waited for.
    pub(crate) fn close(&mut self) {
        self.write_farewell(&1000_u16.to_be_bytes());
    }

    /// The beginning of the last message.
    pub(crate) fn beginning(&self) -> &[u8] {
        &self.beginning
    }

    /// Bytes that the connection has to carry now; `flowing` when the kernel has taken all that it
    /// had to carry before.
    pub(crate) fn output(&mut self, flowing: bool) -> Vec<u8> {
        if flowing {
            self.unsent_pongs = 0;
            if let Some(payload) = self.pong.take() {
                self.write(opcode::PONG, &payload);
            }
        }
        std::mem::take(&mut self.out)
    }

    /// Says farewell; nothing may be sent after it.
    fn write_farewell(&mut self, payload: &[u8]) {
        self.pong = None;
        self.write(opcode::CLOSE, payload);
    }

    fn write(&mut self, opcode: u8, payload: &[u8]) {
        let [a, b, c, d, ..] = self.random.bits().to_be_bytes();
        frame::write(&mut self.out, opcode, payload, [a, b, c, d]);
    }

    /// Takes bytes until something happens. Returns how many it took, all of them when nothing
    /// happened. Nothing may be fed after the connection was closed, refused or garbled.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> (usize, Option<Happened>) {
        if !self.upgraded {
            return self.feed_upgrade(bytes);
        }
        let mut at = 0;
        while at < bytes.len() {
            let result = match self.head {
                None => self.feed_head(&bytes[at..]),
                Some(head) => self.feed_payload(head, &bytes[at..]),
            };
            match result {
                Ok((used, None)) => at += used,
                Ok((used, happened)) => return (at + used, happened),
                Err(message) => return (bytes.len(), Some(Happened::Garbled(message.to_owned()))),
            }
        }
        (at, None)
    }

    fn feed_upgrade(&mut self, bytes: &[u8]) -> (usize, Option<Happened>) {
        let before = self.partial.len();
        self.partial.extend_from_slice(bytes);
        match handshake::read(&self.partial, &self.key) {
            Ok(None) => (bytes.len(), None),
            Ok(Some(length)) => {
                self.partial.clear();
                self.upgraded = true;
                (length - before, Some(Happened::Upgraded))
            }
            Err(Refusal::Status(status)) => (bytes.len(), Some(Happened::Refused(status))),
            Err(Refusal::Garbled(message)) => (bytes.len(), Some(Happened::Garbled(message))),
        }
    }

    /// Takes bytes of a head, at least one.
    fn feed_head(&mut self, bytes: &[u8]) -> Result<(usize, Option<Happened>), &'static str> {
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

    /// A frame of a message begins.
    fn begin_data(&mut self, head: Head) -> Result<(), &'static str> {
        let message = match (&mut self.message, head.opcode) {
            (Some(message), opcode::CONTINUATION) => message,
            (Some(_), _) => return Err("another message within a message"),
            (None, opcode::CONTINUATION) => return Err("a continuation of no message"),
            (None, kind) => {
                if !std::mem::take(&mut self.asked) {
                    self.received.begin(Keep::Nothing);
                }
                self.received.begun = true;
                self.received.status = 101;
                self.beginning.clear();
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
    ) -> Result<(usize, Option<Happened>), &'static str> {
        let used = usize::try_from(self.left).map_or(bytes.len(), |left| left.min(bytes.len()));
        let data = &bytes[..used];
        self.left -= used as u64;
        match &mut self.message {
            Some(message) if head.opcode < opcode::CLOSE => {
                if message.text.as_mut().is_some_and(|text| !text.take(data)) {
                    return Err("a text that is not UTF-8");
                }
                self.received.take_body(data);
                let room = BEGINNING_MAX - self.beginning.len();
                self.beginning.extend_from_slice(&data[..used.min(room)]);
            }
            _ => self.partial.extend_from_slice(data),
        }
        if self.left > 0 {
            return Ok((used, None));
        }
        self.head = None;
        Ok((used, self.end_frame(head)?))
    }

    /// A frame is whole.
    fn end_frame(&mut self, head: Head) -> Result<Option<Happened>, &'static str> {
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
        if text.is_some_and(|text| !text.is_whole()) {
            return Err("a text that ends within a character");
        }
        self.idle_frames = 0;
        Ok(Some(Happened::Message))
    }

    /// The service says farewell: so do we, and the connection is over.
    fn closed(&mut self) -> Result<Happened, &'static str> {
        debug_assert!(
            self.partial.len() as u64 <= CONTROL_MAX,
            "Head::read saw to it"
        );
        let payload = std::mem::take(&mut self.partial);
        let Some((code, reason)) = payload.split_first_chunk::<2>() else {
            if !payload.is_empty() {
                return Err("a farewell with half a code");
            }
            self.write_farewell(&[]);
            return Ok(Happened::Closed("without a reason".to_owned()));
        };
        let code = u16::from_be_bytes(*code);
        // RFC 6455, 7.4: the codes that may be sent.
        if !matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999) {
            return Err("a farewell with a code that must not be sent");
        }
        let Ok(reason) = std::str::from_utf8(reason) else {
            return Err("a farewell that is not UTF-8");
        };
        self.write_farewell(&code.to_be_bytes());
        Ok(Happened::Closed(format!("with code {code} {reason:?}")))
    }
}
