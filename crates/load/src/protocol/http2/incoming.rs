//! Reads the service's frames, each with the error that the RFC specifies for it.

use bakeoff_model::load::ErrorClass;

use super::client::Client;
use super::error::{ConnectionError, protocol, size};
use super::frame::{
    self, HEAD_BYTES, Head, MAX_31_BITS, PAYLOAD_MAX, code, code_name, flag, kind, number, setting,
};
use super::head;
use super::padding::without_padding;
use crate::protocol::event::ProtocolEvent;

/// Maximum bytes of a header block; its fields may not have more either.
const BLOCK_MAX: usize = 64 * 1024;

/// Maximum number of frames of a header block.
const BLOCK_FRAMES_MAX: u32 = 128;

/// Maximum number of frames in a row that advance no request: far more than a service has reason to
/// send, few enough that replies to them do not fill the memory.
const IDLE_FRAMES_MAX: u32 = 10_000;

/// Maximum number of replies to settings and pings that wait for a service that does not read them.
const UNSENT_MAX: u32 = 10_000;

impl Client {
    /// Takes the next bytes of the connection.
    pub(super) fn take(
        &mut self,
        mut bytes: &[u8],
        events: &mut Vec<ProtocolEvent>,
    ) -> Result<(), ConnectionError> {
        while !self.partial.is_empty() && !bytes.is_empty() {
            let missing = match Head::read(&self.partial) {
                None => HEAD_BYTES - self.partial.len(),
                Some(head) => HEAD_BYTES + head.length - self.partial.len(),
            };
            let (now, later) = bytes.split_at(missing.min(bytes.len()));
            self.partial.extend_from_slice(now);
            bytes = later;
            let mut partial = std::mem::take(&mut self.partial);
            if self.take_frames(&partial, events)? > 0 {
                partial.clear();
            }
            self.partial = partial;
        }
        let used = self.take_frames(bytes, events)?;
        self.partial.extend_from_slice(&bytes[used..]);
        Ok(())
    }

    /// Takes all whole frames and returns how many bytes they had.
    fn take_frames(
        &mut self,
        bytes: &[u8],
        events: &mut Vec<ProtocolEvent>,
    ) -> Result<usize, ConnectionError> {
        let mut at = 0;
        while let Some(head) = Head::read(&bytes[at..]) {
            self.check(head, &bytes[at..])?;
            let end = at + HEAD_BYTES + head.length;
            let Some(payload) = bytes.get(at + HEAD_BYTES..end) else {
                break;
            };
            self.take_frame(head, payload, events)?;
            at = end;
        }
        Ok(at)
    }

