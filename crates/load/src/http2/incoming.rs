//! What the service sends: frame after frame, each with the error that the RFC has for it.

use bakeoff_model::load::ErrorClass;

use super::client::{Client, Fault};
use super::frame::{
    self, HEAD_BYTES, Head, MAX_31_BITS, PAYLOAD_MAX, code, code_name, flag, kind, number, setting,
};
use super::head;
use crate::link::Told;

/// Bytes that a header block may have; its fields may not have more either.
const BLOCK_MAX: usize = 64 * 1024;

/// Frames that a header block may come in.
const BLOCK_FRAMES_MAX: u32 = 128;

/// Frames in a row that may bring no request further: far more than a service has reason to send,
/// few enough that answering them does not fill the memory.
const IDLE_FRAMES_MAX: u32 = 10_000;

/// Answers to settings and pings that may wait for a service that does not read them.
const UNSENT_MAX: u32 = 10_000;

impl Client {
    /// Takes the next bytes of the connection.
    pub(super) fn take(&mut self, mut bytes: &[u8], told: &mut Vec<Told>) -> Result<(), Fault> {
        while !self.partial.is_empty() && !bytes.is_empty() {
            let missing = match Head::read(&self.partial) {
                None => HEAD_BYTES - self.partial.len(),
                Some(head) => HEAD_BYTES + head.length - self.partial.len(),
            };
            let (now, later) = bytes.split_at(missing.min(bytes.len()));
            self.partial.extend_from_slice(now);
            bytes = later;
            let mut partial = std::mem::take(&mut self.partial);
            if self.take_frames(&partial, told)? > 0 {
                partial.clear();
            }
            self.partial = partial;
        }
        let used = self.take_frames(bytes, told)?;
        self.partial.extend_from_slice(&bytes[used..]);
        Ok(())
    }

    /// Takes all whole frames and returns how many bytes they had.
    fn take_frames(&mut self, bytes: &[u8], told: &mut Vec<Told>) -> Result<usize, Fault> {
        let mut at = 0;
        while let Some(head) = Head::read(&bytes[at..]) {
            self.check(head, &bytes[at..])?;
            let end = at + HEAD_BYTES + head.length;
            let Some(payload) = bytes.get(at + HEAD_BYTES..end) else {
                break;
            };
            self.take_frame(head, payload, told)?;
            at = end;
        }
        Ok(at)
    }

    /// Refuses what may not come here, before its payload is awaited.
    fn check(&self, head: Head, bytes: &[u8]) -> Result<(), Fault> {
        if !self.heard && (head.kind != kind::SETTINGS || head.has(flag::ACK)) {
            let message = if bytes.starts_with(b"HTTP/1.") {
                "the service answered in HTTP/1.1"
            } else {
                "the service did not begin with its settings"
            };
            return Err(protocol(message));
        }
        if head.length > PAYLOAD_MAX {
            let message = format!("a frame of {} bytes", head.length);
            return Err(fault(code::FRAME_SIZE_ERROR, message));
        }
        let in_block = self.block.stream != 0;
        if in_block != (head.kind == kind::CONTINUATION)
            || in_block && head.stream != self.block.stream
        {
            return Err(protocol("another frame within a header block"));
        }
        Ok(())
    }

    fn take_frame(
        &mut self,
        head: Head,
        payload: &[u8],
        told: &mut Vec<Told>,
    ) -> Result<(), Fault> {
        self.idle_frames += 1;
        if self.idle_frames > IDLE_FRAMES_MAX {
            let message = format!("{IDLE_FRAMES_MAX} frames in a row without an answer");
            return Err(fault(code::ENHANCE_YOUR_CALM, message));
        }
        match head.kind {
            kind::DATA => self.take_data(head, payload, told),
            kind::HEADERS => self.take_headers(head, payload, told),
            kind::CONTINUATION => self.take_continuation(head, payload, told),
            kind::RST_STREAM => self.take_reset(head, payload, told),
            kind::SETTINGS => self.take_settings(head, payload, told),
            kind::PUSH_PROMISE => Err(protocol("a pushed answer, which we did not allow")),
            kind::PING => self.take_ping(head, payload),
            kind::GOAWAY => self.take_goaway(head, payload, told),
            kind::WINDOW_UPDATE => self.take_window_update(head, payload, told),
            kind::PRIORITY if head.stream == 0 => Err(protocol("a priority of no stream")),
            // Priorities are advice, and unknown kinds are to be ignored.
            _ => Ok(()),
        }
    }

    /// The place of a stream; `None` when its request is over.
    fn place(&self, head: Head) -> Result<Option<usize>, Fault> {
        let number = head.stream;
        if number == 0 || number.is_multiple_of(2) || number >= self.next {
            let message = format!("a frame of stream {number}, which we never opened");
            return Err(protocol(&message));
        }
        Ok(self.numbers.iter().position(|known| *known == number))
    }

    fn take_data(&mut self, head: Head, payload: &[u8], told: &mut Vec<Told>) -> Result<(), Fault> {
        let place = self.place(head)?;
        let data = without_padding(head, payload)?;
        let too_much = || {
            fault(
                code::FLOW_CONTROL_ERROR,
                "more data than allowed".to_owned(),
            )
        };
        let increment = self.inflow.take(payload.len()).ok_or_else(too_much)?;
        if increment > 0 {
            frame::write_window_update(&mut self.out, 0, increment);
        }
        // A service may not know yet that the request is over.
        if !data.is_empty() {
            self.idle_frames = 0;
        }
        let Some(place) = place else { return Ok(()) };
        let stream = &mut self.streams[place];
        let increment = stream.inflow.take(payload.len()).ok_or_else(too_much)?;
        let ends = head.has(flag::END_STREAM);
        let result = stream.take_body(data);
        if increment > 0 && !ends {
            frame::write_window_update(&mut self.out, head.stream, increment);
        }
        match result {
            Err(message) => self.malformed(place, message, told),
            Ok(()) if ends => self.finish(place, told),
            Ok(()) => {}
        }
        Ok(())
    }

    fn take_headers(
        &mut self,
        head: Head,
        payload: &[u8],
        told: &mut Vec<Told>,
    ) -> Result<(), Fault> {
        self.place(head)?;
        let mut fragment = without_padding(head, payload)?;
        if head.has(flag::PRIORITY) {
            fragment = fragment
                .get(5..)
                .ok_or_else(|| size("headers without room for their priority"))?;
        }
        self.block.stream = head.stream;
        self.block.ends = head.has(flag::END_STREAM);
        self.block.frames = 0;
        self.block.bytes.clear();
        self.take_fragment(head, fragment, told)
    }

    fn take_continuation(
        &mut self,
        head: Head,
        payload: &[u8],
        told: &mut Vec<Told>,
    ) -> Result<(), Fault> {
        self.block.frames += 1;
        self.take_fragment(head, payload, told)
    }

    /// Takes a part of a header block, and the block itself when it is whole.
    fn take_fragment(
        &mut self,
        head: Head,
        fragment: &[u8],
        told: &mut Vec<Told>,
    ) -> Result<(), Fault> {
        let bytes = self.block.bytes.len() + fragment.len();
        if bytes > BLOCK_MAX || self.block.frames > BLOCK_FRAMES_MAX {
            let message = "a header block without an end".to_owned();
            return Err(fault(code::ENHANCE_YOUR_CALM, message));
        }
        self.block.bytes.extend_from_slice(fragment);
        if !head.has(flag::END_HEADERS) {
            return Ok(());
        }
        let block = std::mem::take(&mut self.block.bytes);
        let result = self.take_block(head, &block, told);
        self.block.bytes = block;
        self.block.stream = 0;
        result
    }