    /// Refuses frames that are not allowed here, before their payload is awaited.
    fn check(&self, head: Head, bytes: &[u8]) -> Result<(), ConnectionError> {
        if !self.has_settings && (head.kind != kind::SETTINGS || head.has(flag::ACK)) {
            let message = if bytes.starts_with(b"HTTP/1.") {
                "the service responded in HTTP/1.1"
            } else {
                "the service did not start with its settings"
            };
            return Err(protocol(message));
        }
        if head.length > PAYLOAD_MAX {
            let message = format!("a frame of {} bytes", head.length);
            return Err(ConnectionError::new(code::FRAME_SIZE_ERROR, message));
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
        events: &mut Vec<ProtocolEvent>,
    ) -> Result<(), ConnectionError> {
        self.idle_frames += 1;
        if self.idle_frames > IDLE_FRAMES_MAX {
            let message = format!("{IDLE_FRAMES_MAX} frames in a row without a response");
            return Err(ConnectionError::new(code::ENHANCE_YOUR_CALM, message));
        }
        match head.kind {
            kind::DATA => self.take_data(head, payload, events),
            kind::HEADERS => self.take_headers(head, payload, events),
            kind::CONTINUATION => self.take_continuation(head, payload, events),
            kind::RST_STREAM => self.take_reset(head, payload, events),
            kind::SETTINGS => self.take_settings(head, payload, events),
            kind::PUSH_PROMISE => Err(protocol("a pushed response, which we did not allow")),
            kind::PING => self.take_ping(head, payload),
            kind::GOAWAY => self.take_goaway(head, payload, events),
            kind::WINDOW_UPDATE => self.take_window_update(head, payload, events),
            kind::PRIORITY if head.stream == 0 => Err(protocol("a priority of no stream")),
            // Priorities are advice, and unknown kinds must be ignored.
            _ => Ok(()),
        }
    }

    /// Returns the slot of a stream; `None` if its request is over.
    fn slot(&self, head: Head) -> Result<Option<usize>, ConnectionError> {
        let number = head.stream;
        if number == 0 || number.is_multiple_of(2) || number >= self.next {
            let message = format!("a frame of stream {number}, which we never opened");
            return Err(protocol(&message));
        }
        Ok(self.ids.iter().position(|known| *known == number))
    }

    fn take_data(
        &mut self,
        head: Head,
        payload: &[u8],
        events: &mut Vec<ProtocolEvent>,
    ) -> Result<(), ConnectionError> {
        let slot = self.slot(head)?;
        let data = without_padding(head, payload)?;
        let too_much = || {
            ConnectionError::new(
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
        let Some(slot) = slot else { return Ok(()) };
        let stream = &mut self.streams[slot];
        let increment = stream.inflow.take(payload.len()).ok_or_else(too_much)?;
        let ends = head.has(flag::END_STREAM);
        let result = stream.take_body(data);
        let is_enough = ends || stream.response.events_left() == Some(0);
        if !ends {
            stream.response.await_more(self.received_ns);
        }
        if increment > 0 && !ends {
            frame::write_window_update(&mut self.out, head.stream, increment);
        }
        match result {
            Err(message) => self.malformed(slot, message, events),
            Ok(()) if is_enough => self.finish(slot, ends, events),
            Ok(()) => {}
        }
        Ok(())
    }

    fn take_headers(
        &mut self,
        head: Head,
        payload: &[u8],
        events: &mut Vec<ProtocolEvent>,
    ) -> Result<(), ConnectionError> {
        self.slot(head)?;
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
        self.take_fragment(head, fragment, events)
    }

    fn take_continuation(
        &mut self,
        head: Head,
        payload: &[u8],
        events: &mut Vec<ProtocolEvent>,
    ) -> Result<(), ConnectionError> {
        self.block.frames += 1;
        self.take_fragment(head, payload, events)
    }

    /// Takes a part of a header block, and the block itself when it is complete.
    fn take_fragment(
        &mut self,
        head: Head,
        fragment: &[u8],
        events: &mut Vec<ProtocolEvent>,
    ) -> Result<(), ConnectionError> {
        let bytes = self.block.bytes.len() + fragment.len();
        if bytes > BLOCK_MAX || self.block.frames > BLOCK_FRAMES_MAX {
            let message = "a header block without an end".to_owned();
            return Err(ConnectionError::new(code::ENHANCE_YOUR_CALM, message));
        }
        self.block.bytes.extend_from_slice(fragment);
        if !head.has(flag::END_HEADERS) {
            return Ok(());
        }
        let block = std::mem::take(&mut self.block.bytes);
        let result = self.take_block(head, &block, events);
        self.block.bytes = block;
        self.block.stream = 0;
        result
    }

    /// Takes a whole header block: an interim response, the head of a response, or its trailers.
    fn take_block(
        &mut self,
        head: Head,
        block: &[u8],
        events: &mut Vec<ProtocolEvent>,
    ) -> Result<(), ConnectionError> {
        let slot = self.slot(head)?;
        let mut response = head::Head::default();
        // Even the block of a finished request changes the decoder's table.
        let mut keep = None;
        let mut is_trailer = false;
        if let Some(slot) = slot {
            let stream = &mut self.streams[slot];
            response.bytes = stream.head_bytes;
            stream.response.begun = true;
            is_trailer = stream.has_head;
            keep = stream.response.headers();
        }
        if let Some(keep) = keep.as_mut().filter(|_| !is_trailer) {
            keep.clear();
        }
        let mut take = |name: &[u8], value: &[u8]| {
            // Only those trailers that end a call are kept besides the fields of the head.
            let is_kept = !is_trailer || name.starts_with(b"grpc-");
            response.add(name, value, keep.as_deref_mut().filter(|_| is_kept));
        };
        let decoded = self.decoder.decode(block, &mut take);
        decoded
            .map_err(|message| ConnectionError::new(code::COMPRESSION_ERROR, message.to_owned()))?;
        let Some(slot) = slot else { return Ok(()) };
        self.idle_frames = 0;
        let (stream, ends) = (&mut self.streams[slot], self.block.ends);
        // The minimum cost of each block, so that endless empty ones end too.
        stream.head_bytes = response.bytes + 1 + HEAD_BYTES;
        if response.grpc_status.is_some() {
            stream.response.grpc_status = response.grpc_status;
        }
        let result = if stream.has_head {
            match response.check_trailers() {
                Ok(()) if !ends => Err("a second head"),
                result => result,
            }
        } else {
            match response.check() {
                Ok(()) if response.status < 200 && ends => Err("an interim response at the end"),
                Ok(()) if response.status < 200 => Ok(()),
                Ok(()) => {
                    stream.take_head(response.status, response.length);
                    Ok(())
                }
                result => result,
            }
        };
        match result {
            Err(message) => self.malformed(slot, message, events),
            Ok(()) if ends => self.finish(slot, true, events),
            Ok(()) => {}
        }
        Ok(())
    }

    /// Handles the end of the response at this slot, or of its wanted part.
    fn finish(&mut self, slot: usize, ends: bool, events: &mut Vec<ProtocolEvent>) {
        let stream = &self.streams[slot];
        if ends && let Err(message) = stream.finish() {
            self.malformed(slot, message, events);
            return;
        }
        // The service may have responded without the rest of the request.
        match !ends || stream.is_sending() {
            true => self.reset(slot, code::CANCEL),
            false => _ = self.close(slot),
        }
        let received_ns = self.received_ns;
        events.push(ProtocolEvent::Response { slot, received_ns });
    }

    /// Handles an invalid response at this slot; the connection is not affected.
    fn malformed(&mut self, slot: usize, message: &str, events: &mut Vec<ProtocolEvent>) {
        self.reset(slot, code::PROTOCOL_ERROR);
        events.push(ProtocolEvent::RequestFailed {
            slot,
            class: ErrorClass::BadFraming,
            message: message.to_owned(),
        });
    }

    fn take_reset(
        &mut self,
        head: Head,
        payload: &[u8],
        events: &mut Vec<ProtocolEvent>,
    ) -> Result<(), ConnectionError> {
        if payload.len() != 4 {
            return Err(size("a reset of a wrong size"));
        }
        if let Some(slot) = self.slot(head)? {
            self.close(slot);
            events.push(ProtocolEvent::RequestFailed {
                slot,
                class: ErrorClass::Reset,
                message: format!("stream reset: {}", code_name(frame::code_of(payload))),
            });
        }
        Ok(())
    }

    fn take_settings(
        &mut self,
        head: Head,
        payload: &[u8],
        events: &mut Vec<ProtocolEvent>,
    ) -> Result<(), ConnectionError> {
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
        self.has_settings = true;
        self.acknowledge(kind::SETTINGS, &[])?;
        if !self.established && self.settings.streams > 0 {
            self.established = true;
            events.push(ProtocolEvent::Established);
        } else if self.settings.streams > before {
            events.push(ProtocolEvent::CapacityGrew);
        }
        self.send_bodies();
        Ok(())
    }

    fn take_setting(&mut self, name: u16, value: u32) -> Result<(), ConnectionError> {
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
                let too_large =
                    || ConnectionError::new(code::FLOW_CONTROL_ERROR, WINDOW_TOO_LARGE.to_owned());
                if value > MAX_31_BITS {
                    return Err(too_large());
                }
                let by = i64::from(value) - i64::from(self.settings.window);
                self.settings.window = value;
                for slot in 0..self.streams.len() {
                    if self.ids[slot] != 0 {
                        let outflow = &mut self.streams[slot].outflow;
                        outflow.change(by).ok_or_else(too_large)?;
                        self.queue(slot);
                    }
                }
            }
            setting::MAX_FRAME_SIZE if !(16_384..=16_777_215).contains(&value) => {
                return Err(protocol("a largest frame out of its bounds"));
            }
            // Frames larger than the minimum limit are never sent.
            _ => {}
        }
        Ok(())
    }

    fn take_ping(&mut self, head: Head, payload: &[u8]) -> Result<(), ConnectionError> {
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

    /// Replies to a frame of the connection itself, unless such replies are not read.
    fn acknowledge(&mut self, kind: u8, payload: &[u8]) -> Result<(), ConnectionError> {
        self.unsent += 1;
        if self.unsent > UNSENT_MAX {
            let message = format!("{UNSENT_MAX} settings and pings whose responses are not read");
            return Err(ConnectionError::new(code::ENHANCE_YOUR_CALM, message));
        }
        frame::write_head(&mut self.out, payload.len(), kind, flag::ACK, 0);
        self.out.extend_from_slice(payload);
        Ok(())
    }

    fn take_goaway(
        &mut self,
        head: Head,
        payload: &[u8],
        events: &mut Vec<ProtocolEvent>,
    ) -> Result<(), ConnectionError> {
        if head.stream != 0 {
            return Err(protocol("a GOAWAY of a stream"));
        }
        if payload.len() < 8 {
            return Err(size("a GOAWAY of a wrong size"));
        }
        let (last, code) = (number(payload), frame::code_of(&payload[4..]));
        self.draining = true;
        events.push(ProtocolEvent::Draining);
        for slot in 0..self.ids.len() {
            if self.ids[slot] > last {
                self.close(slot);
                let message = format!("GOAWAY ({}) before this request", code_name(code));
                events.push(match code {
                    // RFC 9113, section 6.8.
                    code::NO_ERROR => ProtocolEvent::Unprocessed { slot, message },
                    _ => ProtocolEvent::RequestFailed {
                        slot,
                        class: ErrorClass::Reset,
                        message,
                    },
                });
            }
        }
        Ok(())
    }

    fn take_window_update(
        &mut self,
        head: Head,
        payload: &[u8],
        events: &mut Vec<ProtocolEvent>,
    ) -> Result<(), ConnectionError> {
        if payload.len() != 4 {
            return Err(size("a window update of a wrong size"));
        }
        let increment = number(payload);
        if head.stream == 0 {
            if increment == 0 {
                return Err(protocol("a window update by nothing"));
            }
            let too_large =
                || ConnectionError::new(code::FLOW_CONTROL_ERROR, WINDOW_TOO_LARGE.to_owned());
            if self.outflow.update(increment).ok_or_else(too_large)? {
                self.idle_frames = 0;
            }
        } else if let Some(slot) = self.slot(head)? {
            if increment == 0 {
                self.malformed(slot, "a window update by nothing", events);
            } else if let Some(taken) = self.streams[slot].outflow.update(increment) {
                if taken {
                    self.idle_frames = 0;
                }
                self.queue(slot);
            } else {
                self.malformed(slot, WINDOW_TOO_LARGE, events);
            }
        }
        self.send_bodies();
        Ok(())
    }
}

const WINDOW_TOO_LARGE: &str = "a window larger than 2^31 - 1";