    /// A whole header block: an interim answer, the head of an answer, or its trailers.
    fn take_block(&mut self, head: Head, block: &[u8], told: &mut Vec<Told>) -> Result<(), Fault> {
        let place = self.place(head)?;
        let mut answer = head::Head::default();
        // Even the block of a request that is over changes the decoder's table.
        let mut keep = None;
        if let Some(place) = place {
            let stream = &mut self.streams[place];
            answer.bytes = stream.head_bytes;
            stream.received.begun = true;
            keep = stream.received.headers().filter(|_| !stream.has_head);
        }
        if let Some(keep) = &mut keep {
            keep.clear();
        }
        let mut take = |name: &[u8], value: &[u8]| answer.add(name, value, keep.as_deref_mut());
        let decoded = self.decoder.decode(block, &mut take);
        decoded.map_err(|message| fault(code::COMPRESSION_ERROR, message.to_owned()))?;
        let Some(place) = place else { return Ok(()) };
        self.idle_frames = 0;
        let (stream, ends) = (&mut self.streams[place], self.block.ends);
        // What each block costs at least, so that endless empty ones end too.
        stream.head_bytes = answer.bytes + 1 + HEAD_BYTES;
        let result = if stream.has_head {
            match answer.check_trailers() {
                Ok(()) if !ends => Err("a second head"),
                result => result,
            }
        } else {
            match answer.check() {
                Ok(()) if answer.status < 200 && ends => Err("an interim answer at the end"),
                Ok(()) if answer.status < 200 => Ok(()),
                Ok(()) => {
                    stream.take_head(answer.status, answer.length);
                    Ok(())
                }
                result => result,
            }
        };
        match result {
            Err(message) => self.malformed(place, message, told),
            Ok(()) if ends => self.finish(place, told),
            Ok(()) => {}
        }
        Ok(())
    }

    /// The answer at this place has ended.
    fn finish(&mut self, place: usize, told: &mut Vec<Told>) {
        if let Err(message) = self.streams[place].finish() {
            self.malformed(place, message, told);
            return;
        }
        if self.streams[place].is_sending() {
            // The service has answered without the rest of the request.
            self.reset(place, code::CANCEL);
        }
        self.close(place);
        told.push(Told::Whole(place));
    }

    /// The answer at this place is none; the connection is not affected.
    fn malformed(&mut self, place: usize, message: &str, told: &mut Vec<Told>) {
        self.reset(place, code::PROTOCOL_ERROR);
        told.push(Told::Failed(
            place,
            ErrorClass::BadFraming,
            message.to_owned(),
        ));
    }

    fn take_reset(
        &mut self,
        head: Head,
        payload: &[u8],
        told: &mut Vec<Told>,
    ) -> Result<(), Fault> {
        if payload.len() != 4 {
            return Err(size("a reset of a wrong size"));
        }
        if let Some(place) = self.place(head)? {
            self.close(place);
            let message = format!("stream reset: {}", code_name(frame::code_of(payload)));
            told.push(Told::Failed(place, ErrorClass::Reset, message));
        }
        Ok(())
    }

    fn take_settings(
        &mut self,
        head: Head,
        payload: &[u8],
        told: &mut Vec<Told>,
    ) -> Result<(), Fault> {
        if head.stream != 0 {
            return Err(protocol("settings of a stream"));
        }
        if !payload.len().is_multiple_of(6) || head.has(flag::ACK) && !payload.is_empty() {
            return Err(size("settings of a wrong size"));
        }
        if head.has(flag::ACK) {
            return Ok(());
        }
        let before = self.settings.streams;
        for entry in payload.chunks_exact(6) {
            let name = u16::from_be_bytes([entry[0], entry[1]]);
            self.take_setting(name, frame::code_of(&entry[2..]))?;
        }
        self.heard = true;
        self.acknowledge(kind::SETTINGS, &[])?;
        if !self.greeted && self.settings.streams > 0 {
            self.greeted = true;
            told.push(Told::Greeted);
        } else if self.settings.streams > before {
            told.push(Told::Wider);
        }
        self.send_bodies();
        Ok(())
    }

    fn take_setting(&mut self, name: u16, value: u32) -> Result<(), Fault> {
        match name {
            setting::HEADER_TABLE_SIZE => {
                self.encoder
                    .resize(usize::try_from(value).unwrap_or(usize::MAX));
            }
            setting::ENABLE_PUSH if value != 0 => {
                return Err(protocol("a service that allows us to push"));
            }
            setting::MAX_CONCURRENT_STREAMS => self.settings.streams = value,
            setting::INITIAL_WINDOW_SIZE => {
                let too_large = || fault(code::FLOW_CONTROL_ERROR, WINDOW_TOO_LARGE.to_owned());
                if value > MAX_31_BITS {
                    return Err(too_large());
                }
                let by = i64::from(value) - i64::from(self.settings.window);
                self.settings.window = value;
                for place in 0..self.streams.len() {
                    if self.numbers[place] != 0 {
                        let outflow = &mut self.streams[place].outflow;
                        outflow.change(by).ok_or_else(too_large)?;
                        self.queue(place);
                    }
                }
            }
            setting::MAX_FRAME_SIZE if !(16_384..=16_777_215).contains(&value) => {
                return Err(protocol("a largest frame out of its bounds"));
            }
            // Larger frames than the smallest allowed size are never sent.
            _ => {}
        }
        Ok(())
    }

    fn take_ping(&mut self, head: Head, payload: &[u8]) -> Result<(), Fault> {
        if head.stream != 0 {
            return Err(protocol("a ping of a stream"));
        }
        if payload.len() != 8 {
            return Err(size("a ping of a wrong size"));
        }
        if !head.has(flag::ACK) {
            self.acknowledge(kind::PING, payload)?;
        }
        Ok(())
    }

    /// Answers a frame of the connection itself, unless such answers are not read.
    fn acknowledge(&mut self, kind: u8, payload: &[u8]) -> Result<(), Fault> {
        self.unsent += 1;
        if self.unsent > UNSENT_MAX {
            let message = format!("{UNSENT_MAX} settings and pings whose answers are not read");
            return Err(fault(code::ENHANCE_YOUR_CALM, message));
        }
        frame::write_head(&mut self.out, payload.len(), kind, flag::ACK, 0);
        self.out.extend_from_slice(payload);
        Ok(())
    }

    fn take_goaway(
        &mut self,
        head: Head,
        payload: &[u8],
        told: &mut Vec<Told>,
    ) -> Result<(), Fault> {
        if head.stream != 0 {
            return Err(protocol("a farewell of a stream"));
        }
        if payload.len() < 8 {
            return Err(size("a farewell of a wrong size"));
        }
        let (last, code) = (number(payload), frame::code_of(&payload[4..]));
        self.retired = true;
        told.push(Told::Retired);
        let class = if code == code::NO_ERROR {
            ErrorClass::EarlyClose
        } else {
            ErrorClass::Reset
        };
        for place in 0..self.numbers.len() {
            if self.numbers[place] > last {
                self.close(place);
                let name = code_name(code);
                let message = format!("the service said GOAWAY ({name}) before this request");
                told.push(Told::Failed(place, class, message));
            }
        }
        Ok(())
    }

    fn take_window_update(
        &mut self,
        head: Head,
        payload: &[u8],
        told: &mut Vec<Told>,
    ) -> Result<(), Fault> {
        if payload.len() != 4 {
            return Err(size("a window update of a wrong size"));
        }
        let increment = number(payload);
        if head.stream == 0 {
            if increment == 0 {
                return Err(protocol("a window update by nothing"));
            }
            let too_large = || fault(code::FLOW_CONTROL_ERROR, WINDOW_TOO_LARGE.to_owned());
            if self.outflow.update(increment).ok_or_else(too_large)? {
                self.idle_frames = 0;
            }
        } else if let Some(place) = self.place(head)? {
            if increment == 0 {
                self.malformed(place, "a window update by nothing", told);
            } else if let Some(taken) = self.streams[place].outflow.update(increment) {
                if taken {
                    self.idle_frames = 0;
                }
                self.queue(place);
            } else {
                self.malformed(place, WINDOW_TOO_LARGE, told);
            }
        }
        self.send_bodies();
        Ok(())
    }
}

const WINDOW_TOO_LARGE: &str = "a window larger than 2^31 - 1";

fn fault(code: u32, message: String) -> Fault {
    Fault { code, message }
}

fn protocol(message: &str) -> Fault {
    fault(code::PROTOCOL_ERROR, message.to_owned())
}

fn size(message: &str) -> Fault {
    fault(code::FRAME_SIZE_ERROR, message.to_owned())
}

fn without_padding(head: Head, payload: &[u8]) -> Result<&[u8], Fault> {
    if !head.has(flag::PADDED) {
        return Ok(payload);
    }
    let (padding, rest) = payload
        .split_first()
        .ok_or_else(|| size("padding without room for its length"))?;
    let length = rest.len().checked_sub(usize::from(*padding));
    length
        .map(|length| &rest[..length])
        .ok_or_else(|| protocol("more padding than payload"))
}
